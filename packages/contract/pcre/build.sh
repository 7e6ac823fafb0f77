#!/usr/bin/env bash
# Makes pcre.wasm of Debian 12's sources of PCRE and PCRE2. Wants clang, lld, wasi-libc, libclang-rt-dev-wasm32, dpkg-dev
# and a deb-src line. Both are built without UTF: the edge matches bytes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get source pcre3=2:8.39-15 pcre2=10.42-1
cp -f pcre3-8.39/config.h.generic pcre3-8.39/config.h
cp -f pcre3-8.39/pcre.h.generic pcre3-8.39/pcre.h
cp -f pcre3-8.39/pcre_chartables.c.dist pcre3-8.39/pcre_chartables.c
cp -f pcre2-10.42/src/config.h.generic pcre2-10.42/src/config.h
cp -f pcre2-10.42/src/pcre2.h.generic pcre2-10.42/src/pcre2.h
cp -f pcre2-10.42/src/pcre2_chartables.c.dist pcre2-10.42/src/pcre2_chartables.c

flags=(--target=wasm32-wasi -Oz -DNDEBUG -DHAVE_CONFIG_H -DHAVE_MEMMOVE=1 -DHAVE_STRING_H=1 -DHAVE_STDLIB_H=1
  -DHAVE_STDINT_H=1 -DHAVE_LIMITS_H=1)
one=(-DPCRE_STATIC -DSUPPORT_PCRE8 -I pcre3-8.39)
two=(-DPCRE2_STATIC -DPCRE2_CODE_UNIT_WIDTH=8 -DSUPPORT_PCRE2_8 -DWITH_PCRE2 -I pcre2-10.42/src)
for name in compile chartables globals newline tables ord2utf8 valid_utf8 string_utils ucd byte_order xclass; do
  clang "${flags[@]}" "${one[@]}" -c "pcre3-8.39/pcre_$name.c" -o "pcre_$name.o"
done
for name in compile error tables newline ord2utf valid_utf context chartables config script_run string_utils pattern_info \
  find_bracket auto_possess extuni ucd xclass study match_data; do
  clang "${flags[@]}" "${two[@]}" -c "pcre2-10.42/src/pcre2_$name.c" -o "pcre2_$name.o"
done
clang "${flags[@]}" "${one[@]}" -UHAVE_CONFIG_H -c "$here/check.c" -o check1.o
clang "${flags[@]}" "${two[@]}" -UHAVE_CONFIG_H -c "$here/check.c" -o check2.o
clang --target=wasm32-wasi -nostartfiles -Wl,--no-entry -Wl,--strip-all -Wl,--gc-sections -Wl,-z,stack-size=1048576 \
  -Wl,--max-memory=16777216 ./*.o -o "$here/pcre.wasm"

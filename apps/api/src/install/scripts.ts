// The shell scripts of an installation (POSIX sh). Each is idempotent. A line `::fault <which> <words>` reports a
// failure, `::<word> …` a result (host.ts, steps.ts).
import type { SignedRelease } from '@edgeloom/contract/edge/releases.ts';
import { quote } from './host.ts';

const prelude = `set -eu
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
fault() { printf '::fault %s %s\\n' "$1" "$2"; exit 1; }
`;
const script = (text: string) => `${prelude}${text.trim()}\n`;

/** The agent's directory. */
const HOME = '/opt/edgeloom-agent';
const DATA = '/var/lib/edgeloom';
const UNIT = 'edgeloom-agent';

export const detect = script(`
. /etc/os-release
printf '::system %s %s %s\\n' "$ID" "\${VERSION_ID:-0}" "$(uname -m)"
`);

/** With a larger clock skew, credentials and certificates are not valid when they should be. */
export const MAX_SKEW_S = 30;

export const clock = script(`printf '::now %s\\n' "$(date +%s)"`);

const NEEDED_MB = 2048;
const NEEDED_PROGRAMS_MB = 512;

/** Checks free disk space and ports. */
export const checkRoom = (ports: readonly number[]) =>
  script(`
free() {
  at=$1
  while [ ! -d "$at" ]; do at=$(dirname "$at"); done
  df -Pk "$at" | awk 'NR == 2 { print int($4 / 1024) }'
}
for need in ${DATA}:${NEEDED_MB} ${HOME}:${NEEDED_PROGRAMS_MB}; do
  dir=\${need%:*} wanted=\${need#*:} is=$(free "\${need%:*}")
  printf '%s: %s MB free\\n' "$dir" "$is"
  [ "$is" -ge "$wanted" ] || fault space "$dir has $is MB free, $wanted MB are needed"
done
starts_programs() {
  at=$1
  while [ ! -d "$at" ]; do at=$(dirname "$at"); done
  probe=$(mktemp "$at/.edgeloom-probe.XXXXXX")
  printf '#!/bin/sh\n' > "$probe"
  chmod 700 "$probe"
  started=0
  "$probe" 2>/dev/null || started=1
  rm -f "$probe"
  return $started
}
starts_programs ${HOME} || fault noExec 'the file system of ${HOME} is mounted noexec'
ours=$(cat ${DATA}/run/nginx.pid 2>/dev/null || true)
[ -n "$ours" ] && kill -0 "$ours" 2>/dev/null || ours=
for port in ${ports.join(' ')}; do
  awk -v p="$(printf ':%04X' "$port")" '$4 == "0A" && substr($2, length($2) - 4) == p { found = 1 } END { exit !found }' \\
    /proc/net/tcp $(ls /proc/net/tcp6 2>/dev/null) || { printf 'port %s is free\\n' "$port"; continue; }
  who=$(ss -ltnp 2>/dev/null | awk -v p=":$port" 'substr($4, length($4) - length(p) + 1) == p { print $NF; exit }' || true)
  case "$who" in *'"nginx"'*) [ -n "$ours" ] && { printf 'port %s is our own\\n' "$port"; continue; } ;; esac
  fault portTaken "$port is held by \${who:-another program}"
done
`);

export type Packages = 'dnf' | 'yum' | 'apt';

const openrestyTest = `
for at in /usr/local/openresty/nginx/sbin/nginx /usr/local/openresty/bin/openresty; do
  if [ -x "$at" ]; then "$at" -v 2>&1; printf '::nginx %s\\n' "$at"; exit 0; fi
done
`;

/** OpenResty from a bundled rpm (\`file\`) or a repository. */
export const openresty = (program: Packages, from: { file: string } | { repository: string; key: string }) =>
  script(`
${openrestyTest}
${
  'file' in from
    ? `${program} -y install ${quote(from.file)} || fault package 'OpenResty was not installed from the uploaded package'
rm -f ${quote(from.file)}`
    : `cat > /etc/yum.repos.d/openresty.repo <<'END'
[openresty]
name=OpenResty
baseurl=${from.repository}
enabled=1
gpgcheck=1
repo_gpgcheck=0
gpgkey=${from.key}
END
${program} -y install openresty || fault package 'OpenResty was not installed: see the lines above'`
}
${openrestyTest}
fault package 'OpenResty is installed, but not where it is expected'
`);

export const openrestyIsInstalled = script(`${openrestyTest}
printf '::absent\\n'
`);

export const debianPackages = [
  'nginx',
  'libnginx-mod-http-ndk',
  'libnginx-mod-http-lua',
  'libnginx-mod-stream',
  'libnginx-mod-http-brotli-filter',
  'libnginx-mod-http-geoip2',
  'libnginx-mod-stream-geoip2',
  'lua-resty-core',
  'lua-resty-lrucache',
  'lua-cjson',
  'ca-certificates',
];

/** Debian's nginx with Lua. Its service is masked, since it would take our ports. */
export const debianNginx = script(`
at=/usr/sbin/nginx
lua=/usr/share/nginx/modules-available/mod-http-lua.conf
if [ -x "$at" ] && [ -e "$lua" ]; then "$at" -v 2>&1; printf '::nginx %s\\n' "$at"; exit 0; fi
if [ "$(systemctl is-enabled nginx.service 2>/dev/null || true)" != masked ]; then
  mkdir -p ${HOME}
  if [ -x "$at" ]; then printf 'present\n'; else printf 'absent\n'; fi > ${HOME}/nginx-before-mask
  systemctl mask nginx.service
fi
# A machine that restarted while packages were unpacked has to finish that first.
dpkg --configure -a || true
apt-get update || fault package 'the lists of packages were not fetched: see the lines above'
apt-get install -y --no-install-recommends ${debianPackages.join(' ')} || fault package 'nginx was not installed: see the lines above'
"$at" -v 2>&1
printf '::nginx %s\\n' "$at"
`);

/** A monitor pings nodes with the system's program. */
export const ping = (program: Packages) =>
  script(`
command -v ping >/dev/null && exit 0
${program === 'apt' ? 'apt-get install -y iputils-ping' : `${program} -y install iputils`} || printf 'ping is missing: checks of this type are left out\\n'
`);

/** Finds a Node for the agent: 20.15 or later. */
const goodNode = `
good() {
  is=$("$1" --version 2>/dev/null) || return 1
  is=\${is#v} major=\${is%%.*} rest=\${is#*.} minor=\${rest%%.*}
  [ "$major" -gt 20 ] || { [ "$major" -eq 20 ] && [ "$minor" -ge 15 ]; }
}
use() { printf 'Node %s at %s\\n' "$("$1" --version)" "$1"; exit 0; }
`;
export const runtimeIsInstalled = script(`${goodNode}
good ${HOME}/node/bin/node && use ${HOME}/node/bin/node
if at=$(command -v node) && good "$at"; then
  mkdir -p ${HOME}/node/bin
  ln -sfn "$at" ${HOME}/node/bin/node
  use "$at"
fi
printf '::absent\\n'
`);

/** The same check without changes. */
export const runtimeNeedsInstall = script(`${goodNode}
good ${HOME}/node/bin/node && exit 0
at=$(command -v node) && good "$at" && exit 0
printf '::absent\\n'
`);

export const runtimeOfDistribution = script(`${goodNode}
dnf -y module enable nodejs:20 || fault artifact 'no Node 20 here: put node-v20…-linux-<arch>.tar.gz into ARTIFACTS_DIR of the control plane'
dnf -y install nodejs || fault package 'Node was not installed: see the lines above'
at=$(command -v node) && good "$at" || fault package 'the distribution has no Node 20.15 or later'
mkdir -p ${HOME}/node/bin
ln -sfn "$at" ${HOME}/node/bin/node
use "$at"
`);

/** From standard input. `z` or `J` is tar's compression. An old C library shows when Node is started. */
export const unpackRuntime = (compression: 'z' | 'J') =>
  script(`
rm -rf ${HOME}/node.new
mkdir -p ${HOME}/node.new
tar -x${compression}f - --strip-components=1 -C ${HOME}/node.new
why=$(${HOME}/node.new/bin/node --version 2>&1) || {
  rm -rf ${HOME}/node.new
  case "$why" in
    *GLIBC*) fault artifact 'this Node needs a newer C library: CentOS 7 needs a build for glibc 2.17' ;;
    *'ermission denied'*) fault noExec 'the file system of ${HOME} is mounted noexec' ;;
    *) fault artifact "this Node does not start here: $(printf '%s' "$why" | head -n 1)" ;;
  esac
}
printf '%s\n' "$why"
rm -rf ${HOME}/node
mv ${HOME}/node.new ${HOME}/node
`);

/** Makes the launcher start this release, and ends a trial. */
const serve = (release: string) => `
touch ${HOME}/releases/${release}/ran
cp ${HOME}/releases/${release}/launch ${HOME}/launch.new
mv ${HOME}/launch.new ${HOME}/launch
rm -rf ${HOME}/trial ${HOME}/failed
ln -sfn releases/${release} ${HOME}/current.new
mv -T ${HOME}/current.new ${HOME}/current
`;

export const releaseIsInstalled = (release: string) =>
  script(`
if [ -e ${HOME}/releases/${release}/release.json ]; then
  ${serve(release).trim()}
  printf 'agent %s is there\\n' ${release}
else
  printf '::absent\\n'
fi
`);

export const releaseNeedsInstall = (release: string) =>
  script(`[ -e ${HOME}/releases/${release}/release.json ] || printf '::absent\\n'`);

/** A gzipped tar of the release on standard input, and its signature. Keeps the last two releases. */
export const unpackRelease = (release: string, signed: SignedRelease) =>
  script(`
umask 022
mkdir -p ${HOME}/releases
rm -rf ${HOME}/releases/${release}
mkdir ${HOME}/releases/${release}
tar -xzf - -C ${HOME}/releases/${release}
printf '%s\\n' ${quote(JSON.stringify(signed))} > ${HOME}/releases/${release}/release.json
${serve(release).trim()}
cd ${HOME}/releases
ls -1t */ran | tail -n +4 | while read -r old; do rm -rf "./\${old%/ran}"; done
${HOME}/node/bin/node ${HOME}/current/agent.mjs --version
`);

export const receiveFile = (path: string) =>
  script(`
mkdir -p "$(dirname ${quote(path)})"
cat > ${quote(path)}
ls -l ${quote(path)}
`);

/** The node that the machine already is, if any. */
export const identity = script(
  `printf '::node %s\\n' "$(sed -n 's/.*"nodeID" *: *"\\([0-9a-f-]*\\)".*/\\1/p' ${DATA}/node.json 2>/dev/null | head -n 1)"`,
);

export const forgetNode = script(`
systemctl stop ${UNIT} 2>/dev/null || true
[ ! -e ${DATA}/run/nginx.pid ] || kill -QUIT "$(cat ${DATA}/run/nginx.pid)" 2>/dev/null || true
rm -rf ${DATA}/node.json ${DATA}/keys ${DATA}/docs
`);

/** The agent's environment and trusted release keys, readable by root only. */
export const environment = (variables: Readonly<Record<string, string>>, releaseKeys: string) =>
  script(`
umask 077
mkdir -p /etc/edgeloom
cat > /etc/edgeloom/release-keys.pem.new <<'END'
${releaseKeys.trim()}
END
mv /etc/edgeloom/release-keys.pem.new /etc/edgeloom/release-keys.pem
cat > /etc/edgeloom/agent.env.new <<'END'
${Object.entries(variables)
  .map(([name, value]) => `${name}=${value}`)
  .join('\n')}
END
mv /etc/edgeloom/agent.env.new /etc/edgeloom/agent.env
mkdir -p ${DATA}
chmod 751 ${DATA}
`);

export const forgetToken = script(`sed -i '/^EDGELOOM_TOKEN=/d' /etc/edgeloom/agent.env`);

interface Ports {
  tcp: readonly (number | string)[];
  udp: readonly (number | string)[];
}

/** The unit, kernel settings, log rotation, and an active firewall. */
export const system = ({ tcp, udp }: Ports) =>
  script(`
cp ${HOME}/current/edgeloom-agent.service /etc/systemd/system/${UNIT}.service
cat > /etc/sysctl.d/90-edgeloom.conf <<'END'
net.core.somaxconn = 65535
net.core.netdev_max_backlog = 16384
net.ipv4.tcp_max_syn_backlog = 65535
net.ipv4.ip_local_port_range = 10240 65535
net.ipv4.tcp_tw_reuse = 1
net.ipv4.tcp_slow_start_after_idle = 0
net.core.rmem_max = 7500000
net.core.wmem_max = 7500000
END
sysctl -q -e -p /etc/sysctl.d/90-edgeloom.conf || printf 'some kernel settings were not taken\\n'
# The agent drops packets with these. Without them nginx refuses requests. The nftables of CentOS 7 is too old.
missing() { command -v "$1" >/dev/null && return 1; return 0; }
if command -v dnf >/dev/null; then missing nft && dnf -y install nftables || true
elif command -v yum >/dev/null; then missing ipset && yum -y install ipset iptables || true
elif command -v apt-get >/dev/null; then missing nft && apt-get install -y --no-install-recommends nftables || true
fi
# The agent may not load modules itself; where nftables does not do, it drops packets and sets their size by these.
if ! nft -t list chains >/dev/null 2>&1 && [ -d /etc/modules-load.d ]; then
  modules='iptable_mangle ip6table_mangle ip_set ip_set_hash_net ip_set_hash_ip ip_set_bitmap_port xt_set xt_hashlimit'
  printf '%s\\n' $modules > /etc/modules-load.d/edgeloom.conf
  modprobe -a $modules 2>/dev/null || printf 'not all modules of iptables were loaded\\n'
fi
if [ -d /etc/logrotate.d ]; then
  cat > /etc/logrotate.d/edgeloom <<'END'
# The agent rotates; this is for the day it does not.
${DATA}/logs/*.log ${DATA}/logs/*.json {
  size 1G
  rotate 2
  missingok
  notifempty
  nocreate
  sharedscripts
  postrotate
    kill -USR1 $(cat ${DATA}/run/nginx.pid 2>/dev/null) 2>/dev/null || true
  endscript
}
END
fi
if systemctl -q is-active firewalld; then
  for port in ${tcp.map((port) => `${port}/tcp`).join(' ')} ${udp.map((port) => `${port}/udp`).join(' ')}; do
    firewall-cmd -q --permanent --add-port="$port" && firewall-cmd -q --add-port="$port"
  done
  printf 'firewalld lets visitors in\\n'
elif command -v ufw >/dev/null && ufw status | grep -q '^Status: active'; then
  for port in ${tcp.map((port) => `${String(port).replace('-', ':')}/tcp`).join(' ')} ${udp.map((port) => `${String(port).replace('-', ':')}/udp`).join(' ')}; do ufw allow "$port" >/dev/null; done
  printf 'ufw lets visitors in\\n'
else
  printf 'no firewall is on that we know\\n'
fi
`);

export const start = script(`
systemctl daemon-reload
systemctl enable ${UNIT}
systemctl restart ${UNIT}
for i in 1 2 3 4 5 6 7 8 9 10; do
  systemctl -q is-active ${UNIT} && { printf 'the agent runs\\n'; exit 0; }
  sleep 1
done
journalctl -u ${UNIT} -n 30 --no-pager -o cat 2>/dev/null || true
fault start 'the agent does not stay up: see the lines above'
`);

/** No site has this name. A node responds with 903, whatever error pages there are (agent/lua/edge/error_pages.lua). */
export const PROBE_NAME = 'probe.edgeloom.invalid';

/** Waits until the agent reports this node, and responds to visitors where this can be tested without TLS. */
export const joined = (nodeId: string, ports: readonly number[]) =>
  script(`
last() { journalctl -u ${UNIT} -n 30 --no-pager -o cat 2>/dev/null || true; }
wait_for() {
  for i in $(seq 120); do
    "$@" && return 0
    sleep 1
  done
  return 1
}
is_joined() { grep -q '"nodeID" *: *"${nodeId}"' ${DATA}/node.json 2>/dev/null; }
wait_for is_joined || { last; fault join 'it has not joined within two minutes: see the lines above'; }
printf 'it has joined\\n'
answers() { [ "$(curl -s -o /dev/null -m 5 -H 'Host: ${PROBE_NAME}' -w '%{http_code}' "http://127.0.0.1:$1/")" = 903 ]; }
for port in ${ports.join(' ')}; do
  wait_for answers "$port" || { last; fault probe "port $port does not answer: see the lines above"; }
  printf 'port %s answers\\n' "$port"
done
`);

export const lastLogLines = script(`journalctl -u ${UNIT} -n 30 --no-pager -o cat 2>/dev/null || true`);

export const stop = script(`
systemctl disable ${UNIT} 2>/dev/null || true
systemctl stop ${UNIT} 2>/dev/null || true
for at in ${DATA}/run/nginx.pid ${DATA}/forwards/run/nginx.pid; do
  if [ -e "$at" ] && kill -QUIT "$(cat "$at")" 2>/dev/null; then printf 'nginx %s sees its visitors off\\n' "$(cat "$at")"; fi
done
printf 'stopped\\n'
`);

export const remove = ({ tcp, udp }: Ports) =>
  script(`
rm -f /etc/systemd/system/${UNIT}.service /etc/sysctl.d/90-edgeloom.conf /etc/logrotate.d/edgeloom \\
  /etc/modules-load.d/edgeloom.conf
systemctl daemon-reload
systemctl reset-failed ${UNIT} 2>/dev/null || true
for table in edgeloom_geneva edgeloom_firewall; do nft delete table inet $table 2>/dev/null || true; done
for program in iptables ip6tables; do
  "$program" -t mangle -D OUTPUT -p tcp -j EDGELOOM_GENEVA 2>/dev/null || true
  "$program" -t mangle -D INPUT -j EDGELOOM_FIREWALL 2>/dev/null || true
  chains='GENEVA FIREWALL VISITORS BLOCKED BLACKLIST RISK SYN'
  for chain in $chains; do "$program" -t mangle -F "EDGELOOM_$chain" 2>/dev/null || true; done
  for chain in $chains; do "$program" -t mangle -X "EDGELOOM_$chain" 2>/dev/null || true; done
done
for set in $(ipset list -n 2>/dev/null | grep '^edgeloom_' || true); do ipset destroy "$set" || true; done
if systemctl -q is-active firewalld; then
  for port in ${tcp.map((port) => `${port}/tcp`).join(' ')} ${udp.map((port) => `${port}/udp`).join(' ')}; do
    firewall-cmd -q --permanent --remove-port="$port" && firewall-cmd -q --remove-port="$port" || true
  done
fi
if [ -e ${HOME}/nginx-before-mask ]; then
  systemctl unmask nginx.service
  # A package that came with us stays, but nothing of it is started.
  [ "$(cat ${HOME}/nginx-before-mask)" = present ] || systemctl disable nginx.service || true
fi
rm -rf ${HOME} /etc/edgeloom/agent.env /etc/edgeloom/release-keys.pem
rmdir /etc/edgeloom 2>/dev/null || true
# By name: a control plane on the same machine may have been given this folder too.
if [ -d ${DATA} ]; then
  cd ${DATA}
  case "$(readlink cache/objects)" in */edgeloom-store) rm -rf "$(readlink cache/objects)" ;; esac
  rm -rf docs keys node.json conf forwards run cache tmp .tmp logs manifest packs upgrade
  cd /
  rmdir ${DATA} 2>/dev/null || printf '%s has files that are not ours; they stay\\n' ${DATA}
fi
printf 'nothing of ours is left but the packages\\n'
`);

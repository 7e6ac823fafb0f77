/* Compiles one pattern with PCRE (which Debian's nginx-lua links) and with PCRE2 (which OpenResty links), in byte mode. */
#include <string.h>

#ifdef WITH_PCRE2
#include "pcre2.h"

int check_pcre2(const char *pattern, int length, char *message, int room, int *offset) {
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, length, 0, &error, &at, NULL);
  if (code) {
    pcre2_code_free(code);
    return 0;
  }
  *offset = (int)at;
  if (pcre2_get_error_message(error, (PCRE2_UCHAR *)message, room) < 0) message[0] = 0;
  return 1;
}
#else
#include "pcre.h"

int check_pcre2(const char *pattern, int length, char *message, int room, int *offset);

/* The pattern goes in here, and the error's text comes out. */
static char text[8192];
static char message[512];
static int offset;

__attribute__((export_name("text_at"))) char *text_at(void) { return text; }
__attribute__((export_name("text_size"))) int text_size(void) { return sizeof text; }
__attribute__((export_name("message_at"))) char *message_at(void) { return message; }
__attribute__((export_name("offset_of"))) int offset_of(void) { return offset; }

/* 0: both compile the pattern. The text ends with a zero byte and holds no other. */
__attribute__((export_name("check"))) int check(int length) {
  const char *error = NULL;
  pcre *code = pcre_compile(text, 0, &error, &offset, NULL);
  if (!code) {
    strncpy(message, error ? error : "", sizeof message - 1);
    return 1;
  }
  pcre_free(code);
  return check_pcre2(text, length, message, sizeof message, &offset);
}
#endif

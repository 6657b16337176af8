#include "range.h"

#include "failure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Digits up to end; false where there is something else, or too much. */
static bool read_number(const char *text, const char *end, int64_t *out) {
  char *stop;
  if (text == end || *text < '0' || *text > '9') return false;
  errno = 0;
  long long value = strtoll(text, &stop, 10);
  *out = value;
  return errno == 0 && stop == end && value <= INT32_MAX;
}

int range_read(struct range *out, const char *command, const char *option, const char *text) {
  *out = (struct range){false, 0, -1};
  if (text == NULL) return EXIT_GOOD;
  const char *dots = strstr(text, "..");
  const char *end = strchr(text, '\0');
  bool good = dots != NULL && end - text > 2;
  if (good && dots != text) good = read_number(text, dots, &out->first);
  if (good && dots + 2 != end) good = read_number(dots + 2, end, &out->end);
  if (good && out->end != -1) good = out->first <= out->end;
  if (!good)
    return fail_usage(command, "--%s: '%s' is not a range A..B of numbers, B not included", option,
                      text);
  out->given = true;
  return EXIT_GOOD;
}

int part_read(struct part *out, const char *command, const char *option, const char *text) {
  *out = (struct part){false, 0, 1};
  if (text == NULL) return EXIT_GOOD;
  const char *slash = strchr(text, '/');
  if (slash == NULL || !read_number(text, slash, &out->k) ||
      !read_number(slash + 1, strchr(text, '\0'), &out->n) || out->k >= out->n)
    return fail_usage(command, "--%s: '%s' is not K/N with K from 0 to N - 1", option, text);
  out->given = true;
  return EXIT_GOOD;
}

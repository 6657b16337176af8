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

/* The numbers in front of and behind the dots. */
static bool read_ends(struct range *out, const char *text, const char *dots) {
  const char *end = strchr(text, '\0');
  bool good = end - text > 2;
  if (good && dots != text) good = read_number(text, dots, &out->first);
  if (good && dots + 2 != end) good = read_number(dots + 2, end, &out->end);
  return good && (out->end == -1 || out->first <= out->end);
}

int range_read(struct range *out, const char *command, const char *option, const char *text) {
  *out = (struct range){false, 0, -1};
  if (text == NULL) return EXIT_GOOD;
  const char *dots = strstr(text, "..");
  bool good = dots != NULL ? read_ends(out, text, dots)
                           : read_number(text, strchr(text, '\0'), &out->first);
  if (!good)
    return fail_usage(command,
                      "--%s: '%s' is neither a number nor a range A..B of numbers, B not included",
                      option, text);
  if (dots == NULL) out->end = out->first + 1;
  out->given = true;
  return EXIT_GOOD;
}

int64_t range_last(const struct range *range) {
  return range->end == -1 || range->end == range->first ? range->first : range->end - 1;
}

bool range_empty(const struct range *range) { return range->given && range->first == range->end; }

bool range_exceeds(const struct range *range, int64_t n) {
  return range->first > n || range->end > n || (range->end == -1 && range->first == n && n > 0);
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

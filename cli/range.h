/* Ranges and parts as options say them. */
#ifndef ASHUF_CLI_RANGE_H
#define ASHUF_CLI_RANGE_H

#include "cli.h"

#include <stdint.h>

struct range {
  bool given;
  int64_t first;
  int64_t end; /* exclusive; -1: to the last */
};

/* "P" alone, "A..B", "A..", "..B"; text NULL: not given. Says what is wrong and returns EXIT_USAGE.
 */
int range_read(struct range *out, const char *command, const char *option, const char *text);

/* Whether something in it is not in [0, n), and what. */
bool range_exceeds(const struct range *range, int64_t n);
int64_t range_last(const struct range *range);
bool range_empty(const struct range *range);

struct part {
  bool given;
  int64_t k; /* from 0 */
  int64_t n;
};

/* "K/N" with K in [0, N). */
int part_read(struct part *out, const char *command, const char *option, const char *text);

#endif /* ASHUF_CLI_RANGE_H */

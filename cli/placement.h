/*
 * Which partition the rows of 'ashuf write' go to: the options, what they mean for the schema of
 * the inputs, and the bounds of ranges, from a file or from a first pass over the inputs.
 *
 * placement_check -> placement_open once the schema is known -> placement_partitioner for each
 * map output -> placement_close in any case. The functions return exit statuses.
 */
#ifndef ASHUF_CLI_PLACEMENT_H
#define ASHUF_CLI_PLACEMENT_H

#include "keys.h"
#include "options.h"
#include "report.h"

struct placement_options {
  const char *hash;
  const char *range;
  const char *bounds;
  int range_rule;  /* enum ashuf_range_rule */
  int round_robin; /* 0: not asked for; else 1 + position in round_robin_choices */
  struct option_integer group_rows;
  struct option_integer max_hash_columns;
  struct option_integer seed;
  bool show_bounds;
};

/* "positional", "hash", NULL and "spark", "comet", NULL */
extern const char *const round_robin_choices[];
extern const char *const range_rule_choices[];

struct placement {
  const struct placement_options *options;
  int32_t partitions;
  struct keys keys;
  uint8_t *orders;          /* of a range's keys */
  struct ArrowArray bounds; /* released where there are none */
  json_t *shown;            /* the bounds as an array of objects; NULL without */
};

/* Whether the options go together, and with the inputs. */
int placement_check(const struct placement_options *options, const struct arguments *inputs);

/* schema: of the first input. */
int placement_open(struct placement *out, const struct placement_options *options,
                   int32_t partitions, const ashuf_schema *schema, const struct arguments *inputs);
int placement_partitioner(const struct placement *placement, const ashuf_schema *schema,
                          int64_t map, const char *path, ashuf_partitioner **out);
/* Takes one that is zeroed. */
void placement_close(struct placement *placement);

#endif /* ASHUF_CLI_PLACEMENT_H */

/*
 * Rows to partitions by their position: group_rows rows to one, the next to the following one.
 */
#ifndef ASHUF_PARTITION_ROUND_ROBIN_H
#define ASHUF_PARTITION_ROUND_ROBIN_H

#include <stdint.h>

struct round_robin {
  int64_t group_rows;
  int32_t partitions;
  int32_t start; /* where the first group goes */
};

/* group_rows 0: the default. partitions >= 1 */
struct round_robin round_robin_new(int32_t partitions, int64_t group_rows, int64_t map_index);

/* Partitions of the rows ordinal .. ordinal + n - 1 of a task; ordinal >= 0. */
void round_robin_ids(const struct round_robin *deal, int64_t ordinal, int64_t n, int32_t *ids);

#endif /* ASHUF_PARTITION_ROUND_ROBIN_H */

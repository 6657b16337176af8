/*
 * Bounds from a sample of keys, as Spark's RangePartitioner finds them (docs/PARTITIONING.md).
 *
 * Keys are kept as the byte strings of arrow/row_encode.h, which sort by memcmp, and are decoded
 * again where they become bounds.
 */
#ifndef ASHUF_PARTITION_SAMPLE_H
#define ASHUF_PARTITION_SAMPLE_H

#include "partition/range.h"

/* A key that stands for so many rows. */
struct candidate {
  row_wide prefix;
  struct row_bytes key;
  float weight;
};

/*
 * Sorts the candidates and moves the bounds, at most partitions - 1, to the front; returns how many
 * those are.
 */
int32_t sample_choose(struct candidate *candidates, size_t n, int32_t partitions);

/* n encoded keys as a batch of the key schema; key i is column i. */
ashuf_status sample_export(const ashuf_schema *key_schema, const struct row_key *keys,
                           const struct candidate *chosen, int32_t n, ashuf_memory *memory,
                           struct ArrowArray *out, struct ashuf_error *error);

/* What ashuf_range_bounds does, arguments not NULL; own's keys and partitions are checked. */
ashuf_status sample_bounds(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                           const struct ArrowArray *rows, const float *weights,
                           ashuf_memory *memory, struct ArrowArray *bounds,
                           struct ashuf_error *error);

#endif /* ASHUF_PARTITION_SAMPLE_H */

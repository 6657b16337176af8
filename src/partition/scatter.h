/*
 * Partition ids of many batches -> the rows of each partition, in input order: a stable counting
 * sort, O(rows + partitions).
 *
 *   scatter_init -> scatter_count of every batch -> scatter_begin -> scatter_place of the same
 *   batches in the same order -> starts and rows may be read -> scatter_reset -> scatter_count ...
 *
 *   starts, while counting  [0][0][count of 0][count of 1] ... [count of n - 1]
 *           after begin     [0][start of 0][start of 1] ...
 *           after placing   [start of 0][start of 1] ... [start of n - 1][rows]
 *
 * Placing moves each partition's start to its end, which is the next one's start: hence the shift.
 * A partition costs 8 bytes, a row 8.
 */
#ifndef ASHUF_PARTITION_SCATTER_H
#define ASHUF_PARTITION_SCATTER_H

#include "arrow/selection.h"

struct scatter {
  ashuf_memory *memory; /* not a reference */
  int32_t partitions;
  int64_t *starts; /* partitions + 2; when placed, partition p is rows[starts[p], starts[p + 1]) */
  row_id *rows;    /* n_rows */
  int64_t n_rows;
  size_t capacity; /* of rows */
};

/* partitions >= 1 */
ashuf_status scatter_init(struct scatter *scatter, int32_t partitions, ashuf_memory *memory,
                          struct ashuf_error *error);
/* Counts n rows more; ids lie in [0, partitions). */
void scatter_count(struct scatter *scatter, const int32_t *ids, int64_t n);
/* Room for n_rows rows in all, with some to spare where there are more than before: who counts what
 * rows take in memory does it before they come. While counting only. */
ashuf_status scatter_reserve(struct scatter *scatter, int64_t n_rows, struct ashuf_error *error);
/* Makes room for the rows counted. On failure counting goes on as if it had not been called. */
ashuf_status scatter_begin(struct scatter *scatter, struct ashuf_error *error);
/* The rows of a batch, whose first is row number first of it. */
void scatter_place(struct scatter *scatter, size_t batch, int64_t first, const int32_t *ids,
                   int64_t n);
/* The rows of a partition, once all are placed. */
struct selection scatter_partition(const struct scatter *scatter, int32_t partition);
/* Back to counting, with nothing counted; memory is kept. */
void scatter_reset(struct scatter *scatter);
void scatter_free(struct scatter *scatter);

#endif /* ASHUF_PARTITION_SCATTER_H */

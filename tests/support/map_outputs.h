/* Writing a map output from test columns and reading its rows back as text. */
#ifndef TESTS_SUPPORT_MAP_OUTPUTS_H
#define TESTS_SUPPORT_MAP_OUTPUTS_H

#include "support/arrays.h"

#include <ashuf/shuffle.h>

#define OUTPUT_DATA "shuffle_1_7_0.data"
#define OUTPUT_INDEX "shuffle_1_7_0.index"

/* A partitioner by the first column of the schema, or of kind SINGLE for no columns. */
ashuf_partitioner *output_partitioner(const struct ArrowSchema *schema, int32_t partitions);

/* Moves the array out of a batch, whose schema is freed. */
struct ArrowArray output_array(struct test_column batch);

/* Three columns, int64 k, utf8 s, list<int64> l, rows [first, first + n); every 7th k is null. */
struct test_column output_batch(int64_t first, int64_t n);

/* Writes an index file of the scratch directory; big_endian 0: as Comet's native writer does. */
void output_index(const char *name, const uint64_t *offsets, int64_t partitions, int big_endian);

#endif /* TESTS_SUPPORT_MAP_OUTPUTS_H */

/* Range partitionings of the first columns of a batch. */
#ifndef TESTS_SUPPORT_RANGES_H
#define TESTS_SUPPORT_RANGES_H

#include "support/arrays.h"

#include <ashuf/ashuf.h>

/* The batch's schema, which must be one that can be imported. */
ashuf_schema *range_schema(const struct test_column *batch);
/* By the first n_keys columns, at most four. bounds may be NULL. */
struct ashuf_partitioning range_of(int32_t partitions, int32_t n_keys,
                                   const struct ArrowArray *bounds, int rule);

#endif /* TESTS_SUPPORT_RANGES_H */

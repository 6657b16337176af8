/*
 * Rows compared by a slow reading of the format and of the rules of docs/PARTITIONING.md that
 * shares nothing with the library.
 */
#ifndef TESTS_SUPPORT_ROW_ORDER_H
#define TESTS_SUPPORT_ROW_ORDER_H

#include "support/arrays.h"

/* < 0, 0, > 0: rows a and b of a column whose type has an order. order: sum of enum ashuf_order. */
int row_order(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t a,
              int64_t b, unsigned order);

#endif /* TESTS_SUPPORT_ROW_ORDER_H */

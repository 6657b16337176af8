/*
 * Which rows of a source: the order in which they are written.
 *
 * A row id names a row of one batch. A selection is a list of ids, or a list of ranges of
 * neighbouring rows. A slice is one range; a partition of shuffled rows is a list of ids; the
 * child rows of selected lists are one range a list, and one range a range of lists.
 */
#ifndef ASHUF_ARROW_SELECTION_H
#define ASHUF_ARROW_SELECTION_H

#include "arrow/source.h"

typedef uint64_t row_id; /* batch << MAX_ROWS_BITS | row */

static inline row_id row_id_of(size_t batch, int64_t row) {
  return (uint64_t)batch << MAX_ROWS_BITS | (uint64_t)row;
}
static inline size_t row_batch(row_id id) { return (size_t)(id >> MAX_ROWS_BITS); }
static inline int64_t row_number(row_id id) {
  return (int64_t)(id & (((uint64_t)1 << MAX_ROWS_BITS) - 1));
}

struct row_range {
  row_id first;
  int64_t length;
};

struct selection {
  int64_t n_rows;
  const row_id *ids;              /* n_rows of them, or NULL: */
  const struct row_range *ranges; /* n_ranges, lengths adding up to n_rows; empty ones allowed */
  size_t n_ranges;
};

/* Where in a selection the next piece starts. Zero-initialised: at its first row. */
struct selection_cursor {
  int64_t item;   /* id or range */
  int64_t within; /* rows of the range already taken */
};

#endif /* ASHUF_ARROW_SELECTION_H */

/* What the gather kernels share. */
#ifndef ASHUF_ARROW_GATHER_INT_H
#define ASHUF_ARROW_GATHER_INT_H

#include "arrow/gather.h"
#include "arrow/values.h"

#define CHUNK_ROWS 64 /* one word of a bitmap */

static inline int64_t min_rows(int64_t a, int64_t b) { return a < b ? a : b; }

/* Whether rows that a range names are there: not so only below an empty dictionary of nulls. */
static inline bool range_in_view(const struct array_view *view, int64_t first, int64_t n) {
  return first <= view->length && n <= view->length - first;
}

/* Moves past ranges that are used up; n_ranges at the end. */
static inline void cursor_settle(const struct selection *selection,
                                 struct selection_cursor *cursor) {
  while (cursor->item < (int64_t)selection->n_ranges &&
         cursor->within == selection->ranges[cursor->item].length) {
    cursor->item++;
    cursor->within = 0;
  }
}

/* The next rows of one range, at most n of them (n > 0 rows are left): the first one's id. */
static inline row_id cursor_take(const struct selection *selection, struct selection_cursor *cursor,
                                 int64_t n, int64_t *taken) {
  cursor_settle(selection, cursor);
  const struct row_range *range = &selection->ranges[cursor->item];
  row_id first = range->first + (uint64_t)cursor->within;
  *taken = min_rows(n, range->length - cursor->within);
  cursor->within += *taken;
  return first;
}

/* The ids of the next n <= CHUNK_ROWS rows; those of ranges are spelled out in room. */
static inline const row_id *cursor_ids(const struct selection *selection,
                                       struct selection_cursor *cursor, int64_t n, row_id *room) {
  if (selection->ids != NULL) {
    const row_id *ids = selection->ids + cursor->item;
    cursor->item += n;
    return ids;
  }
#ifdef __clang_analyzer__
  memset(room, 0, (size_t)n * sizeof *room); /* it does not see that the pieces add up to n */
#endif
  for (int64_t done = 0; done < n;) {
    int64_t taken;
    row_id first = cursor_take(selection, cursor, n - done, &taken);
    for (int64_t k = 0; k < taken; k++) room[done + k] = first + (uint64_t)k;
    done += taken;
  }
  return room;
}

/*
 * Whether rows chosen by id lie close together, so that the processor finds them by itself.
 * Otherwise kernels fetch a chunk ahead: a row out of memory then costs half as much.
 */
static inline bool ids_are_near(const row_id *ids, int64_t n) {
  return ids[n - 1] - ids[0] < (uint64_t)(4 * CHUNK_ROWS);
}

/* Fetches the slots of width bytes, in the first buffer, of n <= CHUNK_ROWS rows to come. */
static ALWAYS_INLINE void fetch_slots(const struct source *source, const row_id *ids, int64_t n,
                                      size_t width) {
  if (n <= 0 || ids_are_near(ids, n)) return;
  for (int64_t i = 0; i < n; i++) {
    const struct array_view *view = &source->views[row_batch(ids[i])];
    __builtin_prefetch(view->data[0] + (size_t)(view->offset + row_number(ids[i])) * width);
  }
}

/* A list of child rows that grows range by range. */
struct range_list {
  struct row_range *ranges;
  size_t n;
  int64_t n_rows;
};

static inline void range_list_add(struct range_list *list, row_id first, int64_t length) {
  if (length == 0) return;
  list->n_rows += length;
  if (list->n != 0) {
    struct row_range *last = &list->ranges[list->n - 1];
    if (last->first + (uint64_t)last->length == first) {
      last->length += length;
      return;
    }
  }
  list->ranges[list->n++] = (struct row_range){first, length};
}

static inline struct selection range_list_selection(const struct range_list *list) {
  return (struct selection){
      .n_rows = list->n_rows, .ids = NULL, .ranges = list->ranges, .n_ranges = list->n};
}

#endif /* ASHUF_ARROW_GATHER_INT_H */

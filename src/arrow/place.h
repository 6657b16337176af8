/*
 * Where the value of one row lies, for the layouts in which a row has to look for it: views, list
 * views, unions, run ends. Everything a row names is held against what its view has, so that a
 * caller may follow it; a row that its view does not have (below an empty dictionary) is an empty
 * value, or row 0 of the child.
 */
#ifndef ASHUF_ARROW_PLACE_H
#define ASHUF_ARROW_PLACE_H

#include "arrow/values.h"

#define VIEW_SIZE 16   /* size, then: value, or prefix, buffer, offset */
#define VIEW_INLINE 12 /* the longest value that stands in its view */

/* The bytes of a view; false: it names bytes that are not there. */
static inline bool place_bytes(const struct array_view *view, int64_t row, const uint8_t **data,
                               size_t *size) {
  *size = 0;
  *data = view->data[0];
  if (row >= view->length) return true;
  const uint8_t *at = view->data[0] + (view->offset + row) * VIEW_SIZE;
  int32_t bytes = load_i32(at);
  if (bytes < 0) return false;
  *size = (size_t)bytes;
  *data = at + 4;
  if (bytes <= VIEW_INLINE) return true;
  int32_t number = load_i32(at + 8);
  int32_t offset = load_i32(at + 12);
  if (number < 0 || number >= view->limit || offset < 0) return false;
  const struct ArrowArray *array = view->array;
  int64_t room = load_i64((const int64_t *)array->buffers[array->n_buffers - 1] + number);
  *data = (const uint8_t *)array->buffers[2 + number] + offset;
  return range_inside((uint64_t)offset, *size, (uint64_t)room);
}

/* The child rows of a list view; false: they are not all there. */
static inline bool place_list(const struct array_view *view, int width, int64_t row, int64_t *first,
                              int64_t *n) {
  *first = *n = 0;
  if (row >= view->length) return true;
  *first = load_offset(view->data[0], width, view->offset + row);
  *n = load_offset(view->data[1], width, view->offset + row);
  return *first >= 0 && *n >= 0 &&
         range_inside((uint64_t)*first, (uint64_t)*n, (uint64_t)view->limit);
}

/* width 2, 4 or 8 */
static inline int64_t load_run_end(const void *ends, int width, int64_t slot) {
  const uint8_t *at = (const uint8_t *)ends + slot * width;
  return width == 2 ? (int16_t)load_u16(at) : width == 4 ? load_i32(at) : load_i64(at);
}

/* The child that has this type id, or -1. */
int32_t union_child(const struct field *field, int8_t type_id);

/* The child that a row of a union stands in, and the row of it; -1: there is none. */
int32_t place_union(const struct source *source, size_t batch, int64_t row, int64_t *child_row);

/*
 * The run that a row stands in: a row of the values; -1: there is none. *rows receives how many
 * rows from this one on it covers, as far as the view goes; rows may be NULL.
 */
int64_t place_run(const struct source *source, size_t batch, int64_t row, int64_t *rows);

#endif /* ASHUF_ARROW_PLACE_H */

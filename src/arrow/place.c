#include "arrow/place.h"

int32_t union_child(const struct field *field, int8_t type_id) {
  if (type_id >= 0 && type_id < field->n_children && field->type_ids[type_id] == type_id)
    return type_id;
  for (int32_t i = 0; i < field->n_children; i++)
    if (field->type_ids[i] == type_id) return i;
  return -1;
}

int32_t place_union(const struct source *source, size_t batch, int64_t row, int64_t *child_row) {
  const struct array_view *view = &source->views[batch];
  *child_row = 0;
  if (row >= view->length) return source->field->n_children != 0 ? 0 : -1;
  int64_t slot = view->offset + row;
  int32_t child = union_child(source->field, (int8_t)view->data[0][slot]);
  if (child < 0) return -1;
  bool dense = source->field->type == TYPE_DENSE_UNION;
  *child_row = dense ? load_offset(view->data[1], 4, slot) : row;
  int64_t rows = source->children[child].views[batch].length;
  return *child_row >= 0 && *child_row < rows ? child : -1;
}

int64_t place_run(const struct source *source, size_t batch, int64_t row, int64_t *rows) {
  const struct array_view *view = &source->views[batch];
  const struct array_view *ends = &source->children[0].views[batch];
  int width = source->children[0].field->byte_width;
  if (rows != NULL) *rows = 1;
  if (row >= view->length) return 0;
  int64_t position = view->offset + row;
  int64_t low = 0;
  int64_t high = ends->length; /* the first run that ends behind the position is in [low, high] */
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (load_run_end(ends->data[0], width, ends->offset + middle) > position)
      high = middle;
    else
      low = middle + 1;
  }
  if (low >= ends->length || low >= source->children[1].views[batch].length) return -1;
  int64_t end = load_run_end(ends->data[0], width, ends->offset + low) - view->offset;
  if (rows != NULL) *rows = (end < view->length ? end : view->length) - row;
  return low;
}

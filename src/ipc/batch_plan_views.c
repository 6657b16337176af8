#include "arrow/place.h"
#include "ipc/batch_plan_int.h"

/* ---- Views -------------------------------------------------------------------------------- */

/* Whether every valid row's bytes are there. */
static bool views_are_good(const struct array_view *view) {
  const uint8_t *data;
  size_t size;
  for (int64_t row = 0; row < view->length; row++)
    if (view_is_valid(view, row) && !place_bytes(view, row, &data, &size)) return false;
  return true;
}

/* Views and data buffers as the input has them. */
static void plan_whole_views(struct planner *planner, const struct planned *planned,
                             const struct array_view *view) {
  const struct ArrowArray *array = view->array;
  const int64_t *sizes = array->buffers[array->n_buffers - 1];
  struct plan_piece piece = {PIECE_FIXED, NULL, planned->source, planned->selection,
                             planned->validity};
  planner_add_buffer(planner, planned->source->field, (uint64_t)view->length * VIEW_SIZE, &piece);
  for (int64_t i = 0; i < view->limit; i++)
    planner_add_memory(planner, array->buffers[2 + i], (uint64_t)load_i64(&sizes[i]));
  planner->plan->variadic[planner->plan->n_variadic++] = view->limit;
}

ashuf_status plan_views(struct planner *planner, const struct planned *planned) {
  const struct field *field = planned->source->field;
  const struct array_view *view = planner_whole(planner, planned->source, planned->selection);
  if (view != NULL && views_are_good(view)) {
    plan_whole_views(planner, planned, view);
    return ASHUF_OK;
  }
  struct gathered_views *views = planner_take(planner, 1, sizeof *views);
  if (views == NULL) return planner_no_memory(planner, sizeof *views);
  ashuf_status status = gather_views(planned->source, planned->selection, planned->validity,
                                     planner->arena, views, planner->error);
  if (status != ASHUF_OK) return status;
  if (views->total > (uint64_t)planner->layout->offset_limit) {
    planner->plans->too_large = true;
    return ASHUF_OK;
  }
  struct plan_piece piece = {.kind = PIECE_MEMORY, .memory = views->views};
  planner_add_buffer(planner, field, (uint64_t)planned->selection->n_rows * VIEW_SIZE, &piece);
  planner->plan->variadic[planner->plan->n_variadic++] = views->total != 0;
  if (views->total == 0) return ASHUF_OK;
  piece = (struct plan_piece){.kind = PIECE_RUNS, .memory = views};
  planner_add_buffer(planner, NULL, views->total, &piece);
  return ASHUF_OK;
}

/* ---- List views --------------------------------------------------------------------------- */

/* Whether every row's values are there: readers may look at null ones too. */
static bool lists_are_good(const struct array_view *view, int width) {
  int64_t first;
  int64_t n;
  for (int64_t row = 0; row < view->length; row++)
    if (!place_list(view, width, row, &first, &n)) return false;
  return true;
}

static ashuf_status plan_whole_lists(struct planner *planner, const struct planned *planned,
                                     const struct array_view *view) {
  uint64_t size = (uint64_t)view->length * (uint64_t)planned->source->field->byte_width;
  planner_add_memory(planner, view->data[0], size);
  planner_add_memory(planner, view->data[1], size);
  return planner_add_children(planner, planned->source);
}

/* Lists that overlap are written once each: the child can be any size. */
static bool lists_fit(struct planner *planner, const struct field *field,
                      const struct selection *rows, uint64_t total) {
  if (field->byte_width == 4) return planner_offsets_fit(planner, field, total);
  if (rows->n_rows <= 1 || total <= (uint64_t)planner->layout->offset_limit) return true;
  planner->plans->too_large = true;
  return false;
}

ashuf_status plan_list_views(struct planner *planner, const struct planned *planned) {
  const struct source *source = planned->source;
  const struct array_view *view = planner_whole(planner, source, planned->selection);
  if (view != NULL && lists_are_good(view, source->field->byte_width))
    return plan_whole_lists(planner, planned, view);
  uint64_t n = (uint64_t)planned->selection->n_rows;
  uint64_t size = n * (uint64_t)source->field->byte_width;
  uint64_t total = 0;
  void *offsets = planner_take(planner, size, 1);
  void *sizes = planner_take(planner, size, 1);
  struct row_range *ranges = planner_take(planner, n, sizeof *ranges);
  struct selection *child = planner_take(planner, 1, sizeof *child);
  if (offsets == NULL || sizes == NULL || ranges == NULL || child == NULL)
    return planner_no_memory(planner, size);
  ashuf_status status = gather_list_views(source, planned->selection, planned->validity, offsets,
                                          sizes, &total, ranges, child, planner->error);
  if (status != ASHUF_OK || !lists_fit(planner, source->field, planned->selection, total))
    return status;
  planner_add_memory(planner, offsets, size);
  planner_add_memory(planner, sizes, size);
  return planner_add_field(planner, &source->children[0], child, NULL);
}

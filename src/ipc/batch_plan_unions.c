#include "arrow/place.h"
#include "base/bits.h"
#include "ipc/batch_plan_int.h"

ashuf_status planner_add_children(struct planner *planner, const struct source *source) {
  ashuf_status status = ASHUF_OK;
  for (int32_t i = 0; i < source->field->n_children && status == ASHUF_OK; i++) {
    const struct source *child = &source->children[i];
    struct selection *all = planner_take(planner, 1, sizeof *all);
    struct row_range *range = planner_take(planner, 1, sizeof *range);
    if (all == NULL || range == NULL) return planner_no_memory(planner, sizeof *all);
    *range = (struct row_range){row_id_of(planner->batch, 0), child->views[planner->batch].length};
    *all = (struct selection){.n_rows = range->length, .ranges = range, .n_ranges = 1};
    status = planner_add_field(planner, child, all, NULL);
  }
  return status;
}

/* ---- Unions ------------------------------------------------------------------------------- */

static bool rows_are_good(const struct planner *planner, const struct source *source,
                          const struct array_view *view) {
  int64_t child_row;
  for (int64_t row = 0; row < view->length; row++)
    if (place_union(source, planner->batch, row, &child_row) < 0) return false;
  return true;
}

/* The rows of a sparse union that are of one child: the others' there are nobody's. */
static uint8_t *select_rows(struct planner *planner, const struct planned *planned,
                            const uint8_t *type_ids, int32_t child) {
  int64_t n = planned->selection->n_rows;
  uint8_t *mask = planner_take(planner, bits_size(n), 1);
  if (mask == NULL) return NULL;
  memset(mask, 0, bits_size(n));
  for (int64_t i = 0; i < n; i++)
    if (union_child(planned->source->field, (int8_t)type_ids[i]) == child &&
        (planned->validity == NULL || bit_get(planned->validity, i)))
      mask[i >> 3] |= (uint8_t)(1u << (i & 7));
  return mask;
}

static ashuf_status plan_sparse(struct planner *planner, const struct planned *planned,
                                const struct gathered_union *gathered) {
  const struct source *source = planned->source;
  ashuf_status status = ASHUF_OK;
  for (int32_t i = 0; i < source->field->n_children && status == ASHUF_OK; i++) {
    const uint8_t *mask = select_rows(planner, planned, gathered->type_ids, i);
    if (mask == NULL) return planner_no_memory(planner, bits_size(planned->selection->n_rows));
    status = planner_add_field(planner, &source->children[i], planned->selection, mask);
  }
  return status;
}

static ashuf_status plan_children(struct planner *planner, const struct planned *planned,
                                  const struct gathered_union *gathered) {
  const struct source *source = planned->source;
  bool dense = source->field->type == TYPE_DENSE_UNION;
  ashuf_status status = ASHUF_OK;
  for (int32_t i = 0; i < source->field->n_children && status == ASHUF_OK; i++) {
    const uint8_t *mask = dense ? gathered->mask : planned->validity;
    status = planner_add_field(planner, &source->children[i],
                               dense ? &gathered->children[i] : planned->selection,
                               i == gathered->null_child ? mask : NULL);
  }
  return status;
}

ashuf_status plan_union(struct planner *planner, const struct planned *planned) {
  const struct source *source = planned->source;
  uint64_t n = (uint64_t)planned->selection->n_rows;
  bool dense = source->field->type == TYPE_DENSE_UNION;
  const struct array_view *view = planner_whole(planner, source, planned->selection);
  if (dense && view != NULL && planned->validity == NULL && rows_are_good(planner, source, view)) {
    planner_add_memory(planner, view->data[0], n);
    planner_add_memory(planner, view->data[1], n * 4);
    return planner_add_children(planner, source);
  }
  if (dense && n > (uint64_t)planner->layout->offset_limit) {
    planner->plans->too_large = true;
    return ASHUF_OK;
  }
  struct gathered_union *gathered = planner_take(planner, 1, sizeof *gathered);
  if (gathered == NULL) return planner_no_memory(planner, sizeof *gathered);
  ashuf_status status = gather_union(source, planned->selection, planned->validity, planner->arena,
                                     gathered, planner->error);
  if (status != ASHUF_OK) return status;
  planner_add_memory(planner, gathered->type_ids, n);
  if (dense) planner_add_memory(planner, gathered->offsets, n * 4);
  if (!dense && !planner->one_batch) return plan_sparse(planner, planned, gathered);
  return plan_children(planner, planned, gathered);
}

/* ---- Run ends ----------------------------------------------------------------------------- */

/* Whether the runs are in order and end where the array does: only then they may stay. */
static bool runs_are_good(const struct planner *planner, const struct source *source,
                          const struct array_view *view) {
  const struct array_view *ends = &source->children[0].views[planner->batch];
  int width = source->children[0].field->byte_width;
  int64_t before = 0;
  for (int64_t i = 0; i < ends->length; i++) {
    int64_t end = load_run_end(ends->data[0], width, ends->offset + i);
    if (end <= before) return false;
    before = end;
  }
  return before == view->length && source->children[1].views[planner->batch].length == ends->length;
}

/* The largest run end that the field can say. */
static int64_t largest_end(const struct planner *planner, const struct field *ends) {
  if (ends->byte_width == 2) return INT16_MAX;
  return ends->byte_width == 4 ? planner->layout->offset_limit : INT64_MAX;
}

/* The run ends as a field of their own: never null. */
static ashuf_status add_ends(struct planner *planner, const struct source *ends,
                             const struct gathered_runs *runs) {
  struct planned planned = {ends, &runs->values, NULL, 0, false};
  planner_add_node(planner, runs->n_runs, 0);
  ashuf_status status = planner_add_validity(planner, &planned);
  planner_add_memory(planner, runs->ends,
                     (uint64_t)runs->n_runs * (uint64_t)ends->field->byte_width);
  return status;
}

ashuf_status plan_runs(struct planner *planner, const struct planned *planned) {
  const struct source *source = planned->source;
  const struct array_view *view = planner_whole(planner, source, planned->selection);
  if (view != NULL && planned->validity == NULL && runs_are_good(planner, source, view))
    return planner_add_children(planner, source);
  if (planned->selection->n_rows > largest_end(planner, source->children[0].field)) {
    planner->plans->too_large = true;
    return ASHUF_OK;
  }
  struct gathered_runs *runs = planner_take(planner, 1, sizeof *runs);
  if (runs == NULL) return planner_no_memory(planner, sizeof *runs);
  ashuf_status status = gather_runs(source, planned->selection, planned->validity, planner->arena,
                                    runs, planner->error);
  if (status == ASHUF_OK) status = add_ends(planner, &source->children[0], runs);
  if (status != ASHUF_OK) return status;
  return planner_add_field(planner, &source->children[1], &runs->values, runs->validity);
}

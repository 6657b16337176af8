#include "ipc/batch_plan.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "ipc/batch_plan_int.h"
#include "ipc/dictionary_build.h"
#include "ipc/length_planes.h"

ashuf_status planner_no_memory(struct planner *planner, size_t size) {
  return error_memory(planner->error, SITE_PLAN_MEMORY, planner->arena->memory, size);
}

void *planner_take(struct planner *planner, uint64_t count, size_t size) {
  return arena_array(planner->arena, (size_t)count, size);
}

/* ---- Nodes, buffers and pieces ------------------------------------------------------------ */

struct list_sizes {
  uint32_t nodes;
  uint32_t buffers;
  uint32_t views; /* fields with a variadic count */
};

/* The most data buffers a view field can have: what it comes with, where that may stay, else one.
 */
static uint32_t count_data_buffers(const struct planner *planner, const struct source *source) {
  int64_t as_is = planner->one_batch ? source->views[planner->batch].limit : 0;
  return as_is > 1 ? (uint32_t)as_is : 1;
}

/* How many nodes and buffers the source contributes at most, as it will be written. */
static void count_lists(const struct planner *planner, const struct source *source,
                        struct list_sizes *sizes) {
  if (source->dictionary != NULL && !planner->layout->keep_dictionaries) {
    count_lists(planner, source->dictionary, sizes);
    return;
  }
  const struct type_info *info = type_info(source->field->type);
  sizes->nodes += 1;
  sizes->buffers += info->buffers;
  if (info->layout == LAYOUT_VIEWS) {
    sizes->views += 1;
    sizes->buffers += count_data_buffers(planner, source);
  }
  for (int32_t i = 0; i < source->field->n_children; i++)
    count_lists(planner, &source->children[i], sizes);
}

static bool alloc_lists(struct planner *planner, struct batch_plan *plan,
                        const struct list_sizes *sizes) {
  memset(plan, 0, sizeof *plan);
  plan->nodes = planner_take(planner, sizes->nodes, sizeof *plan->nodes);
  plan->buffers = planner_take(planner, sizes->buffers, sizeof *plan->buffers);
  plan->pieces = planner_take(planner, sizes->buffers, sizeof *plan->pieces);
  plan->variadic = planner_take(planner, sizes->views, sizeof *plan->variadic);
  return plan->nodes != NULL && plan->buffers != NULL && plan->pieces != NULL &&
         plan->variadic != NULL;
}

void planner_add_node(struct planner *planner, int64_t length, int64_t nulls) {
  planner->plan->nodes[planner->plan->n_nodes++] = (struct ipc_node){length, nulls};
}

/* At the padding's next multiple, 16 for types of 16 bytes that readers load whole. */
void planner_add_buffer(struct planner *planner, const struct field *field, uint64_t size,
                        const struct plan_piece *piece) {
  struct batch_plan *plan = planner->plan;
  bool wide = field != NULL && batch_is_wide(field);
  uint64_t alignment = wide && planner->layout->padding < 16 ? 16 : planner->layout->padding;
  uint64_t offset = round_up(plan->body_length, alignment);
  plan->buffers[plan->n_buffers] = (struct ipc_buffer){(int64_t)offset, (int64_t)size};
  plan->pieces[plan->n_buffers++] = *piece;
  plan->body_length = round_up(offset + size, planner->layout->padding);
}

void planner_add_memory(struct planner *planner, const void *memory, uint64_t size) {
  struct plan_piece piece = {.kind = PIECE_MEMORY, .memory = memory};
  planner_add_buffer(planner, NULL, size, &piece);
}

bool batch_is_wide(const struct field *field) {
  return field->type == TYPE_DECIMAL128 || field->type == TYPE_DECIMAL256 ||
         type_info(field->type)->layout == LAYOUT_VIEWS;
}

/* ---- Fields ------------------------------------------------------------------------------- */

ashuf_status planner_add_validity(struct planner *planner, const struct planned *planned) {
  size_t size = bits_size(planned->selection->n_rows);
  if (planned->validity != NULL || !planner->layout->validity_always) {
    planner_add_memory(planner, planned->validity, planned->validity != NULL ? size : 0);
    return ASHUF_OK;
  }
  uint8_t *all = planner_take(planner, size, 1);
  if (all == NULL) return planner_no_memory(planner, size);
  memset(all, 0xff, size);
  planner_add_memory(planner, all, size);
  return ASHUF_OK;
}

static ashuf_status plan_bits(struct planner *planner, const struct planned *planned) {
  size_t size = bits_size(planned->selection->n_rows);
  uint8_t *bits = planner_take(planner, size, 1);
  if (bits == NULL) return planner_no_memory(planner, size);
  gather_bits(planned->source, planned->selection, planned->validity, bits);
  planner_add_memory(planner, bits, size);
  return ASHUF_OK;
}

static void plan_fixed(struct planner *planner, const struct planned *planned) {
  const struct field *field = planned->source->field;
  struct plan_piece piece = {PIECE_FIXED, NULL, planned->source, planned->selection,
                             planned->validity};
  planner_add_buffer(planner, field,
                     (uint64_t)planned->selection->n_rows * (uint64_t)field->byte_width, &piece);
}

/* The offsets as they go out: themselves, or as length planes. */
static ashuf_status add_offsets(struct planner *planner, const struct field *field,
                                const void *offsets, int64_t n) {
  uint64_t size = (uint64_t)n * (uint64_t)field->byte_width;
  const void *out = offsets;
  if (planner->layout->offsets_as_lengths) {
    uint8_t *planes = planner_take(planner, size, 1);
    if (planes == NULL) return planner_no_memory(planner, size);
    planes_from_offsets(offsets, field->byte_width, n, planes);
    out = planes;
  }
  planner_add_memory(planner, out, size);
  return ASHUF_OK;
}

bool planner_offsets_fit(struct planner *planner, const struct field *field, uint64_t total) {
  if (field->byte_width == 8 || total <= (uint64_t)planner->layout->offset_limit) return true;
  planner->plans->too_large = true;
  return false;
}

static ashuf_status plan_bytes(struct planner *planner, const struct planned *planned) {
  const struct field *field = planned->source->field;
  int64_t n = planned->selection->n_rows + 1;
  uint64_t total = 0;
  void *offsets = planner_take(planner, (uint64_t)n, (size_t)field->byte_width);
  if (offsets == NULL) return planner_no_memory(planner, (size_t)n * 4);
  ashuf_status status = gather_offsets(planned->source, planned->selection, planned->validity,
                                       offsets, &total, planner->error);
  if (status != ASHUF_OK || !planner_offsets_fit(planner, field, total)) return status;
  gather_fetch_bytes(planned->source, planned->selection, offsets);
  status = add_offsets(planner, field, offsets, n);
  struct plan_piece piece = {PIECE_BYTES, offsets, planned->source, planned->selection,
                             planned->validity};
  planner_add_buffer(planner, NULL, total, &piece);
  return status;
}

/* A selection of child rows in the arena, with room for the ranges it can need: one a range
 * where nothing is null, else one a row. */
static struct selection *take_child(struct planner *planner, const struct planned *planned,
                                    struct row_range **ranges) {
  const struct selection *parent = planned->selection;
  bool by_range = parent->ids == NULL && planned->validity == NULL;
  uint64_t most = by_range ? parent->n_ranges : (uint64_t)parent->n_rows;
  struct selection *child = planner_take(planner, 1, sizeof *child);
  *ranges = planner_take(planner, most, sizeof **ranges);
  return *ranges == NULL ? NULL : child;
}

static ashuf_status plan_list(struct planner *planner, const struct planned *planned) {
  const struct field *field = planned->source->field;
  int64_t n = planned->selection->n_rows + 1;
  uint64_t total = 0;
  struct row_range *ranges = NULL;
  struct selection *child = take_child(planner, planned, &ranges);
  void *offsets = planner_take(planner, (uint64_t)n, (size_t)field->byte_width);
  if (offsets == NULL || child == NULL) return planner_no_memory(planner, (size_t)n * 4);
  ashuf_status status = gather_lists(planned->source, planned->selection, planned->validity,
                                     offsets, &total, ranges, child, planner->error);
  if (status != ASHUF_OK || !planner_offsets_fit(planner, field, total)) return status;
  status = add_offsets(planner, field, offsets, n);
  if (status != ASHUF_OK) return status;
  return planner_add_field(planner, &planned->source->children[0], child, NULL);
}

/* The mask of the items of masked fixed-size lists. */
static ashuf_status stretch_mask(struct planner *planner, const struct planned *planned,
                                 int64_t items, const uint8_t **out) {
  int64_t each = planned->source->field->list_size;
  *out = NULL;
  if (!planned->masked || items == 0) return ASHUF_OK;
  size_t size = bits_size(items);
  uint8_t *mask = planner_take(planner, size, 1);
  if (mask == NULL) return planner_no_memory(planner, size);
  memset(mask, 0, size);
  for (int64_t i = 0; i < items; i++)
    if (bit_get(planned->validity, i / each)) mask[i >> 3] |= (uint8_t)(1u << (i & 7));
  *out = mask;
  return ASHUF_OK;
}

static ashuf_status plan_fixed_list(struct planner *planner, const struct planned *planned) {
  struct row_range *ranges = NULL;
  struct selection *child = take_child(planner, planned, &ranges);
  if (child == NULL) return planner_no_memory(planner, sizeof *ranges);
  gather_fixed_list(planned->source, planned->selection, ranges, child);
  const uint8_t *mask = NULL;
  ashuf_status status = stretch_mask(planner, planned, child->n_rows, &mask);
  if (status != ASHUF_OK) return status;
  return planner_add_field(planner, &planned->source->children[0], child, mask);
}

static ashuf_status plan_struct(struct planner *planner, const struct planned *planned) {
  ashuf_status status = ASHUF_OK;
  for (int32_t i = 0; i < planned->source->field->n_children && status == ASHUF_OK; i++)
    status = planner_add_field(planner, &planned->source->children[i], planned->selection,
                               planned->masked ? planned->validity : NULL);
  return status;
}

/* A field whose nulls are known. */
static ashuf_status plan_values(struct planner *planner, const struct planned *planned) {
  const struct type_info *info = type_info(planned->source->field->type);
  int64_t length = planned->selection->n_rows;
  int64_t nulls = info->layout == LAYOUT_NULL ? length : info->validity ? planned->nulls : 0;
  planner_add_node(planner, length, nulls);
  ashuf_status status = info->validity ? planner_add_validity(planner, planned) : ASHUF_OK;
  if (status != ASHUF_OK) return status;
  switch (info->layout) {
    case LAYOUT_NULL:
      return ASHUF_OK;
    case LAYOUT_BITS:
      return plan_bits(planner, planned);
    case LAYOUT_FIXED:
      plan_fixed(planner, planned);
      return ASHUF_OK;
    case LAYOUT_BYTES:
      return plan_bytes(planner, planned);
    case LAYOUT_LIST:
      return plan_list(planner, planned);
    case LAYOUT_FIXED_LIST:
      return plan_fixed_list(planner, planned);
    case LAYOUT_STRUCT:
      return plan_struct(planner, planned);
    case LAYOUT_VIEWS:
      return plan_views(planner, planned);
    case LAYOUT_LIST_VIEW:
      return plan_list_views(planner, planned);
    case LAYOUT_SPARSE:
    case LAYOUT_DENSE:
      return plan_union(planner, planned);
    case LAYOUT_RUN_ENDS:
      return plan_runs(planner, planned);
    default:
      return error_set(planner->error, ASHUF_UNSUPPORTED_TYPE, SITE_PLAN_LAYOUT,
                       "type %s cannot be written", info->name);
  }
}

const struct array_view *planner_whole(const struct planner *planner, const struct source *source,
                                       const struct selection *selection) {
  if (!planner->one_batch || selection->ids != NULL) return NULL;
  const struct array_view *view = &source->views[planner->batch];
  if (view->offset != 0 || view->length != view->array->length) return NULL;
  int64_t row = 0;
  for (size_t i = 0; i < selection->n_ranges; i++) {
    const struct row_range *range = &selection->ranges[i];
    if (range->length != 0 && row_number(range->first) != row) return NULL;
    row += range->length;
  }
  return row == view->length && row != 0 ? view : NULL;
}

/* Adds the nulls of a mask to those that are known. */
static ashuf_status add_mask(struct planner *planner, struct planned *planned,
                             const uint8_t *mask) {
  if (mask == NULL) return ASHUF_OK;
  size_t size = bits_size(planned->selection->n_rows);
  uint8_t *both = planner_take(planner, size, 1);
  if (both == NULL) return planner_no_memory(planner, size);
  memcpy(both, mask, size);
  for (size_t i = 0; planned->validity != NULL && i < size; i++) both[i] &= planned->validity[i];
  planned->nulls = planned->selection->n_rows - bits_count(both, 0, planned->selection->n_rows);
  planned->validity = planned->nulls != 0 ? both : NULL;
  planned->masked = planned->nulls != 0;
  return ASHUF_OK;
}

/* Gathers the validity where there may be nulls. */
static ashuf_status find_nulls(struct planner *planner, struct planned *planned) {
  if (!type_info(planned->source->field->type)->validity ||
      gather_has_no_nulls(planned->source, planned->selection))
    return ASHUF_OK;
  size_t size = bits_size(planned->selection->n_rows);
  uint8_t *bits = planner_take(planner, size, 1);
  if (bits == NULL) return planner_no_memory(planner, size);
  planned->nulls = gather_validity(planned->source, planned->selection, bits);
  planned->validity = planned->nulls != 0 ? bits : NULL;
  /* Zeros lie under nulls: which row's garbage would, could depend on how equal values met. A slice
   * in the arrow-rs layout stays as it is. */
  planned->masked = planned->nulls != 0 && !planner->one_batch;
  return ASHUF_OK;
}

/* ---- Dictionaries ------------------------------------------------------------------------- */

/* Takes the value behind each selected index. */
static ashuf_status decode_indices(struct planner *planner, const struct source *source,
                                   const struct selection *selection, struct planned *out) {
  size_t size = bits_size(selection->n_rows);
  uint8_t *validity = planner_take(planner, size, 1);
  row_id *ids = planner_take(planner, (uint64_t)selection->n_rows, sizeof *ids);
  struct selection *values = planner_take(planner, 1, sizeof *values);
  if (validity == NULL || ids == NULL || values == NULL) return planner_no_memory(planner, size);
  int64_t nulls = 0;
  ashuf_status status =
      gather_decode(source, selection, validity, &nulls, ids, values, planner->error);
  *out = (struct planned){source->dictionary, values, nulls != 0 ? validity : NULL, nulls, false};
  return status;
}

static ashuf_status plan_decoded(struct planner *planner, const struct source *source,
                                 const struct selection *selection, const uint8_t *mask) {
  struct planned planned;
  ashuf_status status = decode_indices(planner, source, selection, &planned);
  if (status == ASHUF_OK) status = add_mask(planner, &planned, mask);
  planned.masked = planned.nulls != 0; /* the id of a null is any */
  return status == ASHUF_OK ? plan_values(planner, &planned) : status;
}

/* Fills the body up, so that the message behind it starts where its own body is aligned. */
static void close_body(const struct planner *planner, struct batch_plan *plan) {
  uint32_t alignment = planner->layout->message_alignment;
  if (alignment > planner->layout->padding)
    plan->body_length = round_up(plan->body_length, alignment);
  planner->plans->body_length += plan->body_length;
}

/* The values as a batch of their own, in front of the one that uses them. */
static ashuf_status plan_dictionary_batch(struct planner *planner, const struct source *source,
                                          const struct selection *values) {
  struct list_sizes sizes = {0};
  count_lists(planner, source->dictionary, &sizes);
  struct batch_plan *plan = planner_take(planner, 1, sizeof *plan);
  if (plan == NULL || !alloc_lists(planner, plan, &sizes))
    return planner_no_memory(planner, sizeof *plan);
  plan->dictionary_id = source->field->dictionary_id;
  plan->length = values->n_rows;
  struct batch_plan *user = planner->plan;
  planner->plan = plan;
  ashuf_status status = planner_add_field(planner, source->dictionary, values, NULL);
  planner->plan = user;
  close_body(planner, plan);
  *planner->last = plan;
  planner->last = &plan->next;
  return status;
}

/* The dictionary as the input has it; the indices are decoded only to know that they are in it. */
static ashuf_status plan_whole(struct planner *planner, const struct source *source,
                               const struct selection *selection, const uint8_t *mask) {
  row_id first = selection->ids != NULL ? selection->ids[0] : selection->ranges[0].first;
  const struct source *values = source->dictionary;
  struct selection *all = planner_take(planner, 1, sizeof *all);
  struct row_range *range = planner_take(planner, 1, sizeof *range);
  if (all == NULL || range == NULL) return planner_no_memory(planner, sizeof *all);
  *range =
      (struct row_range){row_id_of(row_batch(first), 0), values->views[row_batch(first)].length};
  *all = (struct selection){.n_rows = range->length, .ranges = range, .n_ranges = 1};
  struct planned planned;
  ashuf_status status = decode_indices(planner, source, selection, &planned);
  planned = (struct planned){source, selection, NULL, 0, false};
  if (status == ASHUF_OK) status = find_nulls(planner, &planned);
  if (status == ASHUF_OK) status = add_mask(planner, &planned, mask);
  if (status == ASHUF_OK) status = plan_values(planner, &planned);
  return status == ASHUF_OK ? plan_dictionary_batch(planner, source, all) : status;
}

/* The values that the selected rows use, once each, in order of first appearance. */
static ashuf_status plan_compacted(struct planner *planner, const struct source *source,
                                   const struct selection *selection, const uint8_t *mask) {
  struct planned planned = {source, selection, NULL, 0, false};
  ashuf_status status = find_nulls(planner, &planned);
  if (status == ASHUF_OK) status = add_mask(planner, &planned, mask);
  struct built_dictionary *built = planner_take(planner, 1, sizeof *built);
  if (status == ASHUF_OK && built == NULL) status = planner_no_memory(planner, sizeof *built);
  if (status != ASHUF_OK) return status;
  *built = (struct built_dictionary){.validity = planned.validity, .nulls = planned.nulls};
  status = dictionary_build(source, selection, planner->arena, built, planner->error);
  if (status != ASHUF_OK) return status;
  if (!built->fits) planner->plans->too_large = true;
  if (!built->fits) return ASHUF_OK;
  planned.validity = built->validity;
  planner_add_node(planner, selection->n_rows, built->nulls);
  status = planner_add_validity(planner, &planned);
  if (status != ASHUF_OK) return status;
  planner_add_memory(planner, built->indices,
                     (uint64_t)selection->n_rows * (uint64_t)source->field->byte_width);
  return plan_dictionary_batch(planner, source, &built->values);
}

ashuf_status planner_add_field(struct planner *planner, const struct source *source,
                               const struct selection *selection, const uint8_t *mask) {
  if (planner->plans->too_large) return ASHUF_OK;
  if (source->dictionary != NULL && !planner->layout->keep_dictionaries)
    return plan_decoded(planner, source, selection, mask);
  if (source->dictionary != NULL && planner->one_batch && selection->n_rows != 0)
    return plan_whole(planner, source, selection, mask);
  if (source->dictionary != NULL) return plan_compacted(planner, source, selection, mask);
  struct planned planned = {source, selection, NULL, 0, false};
  ashuf_status status = find_nulls(planner, &planned);
  if (status == ASHUF_OK) status = add_mask(planner, &planned, mask);
  return status == ASHUF_OK ? plan_values(planner, &planned) : status;
}

/* ---- The batch ---------------------------------------------------------------------------- */

/* Rows that were gathered by id get a dictionary of their own, however they came in. */
static bool is_one_slice(const struct selection *selection) {
  if (selection->ids != NULL || selection->n_ranges == 0) return false;
  for (size_t i = 1; i < selection->n_ranges; i++)
    if (row_batch(selection->ranges[i].first) != row_batch(selection->ranges[0].first))
      return false;
  return true;
}

ashuf_status batch_plan_make(const struct source_set *set, const struct selection *selection,
                             const struct batch_layout *layout, struct arena *arena,
                             struct batch_plans *out, struct ashuf_error *error) {
  memset(out, 0, sizeof *out);
  struct planner planner = {.layout = layout,
                            .arena = arena,
                            .plans = out,
                            .plan = &out->batch,
                            .last = &out->dictionaries,
                            .one_batch = layout->whole_dictionaries && is_one_slice(selection),
                            .error = error};
  if (planner.one_batch) planner.batch = row_batch(selection->ranges[0].first);
  int32_t n_columns = set->schema->n_columns;
  struct list_sizes sizes = {0};
  for (int32_t i = 0; i < n_columns; i++) count_lists(&planner, &set->columns[i], &sizes);
  if (!alloc_lists(&planner, &out->batch, &sizes)) return planner_no_memory(&planner, sizes.nodes);
  out->batch.length = selection->n_rows;
  ashuf_status status = ASHUF_OK;
  for (int32_t i = 0; i < n_columns; i++) gather_fetch(&set->columns[i], selection);
  for (int32_t i = 0; i < n_columns && status == ASHUF_OK; i++)
    status = planner_add_field(&planner, &set->columns[i], selection, NULL);
  close_body(&planner, &out->batch);
  return status;
}

void batch_plan_metadata(const struct batch_plan *plan, bool is_dictionary,
                         struct batch_metadata *out) {
  *out = (struct batch_metadata){.is_dictionary = is_dictionary,
                                 .dictionary_id = plan->dictionary_id,
                                 .length = plan->length,
                                 .body_length = (int64_t)plan->body_length,
                                 .nodes = plan->nodes,
                                 .buffers = plan->buffers,
                                 .variadic = plan->variadic,
                                 .n_variadic = plan->n_variadic,
                                 .n_nodes = plan->n_nodes,
                                 .n_buffers = plan->n_buffers};
}

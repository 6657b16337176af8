#include "ipc/batch_concat.h"

#include "arrow/gather.h"
#include "ipc/batch_plan.h"
#include "ipc/batch_read.h"

#include <string.h>

struct concat {
  const ashuf_schema *schema;
  const ashuf_schema *out_schema;
  ashuf_memory *memory;
  struct source_set set;
  struct arena arena;
  struct dictionary_table dictionaries;
  struct ashuf_error *error;
};

static ashuf_status no_memory(const struct concat *concat, size_t size) {
  return error_memory(concat->error, SITE_CONCAT_MEMORY, concat->memory, size);
}

/* ---- Filling a body ----------------------------------------------------------------------- */

static const struct array_view *range_view(const struct plan_piece *piece,
                                           const struct row_range *range, size_t *slot) {
  const struct array_view *view = &piece->source->views[row_batch(range->first)];
  *slot = (size_t)(view->offset + row_number(range->first));
  return view;
}

static uint64_t offset_at(const struct array_view *view, int width, size_t slot) {
  if (width == 4) return (uint64_t)((const int32_t *)(const void *)view->data[0])[slot];
  return (uint64_t)((const int64_t *)(const void *)view->data[0])[slot];
}

/* Neighbouring rows without nulls are one copy. */
static void copy_runs(const struct plan_piece *piece, uint8_t *out) {
  int width = piece->source->field->byte_width;
  for (size_t i = 0; i < piece->selection->n_ranges; i++) {
    const struct row_range *range = &piece->selection->ranges[i];
    if (range->length == 0) continue;
    size_t slot = 0;
    const struct array_view *view = range_view(piece, range, &slot);
    const uint8_t *from = view->data[0] + slot * (size_t)width;
    size_t size = (size_t)range->length * (size_t)width;
    if (piece->kind == PIECE_BYTES) {
      uint64_t first = offset_at(view, width, slot);
      from = view->data[1] + first;
      size = (size_t)(offset_at(view, width, slot + (size_t)range->length) - first);
    }
    if (size != 0) memcpy(out, from, size);
    out += size;
  }
}

static void fill_buffer(const struct plan_piece *piece, size_t size, uint8_t *out) {
  struct selection_cursor cursor = {0, 0};
  if (size == 0) return;
  if (piece->kind == PIECE_MEMORY) {
    memcpy(out, piece->memory, size);
    return;
  }
  if (piece->kind == PIECE_RUNS) {
    const struct gathered_views *views = piece->memory;
    for (size_t i = 0; i < views->n_runs; i++) {
      memcpy(out, views->runs[i].data, views->runs[i].size);
      out += views->runs[i].size;
    }
    return;
  }
  if (piece->selection->ids == NULL && piece->validity == NULL) {
    copy_runs(piece, out);
    return;
  }
  if (piece->kind == PIECE_FIXED) {
    gather_fixed(piece->source, piece->selection, &cursor, piece->selection->n_rows,
                 piece->validity, 0, out);
    return;
  }
  int64_t rows = 0;
  (void)gather_bytes(piece->source, piece->selection, &cursor, piece->memory, 0, size, out, &rows);
}

static ashuf_status fill_body(const struct concat *concat, const struct batch_plan *plan,
                              struct body **out) {
  struct body *body = body_new(concat->memory, (size_t)plan->body_length);
  if (body == NULL) return no_memory(concat, (size_t)plan->body_length);
  size_t position = 0;
  for (uint32_t i = 0; i < plan->n_buffers; i++) {
    size_t offset = (size_t)plan->buffers[i].offset;
    size_t size = (size_t)plan->buffers[i].length;
    if (offset > position) memset(body_writable(body) + position, 0, offset - position);
    fill_buffer(&plan->pieces[i], size, body_writable(body) + offset);
    position = offset + size;
  }
  if (plan->body_length > position)
    memset(body_writable(body) + position, 0, (size_t)plan->body_length - position);
  *out = body;
  return ASHUF_OK;
}

/* ---- From plan to arrays ------------------------------------------------------------------ */

/* The plan as the message a writer would make of it. */
static struct message message_of(const struct batch_plan *plan, enum message_type type) {
  struct message message = {
      .type = type, .version = METADATA_V5, .body_length = (int64_t)plan->body_length};
  message.batch = (struct batch_header){.length = plan->length,
                                        .nodes = (const uint8_t *)plan->nodes,
                                        .buffers = (const uint8_t *)plan->buffers,
                                        .n_nodes = plan->n_nodes,
                                        .variadic = (const uint8_t *)plan->variadic,
                                        .n_buffers = plan->n_buffers,
                                        .n_variadic = plan->n_variadic,
                                        .compression = BODY_PLAIN,
                                        .dictionary_id = plan->dictionary_id};
  return message;
}

static ashuf_status put_dictionaries(struct concat *concat, const struct batch_plan *plan) {
  ashuf_status status = ASHUF_OK;
  for (; plan != NULL && status == ASHUF_OK; plan = plan->next) {
    struct message message = message_of(plan, MESSAGE_DICTIONARY);
    struct body *body = NULL;
    status = fill_body(concat, plan, &body);
    if (status != ASHUF_OK) return status;
    status = dictionary_table_put(&concat->dictionaries, &message, body, concat->error);
    if (status != ASHUF_OK) body_free(body);
  }
  return status;
}

static ashuf_status make_arrays(struct concat *concat, const struct batch_plans *plans,
                                struct ArrowArray *out) {
  struct body *body = NULL;
  struct batch_read_options options = {.validate = false};
  struct message message = message_of(&plans->batch, MESSAGE_BATCH);
  ashuf_status status = put_dictionaries(concat, plans->dictionaries);
  if (status == ASHUF_OK) status = fill_body(concat, &plans->batch, &body);
  if (status != ASHUF_OK) return status;
  status = batch_read(concat->out_schema, &message, body, &concat->dictionaries, &options,
                      concat->memory, out, concat->error);
  body_free(body);
  return status;
}

static ashuf_status plan(struct concat *concat, const struct ArrowArray *batches, size_t n,
                         struct batch_plans *plans) {
  const struct batch_layout layout = {.padding = BODY_ALIGNMENT,
                                      .offset_limit = INT32_MAX,
                                      .keep_dictionaries = concat->out_schema->n_dictionaries != 0};
  struct row_range *ranges = arena_array(&concat->arena, n, sizeof *ranges);
  struct selection all = {.ranges = ranges, .n_ranges = n};
  struct selection *kept = arena_array(&concat->arena, 1, sizeof *kept);
  if (ranges == NULL || kept == NULL) return no_memory(concat, n * sizeof *ranges);
  for (size_t i = 0; i < n; i++) {
    ashuf_status status = source_set_push(&concat->set, &batches[i], concat->error);
    if (status != ASHUF_OK) return status;
    ranges[i] = (struct row_range){row_id_of(i, 0), batches[i].length};
    all.n_rows += batches[i].length;
  }
  *kept = all;
  ashuf_status status =
      batch_plan_make(&concat->set, kept, &layout, &concat->arena, plans, concat->error);
  if (status != ASHUF_OK || !plans->too_large) return status;
  return error_set(concat->error, ASHUF_SIZE_LIMIT, SITE_CONCAT_SIZE,
                   "the rows hold more than an offset or a dictionary index can say");
}

ashuf_status batch_concat(const ashuf_schema *schema, const struct ArrowArray *batches, size_t n,
                          const ashuf_schema *out_schema, ashuf_memory *memory,
                          struct ArrowArray *out, struct ashuf_error *error) {
  struct concat concat = {
      .schema = schema, .out_schema = out_schema, .memory = memory, .error = error};
  struct batch_plans plans;
  concat.dictionaries.memory = memory;
  arena_init(&concat.arena, memory);
  ashuf_status status = source_set_init(&concat.set, schema, memory, error);
  if (status == ASHUF_OK) status = plan(&concat, batches, n, &plans);
  if (status == ASHUF_OK) status = make_arrays(&concat, &plans, out);
  if (concat.set.schema != NULL) source_set_free(&concat.set);
  dictionary_table_free(&concat.dictionaries);
  arena_free(&concat.arena);
  return status;
}

#include "ipc/dictionary_merge.h"

#include "arrow/gather.h"
#include "codec/codec.h"
#include "ipc/batch_plan.h"
#include "ipc/batch_read.h"

struct merge {
  struct dictionary_table *table;
  const struct dictionary_entry *entry;
  ashuf_schema *schema; /* one column: the values */
  struct ArrowArray *parts;
  size_t n_parts;
  struct source_set set;
  struct arena arena;
  struct ashuf_buffer bytes;
  struct ashuf_error *error;
};

static ashuf_status no_memory(const struct merge *merge, size_t size) {
  return error_memory(merge->error, SITE_MERGE_MEMORY, merge->table->memory, size);
}

/* The field with dictionary-encoded ones inside it as their indices. */
static bool copy_indices(ashuf_schema *schema, const struct field *from, struct field *out) {
  *out = *from;
  out->dictionary = NULL;
  out->metadata = NULL;
  out->n_metadata = 0;
  out->nullable = true; /* what is nullable was judged, if at all, where the parts were made */
  if (from->n_children == 0) return true;
  out->children = schema_fields(schema, from->n_children);
  if (out->children == NULL) return false;
  for (int32_t i = 0; i < from->n_children; i++)
    if (!copy_indices(schema, &from->children[i], &out->children[i])) return false;
  return true;
}

/* Names stay those of the field, which outlives the merge. */
static ashuf_status make_schema(struct merge *merge, const struct field *values) {
  merge->schema = schema_new(merge->table->memory);
  if (merge->schema == NULL) return no_memory(merge, sizeof *merge->schema);
  merge->schema->columns = schema_fields(merge->schema, 1);
  if (merge->schema->columns == NULL ||
      !copy_indices(merge->schema, values, merge->schema->columns))
    return no_memory(merge, sizeof *values);
  merge->schema->n_columns = 1;
  return schema_seal(merge->schema, false, merge->error);
}

/* Validated whatever the reader asked for: the values are copied by what their offsets say. */
static ashuf_status read_part(struct merge *merge, const struct dictionary_entry *part) {
  struct message message = {.type = MESSAGE_BATCH,
                            .version = part->version,
                            .offset = part->offset,
                            .batch = part->header};
  struct batch_read_options options = {.validate = true};
  struct ArrowArray *out = &merge->parts[merge->n_parts];
  ashuf_status status = batch_read(merge->schema, &message, part->body, NULL, &options,
                                   merge->table->memory, out, merge->error);
  if (status != ASHUF_OK) return status;
  merge->n_parts++;
  return source_set_push(&merge->set, out, merge->error);
}

static size_t count_parts(const struct dictionary_entry *entry) {
  size_t n = 1;
  for (const struct dictionary_entry *delta = entry->deltas; delta != NULL; delta = delta->next)
    n++;
  return n;
}

static ashuf_status read_parts(struct merge *merge) {
  merge->parts = arena_array(&merge->arena, count_parts(merge->entry), sizeof *merge->parts);
  if (merge->parts == NULL) return no_memory(merge, sizeof *merge->parts);
  ashuf_status status =
      source_set_init(&merge->set, merge->schema, merge->table->memory, merge->error);
  if (status == ASHUF_OK) status = read_part(merge, merge->entry);
  for (const struct dictionary_entry *delta = merge->entry->deltas;
       delta != NULL && status == ASHUF_OK; delta = delta->next)
    status = read_part(merge, delta);
  return status;
}

/* All rows of all parts; NULL: out of memory. */
static const struct selection *select_all(struct merge *merge) {
  struct selection *all = arena_array(&merge->arena, 1, sizeof *all);
  struct row_range *ranges = arena_array(&merge->arena, merge->n_parts, sizeof *ranges);
  if (all == NULL || ranges == NULL) return NULL;
  *all = (struct selection){.ranges = ranges, .n_ranges = merge->n_parts};
  for (size_t i = 0; i < merge->n_parts; i++) {
    ranges[i] = (struct row_range){row_id_of(i, 0), merge->parts[i].length};
    all->n_rows += ranges[i].length;
  }
  return all;
}

static ashuf_status plan(struct merge *merge, struct batch_plans *plans) {
  const struct batch_layout layout = {.padding = 64, .offset_limit = INT32_MAX};
  const struct selection *all = select_all(merge);
  if (all == NULL) return no_memory(merge, sizeof *all);
  ashuf_status status =
      batch_plan_make(&merge->set, all, &layout, &merge->arena, plans, merge->error);
  if (status != ASHUF_OK || !plans->too_large) return status;
  return error_at(merge->error, ASHUF_SIZE_LIMIT, SITE_MERGE_SIZE, merge->entry->offset,
                  "dictionary %lld and its deltas hold more than a 32-bit offset can say",
                  (long long)merge->entry->id);
}

/* The planned bytes as a body. */
static ashuf_status write_body(struct merge *merge, const struct batch_plan *plan,
                               struct body **out) {
  ashuf_memory *memory = merge->table->memory;
  struct encoder *encoder = encoder_new(memory);
  if (encoder == NULL) return no_memory(merge, sizeof **out);
  ashuf_status status =
      encoder_open(encoder, ASHUF_CODEC_NONE, 1, 0, &merge->bytes, memory, merge->error);
  if (status == ASHUF_OK) {
    batch_plan_emit(plan, encoder);
    status = encoder_close(encoder, merge->error);
  }
  encoder_free(encoder);
  if (status != ASHUF_OK) return status;
  *out = body_new(memory, merge->bytes.size);
  if (*out == NULL) return no_memory(merge, merge->bytes.size);
  if (merge->bytes.size != 0) memcpy(body_writable(*out), merge->bytes.data, merge->bytes.size);
  (*out)->offset = merge->entry->body->offset;
  return ASHUF_OK;
}

/* The merged values take the place of entry and deltas. */
static ashuf_status replace(struct merge *merge) {
  struct batch_plans plans;
  struct body *body = NULL;
  ashuf_status status = plan(merge, &plans);
  if (status == ASHUF_OK) status = write_body(merge, &plans.batch, &body);
  if (status != ASHUF_OK) return status;
  struct message message = {.type = MESSAGE_DICTIONARY,
                            .version = METADATA_V5,
                            .offset = merge->entry->offset,
                            .body_length = (int64_t)plans.batch.body_length};
  message.batch = (struct batch_header){.length = plans.batch.length,
                                        .nodes = (const uint8_t *)plans.batch.nodes,
                                        .buffers = (const uint8_t *)plans.batch.buffers,
                                        .n_nodes = plans.batch.n_nodes,
                                        .variadic = (const uint8_t *)plans.batch.variadic,
                                        .n_buffers = plans.batch.n_buffers,
                                        .n_variadic = plans.batch.n_variadic,
                                        .compression = BODY_PLAIN,
                                        .dictionary_id = merge->entry->id};
  status = dictionary_table_put(merge->table, &message, body, merge->error);
  if (status != ASHUF_OK) body_free(body);
  return status;
}

static void release(struct merge *merge) {
  if (merge->set.schema != NULL) source_set_free(&merge->set);
  for (size_t i = 0; i < merge->n_parts; i++) merge->parts[i].release(&merge->parts[i]);
  ashuf_buffer_free(&merge->bytes);
  arena_free(&merge->arena);
  ashuf_schema_free(merge->schema);
}

ashuf_status dictionary_merge(struct dictionary_table *table, struct dictionary_entry *entry,
                              const struct field *values, struct ashuf_error *error) {
  if (entry->deltas == NULL) return ASHUF_OK;
  struct merge merge = {.table = table, .entry = entry, .error = error};
  arena_init(&merge.arena, table->memory);
  ashuf_status status = make_schema(&merge, values);
  if (status == ASHUF_OK) status = read_parts(&merge);
  if (status == ASHUF_OK) status = replace(&merge);
  release(&merge);
  return status;
}

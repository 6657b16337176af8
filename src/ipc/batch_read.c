#include "ipc/batch_read.h"

#include "arrow/validate.h"
#include "base/bits.h"
#include "base/bytes.h"
#include "ipc/batch_read_int.h"

ashuf_status batch_fail(struct batch_walk *walk, ashuf_status status, int site, uint64_t offset,
                        const char *text, int64_t a, int64_t b) {
  char name[80];
  return error_at(walk->error, status, site, offset, "column %s: %s (%lld, %lld)",
                  field_label(walk->column, name, sizeof name), text, (long long)a, (long long)b);
}

static ashuf_status next_node(struct batch_walk *walk, struct ipc_node *node) {
  const struct batch_header *header = walk->header;
  if (walk->node >= header->n_nodes)
    return batch_fail(walk, ASHUF_BAD_BATCH, SITE_NODES_FEW, walk->metadata_offset,
                      "the batch has too few field nodes", header->n_nodes, 0);
  memcpy(node, header->nodes + (size_t)walk->node * sizeof *node, sizeof *node);
  walk->node++;
  if (node->length < 0 || node->length > INT64_MAX - 8)
    return batch_fail(walk, ASHUF_BAD_BATCH, SITE_NODE_LENGTH, walk->metadata_offset,
                      "impossible length", node->length, 0);
  if (node->null_count < -1 || node->null_count > node->length)
    return batch_fail(walk, ASHUF_BAD_BATCH, SITE_NULL_COUNT_RANGE, walk->metadata_offset,
                      "impossible null count for the length", node->null_count, node->length);
  return ASHUF_OK;
}

/* Where offsets are rebuilt in place, no buffer may share a byte with one before it. */
static ashuf_status check_order(struct batch_walk *walk, const struct span *span) {
  if (span->size == 0) return ASHUF_OK;
  if (span->offset - walk->body->offset < walk->buffers_end)
    return batch_fail(walk, ASHUF_BAD_BATCH, SITE_LENGTHS_ORDER, span->offset,
                      "buffers overlap or are out of order beside offsets stored as lengths: "
                      "buffer, end of the one before",
                      (int64_t)(span->offset - walk->body->offset), (int64_t)walk->buffers_end);
  walk->buffers_end = span->offset - walk->body->offset + span->size;
  return ASHUF_OK;
}

ashuf_status batch_check_place(struct batch_walk *walk, struct span *span) {
  const struct batch_header *header = walk->header;
  if (walk->buffer >= header->n_buffers)
    return batch_fail(walk, ASHUF_BAD_BATCH, SITE_BUFFERS_FEW, walk->metadata_offset,
                      "the batch has too few buffers", header->n_buffers, 0);
  struct ipc_buffer place;
  memcpy(&place, header->buffers + (size_t)walk->buffer * sizeof place, sizeof place);
  walk->buffer++;
  if (place.offset < 0 || place.length < 0 ||
      !range_inside((uint64_t)place.offset, (uint64_t)place.length, walk->body->size))
    return batch_fail(walk, ASHUF_BAD_BATCH, SITE_BUFFER_RANGE, walk->metadata_offset,
                      "buffer outside the body: offset and length", place.offset, place.length);
  span->data = walk->body->data + place.offset;
  span->size = (uint64_t)place.length;
  span->offset = walk->body->offset + (uint64_t)place.offset;
  return walk->options->offsets_as_lengths ? check_order(walk, span) : ASHUF_OK;
}

ashuf_status batch_require_size(struct batch_walk *walk, const struct span *span, int64_t count,
                                uint64_t width) {
  uint64_t need = 0;
  if (mul_u64((uint64_t)count, width, &need) && need <= span->size) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_BATCH, SITE_BUFFER_SIZE, span->offset,
                    "buffer too small: bytes there, values wanted", (int64_t)span->size, count);
}

static unsigned field_alignment(const struct field *field) {
  const struct type_info *info = type_info(field->type);
  if (field->type == TYPE_DECIMAL128 || field->type == TYPE_DECIMAL256) return 16;
  if (field->type == TYPE_INTERVAL_DAY_TIME || field->type == TYPE_DENSE_UNION) return 4;
  if (info->layout == LAYOUT_VIEWS) return 16;
  return info->width == 0 ? 1 : info->width > 8 ? 8 : info->width;
}

ashuf_status batch_align_copy(struct batch_walk *walk, const struct field *field,
                              struct span *span) {
  unsigned alignment = field_alignment(field);
  if (((uintptr_t)span->data & (alignment - 1)) == 0) return ASHUF_OK;
  if (span->size == 0) {
    span->data = (const uint8_t *)&walk->holder->zero;
    return ASHUF_OK;
  }
  ashuf_status status = batch_span_arrive(walk, span, span->size);
  if (status != ASHUF_OK) return status;
  void *copy = batch_holder_extra(walk->holder, span->size);
  if (copy == NULL)
    return error_memory(walk->error, SITE_BATCH_MEMORY, walk->holder->memory, span->size);
  memcpy(copy, span->data, span->size);
  span->data = copy;
  return ASHUF_OK;
}

ashuf_status batch_next_values(struct batch_walk *walk, const struct field *field, int64_t count,
                               uint64_t width, struct span *span) {
  ashuf_status status = batch_next_buffer(walk, span);
  if (status == ASHUF_OK) status = batch_require_size(walk, span, count, width);
  return status == ASHUF_OK && field != NULL ? batch_align_buffer(walk, field, span) : status;
}

static ashuf_status read_validity(struct batch_walk *walk, const struct ipc_node *node,
                                  struct ArrowArray *out) {
  struct span span;
  ashuf_status status = batch_next_buffer(walk, &span);
  if (status != ASHUF_OK) return status;
  int64_t nulls = node->null_count;
  if (nulls == 0 || (nulls == -1 && span.size == 0) || node->length == 0) {
    out->null_count = 0;
    out->buffers[0] = NULL;
    return ASHUF_OK;
  }
  if (span.size < bits_size(node->length))
    return batch_fail(walk, ASHUF_BAD_BATCH, SITE_VALIDITY_SIZE, span.offset,
                      "validity too small: bytes there, rows", (int64_t)span.size, node->length);
  if (nulls == -1 || walk->options->validate) {
    int64_t counted = node->length - bits_count(span.data, 0, node->length);
    if (nulls != -1 && counted != nulls)
      return batch_fail(walk, ASHUF_BAD_VALUES, SITE_NULL_COUNT, span.offset,
                        "null count differs from the validity bits: declared, counted", nulls,
                        counted);
    nulls = counted;
  }
  out->null_count = nulls;
  out->buffers[0] = nulls == 0 ? NULL : span.data;
  return ASHUF_OK;
}

static ashuf_status read_values(struct batch_walk *walk, const struct field *field,
                                struct ArrowArray *out) {
  struct span span = {NULL, 0, 0};
  bool bits = type_info(field->type)->layout == LAYOUT_BITS;
  ashuf_status status =
      bits ? batch_next_values(walk, NULL, (int64_t)bits_size(out->length), 1, &span)
           : batch_next_values(walk, field, out->length, (uint64_t)field->byte_width, &span);
  out->buffers[1] = span.data;
  return status;
}

ashuf_status batch_read_children(struct batch_walk *walk, const struct field *field,
                                 struct ArrowArray *out) {
  out->n_children = field->n_children;
  out->children = batch_holder_children(walk->holder, field->n_children);
  for (int32_t i = 0; i < field->n_children; i++) {
    out->children[i] = batch_holder_array(walk->holder);
    ashuf_status status = batch_read_field(walk, &field->children[i], out->children[i]);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

ashuf_status batch_check_children(struct batch_walk *walk, const struct ArrowArray *out,
                                  int64_t need) {
  for (int64_t i = 0; i < out->n_children; i++)
    if (out->children[i]->length < need)
      return batch_fail(walk, ASHUF_BAD_BATCH, SITE_CHILD_LENGTH, walk->metadata_offset,
                        "a child is shorter than its parent needs: child, needed",
                        out->children[i]->length, need);
  return ASHUF_OK;
}

static ashuf_status read_fixed_list(struct batch_walk *walk, const struct field *field,
                                    struct ArrowArray *out) {
  ashuf_status status = batch_read_children(walk, field, out);
  if (status != ASHUF_OK) return status;
  uint64_t need = 0;
  if (!mul_u64((uint64_t)out->length, (uint64_t)field->list_size, &need) || need > INT64_MAX)
    need = INT64_MAX;
  return batch_check_children(walk, out, (int64_t)need);
}

static ashuf_status read_struct(struct batch_walk *walk, const struct field *field,
                                struct ArrowArray *out) {
  ashuf_status status = batch_read_children(walk, field, out);
  return status == ASHUF_OK ? batch_check_children(walk, out, out->length) : status;
}

static ashuf_status read_layout(struct batch_walk *walk, const struct field *field,
                                const struct ipc_node *node, struct ArrowArray *out) {
  switch (type_info(field->type)->layout) {
    case LAYOUT_BITS:
    case LAYOUT_FIXED:
      return read_values(walk, field, out);
    case LAYOUT_BYTES:
      return batch_read_bytes(walk, field, out);
    case LAYOUT_LIST:
      return batch_read_list(walk, field, out);
    case LAYOUT_FIXED_LIST:
      return read_fixed_list(walk, field, out);
    case LAYOUT_STRUCT:
      return read_struct(walk, field, out);
    case LAYOUT_VIEWS:
      return batch_read_views(walk, field, out);
    case LAYOUT_LIST_VIEW:
      return batch_read_list_views(walk, field, out);
    case LAYOUT_SPARSE:
    case LAYOUT_DENSE:
      return batch_read_union(walk, field, node, out);
    case LAYOUT_RUN_ENDS:
      return batch_read_runs(walk, field, node, out);
    default:
      return batch_fail(walk, ASHUF_UNSUPPORTED_TYPE, SITE_TYPE_LAYOUT, walk->metadata_offset,
                        "the type's layout is not supported", field->type, 0);
  }
}

int64_t batch_array_buffers(const struct field *field) {
  const struct type_info *info = type_info(field->type);
  return info->buffers + (info->layout == LAYOUT_VIEWS ? 1 : 0);
}

/* A column of type Null has no other values. */
static ashuf_status check_all_null(struct batch_walk *walk, const struct ipc_node *node) {
  if (!walk->options->validate || node->null_count == -1 || node->null_count == node->length)
    return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_VALUES, SITE_NULL_COUNT, walk->metadata_offset,
                    "null count of a column of nulls: declared, rows", node->null_count,
                    node->length);
}

ashuf_status batch_read_field(struct batch_walk *walk, const struct field *field,
                              struct ArrowArray *out) {
  struct ipc_node node;
  ashuf_status status = next_node(walk, &node);
  if (status != ASHUF_OK) return status;
  out->length = node.length;
  if (type_info(field->type)->layout == LAYOUT_VIEWS) {
    status = batch_take_view_pointers(walk, out);
    if (status != ASHUF_OK) return status;
  } else {
    out->n_buffers = batch_array_buffers(field);
    out->buffers = batch_holder_pointers(walk->holder, out->n_buffers);
  }
  if (type_info(field->type)->layout == LAYOUT_NULL) {
    out->null_count = node.length;
    return check_all_null(walk, &node);
  }
  if (type_info(field->type)->validity) status = read_validity(walk, &node, out);
  if (status == ASHUF_OK) status = read_layout(walk, field, &node, out);
  if (status == ASHUF_OK && field->dictionary != NULL)
    status = batch_read_dictionary(walk, field, out);
  return status;
}

ashuf_status batch_check_used_up(struct batch_walk *walk) {
  const struct batch_header *header = walk->header;
  if (walk->node != header->n_nodes)
    return error_at(walk->error, ASHUF_BAD_BATCH, SITE_NODES_MANY, walk->metadata_offset,
                    "the batch has %u field nodes, the schema needs %u", header->n_nodes,
                    walk->node);
  if (walk->buffer != header->n_buffers)
    return error_at(walk->error, ASHUF_BAD_BATCH, SITE_BUFFERS_MANY, walk->metadata_offset,
                    "the batch has %u buffers, the schema needs %u", header->n_buffers,
                    walk->buffer);
  if (walk->variadic != header->n_variadic)
    return error_at(walk->error, ASHUF_BAD_BATCH, SITE_VARIADIC_MANY, walk->metadata_offset,
                    "the batch has %u variadic counts, the schema needs %u", header->n_variadic,
                    walk->variadic);
  return ASHUF_OK;
}

/* IPC buffers of a field: its type's, data buffers of views, the validity that V4 has in front of
 * unions, and perhaps of run ends. */
static ashuf_status count_buffers(struct batch_walk *walk, const struct field *field,
                                  int64_t *count) {
  const struct type_info *info = type_info(field->type);
  bool is_union = info->layout == LAYOUT_SPARSE || info->layout == LAYOUT_DENSE;
  int64_t more = is_union && walk->version < METADATA_V5 ? 1 : 0;
  ashuf_status status = ASHUF_OK;
  if (info->layout == LAYOUT_RUN_ENDS && walk->runs_have_validity) more = 1;
  if (info->layout == LAYOUT_VIEWS) status = batch_next_variadic(walk, &more);
  *count = info->buffers + more;
  return status;
}

/* Over what a column has in the message's lists. */
static ashuf_status skip_field(struct batch_walk *walk, const struct field *field) {
  struct ipc_node node;
  struct span span;
  int64_t count = 0;
  ashuf_status status = next_node(walk, &node);
  if (status == ASHUF_OK) status = count_buffers(walk, field, &count);
  for (; count > 0 && status == ASHUF_OK; count--) status = batch_next_place(walk, &span);
  for (int32_t i = 0; i < field->n_children && status == ASHUF_OK; i++)
    status = skip_field(walk, &field->children[i]);
  return status;
}

static ashuf_status read_column(struct batch_walk *walk, struct ArrowArray *out, int64_t length) {
  ashuf_status status = batch_read_field(walk, walk->column, out);
  if (status != ASHUF_OK || out->length == length) return status;
  return batch_fail(walk, ASHUF_BAD_BATCH, SITE_COLUMN_LENGTH, walk->metadata_offset,
                    "length differs from the batch's: column, batch", out->length, length);
}

static ashuf_status read_columns(struct batch_walk *walk, const ashuf_schema *schema,
                                 struct ArrowArray *root) {
  root->length = walk->header->length;
  root->n_buffers = 1;
  root->buffers = batch_holder_pointers(walk->holder, 1);
  root->buffers[0] = NULL;
  const int32_t *places = walk->options->places;
  root->n_children = places == NULL ? schema->n_columns : walk->options->n_places;
  root->children = batch_holder_children(walk->holder, root->n_children);
  ashuf_status status = ASHUF_OK;
  for (int32_t i = 0; i < schema->n_columns && status == ASHUF_OK; i++) {
    int32_t place = places == NULL ? i : places[i];
    walk->column = &schema->columns[i];
    if (place < 0) {
      status = skip_field(walk, walk->column);
      continue;
    }
    root->children[place] = batch_holder_array(walk->holder);
    status = read_column(walk, root->children[place], root->length);
  }
  if (status != ASHUF_OK) return status;
  return batch_check_used_up(walk);
}

ashuf_status batch_read(const ashuf_schema *schema, const struct message *message,
                        struct body *body, struct dictionary_table *dictionaries,
                        const struct batch_read_options *options, ashuf_memory *memory,
                        struct ArrowArray *out, struct ashuf_error *error) {
  struct batch_walk walk = {
      .header = &message->batch,
      .body = body,
      .options = options,
      .dictionaries = dictionaries,
      .error = error,
      .metadata_offset = message->offset,
      .version = message->version,
      .runs_have_validity = batch_has_run_validity(&message->batch, message->version,
                                                   schema->columns, schema->n_columns)};
  if (message->batch.length < 0)
    return error_at(error, ASHUF_BAD_BATCH, SITE_NODE_LENGTH, message->offset,
                    "negative batch length");
  walk.holder = batch_holder_new(schema, memory);
  if (walk.holder == NULL) return error_memory(error, SITE_BATCH_MEMORY, memory, sizeof walk);
  batch_holder_keep(walk.holder, body);
  if (dictionaries != NULL) dictionaries->n_batches++;
  struct ArrowArray root;
  memset(&root, 0, sizeof root);
  ashuf_status status = read_columns(&walk, schema, &root);
  if (status == ASHUF_OK) status = body_arrive(body, body->size, error);
  if (status != ASHUF_OK) {
    batch_holder_abandon(walk.holder);
    return status;
  }
  batch_holder_finish(walk.holder, &root);
  *out = root;
  return ASHUF_OK;
}

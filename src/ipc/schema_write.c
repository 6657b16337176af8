#include "ipc/metadata.h"

#include "ipc/metadata_int.h"

/*
 * arrow-rs creates the objects of a schema message in this order, which fixes every byte
 * (docs/FORMAT.md, "Creation order"): for a field its metadata, name, type part, dictionary part,
 * then the Field table; the columns, their vector, the schema's metadata, Schema, Message.
 */
/* ---- Custom metadata --------------------------------------------------------------------- */

static uint32_t write_pair(struct builder *builder, const struct key_value *pair) {
  uint32_t key = builder_text(builder, pair->key, (size_t)pair->key_size);
  uint32_t value = builder_text(builder, pair->value, (size_t)pair->value_size);
  builder_table(builder);
  builder_offset(builder, PAIR_KEY, key);
  builder_offset(builder, PAIR_VALUE, value);
  return builder_table_end(builder);
}

/* The vector of the pairs, which schema_seal has sorted by key as arrow-rs does; 0: none. */
static uint32_t write_pairs(struct builder *builder, const struct key_value *pairs, int32_t n) {
  if (n == 0) return 0;
  for (int32_t i = 0; i < n; i++) builder_keep(builder, write_pair(builder, &pairs[i]));
  return builder_kept_vector(builder, (size_t)n);
}

/* ---- Types ------------------------------------------------------------------------------- */

static uint32_t write_int(struct builder *builder, enum arrow_type type) {
  int width = type_info(type)->width * 8;
  builder_table(builder);
  builder_scalar(builder, INT_SIGNED, 1, type_is_signed_index(type), 0);
  builder_scalar(builder, INT_WIDTH, 4, width, 0);
  return builder_table_end(builder);
}

/* A table with one scalar, or none: value = fallback leaves it empty. */
static uint32_t write_only(struct builder *builder, size_t size, int64_t value, int64_t fallback) {
  builder_table(builder);
  builder_scalar(builder, ONLY_SLOT, size, value, fallback);
  return builder_table_end(builder);
}

static uint32_t write_decimal(struct builder *builder, const struct field *field) {
  int width = type_info(field->type)->width * 8;
  builder_table(builder);
  builder_scalar(builder, DECIMAL_PRECISION, 4, field->precision, 0);
  builder_scalar(builder, DECIMAL_SCALE, 4, field->scale, 0);
  builder_scalar(builder, DECIMAL_WIDTH, 4, width, DEFAULT_DECIMAL_WIDTH);
  return builder_table_end(builder);
}

static uint32_t write_time(struct builder *builder, const struct field *field) {
  builder_table(builder);
  builder_scalar(builder, TIME_WIDTH, 4, field->type == TYPE_TIME32 ? 32 : 64, DEFAULT_TIME_WIDTH);
  builder_scalar(builder, TIME_UNIT, 2, field->unit, DEFAULT_UNIT);
  return builder_table_end(builder);
}

/* The empty string of a timestamp without zone is created and never referred to. */
static uint32_t write_timestamp(struct builder *builder, const struct field *field) {
  const char *zone = field->timezone == NULL ? "" : field->timezone;
  uint32_t text = builder_text(builder, zone, strlen(zone));
  builder_table(builder);
  builder_scalar(builder, TIMESTAMP_UNIT, 2, field->unit, 0);
  if (zone[0] != '\0') builder_offset(builder, TIMESTAMP_TIMEZONE, text);
  return builder_table_end(builder);
}

static uint32_t write_union(struct builder *builder, const struct field *field) {
  int32_t ids[INT8_MAX + 1]; /* distinct ids in 0..127: a sealed union has no more members */
  int32_t n = field->n_children;
  for (int32_t i = 0; i < n && i <= INT8_MAX; i++) ids[i] = field->type_ids[i];
  uint32_t vector = builder_vector(builder, ids, (size_t)n, sizeof ids[0]);
  builder_table(builder);
  builder_scalar(builder, UNION_MODE, 2, field->type == TYPE_DENSE_UNION, 0);
  builder_offset(builder, UNION_IDS, vector);
  return builder_table_end(builder);
}

static uint32_t write_type(struct builder *builder, const struct field *field) {
  enum arrow_type type = field->type;
  switch (type_info(type)->ipc_type) {
    case IPC_INT:
      return write_int(builder, type);
    case IPC_FLOATING_POINT:
      return write_only(builder, 2, type - TYPE_FLOAT16, 0);
    case IPC_DECIMAL:
      return write_decimal(builder, field);
    case IPC_DATE:
      return write_only(builder, 2, type - TYPE_DATE32, DEFAULT_DATE_UNIT);
    case IPC_TIME:
      return write_time(builder, field);
    case IPC_TIMESTAMP:
      return write_timestamp(builder, field);
    case IPC_INTERVAL:
      return write_only(builder, 2, type - TYPE_INTERVAL_MONTHS, 0);
    case IPC_UNION:
      return write_union(builder, field);
    case IPC_FIXED_SIZE_BINARY:
      return write_only(builder, 4, field->byte_width, 0);
    case IPC_FIXED_SIZE_LIST:
      return write_only(builder, 4, field->list_size, 0);
    case IPC_MAP:
      return write_only(builder, 1, field->keys_sorted, 0);
    case IPC_DURATION:
      return write_only(builder, 2, field->unit, DEFAULT_UNIT);
    default:
      return write_only(builder, 1, 0, 0);
  }
}

/* ---- Fields ------------------------------------------------------------------------------ */

static uint32_t write_field(struct builder *builder, const struct field *field);

/* The children in order, each address kept for the vector of them. */
static void write_fields(struct builder *builder, const struct field *fields, int32_t n) {
  for (int32_t i = 0; i < n; i++) builder_keep(builder, write_field(builder, &fields[i]));
}

/* Int and FloatingPoint come after the empty vector of children, every other type before it. */
static uint32_t write_type_part(struct builder *builder, const struct field *field,
                                uint32_t *children) {
  uint8_t ipc_type = type_info(field->type)->ipc_type;
  if (ipc_type == IPC_INT || ipc_type == IPC_FLOATING_POINT) {
    *children = builder_kept_vector(builder, 0);
    return write_type(builder, field);
  }
  write_fields(builder, field->children, field->n_children);
  uint32_t type = write_type(builder, field);
  *children = builder_kept_vector(builder, (size_t)field->n_children);
  return type;
}

static uint32_t write_encoding(struct builder *builder, const struct field *field) {
  uint32_t index = write_int(builder, field->type);
  builder_table(builder);
  builder_scalar(builder, ENCODING_ID, 8, field->dictionary_id, 0);
  builder_offset(builder, ENCODING_INDEX_TYPE, index);
  builder_scalar(builder, ENCODING_IS_ORDERED, 1, field->dictionary_ordered, 0);
  return builder_table_end(builder);
}

/* The recursion is as deep as the schema, whose depth schema_seal has bounded. */
static uint32_t write_field(struct builder *builder, const struct field *field) {
  const struct field *typed = field->dictionary == NULL ? field : field->dictionary;
  uint32_t children;
  uint32_t pairs = write_pairs(builder, field->metadata, field->n_metadata);
  uint32_t name = builder_text(builder, field->name, field->name_size);
  uint32_t type = write_type_part(builder, typed, &children);
  uint32_t encoding = field->dictionary == NULL ? 0 : write_encoding(builder, field);
  builder_table(builder);
  builder_offset(builder, FIELD_NAME, name);
  if (field->dictionary != NULL) builder_offset(builder, FIELD_DICTIONARY, encoding);
  builder_scalar(builder, FIELD_TYPE_TYPE, 1, type_info(typed->type)->ipc_type, 0);
  builder_scalar(builder, FIELD_NULLABLE, 1, field->nullable, 0);
  builder_offset(builder, FIELD_CHILDREN, children);
  builder_offset(builder, FIELD_TYPE, type);
  if (field->n_metadata != 0) builder_offset(builder, FIELD_METADATA, pairs);
  return builder_table_end(builder);
}

/* ---- The message ------------------------------------------------------------------------- */

static uint32_t write_schema(struct builder *builder, const ashuf_schema *schema) {
  write_fields(builder, schema->columns, schema->n_columns);
  uint32_t fields = builder_kept_vector(builder, (size_t)schema->n_columns);
  uint32_t pairs = write_pairs(builder, schema->metadata, schema->n_metadata);
  builder_table(builder);
  builder_offset(builder, SCHEMA_FIELDS, fields);
  if (schema->n_metadata != 0) builder_offset(builder, SCHEMA_METADATA, pairs);
  return builder_table_end(builder);
}

static uint32_t write_message(struct builder *builder, const ashuf_schema *schema) {
  uint32_t header = write_schema(builder, schema);
  builder_table(builder);
  builder_scalar(builder, MESSAGE_VERSION, 2, METADATA_V5, 0);
  builder_scalar(builder, MESSAGE_HEADER_TYPE, 1, MESSAGE_SCHEMA, 0);
  builder_offset(builder, MESSAGE_HEADER, header);
  return builder_table_end(builder);
}

/* A copy of size bytes as a message. */
static struct schema_message *new_message(ashuf_memory *memory, const uint8_t *bytes, size_t size) {
  struct schema_message *message = memory_alloc(memory, sizeof *message + size);
  if (message == NULL) return NULL;
  message->size = size;
  memcpy(message->bytes, bytes, size);
  return message;
}

static ashuf_status encode(const ashuf_schema *schema, struct schema_message **out,
                           struct ashuf_error *error) {
  struct builder builder;
  const uint8_t *bytes;
  builder_init(&builder, schema->memory);
  uint32_t root = write_message(&builder, schema);
  ashuf_status status = builder_finish(&builder, root, &bytes, error);
  size_t size = builder.used;
  if (status == ASHUF_OK) {
    *out = new_message(schema->memory, bytes, size);
    if (*out == NULL) status = error_memory(error, SITE_IPC_WRITE_MEMORY, schema->memory, size);
  }
  builder_free(&builder);
  return status;
}

/* The slot for the message is the one thing of a sealed schema that changes, and atomically. */
static _Atomic(struct schema_message *) *message_slot(const ashuf_schema *schema) {
  return &((ashuf_schema *)(uintptr_t)schema)->message;
}

ashuf_status schema_message_get(const ashuf_schema *schema, const struct schema_message **out,
                                struct ashuf_error *error) {
  struct schema_message *message = atomic_load_explicit(message_slot(schema), memory_order_acquire);
  if (message == NULL) {
    ashuf_status status = encode(schema, &message, error);
    if (status != ASHUF_OK) return status;
    struct schema_message *first = NULL;
    if (!atomic_compare_exchange_strong_explicit(message_slot(schema), &first, message,
                                                 memory_order_acq_rel, memory_order_acquire)) {
      memory_free(schema->memory, message, sizeof *message + message->size);
      message = first;
    }
  }
  *out = message;
  return ASHUF_OK;
}

#include "ipc/metadata.h"

#include "ipc/metadata_int.h"

ashuf_status schema_read_bad(struct schema_reader *reader, int site, size_t at, const char *what,
                             int64_t value) {
  return error_at(reader->error, ASHUF_BAD_SCHEMA, site, reader->flatbuf.offset + at, "%s (%lld)",
                  what, (long long)value);
}

static ashuf_status missing(struct schema_reader *reader, int site, size_t at, const char *what) {
  return error_at(reader->error, ASHUF_BAD_SCHEMA, site, reader->flatbuf.offset + at, "%s", what);
}

ashuf_status schema_read_memory(struct schema_reader *reader, size_t size) {
  return error_memory(reader->error, SITE_IPC_MEMORY, reader->schema->memory, size);
}

/* ---- Custom metadata --------------------------------------------------------------------- */

/* The complete pairs, with texts of the schema's own; *n of them. */
static ashuf_status collect_pairs(struct schema_reader *reader, const struct flatbuf_vector *vector,
                                  struct key_value *pairs, int32_t *n) {
  struct arena *arena = &reader->schema->arena;
  for (uint32_t i = 0; i < vector->count; i++) {
    struct flatbuf_text key;
    struct flatbuf_text value;
    if (!metadata_pair(&reader->flatbuf, vector, i, &key, &value)) return ASHUF_BAD_METADATA;
    if (key.data == NULL || value.data == NULL) continue;
    struct key_value *pair = &pairs[*n];
    pair->key = arena_text(arena, key.data, key.size);
    pair->value = arena_text(arena, value.data, value.size);
    if (pair->key == NULL || pair->value == NULL)
      return schema_read_memory(reader, key.size + value.size);
    pair->key_size = (int32_t)key.size;
    pair->value_size = (int32_t)value.size;
    (*n)++;
  }
  return ASHUF_OK;
}

/* In the order of the metadata; schema_seal drops replaced keys. */
static ashuf_status read_pairs(struct schema_reader *reader, const struct flatbuf_table *table,
                               unsigned slot, const struct key_value **out, int32_t *n_out) {
  struct flatbuf_vector vector;
  if (!flatbuf_vector(&reader->flatbuf, table, slot, 4, 4, &vector)) return ASHUF_BAD_METADATA;
  if (vector.count == 0) return ASHUF_OK;
  if (vector.count > reader->pairs_left) {
    (void)flatbuf_fail(&reader->flatbuf, SITE_IPC_TOO_MANY_PAIRS, vector.at,
                       "more pairs of custom metadata than its size allows");
    return ASHUF_BAD_METADATA;
  }
  reader->pairs_left -= vector.count;
  struct key_value *pairs = arena_array(&reader->schema->arena, vector.count, sizeof *pairs);
  if (pairs == NULL) return schema_read_memory(reader, vector.count * sizeof *pairs);
  *out = pairs;
  return collect_pairs(reader, &vector, pairs, n_out);
}

/* ---- Fields ------------------------------------------------------------------------------ */

static ashuf_status read_fields(struct schema_reader *reader, const struct flatbuf_vector *vector,
                                int32_t level, struct field *fields);

/* Zeroed fields for the elements of a vector, within the bound. */
static ashuf_status new_fields(struct schema_reader *reader, const struct flatbuf_vector *vector,
                               struct field **out) {
  if (vector->count == 0) return ASHUF_OK;
  if (vector->count > reader->fields_left) {
    (void)flatbuf_fail(&reader->flatbuf, SITE_IPC_TOO_MANY_FIELDS, vector->at,
                       "more fields than its size allows");
    return ASHUF_BAD_METADATA;
  }
  reader->fields_left -= vector->count;
  *out = schema_fields(reader->schema, (int32_t)vector->count);
  return *out == NULL ? schema_read_memory(reader, vector->count * sizeof **out) : ASHUF_OK;
}

/* Type and children: of the field, or of its dictionary's values. */
static ashuf_status read_type_part(struct schema_reader *reader, const struct flatbuf_table *table,
                                   int32_t level, struct field *field) {
  struct flatbuf_table type;
  struct flatbuf_vector children;
  uint8_t ipc_type;
  if (!flatbuf_union(&reader->flatbuf, table, FIELD_TYPE_TYPE, IPC_LARGE_LIST_VIEW, &ipc_type,
                     &type) ||
      !flatbuf_vector(&reader->flatbuf, table, FIELD_CHILDREN, 4, 4, &children))
    return ASHUF_BAD_METADATA;
  if (ipc_type == 0) return missing(reader, SITE_IPC_NO_TYPE, table->at, "a field without type");
  if (type.at == 0)
    return error_at(reader->error, ASHUF_UNSUPPORTED_TYPE, SITE_IPC_UNKNOWN_TYPE,
                    reader->flatbuf.offset + table->at, "unknown type number %d", ipc_type);
  ashuf_status status = new_fields(reader, &children, &field->children);
  if (status != ASHUF_OK) return status;
  field->n_children = (int32_t)children.count;
  status = schema_read_type(reader, ipc_type, &type, field);
  if (status != ASHUF_OK) return status;
  return read_fields(reader, &children, level + 1, field->children);
}

static ashuf_status read_index_type(struct schema_reader *reader,
                                    const struct flatbuf_table *encoding, struct field *field) {
  struct flatbuf_table index;
  if (!flatbuf_table(&reader->flatbuf, encoding, ENCODING_INDEX_TYPE, &index))
    return ASHUF_BAD_METADATA;
  if (index.at == 0)
    return missing(reader, SITE_IPC_NO_INDEX_TYPE, encoding->at, "a dictionary without index type");
  return schema_read_type(reader, IPC_INT, &index, field);
}

static ashuf_status read_encoding(struct schema_reader *reader,
                                  const struct flatbuf_table *encoding, struct field *field) {
  int16_t kind;
  if (!flatbuf_i64(&reader->flatbuf, encoding, ENCODING_ID, 0, &field->dictionary_id) ||
      !flatbuf_bool(&reader->flatbuf, encoding, ENCODING_IS_ORDERED, &field->dictionary_ordered) ||
      !flatbuf_i16(&reader->flatbuf, encoding, ENCODING_KIND, 0, &kind))
    return ASHUF_BAD_METADATA;
  if (kind != 0)
    return schema_read_bad(reader, SITE_IPC_DICTIONARY_KIND, encoding->at,
                           "unknown kind of dictionary", kind);
  field->dictionary = schema_fields(reader->schema, 1);
  if (field->dictionary == NULL) return schema_read_memory(reader, sizeof *field);
  field->dictionary->nullable = true; /* IPC does not say; values may hold nulls */
  return read_index_type(reader, encoding, field);
}

static ashuf_status read_field_parts(struct schema_reader *reader,
                                     const struct flatbuf_table *table, int32_t level,
                                     struct field *field) {
  struct flatbuf_table encoding;
  if (!flatbuf_bool(&reader->flatbuf, table, FIELD_NULLABLE, &field->nullable) ||
      !flatbuf_table(&reader->flatbuf, table, FIELD_DICTIONARY, &encoding))
    return ASHUF_BAD_METADATA;
  struct field *typed = field;
  if (encoding.at != 0) {
    ashuf_status status = read_encoding(reader, &encoding, field);
    if (status != ASHUF_OK) return status;
    typed = field->dictionary;
  }
  ashuf_status status = read_type_part(reader, table, level, typed);
  if (status != ASHUF_OK) return status;
  return read_pairs(reader, table, FIELD_METADATA, &field->metadata, &field->n_metadata);
}

static ashuf_status read_name(struct schema_reader *reader, const struct flatbuf_table *table,
                              struct field *field) {
  struct flatbuf_text name;
  if (!flatbuf_text(&reader->flatbuf, table, FIELD_NAME, &name)) return ASHUF_BAD_METADATA;
  if (name.size == 0) return ASHUF_OK;
  field->name = arena_text(&reader->schema->arena, name.data, name.size);
  if (field->name == NULL) return schema_read_memory(reader, name.size);
  field->name_size = name.size;
  return ASHUF_OK;
}

/* Errors about types name the innermost field and the column. */
static void name_field(struct schema_reader *reader, ashuf_status status, int32_t level,
                       const struct field *field) {
  char label[64];
  if (status != ASHUF_BAD_SCHEMA && status != ASHUF_UNSUPPORTED_TYPE) return;
  if (level != 1 && reader->named) return;
  reader->named = true;
  error_prefix(reader->error, "%s \"%s\": ", level == 1 ? "column" : "field",
               error_escape(label, sizeof label, field->name, field->name_size));
}

static ashuf_status read_field(struct schema_reader *reader, const struct flatbuf_table *table,
                               int32_t level, struct field *field) {
  ashuf_status status = read_name(reader, table, field);
  if (status != ASHUF_OK) return status;
  status = level > MAX_FIELD_DEPTH ? schema_read_bad(reader, SITE_IPC_DEPTH, table->at,
                                                     "fields are nested too deep: level", level)
                                   : read_field_parts(reader, table, level, field);
  if (status != ASHUF_OK) name_field(reader, status, level, field);
  return status;
}

/* Recursion ends at MAX_FIELD_DEPTH. */
static ashuf_status read_fields(struct schema_reader *reader, const struct flatbuf_vector *vector,
                                int32_t level, struct field *fields) {
  for (uint32_t i = 0; i < vector->count; i++) {
    struct flatbuf_table table;
    if (!flatbuf_vector_table(&reader->flatbuf, vector, i, &table)) return ASHUF_BAD_METADATA;
    ashuf_status status = read_field(reader, &table, level, &fields[i]);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

/* ---- The schema -------------------------------------------------------------------------- */

static ashuf_status check_endianness(struct schema_reader *reader,
                                     const struct flatbuf_table *table) {
  int16_t endianness;
  if (!flatbuf_i16(&reader->flatbuf, table, SCHEMA_ENDIANNESS, 0, &endianness))
    return ASHUF_BAD_METADATA;
  if (endianness == 0) return ASHUF_OK;
  if (endianness == 1)
    return error_at(reader->error, ASHUF_BIG_ENDIAN, SITE_IPC_BIG_ENDIAN,
                    reader->flatbuf.offset + table->at, "the data is big-endian");
  return schema_read_bad(reader, SITE_IPC_ENDIANNESS, table->at, "unknown endianness", endianness);
}

static ashuf_status read_table(struct schema_reader *reader, const struct flatbuf_table *table) {
  struct flatbuf_vector columns;
  struct flatbuf_vector features;
  ashuf_schema *schema = reader->schema;
  ashuf_status status = check_endianness(reader, table);
  if (status != ASHUF_OK) return status;
  if (!flatbuf_vector(&reader->flatbuf, table, SCHEMA_FIELDS, 4, 4, &columns) ||
      !flatbuf_vector(&reader->flatbuf, table, SCHEMA_FEATURES, 8, 8, &features))
    return ASHUF_BAD_METADATA;
  if (columns.data == NULL)
    return missing(reader, SITE_IPC_NO_FIELDS, table->at, "a schema without fields");
  status = new_fields(reader, &columns, &schema->columns);
  if (status != ASHUF_OK) return status;
  schema->n_columns = (int32_t)columns.count;
  status = read_fields(reader, &columns, 1, schema->columns);
  if (status != ASHUF_OK) return status;
  return read_pairs(reader, table, SCHEMA_METADATA, &schema->metadata, &schema->n_metadata);
}

static ashuf_status read_message(struct schema_reader *reader) {
  struct flatbuf_table root;
  struct flatbuf_table header;
  uint8_t type;
  if (!flatbuf_root(&reader->flatbuf, &root) ||
      !flatbuf_union(&reader->flatbuf, &root, MESSAGE_HEADER_TYPE, MESSAGE_SCHEMA, &type, &header))
    return ASHUF_BAD_METADATA;
  if (header.at == 0) {
    (void)flatbuf_fail(&reader->flatbuf, SITE_IPC_HEADER, root.at, "not a schema message");
    return ASHUF_BAD_METADATA;
  }
  return read_table(reader, &header);
}

/* The reader's flatbuf is set, and its error. */
static bool start(struct schema_reader *reader, ashuf_memory *memory) {
  reader->fields_left = reader->flatbuf.size / 16;
  reader->pairs_left = reader->flatbuf.size / 16;
  reader->schema = schema_new(memory);
  return reader->schema != NULL;
}

/* The schema's own rules know of no bytes: they are broken in this message. */
static ashuf_status seal_schema(const struct schema_reader *reader) {
  ashuf_status status = schema_seal(reader->schema, false, reader->error);
  bool placed = status == ASHUF_OK || status == ASHUF_OUT_OF_MEMORY ||
                status == ASHUF_MEMORY_LIMIT || reader->error == NULL;
  if (placed) return status;
  reader->error->space = ASHUF_SPACE_STREAM;
  reader->error->offset = reader->flatbuf.offset;
  return status;
}

static ashuf_status finish(const struct schema_reader *reader, ashuf_status status, bool seal,
                           ashuf_schema **out) {
  if (status == ASHUF_OK && seal) status = seal_schema(reader);
  if (status == ASHUF_OK)
    *out = reader->schema;
  else
    ashuf_schema_free(reader->schema);
  return status;
}

static ashuf_status read_schema(const struct message *message, bool seal, ashuf_memory *memory,
                                ashuf_schema **out, struct ashuf_error *error) {
  struct schema_reader reader;
  memset(&reader, 0, sizeof reader);
  reader.error = error;
  flatbuf_init(&reader.flatbuf, message->metadata, message->metadata_size, message->offset, error);
  if (!start(&reader, memory))
    return error_memory(error, SITE_IPC_MEMORY, memory, sizeof *reader.schema);
  return finish(&reader, read_message(&reader), seal, out);
}

ashuf_status schema_read_unsealed(const struct message *message, ashuf_memory *memory,
                                  ashuf_schema **out, struct ashuf_error *error) {
  return read_schema(message, false, memory, out, error);
}

ashuf_status schema_read_table(struct flatbuf *flatbuf, const struct flatbuf_table *table,
                               ashuf_memory *memory, ashuf_schema **out,
                               struct ashuf_error *error) {
  struct schema_reader reader;
  memset(&reader, 0, sizeof reader);
  reader.error = error;
  reader.flatbuf = *flatbuf;
  if (!start(&reader, memory))
    return error_memory(error, SITE_IPC_MEMORY, memory, sizeof *reader.schema);
  ashuf_status status = finish(&reader, read_table(&reader, table), true, out);
  *flatbuf = reader.flatbuf; /* what is left of its budgets */
  return status;
}

ashuf_status schema_read(const struct message *message, ashuf_memory *memory, ashuf_schema **out,
                         struct ashuf_error *error) {
  return read_schema(message, true, memory, out, error);
}

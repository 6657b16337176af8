#include "support/metadata_make.h"

#include <stdlib.h>
#include <string.h>

/* A value that no scalar has, so that nothing is left out. */
#define NO_DEFAULT INT64_MIN

uint32_t made_table(struct builder *builder, const struct made_scalar *scalars) {
  builder_table(builder);
  for (size_t i = 0; i < MADE_SCALARS && scalars[i].size != 0; i++)
    builder_scalar(builder, scalars[i].slot, scalars[i].size, scalars[i].value, NO_DEFAULT);
  return builder_table_end(builder);
}

static void offset(struct builder *builder, unsigned slot, uint32_t address) {
  if (address != 0) builder_offset(builder, slot, address);
}

uint32_t made_field(struct builder *builder, const struct made_field *field) {
  uint32_t name = field->name == NULL ? 0 : builder_text(builder, field->name, strlen(field->name));
  builder_table(builder);
  offset(builder, FIELD_NAME, name);
  builder_scalar(builder, FIELD_TYPE_TYPE, 1, field->ipc_type, 0);
  builder_scalar(builder, FIELD_NULLABLE, 1, 1, 0);
  offset(builder, FIELD_TYPE, field->type);
  offset(builder, FIELD_CHILDREN, field->children);
  offset(builder, FIELD_DICTIONARY, field->encoding);
  offset(builder, FIELD_METADATA, field->metadata);
  return builder_table_end(builder);
}

uint32_t made_one(struct builder *builder, uint32_t address) {
  builder_keep(builder, address);
  return builder_kept_vector(builder, 1);
}

uint32_t made_schema(struct builder *builder, uint32_t fields, int16_t endianness,
                     uint32_t metadata) {
  builder_table(builder);
  builder_scalar(builder, SCHEMA_ENDIANNESS, 2, endianness, 0);
  offset(builder, SCHEMA_FIELDS, fields);
  offset(builder, SCHEMA_METADATA, metadata);
  return builder_table_end(builder);
}

uint8_t *made_message(struct builder *builder, int16_t version, uint8_t header_type,
                      uint32_t header, int64_t body_length, uint32_t metadata, size_t *size) {
  const uint8_t *bytes;
  builder_table(builder);
  builder_scalar(builder, MESSAGE_VERSION, 2, version, 0);
  builder_scalar(builder, MESSAGE_HEADER_TYPE, 1, header_type, 0);
  builder_scalar(builder, MESSAGE_BODY_LENGTH, 8, body_length, 0);
  offset(builder, MESSAGE_HEADER, header);
  offset(builder, MESSAGE_METADATA, metadata);
  uint32_t root = builder_table_end(builder);
  if (builder_finish(builder, root, &bytes, NULL) != ASHUF_OK) abort();
  uint8_t *copy = malloc(builder->used);
  if (copy == NULL) abort();
  memcpy(copy, bytes, builder->used);
  *size = builder->used;
  builder_free(builder);
  return copy;
}

ashuf_status made_read(uint8_t *bytes, size_t size, ashuf_schema **out, struct ashuf_error *error) {
  struct message message;
  ashuf_schema *schema = NULL;
  ashuf_status status = message_read(bytes, size, 0, &message, error);
  if (status == ASHUF_OK) status = schema_read_unsealed(&message, NULL, &schema, error);
  free(bytes);
  if (status != ASHUF_OK) return status;
  status = schema_seal(schema, false, error);
  if (status == ASHUF_OK || error->site == SITE_SCHEMA_NOT_SUPPORTED) {
    *out = schema;
    return ASHUF_OK;
  }
  ashuf_schema_free(schema);
  return status;
}

/*
 * Metadata no sound writer makes: messages put together slot by slot with the builder, which does
 * not care what a schema may say.
 */
#ifndef TESTS_SUPPORT_METADATA_MAKE_H
#define TESTS_SUPPORT_METADATA_MAKE_H

#include "ipc/metadata_int.h"

struct made_scalar {
  unsigned slot;
  size_t size; /* 0: the end of the list */
  int64_t value;
};

#define MADE_SCALARS 4

/* A table of scalars, all of them written. */
uint32_t made_table(struct builder *builder, const struct made_scalar *scalars);

struct made_field {
  const char *name;
  uint8_t ipc_type; /* 0: no type at all */
  uint32_t type;    /* addresses; 0: left out */
  uint32_t children;
  uint32_t encoding;
  uint32_t metadata;
};
uint32_t made_field(struct builder *builder, const struct made_field *field);
/* A vector of one offset. */
uint32_t made_one(struct builder *builder, uint32_t address);

/* A Schema of these fields (0: no such slot), endianness, metadata. */
uint32_t made_schema(struct builder *builder, uint32_t fields, int16_t endianness,
                     uint32_t metadata);
/* The finished message into an exact-size block from malloc; ends the builder. */
uint8_t *made_message(struct builder *builder, int16_t version, uint8_t header_type,
                      uint32_t header, int64_t body_length, uint32_t metadata, size_t *size);

/* message_read, schema_read (sealed, any type) of a message, which is freed. */
ashuf_status made_read(uint8_t *bytes, size_t size, ashuf_schema **out, struct ashuf_error *error);

#endif /* TESTS_SUPPORT_METADATA_MAKE_H */

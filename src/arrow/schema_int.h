/*
 * What the files of the schema share among themselves; tests look in here too.
 *
 * struct text writes into a fixed array and counts what would have been written: run a writer
 * once over a capacity of 0 for the size, then again over that much room.
 */
#ifndef ASHUF_ARROW_SCHEMA_INT_H
#define ASHUF_ARROW_SCHEMA_INT_H

#include "arrow/schema.h"

struct text {
  char *out;
  size_t capacity; /* 0: only counts */
  size_t size;     /* bytes of the whole text */
};

void text_append(struct text *text, const char *bytes, size_t size);
void text_string(struct text *text, const char *string);
void text_integer(struct text *text, int64_t value);
/* NUL behind the text, or behind what fits of it; capacity >= 1. */
void text_end(struct text *text);

/* OUT_OF_MEMORY or MEMORY_LIMIT in a schema's domain. */
static inline ashuf_status schema_no_memory(const ashuf_memory *memory, struct ashuf_error *error) {
  return error_memory(error, SITE_SCHEMA_MEMORY, memory, sizeof(struct field));
}

#endif /* ASHUF_ARROW_SCHEMA_INT_H */

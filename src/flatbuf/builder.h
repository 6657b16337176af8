/*
 * A FlatBuffers builder that lays out bytes exactly as the Rust flatbuffers crate does.
 *
 * The buffer grows from its end to its front; an object's address is the number of bytes from its
 * first byte to the end of the buffer. Objects are written before those that refer to them, and a
 * vtable whose bytes were written before is shared, whatever the table.
 *
 *   data [ free ... | newest object ... oldest object ]
 *                   ^ capacity - used
 *
 * Legal order: builder_init -> objects, children first; while a table is open only its fields ->
 * builder_finish -> read data -> builder_free. Failures (memory, 2 GiB) are kept: calls after one
 * do nothing and return 0, builder_finish reports it.
 */
#ifndef ASHUF_FLATBUF_BUILDER_H
#define ASHUF_FLATBUF_BUILDER_H

#include "base/error.h"
#include "base/memory.h"

enum builder_site { SITE_BUILDER_MEMORY = 330, SITE_BUILDER_SIZE = 331 };

/* Slots a table may have; Field has the most of ours, 7. */
#define BUILDER_SLOTS 8

struct builder {
  ashuf_memory *memory;
  uint8_t *data;
  size_t capacity;
  size_t used;
  size_t max_alignment;
  uint32_t *vtables; /* addresses of the vtables written so far */
  size_t n_vtables;
  size_t vtables_capacity;
  uint32_t *stack; /* addresses kept for a vector of offsets */
  size_t n_stack;
  size_t stack_capacity;
  uint32_t slots[BUILDER_SLOTS]; /* of the open table: addresses, 0 where not written */
  size_t tail;                   /* used when the table was opened */
  size_t asked;                  /* bytes of the allocation that failed */
  bool too_large;
};

void builder_init(struct builder *builder, ashuf_memory *memory);
void builder_free(struct builder *builder);

uint32_t builder_text(struct builder *builder, const char *bytes, size_t size);
/* A vector of n scalars of size bytes, aligned to their size. */
uint32_t builder_vector(struct builder *builder, const void *elements, size_t n, size_t size);
/* A vector of n structs of size bytes, aligned to 8. */
uint32_t builder_structs(struct builder *builder, const void *elements, size_t n, size_t size);
/* Keeps an address; a vector of the last n kept, in that order, which takes them away. */
void builder_keep(struct builder *builder, uint32_t address);
uint32_t builder_kept_vector(struct builder *builder, size_t n);

/* A table: fields in the order in which they are to be written. */
void builder_table(struct builder *builder);
/* A scalar of size bytes, left out where it equals fallback. */
void builder_scalar(struct builder *builder, unsigned slot, size_t size, int64_t value,
                    int64_t fallback);
void builder_offset(struct builder *builder, unsigned slot, uint32_t address);
uint32_t builder_table_end(struct builder *builder);

/* The root offset. The buffer is then used bytes at *out, the builder's own. */
ashuf_status builder_finish(struct builder *builder, uint32_t root, const uint8_t **out,
                            struct ashuf_error *error);

#endif /* ASHUF_FLATBUF_BUILDER_H */

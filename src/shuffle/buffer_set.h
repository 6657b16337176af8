/*
 * How much memory batches keep alive: every buffer once, however many arrays and batches point to
 * it. The C Data Interface does not say how large a buffer is; what its arrays reach of it counts.
 *
 *   buffer_set_init -> buffer_set_add per batch -> bytes may be read -> buffer_set_clear -> add ...
 *   -> buffer_set_free
 */
#ifndef ASHUF_SHUFFLE_BUFFER_SET_H
#define ASHUF_SHUFFLE_BUFFER_SET_H

#include "arrow/schema.h"
#include "base/memory.h"

enum { SITE_BUFFERS_MEMORY = 1061 };

struct buffer_entry {
  const void *buffer; /* NULL: free */
  uint64_t bytes;
};

struct buffer_set {
  ashuf_memory *memory; /* not a reference */
  struct buffer_entry *entries;
  size_t capacity; /* a power of two, or 0 */
  size_t used;
  uint64_t bytes; /* of all buffers, and of the structs that point to them */
};

void buffer_set_init(struct buffer_set *set, ashuf_memory *memory);
/* The batch has passed source_set_push. On failure some of its buffers may have been added. */
ashuf_status buffer_set_add(struct buffer_set *set, const ashuf_schema *schema,
                            const struct ArrowArray *batch, struct ashuf_error *error);
void buffer_set_clear(struct buffer_set *set);
void buffer_set_free(struct buffer_set *set);

#endif /* ASHUF_SHUFFLE_BUFFER_SET_H */

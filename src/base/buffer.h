/*
 * Appending to a struct ashuf_buffer. Growth doubles, so that appending n bytes costs O(n).
 */
#ifndef ASHUF_BASE_BUFFER_H
#define ASHUF_BASE_BUFFER_H

#include "base/memory.h"

#include <string.h>

/* Room for extra more bytes behind size; false where memory ran out (nothing has changed). The
 * first call that grows the buffer binds it to memory and takes a reference. */
bool buffer_reserve(struct ashuf_buffer *buffer, ashuf_memory *memory, size_t extra);

/* The same for one large piece: no more than that is taken, and an empty buffer's old memory goes
 * first, so that never two large ones are there at once without need. */
bool buffer_reserve_exact(struct ashuf_buffer *buffer, ashuf_memory *memory, size_t extra);

static inline bool buffer_append(struct ashuf_buffer *buffer, ashuf_memory *memory,
                                 const void *bytes, size_t size) {
  if (!buffer_reserve(buffer, memory, size)) return false;
  if (size != 0) memcpy(buffer->data + buffer->size, bytes, size);
  buffer->size += size;
  return true;
}

#endif /* ASHUF_BASE_BUFFER_H */

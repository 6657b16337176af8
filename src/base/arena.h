/*
 * A bump allocator over one memory domain: everything it gave goes at once.
 *
 *   chunk: [struct arena_chunk][ ... given ... ][ ... free ... ]
 *
 * Chunks double from 1 KiB. arena_reset keeps the newest (largest) chunk for the next round
 * unless it is larger than keep. Under AddressSanitizer what is not given out is poisoned.
 */
#ifndef ASHUF_BASE_ARENA_H
#define ASHUF_BASE_ARENA_H

#include "base/memory.h"

struct arena_chunk;

struct arena {
  ashuf_memory *memory; /* not a reference: the owner of the arena holds one */
  struct arena_chunk *chunk;
  size_t used; /* bytes of chunk given out */
};

void arena_init(struct arena *arena, ashuf_memory *memory);
/* size bytes at a multiple of alignment (a power of two <= 64), or NULL; size 0 gives a valid
 * pointer. */
void *arena_alloc(struct arena *arena, size_t size, size_t alignment);
/* count elements of size; NULL also where the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size);
/* A copy of size bytes with a NUL behind them. */
char *arena_text(struct arena *arena, const char *bytes, size_t size);
void arena_reset(struct arena *arena, size_t keep);
void arena_free(struct arena *arena);

#endif /* ASHUF_BASE_ARENA_H */

#include "base/arena.h"

#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#define RED_ZONE 16
#define POISON(pointer, size) ASAN_POISON_MEMORY_REGION(pointer, size)
#define UNPOISON(pointer, size) ASAN_UNPOISON_MEMORY_REGION(pointer, size)
#else
#define RED_ZONE 0
#define POISON(pointer, size) ((void)(pointer), (void)(size))
#define UNPOISON(pointer, size) ((void)(pointer), (void)(size))
#endif

#define FIRST_CHUNK 1024

struct arena_chunk {
  struct arena_chunk *next; /* older */
  size_t size;              /* of the whole chunk, this header included */
};

static const size_t header = (sizeof(struct arena_chunk) + 63) / 64 * 64;

void arena_init(struct arena *arena, ashuf_memory *memory) {
  memset(arena, 0, sizeof *arena);
  arena->memory = memory;
}

static bool add_chunk(struct arena *arena, size_t need) {
  size_t size = arena->chunk == NULL ? FIRST_CHUNK : arena->chunk->size * 2;
  if (need > SIZE_MAX / 4) return false;
  while (size < need + header) size *= 2;
  struct arena_chunk *chunk = memory_aligned(arena->memory, size);
  if (chunk == NULL) return false;
  chunk->next = arena->chunk;
  chunk->size = size;
  POISON((char *)chunk + header, size - header);
  arena->chunk = chunk;
  arena->used = header;
  return true;
}

void *arena_alloc(struct arena *arena, size_t size, size_t alignment) {
  size_t at = (arena->used + alignment - 1) & ~(alignment - 1);
  if (arena->chunk == NULL || at > arena->chunk->size || size > arena->chunk->size - at) {
    if (size > SIZE_MAX / 4 || !add_chunk(arena, size + RED_ZONE)) return NULL;
    at = header;
  }
  char *pointer = (char *)arena->chunk + at;
  UNPOISON(pointer, size);
  arena->used = at + size;
  if (RED_ZONE != 0 && arena->used + RED_ZONE <= arena->chunk->size) arena->used += RED_ZONE;
  return pointer;
}

void *arena_array(struct arena *arena, size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) return NULL;
  return arena_alloc(arena, count * size, MEMORY_ALIGNMENT);
}

char *arena_text(struct arena *arena, const char *bytes, size_t size) {
  char *text = arena_alloc(arena, size + 1, 1);
  if (text == NULL) return NULL;
  if (size != 0) memcpy(text, bytes, size);
  text[size] = '\0';
  return text;
}

static void free_chunks(struct arena *arena, struct arena_chunk *chunk) {
  while (chunk != NULL) {
    struct arena_chunk *next = chunk->next;
    size_t size = chunk->size;
    UNPOISON(chunk, size);
    memory_free_aligned(arena->memory, chunk, size);
    chunk = next;
  }
}

void arena_reset(struct arena *arena, size_t keep) {
  if (arena->chunk == NULL) return;
  if (arena->chunk->size > keep) {
    arena_free(arena);
    return;
  }
  free_chunks(arena, arena->chunk->next);
  arena->chunk->next = NULL;
  arena->used = header;
  POISON((char *)arena->chunk + header, arena->chunk->size - header);
}

void arena_free(struct arena *arena) {
  free_chunks(arena, arena->chunk);
  arena->chunk = NULL;
  arena->used = 0;
}

#include "shuffle/block_memory.h"

/* The block starts here in its allocation, so that its stream is at a multiple of 64. */
#define BLOCK_START (BODY_ALIGNMENT - ASHUF_BLOCK_HEADER_SIZE)

/* In front of the block: what its release needs. */
struct block_memory {
  ashuf_memory *memory; /* a reference */
  size_t size;          /* of the whole allocation */
};
_Static_assert(sizeof(struct block_memory) <= BLOCK_START, "the block stands behind this");

static void block_release(struct ashuf_bytes *bytes) {
  struct block_memory *block = bytes->private_data;
  ashuf_memory *memory = block->memory;
  memory_free_aligned(memory, block, block->size);
  ashuf_memory_free(memory);
  bytes->release = NULL;
}

uint8_t *block_memory_new(ashuf_memory *memory, size_t size, struct ashuf_bytes *out) {
  if (size > SIZE_MAX - BLOCK_START) return NULL;
  struct block_memory *block = memory_aligned(memory, BLOCK_START + size);
  if (block == NULL) return NULL;
  *block = (struct block_memory){ashuf_memory_ref(memory), BLOCK_START + size};
  uint8_t *bytes = (uint8_t *)block + BLOCK_START;
  *out = (struct ashuf_bytes){bytes, size, block_release, block};
  return bytes;
}

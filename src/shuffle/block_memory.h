/*
 * Memory for one block that is read from a file and then given to the decoder, which may let arrays
 * live in it:
 *
 *     base (64-byte aligned)   base + 44             base + 64
 *     | struct block_memory    | 20 bytes of header  | IPC stream ...
 *
 * With the stream at a multiple of 64 the body's buffers are as aligned as their writer made them.
 */
#ifndef ASHUF_SHUFFLE_BLOCK_MEMORY_H
#define ASHUF_SHUFFLE_BLOCK_MEMORY_H

#include "base/memory.h"

#include <ashuf/block.h>

/* size bytes at 44 mod 64, given with their release; NULL: out of memory. Holds a reference to the
 * domain until released, on any thread. */
uint8_t *block_memory_new(ashuf_memory *memory, size_t size, struct ashuf_bytes *out);

#endif /* ASHUF_SHUFFLE_BLOCK_MEMORY_H */

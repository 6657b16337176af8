/*
 * Murmur3_x86_32 as Spark has it (docs/PARTITIONING.md 1): the tail of a byte string is mixed in
 * byte by byte, each as a signed word, and the state of one value is the seed of the next.
 */
#ifndef ASHUF_ARROW_MURMUR3_H
#define ASHUF_ARROW_MURMUR3_H

#include "arrow/values.h"

static ALWAYS_INLINE uint32_t murmur3_rotate(uint32_t word, int by) {
  return word << by | word >> (32 - by);
}

static ALWAYS_INLINE uint32_t murmur3_mix(uint32_t state, uint32_t word) {
  word = murmur3_rotate(word * 0xcc9e2d51u, 15) * 0x1b873593u;
  return murmur3_rotate(state ^ word, 13) * 5 + 0xe6546b64u;
}

static ALWAYS_INLINE uint32_t murmur3_finish(uint32_t state, uint32_t size) {
  state ^= size;
  state = (state ^ state >> 16) * 0x85ebca6bu;
  state = (state ^ state >> 13) * 0xc2b2ae35u;
  return state ^ state >> 16;
}

static ALWAYS_INLINE uint32_t murmur3_int(uint32_t state, uint32_t value) {
  return murmur3_finish(murmur3_mix(state, value), 4);
}

static ALWAYS_INLINE uint32_t murmur3_long(uint32_t state, uint64_t value) {
  state = murmur3_mix(state, (uint32_t)value);
  return murmur3_finish(murmur3_mix(state, (uint32_t)(value >> 32)), 8);
}

static inline uint32_t murmur3_bytes(uint32_t state, const uint8_t *bytes, size_t size) {
  size_t whole = size & ~(size_t)3;
  for (size_t i = 0; i < whole; i += 4) state = murmur3_mix(state, load_u32(bytes + i));
  for (size_t i = whole; i < size; i++)
    state = murmur3_mix(state, (uint32_t)(int32_t)(int8_t)bytes[i]);
  return murmur3_finish(state, (uint32_t)size);
}

#endif /* ASHUF_ARROW_MURMUR3_H */

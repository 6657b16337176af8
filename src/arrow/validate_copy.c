/*
 * Copies that check what they copy: a scan of its own would wait until the stores have left for
 * the cache, and takes a third of the copy's time more; inside the copy it is nearly free.
 *
 * The blocks in the middle are stored to whole vectors: stores across cache lines would cost more
 * than the scan saves. Vectors are named one by one, as compilers put arrays of them on the stack.
 */
#include "arrow/validate.h"
#include "base/bytes.h"
#include "base/cpu.h"

#define VECTOR 32
#define BLOCK (4 * (size_t)VECTOR)
typedef uint64_t words_64 __attribute__((vector_size(VECTOR)));
typedef uint32_t words_32 __attribute__((vector_size(VECTOR)));
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Bytes up to the next multiple of a vector. */
ALWAYS_INLINE size_t misalignment(const uint8_t *at) { return -(uintptr_t)at & (VECTOR - 1); }

ALWAYS_INLINE uint64_t fold(const words_64 *even, const words_64 *odd) {
  words_64 words = *even | *odd;
  return words[0] | words[1] | words[2] | words[3];
}

/* Applies copy(out, in, &bits), of one vector, to whole blocks; returns all bits. */
#define COPY_BLOCKS(name, copy)                                                                  \
  CPU_KERNEL(uint64_t, name, (uint8_t * out, const uint8_t *in, size_t size), (out, in, size)) { \
    words_64 even = {0, 0, 0, 0};                                                                \
    words_64 odd = {0, 0, 0, 0};                                                                 \
    for (size_t i = 0; i < size; i += BLOCK) {                                                   \
      copy(out + i, in + i, &even);                                                              \
      copy(out + i + VECTOR, in + i + VECTOR, &odd);                                             \
      copy(out + i + 2 * VECTOR, in + i + 2 * VECTOR, &even);                                    \
      copy(out + i + 3 * VECTOR, in + i + 3 * VECTOR, &odd);                                     \
    }                                                                                            \
    return fold(&even, &odd);                                                                    \
  }

/* ---- Text -------------------------------------------------------------------------------- */

#define HIGH_BITS UINT64_C(0x8080808080808080)
#define SIGNS_32 UINT64_C(0x8000000080000000)

ALWAYS_INLINE void copy_vector(uint8_t *out, const uint8_t *in, words_64 *bits) {
  words_64 words;
  memcpy(&words, in, VECTOR);
  memcpy(out, &words, VECTOR);
  *bits |= words;
}

COPY_BLOCKS(copy_blocks, copy_vector)

/* The bits of fewer bytes. */
static uint64_t copy_few(uint8_t *out, const uint8_t *in, size_t size) {
  uint64_t bits = 0;
  for (; size >= 8; in += 8, out += 8, size -= 8) {
    uint64_t word = load_u64(in);
    store_u64(out, word);
    bits |= word;
  }
  for (; size > 0; size--) {
    bits |= *in;
    *out++ = *in++;
  }
  return bits;
}

bool copy_ascii(uint8_t *out, const uint8_t *in, size_t size) {
  size_t first = misalignment(out);
  if (first > size) first = size;
  size_t blocks = (size - first) / BLOCK * BLOCK;
  uint64_t bits = copy_few(out, in, first);
  if (blocks != 0) bits |= copy_blocks(out + first, in + first, blocks);
  bits |= copy_few(out + first + blocks, in + first + blocks, size - first - blocks);
  return (bits & HIGH_BITS) == 0;
}

/* ---- Offsets ------------------------------------------------------------------------------ */

/* As in the scans of validate.c, the sign bits of each entry and of its difference to the one
 * before. */

/* Entries [first, n), one by one; first > 0. */
ALWAYS_INLINE uint64_t copy_entries(uint8_t *out, const uint8_t *in, int width, int64_t first,
                                    int64_t n) {
  uint64_t signs = 0;
  for (int64_t i = first; i < n; i++) {
    const uint8_t *at = in + i * width;
    int64_t value = width == 4 ? load_i32(at) : load_i64(at);
    int64_t before = width == 4 ? load_i32(at - 4) : load_i64(at - 8);
    memcpy(out + i * width, at, (size_t)width);
    signs |= (uint64_t)value | (uint64_t)(value < before) << 63;
  }
  return signs >> 63;
}

/* Vectors with an entry in front of them. */
ALWAYS_INLINE void copy_vector_32(uint8_t *out, const uint8_t *in, words_64 *signs) {
  words_32 before;
  words_32 value;
  memcpy(&before, in - 4, VECTOR);
  memcpy(&value, in, VECTOR);
  memcpy(out, &value, VECTOR);
  *signs |= (words_64)(value | (value - before));
}

ALWAYS_INLINE void copy_vector_64(uint8_t *out, const uint8_t *in, words_64 *signs) {
  words_64 before;
  words_64 value;
  memcpy(&before, in - 8, VECTOR);
  memcpy(&value, in, VECTOR);
  memcpy(out, &value, VECTOR);
  *signs |= value | (value - before);
}

COPY_BLOCKS(copy_blocks_32, copy_vector_32)
COPY_BLOCKS(copy_blocks_64, copy_vector_64)

/* Entry 0, entries up to a multiple of a vector (at any address, if there is none), blocks, the
 * rest. */
ALWAYS_INLINE uint64_t copy_all(uint8_t *out, const uint8_t *in, int width, int64_t n) {
  int64_t first = 1 + (int64_t)misalignment(out + width) / width;
  if (first > n) first = n;
  size_t at = (size_t)first * (size_t)width;
  size_t blocks = ((size_t)n * (size_t)width - at) / BLOCK * BLOCK;
  memcpy(out, in, (size_t)width);
  uint64_t bad = width == 4 ? load_u32(in) >> 31 : load_u64(in) >> 63;
  bad |= copy_entries(out, in, width, 1, first);
  if (blocks != 0)
    bad |= width == 4 ? copy_blocks_32(out + at, in + at, blocks) & SIGNS_32
                      : copy_blocks_64(out + at, in + at, blocks) >> 63;
  return bad | copy_entries(out, in, width, first + (int64_t)blocks / width, n);
}

bool copy_offsets(uint8_t *out, const uint8_t *in, int width, int64_t n_offsets) {
  return (width == 4 ? copy_all(out, in, 4, n_offsets) : copy_all(out, in, 8, n_offsets)) == 0;
}

/* Loads of single offsets, dictionary indices and runs of bits: what every reader of views needs.
 */
#ifndef ASHUF_ARROW_VALUES_H
#define ASHUF_ARROW_VALUES_H

#include "arrow/source.h"
#include "base/bytes.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* width 4 or 8 */
static ALWAYS_INLINE int64_t load_offset(const void *offsets, int width, int64_t slot) {
  const uint8_t *at = (const uint8_t *)offsets + slot * width;
  return width == 4 ? load_i32(at) : load_i64(at);
}

static ALWAYS_INLINE void store_offset(void *offsets, int width, int64_t slot, uint64_t value) {
  uint8_t *at = (uint8_t *)offsets + slot * width;
  if (width == 4)
    store_u32(at, (uint32_t)value);
  else
    store_u64(at, value);
}

/* A dictionary index; a negative one becomes larger than any dictionary. */
static ALWAYS_INLINE uint64_t load_index(const void *indices, enum arrow_type type, int64_t slot) {
  const uint8_t *base = indices;
  switch (type) {
    case TYPE_INT8:
      return (uint64_t)(int64_t)(int8_t)base[slot];
    case TYPE_UINT8:
      return base[slot];
    case TYPE_INT16:
      return (uint64_t)(int64_t)(int16_t)load_u16(base + slot * 2);
    case TYPE_UINT16:
      return load_u16(base + slot * 2);
    case TYPE_INT32:
      return (uint64_t)(int64_t)load_i32(base + slot * 4);
    case TYPE_UINT32:
      return load_u32(base + slot * 4);
    default:
      return load_u64(base + slot * 8);
  }
}

/* n <= 64 bits from bit position on, the first one lowest; the bits above are 0. Reads no byte
 * that holds none of them. */
static inline uint64_t load_bits(const uint8_t *bits, int64_t position, int64_t n) {
  const uint8_t *in = bits + (position >> 3);
  unsigned shift = (unsigned)(position & 7);
  unsigned size = (shift + (unsigned)n + 7) / 8;
  uint64_t word = 0;
  if (size >= 8) {
    word = load_u64(in) >> shift;
    if (size == 9) word |= (uint64_t)in[8] << (64 - shift);
  } else {
    for (unsigned i = 0; i < size; i++) word |= (uint64_t)in[i] << (8 * i);
    word >>= shift;
  }
  return n == 64 ? word : word & (((uint64_t)1 << n) - 1);
}

/* n <= 64 one bits */
static inline uint64_t ones(int64_t n) { return n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1; }

#endif /* ASHUF_ARROW_VALUES_H */

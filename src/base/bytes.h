/*
 * Little-endian loads and stores at any address, sums that cannot overflow unseen, and the one
 * helper that bounds a range. The library runs on little-endian hosts only.
 */
#ifndef ASHUF_BASE_BYTES_H
#define ASHUF_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ashuf needs a little-endian host"
#endif
_Static_assert(sizeof(void *) == 8, "ashuf needs a 64-bit host");

static inline uint16_t load_u16(const void *p) {
  uint16_t v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline uint32_t load_u32(const void *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline uint64_t load_u64(const void *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline int32_t load_i32(const void *p) { return (int32_t)load_u32(p); }
static inline int64_t load_i64(const void *p) { return (int64_t)load_u64(p); }
/* An unsigned number of 1, 2, 4 or 8 bytes; a constant width costs no switch. */
static inline uint64_t load_unsigned(const void *p, int width) {
  switch (width) {
    case 1:
      return *(const uint8_t *)p;
    case 2:
      return load_u16(p);
    case 4:
      return load_u32(p);
    default:
      return load_u64(p);
  }
}
static inline void store_u16(void *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u64(void *p, uint64_t v) { memcpy(p, &v, sizeof v); }
static inline uint64_t load_u64_big(const void *p) { return __builtin_bswap64(load_u64(p)); }
static inline void store_u64_big(void *p, uint64_t v) { store_u64(p, __builtin_bswap64(v)); }

/* Whether [offset, offset + length) lies inside [0, size). */
static inline bool range_inside(uint64_t offset, uint64_t length, uint64_t size) {
  return length <= size && offset <= size - length;
}

/* *sum = a + b or *product = a * b; false on overflow. */
static inline bool add_u64(uint64_t a, uint64_t b, uint64_t *sum) {
  return !__builtin_add_overflow(a, b, sum);
}
static inline bool mul_u64(uint64_t a, uint64_t b, uint64_t *product) {
  return !__builtin_mul_overflow(a, b, product);
}

/* The next multiple of a power of two; value is far from UINT64_MAX. */
static inline uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) & ~(multiple - 1);
}

#endif /* ASHUF_BASE_BYTES_H */

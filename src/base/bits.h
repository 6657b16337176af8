/* Arrow bitmaps: bit i is bit i % 8 of byte i / 8, least significant first. */
#ifndef ASHUF_BASE_BITS_H
#define ASHUF_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool bit_get(const uint8_t *bits, int64_t i) { return (bits[i >> 3] >> (i & 7)) & 1; }
static inline void bit_set(uint8_t *bits, int64_t i) {
  bits[i >> 3] = (uint8_t)(bits[i >> 3] | (1u << (i & 7)));
}
static inline size_t bits_size(int64_t n) { return (size_t)((n + 7) / 8); }

/* Sets bits [0, n); those behind them in the last byte are 0. */
void bits_fill(uint8_t *bits, int64_t n);

/* The number of set bits among bits [offset, offset + n). */
int64_t bits_count(const uint8_t *bits, int64_t offset, int64_t n);

#endif /* ASHUF_BASE_BITS_H */

/*
 * Running sums of 32-bit numbers: offsets from lengths. Four at a time in a register: one at a time
 * takes more than twice the instructions, and each waits for the one before.
 */
#ifndef ASHUF_BASE_RUNNING_SUM_H
#define ASHUF_BASE_RUNNING_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define RUNNING_SUM_VECTORS 1
#endif
#endif

/* out[i] = start + numbers[0] + ... + numbers[i], modulo 2^32; returns the last one, or start. out
 * may be numbers, and at any address. */
static inline uint32_t running_sum(const uint32_t *numbers, size_t n, uint32_t start, void *out) {
  uint8_t *to = out;
  size_t i = 0;
#ifdef RUNNING_SUM_VECTORS
  typedef uint32_t four __attribute__((vector_size(16)));
  const four zero = {0};
  four carry = {start, start, start, start};
  for (; n - i >= 4; i += 4) {
    four v;
    memcpy(&v, numbers + i, sizeof v);
    v += __builtin_shufflevector(v, zero, 4, 0, 1, 2);
    v += __builtin_shufflevector(v, zero, 4, 4, 0, 1);
    v += carry;
    carry = __builtin_shufflevector(v, v, 3, 3, 3, 3);
    memcpy(to + 4 * i, &v, sizeof v);
  }
  start = carry[0];
#endif
  for (; i < n; i++) {
    start += numbers[i];
    memcpy(to + 4 * i, &start, sizeof start);
  }
  return start;
}

#endif /* ASHUF_BASE_RUNNING_SUM_H */

#include "base/bits.h"

#include "base/bytes.h"
#include "base/cpu.h"

CPU_KERNEL(int64_t, count_bits, (const uint8_t *bits, int64_t offset, int64_t n),
           (bits, offset, n)) {
  int64_t count = 0;
  int64_t i = offset;
  int64_t end = offset + n;
  for (; i < end && (i & 7) != 0; i++) count += bit_get(bits, i);
  for (; end - i >= 64; i += 64) count += __builtin_popcountll(load_u64(bits + (i >> 3)));
  for (; end - i >= 8; i += 8) count += __builtin_popcount(bits[i >> 3]);
  for (; i < end; i++) count += bit_get(bits, i);
  return count;
}

int64_t bits_count(const uint8_t *bits, int64_t offset, int64_t n) {
  return count_bits(bits, offset, n);
}

void bits_fill(uint8_t *bits, int64_t n) {
  memset(bits, 0xff, bits_size(n));
  if ((n & 7) != 0) bits[n >> 3] = (uint8_t)((1u << (n & 7)) - 1);
}

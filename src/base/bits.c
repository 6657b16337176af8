#include "base/bits.h"

#include "base/bytes.h"
#include "base/cpu.h"

CPU_KERNEL(int64_t, count_bits, (const uint8_t *bits, int64_t offset, int64_t n), (bits, offset, n)) {
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

/* Whole words while nine source bytes are there, then bytes, then the rest of the last byte. */
static void copy_shifted(uint8_t *out, const uint8_t *source, unsigned shift, int64_t n) {
  int64_t i = 0;
  for (; n - i >= 72; i += 64) {
    const uint8_t *in = source + (i >> 3);
    store_u64(out + (i >> 3), load_u64(in) >> shift | (uint64_t)in[8] << (64 - shift));
  }
  for (; n - i >= 8; i += 8) {
    const uint8_t *in = source + (i >> 3);
    out[i >> 3] = (uint8_t)(in[0] >> shift | in[1] << (8 - shift));
  }
  if (i < n) {
    unsigned rest = (unsigned)(n - i);
    const uint8_t *in = source + (i >> 3);
    unsigned value = in[0] >> shift;
    if (rest > 8 - shift) value |= (unsigned)in[1] << (8 - shift);
    out[i >> 3] = (uint8_t)(value & ((1u << rest) - 1));
  }
}

void bits_copy(uint8_t *out, const uint8_t *source, int64_t offset, int64_t n) {
  const uint8_t *in = source + (offset >> 3);
  unsigned shift = (unsigned)(offset & 7);
  if (n <= 0) return;
  if (shift != 0) {
    copy_shifted(out, in, shift, n);
    return;
  }
  memcpy(out, in, bits_size(n));
  if ((n & 7) != 0) out[n >> 3] = (uint8_t)(out[n >> 3] & ((1u << (n & 7)) - 1));
}

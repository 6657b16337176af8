#include "partition/xorshift.h"

#include "arrow/murmur3.h"

#define ARRAY_SEED 0x3c074a61u

/* Of 8 bytes Spark's Murmur3 is the textbook's: no tail is left over. */
struct xorshift xorshift_seeded(int64_t seed) {
  uint8_t bytes[8];
  store_u64_big(bytes, (uint64_t)seed);
  uint32_t low = murmur3_bytes(ARRAY_SEED, bytes, sizeof bytes);
  uint32_t high = murmur3_bytes(low, bytes, sizeof bytes);
  return (struct xorshift){(uint64_t)high << 32 | low};
}

static uint32_t next(struct xorshift *random, int bits) {
  uint64_t x = random->state;
  x ^= x << 21;
  x ^= x >> 35;
  x ^= x << 4;
  random->state = x;
  return (uint32_t)(x & (((uint64_t)1 << bits) - 1));
}

/* java.util.Random.nextInt: what is left of 2^31 above a multiple of bound is drawn again. */
int32_t xorshift_int(struct xorshift *random, int32_t bound) {
  uint32_t below = (uint32_t)bound;
  uint32_t drawn = next(random, 31);
  if ((below & (below - 1)) == 0) return (int32_t)((uint64_t)below * drawn >> 31);
  for (;;) {
    uint32_t result = drawn % below;
    if (drawn - result + (below - 1) <= INT32_MAX) return (int32_t)result;
    drawn = next(random, 31);
  }
}

double xorshift_double(struct xorshift *random) {
  uint64_t high = next(random, 26);
  uint64_t low = next(random, 27);
  return (double)((high << 27) + low) * 0x1p-53;
}

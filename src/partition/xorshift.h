/*
 * Spark's XORShiftRandom, which round robin starts from and sampling draws from.
 */
#ifndef ASHUF_PARTITION_XORSHIFT_H
#define ASHUF_PARTITION_XORSHIFT_H

#include <stdint.h>

struct xorshift {
  uint64_t state;
};

struct xorshift xorshift_seeded(int64_t seed);
/* In [0, bound); bound >= 1. */
int32_t xorshift_int(struct xorshift *random, int32_t bound);
/* In [0, 1). */
double xorshift_double(struct xorshift *random);

#endif /* ASHUF_PARTITION_XORSHIFT_H */

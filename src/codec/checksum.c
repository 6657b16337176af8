#include "codec/checksum.h"

#include "base/bytes.h"

#ifndef ASHUF_WITH_ISAL
#define ASHUF_WITH_ISAL 1
#endif

#if ASHUF_WITH_ISAL

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <limits.h>

uint32_t adler32_update(uint32_t adler, const void *bytes, size_t size) {
  return isal_adler32(adler, bytes, size);
}

/* Takes and gives finished checksums: the inversions are its own. */
uint32_t crc32_update(uint32_t crc, const void *bytes, size_t size) {
  return crc32_gzip_refl(crc, bytes, size);
}

/* crc32_iscsi takes and gives the bare register: both inversions are ours. It does not write to
 * its input, whatever its prototype says. */
uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t size) {
  const uint8_t *next = bytes;
  uint32_t reg = ~crc;
  while (size != 0) {
    size_t n = size < INT_MAX ? size : INT_MAX;
    reg = crc32_iscsi((unsigned char *)(uintptr_t)next, (int)n, reg);
    next += n;
    size -= n;
  }
  return ~reg;
}

#else

#include <pthread.h>

/* table[k][b]: what byte b does to the register when k more bytes follow it in the group of 8. */
struct crc_tables {
  uint32_t of[8][256];
};
static struct crc_tables castagnoli;
static struct crc_tables ieee;
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill(struct crc_tables *tables, uint32_t polynomial) {
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t reg = b;
    for (int bit = 0; bit < 8; bit++) reg = (reg >> 1) ^ (polynomial & (0u - (reg & 1u)));
    tables->of[0][b] = reg;
  }
  for (int k = 1; k < 8; k++)
    for (uint32_t b = 0; b < 256; b++) {
      uint32_t before = tables->of[k - 1][b];
      tables->of[k][b] = (before >> 8) ^ tables->of[0][before & 0xFF];
    }
}

static void fill_all(void) {
  fill(&castagnoli, 0x82F63B78u);
  fill(&ieee, 0xEDB88320u);
}

static uint32_t crc_update(const struct crc_tables *tables, uint32_t crc, const void *bytes,
                           size_t size) {
  const uint8_t *next = bytes;
  uint32_t reg = ~crc;
  (void)pthread_once(&tables_once, fill_all);
  const uint32_t(*table)[256] = tables->of;
  for (; size >= 8; size -= 8, next += 8) {
    uint32_t a = reg ^ load_u32(next);
    uint32_t b = load_u32(next + 4);
    reg = table[7][a & 0xFF] ^ table[6][(a >> 8) & 0xFF] ^ table[5][(a >> 16) & 0xFF] ^
          table[4][a >> 24] ^ table[3][b & 0xFF] ^ table[2][(b >> 8) & 0xFF] ^
          table[1][(b >> 16) & 0xFF] ^ table[0][b >> 24];
  }
  for (; size != 0; size--) reg = (reg >> 8) ^ table[0][(reg ^ *next++) & 0xFF];
  return ~reg;
}

uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t size) {
  return crc_update(&castagnoli, crc, bytes, size);
}

uint32_t crc32_update(uint32_t crc, const void *bytes, size_t size) {
  return crc_update(&ieee, crc, bytes, size);
}

/* 5552 bytes are the most for which the sums stay below 2^32 from below 65521. */
uint32_t adler32_update(uint32_t adler, const void *bytes, size_t size) {
  const uint8_t *next = bytes;
  uint32_t a = adler & 0xFFFF;
  uint32_t b = adler >> 16;
  while (size != 0) {
    size_t n = size < 5552 ? size : 5552;
    for (size_t i = 0; i < n; i++) {
      a += next[i];
      b += a;
    }
    a %= 65521;
    b %= 65521;
    next += n;
    size -= n;
  }
  return b << 16 | a;
}

#endif

/* ---- By kind ------------------------------------------------------------------------------ */

const char *checksum_name(int kind) {
  static const char *const names[] = {NULL, "ADLER32", "CRC32", "CRC32C"};
  return kind > CHECKSUM_NONE && kind <= CHECKSUM_CRC32C ? names[kind] : NULL;
}

uint32_t checksum_begin(int kind) { return kind == CHECKSUM_ADLER32 ? 1 : 0; }

uint32_t checksum_update(int kind, uint32_t value, const void *bytes, size_t size) {
  if (kind == CHECKSUM_ADLER32) return adler32_update(value, bytes, size);
  if (kind == CHECKSUM_CRC32) return crc32_update(value, bytes, size);
  return crc32c_update(value, bytes, size);
}

/* ---- XXH32 ------------------------------------------------------------------------------- */

#define PRIME_1 2654435761u
#define PRIME_2 2246822519u
#define PRIME_3 3266489917u
#define PRIME_4 668265263u
#define PRIME_5 374761393u
#define STRIPE ((size_t)16)

static uint32_t rotate(uint32_t v, int bits) { return (v << bits) | (v >> (32 - bits)); }

static void stripe(uint32_t lane[4], const uint8_t *bytes) {
  for (int i = 0; i < 4; i++)
    lane[i] = rotate(lane[i] + load_u32(bytes + 4 * i) * PRIME_2, 13) * PRIME_1;
}

void xxh32_begin(struct xxh32 *x) {
  x->lane[0] = PRIME_1 + PRIME_2;
  x->lane[1] = PRIME_2;
  x->lane[2] = 0;
  x->lane[3] = 0u - PRIME_1;
  x->total = 0;
}

void xxh32_update(struct xxh32 *x, const void *bytes, size_t size) {
  const uint8_t *next = bytes;
  size_t held = (size_t)(x->total % STRIPE);
  x->total += size;
  if (held != 0) {
    size_t n = size < STRIPE - held ? size : STRIPE - held;
    memcpy(x->tail + held, next, n);
    if (held + n < STRIPE) return;
    stripe(x->lane, x->tail);
    next += n;
    size -= n;
  }
  for (; size >= STRIPE; size -= STRIPE, next += STRIPE) stripe(x->lane, next);
  if (size != 0) memcpy(x->tail, next, size);
}

uint32_t xxh32_end(const struct xxh32 *x) {
  const uint8_t *next = x->tail;
  size_t left = (size_t)(x->total % STRIPE);
  uint32_t h = x->total < STRIPE ? PRIME_5
                                 : rotate(x->lane[0], 1) + rotate(x->lane[1], 7) +
                                       rotate(x->lane[2], 12) + rotate(x->lane[3], 18);
  h += (uint32_t)x->total;
  for (; left >= 4; left -= 4, next += 4) h = rotate(h + load_u32(next) * PRIME_3, 17) * PRIME_4;
  for (; left != 0; left--) h = rotate(h + *next++ * PRIME_5, 11) * PRIME_1;
  h = (h ^ (h >> 15)) * PRIME_2;
  h = (h ^ (h >> 13)) * PRIME_3;
  return h ^ (h >> 16);
}

uint32_t xxh32_of(const void *bytes, size_t size) {
  struct xxh32 x;
  xxh32_begin(&x);
  xxh32_update(&x, bytes, size);
  return xxh32_end(&x);
}

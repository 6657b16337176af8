/*
 * One value of a source as bytes that are equal exactly where the values are: where it lies for
 * values of fixed width and for strings, spelled out in an arena for everything else.
 */
#ifndef ASHUF_ARROW_VALUE_BYTES_H
#define ASHUF_ARROW_VALUE_BYTES_H

#include "arrow/selection.h"
#include "base/bytes.h"

struct value_bytes {
  const uint8_t *data;
  size_t size;
};

enum { SITE_VALUE_MEMORY = 590, SITE_VALUE_RANGE = 591 };

/*
 * Goes through dictionaries and runs to the source and row where the value of *row stands, as far
 * as none on the way is null; *valid: none is. BAD_ARRAY where an index names nothing.
 */
ashuf_status value_resolve(const struct source **source, size_t batch, int64_t *row, bool *valid,
                           struct ashuf_error *error);

/* Of a row that is not null. BAD_ARRAY for offsets or indices that leave their data. */
ashuf_status value_bytes_get(const struct source *source, row_id id, struct arena *arena,
                             struct value_bytes *out, struct ashuf_error *error);

static inline uint64_t value_bytes_mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15u;
  return x ^ x >> 29;
}

/* For tables that live shorter than a call. */
static inline uint64_t value_bytes_hash(const struct value_bytes *bytes) {
  uint64_t hash = bytes->size;
  size_t i = 0;
  for (; bytes->size - i >= 8; i += 8) hash = value_bytes_mix(hash ^ load_u64(bytes->data + i)) + i;
  uint64_t rest = 0;
  if (i < bytes->size) memcpy(&rest, bytes->data + i, bytes->size - i);
  return value_bytes_mix(value_bytes_mix(hash ^ rest));
}

#endif /* ASHUF_ARROW_VALUE_BYTES_H */

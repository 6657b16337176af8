/* What the parts of the row hash share: kinds of values and the hash of one value. */
#ifndef ASHUF_ARROW_ROW_HASH_INT_H
#define ASHUF_ARROW_ROW_HASH_INT_H

#include "arrow/murmur3.h"
#include "arrow/row_hash.h"

/* How a value is hashed: one step below the type, since units and precisions matter. */
enum hash_kind {
  HASH_REFUSED,
  HASH_NOTHING, /* the state stays: Null */
  HASH_BOOL,
  HASH_INT8,
  HASH_INT16,
  HASH_INT32,
  HASH_INT64,
  HASH_FLOAT32,
  HASH_FLOAT64,
  HASH_SECONDS,   /* to microseconds */
  HASH_MILLIS,    /* to microseconds */
  HASH_NANOS,     /* to microseconds, rounded down */
  HASH_DATE64,    /* to days, rounded down */
  HASH_DECIMAL32, /* as a long */
  HASH_LOW_64,    /* a wide decimal of at most 18 digits: its low 64 bits as a long */
  HASH_DIGITS,    /* a decimal of more: its shortest big-endian two's complement */
  HASH_INTERVAL,  /* MonthDayNano: microseconds, then months; days are not hashed */
  HASH_FIXED,     /* FixedSizeBinary */
  HASH_BYTES,
  HASH_VIEWS,
  HASH_LIST,
  HASH_LIST_VIEW,
  HASH_FIXED_LIST,
  HASH_STRUCT,
  HASH_RUNS, /* the value decoded */
  HASH_DICTIONARY
};

enum hash_kind hash_kind_of(const struct field *field);

uint32_t hash_decimal(uint32_t state, const uint8_t *value, int width);

static ALWAYS_INLINE int64_t floor_divide(int64_t value, int64_t by) {
  return value / by - (value % by < 0);
}

/* All NaNs are one, both zeros are one. */
static ALWAYS_INLINE uint32_t hash_float32(uint32_t state, uint32_t bits) {
  uint32_t magnitude = bits & 0x7fffffffu;
  bits = magnitude > 0x7f800000u ? 0x7fc00000u : bits;
  return murmur3_int(state, magnitude == 0 ? 0 : bits);
}

static ALWAYS_INLINE uint32_t hash_float64(uint32_t state, uint64_t bits) {
  uint64_t magnitude = bits & 0x7fffffffffffffffu;
  bits = magnitude > 0x7ff0000000000000u ? 0x7ff8000000000000u : bits;
  return murmur3_long(state, magnitude == 0 ? 0 : bits);
}

static ALWAYS_INLINE uint32_t hash_interval(uint32_t state, const uint8_t *value) {
  state = murmur3_long(state, (uint64_t)(load_i64(value + 8) / 1000));
  return murmur3_int(state, load_u32(value));
}

/* One value that lies in a slot of its own. kind and width are constants where speed matters. */
static ALWAYS_INLINE uint32_t hash_slot(enum hash_kind kind, uint32_t state, const uint8_t *values,
                                        int64_t slot, int width) {
  const uint8_t *at = values + slot * width;
  switch (kind) {
    case HASH_BOOL:
      return murmur3_int(state, (values[slot >> 3] >> (slot & 7)) & 1);
    case HASH_INT8:
      return murmur3_int(state, (uint32_t)(int32_t)(int8_t)*at);
    case HASH_INT16:
      return murmur3_int(state, (uint32_t)(int32_t)(int16_t)load_u16(at));
    case HASH_INT32:
      return murmur3_int(state, load_u32(at));
    case HASH_INT64:
      return murmur3_long(state, load_u64(at));
    case HASH_FLOAT32:
      return hash_float32(state, load_u32(at));
    case HASH_FLOAT64:
      return hash_float64(state, load_u64(at));
    case HASH_SECONDS:
      return murmur3_long(state, load_u64(at) * 1000000u);
    case HASH_MILLIS:
      return murmur3_long(state, load_u64(at) * 1000u);
    case HASH_NANOS:
      return murmur3_long(state, (uint64_t)floor_divide(load_i64(at), 1000));
    case HASH_DATE64:
      return murmur3_int(state, (uint32_t)floor_divide(load_i64(at), 86400000));
    case HASH_DECIMAL32:
      return murmur3_long(state, (uint64_t)(int64_t)load_i32(at));
    case HASH_LOW_64:
      return murmur3_long(state, load_u64(at));
    case HASH_DIGITS:
      return hash_decimal(state, at, width);
    case HASH_INTERVAL:
      return hash_interval(state, at);
    case HASH_FIXED:
      return murmur3_bytes(state, at, (size_t)width);
    default:
      return state;
  }
}

/*
 * Folds values of rows [first, first + n) that lie in slots of their own, each into its state.
 * kind is one of those that hash_slot knows.
 */
void hash_slots(const struct array_view *view, enum hash_kind kind, int width, int64_t first,
                int64_t n, uint32_t *hashes);

#endif /* ASHUF_ARROW_ROW_HASH_INT_H */

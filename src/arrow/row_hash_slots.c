/*
 * Hashes of columns whose values lie in slots. Neighbouring valid rows are hashed in loops that
 * vectorise; a word of validity with both kinds of rows hashes them all and keeps the valid ones'.
 */
#include "arrow/row_hash_int.h"

#include <string.h>
#include "base/cpu.h"

#define WORD_ROWS 64

static ALWAYS_INLINE void fold_dense(const uint8_t *values, enum hash_kind kind, int width,
                                     int64_t slot, int64_t n, uint32_t *restrict hashes) {
  for (int64_t i = 0; i < n; i++) hashes[i] = hash_slot(kind, hashes[i], values, slot + i, width);
}

/* Whether hashing a null's slot in vain costs less than finding the rows that are not null. */
static ALWAYS_INLINE bool hash_is_cheap(enum hash_kind kind) {
  return kind >= HASH_INT8 && kind <= HASH_FLOAT64;
}

/* Takes over what was made of the valid rows: half a word at a time, as a mask for each row. */
static ALWAYS_INLINE void keep_valid(const uint32_t *after, int64_t n, uint64_t valid,
                                     uint32_t *restrict hashes) {
  for (int64_t half = 0; half < n; half += 32, valid >>= 32) {
    uint32_t word = (uint32_t)valid;
    int64_t count = n - half < 32 ? n - half : 32;
    for (int64_t i = 0; i < count; i++) {
      uint32_t mask = 0u - ((word >> i) & 1);
      hashes[half + i] ^= (hashes[half + i] ^ after[half + i]) & mask;
    }
  }
}

static ALWAYS_INLINE void fold_word(const uint8_t *values, enum hash_kind kind, int width,
                                    int64_t slot, int64_t n, uint64_t valid,
                                    uint32_t *restrict hashes) {
  if (valid == ones(n)) {
    fold_dense(values, kind, width, slot, n, hashes);
    return;
  }
  if (!hash_is_cheap(kind)) {
    for (; valid != 0; valid &= valid - 1) {
      int64_t i = __builtin_ctzll(valid);
      hashes[i] = hash_slot(kind, hashes[i], values, slot + i, width);
    }
    return;
  }
  uint32_t after[WORD_ROWS];
  memcpy(after, hashes, (size_t)n * sizeof *after);
  fold_dense(values, kind, width, slot, n, after);
  keep_valid(after, n, valid, hashes);
}

static ALWAYS_INLINE void fold(const struct array_view *view, enum hash_kind kind, int width,
                               int64_t first, int64_t n, uint32_t *restrict hashes) {
  const uint8_t *values = view->data[0];
  int64_t slot = view->offset + first;
  if (view->validity == NULL) {
    fold_dense(values, kind, width, slot, n, hashes);
    return;
  }
  for (int64_t i = 0; i < n; i += WORD_ROWS) {
    int64_t count = n - i < WORD_ROWS ? n - i : WORD_ROWS;
    fold_word(values, kind, width, slot + i, count, load_bits(view->validity, slot + i, count),
              hashes + i);
  }
}

/* The two that carry most keys, once for any x86-64 and once for its wider registers. */
static CPU_WIDE void fold_int32_wide(const struct array_view *view, int64_t first, int64_t n,
                                     uint32_t *hashes) {
  fold(view, HASH_INT32, 4, first, n, hashes);
}
static CPU_WIDE void fold_int64_wide(const struct array_view *view, int64_t first, int64_t n,
                                     uint32_t *hashes) {
  fold(view, HASH_INT64, 8, first, n, hashes);
}
static bool fold_wide(const struct array_view *view, enum hash_kind kind, int64_t first, int64_t n,
                      uint32_t *hashes) {
  if ((kind != HASH_INT32 && kind != HASH_INT64) || !cpu_is_wide()) return false;
  if (kind == HASH_INT32)
    fold_int32_wide(view, first, n, hashes);
  else
    fold_int64_wide(view, first, n, hashes);
  return true;
}

void hash_slots(const struct array_view *view, enum hash_kind kind, int width, int64_t first,
                int64_t n, uint32_t *hashes) {
  if (fold_wide(view, kind, first, n, hashes)) return;
  switch (kind) {
    case HASH_BOOL:
      fold(view, HASH_BOOL, 0, first, n, hashes);
      break;
    case HASH_INT8:
      fold(view, HASH_INT8, 1, first, n, hashes);
      break;
    case HASH_INT16:
      fold(view, HASH_INT16, 2, first, n, hashes);
      break;
    case HASH_INT32:
      fold(view, HASH_INT32, 4, first, n, hashes);
      break;
    case HASH_INT64:
      fold(view, HASH_INT64, 8, first, n, hashes);
      break;
    case HASH_FLOAT32:
      fold(view, HASH_FLOAT32, 4, first, n, hashes);
      break;
    case HASH_FLOAT64:
      fold(view, HASH_FLOAT64, 8, first, n, hashes);
      break;
    case HASH_LOW_64:
      if (width == 16) {
        fold(view, HASH_LOW_64, 16, first, n, hashes);
        break;
      }
      fold(view, HASH_LOW_64, width, first, n, hashes);
      break;
    default:
      fold(view, kind, width, first, n, hashes);
  }
}

/* ---- floorMod ----------------------------------------------------------------------------- */

/*
 * The quotient by a rounded reciprocal. Its error is below 2^-20 / modulus (|hash| <= 2^31, two
 * roundings of 2^-53), less than the distance 1 / modulus of any quotient that is not whole from
 * the next whole number: so only whole quotients can come out one too small in magnitude, and the
 * remainder is then off by one modulus, which the two corrections put right.
 */
static ALWAYS_INLINE int32_t floor_modulo(int32_t hash, int32_t modulus, double reciprocal) {
  uint32_t quotient = (uint32_t)(int32_t)((double)hash * reciprocal);
  int32_t rest = (int32_t)((uint32_t)hash - quotient * (uint32_t)modulus);
  rest += rest < 0 ? modulus : 0;
  return rest - (rest >= modulus ? modulus : 0);
}

void row_hash_modulo(const uint32_t *hashes, int64_t n, int32_t modulus, int32_t *ids) {
  if ((modulus & (modulus - 1)) == 0) {
    for (int64_t i = 0; i < n; i++) ids[i] = (int32_t)(hashes[i] & (uint32_t)(modulus - 1));
    return;
  }
  double reciprocal = 1.0 / modulus;
  for (int64_t i = 0; i < n; i++) ids[i] = floor_modulo((int32_t)hashes[i], modulus, reciprocal);
}

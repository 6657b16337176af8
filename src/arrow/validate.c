/*
 * Every kernel runs twice at most: a scan without branches that only says whether anything is
 * wrong, and where something is (or where nulls hide garbage) a plain loop that finds it.
 *
 * The scans fold the sign bit of "value" and of "bound - value" into one accumulator. Where no
 * value is negative neither subtraction can overflow, so a clear sign bit is proof; that needs
 * nothing but the subtraction and the or that every vector unit has. Inner loops have a constant
 * length so that they are vectorised at -O2 too.
 */
#include "arrow/validate.h"

#include "base/bits.h"
#include "base/bytes.h"

#define CHUNK 64
#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE int64_t offset_at(const void *offsets, int width, int64_t i) {
  const uint8_t *at = (const uint8_t *)offsets + i * width;
  return width == 4 ? load_i32(at) : load_i64(at);
}

/* ---- Offsets ----------------------------------------------------------------------------- */

static uint32_t scan_offsets_32(const uint8_t *at, int64_t n) {
  uint32_t signs = 0;
  int64_t i = 1;
  for (; n - i >= CHUNK; i += CHUNK)
    for (int64_t k = 0; k < CHUNK; k++) {
      uint32_t before = load_u32(at + (i + k - 1) * 4);
      uint32_t value = load_u32(at + (i + k) * 4);
      signs |= value | (value - before);
    }
  for (; i < n; i++)
    signs |= load_u32(at + i * 4) | (load_u32(at + i * 4) - load_u32(at + i * 4 - 4));
  return signs >> 31;
}

static uint64_t scan_offsets_64(const uint8_t *at, int64_t n) {
  uint64_t signs = 0;
  int64_t i = 1;
  for (; n - i >= CHUNK; i += CHUNK)
    for (int64_t k = 0; k < CHUNK; k++) {
      uint64_t before = load_u64(at + (i + k - 1) * 8);
      uint64_t value = load_u64(at + (i + k) * 8);
      signs |= value | (value - before);
    }
  for (; i < n; i++)
    signs |= load_u64(at + i * 8) | (load_u64(at + i * 8) - load_u64(at + i * 8 - 8));
  return signs >> 63;
}

static int64_t find_bad_offset(const void *offsets, int width, int64_t n, int64_t limit) {
  int64_t before = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t value = offset_at(offsets, width, i);
    if (value < before || value > limit) return i;
    before = value;
  }
  return -1;
}

int64_t validate_offsets(const void *offsets, int width, int64_t n_offsets, int64_t limit) {
  bool bad = width == 4 ? scan_offsets_32(offsets, n_offsets) != 0
                        : scan_offsets_64(offsets, n_offsets) != 0;
  int64_t first = offset_at(offsets, width, 0);
  int64_t last = offset_at(offsets, width, n_offsets - 1);
  if (!bad && first >= 0 && last <= limit) return -1;
  return find_bad_offset(offsets, width, n_offsets, limit);
}

/* ---- UTF-8 ------------------------------------------------------------------------------- */

#define HIGH_BITS UINT64_C(0x8080808080808080)

static uint64_t or_64(const uint8_t *at) {
  uint64_t folded = 0;
  for (int k = 0; k < 64; k += 8) folded |= load_u64(at + k);
  return folded & HIGH_BITS;
}

/* How many bytes at the front are ASCII, at least: all of them, or up to the first that is not. */
static size_t ascii_prefix(const uint8_t *bytes, size_t size) {
  size_t i = 0;
  while (size - i >= 64 && or_64(bytes + i) == 0) i += 64;
  while (size - i >= 8) {
    uint64_t high = load_u64(bytes + i) & HIGH_BITS;
    if (high != 0) return i + ((size_t)__builtin_ctzll(high) >> 3);
    i += 8;
  }
  while (i < size && bytes[i] < 0x80) i++;
  return i;
}

/*
 * The size of the character that four bytes begin with (the first byte lowest), 0 where they are
 * no character. Each test compares the fixed bits of all its bytes at once, then the bits that
 * overlong forms, surrogates and numbers past U+10FFFF are known by.
 */
ALWAYS_INLINE size_t character_size(uint32_t word) {
  if ((word & 0x80) == 0) return 1;
  if ((word & 0xC0E0) == 0x80C0) return (word & 0x1E) != 0 ? 2 : 0;
  if ((word & 0xC0C0F0) == 0x8080E0) {
    uint32_t bits = word & 0x200F;
    return bits != 0 && bits != 0x200D ? 3 : 0;
  }
  if ((word & 0xC0C0C0F8) != 0x808080F0 || (word & 0x3007) == 0) return 0;
  uint32_t plane = word & 7;
  return plane < 4 || (plane == 4 && (word & 0x3000) == 0) ? 4 : 0;
}

/* Fewer than four bytes as a word: a character that is cut off meets a 0 where it goes on. */
static uint32_t short_word(const uint8_t *bytes, size_t size) {
  uint32_t word = 0;
  for (size_t i = 0; i < size; i++) word |= (uint32_t)bytes[i] << (8 * i);
  return word;
}

bool validate_utf8_bytes(const uint8_t *bytes, size_t size) {
  size_t i = 0;
  while (i < size) {
    if (bytes[i] < 0x80) {
      i += ascii_prefix(bytes + i, size - i);
      continue;
    }
    uint32_t word = size - i >= 4 ? load_u32(bytes + i) : short_word(bytes + i, size - i);
    size_t length = character_size(word);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

/* Whether a string in bytes of [0, last) starts inside a character. */
ALWAYS_INLINE bool splits_character(const void *offsets, int width, int64_t length,
                                    const uint8_t *bytes, int64_t last) {
  for (int64_t i = 0; i < length; i++) {
    int64_t start = offset_at(offsets, width, i);
    if (start < last && (bytes[start] & 0xC0) == 0x80) return true;
  }
  return false;
}

static int64_t find_bad_string(const void *offsets, int width, int64_t length, const uint8_t *bytes,
                               const uint8_t *validity) {
  for (int64_t i = 0; i < length; i++) {
    if (validity != NULL && !bit_get(validity, i)) continue;
    int64_t start = offset_at(offsets, width, i);
    int64_t end = offset_at(offsets, width, i + 1);
    if (end > start && !validate_utf8_bytes(bytes + start, (size_t)(end - start))) return i;
  }
  return -1;
}

int64_t validate_utf8(const void *offsets, int width, int64_t length, const uint8_t *bytes,
                      const uint8_t *validity) {
  if (length <= 0) return -1;
  int64_t first = offset_at(offsets, width, 0);
  int64_t last = offset_at(offsets, width, length);
  if (first == last) return -1;
  size_t size = (size_t)(last - first);
  size_t ascii = ascii_prefix(bytes + first, size);
  if (ascii == size) return -1;
  if (validate_utf8_bytes(bytes + first + ascii, size - ascii)) {
    bool splits = width == 4 ? splits_character(offsets, 4, length, bytes, last)
                             : splits_character(offsets, 8, length, bytes, last);
    if (!splits) return -1;
  }
  return find_bad_string(offsets, width, length, bytes, validity);
}

/* ---- Indices ----------------------------------------------------------------------------- */

ALWAYS_INLINE uint64_t index_bits(const void *indices, int width, int64_t i) {
  const uint8_t *at = (const uint8_t *)indices + i * width;
  switch (width) {
    case 1:
      return *at;
    case 2:
      return load_u16(at);
    case 4:
      return load_u32(at);
    default:
      return load_u64(at);
  }
}

/* Whether any value, taken as signed, is below 0 or above top, which is at least -1. */
#define SCAN_INDICES(name, type, load)                                 \
  static bool name(const uint8_t *at, int64_t n, int64_t top_value) {  \
    type top = (type)top_value;                                        \
    type signs = 0;                                                    \
    int64_t i = 0;                                                     \
    for (; n - i >= CHUNK; i += CHUNK)                                 \
      for (int64_t k = 0; k < CHUNK; k++) {                            \
        type value = (type)load(at + (i + k) * (int64_t)sizeof(type)); \
        signs = (type)(signs | value | (type)(top - value));           \
      }                                                                \
    for (; i < n; i++) {                                               \
      type value = (type)load(at + i * (int64_t)sizeof(type));         \
      signs = (type)(signs | value | (type)(top - value));             \
    }                                                                  \
    return signs >> (8 * sizeof(type) - 1) != 0;                       \
  }

#define LOAD_BYTE(at) (*(at))
SCAN_INDICES(scan_indices_8, uint8_t, LOAD_BYTE)
SCAN_INDICES(scan_indices_16, uint16_t, load_u16)
SCAN_INDICES(scan_indices_32, uint32_t, load_u32)
SCAN_INDICES(scan_indices_64, uint64_t, load_u64)

static bool scan_indices(const void *indices, int width, int64_t n, int64_t top) {
  switch (width) {
    case 1:
      return scan_indices_8(indices, n, top);
    case 2:
      return scan_indices_16(indices, n, top);
    case 4:
      return scan_indices_32(indices, n, top);
    default:
      return scan_indices_64(indices, n, top);
  }
}

/* bound: the first index that is too large, as an unsigned number of the width. A negative index
 * is one of the upper half, which is why signed ones cap the bound at its start. */
static int64_t find_bad_index(const void *indices, int width, int64_t length,
                              const uint8_t *validity, uint64_t bound) {
  for (int64_t i = 0; i < length; i++) {
    if (validity != NULL && !bit_get(validity, i)) continue;
    if (index_bits(indices, width, i) >= bound) return i;
  }
  return -1;
}

int64_t validate_indices(const void *indices, int width, bool is_signed, int64_t length,
                         const uint8_t *validity, int64_t limit) {
  uint64_t half = UINT64_C(1) << (8 * width - 1);
  uint64_t bound = limit > 0 ? (uint64_t)limit : 0;
  bool fits_half = bound <= half;
  if (is_signed && !fits_half) {
    bound = half;
    fits_half = true;
  }
  if (!fits_half && bound >> 1 >= half) return -1; /* no index of the width is that large */
  if (fits_half && !scan_indices(indices, width, length, (int64_t)(bound - 1))) return -1;
  return find_bad_index(indices, width, length, validity, bound);
}

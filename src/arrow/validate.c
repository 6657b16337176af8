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
#include "base/cpu.h"

#define CHUNK 64
#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE int64_t offset_at(const void *offsets, int width, int64_t i) {
  const uint8_t *at = (const uint8_t *)offsets + i * width;
  return width == 4 ? load_i32(at) : load_i64(at);
}

/* ---- Offsets ----------------------------------------------------------------------------- */

CPU_KERNEL(uint32_t, scan_offsets_32, (const uint8_t *at, int64_t n), (at, n)) {
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

CPU_KERNEL(uint64_t, scan_offsets_64, (const uint8_t *at, int64_t n), (at, n)) {
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

/* Whether all of CHUNK bytes are ASCII. */
ALWAYS_INLINE bool chunk_is_ascii(const uint8_t *at) {
  uint64_t folded = 0;
  for (int k = 0; k < CHUNK; k += 8) folded |= load_u64(at + k);
  return (folded & HIGH_BITS) == 0;
}

#define BLOCK (8 * sizeof(word_quad))
typedef uint64_t word_quad __attribute__((vector_size(32)));

/* Whole chunks of ASCII at the front, in bytes: blocks of them first. */
CPU_KERNEL(size_t, ascii_chunks, (const uint8_t *bytes, size_t size), (bytes, size)) {
  size_t i = 0;
  for (; size - i >= BLOCK; i += BLOCK) {
    word_quad folded = {0, 0, 0, 0};
    for (size_t k = 0; k < BLOCK; k += sizeof folded) {
      word_quad words;
      memcpy(&words, bytes + i + k, sizeof words);
      folded |= words;
    }
    if (((folded[0] | folded[1] | folded[2] | folded[3]) & HIGH_BITS) != 0) break;
  }
  while (size - i >= CHUNK && chunk_is_ascii(bytes + i)) i += CHUNK;
  return i;
}

/* Whether the bytes behind the chunks, fewer than one, are ASCII. More bytes are not. */
static bool tail_is_ascii(const uint8_t *bytes, size_t size) {
  if (size >= CHUNK) return false;
  uint64_t folded = 0;
  for (; size >= 8; bytes += 8, size -= 8) folded |= load_u64(bytes);
  for (; size > 0; bytes++, size--) folded |= *bytes;
  return (folded & HIGH_BITS) == 0;
}

/*
 * What may come next, as the automaton of the well-formed sequences (table 3-7 of the Unicode
 * standard). A state is the place of its six bits in a row; a row, one for each byte, holds at
 * the place of every state the state that follows, BAD where none does. So a step is a load that
 * does not wait for the state, and one shift: the time does not depend on the text.
 */
enum utf8_state {
  BAD = 0,       /* an offender was met */
  START = 6,     /* between characters */
  ONE = 12,      /* one more 80..BF */
  TWO = 18,      /* two more */
  THREE = 24,    /* three more */
  AFTER_E0 = 30, /* A0..BF, then one more: no overlong form */
  AFTER_ED = 36, /* 80..9F, then one more: no surrogate */
  AFTER_F0 = 42, /* 90..BF, then two more: no overlong form */
  AFTER_F4 = 48  /* 80..8F, then two more: nothing past U+10FFFF */
};

#define GOES(from, to) ((uint64_t)(to) << (from))
#define ASCII GOES(START, START)
#define CONTINUES (GOES(ONE, START) | GOES(TWO, ONE) | GOES(THREE, TWO))
#define ROW_80 (CONTINUES | GOES(AFTER_ED, ONE) | GOES(AFTER_F4, TWO))
#define ROW_90 (CONTINUES | GOES(AFTER_ED, ONE) | GOES(AFTER_F0, TWO))
#define ROW_A0 (CONTINUES | GOES(AFTER_E0, ONE) | GOES(AFTER_F0, TWO))
#define LEAD_2 GOES(START, ONE)
#define LEAD_3 GOES(START, TWO)
#define LEAD_4 GOES(START, THREE)
#define TIMES_4(row) row, row, row, row
#define TIMES_16(row) TIMES_4(row), TIMES_4(row), TIMES_4(row), TIMES_4(row)
#define TIMES_64(row) TIMES_16(row), TIMES_16(row), TIMES_16(row), TIMES_16(row)

/* clang-format off */
static const uint64_t utf8_rows[256] = {
    TIMES_64(ASCII), TIMES_64(ASCII),
    TIMES_16(ROW_80), TIMES_16(ROW_90), TIMES_16(ROW_A0), TIMES_16(ROW_A0),
    BAD, BAD, LEAD_2, LEAD_2, TIMES_4(LEAD_2), TIMES_4(LEAD_2), TIMES_4(LEAD_2), TIMES_16(LEAD_2),
    GOES(START, AFTER_E0), LEAD_3, LEAD_3, LEAD_3, TIMES_4(LEAD_3), TIMES_4(LEAD_3),
    LEAD_3, GOES(START, AFTER_ED), LEAD_3, LEAD_3,
    GOES(START, AFTER_F0), LEAD_4, LEAD_4, LEAD_4, GOES(START, AFTER_F4), BAD, BAD, BAD,
    TIMES_4(BAD), TIMES_4(BAD),
};
/* clang-format on */

/* A state in the low six bits, above them what is left of a row. */
ALWAYS_INLINE uint64_t utf8_step(uint64_t state, uint8_t byte) {
  return utf8_rows[byte] >> (state & 63);
}
ALWAYS_INLINE bool utf8_is(uint64_t state, enum utf8_state which) { return (state & 63) == which; }

static uint64_t utf8_run(uint64_t state, const uint8_t *bytes, size_t first, size_t end) {
  for (size_t i = first; i < end; i++) state = utf8_step(state, bytes[i]);
  return state;
}

/*
 * Four lanes side by side, as one step waits for the one before it:
 *
 *   |  lane 0  |  lane 1  |  lane 2  |  lane 3  | next
 *   0        cut[1]     cut[2]     cut[3]     cut[4]
 *
 * Each cut is the start of the character at a multiple of LANE, so lanes are LANE bytes long, give
 * or take three.
 */
#define LANE 128
#define LANES 4

/* The start of the character that covers byte at, which is at least 3; SIZE_MAX: it is none. */
static size_t character_start(const uint8_t *bytes, size_t at) {
  for (size_t back = 0; back < 4; back++)
    if ((bytes[at - back] & 0xC0) != 0x80) return at - back;
  return SIZE_MAX;
}

/* bytes[0, cut[4]) starts a character and goes on for more than LANES * LANE bytes. Returns cut[4],
 * or 0 where the bytes before it are not UTF-8. */
static size_t utf8_lanes(const uint8_t *bytes) {
  size_t cut[LANES + 1] = {0};
  for (size_t k = 1; k <= LANES; k++) {
    cut[k] = character_start(bytes, k * LANE);
    if (cut[k] == SIZE_MAX) return 0;
  }
  uint64_t states[LANES] = {START, START, START, START};
  for (size_t i = 0; i < LANE - 3; i++)
    for (size_t k = 0; k < LANES; k++) states[k] = utf8_step(states[k], bytes[cut[k] + i]);
  bool whole = true;
  for (size_t k = 0; k < LANES; k++)
    whole &= utf8_is(utf8_run(states[k], bytes, cut[k] + LANE - 3, cut[k + 1]), START);
  return whole ? cut[LANES] : 0;
}

bool validate_utf8_bytes(const uint8_t *bytes, size_t size) {
  size_t i = ascii_chunks(bytes, size);
  while (size - i > LANES * LANE) {
    size_t taken = utf8_lanes(bytes + i);
    if (taken == 0) return false;
    i += taken;
    i += ascii_chunks(bytes + i, size - i);
  }
  return utf8_is(utf8_run(START, bytes, i, size), START);
}

/* Whether a string in bytes of [0, last) starts inside a character. */
ALWAYS_INLINE bool splits_character(const void *offsets, int width, int64_t length,
                                    const uint8_t *bytes, int64_t last) {
  while (length > 0 && offset_at(offsets, width, length - 1) == last) length--;
  unsigned split = 0;
  for (int64_t i = 0; i < length; i++)
    split |= (bytes[offset_at(offsets, width, i)] & 0xC0) == 0x80;
  return split != 0;
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
  size_t ascii = ascii_chunks(bytes + first, size);
  if (tail_is_ascii(bytes + first + ascii, size - ascii)) return -1;
  if (validate_utf8_bytes(bytes + first + ascii, size - ascii)) {
    bool splits = width == 4 ? splits_character(offsets, 4, length, bytes, last)
                             : splits_character(offsets, 8, length, bytes, last);
    if (!splits) return -1;
  }
  return find_bad_string(offsets, width, length, bytes, validity);
}

/* ---- Indices ----------------------------------------------------------------------------- */

/*
 * Whether any value is out of bounds, by the sign bit of
 *   value | (top - value)   where top + 1 is at most half of what the width holds: a value is too
 *                           large where it is in the upper half or the difference is negative
 *   value & (top - value)   where top is in the upper half: where both are
 */
#define SCAN_INDICES(name, type, load, OP)                                                         \
  CPU_KERNEL(bool, name, (const uint8_t *at, int64_t n, uint64_t top_value), (at, n, top_value)) { \
    type top = (type)top_value;                                                                    \
    type signs = 0;                                                                                \
    int64_t i = 0;                                                                                 \
    for (; n - i >= CHUNK; i += CHUNK)                                                             \
      for (int64_t k = 0; k < CHUNK; k++) {                                                        \
        type value = (type)load(at + (i + k) * (int64_t)sizeof(type));                             \
        signs = (type)(signs | (value OP(type)(top - value)));                                     \
      }                                                                                            \
    for (; i < n; i++) {                                                                           \
      type value = (type)load(at + i * (int64_t)sizeof(type));                                     \
      signs = (type)(signs | (value OP(type)(top - value)));                                       \
    }                                                                                              \
    return signs >> (8 * sizeof(type) - 1) != 0;                                                   \
  }

#define LOAD_BYTE(at) (*(at))
SCAN_INDICES(scan_low_8, uint8_t, LOAD_BYTE, |)
SCAN_INDICES(scan_low_16, uint16_t, load_u16, |)
SCAN_INDICES(scan_low_32, uint32_t, load_u32, |)
SCAN_INDICES(scan_low_64, uint64_t, load_u64, |)
SCAN_INDICES(scan_high_8, uint8_t, LOAD_BYTE, &)
SCAN_INDICES(scan_high_16, uint16_t, load_u16, &)
SCAN_INDICES(scan_high_32, uint32_t, load_u32, &)

/* high: the bound, top + 1, is in the upper half; a 64-bit one never is. */
static bool scan_indices(const void *indices, int width, int64_t n, uint64_t top, bool high) {
  switch (width) {
    case 1:
      return high ? scan_high_8(indices, n, top) : scan_low_8(indices, n, top);
    case 2:
      return high ? scan_high_16(indices, n, top) : scan_low_16(indices, n, top);
    case 4:
      return high ? scan_high_32(indices, n, top) : scan_low_32(indices, n, top);
    default:
      return scan_low_64(indices, n, top);
  }
}

/* bound: the first index that is too large, as an unsigned number of the width. A negative index
 * is one of the upper half, which is why signed ones cap the bound at its start. */
static int64_t find_bad_index(const void *indices, int width, int64_t length,
                              const uint8_t *validity, uint64_t bound) {
  for (int64_t i = 0; i < length; i++) {
    if (validity != NULL && !bit_get(validity, i)) continue;
    if (load_unsigned((const uint8_t *)indices + i * width, width) >= bound) return i;
  }
  return -1;
}

int64_t validate_indices(const void *indices, int width, bool is_signed, int64_t length,
                         const uint8_t *validity, int64_t limit) {
  uint64_t half = UINT64_C(1) << (8 * width - 1);
  uint64_t bound = limit > 0 ? (uint64_t)limit : 0;
  if (is_signed && bound > half) bound = half;
  if (bound >> 1 >= half) return -1; /* no index of the width is that large */
  if (!scan_indices(indices, width, length, bound - 1, bound > half)) return -1;
  return find_bad_index(indices, width, length, validity, bound);
}

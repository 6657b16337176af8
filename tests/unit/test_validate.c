/* The fast scans against loops that do what docs/FORMAT.md says, one value at a time. */
#include "arrow/validate.h"

#include "base/cpu.h"

#include "base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_SLOTS 300

static uint64_t seed = 20240229;

static uint64_t next_random(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

static int64_t below(int64_t n) { return (int64_t)(next_random() % (uint64_t)n); }

/* A copy of exactly size bytes, so that a sanitizer sees a read past them. */
static void *exact(const void *bytes, size_t size) {
  void *copy = malloc(size == 0 ? 1 : size);
  assert_non_null(copy);
  if (size != 0) memcpy(copy, bytes, size);
  return copy;
}

/* ---- Offsets ---- */

static int64_t naive_offsets(const int64_t *offsets, int64_t n, int64_t limit) {
  for (int64_t i = 0; i < n; i++)
    if (offsets[i] < (i == 0 ? 0 : offsets[i - 1]) || offsets[i] > limit) return i;
  return -1;
}

static void expect_offsets(const int64_t *offsets, int64_t n, int64_t limit) {
  int32_t narrow[MAX_SLOTS + 1];
  for (int64_t i = 0; i < n; i++) narrow[i] = (int32_t)offsets[i];
  void *wide_copy = exact(offsets, (size_t)n * 8);
  void *narrow_copy = exact(narrow, (size_t)n * 4);
  int64_t expected = naive_offsets(offsets, n, limit);
  assert_int_equal(validate_offsets(wide_copy, 8, n, limit), expected);
  assert_int_equal(validate_offsets(narrow_copy, 4, n, limit), expected);
  free(wide_copy);
  free(narrow_copy);
}

static void offsets_agree_with_the_naive_loop(void **state) {
  (void)state;
  int64_t offsets[MAX_SLOTS + 1];
  for (int round = 0; round < 4000; round++) {
    int64_t n = 1 + below(MAX_SLOTS);
    int64_t value = below(3);
    for (int64_t i = 0; i < n; i++, value += below(4)) offsets[i] = value;
    int64_t limit = offsets[n - 1] + below(2);
    if (below(3) == 0) offsets[below(n)] += below(9) - 4;
    if (below(9) == 0) offsets[below(n)] = below(2) == 0 ? INT32_MIN : INT32_MAX;
    if (below(5) == 0) limit -= 1 + below(3);
    expect_offsets(offsets, n, limit);
  }
}

static void extreme_offsets_do_not_wrap_around(void **state) {
  (void)state;
  const int64_t wide[] = {INT64_MAX, INT64_MIN};
  assert_int_equal(validate_offsets(wide, 8, 2, INT64_MAX), 1);
  const int64_t down[] = {0, INT64_MIN, INT64_MAX};
  assert_int_equal(validate_offsets(down, 8, 3, INT64_MAX), 1);
  const int32_t narrow[] = {INT32_MAX, INT32_MIN};
  assert_int_equal(validate_offsets(narrow, 4, 2, INT32_MAX), 1);
  const int32_t negative[] = {-1};
  assert_int_equal(validate_offsets(negative, 4, 1, 10), 0);
  const int64_t full[] = {0, INT64_MAX};
  assert_int_equal(validate_offsets(full, 8, 2, INT64_MAX), -1);
}

static void a_first_offset_above_zero_is_fine(void **state) {
  (void)state;
  const int32_t offsets[] = {5, 5, 9};
  assert_int_equal(validate_offsets(offsets, 4, 3, 9), -1);
  assert_int_equal(validate_offsets(offsets, 4, 3, 8), 2);
  assert_int_equal(validate_offsets(offsets, 4, 1, 4), 0);
}

/* ---- Copies that check ---- */

#define MAX_COPY 700

/* To an address to_at behind a multiple of 64: the bytes and nothing else, and the verdict of a
 * naive loop. */
static void expect_ascii_copy(const uint8_t *bytes, size_t size, size_t to_at) {
  uint8_t *in = exact(bytes, size);
  uint8_t *base = aligned_alloc(64, 1024);
  uint8_t *out = base + to_at;
  bool ascii = true;
  for (size_t i = 0; i < size; i++) ascii = ascii && bytes[i] < 0x80;
  memset(base, 0xEE, 1024);
  assert_int_equal(copy_ascii(out, in, size), ascii);
  if (size != 0) assert_memory_equal(out, bytes, size);
  assert_true(to_at == 0 || out[-1] == 0xEE);
  assert_int_equal(out[size], 0xEE);
  free(base);
  free(in);
}

static void text_is_copied_and_its_one_bad_byte_seen(void **state) {
  (void)state;
  uint8_t bytes[MAX_COPY];
  memset(bytes, 'x', sizeof bytes);
  for (size_t size = 0; size < 300; size++) expect_ascii_copy(bytes, size, size % 37);
  for (int round = 0; round < 3000; round++) {
    size_t size = (size_t)below(MAX_COPY) + 1;
    size_t bad = (size_t)below((int64_t)size);
    bytes[bad] = (uint8_t)(0x80 | below(128));
    expect_ascii_copy(bytes, size, (size_t)below(64));
    bytes[bad] = 'x';
  }
}

static void expect_offsets_copy(const int64_t *offsets, int64_t n, int width, size_t to_at) {
  uint8_t packed[MAX_COPY * 8];
  for (int64_t i = 0; i < n; i++) memcpy(packed + i * width, &offsets[i], (size_t)width);
  size_t size = (size_t)n * (size_t)width;
  uint8_t *in = exact(packed, size);
  uint8_t *base = aligned_alloc(64, 8192);
  memset(base, 0xEE, 8192);
  bool good = naive_offsets(offsets, n, INT64_MAX) == -1;
  assert_int_equal(copy_offsets(base + to_at, in, width, n), good);
  assert_memory_equal(base + to_at, packed, size);
  assert_true(to_at == 0 || base[to_at - 1] == 0xEE);
  assert_int_equal(base[to_at + size], 0xEE);
  free(base);
  free(in);
}

static void offsets_are_copied_and_the_one_bad_entry_seen(void **state) {
  (void)state;
  int64_t offsets[MAX_COPY];
  for (int round = 0; round < 4000; round++) {
    int64_t n = below(MAX_COPY - 1) + 1;
    int64_t last = below(1000);
    for (int64_t i = 0; i < n; i++) offsets[i] = last += below(9);
    if (round % 4 != 0) offsets[below(n)] = round % 4 == 1 ? -1 : below(4000);
    expect_offsets_copy(offsets, n, 4, (size_t)below(64));
    expect_offsets_copy(offsets, n, 8, (size_t)below(64));
  }
  const int64_t extremes[] = {INT32_MAX, INT32_MIN, 0, INT32_MAX};
  for (int64_t n = 1; n <= 4; n++) expect_offsets_copy(extremes, n, 4, 0);
}

/* ---- UTF-8 ---- */

/* Decodes to a number and compares with the shortest form: slow and different on purpose. */
static bool naive_utf8(const uint8_t *bytes, size_t size) {
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  for (size_t i = 0; i < size;) {
    size_t n = bytes[i] < 0x80       ? 1
               : bytes[i] >> 5 == 6  ? 2
               : bytes[i] >> 4 == 14 ? 3
               : bytes[i] >> 3 == 30 ? 4
                                     : 0;
    if (n == 0 || n > size - i) return false;
    uint32_t code = n == 1 ? bytes[i] : bytes[i] & (0x7Fu >> n);
    for (size_t k = 1; k < n; k++) {
      if (bytes[i + k] >> 6 != 2) return false;
      code = code << 6 | (bytes[i + k] & 63u);
    }
    if (code < smallest[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    i += n;
  }
  return true;
}

static bool utf8_of(const void *bytes, size_t size) {
  void *copy = exact(bytes, size);
  bool valid = validate_utf8_bytes(copy, size);
  assert_int_equal(valid, naive_utf8(copy, size));
  free(copy);
  return valid;
}

static void every_pair_and_the_edges_of_longer_forms(void **state) {
  (void)state;
  static const uint8_t edges[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
  for (unsigned first = 0; first < 256; first++)
    for (unsigned second = 0; second < 256; second++) {
      uint8_t bytes[4] = {(uint8_t)first, (uint8_t)second, 0, 0};
      utf8_of(bytes, 1);
      utf8_of(bytes, 2);
      for (size_t i = 0; i < sizeof edges; i++) {
        bytes[2] = edges[i];
        utf8_of(bytes, 3);
        for (size_t k = 0; first >= 0xE0 && k < sizeof edges; k++) {
          bytes[3] = edges[k];
          utf8_of(bytes, 4);
        }
      }
    }
}

static void named_offenders_are_refused(void **state) {
  (void)state;
  assert_false(utf8_of("\xC0\x80", 2));         /* overlong NUL */
  assert_false(utf8_of("\xED\xA0\x80", 3));     /* a surrogate */
  assert_false(utf8_of("\xF4\x90\x80\x80", 4)); /* U+110000 */
  assert_false(utf8_of("\xE0\x9F\xBF", 3));     /* overlong */
  assert_false(utf8_of("\xE2\x82", 2));         /* cut off */
  assert_true(utf8_of("\xF4\x8F\xBF\xBF", 4));
  assert_true(utf8_of("\xE2\x82\xAC\xC3\xA9z", 6));
  assert_true(utf8_of("", 0));
}

static size_t random_character(uint8_t *out) {
  static const char *const samples[] = {
      "a", "z", " ", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xED\x9F\xBF", "\xC2\x80"};
  const char *sample = samples[below(8) < 5 ? below(3) : below(8)];
  memcpy(out, sample, strlen(sample));
  return strlen(sample);
}

static void random_text_with_one_bad_byte(void **state) {
  (void)state;
  for (int round = 0; round < 20000; round++) {
    uint8_t bytes[1700];
    size_t size = 0;
    size_t wanted = (size_t)below(below(4) == 0 ? 1600 : 200);
    bool plain = below(2) == 0;
    while (size < wanted) {
      if (plain)
        bytes[size++] = 'x';
      else
        size += random_character(bytes + size);
    }
    if (size > 0 && below(2) == 0) bytes[below((int64_t)size)] = (uint8_t)below(256);
    utf8_of(bytes, size);
  }
}

struct strings {
  int64_t offsets[MAX_SLOTS + 1];
  uint8_t bytes[MAX_SLOTS * 24];
  uint8_t validity[(MAX_SLOTS + 7) / 8];
  int64_t length;
  bool has_nulls;
};

static int64_t naive_strings(const struct strings *strings) {
  for (int64_t i = 0; i < strings->length; i++) {
    if (strings->has_nulls && !bit_get(strings->validity, i)) continue;
    int64_t start = strings->offsets[i];
    if (!naive_utf8(strings->bytes + start, (size_t)(strings->offsets[i + 1] - start))) return i;
  }
  return -1;
}

static void make_strings(struct strings *strings) {
  int64_t end = below(4);
  memset(strings->bytes, 0xFF, sizeof strings->bytes); /* what no slot names is garbage */
  strings->length = below(MAX_SLOTS);
  strings->has_nulls = below(2) == 0;
  bool plain = below(3) == 0;
  for (int64_t i = 0; i <= strings->length; i++) {
    strings->offsets[i] = end;
    if (i == strings->length) break;
    for (int64_t n = below(4); n > 0; n--) {
      if (plain)
        strings->bytes[end++] = 'q';
      else
        end += (int64_t)random_character(strings->bytes + end);
    }
  }
  for (size_t i = 0; i < sizeof strings->validity; i++)
    strings->validity[i] = (uint8_t)next_random();
  if (strings->length < 2) return;
  int64_t slot = 1 + below(strings->length - 1);
  int64_t start = strings->offsets[slot];
  if (below(3) == 0 && start > strings->offsets[slot - 1]) strings->offsets[slot] = start - 1;
  if (below(3) == 0 && end > start) strings->bytes[start] = (uint8_t)below(256);
}

static void strings_agree_with_the_naive_loop(void **state) {
  (void)state;
  static struct strings strings;
  int bad = 0;
  for (int round = 0; round < 6000; round++) {
    make_strings(&strings);
    int32_t narrow[MAX_SLOTS + 1];
    for (int64_t i = 0; i <= strings.length; i++) narrow[i] = (int32_t)strings.offsets[i];
    const uint8_t *validity = strings.has_nulls ? strings.validity : NULL;
    uint8_t *bytes = exact(strings.bytes, (size_t)strings.offsets[strings.length]);
    int64_t expected = naive_strings(&strings);
    bad += expected >= 0;
    assert_int_equal(validate_utf8(strings.offsets, 8, strings.length, bytes, validity), expected);
    assert_int_equal(validate_utf8(narrow, 4, strings.length, bytes, validity), expected);
    free(bytes);
  }
  assert_in_range(bad, 600, 5400);
}

static void a_character_split_between_strings_is_bad(void **state) {
  (void)state;
  const int32_t offsets[] = {0, 1, 3, 4};
  const uint8_t bytes[] = "a\xC3\xA9z";
  const int32_t split[] = {0, 2, 3, 4};
  assert_int_equal(validate_utf8(offsets, 4, 3, bytes, NULL), -1);
  assert_int_equal(validate_utf8(split, 4, 3, bytes, NULL), 0);
  const uint8_t without_first_two = 4;
  assert_int_equal(validate_utf8(split, 4, 3, bytes, &without_first_two), -1);
}

static void empty_strings_need_no_bytes(void **state) {
  (void)state;
  const int32_t offsets[] = {0, 0, 0};
  assert_int_equal(validate_utf8(offsets, 4, 2, NULL, NULL), -1);
  assert_int_equal(validate_utf8(offsets, 4, 0, NULL, NULL), -1);
}

/* ---- Indices ---- */

static int64_t signed_index(uint64_t bits, int width) {
  int shift = 64 - 8 * width;
  return (int64_t)(bits << shift) >> shift;
}

static bool index_is_fine(uint64_t bits, int width, bool is_signed, int64_t limit) {
  if (is_signed) {
    int64_t value = signed_index(bits, width);
    return value >= 0 && value < limit;
  }
  uint64_t value = width == 8 ? bits : bits & ((UINT64_C(1) << (8 * width)) - 1);
  return limit > 0 && value < (uint64_t)limit;
}

static void expect_indices(const uint64_t *values, int64_t n, int width, bool is_signed,
                           const uint8_t *validity, int64_t limit) {
  uint8_t *indices = malloc((size_t)(n * width) + 1);
  assert_non_null(indices);
  for (int64_t i = 0; i < n; i++) memcpy(indices + i * width, &values[i], (size_t)width);
  int64_t expected = -1;
  for (int64_t i = n - 1; i >= 0; i--)
    if ((validity == NULL || bit_get(validity, i)) &&
        !index_is_fine(values[i], width, is_signed, limit))
      expected = i;
  uint8_t *copy = exact(indices, (size_t)(n * width));
  assert_int_equal(validate_indices(copy, width, is_signed, n, validity, limit), expected);
  free(copy);
  free(indices);
}

static int64_t random_limit(void) {
  static const int64_t limits[] = {
      0,          1,          2,          100,   127,   128,    129,      200,   255,
      256,        257,        32767,      32768, 32769, 65535,  65536,    65537, INT32_MAX,
      2147483648, 4294967295, 4294967296, 10,    50,    100000, INT64_MAX};
  return limits[below((int64_t)(sizeof limits / sizeof *limits))];
}

static void indices_agree_with_the_naive_loop(void **state) {
  (void)state;
  static const int widths[] = {1, 2, 4, 8};
  uint64_t values[MAX_SLOTS];
  uint8_t validity[(MAX_SLOTS + 7) / 8];
  for (int round = 0; round < 20000; round++) {
    int width = widths[below(4)];
    int64_t limit = random_limit();
    int64_t n = below(MAX_SLOTS);
    for (int64_t i = 0; i < n; i++) values[i] = limit > 0 ? next_random() % (uint64_t)limit : 0;
    int64_t spoiled = n > 0 ? below(4) : 0;
    static const uint64_t spoilers[] = {UINT64_MAX, 128, 255, 32768, 2147483648, INT64_MAX};
    for (int64_t i = 0; i < spoiled; i++) {
      uint64_t spoiler = below(2) == 0 ? (uint64_t)limit : spoilers[below(6)];
      values[below(n)] = spoiler;
    }
    for (size_t i = 0; i < sizeof validity; i++) validity[i] = (uint8_t)next_random();
    expect_indices(values, n, width, below(2) == 0, below(2) == 0 ? validity : NULL, limit);
  }
}

static void garbage_under_nulls_is_not_an_index(void **state) {
  (void)state;
  const int32_t indices[] = {0, -7, 1, 99};
  const uint8_t validity = 0x5;
  assert_int_equal(validate_indices(indices, 4, true, 4, &validity, 2), -1);
  assert_int_equal(validate_indices(indices, 4, true, 4, NULL, 2), 1);
  assert_int_equal(validate_indices(indices, 4, true, 0, NULL, 0), -1);
  const uint8_t none = 0;
  assert_int_equal(validate_indices(indices, 4, true, 4, &none, 0), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(offsets_agree_with_the_naive_loop),
      cmocka_unit_test(extreme_offsets_do_not_wrap_around),
      cmocka_unit_test(a_first_offset_above_zero_is_fine),
      cmocka_unit_test(text_is_copied_and_its_one_bad_byte_seen),
      cmocka_unit_test(offsets_are_copied_and_the_one_bad_entry_seen),
      cmocka_unit_test(every_pair_and_the_edges_of_longer_forms),
      cmocka_unit_test(named_offenders_are_refused),
      cmocka_unit_test(random_text_with_one_bad_byte),
      cmocka_unit_test(strings_agree_with_the_naive_loop),
      cmocka_unit_test(a_character_split_between_strings_is_bad),
      cmocka_unit_test(empty_strings_need_no_bytes),
      cmocka_unit_test(indices_agree_with_the_naive_loop),
      cmocka_unit_test(garbage_under_nulls_is_not_an_index),
  };
  int failed = cmocka_run_group_tests_name("wide registers", tests, NULL, NULL);
  cpu_plain_only = true;
  return failed + cmocka_run_group_tests_name("any machine", tests, NULL, NULL);
}

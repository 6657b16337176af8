/* Index files in both byte orders, every kind of damage told apart, and the names around them. */
#include "shuffle/index.h"

#include "base/buffer.h"
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MAX_ENTRIES 16

/* Decodes n entries written in an order; the result in offsets. */
static ashuf_status decode(const uint64_t *entries, size_t n, enum index_order order,
                           uint64_t data_size, uint64_t *offsets, enum index_order *found,
                           struct ashuf_error *error) {
  for (size_t i = 0; i < n; i++)
    if (order == INDEX_BIG_ENDIAN)
      store_u64_big(&offsets[i], entries[i]);
    else
      store_u64(&offsets[i], entries[i]);
  return index_decode((uint8_t *)offsets, n * INDEX_ENTRY, data_size, found, error);
}

static void expect_error(const uint64_t *entries, size_t n, uint64_t data_size, int site,
                         uint64_t offset) {
  uint64_t offsets[MAX_ENTRIES];
  for (int order = 0; order < 2; order++) {
    struct ashuf_error error;
    assert_int_equal(decode(entries, n, (enum index_order)order, data_size, offsets, NULL, &error),
                     ASHUF_BAD_INDEX);
    assert_int_equal(error.site, site);
    assert_int_equal(error.space, ASHUF_SPACE_FILE);
    assert_int_equal(error.offset, offset);
  }
}

static void the_example_of_the_format_has_these_bytes(void **state) {
  (void)state;
  static const uint64_t offsets[] = {0, 100, 100, 150};
  static const uint8_t big[] = {0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0, 0, 0, 0, 0x64,
                                0, 0, 0, 0, 0, 0, 0, 0x64, 0, 0, 0, 0, 0, 0, 0, 0x96};
  static const uint8_t little[] = {0,    0, 0, 0, 0, 0, 0, 0, 0x64, 0, 0, 0, 0, 0, 0, 0,
                                   0x64, 0, 0, 0, 0, 0, 0, 0, 0x96, 0, 0, 0, 0, 0, 0, 0};
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  assert_int_equal(index_encode(offsets, 3, INDEX_BIG_ENDIAN, &out, NULL, NULL), ASHUF_OK);
  assert_int_equal(out.size, 32);
  assert_memory_equal(out.data, big, 32);
  out.size = 0;
  assert_int_equal(index_encode(offsets, 3, INDEX_LITTLE_ENDIAN, &out, NULL, NULL), ASHUF_OK);
  assert_memory_equal(out.data, little, 32);
  ashuf_buffer_free(&out);
}

static void the_byte_order_is_told_by_the_size_of_the_data(void **state) {
  (void)state;
  static const uint64_t entries[] = {0, 100, 100, 150};
  uint64_t offsets[MAX_ENTRIES];
  for (int order = 0; order < 2; order++) {
    enum index_order found = (enum index_order)(1 - order);
    assert_int_equal(decode(entries, 4, (enum index_order)order, 150, offsets, &found, NULL),
                     ASHUF_OK);
    assert_int_equal(found, order);
    assert_memory_equal(offsets, entries, sizeof entries);
  }
}

static void a_last_offset_the_same_in_both_orders_is_settled_by_the_others(void **state) {
  (void)state;
  /* The size reads the same either way round. */
  static const uint64_t same = 0x0100000000000001u;
  static const uint64_t entries[] = {0, 0x0000000000000102u, same};
  uint64_t offsets[MAX_ENTRIES];
  enum index_order found;
  for (int order = 0; order < 2; order++) {
    assert_int_equal(decode(entries, 3, (enum index_order)order, same, offsets, &found, NULL),
                     ASHUF_OK);
    assert_int_equal(found, order);
    assert_memory_equal(offsets, entries, sizeof entries);
  }
}

static void t28_all_zeros_with_an_empty_file_is_an_empty_output(void **state) {
  (void)state;
  static const uint64_t entries[5] = {0};
  uint64_t offsets[MAX_ENTRIES];
  assert_int_equal(decode(entries, 5, INDEX_BIG_ENDIAN, 0, offsets, NULL, NULL), ASHUF_OK);
  assert_memory_equal(offsets, entries, sizeof entries);
}

static void t28_a_last_offset_past_the_file(void **state) {
  (void)state;
  static const uint64_t entries[] = {0, 100, 151};
  expect_error(entries, 3, 150, SITE_INDEX_PAST_DATA, 16);
}

static void t28_a_file_longer_than_the_last_offset(void **state) {
  (void)state;
  static const uint64_t entries[] = {0, 100, 149};
  expect_error(entries, 3, 150, SITE_INDEX_DATA_LEFT, 16);
  static const uint64_t zeros[] = {0, 0, 0};
  expect_error(zeros, 3, 1, SITE_INDEX_DATA_LEFT, 16);
}

static void t28_a_decreasing_offset(void **state) {
  (void)state;
  static const uint64_t entries[] = {0, 120, 100, 150};
  expect_error(entries, 4, 150, SITE_INDEX_DECREASES, 16);
  static const uint64_t above[] = {0, 151, 150};
  expect_error(above, 3, 150, SITE_INDEX_DECREASES, 16);
}

static void t28_a_negative_offset(void **state) {
  (void)state;
  static const uint64_t entries[] = {0, UINT64_MAX, 150};
  expect_error(entries, 3, 150, SITE_INDEX_DECREASES, 8);
}

static void t28_a_first_offset_above_zero(void **state) {
  (void)state;
  static const uint64_t entries[] = {4, 100, 150};
  expect_error(entries, 3, 150, SITE_INDEX_FIRST, 0);
}

static void t28_short_and_ragged(void **state) {
  (void)state;
  uint64_t bytes[4] = {0};
  struct ashuf_error error;
  for (size_t size = 0; size < 2 * INDEX_ENTRY; size++) {
    assert_int_equal(index_decode((uint8_t *)bytes, size, 0, NULL, &error), ASHUF_BAD_INDEX);
    assert_int_equal(error.site, size % 8 == 0 ? SITE_INDEX_SHORT : SITE_INDEX_RAGGED);
    assert_int_equal(error.offset, size / 8 * 8);
  }
  assert_int_equal(index_decode((uint8_t *)bytes, 29, 0, NULL, &error), ASHUF_BAD_INDEX);
  assert_int_equal(error.site, SITE_INDEX_RAGGED);
  assert_int_equal(error.offset, 24);
}

static void t28_consistent_in_neither_byte_order(void **state) {
  (void)state;
  static const uint64_t entries[] = {0, 0x0302030405060709u, 0x0102030405060708u, 9};
  expect_error(entries, 4, 150, SITE_INDEX_NO_ORDER, 16);
}

static void an_index_of_too_many_partitions_is_refused_by_its_size(void **state) {
  (void)state;
  struct ashuf_error error;
  assert_int_equal(index_check_size(index_size(INT32_MAX), &error), ASHUF_OK);
  assert_int_equal(index_check_size(index_size((int64_t)INT32_MAX + 1), &error), ASHUF_BAD_INDEX);
  assert_int_equal(error.site, SITE_INDEX_LONG);
}

static void expect_path(const char *data, const char *index) {
  char *path = index_path_of(data, NULL);
  assert_string_equal(path, index);
  memory_free(NULL, path, strlen(path) + 1);
}

static void data_names_give_index_names(void **state) {
  (void)state;
  expect_path("/a.data/shuffle_1_7_0.data", "/a.data/shuffle_1_7_0.index");
  expect_path("x", "x.index");
  expect_path(".data", ".index");
  expect_path("", ".index");
  expect_path("x.data.gz", "x.data.gz.index");
}

static void map_ids_come_from_names(void **state) {
  (void)state;
  assert_int_equal(index_map_id("shuffle_132_1404_0.data"), 1404);
  assert_int_equal(index_map_id("/x_1/shuffle_0_9223372036854775807_0.data"), INT64_MAX);
  assert_int_equal(index_map_id("shuffle_0_9223372036854775808_0.data"), -1);
  assert_int_equal(index_map_id("shuffle_0_1.data"), -1);
  assert_int_equal(index_map_id("shuffle_0_-1_0.data"), -1);
  assert_int_equal(index_map_id("shuffle_0_ 1_0.data"), -1);
  assert_int_equal(index_map_id("shuffle_1_2_0"), -1);
  assert_int_equal(index_map_id("out.data"), -1);
  assert_int_equal(index_map_id("shuffle_1_2_0.data/x.data"), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_example_of_the_format_has_these_bytes),
      cmocka_unit_test(the_byte_order_is_told_by_the_size_of_the_data),
      cmocka_unit_test(a_last_offset_the_same_in_both_orders_is_settled_by_the_others),
      cmocka_unit_test(t28_all_zeros_with_an_empty_file_is_an_empty_output),
      cmocka_unit_test(t28_a_last_offset_past_the_file),
      cmocka_unit_test(t28_a_file_longer_than_the_last_offset),
      cmocka_unit_test(t28_a_decreasing_offset),
      cmocka_unit_test(t28_a_negative_offset),
      cmocka_unit_test(t28_a_first_offset_above_zero),
      cmocka_unit_test(t28_short_and_ragged),
      cmocka_unit_test(t28_consistent_in_neither_byte_order),
      cmocka_unit_test(an_index_of_too_many_partitions_is_refused_by_its_size),
      cmocka_unit_test(data_names_give_index_names),
      cmocka_unit_test(map_ids_come_from_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

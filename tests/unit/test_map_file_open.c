/* One map output opened: its index and data held against each other. */
#include "shuffle/map_file.h"

#include "shuffle/index.h"
#include "support/map_outputs.h"
#include "support/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define DATA "shuffle_3_42_0.data"
#define INDEX "shuffle_3_42_0.index"

static ashuf_status open_scratch(int require_index, ashuf_memory *memory, ashuf_map_file **out,
                                 struct ashuf_error *error) {
  return ashuf_map_file_open(scratch_path(DATA), NULL, require_index, memory, out, error);
}

static void expect_open_error(ashuf_status status, int site) {
  ashuf_map_file *file = NULL;
  struct ashuf_error error;
  assert_int_equal(open_scratch(0, NULL, &file, &error), status);
  assert_null(file);
  assert_int_equal(error.site, site);
  assert_int_equal(error.map, 42);
  assert_non_null(strstr(error.message, "shuffle_3_42_0."));
}

static void t28_each_kind_of_damage_is_an_error_at_open(void **state) {
  (void)state;
  static const uint64_t past[] = {0, 4, 11};
  static const uint64_t left[] = {0, 4, 9};
  static const uint64_t down[] = {0, 11, 10};
  static const uint64_t none[] = {0, 0x0302030405060709u, 0x0102030405060708u, 9};
  scratch_write(DATA, "0123456789", 10);
  for (int order = 0; order < 2; order++) {
    output_index(INDEX, past, 2, order == INDEX_BIG_ENDIAN);
    expect_open_error(ASHUF_BAD_INDEX, SITE_INDEX_PAST_DATA);
    output_index(INDEX, left, 2, order == INDEX_BIG_ENDIAN);
    expect_open_error(ASHUF_BAD_INDEX, SITE_INDEX_DATA_LEFT);
    output_index(INDEX, down, 2, order == INDEX_BIG_ENDIAN);
    expect_open_error(ASHUF_BAD_INDEX, SITE_INDEX_DECREASES);
    output_index(INDEX, none, 3, order == INDEX_BIG_ENDIAN);
    expect_open_error(ASHUF_BAD_INDEX, SITE_INDEX_NO_ORDER);
  }
  scratch_write(INDEX, "\0\0\0\0\0\0\0\0", 8);
  expect_open_error(ASHUF_BAD_INDEX, SITE_INDEX_SHORT);
  scratch_write(INDEX, "\0\0\0\0\0\0\0\0\0\0\0\0", 12);
  expect_open_error(ASHUF_BAD_INDEX, SITE_INDEX_RAGGED);
}

static void t28_all_zeros_with_an_empty_or_missing_file_is_empty(void **state) {
  (void)state;
  static const uint64_t zeros[5] = {0};
  output_index(INDEX, zeros, 4, 1);
  for (int missing = 1; missing >= 0; missing--) {
    ashuf_map_file *file;
    ashuf_ctx *ctx;
    struct ashuf_block_cursor cursor;
    const ashuf_schema *schema;
    struct ArrowArray batch;
    int found = 7;
    if (!missing) scratch_write(DATA, "", 0);
    assert_int_equal(open_scratch(1, NULL, &file, NULL), ASHUF_OK);
    assert_int_equal(ashuf_map_file_partitions(file), 4);
    assert_int_equal(ashuf_map_file_has_index(file), 1);
    assert_memory_equal(ashuf_map_file_offsets(file), zeros, sizeof zeros);
    assert_int_equal(ashuf_map_file_seek(file, 0, -1, &cursor, NULL), ASHUF_OK);
    assert_int_equal(ashuf_ctx_new(NULL, &ctx, NULL), ASHUF_OK);
    assert_int_equal(
        ashuf_map_file_next(file, ctx, &cursor, NULL, &found, NULL, &schema, &batch, NULL, NULL),
        ASHUF_OK);
    assert_int_equal(found, 0);
    ashuf_ctx_free(ctx);
    ashuf_map_file_close(file);
  }
}

static void a_missing_data_file_that_should_hold_bytes_is_an_error(void **state) {
  (void)state;
  static const uint64_t offsets[] = {0, 0, 20};
  ashuf_map_file *file;
  struct ashuf_error error;
  output_index(INDEX, offsets, 2, 1);
  assert_int_equal(open_scratch(1, NULL, &file, &error), ASHUF_IO);
  assert_int_equal(error.os_errno, ENOENT);
  assert_non_null(strstr(error.message, ".data"));
}

static void without_an_index_the_file_is_one_partition_unless_one_is_required(void **state) {
  (void)state;
  ashuf_map_file *file;
  struct ashuf_error error;
  scratch_write(DATA, "0123456789", 10);
  assert_int_equal(open_scratch(1, NULL, &file, &error), ASHUF_IO);
  assert_int_equal(error.os_errno, ENOENT);
  assert_non_null(strstr(error.message, ".index"));
  assert_int_equal(open_scratch(0, NULL, &file, &error), ASHUF_OK);
  assert_int_equal(ashuf_map_file_partitions(file), 1);
  assert_int_equal(ashuf_map_file_has_index(file), 0);
  assert_int_equal(ashuf_map_file_offsets(file)[1], 10);
  ashuf_map_file_close(file);
}

static void what_cannot_be_read_in_any_order_is_refused(void **state) {
  (void)state;
  ashuf_map_file *file;
  struct ashuf_error error;
  assert_int_equal(ashuf_map_file_open("/dev/null", NULL, 0, NULL, &file, &error), ASHUF_IO);
  assert_int_equal(error.site, SITE_MAP_NOT_REGULAR);
  assert_int_equal(mkdir(scratch_path("folder"), 0700), 0);
  assert_int_equal(ashuf_map_file_open(scratch_path("folder"), NULL, 0, NULL, &file, &error),
                   ASHUF_IO);
  assert_int_equal(error.os_errno, EISDIR);
  assert_int_equal(ashuf_map_file_open(NULL, NULL, 0, NULL, &file, &error), ASHUF_INVALID_ARGUMENT);
}

static void seeking_past_the_partitions_is_refused(void **state) {
  (void)state;
  static const uint64_t offsets[] = {0, 4, 10};
  ashuf_map_file *file;
  struct ashuf_block_cursor cursor;
  scratch_write(DATA, "0123456789", 10);
  output_index(INDEX, offsets, 2, 0);
  assert_int_equal(open_scratch(1, NULL, &file, NULL), ASHUF_OK);
  assert_int_equal(ashuf_map_file_seek(file, 1, -1, &cursor, NULL), ASHUF_OK);
  assert_int_equal(cursor.partition, 1);
  assert_int_equal(cursor.end_partition, 2);
  assert_int_equal(cursor.offset, 4);
  assert_int_equal(ashuf_map_file_seek(file, 2, 2, &cursor, NULL), ASHUF_OK);
  assert_int_equal(ashuf_map_file_seek(file, -1, 2, &cursor, NULL), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_map_file_seek(file, 2, 1, &cursor, NULL), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_map_file_seek(file, 0, 3, &cursor, NULL), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_map_file_seek(file, 0, -2, &cursor, NULL), ASHUF_INVALID_ARGUMENT);
  ashuf_map_file_close(file);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(t28_each_kind_of_damage_is_an_error_at_open),
      TEST(t28_all_zeros_with_an_empty_or_missing_file_is_empty),
      TEST(a_missing_data_file_that_should_hold_bytes_is_an_error),
      TEST(without_an_index_the_file_is_one_partition_unless_one_is_required),
      TEST(what_cannot_be_read_in_any_order_is_refused),
      TEST(seeking_past_the_partitions_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Checksum files: what they catch, when, and what is left alone. */
#include "base/bytes.h"
#include "codec/checksum.h"
#include "support/read_rows.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DATA "shuffle_2_5_0.data"
#define SUMS "shuffle_2_5_0.checksum."

static char path_text[768];
static const char *path = path_text;

static struct test_column numbers(int64_t first, int64_t n) {
  int64_t *values = malloc(((size_t)n + 1) * sizeof *values);
  if (values == NULL) abort();
  for (int64_t i = 0; i < n; i++) values[i] = first + i;
  struct test_column column = column_int64("v", values, NULL, n);
  free(values);
  return batch_of(&column, 1);
}

/* Three partitions: 100 rows, none, and 2 * 200 rows, about 4 KiB in all. */
static void write_output(int kind) {
  struct block_file file = {0};
  scratch_clear();
  block_file_put(&file, numbers(0, 100), ASHUF_CODEC_NONE);
  block_file_end_partition(&file);
  block_file_end_partition(&file);
  block_file_put(&file, numbers(1000, 150), ASHUF_CODEC_NONE);
  block_file_put(&file, numbers(2000, 150), ASHUF_CODEC_NONE);
  block_file_end_partition(&file);
  block_file_write(&file, "shuffle_2_5_0", kind);
  (void)snprintf(path_text, sizeof path_text, "%s", scratch_path(DATA));
}

static void read_with(int verify, int threads, struct row_texts *out) {
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  options.verify = verify;
  options.threads = threads;
  rows_of_files(&path, 1, &options, out);
}

static void sums_known_from_elsewhere(void **state) {
  (void)state;
  static const struct {
    int kind;
    uint32_t empty, digits;
  } known[] = {{CHECKSUM_ADLER32, 1, 0x091e01de},
               {CHECKSUM_CRC32, 0, 0xcbf43926},
               {CHECKSUM_CRC32C, 0, 0xe3069283}};
  for (size_t i = 0; i < 3; i++) {
    uint32_t value = checksum_begin(known[i].kind);
    assert_int_equal(value, known[i].empty);
    value = checksum_update(known[i].kind, value, "1234", 4);
    assert_int_equal(checksum_update(known[i].kind, value, "56789", 5), known[i].digits);
  }
}

static void sound_bytes_pass_by_every_algorithm(void **state) {
  (void)state;
  for (int kind = CHECKSUM_NONE; kind <= CHECKSUM_CRC32C; kind++)
    for (int verify = ASHUF_VERIFY_BEFORE; verify <= ASHUF_VERIFY_OFF; verify++) {
      struct row_texts rows;
      bool compared = kind != CHECKSUM_NONE && verify != ASHUF_VERIFY_OFF;
      write_output(kind);
      read_with(verify, 1, &rows);
      assert_int_equal(rows.status, ASHUF_OK);
      assert_int_equal(rows.n, 400);
      assert_int_equal(rows.stats.partitions_verified, compared ? 2 : 0);
      assert_int_equal(rows.stats.partitions_unverified, compared ? 0 : 2);
      rows_free(&rows);
    }
}

/* The bit flipped lies in a partition; rows of those in front of it are good. */
static void expect_caught(const struct row_texts *rows, int verify, size_t at, size_t second) {
  assert_true(rows->status != ASHUF_OK);
  assert_int_equal(rows->error.map, 5);
  assert_int_equal(rows->error.partition, at < second ? 0 : 2);
  if (verify == ASHUF_VERIFY_BEFORE) {
    assert_int_equal(rows->status, ASHUF_CHECKSUM_MISMATCH);
    assert_int_equal(rows->error.block, -1);
    assert_int_equal(rows->n, at < second ? 0 : 100);
  }
}

static void t27_each_flipped_bit_is_caught(void **state) {
  (void)state;
  static const int step[] = {61, 37, 1}; /* every bit by CRC-32C */
  for (int kind = CHECKSUM_ADLER32; kind <= CHECKSUM_CRC32C; kind++) {
    size_t size = 0;
    write_output(kind);
    uint8_t *good = scratch_read(DATA, &size);
    size_t second = 0;
    uint8_t *index = scratch_read("shuffle_2_5_0.index", &second);
    second = (size_t)load_u64_big(index + 8);
    free(index);
    assert_true(size > 3600 && size < 5000);
    for (size_t bit = 0; bit < 8 * size; bit += (size_t)step[kind - 1]) {
      good[bit / 8] = (uint8_t)(good[bit / 8] ^ (1u << bit % 8));
      scratch_write(DATA, good, size);
      for (int verify = ASHUF_VERIFY_BEFORE; verify <= ASHUF_VERIFY_TRAILING; verify++) {
        struct row_texts rows;
        if (verify == ASHUF_VERIFY_TRAILING && bit % 29 != 0) continue;
        read_with(verify, 1, &rows);
        expect_caught(&rows, verify, bit / 8, second);
        rows_free(&rows);
      }
      good[bit / 8] = (uint8_t)(good[bit / 8] ^ (1u << bit % 8));
    }
    free(good);
  }
}

static void flip(const char *name, size_t at) {
  size_t size = 0;
  uint8_t *bytes = scratch_read(name, &size);
  assert_non_null(bytes);
  bytes[at] ^= 1;
  scratch_write(name, bytes, size);
  free(bytes);
}

/* A value in the middle of the last block: nothing but the checksum can know. */
static void t27_trailing_tells_behind_the_rows_of_the_partition(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads++) {
    struct row_texts rows;
    size_t size = 0;
    write_output(CHECKSUM_CRC32C);
    free(scratch_read(DATA, &size));
    flip(DATA, size - 400);
    read_with(ASHUF_VERIFY_TRAILING, threads, &rows);
    assert_int_equal(rows.status, ASHUF_CHECKSUM_MISMATCH);
    assert_int_equal(rows.n, 400);
    assert_int_equal(rows.error.partition, 2);
    rows_free(&rows);
    read_with(ASHUF_VERIFY_BEFORE, threads, &rows);
    assert_int_equal(rows.status, ASHUF_CHECKSUM_MISMATCH);
    assert_int_equal(rows.n, 100);
    rows_free(&rows);
    read_with(ASHUF_VERIFY_OFF, threads, &rows);
    assert_int_equal(rows.status, ASHUF_OK);
    rows_free(&rows);
  }
}

static void t27_parts_say_that_they_are_not_verified(void **state) {
  (void)state;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  struct row_texts rows;
  write_output(CHECKSUM_ADLER32);
  options.first_partition = 2;
  options.parts = 2;
  rows_of_files(&path, 1, &options, &rows);
  assert_int_equal(rows.status, ASHUF_OK);
  assert_int_equal(rows.n, 150);
  assert_int_equal(rows.stats.partitions_verified, 0);
  assert_int_equal(rows.stats.partitions_unverified, 1);
  rows_free(&rows);
}

static void entries_that_were_not_computed_are_passed_over(void **state) {
  (void)state;
  struct row_texts rows;
  uint8_t sums[24];
  write_output(CHECKSUM_NONE);
  memset(sums, 0, sizeof sums);
  store_u64_big(sums, (uint64_t)1 << 63);
  store_u64_big(sums + 8, 123); /* of an empty partition */
  store_u64_big(sums + 16, (uint64_t)1 << 63);
  scratch_write(SUMS "ADLER32", sums, sizeof sums);
  read_with(ASHUF_VERIFY_BEFORE, 1, &rows);
  assert_int_equal(rows.status, ASHUF_OK);
  assert_int_equal(rows.n, 400);
  assert_int_equal(rows.stats.partitions_unverified, 2);
  rows_free(&rows);
}

static void a_file_that_cannot_belong_to_the_output_is_an_error_at_open(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 8, 23, 32};
  uint8_t sums[32] = {0};
  struct row_texts rows;
  for (size_t i = 0; i < 4; i++) {
    write_output(CHECKSUM_NONE);
    scratch_write(SUMS "CRC32", sums, sizes[i]);
    read_with(ASHUF_VERIFY_TRAILING, 1, &rows);
    assert_int_equal(rows.status, ASHUF_CHECKSUM_MISMATCH);
    assert_int_equal(rows.n, 0);
    read_with(ASHUF_VERIFY_OFF, 1, &rows);
    assert_int_equal(rows.status, ASHUF_OK);
    rows_free(&rows);
  }
  sums[3] = 1; /* no 32-bit number */
  scratch_write(SUMS "CRC32", sums, 24);
  read_with(ASHUF_VERIFY_BEFORE, 1, &rows);
  assert_int_equal(rows.status, ASHUF_CHECKSUM_MISMATCH);
}

/* A partition larger than what is read at once: read twice, and blocks that straddle pieces. */
static void large_partitions_are_verified_and_read(void **state) {
  (void)state;
  for (int codec = ASHUF_CODEC_NONE; codec <= ASHUF_CODEC_SNAPPY; codec++) {
    if (!ashuf_codec_available(codec)) continue;
    struct block_file file = {0};
    struct row_texts rows;
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    scratch_clear();
    for (int i = 0; i < 90; i++) block_file_put(&file, numbers(i * 9000, 100 + 97 * i), codec);
    size_t size = file.data.size;
    block_file_end_partition(&file);
    block_file_write(&file, "shuffle_2_5_0", CHECKSUM_CRC32);
    read_with(ASHUF_VERIFY_BEFORE, 2, &rows);
    assert_int_equal(rows.status, ASHUF_OK);
    assert_int_equal(rows.n, 90 * 100 + 97 * 89 * 45);
    assert_int_equal(rows.stats.partitions_verified, 1);
    if (size > 600000) assert_true(rows.stats.bytes_read > 2 * size - 300000);
    rows_free(&rows);
    flip(DATA, size - 1000);
    read_with(ASHUF_VERIFY_BEFORE, 1, &rows);
    assert_int_equal(rows.status, ASHUF_CHECKSUM_MISMATCH);
    assert_int_equal(rows.n, 0);
    (void)options;
  }
}

static void a_map_file_says_which_partition_differs(void **state) {
  (void)state;
  ashuf_map_file *file;
  const char *algorithm = "";
  struct ashuf_error error;
  int compared = 7;
  write_output(CHECKSUM_CRC32C);
  flip(DATA, 50);
  assert_int_equal(ashuf_map_file_open(path, NULL, 1, NULL, &file, NULL), ASHUF_OK);
  assert_int_equal(ashuf_map_file_verify(file, 0, &compared, NULL), ASHUF_OK);
  assert_int_equal(compared, 0); /* not loaded yet */
  assert_int_equal(ashuf_map_file_load_checksums(file, &algorithm, NULL), ASHUF_OK);
  assert_string_equal(algorithm, "CRC32C");
  assert_int_equal(ashuf_map_file_verify(file, 0, &compared, &error), ASHUF_CHECKSUM_MISMATCH);
  assert_int_equal(error.partition, 0);
  assert_int_equal(error.block, -1);
  assert_int_equal(error.offset, 0);
  assert_int_equal(ashuf_map_file_verify(file, 1, &compared, NULL), ASHUF_OK);
  assert_int_equal(compared, 0);
  assert_int_equal(ashuf_map_file_verify(file, 2, &compared, NULL), ASHUF_OK);
  assert_int_equal(compared, 1);
  assert_int_equal(ashuf_map_file_verify(file, 3, &compared, NULL), ASHUF_INVALID_ARGUMENT);
  ashuf_map_file_close(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_known_from_elsewhere),
      cmocka_unit_test(sound_bytes_pass_by_every_algorithm),
      cmocka_unit_test(t27_each_flipped_bit_is_caught),
      cmocka_unit_test(t27_trailing_tells_behind_the_rows_of_the_partition),
      cmocka_unit_test(t27_parts_say_that_they_are_not_verified),
      cmocka_unit_test(entries_that_were_not_computed_are_passed_over),
      cmocka_unit_test(a_file_that_cannot_belong_to_the_output_is_an_error_at_open),
      cmocka_unit_test(large_partitions_are_verified_and_read),
      cmocka_unit_test(a_map_file_says_which_partition_differs),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

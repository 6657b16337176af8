/* How much memory a writer takes, by its domain, and how often it writes what rows share. */
#include "shuffle/writer.h"

#include "support/scratch.h"
#include "support/writer_files.h"
#include "support/writer_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const mixed[] = {"i", "l",       "u", "tdD", "d:18,2", "b", "g",         "s",
                                    "l", "tsu:UTC", "u", "i",   "c",      "f", "dict:i(u)", "z"};
#define MIXED (sizeof mixed / sizeof *mixed)

static struct test_column mixed_batch(uint64_t seed, int64_t n) {
  struct test_random random = {seed};
  struct test_column columns[MIXED + 1];
  columns[0] = column_random("k", "l", &random, 0, n);
  for (size_t c = 0; c < MIXED; c++) columns[c + 1] = column_random("c", mixed[c], &random, 10, n);
  return batch_of(columns, MIXED + 1);
}

/* T22 in small: what the codecs take is charged to the domain, too. The library's own 16 MiB for
 * what is being encoded are the bound's, as at the full size. */
static void t22_memory_stays_near_the_limit_whatever_it_is(void **state) {
  (void)state;
  enum { BATCHES = 60, ROWS = 2000 };
  static const uint64_t limits[] = {2 << 20, 8 << 20, 0};
  uint8_t *first = NULL;
  size_t first_size = 0;
  for (int i = 0; i < 3; i++) {
    struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
    struct ashuf_writer_options options = run_options();
    struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
    struct ashuf_error error = {0};
    ashuf_writer *writer = NULL;
    struct test_column model = mixed_batch(1, 0);
    ashuf_partitioner *partitioner = output_partitioner(&model.schema, 200);
    column_free(&model);
    assert_int_equal(ashuf_memory_new(NULL, &options.memory, NULL), ASHUF_OK);
    options.memory_limit = limits[i];
    options.encode.codec =
        ashuf_codec_available(ASHUF_CODEC_LZ4) ? ASHUF_CODEC_LZ4 : ASHUF_CODEC_NONE;
    expect_status(ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA), NULL,
                                          &writer, &error),
                  ASHUF_OK, &error);
    ashuf_partitioner_free(partitioner);
    for (uint64_t b = 0; b < BATCHES; b++) {
      struct ArrowArray array = output_array(mixed_batch(b + 1, ROWS));
      expect_status(ashuf_writer_push(writer, &array, &error), ASHUF_OK, &error);
    }
    expect_status(ashuf_writer_finish(writer, &output, &error), ASHUF_OK, &error);
    assert_int_equal(output.total_rows, BATCHES * ROWS);
    assert_true((output.spills > 0) == (limits[i] != 0));
    ashuf_writer_close(writer);
    ashuf_memory_get_stats(options.memory, &stats);
    if (limits[i] != 0) assert_true(stats.peak <= limits[i] + limits[i] / 20 + (16 << 20));
    ashuf_memory_free(options.memory);
    size_t size;
    uint8_t *bytes = scratch_read(OUTPUT_DATA, &size);
    if (first == NULL) {
      first = bytes;
      first_size = size;
      continue;
    }
    assert_int_equal(size, first_size);
    assert_memory_equal(bytes, first, size);
    free(bytes);
  }
  free(first);
}

/* n views of 64 bytes into one buffer of a thousand values. */
static struct test_column shared_values(int64_t n) {
  enum { VALUES = 1000, SIZE = 64 };
  static char bytes[VALUES * SIZE];
  static const void *const buffers[] = {bytes};
  static const int64_t sizes[] = {sizeof bytes};
  int32_t(*views)[4] = malloc((size_t)n * sizeof *views);
  if (views == NULL) abort();
  for (int i = 0; i < VALUES; i++) {
    char text[SIZE + 1];
    (void)snprintf(text, sizeof text, "%064d", i * 7919);
    memcpy(bytes + i * SIZE, text, SIZE);
  }
  for (int64_t i = 0; i < n; i++) {
    int32_t at = (int32_t)(i * 31 % VALUES) * SIZE;
    views[i][0] = SIZE;
    memcpy(&views[i][1], bytes + at, 4);
    views[i][2] = 0;
    views[i][3] = at;
  }
  struct test_column column = column_views("v", "vu", views, NULL, n, buffers, sizes, 1);
  free(views);
  return batch_of(&column, 1);
}

static void t16_shared_values_are_stored_once_a_block_spilled_or_not(void **state) {
  (void)state;
  enum { BATCHES = 20, ROWS = 50000 };
  for (int spilled = 0; spilled < 2; spilled++) {
    struct ashuf_writer_options options = run_options();
    struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
    struct ashuf_error error = {0};
    ashuf_writer *writer = NULL;
    struct test_column model = shared_values(1);
    ashuf_partitioner *partitioner = output_partitioner(&model.schema, 1);
    column_free(&model);
    options.memory_limit = spilled ? 4 << 20 : 0;
    expect_status(ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA), NULL,
                                          &writer, &error),
                  ASHUF_OK, &error);
    ashuf_partitioner_free(partitioner);
    for (int b = 0; b < BATCHES; b++) {
      struct ArrowArray array = output_array(shared_values(ROWS));
      expect_status(ashuf_writer_push(writer, &array, &error), ASHUF_OK, &error);
    }
    expect_status(ashuf_writer_finish(writer, &output, &error), ASHUF_OK, &error);
    assert_int_equal(output.total_rows, BATCHES * ROWS);
    assert_true((output.spills > 0) == spilled);
    uint64_t once = 16 * (uint64_t)(BATCHES * ROWS) + output.total_blocks * (1000 * 64 + 600);
    assert_true(output.offsets[1] <= once);
    /* Blocks of spill files are small: no more than the values themselves. */
    assert_true(output.disk_spilled < (uint64_t)BATCHES * ROWS * 90);
    ashuf_writer_close(writer);
  }
}

static int count_bytes(void *sum, const void *bytes, size_t size) {
  (void)bytes;
  *(uint64_t *)sum += size;
  return 0;
}

/* n rows of a key and a dictionary's one value of a MiB. */
static struct test_column rows_of_one_value(int64_t n) {
  const size_t size = (size_t)1 << 20;
  char *value = malloc(size + 1);
  int64_t *keys = calloc((size_t)n, sizeof *keys);
  int64_t *zeros = calloc((size_t)n, sizeof *zeros);
  if (value == NULL || keys == NULL || zeros == NULL) abort();
  memset(value, 'v', size);
  value[size] = 0;
  for (int64_t i = 0; i < n; i++) keys[i] = i;
  const char *values[] = {value};
  struct test_column columns[] = {
      column_int64("k", keys, NULL, n),
      column_dictionary("d", "i", zeros, NULL, n, column_strings("", "u", values, 1))};
  free(value);
  free(keys);
  free(zeros);
  return batch_of(columns, 2);
}

/* A row takes a few bytes in memory and a MiB in its block: what is encoded at once is bounded by
 * what comes out. */
static void rows_that_share_a_large_value_stay_within_the_limit(void **state) {
  (void)state;
  enum { ROWS = 300, PARTITIONS = 30 };
  for (int i = 0; i < 4; i++) {
    struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
    struct ashuf_writer_options options = run_options();
    struct ashuf_sink sink = ASHUF_SINK_INIT;
    struct ashuf_error error = {0};
    ashuf_writer *writer = NULL;
    uint64_t bytes = 0;
    struct test_column model = rows_of_one_value(1);
    ashuf_partitioner *partitioner = output_partitioner(&model.schema, PARTITIONS);
    column_free(&model);
    sink.user_data = &bytes;
    sink.bytes = count_bytes;
    assert_int_equal(ashuf_memory_new(NULL, &options.memory, NULL), ASHUF_OK);
    options.threads = 1 + i % 2;
    options.encode.codec = ASHUF_CODEC_NONE;
    options.encode.max_body = (uint64_t)4 << 20;
    options.encode.dictionaries = i < 2 ? ASHUF_DICTIONARIES_PLAIN : ASHUF_DICTIONARIES_KEEP;
    options.memory_limit = 32 << 20;
    expect_status(ashuf_writer_open_sink(partitioner, &options, &sink, &writer, &error), ASHUF_OK,
                  &error);
    ashuf_partitioner_free(partitioner);
    struct ArrowArray array = output_array(rows_of_one_value(ROWS));
    expect_status(ashuf_writer_push(writer, &array, &error), ASHUF_OK, &error);
    expect_status(ashuf_writer_finish(writer, NULL, &error), ASHUF_OK, &error);
    ashuf_writer_close(writer);
    ashuf_memory_get_stats(options.memory, &stats);
    ashuf_memory_free(options.memory);
    assert_true(bytes >= (i < 2 ? (uint64_t)ROWS : (uint64_t)PARTITIONS) << 20);
    assert_true(stats.peak <= (32 << 20) / 20 * 21 + (16 << 20));
  }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(rows_that_share_a_large_value_stay_within_the_limit),
      CASE(t22_memory_stays_near_the_limit_whatever_it_is),
      CASE(t16_shared_values_are_stored_once_a_block_spilled_or_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

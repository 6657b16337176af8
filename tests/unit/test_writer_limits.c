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

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(t22_memory_stays_near_the_limit_whatever_it_is),
      CASE(t16_shared_values_are_stored_once_a_block_spilled_or_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

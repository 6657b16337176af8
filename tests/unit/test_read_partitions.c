/* Ranges of partitions and maps, parts of partitions, blocks put together, threads, limits. */
#include "codec/checksum.h"
#include "support/read_rows.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MAPS 8
#define PARTITIONS 7

static char paths_text[MAPS][768];
static const char *paths[MAPS];

static struct test_column numbers(int64_t first, int64_t n) {
  int64_t *values = malloc(((size_t)n + 1) * sizeof *values);
  if (values == NULL) abort();
  for (int64_t i = 0; i < n; i++) values[i] = first + i;
  struct test_column column = column_int64("v", values, NULL, n);
  free(values);
  return batch_of(&column, 1);
}

/* Row numbers say where a row stands: map, partition, block, row. Partition 4 is empty. */
static int64_t first_of(int map, int partition, int block) {
  return map * 1000000 + partition * 10000 + block * 100;
}

/* Index files of both byte orders stand side by side. */
static void turn_index(const char *name) {
  size_t size;
  uint8_t *bytes = scratch_read(name, &size);
  if (bytes == NULL) abort();
  for (size_t i = 0; i < size; i += 8) {
    uint64_t value;
    memcpy(&value, bytes + i, 8);
    value = __builtin_bswap64(value);
    memcpy(bytes + i, &value, 8);
  }
  scratch_write(name, bytes, size);
  free(bytes);
}

static int setup(void **state) {
  (void)state;
  (void)scratch_begin();
  for (int map = 0; map < MAPS; map++) {
    struct block_file file = {0};
    char stem[64];
    for (int p = 0; p < PARTITIONS; p++) {
      for (int b = 0; p != 4 && b < 5 + map; b++)
        block_file_put(&file, numbers(first_of(map, p, b), 10 + b), ASHUF_CODEC_LZ4);
      block_file_end_partition(&file);
    }
    (void)snprintf(stem, sizeof stem, "shuffle_1_%d_0", map);
    block_file_write(&file, stem, map % 4); /* each algorithm, and none */
    (void)snprintf(stem, sizeof stem, "shuffle_1_%d_0.index", map);
    if (map % 3 == 1) turn_index(stem);
    (void)snprintf(stem, sizeof stem, "shuffle_1_%d_0.data", map);
    (void)snprintf(paths_text[map], sizeof paths_text[map], "%s", scratch_path(stem));
    paths[map] = paths_text[map];
  }
  return 0;
}

static void read_rows(const struct ashuf_read_options *options, struct row_texts *out) {
  rows_of_files(paths, MAPS, options, out);
  assert_int_equal(out->status, ASHUF_OK);
}

/* The rows of maps [m0, m1), partitions [p0, p1), as they should come. */
static void expect_range(const struct row_texts *rows, int m0, int m1, int p0, int p1) {
  size_t at = 0;
  for (int map = m0; map < m1; map++)
    for (int p = p0; p < p1; p++)
      for (int b = 0; p != 4 && b < 5 + map; b++)
        for (int i = 0; i < 10 + b; i++) {
          char text[64];
          uint64_t value = (uint64_t)(first_of(map, p, b) + i);
          int n = snprintf(text, sizeof text, "{x");
          for (int k = 0; k < 8; k++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%02x",
                          (unsigned)(value >> (8 * k)) & 0xff);
          (void)snprintf(text + n, sizeof text - (size_t)n, "}");
          assert_true(at < rows->n);
          assert_string_equal(rows->list[at++], text);
        }
  assert_int_equal(at, rows->n);
}

static void t29_ranges_of_maps_and_partitions_are_exactly_the_rows_asked_for(void **state) {
  (void)state;
  static const int ranges[][4] = {{5, 7, 3, 4}, {0, MAPS, 2, 6}, {0, MAPS, 0, PARTITIONS},
                                  {3, 4, 0, 7}, {7, 8, 6, 7},    {1, 3, 4, 5},
                                  {0, 1, 0, 1}, {0, 1, 6, 7},    {7, 8, 0, 1},
                                  {7, 8, 4, 5}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    const int *r = ranges[i];
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    struct row_texts rows;
    ashuf_schema *schema = NULL;
    struct test_column like = numbers(0, 0);
    assert_int_equal(ashuf_schema_import(&like.schema, NULL, &schema, NULL), ASHUF_OK);
    column_free(&like);
    options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
    options.decode.expected = schema; /* a range may be empty */
    options.first_map = r[0];
    options.end_map = r[1];
    options.first_partition = r[2];
    options.end_partition = r[3];
    read_rows(&options, &rows);
    expect_range(&rows, r[0], r[1], r[2], r[3]);
    rows_free(&rows);
    ashuf_schema_free(schema);
  }
}

static void ranges_that_are_not_there_are_refused(void **state) {
  (void)state;
  static const int64_t maps[][2] = {{0, 9}, {-1, 2}, {5, 4}};
  static const int32_t parts[][2] = {{1, 1}, {-1, 3}, {3, 3}, {1, 0}, {0, -1}};
  struct row_texts rows;
  for (size_t i = 0; i < 3; i++) {
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    options.first_map = maps[i][0];
    options.end_map = maps[i][1];
    rows_of_files(paths, MAPS, &options, &rows);
    assert_int_equal(rows.status, ASHUF_INVALID_ARGUMENT);
  }
  for (size_t i = 0; i < 5; i++) {
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    options.part = parts[i][0];
    options.parts = parts[i][1];
    rows_of_files(paths, MAPS, &options, &rows);
    assert_int_equal(rows.status, ASHUF_INVALID_ARGUMENT);
  }
}

static void t29_parts_of_a_skewed_partition_have_every_row_once(void **state) {
  (void)state;
  struct row_texts whole;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  read_rows(&options, &whole);
  rows_sort(&whole);
  for (int32_t parts = 1; parts <= 40; parts += parts < 6 ? 1 : 17) {
    struct row_texts sum = {0};
    for (int32_t part = 0; part < parts; part++) {
      struct row_texts rows;
      options.parts = parts;
      options.part = part;
      rows_of_files(paths, MAPS, &options, &rows);
      assert_true(rows.status == ASHUF_OK || rows.status == ASHUF_NO_SCHEMA);
      if (parts == 3) assert_true(rows.n > whole.n / 5 && rows.n < whole.n / 2);
      if (parts > 1) assert_int_equal(rows.stats.partitions_verified, 0);
      rows_append(&sum, &rows);
    }
    rows_sort(&sum);
    assert_true(rows_equal(&whole, &sum));
    rows_free(&sum);
  }
  rows_free(&whole);
}

/* Of one partition of one map output: more parts than blocks, and an empty partition. */
static void t29_more_parts_than_blocks(void **state) {
  (void)state;
  for (int64_t p = 3; p <= 4; p++) {
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    ashuf_schema *schema = NULL;
    struct test_column like = numbers(0, 0);
    assert_int_equal(ashuf_schema_import(&like.schema, NULL, &schema, NULL), ASHUF_OK);
    column_free(&like);
    options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
    options.decode.expected = schema;
    options.first_map = 1;
    options.end_map = 2;
    options.first_partition = p;
    options.end_partition = p + 1;
    for (int32_t parts = 5; parts <= 9; parts++) { /* of 6 blocks */
      struct row_texts sum = {0};
      for (int32_t part = 0; part < parts; part++) {
        struct row_texts rows;
        options.parts = parts;
        options.part = part;
        options.threads = 1 + part % 2;
        read_rows(&options, &rows);
        assert_true(rows.batches <= 2);
        rows_append(&sum, &rows);
      }
      expect_range(&sum, 1, 2, (int)p, (int)p + 1);
      rows_free(&sum);
    }
    ashuf_schema_free(schema);
  }
}

static void small_blocks_are_put_together_and_large_ones_come_alone(void **state) {
  (void)state;
  struct row_texts one_by_one;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  read_rows(&options, &one_by_one);
  for (int64_t target = 1; target < 100000; target = target * 3 + 1) {
    struct row_texts rows;
    options.target_rows = target;
    read_rows(&options, &rows);
    assert_true(rows_equal(&one_by_one, &rows));
    assert_true(rows.most <= (target < 21 ? 21 : target));
    if (target >= 40) assert_true(rows.batches < one_by_one.batches);
    if (target > (int64_t)one_by_one.n) assert_int_equal(rows.batches, 1);
    assert_int_equal(rows.stats.blocks, one_by_one.batches);
    rows_free(&rows);
  }
  options.target_rows = 1000000;
  options.target_bytes = 1; /* nothing fits beside anything */
  struct row_texts rows;
  read_rows(&options, &rows);
  assert_int_equal(rows.batches, one_by_one.batches);
  rows_free(&rows);
  rows_free(&one_by_one);
}

static void threads_give_the_same_batches(void **state) {
  (void)state;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  options.target_rows = 64;
  struct row_texts alone;
  read_rows(&options, &alone);
  for (int threads = 2; threads <= 8; threads += 3) {
    for (int small = 0; small < 2; small++) {
      struct row_texts rows;
      options.threads = threads;
      options.ahead_bytes = small ? 1 : 0;
      read_rows(&options, &rows);
      assert_true(rows_equal(&alone, &rows));
      assert_int_equal(rows.batches, alone.batches);
      rows_free(&rows);
    }
  }
  rows_free(&alone);
}

static void t38_a_reader_with_threads_may_be_left_at_any_batch(void **state) {
  (void)state;
  for (int stop = 0; stop < 40; stop += 7) {
    struct ashuf_memory_options memory_options = ASHUF_MEMORY_OPTIONS_INIT;
    struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    ashuf_memory *memory;
    assert_int_equal(ashuf_memory_new(&memory_options, &memory, NULL), ASHUF_OK);
    options.memory = memory;
    options.threads = 3;
    options.target_rows = 30;
    assert_int_equal(ashuf_read_files(paths, MAPS, &options, &stream, NULL), ASHUF_OK);
    for (int i = 0; i < stop; i++) {
      struct ArrowArray batch;
      assert_int_equal(stream.get_next(&stream, &batch), 0);
      batch.release(&batch);
    }
    stream.release(&stream);
    ashuf_memory_get_stats(memory, &stats);
    assert_int_equal(stats.now, 0);
    ashuf_memory_free(memory);
  }
}

static void one_call_reads_many_blocks(void **state) {
  (void)state;
  struct row_texts rows;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  read_rows(&options, &rows);
  assert_true(rows.stats.blocks > 300);
  assert_int_equal(rows.stats.read_calls, MAPS); /* each file is smaller than a piece */
  assert_int_equal(rows.stats.rows, rows.n);
  rows_free(&rows);
}

/* The block at offset, then zeros up to size: a hole. The index makes the hole a partition of its
 * own that nobody reads. */
static uint64_t put_at(int fd, uint64_t offset, struct test_column batch) {
  struct block_file file = {0};
  block_file_put(&file, batch, ASHUF_CODEC_NONE);
  assert_int_equal(pwrite(fd, file.data.data, file.data.size, (off_t)offset),
                   (ssize_t)file.data.size);
  uint64_t size = file.data.size;
  ashuf_buffer_free(&file.data);
  return size;
}

static void put_index(const char *name, const uint64_t *offsets, size_t n) {
  uint8_t bytes[64];
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < 8; k++) bytes[8 * i + (size_t)k] = (uint8_t)(offsets[i] >> (56 - 8 * k));
  scratch_write(name, bytes, 8 * n);
}

static void t30_a_partition_behind_4_gib_is_found(void **state) {
  (void)state;
  const uint64_t far = ((uint64_t)5 << 30) + 12345;
  scratch_write("shuffle_9_0_0.data", "", 0);
  int fd = open(scratch_path("shuffle_9_0_0.data"), O_RDWR);
  assert_true(fd >= 0);
  uint64_t first = put_at(fd, 0, numbers(1, 10));
  uint64_t last = put_at(fd, far, numbers(77, 10));
  const uint64_t offsets[] = {0, first, far, far + last};
  put_index("shuffle_9_0_0.index", offsets, 4);
  (void)close(fd);
  const char *path = scratch_path("shuffle_9_0_0.data");
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  struct row_texts rows;
  options.first_partition = 2;
  options.end_partition = 3;
  rows_of_files(&path, 1, &options, &rows);
  assert_int_equal(rows.status, ASHUF_OK);
  assert_int_equal(rows.n, 10);
  assert_string_equal(rows.list[0], "{x4d00000000000000}");
  assert_true(rows.stats.bytes_read < 4096);
  rows_free(&rows);
  options.first_partition = 1; /* the hole: no block, and where it is said exactly */
  options.end_partition = 2;
  rows_of_files(&path, 1, &options, &rows);
  assert_int_equal(rows.status, ASHUF_BAD_HEADER);
  assert_int_equal(rows.error.block_offset, first);
}

/* 2.1 GiB of blocks that each have 64 MiB of a column that is all null under a hole of zeros. */
static void t30_a_partition_of_more_than_2_gib_is_streamed_within_a_limit(void **state) {
  (void)state;
  enum { BLOCKS = 34 };
  const int64_t n = 8 << 20;
  int64_t *zeros = calloc((size_t)n, sizeof *zeros);
  if (zeros == NULL) abort();
  struct test_column column = column_int64("v", zeros, NULL, n);
  free(zeros);
  struct block_file file = {0};
  block_file_put(&file, batch_of(&column, 1), ASHUF_CODEC_NONE);
  size_t size = file.data.size;
  scratch_write("shuffle_9_1_0.data", "", 0);
  int fd = open(scratch_path("shuffle_9_1_0.data"), O_RDWR);
  assert_true(fd >= 0);
  for (int b = 0; b < BLOCKS; b++) /* the header and metadata; the zeros are the hole */
    assert_int_equal(pwrite(fd, file.data.data, 4096, (off_t)((uint64_t)b * size)), 4096);
  for (int b = 0; b < BLOCKS; b++)
    assert_int_equal(
        pwrite(fd, file.data.data + size - 64, 64, (off_t)((uint64_t)(b + 1) * size - 64)), 64);
  ashuf_buffer_free(&file.data);
  (void)close(fd);
  const uint64_t offsets[] = {0, (uint64_t)BLOCKS * size};
  assert_true(offsets[1] > (uint64_t)1 << 31);
  put_index("shuffle_9_1_0.index", offsets, 2);
  const char *path = scratch_path("shuffle_9_1_0.data");
  struct ashuf_memory_options memory_options = ASHUF_MEMORY_OPTIONS_INIT;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  struct ArrowArrayStream stream;
  memory_options.limit = (uint64_t)160 << 20; /* one batch out, one looked ahead for */
  assert_int_equal(ashuf_memory_new(&memory_options, &options.memory, NULL), ASHUF_OK);
  assert_int_equal(ashuf_read_files(&path, 1, &options, &stream, NULL), ASHUF_OK);
  int64_t rows = 0;
  for (;;) {
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    if (batch.release == NULL) break;
    rows += batch.length;
    batch.release(&batch);
  }
  assert_int_equal(rows, n * BLOCKS);
  stream.release(&stream);
  ashuf_memory_free(options.memory);
}

/* Readers that share one limit: each ends well or says that memory is short; the sum stays below.
 */
static void t36_readers_sharing_a_limit_stay_below_it(void **state) {
  (void)state;
  int good = 0;
  for (uint64_t limit = 64 << 10; limit <= 8 << 20; limit *= 2) {
    struct ashuf_memory_options memory_options = ASHUF_MEMORY_OPTIONS_INIT;
    struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
    ashuf_memory *memory;
    struct ArrowArrayStream streams[2];
    memory_options.limit = limit;
    assert_int_equal(ashuf_memory_new(&memory_options, &memory, NULL), ASHUF_OK);
    int open = 0;
    for (int i = 0; i < 2; i++) {
      struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
      struct ashuf_error error;
      options.memory = memory;
      options.threads = 1 + i;
      options.target_rows = 50;
      ashuf_status status = ashuf_read_files(paths, MAPS, &options, &streams[open], &error);
      if (status == ASHUF_OK)
        open++;
      else
        assert_true(status == ASHUF_MEMORY_LIMIT || status == ASHUF_OUT_OF_MEMORY);
    }
    bool both = open == 2;
    for (int i = 0; i < open; i++) {
      struct row_texts rows;
      rows_of_stream(&streams[i], &rows);
      assert_true(rows.status == ASHUF_OK || rows.status == ASHUF_MEMORY_LIMIT ||
                  rows.status == ASHUF_OUT_OF_MEMORY);
      both = both && rows.status == ASHUF_OK;
      rows_free(&rows);
    }
    good += both;
    ashuf_memory_get_stats(memory, &stats);
    assert_true(stats.peak <= limit);
    assert_int_equal(stats.now, 0);
    ashuf_memory_free(memory);
  }
  assert_true(good >= 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t29_ranges_of_maps_and_partitions_are_exactly_the_rows_asked_for),
      cmocka_unit_test(ranges_that_are_not_there_are_refused),
      cmocka_unit_test(t29_parts_of_a_skewed_partition_have_every_row_once),
      cmocka_unit_test(t29_more_parts_than_blocks),
      cmocka_unit_test(small_blocks_are_put_together_and_large_ones_come_alone),
      cmocka_unit_test(threads_give_the_same_batches),
      cmocka_unit_test(t38_a_reader_with_threads_may_be_left_at_any_batch),
      cmocka_unit_test(one_call_reads_many_blocks),
      cmocka_unit_test(t30_a_partition_behind_4_gib_is_found),
      cmocka_unit_test(t30_a_partition_of_more_than_2_gib_is_streamed_within_a_limit),
      cmocka_unit_test(t36_readers_sharing_a_limit_stay_below_it),
  };
  return cmocka_run_group_tests(tests, setup, scratch_teardown);
}

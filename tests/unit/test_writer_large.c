/* Large outputs of a writer: many blocks of a byte cap, and files of more than 4 GiB. */
#include "shuffle/writer.h"

#include "os/os.h"
#include "support/scratch.h"
#include "support/writer_files.h"
#include "support/writer_runs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void open_stream(int32_t first, int32_t end, struct ArrowArrayStream *stream) {
  static char path[768];
  const char *paths[] = {path};
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  struct ashuf_error error = {0};
  (void)snprintf(path, sizeof path, "%s", scratch_path(OUTPUT_DATA));
  options.first_partition = first;
  options.end_partition = end;
  expect_status(ashuf_read_files(paths, 1, &options, stream, &error), ASHUF_OK, &error);
}

/* ---- T4 ----------------------------------------------------------------------------------- */

enum { WIDTH = 64, MANY = 819200 };

static void width_text(char *out, int64_t row) {
  char text[WIDTH + 1];
  (void)snprintf(text, sizeof text, "%0*lld", WIDTH, (long long)row);
  memcpy(out, text, WIDTH);
}

static struct test_column wide_rows(void) {
  int64_t *offsets = malloc((MANY + 1) * sizeof *offsets);
  char *bytes = malloc((size_t)MANY * WIDTH);
  if (offsets == NULL || bytes == NULL) abort();
  for (int64_t i = 0; i <= MANY; i++) offsets[i] = i * WIDTH;
  for (int64_t i = 0; i < MANY; i++) width_text(bytes + i * WIDTH, i);
  struct test_column column = column_bytes("s", "u", offsets, bytes, NULL, MANY);
  free(offsets);
  free(bytes);
  return batch_of(&column, 1);
}

static void expect_in_order(const struct ArrowArray *column, int64_t first) {
  const int32_t *offsets = column->buffers[1];
  const char *bytes = column->buffers[2];
  for (int64_t i = 0; i < column->length; i++) {
    char text[WIDTH];
    int64_t at = i + column->offset;
    width_text(text, first + i);
    assert_int_equal(offsets[at + 1] - offsets[at], WIDTH);
    assert_memory_equal(bytes + offsets[at], text, WIDTH);
  }
}

static void t4_one_batch_becomes_at_least_fifty_blocks_in_order(void **state) {
  (void)state;
  const uint64_t cap = 1 << 20;
  struct ashuf_writer_options options = run_options();
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_error error = {0};
  struct ArrowArrayStream stream;
  ashuf_writer *writer = NULL;
  struct test_column rows = wide_rows();
  ashuf_partitioner *partitioner = output_partitioner(&rows.schema, 1);
  options.encode.max_rows = 2 * MANY;
  options.encode.max_body = cap;
  expect_status(ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA),
                                        scratch_path(OUTPUT_INDEX), &writer, &error),
                ASHUF_OK, &error);
  ashuf_partitioner_free(partitioner);
  struct ArrowArray array = output_array(rows);
  expect_status(ashuf_writer_push(writer, &array, &error), ASHUF_OK, &error);
  expect_status(ashuf_writer_finish(writer, &output, &error), ASHUF_OK, &error);
  assert_true(output.total_blocks >= 50);
  assert_int_equal(output.total_rows, MANY);
  ashuf_writer_close(writer);
  open_stream(0, 0, &stream);
  int64_t next = 0;
  for (;;) {
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    if (batch.release == NULL) break;
    assert_true((uint64_t)batch.length * WIDTH <= cap);
    expect_in_order(batch.children[0], next);
    next += batch.length;
    batch.release(&batch);
  }
  stream.release(&stream);
  assert_int_equal(next, MANY);
}

/* ---- T30 ---------------------------------------------------------------------------------- */

/* Bytes of zeros become a hole of the file, so that gibibytes of them cost no room. */
static ssize_t write_sparse(int fd, const void *bytes, size_t size) {
  const uint8_t *at = bytes;
  bool zeros = size >= 4096 && at[0] == 0 && memcmp(at, at + 1, size - 1) == 0;
  if (!zeros) return os_system()->write(fd, bytes, size);
  return lseek(fd, (off_t)size, SEEK_CUR) < 0 ? -1 : (ssize_t)size;
}

/* Rows of an int64 key and a text of a mebibyte of zeros, which they share as a dictionary's value
 * until they are written. */
static struct test_column heavy_rows(int64_t n, int64_t size) {
  const int64_t ends[] = {0, size};
  int64_t *keys = calloc((size_t)n, sizeof *keys);
  int64_t *indices = calloc((size_t)n, sizeof *indices);
  char *zeros = calloc((size_t)size, 1);
  if (keys == NULL || indices == NULL || zeros == NULL) abort();
  for (int64_t i = 0; i < n; i++) keys[i] = i;
  struct test_column columns[] = {
      column_int64("k", keys, NULL, n),
      column_dictionary("z", "i", indices, NULL, n, column_bytes("", "u", ends, zeros, NULL, 1))};
  free(keys);
  free(indices);
  free(zeros);
  return batch_of(columns, 2);
}

static ashuf_status write_heavy(struct test_column rows, int32_t partitions,
                                struct ashuf_error *error) {
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  struct ashuf_encode_options encode = ASHUF_ENCODE_OPTIONS_INIT;
  ashuf_writer *writer = NULL;
  ashuf_partitioner *partitioner = output_partitioner(&rows.schema, partitions);
  encode.codec = ASHUF_CODEC_NONE;
  encode.dictionaries = ASHUF_DICTIONARIES_PLAIN;
  options.encode = encode;
  expect_status(ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA),
                                        scratch_path(OUTPUT_INDEX), &writer, error),
                ASHUF_OK, error);
  ashuf_partitioner_free(partitioner);
  struct ArrowArray array = output_array(rows);
  expect_status(ashuf_writer_push(writer, &array, error), ASHUF_OK, error);
  ashuf_status status = ashuf_writer_finish(writer, NULL, error);
  ashuf_writer_close(writer);
  return status;
}

/* The last partition begins behind at_least bytes. */
static void expect_offsets(int32_t partitions, uint64_t at_least) {
  struct stat info;
  size_t size;
  uint8_t *index = scratch_read(OUTPUT_INDEX, &size);
  uint64_t before = 0, last = 0;
  assert_non_null(index);
  assert_int_equal(size, 8 * (partitions + 1));
  for (size_t i = 0; i < size; i += 8) {
    before = last;
    last = 0;
    for (size_t k = 0; k < 8; k++) last = last << 8 | index[i + k];
    assert_true(last >= before);
  }
  free(index);
  assert_int_equal(stat(scratch_path(OUTPUT_DATA), &info), 0);
  assert_int_equal(info.st_size, last);
  assert_true(before > at_least);
}

/* Their values are as long as they should be. */
static int64_t count_rows(int32_t partition, int64_t value_size) {
  struct ArrowArrayStream stream;
  int64_t rows = 0;
  open_stream(partition, partition + 1, &stream);
  for (;;) {
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    if (batch.release == NULL) break;
    rows += batch.length;
    const int32_t *offsets = batch.children[1]->buffers[1];
    assert_int_equal(offsets[batch.length], batch.length * value_size);
    batch.release(&batch);
  }
  stream.release(&stream);
  return rows;
}

static void t30_a_writer_counts_offsets_above_4_gib(void **state) {
  (void)state;
  enum { PARTITIONS = 60, ROWS = 4300 };
  const int64_t size = 1 << 20;
  struct ashuf_error error = {0};
  struct os_calls calls = *os_system();
  calls.write = write_sparse;
  os_replace(&calls);
  ashuf_status status = write_heavy(heavy_rows(ROWS, size), PARTITIONS, &error);
  os_replace(NULL);
  if (status == ASHUF_IO && (error.os_errno == EFBIG || error.os_errno == ENOSPC)) skip();
  expect_status(status, ASHUF_OK, &error);
  expect_offsets(PARTITIONS, (uint64_t)4 << 30);
  assert_true(count_rows(0, size) > 0);
  assert_true(count_rows(PARTITIONS - 1, size) > 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(t4_one_batch_becomes_at_least_fifty_blocks_in_order),
      CASE(t30_a_writer_counts_offsets_above_4_gib),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

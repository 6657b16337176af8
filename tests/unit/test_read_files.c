/* Many map outputs as one stream: order, ranges, one schema, errors that stay. */
#include "shuffle/reader.h"

#include "arrow/stream.h"
#include "support/fault.h"
#include "support/map_outputs.h"
#include "support/os_faults.h"
#include "support/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARTITIONS 4

static char paths_text[3][768];
static const char *paths[3] = {paths_text[0], paths_text[1], paths_text[2]};

/* shuffle_1_<map>_0: rows [map * 1000, map * 1000 + n) in blocks of at most 50. */
static void write_output(int map, struct test_column batch) {
  char data[64];
  char index[64];
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  ashuf_partitioner *partitioner = output_partitioner(&batch.schema, PARTITIONS);
  ashuf_writer *writer;
  (void)snprintf(data, sizeof data, "shuffle_1_%d_0.data", map);
  (void)snprintf(index, sizeof index, "shuffle_1_%d_0.index", map);
  (void)snprintf(paths_text[map], sizeof paths_text[map], "%s", scratch_path(data));
  options.encode = (struct ashuf_encode_options)ASHUF_ENCODE_OPTIONS_INIT;
  options.encode.max_rows = 50;
  assert_int_equal(ashuf_writer_open_files(partitioner, &options, paths[map], scratch_path(index),
                                           &writer, NULL),
                   ASHUF_OK);
  ashuf_partitioner_free(partitioner);
  struct ArrowArray array = output_array(batch);
  assert_int_equal(ashuf_writer_push(writer, &array, NULL), ASHUF_OK);
  assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_OK);
  ashuf_writer_close(writer);
}

static int setup(void **state) {
  (void)state;
  (void)scratch_begin();
  for (int map = 0; map < 3; map++) write_output(map, output_batch(map * 1000, 500));
  return 0;
}
/* Rows of a stream until its end; -1 where it fails. Releases the stream. */
static int64_t drain(struct ArrowArrayStream *stream) {
  int64_t rows = 0;
  for (;;) {
    struct ArrowArray batch;
    if (stream->get_next(stream, &batch) != 0) {
      rows = -1;
      break;
    }
    if (batch.release == NULL) break;
    rows += batch.length;
    batch.release(&batch);
  }
  stream->release(stream);
  return rows;
}

static int64_t count(const char *const *some, size_t n, int64_t first, int64_t end) {
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  struct ArrowArrayStream stream;
  options.first_partition = first;
  options.end_partition = end;
  assert_int_equal(ashuf_read_files(some, n, &options, &stream, NULL), ASHUF_OK);
  return drain(&stream);
}

static void all_rows_of_all_files_come_out(void **state) {
  (void)state;
  assert_int_equal(count(paths, 3, 0, 0), 1500);
  assert_int_equal(count(paths, 1, 0, 0), 500);
}

static void partitions_add_up_to_the_whole(void **state) {
  (void)state;
  int64_t sum = 0;
  for (int64_t p = 0; p < PARTITIONS; p++) sum += count(paths, 3, p, p + 1);
  assert_int_equal(sum, 1500);
  assert_int_equal(count(paths, 3, 0, 1) + count(paths, 3, 1, 0), 1500);
  assert_int_equal(count(paths, 3, 1, 3), count(paths, 3, 1, 2) + count(paths, 3, 2, 3));
}

static void files_come_in_order_then_partitions_then_blocks(void **state) {
  (void)state;
  struct ArrowArrayStream stream;
  int64_t map = 0;
  int64_t before = -1;
  assert_int_equal(ashuf_read_files(paths, 3, NULL, &stream, NULL), ASHUF_OK);
  for (;;) {
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    if (batch.release == NULL) break;
    assert_true(batch.length <= 50);
    const struct ArrowArray *keys = batch.children[0];
    const int64_t *values = keys->buffers[1]; /* 0: a null */
    for (int64_t i = 0; i < batch.length; i++) {
      if (values[i] == 0) continue;
      int64_t row = values[i] / 31;
      assert_true(row / 1000 == map || (row / 1000 == map + 1 && before >= 0));
      map = row / 1000;
      before = row;
    }
    batch.release(&batch);
  }
  assert_int_equal(map, 2);
  stream.release(&stream);
}

static void the_schema_is_that_of_the_blocks_and_lives_on_its_own(void **state) {
  (void)state;
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  assert_int_equal(ashuf_read_files(paths, 3, NULL, &stream, NULL), ASHUF_OK);
  assert_int_equal(stream.get_schema(&stream, &schema), 0);
  assert_null(stream.get_last_error(&stream));
  stream.release(&stream);
  assert_null(stream.release);
  assert_int_equal(schema.n_children, 3);
  assert_string_equal(schema.children[1]->name, "s");
  assert_string_equal(schema.children[2]->format, "+l");
  schema.release(&schema);
}

static void t38_a_reader_abandoned_half_way_leaks_nothing(void **state) {
  (void)state;
  ashuf_memory *memory;
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  for (int batches = 0; batches < 3; batches++) {
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    struct ArrowArray kept[3];
    options.memory = memory;
    os_faults_start(FAULT_NONE, 0, 0);
    assert_int_equal(ashuf_read_files(paths, 3, &options, &stream, NULL), ASHUF_OK);
    assert_true(os_faults_open() <= 1);
    for (int i = 0; i < batches; i++) assert_int_equal(stream.get_next(&stream, &kept[i]), 0);
    stream.release(&stream);
    assert_int_equal(os_faults_open(), 0);
    for (int i = 0; i < batches; i++) kept[i].release(&kept[i]); /* after the stream */
    ashuf_memory_get_stats(memory, &stats);
    assert_int_equal(stats.now, 0);
  }
  ashuf_memory_free(memory);
}

/* ---- Schemas ------------------------------------------------------------------------------ */

static ashuf_schema *import(struct test_column batch) {
  ashuf_schema *schema;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  column_free(&batch);
  return schema;
}

static struct test_column one_int32(void) {
  static const int32_t values[] = {1, 2, 3};
  struct test_column column = column_int32("k", values, NULL, 3);
  return batch_of(&column, 1);
}

static void nothing_to_read_needs_an_expected_schema(void **state) {
  (void)state;
  struct ArrowArrayStream stream = {0};
  struct ashuf_error error;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  write_output(0, output_batch(0, 0));
  assert_int_equal(ashuf_read_files(paths, 1, NULL, &stream, &error), ASHUF_NO_SCHEMA);
  assert_int_equal(ashuf_read_files(NULL, 0, NULL, &stream, &error), ASHUF_NO_SCHEMA);
  assert_null(stream.release);
  options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
  ashuf_schema *expected = import(output_batch(0, 1));
  options.decode.expected = expected;
  assert_int_equal(ashuf_read_files(paths, 1, &options, &stream, &error), ASHUF_OK);
  ashuf_schema_free(expected); /* the stream holds its own reference */
  struct ArrowSchema schema;
  assert_int_equal(stream.get_schema(&stream, &schema), 0);
  assert_int_equal(schema.n_children, 3);
  schema.release(&schema);
  assert_int_equal(drain(&stream), 0);
}

static void a_file_of_another_schema_is_an_error_that_stays(void **state) {
  (void)state;
  struct ArrowArrayStream stream;
  struct ashuf_error error = {0};
  struct ArrowArray batch;
  write_output(1, one_int32());
  assert_int_equal(ashuf_read_files(paths, 3, NULL, &stream, NULL), ASHUF_OK);
  assert_int_equal(ashuf_stream_get_error(&stream, &error), 0);
  int code;
  while ((code = stream.get_next(&stream, &batch)) == 0) {
    assert_non_null(batch.release);
    batch.release(&batch);
  }
  assert_int_equal(code, EINVAL);
  assert_int_equal(ashuf_stream_get_error(&stream, &error), 1);
  assert_int_equal(error.status, ASHUF_SCHEMA_MISMATCH);
  assert_int_equal(error.map, 1);
  assert_string_equal(stream.get_last_error(&stream), error.message);
  assert_int_equal(stream.get_next(&stream, &batch), EINVAL);
  stream.release(&stream);
}

static void an_expected_schema_holds_for_the_first_block(void **state) {
  (void)state;
  struct ArrowArrayStream stream;
  struct ashuf_error error = {0};
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  ashuf_schema *expected = import(one_int32());
  options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
  options.decode.expected = expected;
  assert_int_equal(ashuf_read_files(paths, 3, &options, &stream, &error), ASHUF_SCHEMA_MISMATCH);
  ashuf_schema_free(expected);
}

/* ---- Damage ------------------------------------------------------------------------------- */

static void t28_every_index_is_checked_before_reading(void **state) {
  (void)state;
  struct ArrowArrayStream stream;
  struct ashuf_error error;
  scratch_write("shuffle_1_2_0.index", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
  assert_int_equal(ashuf_read_files(paths, 3, NULL, &stream, &error), ASHUF_BAD_INDEX);
  assert_int_equal(error.map, 2);
  scratch_write("shuffle_1_2_0.index", "", 0);
  assert_int_equal(ashuf_read_files(paths, 3, NULL, &stream, &error), ASHUF_BAD_INDEX);
  assert_int_equal(remove(scratch_path("shuffle_1_2_0.index")), 0);
  assert_int_equal(ashuf_read_files(paths, 3, NULL, &stream, &error), ASHUF_IO);
  assert_int_equal(error.os_errno, ENOENT);
}

static void partitions_that_are_not_there_are_refused(void **state) {
  (void)state;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  struct ArrowArrayStream stream;
  options.first_partition = 1;
  options.end_partition = PARTITIONS + 1;
  assert_int_equal(ashuf_read_files(paths, 3, &options, &stream, NULL), ASHUF_INVALID_ARGUMENT);
  options.first_partition = -1;
  options.end_partition = 0;
  assert_int_equal(ashuf_read_files(paths, 3, &options, &stream, NULL), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_read_files(NULL, 3, NULL, &stream, NULL), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_read_files(paths, 3, NULL, NULL, NULL), ASHUF_INVALID_ARGUMENT);
}

static void damage_in_the_middle_ends_the_stream_with_its_place(void **state) {
  (void)state;
  struct ArrowArrayStream stream;
  struct ashuf_error error = {0};
  size_t size;
  uint8_t *bytes = scratch_read("shuffle_1_1_0.data", &size);
  assert_non_null(bytes);
  memset(bytes + 16, 'X', 4);
  scratch_write("shuffle_1_1_0.data", bytes, size);
  free(bytes);
  assert_int_equal(ashuf_read_files(paths, 3, NULL, &stream, NULL), ASHUF_OK);
  struct ArrowArray batch;
  int64_t rows = 0;
  while (stream.get_next(&stream, &batch) == 0) {
    assert_non_null(batch.release);
    rows += batch.length;
    batch.release(&batch);
  }
  assert_int_equal(rows, 500);
  assert_int_equal(ashuf_stream_get_error(&stream, &error), 1);
  assert_int_equal(error.status, ASHUF_UNKNOWN_CODEC);
  assert_int_equal(error.map, 1);
  assert_int_equal(error.block, 0);
  stream.release(&stream);
}

static int foreign_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  (void)stream;
  (void)out;
  return EIO;
}
static int foreign_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  (void)stream;
  (void)out;
  return EIO;
}
static const char *foreign_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return "foreign";
}
static void foreign_release(struct ArrowArrayStream *stream) { stream->release = NULL; }

static void a_stream_of_others_has_no_error_of_ours(void **state) {
  (void)state;
  struct ashuf_error error;
  struct ArrowArrayStream stream = {foreign_get_schema, foreign_get_next, foreign_error,
                                    foreign_release, NULL};
  assert_int_equal(ashuf_stream_get_error(&stream, &error), 0);
  stream.release = NULL;
  assert_int_equal(ashuf_stream_get_error(&stream, &error), 0);
  assert_int_equal(ashuf_stream_get_error(NULL, &error), 0);
}

/* ---- Faults ------------------------------------------------------------------------------- */

static ashuf_status read_all(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  (void)data;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  struct ArrowArrayStream stream;
  options.memory = memory;
  ashuf_status status = ashuf_read_files(paths, 2, &options, &stream, error);
  if (status != ASHUF_OK) return status;
  for (;;) {
    struct ArrowArray batch;
    if (stream.get_next(&stream, &batch) != 0) {
      struct ashuf_error failure;
      assert_int_equal(ashuf_stream_get_error(&stream, &failure), 1);
      if (error != NULL) *error = failure;
      status = failure.status;
      break;
    }
    if (batch.release == NULL) break;
    batch.release(&batch);
  }
  stream.release(&stream);
  return status;
}

static void every_failed_call_ends_the_stream_with_an_error(void **state) {
  (void)state;
  os_faults_start(FAULT_NONE, 0, 0);
  assert_int_equal(read_all(NULL, NULL, NULL), ASHUF_OK);
  int n = os_faults_calls();
  for (int i = 1; i <= n; i++) {
    os_faults_start(FAULT_ERROR, i, EIO);
    ashuf_status status = read_all(NULL, NULL, NULL);
    assert_int_equal(status, strcmp(os_faults_name(), "close") == 0 ? ASHUF_OK : ASHUF_IO);
    assert_int_equal(os_faults_open(), 0);
  }
}

/* A memory limit a little higher each time: a clean refusal, or all of it. */
static void every_memory_limit_is_success_or_an_error_without_a_leak(void **state) {
  (void)state;
  ashuf_status status = ASHUF_MEMORY_LIMIT;
  for (uint64_t limit = 64; status != ASHUF_OK; limit += limit / 8) {
    struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
    struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
    ashuf_memory *memory;
    options.limit = limit;
    assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
    status = read_all(memory, NULL, NULL);
    /* The size behind a refusal may be an estimate, so that either name is fair. */
    assert_true(status == ASHUF_OK || status == ASHUF_MEMORY_LIMIT ||
                status == ASHUF_OUT_OF_MEMORY);
    ashuf_memory_get_stats(memory, &stats);
    assert_int_equal(stats.now, 0);
    ashuf_memory_free(memory);
  }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(all_rows_of_all_files_come_out),
      TEST(partitions_add_up_to_the_whole),
      TEST(files_come_in_order_then_partitions_then_blocks),
      TEST(the_schema_is_that_of_the_blocks_and_lives_on_its_own),
      TEST(t38_a_reader_abandoned_half_way_leaks_nothing),
      TEST(nothing_to_read_needs_an_expected_schema),
      TEST(a_file_of_another_schema_is_an_error_that_stays),
      TEST(an_expected_schema_holds_for_the_first_block),
      TEST(t28_every_index_is_checked_before_reading),
      TEST(partitions_that_are_not_there_are_refused),
      TEST(damage_in_the_middle_ends_the_stream_with_its_place),
      TEST(a_stream_of_others_has_no_error_of_ours),
      TEST(every_failed_call_ends_the_stream_with_an_error),
      TEST(every_memory_limit_is_success_or_an_error_without_a_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

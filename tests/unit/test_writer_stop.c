/* A writer left, cancelled, or let down by its sink: nothing stays behind. */
#include "shuffle/writer.h"

#include "support/map_outputs.h"
#include "support/scratch.h"
#include "support/writer_files.h"
#include "support/writer_runs.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void t38_a_writer_left_half_way_leaves_nothing(void **state) {
  (void)state;
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  struct ashuf_writer_options options = run_options();
  assert_int_equal(ashuf_memory_new(NULL, &options.memory, NULL), ASHUF_OK);
  options.threads = 2;
  ashuf_writer *writer = files_open(&options, 3, OUTPUT_INDEX);
  files_push(writer, 0, 1000);
  ashuf_writer_request_spill(writer);
  files_push(writer, 1000, 1000);
  ashuf_writer_close(writer);
  ashuf_memory_get_stats(options.memory, &stats);
  assert_int_equal(stats.now, 0);
  assert_int_equal(scratch_count(), 0);
  ashuf_memory_free(options.memory);
}

/* A sink one of whose callbacks fails at the nth call. */
struct failing {
  int which;
  int left;
  int aborted;
};
static int fail_if(struct failing *failing, int which) {
  return failing->which == which && --failing->left == 0 ? EDQUOT : 0;
}
static int fail_begin(void *data, int32_t partition) {
  (void)partition;
  return fail_if(data, 0);
}
static int fail_bytes(void *data, const void *bytes, size_t size) {
  (void)bytes;
  (void)size;
  return fail_if(data, 1);
}
static int fail_end(void *data, int32_t partition, uint64_t size, uint32_t checksum) {
  (void)partition;
  (void)checksum;
  assert_true(size > 0);
  return fail_if(data, 2);
}
static int fail_finish(void *data, const struct ashuf_map_output *output) {
  (void)output;
  return fail_if(data, 3);
}
static void fail_abort(void *data) {
  struct failing *failing = data;
  failing->aborted++;
}

static void t38_a_sink_that_fails_is_aborted_once(void **state) {
  (void)state;
  for (int which = 0; which < 4; which++) {
    struct failing failing = {which, which == 3 ? 1 : 3, 0};
    struct ashuf_sink sink = {sizeof sink, &failing,    fail_begin, fail_bytes,
                              fail_end,    fail_finish, fail_abort};
    struct ashuf_writer_options options = run_options();
    struct ashuf_error error = {0};
    ashuf_writer *writer = NULL;
    ashuf_partitioner *partitioner = files_partitioner(20);
    options.threads = 1 + which % 2;
    assert_int_equal(ashuf_writer_open_sink(partitioner, &options, &sink, &writer, NULL), ASHUF_OK);
    ashuf_partitioner_free(partitioner);
    files_push(writer, 0, 1000);
    expect_status(ashuf_writer_finish(writer, NULL, &error), ASHUF_IO, &error);
    assert_int_equal(error.os_errno, EDQUOT);
    assert_int_equal(failing.aborted, 1);
    assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_INVALID_STATE);
    ashuf_writer_close(writer);
    assert_int_equal(failing.aborted, 1);
  }
}

static void *cancel_soon(void *writer) {
  (void)usleep(2000);
  ashuf_writer_cancel(writer);
  return NULL;
}

static void another_thread_cancels(void **state) {
  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    struct ashuf_writer_options options = run_options();
    struct ashuf_error error = {0};
    pthread_t other;
    ashuf_status status = ASHUF_OK;
    options.threads = threads;
    options.memory_limit = 1 << 20;
    ashuf_writer *writer = files_open(&options, 10, OUTPUT_INDEX);
    assert_int_equal(pthread_create(&other, NULL, cancel_soon, writer), 0);
    while (status == ASHUF_OK) {
      struct ArrowArray array = output_array(output_batch(0, 1000));
      status = ashuf_writer_push(writer, &array, &error);
      if (array.release != NULL) array.release(&array);
    }
    expect_status(status, ASHUF_CANCELLED, &error);
    assert_int_equal(pthread_join(other, NULL), 0);
    ashuf_writer_close(writer);
    writer = files_open(&options, 10, OUTPUT_INDEX);
    files_push(writer, 0, 1000);
    ashuf_writer_cancel(writer);
    expect_status(ashuf_writer_finish(writer, NULL, &error), ASHUF_CANCELLED, &error);
    ashuf_writer_close(writer);
    assert_int_equal(scratch_count(), 0);
  }
}

/* ---- Batches that are not what was declared ------------------------------------------------ */

/* The third batch has a null where none may be: it stays the caller's, and the error names it. */
static void t33_a_null_in_a_non_null_column_is_an_error_that_names_the_column(void **state) {
  (void)state;
  static const int64_t values[] = {1, 2, 3};
  for (int spilled = 0; spilled < 2; spilled++) {
    ashuf_writer *writer = NULL;
    struct ashuf_writer_options options = run_options();
    struct ashuf_error error = {0};
    options.memory_limit = spilled ? 1 : 0;
    for (int i = 0; i < 3; i++) {
      struct test_column column = column_int64("must", values, i == 2 ? "101" : NULL, 3);
      column.schema.flags = 0;
      struct test_column batch = batch_of(&column, 1);
      if (writer == NULL) {
        ashuf_partitioner *partitioner = output_partitioner(&batch.schema, 4);
        expect_status(ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA),
                                              scratch_path(OUTPUT_INDEX), &writer, &error),
                      ASHUF_OK, &error);
        ashuf_partitioner_free(partitioner);
      }
      struct ArrowArray array = output_array(batch);
      expect_status(ashuf_writer_push(writer, &array, &error),
                    i == 2 ? ASHUF_SCHEMA_MISMATCH : ASHUF_OK, &error);
      if (array.release != NULL) array.release(&array);
    }
    assert_non_null(strstr(error.message, "\"must\""));
    ashuf_writer_close(writer);
    assert_int_equal(scratch_count(), 0);
  }
}

/* What a batch that is not what was declared has, or lacks. */
static void other_shape(struct ArrowArray *batch, int what) {
  static const void *none[3];
  switch (what) {
    case 0:
      batch->n_children = 2;
      break;
    case 1:
      batch->children[0]->n_buffers = 3;
      break;
    case 2:
      batch->children[1]->n_buffers = 2;
      break;
    case 3:
      batch->children[1]->buffers = none;
      break;
    case 4:
      batch->children[2]->n_children = 0;
      break;
    case 5:
      batch->children[2]->length--;
      break;
    case 6:
      batch->children[2]->children[0]->n_buffers = 1;
      break;
    case 7:
      batch->children[0]->offset = -1;
      break;
    default:
      batch->children[0]->dictionary = batch->children[1];
      break;
  }
}

/* The error names the column, the batch stays the caller's, and the rows before it are kept. */
static void t33_a_batch_of_another_shape_is_an_error_that_names_the_column(void **state) {
  (void)state;
  static const char *const names[] = {"",      "\"k\"", "\"s\"", "\"s\"", "\"l\"",
                                      "\"l\"", "\"l",   "\"k\"", "\"k\""};
  for (int what = 0; what < 9; what++) {
    struct ashuf_writer_options options = run_options();
    struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
    struct ashuf_error error = {0};
    options.memory_limit = what % 2 ? 1 : 0;
    ashuf_writer *writer = files_open(&options, 3, OUTPUT_INDEX);
    files_push(writer, 0, 10);
    struct test_column batch = output_batch(10, 10);
    struct ArrowArray array = batch.array;
    struct ArrowArray saved[4] = {array, *array.children[0], *array.children[1],
                                  *array.children[2]};
    struct ArrowArray item = *array.children[2]->children[0];
    other_shape(&array, what);
    ashuf_status status = ashuf_writer_push(writer, &array, &error);
    for (int i = 0; i < 3; i++) *batch.array.children[i] = saved[i + 1];
    *batch.array.children[2]->children[0] = item;
    expect_status(status, ASHUF_BAD_ARRAY, &error);
    assert_non_null(array.release);
    if (strstr(error.message, names[what]) == NULL) fail_msg("%d: %s", what, error.message);
    column_free(&batch);
    expect_status(ashuf_writer_finish(writer, &output, &error), ASHUF_OK, &error);
    assert_int_equal(output.total_rows, 10);
    ashuf_writer_close(writer);
    scratch_clear();
  }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(t38_a_writer_left_half_way_leaves_nothing),
      CASE(t38_a_sink_that_fails_is_aborted_once),
      CASE(another_thread_cancels),
      CASE(t33_a_null_in_a_non_null_column_is_an_error_that_names_the_column),
      CASE(t33_a_batch_of_another_shape_is_an_error_that_names_the_column),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

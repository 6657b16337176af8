/* Arrow IPC streams written by the library and read back, from files and through pipes. */
#include "ipc/stream_writer.h"
#include "support/fault.h"
#include "support/ipc_streams.h"
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

static void write_batches(const char *name, const struct test_column *batches, size_t n) {
  struct ashuf_buffer bytes = ASHUF_BUFFER_INIT;
  ipc_stream_of(batches, n, &bytes);
  scratch_write(name, bytes.data, bytes.size);
  ashuf_buffer_free(&bytes);
}

static struct test_column random_batch(const char *type, uint64_t seed, int nulls, int64_t n) {
  struct test_random random = {seed};
  struct test_column column = column_random("c", type, &random, nulls, n);
  return batch_of(&column, 1);
}

static void every_type_comes_back(void **state) {
  (void)state;
  for (size_t i = 0; test_types[i] != NULL; i++) {
    struct test_column batches[3] = {random_batch(test_types[i], i, 25, 40),
                                     random_batch(test_types[i], i + 100, 0, 7),
                                     random_batch(test_types[i], i + 200, 100, 9)};
    write_batches("types.arrows", batches, 3);
    if (expect_ipc_rows(scratch_path("types.arrows"), batches, 3) != 3)
      fail_msg("%s", test_types[i]);
    for (size_t k = 0; k < 3; k++) column_free(&batches[k]);
  }
}

static void slices_and_empty_batches_come_back(void **state) {
  (void)state;
  for (size_t i = 0; test_types[i] != NULL; i++) {
    struct test_column batches[3] = {random_batch(test_types[i], i, 25, 100),
                                     random_batch(test_types[i], i + 1, 25, 0),
                                     random_batch(test_types[i], i + 2, 25, 100)};
    column_slice(&batches[0], 13, 50);
    column_slice(&batches[2], 99, 1);
    write_batches("slices.arrows", batches, 3);
    assert_int_equal(expect_ipc_rows(scratch_path("slices.arrows"), batches, 3), 3);
    for (size_t k = 0; k < 3; k++) column_free(&batches[k]);
  }
}

static void rows_without_columns_come_back(void **state) {
  (void)state;
  struct test_column batch = batch_of_nothing(5);
  int64_t rows = 0;
  struct ashuf_error error;
  write_batches("nothing.arrows", &batch, 1);
  assert_int_equal(ipc_read_rows(scratch_path("nothing.arrows"), NULL, &rows, &error), ASHUF_OK);
  assert_int_equal(rows, 5);
  column_free(&batch);
}

static void a_stream_without_batches_has_its_schema(void **state) {
  (void)state;
  struct test_column batch = random_batch("i", 1, 0, 3);
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray array;
  write_batches("empty.arrows", &batch, 0);
  assert_int_equal(ashuf_ipc_read_path(scratch_path("empty.arrows"), NULL, &stream, NULL),
                   ASHUF_OK);
  assert_int_equal(stream.get_schema(&stream, &schema), 0);
  assert_int_equal(schema.n_children, 1);
  assert_string_equal(schema.children[0]->name, "c");
  for (int i = 0; i < 2; i++) {
    assert_int_equal(stream.get_next(&stream, &array), 0);
    assert_null(array.release);
  }
  assert_null(stream.get_last_error(&stream));
  schema.release(&schema);
  stream.release(&stream);
  column_free(&batch);
}

struct measured {
  size_t largest;
  size_t total;
};

static int measure(void *user_data, const void *data, size_t size) {
  struct measured *measured = user_data;
  (void)data;
  if (size > measured->largest) measured->largest = size;
  measured->total += size;
  return 0;
}

/* 48 MB of rows are never in memory as one message, and none is lost at a cut. */
static void a_large_batch_goes_out_in_messages(void **state) {
  (void)state;
  enum { ROWS = 300000 };
  struct test_column columns[2] = {{.array = {0}}, {.array = {0}}};
  struct test_random random = {9};
  columns[0] = column_random("w", "w:150", &random, 10, ROWS);
  columns[1] = column_random("i", "l", &random, 10, ROWS);
  struct test_column batch = batch_of(columns, 2);
  struct measured measured = {0, 0};
  ashuf_schema *schema;
  ashuf_ipc_writer *writer;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  assert_int_equal(ashuf_ipc_writer_new(schema, NULL, measure, &measured, &writer, NULL), ASHUF_OK);
  assert_int_equal(ashuf_ipc_writer_write(writer, &batch.array, NULL), ASHUF_OK);
  ashuf_ipc_writer_free(writer);
  ashuf_schema_free(schema);
  assert_in_range(measured.total, (size_t)ROWS * 158, (size_t)ROWS * 160);
  assert_in_range(measured.largest, WRITER_MAX_BODY / 3, WRITER_MAX_BODY + 4096);
  write_batches("large.arrows", &batch, 1);
  assert_in_range(expect_ipc_rows(scratch_path("large.arrows"), &batch, 1), 3, 8);
  column_free(&batch);
}

/* ---- What writing refuses ----------------------------------------------------------------- */

static int calls_left;
static int fail_later(void *user_data, const void *data, size_t size) {
  (void)user_data;
  (void)data;
  (void)size;
  return calls_left-- > 0 ? 0 : ENOSPC;
}

static void a_failed_write_ends_the_stream(void **state) {
  (void)state;
  struct test_column batch = random_batch("u", 1, 10, 20);
  struct ashuf_error error;
  ashuf_schema *schema;
  ashuf_ipc_writer *writer = NULL;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  calls_left = 0;
  assert_int_equal(ashuf_ipc_writer_new(schema, NULL, fail_later, NULL, &writer, &error), ASHUF_IO);
  assert_int_equal(error.os_errno, ENOSPC);
  assert_null(writer);
  calls_left = 1;
  assert_int_equal(ashuf_ipc_writer_new(schema, NULL, fail_later, NULL, &writer, &error), ASHUF_OK);
  assert_int_equal(ashuf_ipc_writer_write(writer, &batch.array, &error), ASHUF_IO);
  assert_int_equal(error.os_errno, ENOSPC);
  assert_int_equal(ashuf_ipc_writer_write(writer, &batch.array, &error), ASHUF_INVALID_STATE);
  assert_int_equal(ashuf_ipc_writer_finish(writer, &error), ASHUF_INVALID_STATE);
  ashuf_ipc_writer_free(writer);
  ashuf_schema_free(schema);
  column_free(&batch);
}

static void a_finished_stream_takes_no_more(void **state) {
  (void)state;
  struct test_column batch = random_batch("i", 1, 10, 20);
  struct measured measured = {0, 0};
  ashuf_schema *schema;
  ashuf_ipc_writer *writer;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  assert_int_equal(ashuf_ipc_writer_new(schema, NULL, measure, &measured, &writer, NULL), ASHUF_OK);
  assert_int_equal(ashuf_ipc_writer_finish(writer, NULL), ASHUF_OK);
  assert_int_equal(ashuf_ipc_writer_finish(writer, NULL), ASHUF_INVALID_STATE);
  assert_int_equal(ashuf_ipc_writer_write(writer, &batch.array, NULL), ASHUF_INVALID_STATE);
  ashuf_ipc_writer_free(writer);
  ashuf_schema_free(schema);
  column_free(&batch);
}

/* A batch that does not fit the schema writes nothing, so the stream goes on. */
static void a_wrong_batch_leaves_the_stream_usable(void **state) {
  (void)state;
  struct test_column batch = random_batch("i", 1, 10, 20);
  struct test_column other = random_batch("u", 1, 10, 20);
  struct measured measured = {0, 0};
  ashuf_schema *schema;
  ashuf_ipc_writer *writer;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  assert_int_equal(ashuf_ipc_writer_new(schema, NULL, measure, &measured, &writer, NULL), ASHUF_OK);
  size_t before = measured.total;
  assert_int_equal(ashuf_ipc_writer_write(writer, &other.array, NULL), ASHUF_BAD_ARRAY);
  assert_int_equal(measured.total, before);
  assert_int_equal(ashuf_ipc_writer_write(writer, &batch.array, NULL), ASHUF_OK);
  assert_int_equal(ashuf_ipc_writer_finish(writer, NULL), ASHUF_OK);
  ashuf_ipc_writer_free(writer);
  ashuf_schema_free(schema);
  column_free(&batch);
  column_free(&other);
}

static void missing_arguments_are_told(void **state) {
  (void)state;
  struct ArrowArrayStream stream;
  assert_int_equal(ashuf_ipc_read_path(NULL, NULL, &stream, NULL), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_ipc_read_path("x", NULL, NULL, NULL), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_ipc_writer_write(NULL, NULL, NULL), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_ipc_writer_finish(NULL, NULL), ASHUF_INVALID_ARGUMENT);
  ashuf_ipc_writer_free(NULL);
}

/* ---- Memory ------------------------------------------------------------------------------- */

static ashuf_status write_with(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  const struct test_column *batch = data;
  struct measured measured = {0, 0};
  ashuf_schema *schema = NULL;
  ashuf_ipc_writer *writer = NULL;
  ashuf_status status = ashuf_schema_import(&batch->schema, memory, &schema, error);
  if (status == ASHUF_OK)
    status = ashuf_ipc_writer_new(schema, memory, measure, &measured, &writer, error);
  if (status == ASHUF_OK) status = ashuf_ipc_writer_write(writer, &batch->array, error);
  if (status == ASHUF_OK) status = ashuf_ipc_writer_finish(writer, error);
  ashuf_ipc_writer_free(writer);
  ashuf_schema_free(schema);
  return status;
}

static void writing_stands_failing_allocations(void **state) {
  (void)state;
  struct test_column batch = random_batch("list(struct(u,dict:c(u)))", 1, 10, 50);
  fault_sweep(write_with, &batch);
  column_free(&batch);
}

static ashuf_status read_with(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  struct ashuf_ipc_read_options options = ASHUF_IPC_READ_OPTIONS_INIT;
  options.memory = memory;
  return ipc_read_rows(data, &options, NULL, error);
}

static void reading_stands_failing_allocations(void **state) {
  (void)state;
  struct test_column batch = random_batch("list(struct(u,l))", 1, 10, 50);
  char path[512];
  (void)snprintf(path, sizeof path, "%s", scratch_path("sweep.arrows"));
  write_batches("sweep.arrows", &batch, 1);
  fault_sweep(read_with, path);
  column_free(&batch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_comes_back),
      cmocka_unit_test(slices_and_empty_batches_come_back),
      cmocka_unit_test(rows_without_columns_come_back),
      cmocka_unit_test(a_stream_without_batches_has_its_schema),
      cmocka_unit_test(a_large_batch_goes_out_in_messages),
      cmocka_unit_test(a_failed_write_ends_the_stream),
      cmocka_unit_test(a_finished_stream_takes_no_more),
      cmocka_unit_test(a_wrong_batch_leaves_the_stream_usable),
      cmocka_unit_test(missing_arguments_are_told),
      cmocka_unit_test(writing_stands_failing_allocations),
      cmocka_unit_test(reading_stands_failing_allocations),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

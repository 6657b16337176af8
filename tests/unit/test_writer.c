/* One map output written: every row in its partition and in order, nothing left on failure. */
#include "shuffle/writer.h"

#include "support/fault.h"
#include "support/map_outputs.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static ashuf_writer *open_writer(ashuf_partitioner *partitioner,
                                 const struct ashuf_writer_options *options) {
  ashuf_writer *writer = NULL;
  struct ashuf_error error = {0};
  ashuf_status status = ashuf_writer_open_files(partitioner, options, scratch_path(OUTPUT_DATA),
                                                scratch_path(OUTPUT_INDEX), &writer, &error);
  if (status != ASHUF_OK) print_error("%s\n", error.message);
  assert_int_equal(status, ASHUF_OK);
  return writer;
}

static void push(ashuf_writer *writer, struct test_column batch) {
  struct ArrowArray array = output_array(batch);
  struct ashuf_error error = {0};
  ashuf_status status = ashuf_writer_push(writer, &array, &error);
  if (status != ASHUF_OK) print_error("%s\n", error.message);
  assert_int_equal(status, ASHUF_OK);
  assert_null(array.release);
}

/* What the files hold: blocks, rows of each partition, the longest block. */
struct content {
  int64_t partitions;
  int64_t blocks;
  int64_t rows;
  int64_t longest;
  int64_t columns;
  int64_t rows_of[64];
};

/* Reads all blocks; each(batch, schema, partition) is called for each. */
static struct content read_output(void (*each)(const struct ArrowArray *, const ashuf_schema *,
                                               int64_t, void *),
                                  void *data) {
  struct content content = {0};
  ashuf_map_file *file;
  ashuf_ctx *ctx;
  struct ashuf_block_cursor cursor, at;
  struct ArrowArray batch;
  const ashuf_schema *schema;
  int found = 1;
  assert_int_equal(ashuf_map_file_open(scratch_path(OUTPUT_DATA), NULL, 1, NULL, &file, NULL),
                   ASHUF_OK);
  content.partitions = ashuf_map_file_partitions(file);
  assert_int_equal(ashuf_ctx_new(NULL, &ctx, NULL), ASHUF_OK);
  assert_int_equal(ashuf_map_file_seek(file, 0, -1, &cursor, NULL), ASHUF_OK);
  for (;;) {
    assert_int_equal(
        ashuf_map_file_next(file, ctx, &cursor, NULL, &found, &at, &schema, &batch, NULL, NULL),
        ASHUF_OK);
    if (!found) break;
    content.blocks++;
    content.rows += batch.length;
    content.rows_of[at.partition] += batch.length;
    content.columns = batch.n_children;
    if (batch.length > content.longest) content.longest = batch.length;
    if (each != NULL) each(&batch, schema, at.partition, data);
    batch.release(&batch);
  }
  ashuf_ctx_free(ctx);
  ashuf_map_file_close(file);
  return content;
}

/* ---- Rows --------------------------------------------------------------------------------- */

#define ROWS 3000
#define PARTITIONS 5

struct expected {
  struct ArrowSchema schema;
  struct ArrowArray all;
  int32_t ids[ROWS];
  int64_t next[PARTITIONS]; /* row to come next in each partition */
};

static int64_t next_of(const struct expected *expected, int64_t row, int64_t partition) {
  while (row < ROWS && expected->ids[row] != partition) row++;
  return row;
}

static void expect_rows(const struct ArrowArray *batch, const ashuf_schema *schema,
                        int64_t partition, void *data) {
  struct expected *expected = data;
  struct ArrowSchema found_schema;
  assert_int_equal(ashuf_schema_export(schema, &found_schema, NULL), ASHUF_OK);
  for (int64_t i = 0; i < batch->length; i++) {
    int64_t row = next_of(expected, expected->next[partition], partition);
    assert_true(row < ROWS);
    char *wanted = value_text(&expected->schema, &expected->all, row);
    char *found = value_text(&found_schema, batch, i);
    assert_string_equal(found, wanted);
    free(wanted);
    free(found);
    expected->next[partition] = row + 1;
  }
  found_schema.release(&found_schema);
}

static void every_row_is_in_its_partition_and_in_order(void **state) {
  (void)state;
  struct test_column whole = output_batch(0, ROWS);
  struct expected expected = {.schema = whole.schema, .all = whole.array};
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  ashuf_partitioner *partitioner = output_partitioner(&whole.schema, PARTITIONS);
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &whole.array, expected.ids, NULL),
                   ASHUF_OK);
  options.encode = (struct ashuf_encode_options)ASHUF_ENCODE_OPTIONS_INIT;
  options.encode.max_rows = 100;
  ashuf_writer *writer = open_writer(partitioner, &options);
  ashuf_partitioner_free(partitioner);
  push(writer, output_batch(0, 1));
  push(writer, output_batch(1, 0));
  push(writer, output_batch(1, 1999));
  push(writer, output_batch(2000, 1000));
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);

  struct content content = read_output(expect_rows, &expected);
  assert_int_equal(content.rows, ROWS);
  assert_int_equal(content.partitions, PARTITIONS);
  assert_int_equal(content.longest, 100);
  assert_int_equal(output.partitions, PARTITIONS);
  assert_int_equal(output.total_rows, ROWS);
  assert_int_equal(output.total_blocks, content.blocks);
  for (int32_t p = 0; p < PARTITIONS; p++) {
    assert_int_equal(output.rows[p], content.rows_of[p]);
    assert_int_equal(next_of(&expected, expected.next[p], p), ROWS);
  }
  struct stat info;
  assert_int_equal(stat(scratch_path(OUTPUT_DATA), &info), 0);
  assert_int_equal(output.offsets[PARTITIONS], info.st_size);
  assert_int_equal(info.st_mode & 07777, 0644);
  assert_int_equal(scratch_count(), 2);
  ashuf_writer_close(writer);
  column_free(&whole);
}

static void the_bytes_do_not_depend_on_how_the_rows_were_cut(void **state) {
  (void)state;
  static const int64_t cuts[][4] = {{0, 3000, 3000, 3000}, {0, 1, 2, 3000}, {0, 999, 2048, 3000}};
  uint8_t *first = NULL;
  size_t first_size = 0;
  for (size_t c = 0; c < 3; c++) {
    struct test_column model = output_batch(0, 1);
    ashuf_partitioner *partitioner = output_partitioner(&model.schema, PARTITIONS);
    column_free(&model);
    ashuf_writer *writer = open_writer(partitioner, NULL);
    ashuf_partitioner_free(partitioner);
    for (int i = 0; i < 3; i++) push(writer, output_batch(cuts[c][i], cuts[c][i + 1] - cuts[c][i]));
    assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_OK);
    ashuf_writer_close(writer);
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

static void t1_rows_without_columns_go_to_partition_0(void **state) {
  (void)state;
  static const int64_t rows[] = {5, 0, 7};
  struct test_column model = batch_of_nothing(1);
  ashuf_partitioner *partitioner = output_partitioner(&model.schema, 10);
  column_free(&model);
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  ashuf_writer *writer = open_writer(partitioner, NULL);
  ashuf_partitioner_free(partitioner);
  for (size_t i = 0; i < 3; i++) push(writer, batch_of_nothing(rows[i]));
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  assert_int_equal(output.partitions, 10);
  assert_int_equal(output.rows[0], 12);
  assert_int_equal(output.total_blocks, 1);
  for (int p = 1; p <= 10; p++) assert_int_equal(output.offsets[p], output.offsets[1]);
  struct content content = read_output(NULL, NULL);
  assert_int_equal(content.rows, 12);
  assert_int_equal(content.rows_of[0], 12);
  assert_int_equal(content.columns, 0);
  assert_int_equal(content.blocks, 1);
  ashuf_writer_close(writer);
}

static void expect_empty_output(void) {
  static const uint8_t zeros[40] = {0};
  size_t size;
  uint8_t *bytes = scratch_read(OUTPUT_DATA, &size);
  assert_non_null(bytes);
  assert_int_equal(size, 0);
  free(bytes);
  bytes = scratch_read(OUTPUT_INDEX, &size);
  assert_non_null(bytes);
  assert_int_equal(size, sizeof zeros);
  assert_memory_equal(bytes, zeros, sizeof zeros);
  free(bytes);
  assert_int_equal(scratch_count(), 2);
}

static void t2_empty_batches_or_none_give_an_empty_output(void **state) {
  (void)state;
  for (int batches = 0; batches <= 3; batches += 3) {
    struct test_column model = output_batch(0, 1);
    ashuf_partitioner *partitioner = output_partitioner(&model.schema, 4);
    column_free(&model);
    struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
    ashuf_writer *writer = open_writer(partitioner, NULL);
    ashuf_partitioner_free(partitioner);
    for (int i = 0; i < batches; i++) push(writer, output_batch(0, 0));
    assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
    assert_int_equal(output.total_rows, 0);
    assert_int_equal(output.total_blocks, 0);
    ashuf_writer_close(writer);
    expect_empty_output();
    assert_int_equal(read_output(NULL, NULL).blocks, 0);
    scratch_clear();
  }
}

static void t3_no_block_is_above_the_row_limit(void **state) {
  (void)state;
  static int64_t values[8221];
  for (int64_t i = 0; i < 8221; i++) values[i] = i;
  struct test_column column = column_int64("v", values, NULL, 8221);
  struct test_column batch = batch_of(&column, 1);
  for (int32_t partitions = 1; partitions <= 3; partitions += 2) {
    struct test_column again = column_int64("v", values, NULL, 8221);
    ashuf_partitioner *partitioner = output_partitioner(&batch.schema, partitions);
    ashuf_writer *writer = open_writer(partitioner, NULL);
    ashuf_partitioner_free(partitioner);
    push(writer, batch_of(&again, 1));
    assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_OK);
    ashuf_writer_close(writer);
    struct content content = read_output(NULL, NULL);
    assert_int_equal(content.rows, 8221);
    assert_true(content.longest <= 8192);
    assert_int_equal(content.blocks, partitions == 1 ? 2 : 3);
  }
  column_free(&batch);
}

static void t18_a_thousand_partitions_take_few_descriptors(void **state) {
  (void)state;
  struct test_column columns[16];
  struct test_column again[16];
  static int64_t values[5000];
  struct rlimit before, few;
  for (int64_t i = 0; i < 5000; i++) values[i] = i * 7;
  for (int c = 0; c < 16; c++) {
    columns[c] = column_int64("v", values, NULL, 5000);
    again[c] = column_int64("v", values, NULL, 1);
  }
  struct test_column model = batch_of(again, 16);
  ashuf_partitioner *partitioner = output_partitioner(&model.schema, 1000);
  column_free(&model);
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  few = before;
  few.rlim_cur = 16;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  ashuf_writer *writer = open_writer(partitioner, NULL);
  ashuf_partitioner_free(partitioner);
  push(writer, batch_of(columns, 16));
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  assert_int_equal(output.total_rows, 5000);
  assert_true(output.total_blocks > 900);
  ashuf_writer_close(writer);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* ---- Files -------------------------------------------------------------------------------- */

static void t37_without_an_index_path_the_offsets_are_in_memory(void **state) {
  (void)state;
  struct test_column model = output_batch(0, 1);
  ashuf_partitioner *partitioner = output_partitioner(&model.schema, 4);
  column_free(&model);
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct stat info;
  ashuf_writer *writer;
  mode_t before = umask(0077);
  options.file_mode = 0640;
  options.sync = 1;
  assert_int_equal(ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA), NULL,
                                           &writer, NULL),
                   ASHUF_OK);
  ashuf_partitioner_free(partitioner);
  push(writer, output_batch(0, 100));
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  (void)umask(before);
  assert_int_equal(stat(scratch_path(OUTPUT_DATA), &info), 0);
  assert_int_equal(info.st_mode & 07777, 0640);
  assert_int_equal(output.offsets[0], 0);
  assert_int_equal(output.offsets[4], info.st_size);
  assert_true(info.st_size > 0);
  assert_int_equal(scratch_count(), 1);
  ashuf_writer_close(writer);
}

static void t37_the_mode_holds_for_the_index_too(void **state) {
  (void)state;
  struct test_column model = output_batch(0, 1);
  ashuf_partitioner *partitioner = output_partitioner(&model.schema, 4);
  column_free(&model);
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  struct stat info;
  options.file_mode = 0666;
  ashuf_writer *writer = open_writer(partitioner, &options);
  ashuf_partitioner_free(partitioner);
  assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_OK);
  ashuf_writer_close(writer);
  assert_int_equal(stat(scratch_path(OUTPUT_INDEX), &info), 0);
  assert_int_equal(info.st_mode & 07777, 0666);
}

static void t38_an_abandoned_writer_leaves_no_file(void **state) {
  (void)state;
  struct test_column model = output_batch(0, 1);
  ashuf_partitioner *partitioner = output_partitioner(&model.schema, 4);
  column_free(&model);
  ashuf_writer *writer = open_writer(partitioner, NULL);
  ashuf_partitioner_free(partitioner);
  push(writer, output_batch(0, 1000));
  assert_int_equal(scratch_count(), 2);
  ashuf_writer_close(writer);
  assert_int_equal(scratch_count(), 0);
}

static int cancels_at(void *data, int64_t rows_pushed, int64_t rows_written) {
  const int64_t *limits = data;
  return rows_pushed >= limits[0] || rows_written >= limits[1];
}

static void t38_a_callback_that_cancels_leaves_no_file(void **state) {
  (void)state;
  int64_t limits[][2] = {{1, INT64_MAX}, {INT64_MAX, 1}, {INT64_MAX, 900}};
  for (size_t i = 0; i < 3; i++) {
    struct test_column model = output_batch(0, 1000);
    ashuf_partitioner *partitioner = output_partitioner(&model.schema, 4);
    struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
    options.progress = cancels_at;
    options.progress_data = limits[i];
    ashuf_writer *writer = open_writer(partitioner, &options);
    ashuf_partitioner_free(partitioner);
    ashuf_status status = ashuf_writer_push(writer, &model.array, NULL);
    assert_int_equal(status, i == 0 ? ASHUF_CANCELLED : ASHUF_OK);
    assert_true((model.array.release != NULL) == (i == 0));
    status = ashuf_writer_finish(writer, NULL, NULL);
    assert_int_equal(status, i == 0 ? ASHUF_INVALID_STATE : ASHUF_CANCELLED);
    assert_int_equal(scratch_count(), 0);
    assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_INVALID_STATE);
    ashuf_writer_close(writer);
    if (model.array.release != NULL) model.array.release(&model.array);
    model.schema.release(&model.schema);
  }
}

/* The process ends in the middle; its files must not look finished. */
static void a_killed_writer_leaves_only_temporaries(void **state) {
  (void)state;
  struct test_column model = output_batch(0, 1);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    ashuf_partitioner *partitioner = output_partitioner(&model.schema, 4);
    ashuf_writer *writer = open_writer(partitioner, NULL);
    push(writer, output_batch(0, 1000));
    _exit(0);
  }
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_int_equal(scratch_count(), 2);
  assert_int_equal(access(scratch_path(OUTPUT_DATA), F_OK), -1);
  assert_int_equal(access(scratch_path(OUTPUT_INDEX), F_OK), -1);
  column_free(&model);
}

/* ---- States and arguments ----------------------------------------------------------------- */

static void a_bad_batch_is_refused_and_the_writer_goes_on(void **state) {
  (void)state;
  struct test_column model = output_batch(0, 1);
  ashuf_partitioner *partitioner = output_partitioner(&model.schema, 4);
  column_free(&model);
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  ashuf_writer *writer = open_writer(partitioner, NULL);
  ashuf_partitioner_free(partitioner);
  push(writer, output_batch(0, 10));
  struct test_column bad = output_batch(10, 10);
  bad.array.children[1]->length = 3;
  assert_int_equal(ashuf_writer_push(writer, &bad.array, NULL), ASHUF_BAD_ARRAY);
  assert_non_null(bad.array.release);
  bad.array.children[1]->length = 10;
  column_free(&bad);
  push(writer, output_batch(10, 10));
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  assert_int_equal(output.total_rows, 20);
  ashuf_writer_close(writer);
  assert_int_equal(read_output(NULL, NULL).rows, 20);
}

static void a_finished_writer_takes_no_more(void **state) {
  (void)state;
  struct test_column batch = output_batch(0, 10);
  ashuf_partitioner *partitioner = output_partitioner(&batch.schema, 4);
  ashuf_writer *writer = open_writer(partitioner, NULL);
  ashuf_partitioner_free(partitioner);
  assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_OK);
  assert_int_equal(ashuf_writer_push(writer, &batch.array, NULL), ASHUF_INVALID_STATE);
  assert_non_null(batch.array.release);
  assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_INVALID_STATE);
  ashuf_writer_close(writer);
  assert_int_equal(scratch_count(), 2);
  column_free(&batch);
}

static void arguments_that_cannot_be_are_refused(void **state) {
  (void)state;
  struct test_column batch = output_batch(0, 10);
  ashuf_partitioner *partitioner = output_partitioner(&batch.schema, 4);
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  const char *path = scratch_path(OUTPUT_DATA);
  ashuf_writer *writer = NULL;
  assert_int_equal(ashuf_writer_open_files(NULL, NULL, path, NULL, &writer, NULL),
                   ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_writer_open_files(partitioner, NULL, NULL, NULL, &writer, NULL),
                   ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_writer_open_files(partitioner, NULL, path, NULL, NULL, NULL),
                   ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_writer_open_files(partitioner, NULL, path, path, &writer, NULL),
                   ASHUF_INVALID_ARGUMENT);
  options.file_mode = 0100644;
  assert_int_equal(ashuf_writer_open_files(partitioner, &options, path, NULL, &writer, NULL),
                   ASHUF_INVALID_ARGUMENT);
  options.file_mode = 0;
  options.encode = (struct ashuf_encode_options)ASHUF_ENCODE_OPTIONS_INIT;
  options.encode.codec = 99;
  assert_int_equal(ashuf_writer_open_files(partitioner, &options, path, NULL, &writer, NULL),
                   ASHUF_INVALID_ARGUMENT);
  assert_null(writer);
  assert_int_equal(scratch_count(), 0);
  ashuf_writer_close(NULL);
  ashuf_partitioner_free(partitioner);
  column_free(&batch);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(every_row_is_in_its_partition_and_in_order),
      TEST(the_bytes_do_not_depend_on_how_the_rows_were_cut),
      TEST(t1_rows_without_columns_go_to_partition_0),
      TEST(t2_empty_batches_or_none_give_an_empty_output),
      TEST(t3_no_block_is_above_the_row_limit),
      TEST(t18_a_thousand_partitions_take_few_descriptors),
      TEST(t37_without_an_index_path_the_offsets_are_in_memory),
      TEST(t37_the_mode_holds_for_the_index_too),
      TEST(t38_an_abandoned_writer_leaves_no_file),
      TEST(t38_a_callback_that_cancels_leaves_no_file),
      TEST(a_killed_writer_leaves_only_temporaries),
      TEST(a_bad_batch_is_refused_and_the_writer_goes_on),
      TEST(a_finished_writer_takes_no_more),
      TEST(arguments_that_cannot_be_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Where rows are cut into blocks: offsets (T5), rows larger than most blocks (T6), dictionaries
 * larger than their index type (T14). */
#include "block/block_write.h"
#include "support/map_outputs.h"
#include "support/scratch.h"
#include "support/small_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- T5 ----------------------------------------------------------------------------------- */

static void t5_offsets_are_cut_before_their_limit(void **state) {
  (void)state;
  static const char *const types[] = {"u", "z", "list(i)", "map(i,u)", "struct(u,list(u))"};
  ashuf_ctx *ctx = context_in(NULL);
  block_offset_limit = 500;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    struct test_random random = {i};
    struct test_column column = column_random("c", types[i], &random, 10, 1000);
    struct test_column batch = batch_of(&column, 1);
    struct ashuf_buffer out = ASHUF_BUFFER_INIT;
    encode_batch(ctx, &batch, NULL, &out);
    assert_true(expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0) > 1);
    ashuf_buffer_free(&out);
    column_free(&batch);
  }
  block_offset_limit = INT32_MAX;
  ashuf_ctx_free(ctx);
}

/* ---- Through the writer: one partition ------------------------------------------------------ */

static ashuf_writer *open_single(const struct ArrowSchema *exported, ashuf_memory *memory,
                                 int codec) {
  struct ashuf_partitioning partitioning = ASHUF_PARTITIONING_INIT;
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  ashuf_partitioner *partitioner = NULL;
  ashuf_schema *schema = NULL;
  ashuf_writer *writer = NULL;
  partitioning.partitions = 1;
  options.memory = memory;
  options.encode = (struct ashuf_encode_options)ASHUF_ENCODE_OPTIONS_INIT;
  options.encode.codec = codec;
  assert_int_equal(ashuf_schema_import(exported, NULL, &schema, NULL), ASHUF_OK);
  assert_int_equal(ashuf_partitioner_new(schema, &partitioning, NULL, &partitioner, NULL),
                   ASHUF_OK);
  assert_int_equal(ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA),
                                           scratch_path(OUTPUT_INDEX), &writer, NULL),
                   ASHUF_OK);
  ashuf_partitioner_free(partitioner);
  ashuf_schema_free(schema);
  return writer;
}

static void push(ashuf_writer *writer, struct ArrowArray array) {
  struct ashuf_error error;
  ashuf_status status = ashuf_writer_push(writer, &array, &error);
  if (status != ASHUF_OK) fail_msg("push: %s", error.message);
}

static void finish(ashuf_writer *writer, struct ashuf_map_output *output) {
  struct ashuf_error error;
  ashuf_status status = ashuf_writer_finish(writer, output, &error);
  if (status != ASHUF_OK) fail_msg("finish: %s", error.message);
}

/* Each block's batch is shown with the number of rows before it; returns the blocks. */
static int read_blocks(void (*each)(const ashuf_schema *schema, const struct ArrowArray *batch,
                                    int64_t row, void *data),
                       void *data, int64_t *rows) {
  struct ashuf_block_cursor cursor;
  struct ashuf_block_cursor at;
  struct ashuf_error error;
  ashuf_map_file *file = NULL;
  ashuf_ctx *ctx = context_in(NULL);
  int blocks = 0;
  int found = 1;
  *rows = 0;
  assert_int_equal(ashuf_map_file_open(scratch_path(OUTPUT_DATA), NULL, 1, NULL, &file, NULL),
                   ASHUF_OK);
  assert_int_equal(ashuf_map_file_seek(file, 0, -1, &cursor, NULL), ASHUF_OK);
  while (found) {
    const ashuf_schema *schema = NULL;
    struct ArrowArray batch;
    ashuf_status status =
        ashuf_map_file_next(file, ctx, &cursor, NULL, &found, &at, &schema, &batch, NULL, &error);
    if (status != ASHUF_OK) fail_msg("read: %s", error.message);
    if (!found) break;
    each(schema, &batch, *rows, data);
    *rows += batch.length;
    blocks++;
    batch.release(&batch);
  }
  ashuf_ctx_free(ctx);
  ashuf_map_file_close(file);
  return blocks;
}

/* ---- T14 ---------------------------------------------------------------------------------- */

#define VALUES 200

/* Rows 0 to 199, each with a value of its own, "v<first>" and so on. */
static struct test_column distinct_values(const char *index_format, int first, int64_t n) {
  static char texts[VALUES][16];
  const char *values[VALUES];
  int64_t indices[VALUES];
  for (int i = 0; i < n; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "v%d", first + i);
    values[i] = texts[i];
    indices[i] = i;
  }
  return column_dictionary("d", index_format, indices, NULL, n, column_strings("", "u", values, n));
}

/* data: the values of all rows as plain strings. */
static void expect_values(const ashuf_schema *schema, const struct ArrowArray *batch, int64_t row,
                          void *data) {
  const struct test_column *want = data;
  struct ArrowSchema exported;
  assert_int_equal(ashuf_schema_export(schema, &exported, NULL), ASHUF_OK);
  assert_non_null(exported.children[0]->dictionary);
  assert_true(batch->children[0]->dictionary->length <= 256);
  for (int64_t i = 0; i < batch->length; i++) {
    char *got = value_text(&exported, batch, i);
    char *wanted = value_text(&want->schema, &want->array, row + i);
    assert_string_equal(got, wanted);
    free(got);
    free(wanted);
  }
  exported.release(&exported);
}

static struct test_column plain_values(int n) {
  static char texts[2 * VALUES][16];
  const char *values[2 * VALUES];
  for (int i = 0; i < n; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "v%d", i);
    values[i] = texts[i];
  }
  struct test_column column = column_strings("d", "u", values, n);
  return batch_of(&column, 1);
}

static void t14_400_values_of_two_batches_under_uint8_indices(void **state) {
  (void)state;
  struct test_column want = plain_values(2 * VALUES);
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
    struct test_column columns[] = {distinct_values("C", 0, VALUES),
                                    distinct_values("C", VALUES, VALUES)};
    struct test_column first = batch_of(&columns[0], 1);
    struct test_column second = batch_of(&columns[1], 1);
    ashuf_writer *writer = open_single(&first.schema, NULL, every_codec[c]);
    push(writer, output_array(first));
    push(writer, output_array(second));
    finish(writer, &output);
    assert_int_equal(output.total_rows, 2 * VALUES);
    assert_true(output.total_blocks >= 2);
    int64_t rows = 0;
    assert_int_equal(read_blocks(expect_values, &want, &rows), output.total_blocks);
    assert_int_equal(rows, 2 * VALUES);
    ashuf_writer_close(writer);
  }
  column_free(&want);
}

/* 130 distinct values where an int8 index counts to 127; the writer encodes both batches at once.
 */
static void t14_130_values_under_int8_indices(void **state) {
  (void)state;
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct test_column want = plain_values(130);
  struct test_column columns[] = {distinct_values("c", 0, 65), distinct_values("c", 65, 65)};
  struct test_column first = batch_of(&columns[0], 1);
  struct test_column second = batch_of(&columns[1], 1);
  ashuf_writer *writer = open_single(&first.schema, NULL, ASHUF_CODEC_LZ4);
  push(writer, output_array(first));
  push(writer, output_array(second));
  finish(writer, &output);
  int64_t rows = 0;
  assert_int_equal(output.total_blocks, 2);
  assert_int_equal(read_blocks(expect_values, &want, &rows), 2);
  assert_int_equal(rows, 130);
  ashuf_writer_close(writer);
  column_free(&want);
}

/* The most an index of 8 bits can tell apart is still one block. */
static void t14_as_many_values_as_the_index_has_are_one_block(void **state) {
  (void)state;
  ashuf_ctx *ctx = context_in(NULL);
  struct test_column column = distinct_values("c", 0, 128);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_buffer out = blocks_of(&batch, ASHUF_CODEC_ZSTD);
  assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0), 1);
  ashuf_buffer_free(&out);
  column_free(&batch);
  ashuf_ctx_free(ctx);
}

/* A dictionary has two values more than its indices reach; the rows use all that they can reach. */
static void t14_a_dictionary_larger_than_its_index_serves_what_is_used(void **state) {
  (void)state;
  ashuf_ctx *ctx = context_in(NULL);
  const char *values[130];
  static char texts[130][16];
  int64_t indices[128];
  for (int i = 0; i < 130; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "w%d", i);
    values[i] = texts[i];
  }
  for (int i = 0; i < 128; i++) indices[i] = 127 - i;
  struct test_column column =
      column_dictionary("d", "c", indices, NULL, 128, column_strings("", "u", values, 130));
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_buffer out = blocks_of(&batch, ASHUF_CODEC_LZ4);
  assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0), 1);
  ashuf_buffer_free(&out);
  column_free(&batch);
  ashuf_ctx_free(ctx);
}

/* ---- T6 ----------------------------------------------------------------------------------- */

#define MIB ((int64_t)1 << 20)
static const int64_t row_sizes[] = {30 * MIB, 36 * MIB, 38 * MIB, 50 * MIB, 80 * MIB, 5, 0, 1};
#define LARGE_ROWS (sizeof row_sizes / sizeof *row_sizes)

/* Letters that neither repeat too soon nor say nothing about their place. */
static void fill_row(char *bytes, int64_t size, size_t row) {
  for (int64_t i = 0; i < size; i++)
    bytes[i] = (char)('a' + (((uint64_t)i * 2654435761u + row) >> 13) % 26);
}

static void free_given(struct ArrowArray *array) { (void)array; }

/* A batch of one string whose bytes stay the test's. */
struct large_row {
  int32_t offsets[2];
  const void *buffers[3];
  const void *no_buffers[1];
  struct ArrowArray column;
  struct ArrowArray *children[1];
};

static struct ArrowArray large_row(struct large_row *row, const char *bytes, int64_t size) {
  *row = (struct large_row){.offsets = {0, (int32_t)size}, .buffers = {NULL, row->offsets, bytes}};
  row->column = (struct ArrowArray){
      .length = 1, .n_buffers = 3, .buffers = row->buffers, .release = free_given};
  row->children[0] = &row->column;
  return (struct ArrowArray){.length = 1,
                             .n_buffers = 1,
                             .buffers = row->no_buffers,
                             .n_children = 1,
                             .children = row->children,
                             .release = free_given};
}

static void expect_large_rows(const ashuf_schema *schema, const struct ArrowArray *batch,
                              int64_t row, void *data) {
  const int32_t *offsets = batch->children[0]->buffers[1];
  const char *bytes = batch->children[0]->buffers[2];
  char *const *want = data;
  (void)schema;
  for (int64_t i = 0; i < batch->length; i++) {
    int64_t size = row_sizes[row + i];
    assert_int_equal(offsets[i + 1] - offsets[i], size);
    if (size != 0) assert_true(memcmp(bytes + offsets[i], want[row + i], (size_t)size) == 0);
  }
}

static void t6_rows_of_many_mebibytes_pass_a_limit_of_256(void **state) {
  (void)state;
  static const int codecs[] = {ASHUF_CODEC_NONE, ASHUF_CODEC_LZ4};
  struct test_column empty = column_strings("s", "u", NULL, 0);
  struct test_column schema = batch_of(&empty, 1);
  char *bytes[LARGE_ROWS];
  for (size_t i = 0; i < LARGE_ROWS; i++) {
    bytes[i] = malloc((size_t)row_sizes[i] + 1);
    fill_row(bytes[i], row_sizes[i], i);
  }
  for (int c = 0; c < 2; c++) {
    struct ashuf_memory_options limited = ASHUF_MEMORY_OPTIONS_INIT;
    struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
    struct large_row rows[LARGE_ROWS];
    ashuf_memory *memory = NULL;
    limited.limit = (uint64_t)(256 * MIB);
    assert_int_equal(ashuf_memory_new(&limited, &memory, NULL), ASHUF_OK);
    ashuf_writer *writer = open_single(&schema.schema, memory, codecs[c]);
    for (size_t i = 0; i < LARGE_ROWS; i++)
      push(writer, large_row(&rows[i], bytes[i], row_sizes[i]));
    finish(writer, &output);
    int64_t n = 0;
    assert_int_equal(read_blocks(expect_large_rows, bytes, &n), output.total_blocks);
    assert_int_equal(n, LARGE_ROWS);
    ashuf_writer_close(writer);
    assert_int_equal(memory_stats(memory).now, 0);
    ashuf_memory_free(memory);
  }
  for (size_t i = 0; i < LARGE_ROWS; i++) free(bytes[i]);
  column_free(&schema);
}

/* The same rows as blocks of their own, on one context. */
static void t6_rows_of_many_mebibytes_are_encoded_within_a_limit(void **state) {
  (void)state;
  struct test_column empty = column_strings("s", "u", NULL, 0);
  struct test_column batch = batch_of(&empty, 1);
  struct ashuf_memory_options limited = ASHUF_MEMORY_OPTIONS_INIT;
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  ashuf_memory *memory = NULL;
  ashuf_schema *schema = NULL;
  char *bytes = malloc((size_t)(80 * MIB));
  limited.limit = (uint64_t)(256 * MIB);
  assert_int_equal(ashuf_memory_new(&limited, &memory, NULL), ASHUF_OK);
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  ashuf_ctx *ctx = context_in(memory);
  fill_row(bytes, 80 * MIB, 3);
  options.codec = ASHUF_CODEC_LZ4;
  for (size_t i = 0; i < LARGE_ROWS; i++) {
    struct large_row row;
    struct ashuf_buffer out = ASHUF_BUFFER_INIT;
    struct ArrowArray array = large_row(&row, bytes, row_sizes[i]);
    struct ArrowArray got;
    assert_int_equal(ashuf_block_encode(ctx, schema, &array, &options, &out, NULL), ASHUF_OK);
    assert_int_equal(decode_block(ctx, out.data, out.size, NULL, NULL, &got, NULL), ASHUF_OK);
    assert_int_equal(((const int32_t *)got.children[0]->buffers[1])[1], row_sizes[i]);
    assert_true(memcmp(got.children[0]->buffers[2], bytes, (size_t)row_sizes[i]) == 0);
    got.release(&got);
    ashuf_buffer_free(&out);
  }
  free(bytes);
  ashuf_ctx_free(ctx);
  ashuf_schema_free(schema);
  ashuf_memory_free(memory);
  column_free(&batch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t5_offsets_are_cut_before_their_limit),
      cmocka_unit_test(t14_400_values_of_two_batches_under_uint8_indices),
      cmocka_unit_test(t14_130_values_under_int8_indices),
      cmocka_unit_test(t14_as_many_values_as_the_index_has_are_one_block),
      cmocka_unit_test(t14_a_dictionary_larger_than_its_index_serves_what_is_used),
      cmocka_unit_test(t6_rows_of_many_mebibytes_pass_a_limit_of_256),
      cmocka_unit_test(t6_rows_of_many_mebibytes_are_encoded_within_a_limit),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

/* What blocks do with the types whose rows name where their values lie, case by case. */
#include "block/block_write.h"
#include "support/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static ashuf_ctx *new_ctx(void) {
  ashuf_ctx *ctx = NULL;
  assert_int_equal(ashuf_ctx_new(NULL, &ctx, NULL), ASHUF_OK);
  return ctx;
}

static struct test_column random_batch(const char *type, uint64_t seed, int nulls, int64_t n) {
  struct test_random random = {seed};
  struct test_column column = column_random("c", type, &random, nulls, n);
  return batch_of(&column, 1);
}

static struct ashuf_encode_options plain_options(void) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  options.codec = ASHUF_CODEC_NONE;
  return options;
}

/* n views of size bytes each; value i is number pick[i] of a buffer of distinct values. */
static struct test_column shared_views(int64_t n, int32_t size, int32_t distinct) {
  char *bytes = calloc((size_t)distinct, (size_t)size);
  uint8_t *views = calloc((size_t)n, 16);
  for (int32_t i = 0; i < distinct; i++) snprintf(bytes + i * size, (size_t)size, "%010d", i);
  for (int64_t i = 0; i < n; i++) {
    int32_t offset = (int32_t)(i * 7919 % distinct) * size;
    memcpy(views + i * 16, &size, 4);
    memcpy(views + i * 16 + 4, bytes + offset, 4);
    memcpy(views + i * 16 + 12, &offset, 4);
  }
  const int64_t sizes[] = {(int64_t)distinct * size};
  struct test_column column =
      column_views("v", "vz", views, NULL, n, (const void *[]){bytes}, sizes, 1);
  free(bytes);
  free(views);
  return column;
}

/* T15: ten rows of a batch whose buffer holds a hundred thousand. */
static void t15_only_live_bytes_of_views_are_written(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct test_column column = shared_views(100000, 40, 100000);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_encode_options options = plain_options();
  column_slice(&batch, 99000, 500);
  encode_batch(ctx, &batch, &options, &out);
  assert_true(out.size <= 500 * (40 + 16) * 11 / 10 + 500);
  expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0);
  column_free(&batch);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

static void t16_shared_values_are_written_once_a_block(void **state) {
  (void)state;
  const int64_t n = 200000;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct test_column column = shared_views(n, 64, 1000);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_encode_options options = plain_options();
  encode_batch(ctx, &batch, &options, &out);
  int blocks = expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0);
  assert_true(out.size <= (size_t)n * 16 + (size_t)blocks * (1000 * 64 + 600));
  column_free(&batch);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

/* How a batch shares its values is nothing to the bytes. */
static void views_are_written_alike_however_they_are_shared(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_encode_options options = plain_options();
  struct ashuf_buffer first = ASHUF_BUFFER_INIT;
  struct ashuf_buffer second = ASHUF_BUFFER_INIT;
  struct test_column column = shared_views(300, 20, 30);
  struct test_column batch = batch_of(&column, 1);
  encode_batch(ctx, &batch, &options, &first);
  const ashuf_schema *schema = NULL;
  struct ArrowArray read;
  assert_int_equal(decode_block(ctx, first.data, first.size, NULL, &schema, &read, NULL), ASHUF_OK);
  assert_int_equal(read.children[0]->n_buffers, 4);
  assert_int_equal(ashuf_block_encode(ctx, schema, &read, &options, &second, NULL), ASHUF_OK);
  assert_int_equal(first.size, second.size);
  assert_memory_equal(first.data, second.data, first.size);
  read.release(&read);
  column_free(&batch);
  ashuf_buffer_free(&first);
  ashuf_buffer_free(&second);
  ashuf_ctx_free(ctx);
}

static void runs_of_equal_values_become_one(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  static const int64_t ends[] = {2, 3, 5, 6, 9};
  struct test_column values =
      column_strings("values", "u", (const char *[]){"a", "a", NULL, NULL, "b"}, 5);
  struct test_column column = column_runs("r", "s", ends, 5, 8, values);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_encode_options options = plain_options();
  struct ArrowArray got;
  encode_batch(ctx, &batch, &options, &out);
  expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0);
  assert_int_equal(decode_block(ctx, out.data, out.size, NULL, NULL, &got, NULL), ASHUF_OK);
  const struct ArrowArray *runs = got.children[0];
  const int16_t want[] = {3, 6, 8};
  assert_int_equal(runs->children[0]->length, 3);
  assert_memory_equal(runs->children[0]->buffers[1], want, sizeof want);
  got.release(&got);
  column_free(&batch);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

/* 16-bit run ends hold 32,767 rows: a larger block is cut. */
static void run_ends_cut_blocks_before_they_overflow(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  static const int64_t ends[] = {30000};
  int32_t value = 7;
  struct test_column column =
      column_runs("r", "s", ends, 1, 30000, column_int32("values", &value, NULL, 1));
  struct test_column batch = batch_of(&column, 1);
  int64_t *rows = calloc(50000, sizeof *rows);
  ashuf_schema *schema = NULL;
  struct ashuf_encode_options options = plain_options();
  options.max_rows = 50000;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  assert_int_equal(
      ashuf_block_encode_rows(ctx, schema, &batch.array, rows, 50000, &options, &out, NULL),
      ASHUF_OK);
  assert_true(expect_blocks_equal(ctx, &out, NULL, &batch, rows, 50000) >= 2);
  ashuf_schema_free(schema);
  free(rows);
  column_free(&batch);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

/* How many blocks 900 rows make where no offset may be above 700; they come back whole. */
static int blocks_below_limit(ashuf_ctx *ctx, const char *type, uint64_t seed) {
  int64_t limit = block_offset_limit;
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct test_column batch = random_batch(type, seed, 10, 900);
  block_offset_limit = 700;
  encode_batch(ctx, &batch, NULL, &out);
  block_offset_limit = limit;
  int blocks = expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0);
  column_free(&batch);
  ashuf_buffer_free(&out);
  return blocks;
}

/* Some seeds make views that all stand in themselves, which need no offset. */
static void blocks_are_cut_before_an_offset_overflows(void **state) {
  (void)state;
  static const char *const types[] = {
      "vu",        "list_view(i)", "large_list_view(vu)",  "dense(i,u)",
      "runs:i(u)", "list(vu)",     "dict:i(list_view(vu))"};
  ashuf_ctx *ctx = new_ctx();
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    int blocks = 0;
    for (uint64_t seed = 11; seed < 17; seed++) blocks += blocks_below_limit(ctx, types[t], seed);
    if (strncmp(types[t], "dict", 4) != 0) assert_true(blocks > 6);
  }
  ashuf_ctx_free(ctx);
}

static void t31_null_columns_stand_anywhere(void **state) {
  (void)state;
  static const char *const types[] = {"n",          "list(n)",      "struct(n,i)",
                                      "map(u,n)",   "list_view(n)", "sparse(n,i)",
                                      "dense(n,i)", "runs:i(n)"};
  ashuf_ctx *ctx = new_ctx();
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    struct ashuf_buffer out = ASHUF_BUFFER_INIT;
    struct test_column batch = random_batch(types[t], 5, 20, 70);
    encode_batch(ctx, &batch, NULL, &out);
    expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0);
    column_free(&batch);
    ashuf_buffer_free(&out);
  }
  ashuf_ctx_free(ctx);
}

static void t42_nulls_have_zero_views(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  uint8_t views[48];
  static const uint8_t zeros[16];
  memset(views, 0xee, sizeof views);
  memset(views + 16, 0, 16);
  struct test_column column = column_views("v", "vu", views, "010", 3, NULL, NULL, 0);
  struct test_column batch = batch_of(&column, 1);
  struct ArrowArray got;
  encode_batch(ctx, &batch, NULL, &out);
  assert_int_equal(decode_block(ctx, out.data, out.size, NULL, NULL, &got, NULL), ASHUF_OK);
  assert_int_equal(got.children[0]->null_count, 2);
  assert_memory_equal(got.children[0]->buffers[1], zeros, 16);
  assert_memory_equal((const uint8_t *)got.children[0]->buffers[1] + 32, zeros, 16);
  got.release(&got);
  column_free(&batch);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

static void expect_bad(struct test_column column) {
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = NULL;
  struct ashuf_error error;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  assert_int_equal(ashuf_block_encode(ctx, schema, &batch.array, NULL, &out, &error),
                   ASHUF_BAD_ARRAY);
  assert_int_equal(out.size, 0);
  ashuf_schema_free(schema);
  column_free(&batch);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

static void rows_that_name_nothing_are_refused(void **state) {
  (void)state;
  int32_t view[4] = {13, 0, 0, 1};
  int64_t size = 13;
  const void *buffer[] = {"abcdefghijklm"};
  expect_bad(column_views("v", "vu", view, NULL, 1, buffer, &size, 1)); /* one byte too far */
  view[2] = 1;
  view[3] = 0;
  expect_bad(column_views("v", "vu", view, NULL, 1, buffer, &size, 1)); /* no such buffer */
  int64_t one = 1;
  int64_t two = 2;
  int32_t values[] = {1, 2};
  expect_bad(
      column_list_view("l", "+vl", &one, &two, NULL, 1, column_int32("item", values, NULL, 2)));
  int8_t id = 6;
  int32_t offset = 2;
  struct test_column child = column_int32("i", values, NULL, 2);
  expect_bad(column_union("u", "+us:5", &id, NULL, 1, &child, 1));
  id = 5;
  child = column_int32("i", values, NULL, 2);
  expect_bad(column_union("u", "+ud:5", &id, &offset, 1, &child, 1));
  expect_bad(column_runs("r", "i", &one, 1, 2, column_int32("values", values, NULL, 2)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t15_only_live_bytes_of_views_are_written),
      cmocka_unit_test(t16_shared_values_are_written_once_a_block),
      cmocka_unit_test(views_are_written_alike_however_they_are_shared),
      cmocka_unit_test(runs_of_equal_values_become_one),
      cmocka_unit_test(run_ends_cut_blocks_before_they_overflow),
      cmocka_unit_test(blocks_are_cut_before_an_offset_overflows),
      cmocka_unit_test(t31_null_columns_stand_anywhere),
      cmocka_unit_test(t42_nulls_have_zero_views),
      cmocka_unit_test(rows_that_name_nothing_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

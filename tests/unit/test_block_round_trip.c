/* Every supported type through a block and back, in every codec, layout and trust level. */
#include "support/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int codecs[] = {ASHUF_CODEC_NONE, ASHUF_CODEC_LZ4, ASHUF_CODEC_ZSTD,
                             ASHUF_CODEC_SNAPPY};

static ashuf_ctx *new_ctx(void) {
  ashuf_ctx *ctx = NULL;
  assert_int_equal(ashuf_ctx_new(NULL, &ctx, NULL), ASHUF_OK);
  return ctx;
}

/* One batch in all ways; the context stays warm from way to way. */
static void round_trip_all_ways(ashuf_ctx *ctx, const struct test_column *batch) {
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  for (size_t c = 0; c < 4; c++)
    for (int way = 0; way < 8; way++) {
      struct ashuf_encode_options encode = ASHUF_ENCODE_OPTIONS_INIT;
      struct ashuf_decode_options decode = ASHUF_DECODE_OPTIONS_INIT;
      encode.codec = codecs[c];
      encode.layout = way & 1 ? ASHUF_LAYOUT_ARROW_RS : ASHUF_LAYOUT_COMPACT;
      encode.dictionaries = way & 2 ? ASHUF_DICTIONARIES_PLAIN : ASHUF_DICTIONARIES_KEEP;
      encode.offsets_as_lengths =
          way & 4 ? ASHUF_OFFSETS_AS_LENGTHS_OFF : ASHUF_OFFSETS_AS_LENGTHS_AUTO;
      decode.validate = way & 4 ? ASHUF_VALIDATE_TRUSTED : ASHUF_VALIDATE_FULL;
      out.size = 0;
      encode_batch(ctx, batch, &encode, &out);
      expect_blocks_equal(ctx, &out, &decode, batch, NULL, 0);
    }
  ashuf_buffer_free(&out);
}

static void every_type_survives_every_codec_and_layout(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  for (const char *const *type = test_types; *type != NULL; type++)
    for (int nulls = 0; nulls <= 100; nulls += 50)
      for (int64_t n = 1; n <= 130; n += 43) {
        struct test_random random = {(uint64_t)n * 1000 + (uint64_t)nulls};
        struct test_column column = column_random("c", *type, &random, nulls, n);
        struct test_column batch = batch_of(&column, 1);
        round_trip_all_ways(ctx, &batch);
        column_free(&batch);
      }
  ashuf_ctx_free(ctx);
}

static void chosen_rows_keep_their_order(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  for (const char *const *type = test_types; *type != NULL; type++) {
    struct test_random random = {77};
    struct test_column column = column_random("c", *type, &random, 30, 90);
    struct test_column batch = batch_of(&column, 1);
    int64_t rows[200];
    for (int i = 0; i < 200; i++) rows[i] = random_below(&random, 90);
    ashuf_schema *schema = NULL;
    struct ashuf_error error;
    assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
    struct ashuf_encode_options encode = ASHUF_ENCODE_OPTIONS_INIT;
    encode.codec = ASHUF_CODEC_ZSTD;
    encode.max_rows = 64;
    out.size = 0;
    assert_int_equal(
        ashuf_block_encode_rows(ctx, schema, &batch.array, rows, 200, &encode, &out, &error),
        ASHUF_OK);
    assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &batch, rows, 200), 4);
    ashuf_schema_free(schema);
    column_free(&batch);
  }
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

/* T17: what a slice does not show is not written. */
static void t17_a_slice_of_ten_rows_makes_a_small_block(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct test_random random = {5};
  const int64_t n = 100000;
  struct test_column columns[2] = {column_random("s", "u", &random, 10, n),
                                   column_random("l", "list(struct(b,u))", &random, 10, n)};
  struct test_column batch = batch_of(columns, 2);
  column_slice(&batch, n - 10 - 3, 10);
  struct ashuf_encode_options encode = ASHUF_ENCODE_OPTIONS_INIT;
  encode.codec = ASHUF_CODEC_NONE;
  encode_batch(ctx, &batch, &encode, &out);
  assert_true(out.size < 4096);
  expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0);
  column_free(&batch);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

static void t17_every_type_at_odd_offsets(void **state) {
  (void)state;
  static const int64_t offsets[] = {0, 1, 7, 8, 9};
  ashuf_ctx *ctx = new_ctx();
  for (const char *const *type = test_types; *type != NULL; type++)
    for (size_t i = 0; i < 5; i++) {
      struct test_random random = {i + 1};
      struct test_column column = column_random("c", *type, &random, 25, 60);
      struct test_column batch = batch_of(&column, 1);
      column_slice(&batch, offsets[i], 41);
      round_trip_all_ways(ctx, &batch);
      column_free(&batch);
    }
  ashuf_ctx_free(ctx);
}

static void no_rows_make_no_bytes(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct test_column column = column_int32("a", NULL, NULL, 0);
  struct test_column batch = batch_of(&column, 1);
  encode_batch(ctx, &batch, NULL, &out);
  assert_int_equal(out.size, 0);
  column_free(&batch);
  ashuf_ctx_free(ctx);
}

static void rows_without_columns_survive(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct test_column batch = batch_of_nothing(12);
  round_trip_all_ways(ctx, &batch);
  column_free(&batch);
  ashuf_ctx_free(ctx);
}

/* T3 and T4: no block above the row limit, none above the byte limit; order kept. */
static void t3_blocks_are_cut_by_rows(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct test_random random = {3};
  struct test_column column = column_random("c", "l", &random, 0, 8221);
  struct test_column batch = batch_of(&column, 1);
  encode_batch(ctx, &batch, NULL, &out);
  assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0), 2);
  column_free(&batch);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

static void t4_blocks_are_cut_by_bytes(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct test_random random = {4};
  struct test_column columns[2] = {column_random("c", "w:64", &random, 0, 8000),
                                   column_random("d", "list(u)", &random, 10, 8000)};
  struct test_column batch = batch_of(columns, 2);
  struct ashuf_encode_options encode = ASHUF_ENCODE_OPTIONS_INIT;
  encode.max_body = 64 << 10;
  encode_batch(ctx, &batch, &encode, &out);
  assert_true(expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0) >= 8000 * 64 / (64 << 10));
  for (size_t at = 0; at < out.size;) {
    struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
    struct ashuf_bytes bytes = {.data = out.data + at};
    struct ArrowArray got;
    const ashuf_schema *schema = NULL;
    assert_int_equal(ashuf_block_peek(bytes.data, out.size - at, &info, NULL), ASHUF_OK);
    bytes.size = info.size;
    assert_int_equal(ashuf_block_decode(ctx, &bytes, NULL, &schema, &got, &info, NULL), ASHUF_OK);
    assert_true(info.body_size <= encode.max_body);
    got.release(&got);
    at += bytes.size;
  }
  column_free(&batch);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_survives_every_codec_and_layout),
      cmocka_unit_test(chosen_rows_keep_their_order),
      cmocka_unit_test(t17_a_slice_of_ten_rows_makes_a_small_block),
      cmocka_unit_test(t17_every_type_at_odd_offsets),
      cmocka_unit_test(no_rows_make_no_bytes),
      cmocka_unit_test(rows_without_columns_survive),
      cmocka_unit_test(t3_blocks_are_cut_by_rows),
      cmocka_unit_test(t4_blocks_are_cut_by_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

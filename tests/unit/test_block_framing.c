/* One block whose framing, compressed payload or lengths are damaged: T24 to T26. */
#include "support/small_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ashuf_error expect_status(const struct ashuf_buffer *block, ashuf_status want) {
  struct ashuf_error error;
  ashuf_ctx *ctx = context_in(NULL);
  ashuf_status status = decode_block(ctx, block->data, block->size, NULL, NULL, NULL, &error);
  if (status != want) print_error("got %s: %s\n", ashuf_status_name(status), error.message);
  assert_int_equal(status, want);
  ashuf_ctx_free(ctx);
  return error;
}

/* ---- T24 ---------------------------------------------------------------------------------- */

static void t24_a_header_cut_short_says_where(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  for (size_t size = 0; size < 20; size++) {
    struct ashuf_buffer cut = block_copy(&block, size);
    struct ashuf_error error = expect_status(&cut, ASHUF_TRUNCATED);
    assert_int_equal(error.space, ASHUF_SPACE_BLOCK);
    assert_int_equal(error.offset, size);
    ashuf_buffer_free(&cut);
  }
  ashuf_buffer_free(&block);
}

static void t24_impossible_lengths_are_refused(void **state) {
  (void)state;
  static const uint64_t lengths[] = {UINT64_MAX, 0, 7, 11, 12, (uint64_t)1 << 31, INT64_MAX};
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    memcpy(block.data, &lengths[i], 8);
    struct ashuf_error error = expect_status(&block, ASHUF_BAD_HEADER);
    assert_int_equal(error.offset, 0);
  }
  ashuf_buffer_free(&block);
}

static void t24_an_unknown_tag_is_refused(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  memcpy(block.data + 16, "LZ4\n", 4);
  struct ashuf_error error = expect_status(&block, ASHUF_UNKNOWN_CODEC);
  assert_int_equal(error.offset, 16);
  assert_null(strchr(error.message, '\n'));
  ashuf_buffer_free(&block);
}

static void t24_a_wrong_field_count_is_refused(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  block.data[8] = 3;
  assert_int_equal(expect_status(&block, ASHUF_BAD_HEADER).offset, 8);
  ashuf_buffer_free(&block);
}

static void t24_a_schema_alone_is_no_block(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  struct ashuf_buffer cut = block_copy(&block, block_schema_end(&block));
  block_set_length(&cut);
  struct ashuf_error error = expect_status(&cut, ASHUF_BAD_SEQUENCE);
  assert_int_equal(error.offset, block_schema_end(&block) - 20);
  put_bytes(&cut, (const uint32_t[]){0xFFFFFFFFu, 0}, 8);
  block_set_length(&cut);
  expect_status(&cut, ASHUF_BAD_SEQUENCE);
  ashuf_buffer_free(&cut);
  ashuf_buffer_free(&block);
}

static void t24_two_batches_are_refused(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  size_t end = block.size - 8;
  size_t start = block_schema_end(&block);
  struct ashuf_buffer two = block_copy(&block, end);
  put_bytes(&two, block.data + start, block.size - start);
  block_set_length(&two);
  struct ashuf_error error = expect_status(&two, ASHUF_BAD_SEQUENCE);
  assert_int_equal(error.offset, end - 20);
  ashuf_buffer_free(&two);
  struct ashuf_buffer schemas = block_copy(&block, start);
  put_bytes(&schemas, block.data + 20, block.size - 20);
  block_set_length(&schemas);
  assert_int_equal(expect_status(&schemas, ASHUF_BAD_SEQUENCE).offset, start + 8 - 20);
  ashuf_buffer_free(&schemas);
  ashuf_buffer_free(&block);
}

static void t24_bytes_after_the_end_mark_are_refused(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  put_bytes(&block, "", 1);
  expect_status(&block, ASHUF_TRAILING_DATA);
  block_set_length(&block);
  struct ashuf_error error = expect_status(&block, ASHUF_TRAILING_DATA);
  assert_int_equal(error.space, ASHUF_SPACE_STREAM);
  assert_int_equal(error.offset, block.size - 20 - 1);
  ashuf_buffer_free(&block);
}

/* A cut is an error everywhere but at the boundary behind the batch. */
static void t24_a_stream_cut_anywhere_is_refused(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  ashuf_ctx *ctx = context_in(NULL);
  for (size_t size = 21; size < block.size; size++) {
    struct ashuf_buffer cut = block_copy(&block, size);
    block_set_length(&cut);
    struct ashuf_error error;
    ashuf_status status = decode_block(ctx, cut.data, cut.size, NULL, NULL, NULL, &error);
    if (size == block.size - 8)
      assert_int_equal(status, ASHUF_OK);
    else
      assert_true(status == ASHUF_TRUNCATED || status == ASHUF_BAD_SEQUENCE);
    ashuf_buffer_free(&cut);
  }
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&block);
}

/* ---- T25 ---------------------------------------------------------------------------------- */

static void t25_compressed_payloads_must_end_where_they_end(void **state) {
  (void)state;
  for (size_t i = 1; i < 4; i++) {
    struct ashuf_buffer block = small_block(every_codec[i], "");
    struct ashuf_buffer cut = block_copy(&block, block.size - 1);
    block_set_length(&cut);
    ashuf_ctx *ctx = context_in(NULL);
    struct ashuf_error error;
    assert_int_not_equal(decode_block(ctx, cut.data, cut.size, NULL, NULL, NULL, &error), ASHUF_OK);
    struct ashuf_buffer more = block_copy(&block, block.size);
    put_bytes(&more, block.data + 20, block.size - 20);
    block_set_length(&more);
    assert_int_not_equal(decode_block(ctx, more.data, more.size, NULL, NULL, NULL, &error),
                         ASHUF_OK);
    struct ashuf_buffer byte = block_copy(&block, block.size);
    put_bytes(&byte, "x", 1);
    block_set_length(&byte);
    assert_int_not_equal(decode_block(ctx, byte.data, byte.size, NULL, NULL, NULL, &error),
                         ASHUF_OK);
    assert_int_equal(decode_block(ctx, block.data, block.size, NULL, NULL, NULL, &error), ASHUF_OK);
    ashuf_ctx_free(ctx);
    ashuf_buffer_free(&cut);
    ashuf_buffer_free(&more);
    ashuf_buffer_free(&byte);
    ashuf_buffer_free(&block);
  }
}

/* Any single byte changed: no crash, and the context still works. */
static void t25_flipped_bytes_never_hurt(void **state) {
  (void)state;
  ashuf_ctx *ctx = context_in(NULL);
  for (size_t i = 0; i < 4; i++) {
    struct ashuf_buffer block = small_block(every_codec[i], "");
    for (size_t at = 0; at < block.size; at++)
      for (int bit = 0; bit < 8; bit++) {
        uint8_t *exact = malloc(block.size);
        memcpy(exact, block.data, block.size);
        exact[at] = (uint8_t)(exact[at] ^ (1 << bit));
        struct ashuf_error error;
        (void)decode_block(ctx, exact, block.size, NULL, NULL, NULL, &error);
        free(exact);
      }
    assert_int_equal(decode_block(ctx, block.data, block.size, NULL, NULL, NULL, NULL), ASHUF_OK);
    ashuf_buffer_free(&block);
  }
  ashuf_ctx_free(ctx);
}

/* ---- T26 ---------------------------------------------------------------------------------- */

static void t26_lengths_nobody_stands_behind_allocate_nothing(void **state) {
  (void)state;
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.memory = memory;
  ashuf_ctx *ctx = NULL;
  assert_int_equal(ashuf_ctx_new(&options, &ctx, NULL), ASHUF_OK);
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  struct ashuf_error error;
  struct ashuf_buffer bomb = block_copy(&block, 32);
  block_set_length(&bomb);
  memcpy(bomb.data + 24, (const uint32_t[]){0x48001b00}, 4);
  assert_int_equal(decode_block(ctx, bomb.data, bomb.size, NULL, NULL, NULL, &error),
                   ASHUF_TRUNCATED);
  assert_int_equal(error.offset, 8);
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &stats);
  assert_true(stats.peak <= (64 << 10) + bomb.size);
  ashuf_buffer_free(&bomb);
  ashuf_buffer_free(&block);
  ashuf_ctx_free(ctx);
  ashuf_memory_free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t24_a_header_cut_short_says_where),
      cmocka_unit_test(t24_impossible_lengths_are_refused),
      cmocka_unit_test(t24_an_unknown_tag_is_refused),
      cmocka_unit_test(t24_a_wrong_field_count_is_refused),
      cmocka_unit_test(t24_a_schema_alone_is_no_block),
      cmocka_unit_test(t24_two_batches_are_refused),
      cmocka_unit_test(t24_bytes_after_the_end_mark_are_refused),
      cmocka_unit_test(t24_a_stream_cut_anywhere_is_refused),
      cmocka_unit_test(t25_compressed_payloads_must_end_where_they_end),
      cmocka_unit_test(t25_flipped_bytes_never_hurt),
      cmocka_unit_test(t26_lengths_nobody_stands_behind_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

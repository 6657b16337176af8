/* What decoding takes beside a borrowed block: a block given away, a payload, an expected schema.
 */
#include "support/small_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Given-away blocks -------------------------------------------------------------------- */

static void count_release(struct ashuf_bytes *bytes) {
  ++*(int *)bytes->private_data;
  bytes->release = NULL;
}

/* The stream at 0 mod 64: the block 20 bytes before that. */
static void a_given_block_is_borrowed_and_given_back_once(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  for (size_t shift = 40; shift < 48; shift++) {
    uint8_t *memory = aligned_alloc(64, 4096);
    memcpy(memory + shift, block.data, block.size);
    int released = 0;
    struct ashuf_bytes bytes = {memory + shift, block.size, count_release, &released};
    ashuf_ctx *ctx = context_in(NULL);
    const ashuf_schema *schema = NULL;
    struct ArrowArray batch;
    assert_int_equal(ashuf_block_decode(ctx, &bytes, NULL, &schema, &batch, NULL, NULL), ASHUF_OK);
    assert_null(bytes.release);
    const uint8_t *values = batch.children[0]->buffers[1];
    bool inside = values >= memory && values < memory + 4096;
    assert_int_equal(inside, (shift & 7) == 4);
    assert_int_equal(released, inside ? 0 : 1);
    assert_int_equal((uintptr_t)values & 3, 0);
    ashuf_ctx_free(ctx);
    struct ArrowArray column = *batch.children[1];
    batch.children[1]->release = NULL;
    batch.release(&batch);
    assert_int_equal(released, inside ? 0 : 1);
    column.release(&column);
    assert_int_equal(released, 1);
    free(memory);
  }
  ashuf_buffer_free(&block);
}

static void a_given_block_stays_the_callers_on_failure(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  put_bytes(&block, "x", 1);
  block_set_length(&block);
  int released = 0;
  struct ashuf_bytes bytes = {block.data, block.size, count_release, &released};
  ashuf_ctx *ctx = context_in(NULL);
  const ashuf_schema *schema = NULL;
  struct ArrowArray batch;
  assert_int_equal(ashuf_block_decode(ctx, &bytes, NULL, &schema, &batch, NULL, NULL),
                   ASHUF_TRAILING_DATA);
  assert_true(bytes.release == count_release);
  assert_int_equal(released, 0);
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&block);
}

static void a_payload_decodes_from_its_tag_on(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_ZSTD, "");
  ashuf_ctx *ctx = context_in(NULL);
  struct ashuf_bytes bytes = {.data = block.data + 16, .size = block.size - 16};
  const ashuf_schema *schema = NULL;
  struct ArrowArray batch;
  assert_int_equal(ashuf_payload_decode(ctx, &bytes, 2, NULL, &schema, &batch, NULL, NULL),
                   ASHUF_OK);
  assert_int_equal(batch.length, 3);
  batch.release(&batch);
  for (size_t size = 0; size < 5; size++) {
    bytes.size = size;
    assert_int_equal(ashuf_payload_decode(ctx, &bytes, 2, NULL, &schema, &batch, NULL, NULL),
                     ASHUF_TRUNCATED);
  }
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&block);
}

/* ---- An expected schema ------------------------------------------------------------------ */

static void another_schema_than_expected_names_the_column(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_LZ4, "");
  struct test_column other = small_batch("X");
  ashuf_schema *expected = NULL;
  assert_int_equal(ashuf_schema_import(&other.schema, NULL, &expected, NULL), ASHUF_OK);
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  options.expected = expected;
  ashuf_ctx *ctx = context_in(NULL);
  struct ashuf_error error;
  for (int warm = 0; warm < 2; warm++) {
    assert_int_equal(decode_block(ctx, block.data, block.size, &options, NULL, NULL, &error),
                     ASHUF_SCHEMA_MISMATCH);
    assert_non_null(strstr(error.message, "aX"));
  }
  ashuf_ctx_free(ctx);
  ashuf_schema_free(expected);
  column_free(&other);
  ashuf_buffer_free(&block);
}

/* The address of a freed schema may come again for another one. */
static void an_expected_schema_is_not_known_by_its_address(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  ashuf_ctx *ctx = context_in(NULL);
  for (int i = 0; i < 50; i++) {
    struct test_column batch = small_batch(i & 1 ? "X" : "");
    ashuf_schema *expected = NULL;
    assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &expected, NULL), ASHUF_OK);
    struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
    options.expected = expected;
    assert_int_equal(decode_block(ctx, block.data, block.size, &options, NULL, NULL, NULL),
                     i & 1 ? ASHUF_SCHEMA_MISMATCH : ASHUF_OK);
    ashuf_schema_free(expected);
    column_free(&batch);
  }
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&block);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_given_block_is_borrowed_and_given_back_once),
      cmocka_unit_test(a_given_block_stays_the_callers_on_failure),
      cmocka_unit_test(a_payload_decodes_from_its_tag_on),
      cmocka_unit_test(another_schema_than_expected_names_the_column),
      cmocka_unit_test(an_expected_schema_is_not_known_by_its_address),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

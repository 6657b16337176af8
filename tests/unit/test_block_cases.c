/* One block, damaged or odd, and what the context does about it: T24 to T26, T40, T44 to T46. */
#include "support/blocks.h"

#include "block/block_write.h"

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

static struct ashuf_ctx_stats stats_of(const ashuf_ctx *ctx) {
  struct ashuf_ctx_stats stats = ASHUF_CTX_STATS_INIT;
  ashuf_ctx_get_stats(ctx, &stats);
  return stats;
}

/* An int32 and a string column of three rows, column names given by tag. */
static struct test_column small_batch(const char *tag) {
  char a[32];
  char b[32];
  snprintf(a, sizeof a, "a%s", tag);
  snprintf(b, sizeof b, "b%s", tag);
  int32_t values[] = {7, 0, -2};
  struct test_column columns[2] = {
      column_int32(a, values, "101", 3),
      column_strings(b, "u", (const char *[]){"x", "", "yz"}, 3)};
  return batch_of(columns, 2);
}

static struct ashuf_buffer small_block(int codec, const char *tag) {
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  options.codec = codec;
  options.offsets_as_lengths = ASHUF_OFFSETS_AS_LENGTHS_OFF;
  struct test_column batch = small_batch(tag);
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  encode_batch(ctx, &batch, &options, &out);
  column_free(&batch);
  ashuf_ctx_free(ctx);
  return out;
}

static uint32_t u32_at(const uint8_t *data, size_t at) {
  uint32_t value;
  memcpy(&value, data + at, sizeof value);
  return value;
}

static void set_length(struct ashuf_buffer *block) {
  uint64_t length = block->size - 8;
  memcpy(block->data, &length, sizeof length);
}

/* The schema message of a NONE block ends here. */
static size_t schema_end(const struct ashuf_buffer *block) {
  return 20 + 8 + u32_at(block->data, 24);
}

static struct ashuf_buffer copy_of(const struct ashuf_buffer *block, size_t size) {
  struct ashuf_buffer copy = ASHUF_BUFFER_INIT;
  put_bytes(&copy, block->data, size);
  return copy;
}

static struct ashuf_error expect_status(const struct ashuf_buffer *block, ashuf_status want) {
  struct ashuf_error error;
  ashuf_ctx *ctx = new_ctx();
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
    struct ashuf_buffer cut = copy_of(&block, size);
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
  struct ashuf_buffer cut = copy_of(&block, schema_end(&block));
  set_length(&cut);
  struct ashuf_error error = expect_status(&cut, ASHUF_BAD_SEQUENCE);
  assert_int_equal(error.offset, schema_end(&block) - 20);
  put_bytes(&cut, (const uint32_t[]){0xFFFFFFFFu, 0}, 8);
  set_length(&cut);
  expect_status(&cut, ASHUF_BAD_SEQUENCE);
  ashuf_buffer_free(&cut);
  ashuf_buffer_free(&block);
}

static void t24_two_batches_are_refused(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  size_t end = block.size - 8;
  size_t start = schema_end(&block);
  struct ashuf_buffer two = copy_of(&block, end);
  put_bytes(&two, block.data + start, block.size - start);
  set_length(&two);
  struct ashuf_error error = expect_status(&two, ASHUF_BAD_SEQUENCE);
  assert_int_equal(error.offset, end - 20);
  ashuf_buffer_free(&two);
  struct ashuf_buffer schemas = copy_of(&block, start);
  put_bytes(&schemas, block.data + 20, block.size - 20);
  set_length(&schemas);
  assert_int_equal(expect_status(&schemas, ASHUF_BAD_SEQUENCE).offset, start + 8 - 20);
  ashuf_buffer_free(&schemas);
  ashuf_buffer_free(&block);
}

static void t24_bytes_after_the_end_mark_are_refused(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  put_bytes(&block, "", 1);
  expect_status(&block, ASHUF_TRAILING_DATA);
  set_length(&block);
  struct ashuf_error error = expect_status(&block, ASHUF_TRAILING_DATA);
  assert_int_equal(error.space, ASHUF_SPACE_STREAM);
  assert_int_equal(error.offset, block.size - 20 - 1);
  ashuf_buffer_free(&block);
}

/* A cut is an error everywhere but at the boundary behind the batch. */
static void t24_a_stream_cut_anywhere_is_refused(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  ashuf_ctx *ctx = new_ctx();
  for (size_t size = 21; size < block.size; size++) {
    struct ashuf_buffer cut = copy_of(&block, size);
    set_length(&cut);
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
    struct ashuf_buffer block = small_block(codecs[i], "");
    struct ashuf_buffer cut = copy_of(&block, block.size - 1);
    set_length(&cut);
    ashuf_ctx *ctx = new_ctx();
    struct ashuf_error error;
    assert_int_not_equal(decode_block(ctx, cut.data, cut.size, NULL, NULL, NULL, &error), ASHUF_OK);
    struct ashuf_buffer more = copy_of(&block, block.size);
    put_bytes(&more, block.data + 20, block.size - 20);
    set_length(&more);
    assert_int_not_equal(decode_block(ctx, more.data, more.size, NULL, NULL, NULL, &error),
                         ASHUF_OK);
    struct ashuf_buffer byte = copy_of(&block, block.size);
    put_bytes(&byte, "x", 1);
    set_length(&byte);
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
  ashuf_ctx *ctx = new_ctx();
  for (size_t i = 0; i < 4; i++) {
    struct ashuf_buffer block = small_block(codecs[i], "");
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
  struct ashuf_buffer bomb = copy_of(&block, 32);
  set_length(&bomb);
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

/* ---- T40, T52 ------------------------------------------------------------------------------ */

static void decode_named(ashuf_ctx *ctx, const char *tag) {
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, tag);
  assert_int_equal(decode_block(ctx, block.data, block.size, NULL, NULL, NULL, NULL), ASHUF_OK);
  ashuf_buffer_free(&block);
}

static void t40_the_cache_keeps_the_most_recent(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  static const char *const trace[] = {"A", "B", "C", "D", "A", "E", "D"};
  for (size_t i = 0; i < 7; i++) decode_named(ctx, trace[i]);
  struct ashuf_ctx_stats stats = stats_of(ctx);
  assert_int_equal(stats.schema_misses, 5);
  assert_int_equal(stats.schema_hits, 2);
  assert_int_equal(stats.schema_evictions, 1);
  decode_named(ctx, "B");
  assert_int_equal(stats_of(ctx).schema_misses, 6);
  ashuf_ctx_reset(ctx);
  stats = stats_of(ctx);
  assert_int_equal(stats.schema_hits + stats.schema_misses + stats.blocks_decoded, 0);
  ashuf_ctx_free(ctx);
}

static void t52_an_oversized_schema_bypasses_the_cache(void **state) {
  (void)state;
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.schema_cache_max_size = 64;
  ashuf_ctx *ctx = NULL;
  assert_int_equal(ashuf_ctx_new(&options, &ctx, NULL), ASHUF_OK);
  decode_named(ctx, "A");
  decode_named(ctx, "A");
  struct ashuf_ctx_stats stats = stats_of(ctx);
  assert_int_equal(stats.schema_bypasses, 2);
  assert_int_equal(stats.schema_hits + stats.schema_misses, 0);
  assert_int_equal(stats.messages_parsed, 4);
  ashuf_ctx_free(ctx);
}

static void t35_one_schema_is_parsed_once(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  struct ashuf_buffer a = small_block(ASHUF_CODEC_LZ4, "A");
  struct ashuf_buffer b = small_block(ASHUF_CODEC_LZ4, "B");
  for (int i = 0; i < 100; i++) {
    const struct ashuf_buffer *block = i & 1 ? &a : &b;
    assert_int_equal(decode_block(ctx, block->data, block->size, NULL, NULL, NULL, NULL), ASHUF_OK);
  }
  struct ashuf_ctx_stats stats = stats_of(ctx);
  assert_int_equal(stats.schema_misses, 2);
  assert_int_equal(stats.messages_parsed, 100 + 2);
  assert_int_equal(stats.rows_decoded, 300);
  ashuf_buffer_free(&a);
  ashuf_buffer_free(&b);
  ashuf_ctx_free(ctx);
}

/* ---- T44 ---------------------------------------------------------------------------------- */

static void expect_same_error(const struct ashuf_buffer *good, const struct ashuf_buffer *bad) {
  struct ashuf_error cold;
  struct ashuf_error warm;
  ashuf_ctx *ctx = new_ctx();
  ashuf_status first = decode_block(ctx, bad->data, bad->size, NULL, NULL, NULL, &cold);
  ashuf_ctx_reset(ctx);
  assert_int_equal(decode_block(ctx, good->data, good->size, NULL, NULL, NULL, NULL), ASHUF_OK);
  ashuf_status second = decode_block(ctx, bad->data, bad->size, NULL, NULL, NULL, &warm);
  assert_int_not_equal(first, ASHUF_OK);
  assert_int_equal(first, second);
  assert_int_equal(cold.site, warm.site);
  assert_int_equal(cold.offset, warm.offset);
  assert_int_equal(cold.space, warm.space);
  assert_string_equal(cold.message, warm.message);
  assert_int_equal(decode_block(ctx, good->data, good->size, NULL, NULL, NULL, NULL), ASHUF_OK);
  ashuf_ctx_free(ctx);
}

static void t44_errors_are_the_same_with_a_warm_cache(void **state) {
  (void)state;
  struct ashuf_buffer good = small_block(ASHUF_CODEC_NONE, "");
  struct ashuf_buffer bad = copy_of(&good, good.size);
  put_bytes(&bad, "abc", 3);
  set_length(&bad);
  expect_same_error(&good, &bad);
  bad.size = good.size - 20;
  set_length(&bad);
  expect_same_error(&good, &bad);
  ashuf_buffer_free(&bad);
  bad = copy_of(&good, schema_end(&good) + 3);
  set_length(&bad);
  expect_same_error(&good, &bad);
  ashuf_buffer_free(&bad);
  /* b's offsets: the last 4-aligned run of 0 1 1 3. */
  bad = copy_of(&good, good.size);
  const int32_t offsets[] = {0, 1, 1, 3};
  size_t at = 20;
  while (memcmp(bad.data + at, offsets, sizeof offsets) != 0) at++;
  bad.data[at + 4] = 9;
  expect_same_error(&good, &bad);
  ashuf_buffer_free(&bad);
  ashuf_buffer_free(&good);
}

/* ---- T45, T46 ------------------------------------------------------------------------------ */

static void t46_codecs_alternate_on_one_context_and_survive_failures(void **state) {
  (void)state;
  static const struct {
    int codec;
    int level;
  } turns[] = {{ASHUF_CODEC_ZSTD, 1},   {ASHUF_CODEC_ZSTD, 3}, {ASHUF_CODEC_ZSTD, 19},
               {ASHUF_CODEC_LZ4, 0},    {ASHUF_CODEC_SNAPPY, 0}, {ASHUF_CODEC_NONE, 0},
               {ASHUF_CODEC_LZ4, 9}};
  ashuf_ctx *ctx = new_ctx();
  struct test_random random = {11};
  struct test_column column = column_random("c", "list(struct(l,u))", &random, 20, 700);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
      struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
      options.codec = turns[i].codec;
      options.has_level = 1;
      options.level = turns[i].level;
      out.size = 0;
      encode_batch(ctx, &batch, &options, &out);
      struct ashuf_buffer cut = copy_of(&out, out.size / 2);
      set_length(&cut);
      assert_int_not_equal(decode_block(ctx, cut.data, cut.size, NULL, NULL, NULL, NULL), ASHUF_OK);
      ashuf_buffer_free(&cut);
      expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0);
      options.level = 1000;
      struct ashuf_buffer none = ASHUF_BUFFER_INIT;
      ashuf_schema *schema = NULL;
      assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
      assert_int_equal(ashuf_block_encode(ctx, schema, &batch.array, &options, &none, NULL),
                       ASHUF_INVALID_ARGUMENT);
      assert_int_equal(none.size, 0);
      ashuf_schema_free(schema);
    }
  column_free(&batch);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

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
    ashuf_ctx *ctx = new_ctx();
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
  set_length(&block);
  int released = 0;
  struct ashuf_bytes bytes = {block.data, block.size, count_release, &released};
  ashuf_ctx *ctx = new_ctx();
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
  ashuf_ctx *ctx = new_ctx();
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

/* ---- Limits, schemas ---------------------------------------------------------------------- */

static void t5_offsets_are_cut_before_their_limit(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  static const char *const types[] = {"u", "list(i)", "map(i,u)", "struct(u,list(u))"};
  block_offset_limit = 500;
  for (size_t i = 0; i < 4; i++) {
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

/* T14: 400 distinct values under 8-bit indices. */
static void t14_dictionaries_are_cut_before_their_index_type(void **state) {
  (void)state;
  static char texts[400][8];
  const char *values[400];
  int64_t indices[200];
  ashuf_ctx *ctx = new_ctx();
  for (int i = 0; i < 400; i++) {
    snprintf(texts[i], sizeof texts[i], "v%d", i);
    values[i] = texts[i];
  }
  for (int i = 0; i < 200; i++) indices[i] = i;
  struct test_column column =
      column_dictionary("d", "c", indices, NULL, 128, column_strings("", "u", values, 200));
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  encode_batch(ctx, &batch, NULL, &out);
  assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0), 1);
  ashuf_buffer_free(&out);
  column_free(&batch);
  ashuf_ctx_free(ctx);
}

static void another_schema_than_expected_names_the_column(void **state) {
  (void)state;
  struct ashuf_buffer block = small_block(ASHUF_CODEC_LZ4, "");
  struct test_column other = small_batch("X");
  ashuf_schema *expected = NULL;
  assert_int_equal(ashuf_schema_import(&other.schema, NULL, &expected, NULL), ASHUF_OK);
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  options.expected = expected;
  ashuf_ctx *ctx = new_ctx();
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
  ashuf_ctx *ctx = new_ctx();
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
      cmocka_unit_test(t40_the_cache_keeps_the_most_recent),
      cmocka_unit_test(t52_an_oversized_schema_bypasses_the_cache),
      cmocka_unit_test(t35_one_schema_is_parsed_once),
      cmocka_unit_test(t44_errors_are_the_same_with_a_warm_cache),
      cmocka_unit_test(t46_codecs_alternate_on_one_context_and_survive_failures),
      cmocka_unit_test(a_given_block_is_borrowed_and_given_back_once),
      cmocka_unit_test(a_given_block_stays_the_callers_on_failure),
      cmocka_unit_test(a_payload_decodes_from_its_tag_on),
      cmocka_unit_test(t5_offsets_are_cut_before_their_limit),
      cmocka_unit_test(t14_dictionaries_are_cut_before_their_index_type),
      cmocka_unit_test(another_schema_than_expected_names_the_column),
      cmocka_unit_test(an_expected_schema_is_not_known_by_its_address),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The schema cache: what it keeps and in which order, what it saves, counted exactly. */
#include "support/small_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void decode_good(ashuf_ctx *ctx, const struct ashuf_buffer *block) {
  struct ashuf_error error;
  ashuf_status status = decode_block(ctx, block->data, block->size, NULL, NULL, NULL, &error);
  if (status != ASHUF_OK) fail_msg("%s", error.message);
}

static void expect_counts(const ashuf_ctx *ctx, uint64_t hits, uint64_t misses, uint64_t evictions,
                          uint64_t bypasses) {
  struct ashuf_ctx_stats stats = context_stats(ctx);
  assert_int_equal(stats.schema_hits, hits);
  assert_int_equal(stats.schema_misses, misses);
  assert_int_equal(stats.schema_evictions, evictions);
  assert_int_equal(stats.schema_bypasses, bypasses);
}

/* ---- T40 ---------------------------------------------------------------------------------- */

/* Blocks of schemas A to E, and four others that drive entries out. */
#define LETTERS 5
#define STRANGERS 4
static struct ashuf_buffer letters[LETTERS];
static struct ashuf_buffer strangers[STRANGERS];

static int make_blocks(void **state) {
  (void)state;
  for (int i = 0; i < LETTERS; i++) {
    char tag[2] = {(char)('A' + i), '\0'};
    letters[i] = small_block(ASHUF_CODEC_NONE, tag);
  }
  for (int i = 0; i < STRANGERS; i++) {
    char tag[3] = {'X', (char)('0' + i), '\0'};
    strangers[i] = small_block(ASHUF_CODEC_NONE, tag);
  }
  return 0;
}

static int free_blocks(void **state) {
  (void)state;
  for (int i = 0; i < LETTERS; i++) ashuf_buffer_free(&letters[i]);
  for (int i = 0; i < STRANGERS; i++) ashuf_buffer_free(&strangers[i]);
  return 0;
}

static ashuf_ctx *replay(const char *trace, size_t steps) {
  ashuf_ctx *ctx = context_in(NULL);
  for (size_t i = 0; i < steps; i++) decode_good(ctx, &letters[trace[i] - 'A']);
  return ctx;
}

/* Whether a letter is still there after the trace and n strangers. */
static bool outlives(const char *trace, size_t steps, int letter, int n) {
  ashuf_ctx *ctx = replay(trace, steps);
  for (int i = 0; i < n; i++) decode_good(ctx, &strangers[i]);
  uint64_t hits = context_stats(ctx).schema_hits;
  decode_good(ctx, &letters[letter]);
  bool hit = context_stats(ctx).schema_hits == hits + 1;
  ashuf_ctx_free(ctx);
  return hit;
}

/* The place of a letter in the cache of four, 0 the front, found by how many strangers it takes to
 * drive it out; -1 where it is not there. */
static int place_of(const char *trace, size_t steps, int letter) {
  int n = 0;
  while (n <= STRANGERS && outlives(trace, steps, letter, n)) n++;
  return n == 0 ? -1 : STRANGERS - n;
}

static void t40_the_order_is_exact_after_each_step(void **state) {
  (void)state;
  static const char trace[] = "ABCDAED";
  static const char *const orders[] = {"A", "BA", "CBA", "DCBA", "ADCB", "EADC", "DEAC"};
  for (size_t step = 0; step < 7; step++)
    for (int letter = 0; letter < LETTERS; letter++) {
      const char *at = strchr(orders[step], 'A' + letter);
      int want = at == NULL ? -1 : (int)(at - orders[step]);
      int got = place_of(trace, step + 1, letter);
      if (got != want)
        fail_msg("step %zu: %c stands at %d, want %d", step, 'A' + letter, got, want);
    }
}

static void t40_the_trace_counts_as_it_should(void **state) {
  (void)state;
  static const char trace[] = "ABCDAED";
  static const uint64_t counts[][3] = {{0, 1, 0}, {0, 2, 0}, {0, 3, 0}, {0, 4, 0},
                                       {1, 4, 0}, {1, 5, 1}, {2, 5, 1}};
  for (size_t step = 0; step < 7; step++) {
    ashuf_ctx *ctx = replay(trace, step + 1);
    expect_counts(ctx, counts[step][0], counts[step][1], counts[step][2], 0);
    ashuf_ctx_reset(ctx);
    expect_counts(ctx, 0, 0, 0, 0);
    assert_int_equal(context_stats(ctx).messages_parsed + context_stats(ctx).blocks_decoded, 0);
    decode_good(ctx, &letters[3]);
    expect_counts(ctx, 0, 1, 0, 0); /* reset has emptied it, too */
    ashuf_ctx_free(ctx);
  }
}

/* ---- T52 ---------------------------------------------------------------------------------- */

static void t52_five_schemas_in_turn_miss_every_time(void **state) {
  (void)state;
  ashuf_ctx *ctx = context_in(NULL);
  const int rounds = 3;
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < LETTERS; i++) {
      char tag[2] = {(char)('A' + i), '\0'};
      struct test_column batch = small_batch(tag);
      assert_int_equal(expect_blocks_equal(ctx, &letters[i], NULL, &batch, NULL, 0), 1);
      column_free(&batch);
    }
  expect_counts(ctx, 0, LETTERS * rounds, LETTERS * rounds - 4, 0);
  assert_int_equal(context_stats(ctx).messages_parsed, 2 * LETTERS * rounds);
  /* B C D E are there now, and four in turn hit every time. */
  for (int i = 0; i < 8; i++) decode_good(ctx, &letters[1 + i % 4]);
  expect_counts(ctx, 8, LETTERS * rounds, LETTERS * rounds - 4, 0);
  assert_int_equal(context_stats(ctx).messages_parsed, 2 * LETTERS * rounds + 8);
  ashuf_ctx_free(ctx);
}

/* A batch of one row whose schema message is larger than 64 KiB. */
static struct test_column wide_batch(int n) {
  struct test_column *columns = malloc((size_t)n * sizeof *columns);
  for (int32_t i = 0; i < n; i++) {
    char name[80];
    (void)snprintf(name, sizeof name, "a_column_of_a_very_wide_table_number_%d", i);
    columns[i] = column_int32(name, &i, NULL, 1);
  }
  struct test_column batch = batch_of(columns, n);
  free(columns);
  return batch;
}

static void t52_an_oversized_schema_leaves_the_cache_alone(void **state) {
  (void)state;
  struct test_column batch = wide_batch(1000);
  struct ashuf_buffer wide = blocks_of(&batch, ASHUF_CODEC_NONE);
  assert_true(block_schema_end(&wide) > (64 << 10));
  ashuf_ctx *ctx = context_in(NULL);
  for (int i = 0; i < 4; i++) decode_good(ctx, &letters[i]);
  for (int i = 0; i < 3; i++)
    assert_int_equal(expect_blocks_equal(ctx, &wide, NULL, &batch, NULL, 0), 1);
  expect_counts(ctx, 0, 4, 0, 3);
  assert_int_equal(context_stats(ctx).messages_parsed, 2 * 4 + 2 * 3);
  for (int i = 0; i < 4; i++) decode_good(ctx, &letters[i]);
  expect_counts(ctx, 4, 4, 0, 3);
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&wide);
  column_free(&batch);
}

static void t52_the_limit_and_the_size_are_options(void **state) {
  (void)state;
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  ashuf_ctx *ctx = NULL;
  options.schema_cache_max_size = 64;
  assert_int_equal(ashuf_ctx_new(&options, &ctx, NULL), ASHUF_OK);
  for (int i = 0; i < 2; i++) decode_good(ctx, &letters[0]);
  expect_counts(ctx, 0, 0, 0, 2);
  assert_int_equal(context_stats(ctx).messages_parsed, 4);
  ashuf_ctx_free(ctx);
  options.schema_cache_max_size = 0;
  options.schema_cache_entries = UINT32_MAX; /* none */
  assert_int_equal(ashuf_ctx_new(&options, &ctx, NULL), ASHUF_OK);
  for (int i = 0; i < 2; i++) decode_good(ctx, &letters[0]);
  assert_int_equal(context_stats(ctx).schema_hits, 0);
  assert_int_equal(context_stats(ctx).messages_parsed, 4);
  ashuf_ctx_free(ctx);
  options.schema_cache_entries = 1;
  assert_int_equal(ashuf_ctx_new(&options, &ctx, NULL), ASHUF_OK);
  for (int i = 0; i < 6; i++) decode_good(ctx, &letters[i / 2 % 2]);
  expect_counts(ctx, 3, 3, 2, 0);
  ashuf_ctx_free(ctx);
}

/* ---- T35 ---------------------------------------------------------------------------------- */

#define COLUMNS 50
#define BLOCKS 10000

/* 64 rows of 50 columns; every fifth is a dictionary column where that is asked for. */
static struct test_column many_columns(const char *prefix, bool dictionaries) {
  struct test_random random = {35};
  struct test_column columns[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "%s%d", prefix, i);
    const char *type = dictionaries && i % 5 == 0 ? "dict:i(u)" : i % 2 ? "l" : "u";
    columns[i] = column_random(name, type, &random, 10, 64);
  }
  return batch_of(columns, COLUMNS);
}

/* Decodes BLOCKS blocks by turns; every message but the schemas is parsed, once, and those
 * are parsed `schemas` times. */
static void expect_parses(struct test_column *batches, int n, int dictionaries, uint64_t schemas) {
  struct ashuf_buffer blocks[2];
  ashuf_ctx *ctx = context_in(NULL);
  for (int i = 0; i < n; i++) blocks[i] = blocks_of(&batches[i], ASHUF_CODEC_LZ4);
  for (int i = 0; i < BLOCKS; i++) decode_good(ctx, &blocks[i % n]);
  struct ashuf_ctx_stats stats = context_stats(ctx);
  uint64_t others = (uint64_t)BLOCKS * (uint64_t)(1 + dictionaries);
  assert_int_equal(stats.blocks_decoded, BLOCKS);
  assert_int_equal(stats.rows_decoded, (uint64_t)BLOCKS * 64);
  assert_int_equal(stats.messages_parsed, schemas + others);
  expect_counts(ctx, BLOCKS - schemas, schemas, 0, 0);
  for (int i = 0; i < n; i++) {
    assert_int_equal(expect_blocks_equal(ctx, &blocks[i], NULL, &batches[i], NULL, 0), 1);
    ashuf_buffer_free(&blocks[i]);
    column_free(&batches[i]);
  }
  ashuf_ctx_free(ctx);
}

static void t35_one_schema_is_parsed_once(void **state) {
  (void)state;
  struct test_column batch = many_columns("a", false);
  expect_parses(&batch, 1, 0, 1);
}

static void t35_two_alternating_schemas_are_parsed_twice(void **state) {
  (void)state;
  struct test_column batches[] = {many_columns("a", false), many_columns("b", false)};
  expect_parses(batches, 2, 0, 2);
}

static void t35_one_dictionary_schema_is_parsed_once(void **state) {
  (void)state;
  struct test_column batch = many_columns("d", true);
  expect_parses(&batch, 1, COLUMNS / 5, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t40_the_order_is_exact_after_each_step),
      cmocka_unit_test(t40_the_trace_counts_as_it_should),
      cmocka_unit_test(t52_five_schemas_in_turn_miss_every_time),
      cmocka_unit_test(t52_an_oversized_schema_leaves_the_cache_alone),
      cmocka_unit_test(t52_the_limit_and_the_size_are_options),
      cmocka_unit_test(t35_one_schema_is_parsed_once),
      cmocka_unit_test(t35_two_alternating_schemas_are_parsed_twice),
      cmocka_unit_test(t35_one_dictionary_schema_is_parsed_once),
  };
  return cmocka_run_group_tests(tests, make_blocks, free_blocks);
}

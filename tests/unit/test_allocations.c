/*
 * What decoding and encoding allocate, and what a decoded batch keeps alive, counted by a memory
 * domain. Limits are those of the project: two allocations a block and one a dictionary, none for
 * encoding, and never more than half of what a decoder by arrow-rs takes for the same blocks.
 *
 * libsnappy's own allocations are its business and are not counted.
 */
#include "ipc/batch_holder.h"
#include "support/arrays.h"
#include "support/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CODECS 4
#define ROUNDS 5

static const int all_codecs[CODECS] = {ASHUF_CODEC_NONE, ASHUF_CODEC_LZ4, ASHUF_CODEC_ZSTD,
                                       ASHUF_CODEC_SNAPPY};

/* ---- Batches ------------------------------------------------------------------------------ */

static struct test_column int64_column(const char *name, int64_t rows) {
  int64_t *values = malloc((size_t)rows * sizeof *values);
  for (int64_t i = 0; i < rows; i++) values[i] = i;
  struct test_column column = column_int64(name, values, NULL, rows);
  free(values);
  return column;
}

static struct test_column text_column(const char *name, int64_t rows) {
  int64_t *offsets = malloc(((size_t)rows + 1) * sizeof *offsets);
  char *bytes = malloc((size_t)rows * 16);
  offsets[0] = 0;
  for (int64_t i = 0; i < rows; i++)
    offsets[i + 1] = offsets[i] + snprintf(bytes + offsets[i], 16, "value_%04d", (int)(i % 10000));
  struct test_column column = column_bytes(name, "u", offsets, bytes, NULL, rows);
  free(bytes);
  free(offsets);
  return column;
}

static struct test_column dictionary_column(const char *name, int64_t rows) {
  int64_t *indices = malloc((size_t)rows * sizeof *indices);
  for (int64_t i = 0; i < rows; i++) indices[i] = i % 3;
  const char *values[] = {"red", "green", "blue"};
  struct test_column column =
      column_dictionary(name, "i", indices, NULL, rows, column_strings(name, "u", values, 3));
  free(indices);
  return column;
}

static struct test_column null_column(const char *name, int64_t rows) {
  int32_t *values = calloc((size_t)rows, sizeof *values);
  char *valid = malloc((size_t)rows + 1);
  memset(valid, '1', (size_t)rows);
  valid[rows] = '\0';
  valid[0] = '0';
  struct test_column column = column_int32(name, values, valid, rows);
  free(valid);
  free(values);
  return column;
}

static struct test_column three_by_three(void) {
  struct test_column columns[] = {int64_column("a", 3), text_column("b", 3), null_column("c", 3)};
  return batch_of(columns, 3);
}

static struct test_column long_batch(void) {
  struct test_column columns[] = {int64_column("a", 8192), text_column("b", 8192)};
  return batch_of(columns, 2);
}

static struct test_column dictionary_batch(void) {
  struct test_column columns[] = {int64_column("a", 500), dictionary_column("d", 500),
                                  dictionary_column("e", 500)};
  return batch_of(columns, 3);
}

/* ---- Counting ------------------------------------------------------------------------------ */

static struct ashuf_memory_stats stats_of(const ashuf_memory *memory) {
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &stats);
  return stats;
}

static ashuf_memory *new_memory(void) {
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  return memory;
}

static ashuf_ctx *new_context(ashuf_memory *memory) {
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.memory = memory;
  ashuf_ctx *ctx = NULL;
  assert_int_equal(ashuf_ctx_new(&options, &ctx, NULL), ASHUF_OK);
  return ctx;
}

struct count {
  uint64_t allocations;
  uint64_t bytes;
  uint64_t live; /* more than before, with the batch alive */
  uint64_t retained;
  struct ashuf_block_info info;
};

static struct count count_decode(ashuf_ctx *ctx, ashuf_memory *memory,
                                 const struct ashuf_buffer *block, struct ashuf_bytes *given) {
  struct ashuf_bytes borrowed = {block->data, block->size, NULL, NULL};
  struct ashuf_error error;
  const ashuf_schema *schema = NULL;
  struct ArrowArray batch;
  struct count count = {.info = ASHUF_BLOCK_INFO_INIT};
  struct ashuf_memory_stats before = stats_of(memory);
  ashuf_status status = ashuf_block_decode(ctx, given != NULL ? given : &borrowed, NULL, &schema,
                                           &batch, &count.info, &error);
  if (status != ASHUF_OK) fail_msg("decode: %s", error.message);
  struct ashuf_memory_stats after = stats_of(memory);
  count.allocations = after.allocations - before.allocations;
  count.bytes = after.total - before.total;
  count.live = after.now - before.now;
  count.retained = batch_holder_retained(&batch);
  batch.release(&batch);
  return count;
}

/* The block of a batch, made without the counted domain. */
static struct ashuf_buffer block_of(const struct test_column *batch, int codec) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_buffer block = ASHUF_BUFFER_INIT;
  ashuf_ctx *ctx = new_context(NULL);
  options.codec = codec;
  encode_batch(ctx, batch, &options, &block);
  ashuf_ctx_free(ctx);
  return block;
}

/* ---- Decoding ------------------------------------------------------------------------------ */

/* What a decoder by arrow-rs with a schema cache takes for a block of this shape. */
struct peer {
  uint64_t allocations;
  uint64_t bytes;
  uint64_t live;
};

static void expect_half(const char *what, uint64_t ours, uint64_t theirs, int codec) {
  if (ours * 2 > theirs)
    fail_msg("%s: %s %llu, more than half of %llu", ashuf_codec_name(codec), what,
             (unsigned long long)ours, (unsigned long long)theirs);
}

/* peers in the order of all_codecs. Ours may take the body and half of theirs. */
static void expect_decode(struct test_column batch, const struct peer *peers, uint64_t most) {
  for (int c = 0; c < CODECS; c++) {
    if (!ashuf_codec_available(all_codecs[c])) continue;
    struct ashuf_buffer block = block_of(&batch, all_codecs[c]);
    ashuf_memory *memory = new_memory();
    ashuf_ctx *ctx = new_context(memory);
    (void)count_decode(ctx, memory, &block, NULL);
    for (int i = 0; i < ROUNDS; i++) {
      struct count warm = count_decode(ctx, memory, &block, NULL);
      if (warm.allocations > most)
        fail_msg("%s: %llu allocations a block, %llu are the most", ashuf_codec_name(all_codecs[c]),
                 (unsigned long long)warm.allocations, (unsigned long long)most);
      if (peers == NULL) continue;
      uint64_t body = warm.info.body_size;
      assert_int_equal(warm.bytes, warm.live); /* nothing else in between: live is the peak */
      expect_half("allocations", warm.allocations, peers[c].allocations, all_codecs[c]);
      expect_half("bytes beyond the body", warm.bytes - body, peers[c].bytes, all_codecs[c]);
      expect_half("live bytes beyond the body", warm.live - body, peers[c].live, all_codecs[c]);
    }
    ashuf_buffer_free(&block);
    ashuf_ctx_free(ctx);
    assert_int_equal(stats_of(memory).now, 0);
    ashuf_memory_free(memory);
  }
  column_free(&batch);
}

static void t48_small_blocks_take_two_allocations(void **state) {
  (void)state;
  static const struct peer peers[CODECS] = {
      {12, 1248, 920}, {14, 132320, 131992}, {12, 1248, 920}, {14, 143274, 142946}};
  expect_decode(three_by_three(), peers, 2);
}

static void t48_large_blocks_take_two_allocations(void **state) {
  (void)state;
  static const struct peer peers[CODECS] = {
      {9, 149032, 148816}, {11, 673320, 673104}, {9, 149032, 148816}, {11, 291058, 290842}};
  expect_decode(long_batch(), peers, 2);
}

static void each_dictionary_batch_takes_one_more(void **state) {
  (void)state;
  expect_decode(dictionary_batch(), NULL, 4);
}

static void given_bytes_release(struct ashuf_bytes *bytes) { bytes->release = NULL; }

static void a_block_given_away_copies_nothing(void **state) {
  (void)state;
  struct test_column batch = long_batch();
  struct ashuf_buffer block = block_of(&batch, ASHUF_CODEC_NONE);
  /* 44 mod 64: the body then lies at an address that every type may have. */
  uint8_t *home = aligned_alloc(64, (block.size + 127) / 64 * 64);
  memcpy(home + 44, block.data, block.size);
  ashuf_memory *memory = new_memory();
  ashuf_ctx *ctx = new_context(memory);
  for (int i = 0; i < ROUNDS; i++) {
    struct ashuf_bytes given = {home + 44, block.size, given_bytes_release, NULL};
    struct count count = count_decode(ctx, memory, &block, &given);
    assert_null(given.release);
    if (i == 0) continue;
    assert_in_range(count.allocations, 1, 2);
    assert_in_range(count.bytes, 1, 1024);
  }
  ashuf_ctx_free(ctx);
  ashuf_memory_free(memory);
  ashuf_buffer_free(&block);
  column_free(&batch);
  free(home);
}

/* ---- What a batch keeps alive -------------------------------------------------------------- */

static void expect_retained(const struct count *count, int64_t columns, int codec) {
  uint64_t body = (count->info.body_size + 63) / 64 * 64;
  uint64_t slack = body / 64 > 4096 ? body / 64 : 4096;
  if (count->retained < count->info.body_size ||
      count->retained > body + slack + 128 * (uint64_t)columns)
    fail_msg("%s: a batch keeps %llu bytes for a body of %llu", ashuf_codec_name(codec),
             (unsigned long long)count->retained, (unsigned long long)count->info.body_size);
}

static void check_retained(struct test_column batch) {
  for (int c = 0; c < CODECS; c++) {
    if (!ashuf_codec_available(all_codecs[c])) continue;
    struct ashuf_buffer block = block_of(&batch, all_codecs[c]);
    ashuf_memory *memory = new_memory();
    ashuf_ctx *ctx = new_context(memory);
    struct count cold = count_decode(ctx, memory, &block, NULL);
    expect_retained(&cold, batch.array.n_children, all_codecs[c]);
    for (int i = 0; i < ROUNDS; i++) {
      struct count warm = count_decode(ctx, memory, &block, NULL);
      assert_int_equal(warm.retained, cold.retained);
      assert_int_equal(warm.retained, warm.live); /* the batch is all that the call added */
    }
    ashuf_buffer_free(&block);
    ashuf_ctx_free(ctx);
    ashuf_memory_free(memory);
  }
  column_free(&batch);
}

static void t49_a_batch_keeps_its_body_and_little_else(void **state) {
  (void)state;
  check_retained(three_by_three());
  check_retained(long_batch());
}

static void t49_a_batch_keeps_its_body_when_a_large_block_went_before(void **state) {
  (void)state;
  struct test_column large = long_batch();
  struct test_column small = three_by_three();
  for (int c = 0; c < CODECS; c++) {
    if (!ashuf_codec_available(all_codecs[c])) continue;
    struct ashuf_buffer first = block_of(&large, all_codecs[c]);
    struct ashuf_buffer second = block_of(&small, all_codecs[c]);
    ashuf_memory *memory = new_memory();
    ashuf_ctx *ctx = new_context(memory);
    uint64_t alone = count_decode(ctx, memory, &second, NULL).retained;
    (void)count_decode(ctx, memory, &first, NULL);
    assert_int_equal(count_decode(ctx, memory, &second, NULL).retained, alone);
    ashuf_ctx_free(ctx);
    ashuf_memory_free(memory);
    ashuf_buffer_free(&second);
    ashuf_buffer_free(&first);
  }
  column_free(&small);
  column_free(&large);
}

/* ---- Encoding ------------------------------------------------------------------------------ */

static void check_encode(struct test_column batch, int layout) {
  for (int c = 0; c < CODECS; c++) {
    if (!ashuf_codec_available(all_codecs[c])) continue;
    ashuf_memory *memory = new_memory();
    ashuf_ctx *ctx = new_context(memory);
    ashuf_schema *schema = NULL;
    struct ashuf_buffer out = ASHUF_BUFFER_INIT;
    struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
    options.codec = all_codecs[c];
    options.layout = layout;
    assert_int_equal(ashuf_schema_import(&batch.schema, memory, &schema, NULL), ASHUF_OK);
    uint64_t settled = 0;
    for (int i = 0; i < ROUNDS; i++) {
      out.size = 0;
      assert_int_equal(ashuf_block_encode(ctx, schema, &batch.array, &options, &out, NULL),
                       ASHUF_OK);
      if (i == 1) settled = stats_of(memory).allocations;
    }
    if (stats_of(memory).allocations != settled)
      fail_msg("%s, layout %d: %llu allocations in %d blocks", ashuf_codec_name(all_codecs[c]),
               layout, (unsigned long long)(stats_of(memory).allocations - settled), ROUNDS - 2);
    ashuf_buffer_free(&out);
    ashuf_schema_free(schema);
    ashuf_ctx_free(ctx);
    assert_int_equal(stats_of(memory).now, 0);
    ashuf_memory_free(memory);
  }
  column_free(&batch);
}

static void encoding_allocates_nothing_once_it_is_warm(void **state) {
  (void)state;
  for (int layout = ASHUF_LAYOUT_COMPACT; layout <= ASHUF_LAYOUT_ARROW_RS; layout++) {
    check_encode(three_by_three(), layout);
    check_encode(long_batch(), layout);
    check_encode(dictionary_batch(), layout);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t48_small_blocks_take_two_allocations),
      cmocka_unit_test(t48_large_blocks_take_two_allocations),
      cmocka_unit_test(each_dictionary_batch_takes_one_more),
      cmocka_unit_test(a_block_given_away_copies_nothing),
      cmocka_unit_test(t49_a_batch_keeps_its_body_and_little_else),
      cmocka_unit_test(t49_a_batch_keeps_its_body_when_a_large_block_went_before),
      cmocka_unit_test(encoding_allocates_nothing_once_it_is_warm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* One context for every codec, through failures (T46): what works goes on working, what is kept
 * between calls stays under its cap. */
#include "support/small_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SMALL_CAP ((uint64_t)64 << 10)
#define DEFAULT_CAP ((uint64_t)8 << 20)
/* Structs, the cached schema and its key, tables, pieces below the cap. */
#define SLACK ((uint64_t)256 << 10)

/* ---- An allocator that fails ---------------------------------------------------------------- */

static uint64_t calls_left = UINT64_MAX; /* until one call fails */
static bool call_failed;

static void *failing_allocate(void *user_data, size_t size, size_t alignment) {
  (void)user_data;
  void *pointer = NULL;
  if (calls_left-- == 0) {
    call_failed = true;
    return NULL;
  }
  return posix_memalign(&pointer, alignment, size) == 0 ? pointer : NULL;
}

static void failing_release(void *user_data, void *pointer, size_t size, size_t alignment) {
  (void)user_data;
  (void)size;
  (void)alignment;
  free(pointer);
}

/* ---- One context -------------------------------------------------------------------------- */

struct bench {
  ashuf_memory *memory;
  ashuf_ctx *ctx;
  uint64_t bare; /* bytes in use before the first call */
  uint64_t cap;
  struct test_column batch;
  struct test_column hostile; /* of the same schema; the offsets decrease in its last rows */
  ashuf_schema *schema;
};

/* Offsets of n strings of 20 bytes; the one before the last is too small. */
static struct test_column decreasing_strings(const char *name, int64_t n) {
  int64_t *offsets = malloc(((size_t)n + 1) * sizeof *offsets);
  char *bytes = calloc((size_t)n, 20);
  for (int64_t i = 0; i <= n; i++) offsets[i] = i * 20;
  offsets[n - 1] = 7;
  struct test_column column = column_bytes(name, "u", offsets, bytes, NULL, n);
  free(bytes);
  free(offsets);
  return column;
}

#define ROWS 3000

static void open_bench(struct bench *bench, uint64_t cap) {
  struct ashuf_memory_options memory = ASHUF_MEMORY_OPTIONS_INIT;
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  struct test_random random = {46};
  memory.allocate = failing_allocate;
  memory.release = failing_release;
  memset(bench, 0, sizeof *bench);
  assert_int_equal(ashuf_memory_new(&memory, &bench->memory, NULL), ASHUF_OK);
  options.memory = bench->memory;
  options.scratch_cap = cap;
  assert_int_equal(ashuf_ctx_new(&options, &bench->ctx, NULL), ASHUF_OK);
  bench->cap = cap == 0 ? DEFAULT_CAP : cap;
  bench->bare = memory_stats(bench->memory).now;
  struct test_column good[] = {column_random("n", "list(struct(l,u))", &random, 20, ROWS),
                               column_random("s", "u", &random, 0, ROWS)};
  struct test_column bad[] = {column_random("n", "list(struct(l,u))", &random, 20, ROWS),
                              decreasing_strings("s", ROWS)};
  bench->batch = batch_of(good, 2);
  bench->hostile = batch_of(bad, 2);
  assert_int_equal(ashuf_schema_import(&bench->batch.schema, NULL, &bench->schema, NULL), ASHUF_OK);
}

static void close_bench(struct bench *bench) {
  ashuf_schema_free(bench->schema);
  column_free(&bench->batch);
  column_free(&bench->hostile);
  ashuf_ctx_free(bench->ctx);
  assert_int_equal(memory_stats(bench->memory).now, 0);
  ashuf_memory_free(bench->memory);
}

/* What the context keeps between calls, the output apart. */
static void expect_kept_below_cap(const struct bench *bench, const struct ashuf_buffer *out,
                                  const char *after) {
  uint64_t now = memory_stats(bench->memory).now - bench->bare - out->capacity;
  if (now > bench->cap + SLACK)
    fail_msg("%llu bytes kept after %s, the cap is %llu", (unsigned long long)now, after,
             (unsigned long long)bench->cap);
}

struct turn {
  int codec;
  int level;
};
static const struct turn turns[] = {
    {ASHUF_CODEC_ZSTD, 1},   {ASHUF_CODEC_ZSTD, 3}, {ASHUF_CODEC_ZSTD, 19}, {ASHUF_CODEC_LZ4, 0},
    {ASHUF_CODEC_SNAPPY, 0}, {ASHUF_CODEC_NONE, 0}, {ASHUF_CODEC_LZ4, 9},   {ASHUF_CODEC_ZSTD, 1}};
#define TURNS (sizeof turns / sizeof *turns)

static struct ashuf_encode_options options_of(const struct turn *turn) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  options.codec = turn->codec;
  options.has_level = 1;
  options.level = turn->level;
  options.max_rows = 1000;
  return options;
}

/* Encodes into out from its start; the bytes have to be those of a context that did nothing else.
 */
static void good_encode(struct bench *bench, const struct turn *turn, struct ashuf_buffer *out) {
  struct ashuf_encode_options options = options_of(turn);
  struct ashuf_buffer want = ASHUF_BUFFER_INIT;
  struct ashuf_error error;
  ashuf_ctx *fresh = context_in(NULL);
  out->size = 0;
  ashuf_status status =
      ashuf_block_encode(bench->ctx, bench->schema, &bench->batch.array, &options, out, &error);
  if (status != ASHUF_OK) fail_msg("%s", error.message);
  expect_kept_below_cap(bench, out, "an encode");
  encode_batch(fresh, &bench->batch, &options, &want);
  assert_int_equal(out->size, want.size);
  assert_memory_equal(out->data, want.data, want.size);
  ashuf_buffer_free(&want);
  ashuf_ctx_free(fresh);
}

static void good_decode(struct bench *bench, const struct ashuf_buffer *out) {
  assert_int_equal(expect_blocks_equal(bench->ctx, out, NULL, &bench->batch, NULL, 0), 3);
  expect_kept_below_cap(bench, out, "a decode");
}

/* The offsets that decrease are met in the third block; nothing of the first two stays in out. */
static void failed_encode(struct bench *bench, const struct turn *turn, struct ashuf_buffer *out) {
  struct ashuf_encode_options options = options_of(turn);
  struct ashuf_error error;
  size_t size = out->size;
  assert_int_equal(
      ashuf_block_encode(bench->ctx, bench->schema, &bench->hostile.array, &options, out, &error),
      ASHUF_BAD_ARRAY);
  assert_non_null(strstr(error.message, "\"s\""));
  assert_int_equal(out->size, size);
  struct ashuf_buffer own = ASHUF_BUFFER_INIT;
  assert_int_equal(
      ashuf_block_encode(bench->ctx, bench->schema, &bench->hostile.array, &options, &own, &error),
      ASHUF_BAD_ARRAY);
  assert_int_equal(own.size, 0);
  assert_true(own.capacity != 0); /* it had begun to write */
  ashuf_buffer_free(&own);
  expect_kept_below_cap(bench, out, "a failed encode");
}

/* A block cut, and one whose last byte of data is another. */
static void failed_decode(struct bench *bench, const struct ashuf_buffer *out) {
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  assert_int_equal(ashuf_block_peek(out->data, out->size, &info, NULL), ASHUF_OK);
  for (size_t size = info.size / 2; size < info.size; size += info.size / 4) {
    struct ashuf_buffer cut = block_copy(out, size);
    block_set_length(&cut);
    assert_int_not_equal(decode_block(bench->ctx, cut.data, cut.size, NULL, NULL, NULL, NULL),
                         ASHUF_OK);
    expect_kept_below_cap(bench, out, "a truncated block");
    ashuf_buffer_free(&cut);
  }
  for (size_t at = 20; at < info.size; at += info.size / 7) {
    struct ashuf_buffer bad = block_copy(out, info.size);
    memset(bad.data + at, 0xa5, info.size - at < 16 ? info.size - at : 16);
    ashuf_status status = decode_block(bench->ctx, bad.data, bad.size, NULL, NULL, NULL, NULL);
    if (at == 20) assert_int_not_equal(status, ASHUF_OK); /* elsewhere it may be a value */
    expect_kept_below_cap(bench, out, "a corrupt block");
    ashuf_buffer_free(&bad);
  }
}

static void run_turns(uint64_t cap) {
  struct bench bench;
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  open_bench(&bench, cap);
  for (size_t i = 0; i < TURNS; i++) {
    good_encode(&bench, &turns[i], &out);
    good_decode(&bench, &out);
    failed_encode(&bench, &turns[i], &out);
    good_encode(&bench, &turns[(i + 1) % TURNS], &out);
    failed_encode(&bench, &turns[(i + 2) % TURNS], &out);
    good_encode(&bench, &turns[i], &out);
    failed_decode(&bench, &out);
    good_decode(&bench, &out);
  }
  ashuf_buffer_free(&out);
  close_bench(&bench);
}

static void t46_codecs_alternate_and_survive_failures(void **state) {
  (void)state;
  run_turns(0);
}

static void t46_a_small_cap_keeps_little(void **state) {
  (void)state;
  run_turns(SMALL_CAP);
}

/* Level 19 takes a context far above the default cap for a block of more than one step. */
static void t46_a_context_above_the_default_cap_is_dropped(void **state) {
  (void)state;
  struct test_random random = {19};
  struct test_column column = column_random("l", "l", &random, 0, 100000);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_encode_options options = options_of(&turns[2]);
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct bench bench;
  ashuf_schema *schema = NULL;
  open_bench(&bench, 0);
  options.max_rows = batch.array.length;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  for (int i = 0; i < 2; i++) {
    out.size = 0;
    assert_int_equal(ashuf_block_encode(bench.ctx, schema, &batch.array, &options, &out, NULL),
                     ASHUF_OK);
    assert_true(memory_stats(bench.memory).peak > out.capacity + DEFAULT_CAP + SLACK);
    expect_kept_below_cap(&bench, &out, "level 19");
    assert_int_equal(expect_blocks_equal(bench.ctx, &out, NULL, &batch, NULL, 0), 1);
  }
  ashuf_buffer_free(&out);
  ashuf_schema_free(schema);
  column_free(&batch);
  close_bench(&bench);
}

/* Each allocation of an encode, then of a decode, fails once; a good call follows each time. */
static void t46_failed_allocations_spoil_nothing(void **state) {
  (void)state;
  struct bench bench;
  open_bench(&bench, 1); /* so that every call allocates what it needs */
  for (size_t i = 0; i < TURNS; i++) {
    struct ashuf_encode_options options = options_of(&turns[i]);
    struct ashuf_buffer good = ASHUF_BUFFER_INIT;
    int failures = 0;
    good_encode(&bench, &turns[i], &good);
    for (uint64_t n = 0;; n++) {
      struct ashuf_buffer out = ASHUF_BUFFER_INIT;
      call_failed = false;
      calls_left = n;
      ashuf_status status =
          ashuf_block_encode(bench.ctx, bench.schema, &bench.batch.array, &options, &out, NULL);
      calls_left = UINT64_MAX;
      assert_int_equal(status, call_failed ? ASHUF_OUT_OF_MEMORY : ASHUF_OK);
      if (call_failed) assert_int_equal(out.size, 0);
      ashuf_buffer_free(&out);
      failures += call_failed;
      good_encode(&bench, &turns[i], &good);
      if (!call_failed) break;
    }
    assert_true(failures >= 2);
    for (uint64_t n = 0;; n++) {
      struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
      assert_int_equal(ashuf_block_peek(good.data, good.size, &info, NULL), ASHUF_OK);
      call_failed = false;
      calls_left = n;
      ashuf_status status = decode_block(bench.ctx, good.data, info.size, NULL, NULL, NULL, NULL);
      calls_left = UINT64_MAX;
      assert_int_equal(status, call_failed ? ASHUF_OUT_OF_MEMORY : ASHUF_OK);
      if (n % 4 == 0) good_decode(&bench, &good);
      if (!call_failed) break;
    }
    ashuf_buffer_free(&good);
  }
  close_bench(&bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t46_codecs_alternate_and_survive_failures),
      cmocka_unit_test(t46_a_small_cap_keeps_little),
      cmocka_unit_test(t46_a_context_above_the_default_cap_is_dropped),
      cmocka_unit_test(t46_failed_allocations_spoil_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

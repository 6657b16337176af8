/* What the schema cache must not change: errors (T44) and values (T45). */
#include "support/small_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- T44 ---------------------------------------------------------------------------------- */

struct outcome {
  ashuf_status status;
  struct ashuf_error error;
};

static struct outcome decode_once(ashuf_ctx *ctx, const struct ashuf_buffer *block, int validate) {
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  struct outcome outcome;
  memset(&outcome, 0, sizeof outcome);
  options.validate = validate;
  outcome.status =
      decode_block(ctx, block->data, block->size, &options, NULL, NULL, &outcome.error);
  return outcome;
}

static void expect_same(const char *what, const struct outcome *cold, const struct outcome *warm) {
  if (cold->status != warm->status || cold->error.site != warm->error.site ||
      cold->error.space != warm->error.space || cold->error.offset != warm->error.offset ||
      strcmp(cold->error.message, warm->error.message) != 0)
    fail_msg("%s: cold %s, site %d, offset %llu, \"%s\"; warm %s, site %d, offset %llu, \"%s\"",
             what, ashuf_status_name(cold->status), cold->error.site,
             (unsigned long long)cold->error.offset, cold->error.message,
             ashuf_status_name(warm->status), warm->error.site,
             (unsigned long long)warm->error.offset, warm->error.message);
}

/* A batch with a good block, its stream, and how that is wrapped. */
struct subject {
  const char *name;
  struct test_column batch;
  struct ashuf_buffer stream;
  uint64_t columns;
  int codec;
  bool lengths;
};

/* want: the status where values are validated. hit: the damage lies behind the schema and the
 * codec reaches that far. */
static void check_damaged(const struct subject *subject, const struct ashuf_buffer *bad,
                          const char *damage, ashuf_status want, bool hit) {
  struct ashuf_buffer good =
      block_around(&subject->stream, subject->columns, subject->codec, subject->lengths);
  char what[96];
  for (int validate = ASHUF_VALIDATE_FULL; validate <= ASHUF_VALIDATE_TRUSTED; validate++) {
    ashuf_ctx *fresh = context_in(NULL);
    ashuf_ctx *ctx = context_in(NULL);
    (void)snprintf(what, sizeof what, "%s, %s, %s, %s", subject->name,
                   ashuf_codec_name(subject->codec), damage, validate == 0 ? "full" : "trusted");
    struct outcome cold = decode_once(fresh, bad, validate);
    assert_int_equal(decode_once(ctx, &good, validate).status, ASHUF_OK);
    struct outcome warm = decode_once(ctx, bad, validate);
    if (validate == ASHUF_VALIDATE_FULL && cold.status != want)
      fail_msg("%s: %s, want %s (%s)", what, ashuf_status_name(cold.status),
               ashuf_status_name(want), cold.error.message);
    if (cold.status != ASHUF_OK) assert_int_not_equal(cold.error.space, ASHUF_SPACE_NONE);
    expect_same(what, &cold, &warm);
    if (hit) assert_int_equal(context_stats(ctx).schema_hits, 1);
    assert_int_equal(expect_blocks_equal(ctx, &good, NULL, &subject->batch, NULL, 0), 1);
    assert_int_equal(expect_blocks_equal(fresh, &good, NULL, &subject->batch, NULL, 0), 1);
    ashuf_ctx_free(fresh);
    ashuf_ctx_free(ctx);
  }
  ashuf_buffer_free(&good);
}

/* The stream damaged before it is compressed. */
static void check_stream(const struct subject *subject, struct ashuf_buffer *stream,
                         const char *damage, ashuf_status want) {
  struct ashuf_buffer bad =
      block_around(stream, subject->columns, subject->codec, subject->lengths);
  check_damaged(subject, &bad, damage, want, true);
  ashuf_buffer_free(&bad);
  ashuf_buffer_free(stream);
}

static size_t schema_size(const struct subject *subject) {
  uint32_t size;
  memcpy(&size, subject->stream.data + 4, sizeof size);
  return 8 + size;
}

static void check_ends(const struct subject *subject) {
  const struct ashuf_buffer *good = &subject->stream;
  struct ashuf_buffer stream = block_copy(good, good->size);
  put_bytes(&stream, "abc", 3);
  check_stream(subject, &stream, "trailing bytes", ASHUF_TRAILING_DATA);
  stream = block_copy(good, good->size - 8 - 5);
  check_stream(subject, &stream, "truncated body", ASHUF_TRUNCATED);
  stream = block_copy(good, schema_size(subject) + 3);
  check_stream(subject, &stream, "cut continuation", ASHUF_TRUNCATED);
  stream = block_copy(good, schema_size(subject) + 6);
  check_stream(subject, &stream, "cut length prefix", ASHUF_TRUNCATED);
  stream = block_copy(good, schema_size(subject) + 8 + 9);
  check_stream(subject, &stream, "cut metadata", ASHUF_TRUNCATED);
}

/* Node 0 has 3 rows, 1 of them null; its validity bits stay. */
static void check_null_count(const struct subject *subject) {
  static const int64_t counts[] = {2, 4, -2};
  static const ashuf_status wants[] = {ASHUF_BAD_VALUES, ASHUF_BAD_BATCH, ASHUF_BAD_BATCH};
  for (int i = 0; i < 3; i++) {
    struct ashuf_buffer stream = block_copy(&subject->stream, subject->stream.size);
    struct message message = stream_last_message(&stream);
    uint8_t *nodes = stream.data + (message.batch.nodes - stream.data);
    int64_t count;
    memcpy(&count, nodes + 8, sizeof count);
    assert_int_equal(count, 1);
    memcpy(nodes + 8, &counts[i], sizeof count);
    check_stream(subject, &stream, "null count", wants[i]);
  }
}

static void check_payload(const struct subject *subject) {
  struct ashuf_buffer bad =
      block_around(&subject->stream, subject->columns, subject->codec, subject->lengths);
  bad.size--;
  block_set_length(&bad);
  check_damaged(subject, &bad, "cut payload", ASHUF_TRUNCATED, false);
  bad.size -= 20;
  block_set_length(&bad);
  check_damaged(subject, &bad, "cut payload", ASHUF_TRUNCATED, false);
  ashuf_buffer_free(&bad);
}

static struct subject subject_of(const char *name, struct test_column batch, int from) {
  struct subject subject = {
      .name = name, .batch = batch, .columns = (uint64_t)batch.array.n_children};
  struct ashuf_buffer block = blocks_of(&subject.batch, from);
  subject.stream = stream_of_block(&block);
  subject.lengths = (block.data[16] & 0x80) != 0;
  ashuf_buffer_free(&block);
  return subject;
}

static void subject_free(struct subject *subject) {
  ashuf_buffer_free(&subject->stream);
  column_free(&subject->batch);
}

static void t44_plain_blocks_fail_alike_cold_and_warm(void **state) {
  (void)state;
  struct subject subject = subject_of("plain", small_batch(""), ASHUF_CODEC_NONE);
  assert_false(subject.lengths);
  for (int c = 0; c < N_CODECS; c++) {
    subject.codec = every_codec[c];
    check_ends(&subject);
    check_null_count(&subject);
    check_payload(&subject);
    struct ashuf_buffer stream = block_copy(&subject.stream, subject.stream.size);
    stream_find(&stream, (const int32_t[]){0, 1, 1, 3}, 16)[4] = 9;
    check_stream(&subject, &stream, "corrupt offsets", ASHUF_BAD_VALUES);
  }
  subject_free(&subject);
}

static void t44_blocks_of_lengths_fail_alike_cold_and_warm(void **state) {
  (void)state;
  struct subject subject = subject_of("lengths", small_batch(""), ASHUF_CODEC_ZSTD);
  assert_true(subject.lengths);
  for (int c = 0; c < N_CODECS; c++) {
    subject.codec = every_codec[c];
    check_ends(&subject);
    check_null_count(&subject);
    check_payload(&subject);
    /* 0 1 0 2 in four planes of bytes, the lowest first */
    static const uint8_t planes[16] = {0, 1, 0, 2};
    struct ashuf_buffer stream = block_copy(&subject.stream, subject.stream.size);
    stream_find(&stream, planes, sizeof planes)[1] = 9;
    check_stream(&subject, &stream, "a length too large", ASHUF_BAD_VALUES);
    stream = block_copy(&subject.stream, subject.stream.size);
    stream_find(&stream, planes, sizeof planes)[13] = 0x80;
    check_stream(&subject, &stream, "a negative length", ASHUF_BAD_VALUES);
  }
  subject_free(&subject);
}

static void t44_dictionary_blocks_fail_alike_cold_and_warm(void **state) {
  (void)state;
  const int64_t indices[] = {1, 0, 2};
  struct test_column column = column_dictionary(
      "d", "i", indices, "101", 3, column_strings("", "u", (const char *[]){"p", "qq", "r"}, 3));
  struct subject subject = subject_of("dictionary", batch_of(&column, 1), ASHUF_CODEC_NONE);
  for (int c = 0; c < N_CODECS; c++) {
    subject.codec = every_codec[c];
    check_ends(&subject);
    check_null_count(&subject);
    check_payload(&subject);
    /* The values left are "qq" and "r"; offsets 0 2 3, indices 0 . 1. */
    struct ashuf_buffer stream = block_copy(&subject.stream, subject.stream.size);
    stream_find(&stream, (const int32_t[]){0, 0, 1}, 12)[8] = 7;
    check_stream(&subject, &stream, "dictionary index", ASHUF_BAD_VALUES);
    stream = block_copy(&subject.stream, subject.stream.size);
    stream_find(&stream, (const int32_t[]){0, 2, 3}, 12)[4] = 9;
    check_stream(&subject, &stream, "offsets of the dictionary", ASHUF_BAD_VALUES);
  }
  subject_free(&subject);
}

/* ---- T45 ---------------------------------------------------------------------------------- */

/* One decode whose counts are known: parsed messages and hits, beside blocks and rows. */
static void decode_counted(ashuf_ctx *ctx, const struct ashuf_buffer *block, int validate,
                           const struct test_column *batch, uint64_t messages, uint64_t hits) {
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  options.validate = validate;
  struct ashuf_ctx_stats before = context_stats(ctx);
  assert_int_equal(expect_blocks_equal(ctx, block, &options, batch, NULL, 0), 1);
  struct ashuf_ctx_stats after = context_stats(ctx);
  assert_int_equal(after.messages_parsed - before.messages_parsed, messages);
  assert_int_equal(after.schema_hits - before.schema_hits, hits);
  assert_int_equal(after.schema_misses - before.schema_misses, 1 - hits);
  assert_int_equal(after.blocks_decoded - before.blocks_decoded, 1);
  assert_int_equal(after.rows_decoded - before.rows_decoded, (uint64_t)batch->array.length);
  assert_int_equal(after.bytes_decoded - before.bytes_decoded, block->size);
  assert_int_equal(after.schema_evictions + after.schema_bypasses, 0);
}

/* Decoded both cold and warm, in contexts of their own and in one that lives through all of it. */
static void check_all_ways(ashuf_ctx *lasting, bool *known, const struct test_column *batch,
                           uint64_t dictionaries) {
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_buffer block = blocks_of(batch, every_codec[c]);
    for (int validate = ASHUF_VALIDATE_FULL; validate <= ASHUF_VALIDATE_TRUSTED; validate++) {
      ashuf_ctx *ctx = context_in(NULL);
      decode_counted(ctx, &block, validate, batch, 2 + dictionaries, 0);
      decode_counted(ctx, &block, validate, batch, 1 + dictionaries, 1);
      decode_counted(ctx, &block, 1 - validate, batch, 1 + dictionaries, 1);
      decode_counted(lasting, &block, validate, batch, (*known ? 1 : 2) + dictionaries, *known);
      *known = true;
      ashuf_ctx_free(ctx);
    }
    ashuf_buffer_free(&block);
  }
}

/* Values as text are compared with the input's, so all ways are equal to each other as well. */
static void t45_all_ways_of_decoding_are_equal(void **state) {
  (void)state;
  static const struct {
    const char *types[3];
    uint64_t dictionaries;
  } shapes[] = {{{"l", "u", "list(struct(b,u))"}, 0},
                {{"dict:i(u)", "l", "dict:c(l)"}, 2},
                {{"list(dict:i(u))", "dict:s(struct(dict:i(u)))", "U"}, 3}};
  ashuf_ctx *lasting = context_in(NULL);
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    bool known = false;
    for (uint64_t seed = 1; seed <= 3; seed++) {
      struct test_random random = {seed * 45 + s};
      struct test_column columns[3];
      for (int i = 0; i < 3; i++) {
        char name[3] = {'c', (char)('0' + i), '\0'};
        columns[i] = column_random(name, shapes[s].types[i], &random, seed == 3 ? 0 : 25, 300);
      }
      struct test_column batch = batch_of(columns, 3);
      check_all_ways(lasting, &known, &batch, shapes[s].dictionaries);
      column_free(&batch);
    }
  }
  ashuf_ctx_free(lasting);
}

/* ---- T50, what one context has to do with it ----------------------------------------------- */

/* A column that is plain in one block and a dictionary in the next: two schemas, each parsed once,
 * and no dictionary leaks into a block without one. */
static void t50_plain_and_dictionary_blocks_alternate_on_one_context(void **state) {
  (void)state;
  const char *const words[] = {"ash", "oak", NULL, "elm", "oak"};
  const int64_t indices[] = {2, 0, 1, 3, 0};
  struct test_column plain = column_strings("s", "u", words, 5);
  struct test_column coded =
      column_dictionary("s", "i", indices, "11011", 5,
                        column_strings("", "u", (const char *[]){"oak", "?", "ash", "elm"}, 4));
  struct test_column batches[] = {batch_of(&plain, 1), batch_of(&coded, 1)};
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_buffer blocks[] = {blocks_of(&batches[0], every_codec[c]),
                                    blocks_of(&batches[1], every_codec[c])};
    ashuf_ctx *ctx = context_in(NULL);
    for (int i = 0; i < 10; i++) {
      assert_int_equal(expect_blocks_equal(ctx, &blocks[i % 2], NULL, &batches[0], NULL, 0), 1);
      assert_int_equal(expect_blocks_equal(ctx, &blocks[i % 2], NULL, &batches[1], NULL, 0), 1);
    }
    assert_int_equal(context_stats(ctx).schema_misses, 2);
    assert_int_equal(context_stats(ctx).messages_parsed, 2 + 10 * 1 + 10 * 2);
    ashuf_ctx_free(ctx);
    for (int i = 0; i < 2; i++) ashuf_buffer_free(&blocks[i]);
  }
  for (int i = 0; i < 2; i++) column_free(&batches[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t44_plain_blocks_fail_alike_cold_and_warm),
      cmocka_unit_test(t44_blocks_of_lengths_fail_alike_cold_and_warm),
      cmocka_unit_test(t44_dictionary_blocks_fail_alike_cold_and_warm),
      cmocka_unit_test(t45_all_ways_of_decoding_are_equal),
      cmocka_unit_test(t50_plain_and_dictionary_blocks_alternate_on_one_context),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

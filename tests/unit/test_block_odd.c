/* Blocks that other writers make and ours does not: odd null counts, offsets and indices (T42), odd
 * framing (T43), the flag for offsets as lengths where it may and may not stand (T51). */
#include "base/bytes.h"
#include "ipc/metadata_int.h"
#include "support/metadata_make.h"
#include "support/small_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Decodes a stream of two columns in a NONE block; fails where that does not work. */
static struct ArrowArray decode_stream(const struct ashuf_buffer *stream, uint64_t columns) {
  struct ashuf_buffer block = block_around(stream, columns, ASHUF_CODEC_NONE, false);
  struct ashuf_error error;
  struct ArrowArray batch;
  ashuf_ctx *ctx = context_in(NULL);
  ashuf_status status = decode_block(ctx, block.data, block.size, NULL, NULL, &batch, &error);
  if (status != ASHUF_OK) fail_msg("%s", error.message);
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&block);
  return batch;
}

static struct ashuf_error refuse_stream(const struct ashuf_buffer *stream, int codec, bool lengths,
                                        ashuf_status want) {
  struct ashuf_buffer block = block_around(stream, 2, codec, lengths);
  struct ashuf_error error;
  ashuf_ctx *ctx = context_in(NULL);
  ashuf_status status = decode_block(ctx, block.data, block.size, NULL, NULL, NULL, &error);
  if (status != want) fail_msg("%s, want %s", ashuf_status_name(status), ashuf_status_name(want));
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&block);
  return error;
}

static struct ashuf_buffer small_stream(void) {
  struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "");
  struct ashuf_buffer stream = stream_of_block(&block);
  ashuf_buffer_free(&block);
  return stream;
}

static struct ashuf_buffer stream_of_batch(const struct test_column *batch, int layout) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_buffer block = ASHUF_BUFFER_INIT;
  ashuf_ctx *ctx = context_in(NULL);
  options.codec = ASHUF_CODEC_NONE;
  options.layout = layout;
  encode_batch(ctx, batch, &options, &block);
  struct ashuf_buffer stream = stream_of_block(&block);
  ashuf_buffer_free(&block);
  ashuf_ctx_free(ctx);
  return stream;
}

/* Field node i of the record batch, to be written. */
static uint8_t *node_at(struct ashuf_buffer *stream, uint32_t i) {
  struct message message = stream_last_message(stream);
  assert_true(i < message.batch.n_nodes);
  return stream->data + (message.batch.nodes - stream->data) + (size_t)i * 16;
}
static uint8_t *buffer_at(struct ashuf_buffer *stream, uint32_t i) {
  struct message message = stream_last_message(stream);
  assert_true(i < message.batch.n_buffers);
  return stream->data + (message.batch.buffers - stream->data) + (size_t)i * 16;
}

/* ---- T42 ---------------------------------------------------------------------------------- */

static void t42_a_null_count_of_minus_one_is_counted(void **state) {
  (void)state;
  struct ashuf_buffer stream = small_stream();
  store_u64(node_at(&stream, 0) + 8, UINT64_MAX);
  store_u64(node_at(&stream, 1) + 8, UINT64_MAX); /* which has no validity buffer */
  struct ArrowArray batch = decode_stream(&stream, 2);
  assert_int_equal(batch.children[0]->null_count, 1);
  assert_int_equal(*(const uint8_t *)batch.children[0]->buffers[0] & 7, 5);
  assert_int_equal(batch.children[1]->null_count, 0);
  batch.release(&batch);
  ashuf_buffer_free(&stream);
}

static void t42_a_null_count_of_0_overrules_a_validity_buffer(void **state) {
  (void)state;
  struct ashuf_buffer stream = small_stream();
  store_u64(node_at(&stream, 0) + 8, 0);
  struct ArrowArray batch = decode_stream(&stream, 2);
  assert_int_equal(batch.children[0]->null_count, 0);
  assert_null(batch.children[0]->buffers[0]);
  batch.release(&batch);
  ashuf_buffer_free(&stream);
}

/* Lists of nothing: the strings below have no rows, and no offsets buffer either. */
static void t42_no_offsets_for_no_rows(void **state) {
  (void)state;
  const int64_t offsets[] = {0, 0, 0, 0};
  struct test_column column =
      column_list("l", "+l", offsets, NULL, 3, column_strings("item", "u", NULL, 0));
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_buffer stream = stream_of_batch(&batch, ASHUF_LAYOUT_ARROW_RS);
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  assert_int_equal(load_u64(buffer_at(&stream, 3) + 8), 4); /* item's: after 2 of l, 1 of item */
  store_u64(buffer_at(&stream, 3) + 8, 0);
  out = block_around(&stream, 1, ASHUF_CODEC_NONE, false);
  ashuf_ctx *ctx = context_in(NULL);
  assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0), 1);
  struct ArrowArray got = decode_stream(&stream, 1);
  assert_int_equal(*(const int32_t *)got.children[0]->children[0]->buffers[1], 0);
  got.release(&got);
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&out);
  ashuf_buffer_free(&stream);
  column_free(&batch);
}

/* Offsets 1 1 1 3 into "xyz": "", "", "yz". */
static void t42_a_first_offset_above_0_is_read(void **state) {
  (void)state;
  struct ashuf_buffer stream = small_stream();
  stream_find(&stream, (const int32_t[]){0, 1, 1, 3}, 16)[0] = 1;
  struct ashuf_buffer out = block_around(&stream, 2, ASHUF_CODEC_LZ4, false);
  int32_t values[] = {7, 0, -2};
  struct test_column columns[] = {column_int32("a", values, "101", 3),
                                  column_strings("b", "u", (const char *[]){"", "", "yz"}, 3)};
  struct test_column want = batch_of(columns, 2);
  ashuf_ctx *ctx = context_in(NULL);
  assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &want, NULL, 0), 1);
  ashuf_ctx_free(ctx);
  column_free(&want);
  ashuf_buffer_free(&out);
  ashuf_buffer_free(&stream);
}

static void t42_garbage_under_nulls_is_not_looked_at(void **state) {
  (void)state;
  const int64_t indices[] = {0, 1, 0};
  static const uint8_t zeros[16];
  uint8_t views[48] = {1, 0, 0, 0, 'p', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  memcpy(views + 32, views, 16);
  struct test_column columns[] = {
      column_dictionary("d", "i", indices, "101", 3,
                        column_strings("", "u", (const char *[]){"p"}, 1)),
      column_views("v", "vu", views, "101", 3, NULL, NULL, 0)};
  struct test_column batch = batch_of(columns, 2);
  struct ashuf_buffer stream = stream_of_batch(&batch, ASHUF_LAYOUT_COMPACT);
  struct message message = stream_last_message(&stream);
  uint8_t *body = stream.data + message.offset + message.metadata_size;
  uint8_t *index = body + load_u64(buffer_at(&stream, 1)) + 4;
  uint8_t *view = body + load_u64(buffer_at(&stream, 3)) + 16;
  /* Ours are zeros there. */
  assert_memory_equal(index, zeros, 4);
  assert_memory_equal(view, zeros, 16);
  memset(index, 0xee, 4);
  memset(view, 0xee, 16);
  struct ashuf_buffer out = block_around(&stream, 2, ASHUF_CODEC_ZSTD, false);
  ashuf_ctx *ctx = context_in(NULL);
  assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0), 1);
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&out);
  ashuf_buffer_free(&stream);
  column_free(&batch);
}

/* A slice has null_count -1; what is written is the count. Values under nulls are zeros. */
static void t42_our_writer_counts_nulls_and_zeroes_what_is_under_them(void **state) {
  (void)state;
  for (const char *const *type = test_types; *type != NULL; type++) {
    struct test_random random = {42};
    struct test_column column = column_random("c", *type, &random, 40, 50);
    struct test_column batch = batch_of(&column, 1);
    column_slice(&batch, 7, 33);
    for (int layout = ASHUF_LAYOUT_COMPACT; layout <= ASHUF_LAYOUT_ARROW_RS; layout++) {
      struct ashuf_buffer stream = stream_of_batch(&batch, layout);
      struct message message = stream_last_message(&stream);
      for (uint32_t i = 0; i < message.batch.n_nodes; i++)
        assert_in_range(load_u64(node_at(&stream, i) + 8), 0, load_u64(node_at(&stream, i)));
      ashuf_buffer_free(&stream);
    }
    column_free(&batch);
  }
  int32_t values[] = {1, -1, 3};
  struct test_column column = column_int32("i", values, "101", 3);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_buffer stream = stream_of_batch(&batch, ASHUF_LAYOUT_COMPACT);
  (void)stream_find(&stream, (const int32_t[]){1, 0, 3}, 12);
  ashuf_buffer_free(&stream);
  column_free(&batch);
}

/* ---- T43 ---------------------------------------------------------------------------------- */

static void t43_a_big_endian_stream_is_refused(void **state) {
  (void)state;
  struct builder builder;
  size_t size = 0;
  builder_init(&builder, NULL);
  uint32_t fields = builder_kept_vector(&builder, 0);
  uint32_t schema = made_schema(&builder, fields, 1, 0);
  uint8_t *bytes = made_message(&builder, METADATA_V5, MESSAGE_SCHEMA, schema, 0, 0, &size);
  struct ashuf_buffer stream = ASHUF_BUFFER_INIT;
  put_bytes(&stream, (const uint32_t[]){0xFFFFFFFFu, (uint32_t)size}, 8);
  put_bytes(&stream, bytes, size);
  put_bytes(&stream, "what follows is not read", 24);
  for (int c = 0; c < N_CODECS; c++)
    assert_int_equal(refuse_stream(&stream, every_codec[c], false, ASHUF_BIG_ENDIAN).space,
                     ASHUF_SPACE_STREAM);
  ashuf_buffer_free(&stream);
  free(bytes);
}

/* Sets Message.version of the message whose metadata begins there. */
static void set_version(uint8_t *metadata, uint16_t version) {
  uint8_t *table = metadata + load_u32(metadata);
  const uint8_t *vtable = table - (int32_t)load_u32(table);
  uint16_t slot = load_u16(vtable + 4);
  assert_int_not_equal(slot, 0);
  assert_int_equal(load_u16(table + slot), METADATA_V5);
  memcpy(table + slot, &version, sizeof version);
}

/* The messages without their continuation words: each metadata stands at 4 mod 8 then, its nodes
 * and buffers with it. */
static struct ashuf_buffer legacy_stream(const struct ashuf_buffer *stream, uint16_t version) {
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct message message;
  size_t at = 0;
  while (load_u32(stream->data + at + 4) != 0) {
    size_t size = load_u32(stream->data + at + 4);
    assert_int_equal(message_read(stream->data + at + 8, size, 0, &message, NULL), ASHUF_OK);
    put_bytes(&out, stream->data + at + 4, 4 + size + (size_t)message.body_length);
    set_version(out.data + out.size - size - (size_t)message.body_length, version);
    at += 8 + size + (size_t)message.body_length;
  }
  return out;
}

static void expect_small(const struct ashuf_buffer *stream) {
  struct test_column batch = small_batch("");
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_buffer out = block_around(stream, 2, every_codec[c], false);
    ashuf_ctx *ctx = context_in(NULL);
    for (int warm = 0; warm < 2; warm++)
      assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0), 1);
    assert_int_equal(context_stats(ctx).schema_hits, 1);
    ashuf_ctx_free(ctx);
    ashuf_buffer_free(&out);
  }
  column_free(&batch);
}

static void t43_legacy_prefixes_nodes_at_4_mod_8_and_every_end_are_read(void **state) {
  (void)state;
  static const uint8_t zeros[8];
  struct ashuf_buffer good = small_stream();
  for (uint16_t version = METADATA_V4; version <= METADATA_V5; version++) {
    struct ashuf_buffer stream = legacy_stream(&good, version);
    size_t bare = stream.size;
    struct ashuf_error error;
    expect_small(&stream); /* no end mark */
    put_bytes(&stream, zeros, 4);
    expect_small(&stream);
    put_bytes(&stream, zeros, 4);
    expect_small(&stream); /* 8 zero bytes */
    put_bytes(&stream, zeros, 1);
    error = refuse_stream(&stream, ASHUF_CODEC_NONE, false, ASHUF_TRAILING_DATA);
    assert_int_equal(error.offset, bare + 8);
    ashuf_buffer_free(&stream);
  }
  good.size -= 8; /* a stream of today without its end mark */
  expect_small(&good);
  put_bytes(&good, zeros, 8);
  expect_small(&good);
  ashuf_buffer_free(&good);
}

/* Other writers give them a validity buffer there, as tests/interop shows. */
static void t43_run_ends_of_v4_are_read_without_a_validity_buffer(void **state) {
  (void)state;
  struct test_random random = {43};
  const int64_t ends[] = {2, 5, 9};
  struct test_column values = column_random("values", "u", &random, 1, 3);
  struct test_column column = column_runs("c", "i", ends, 3, 9, values);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_buffer today = stream_of_batch(&batch, ASHUF_LAYOUT_COMPACT);
  struct ashuf_buffer stream = legacy_stream(&today, METADATA_V4);
  struct ashuf_buffer block = block_around(&stream, 1, ASHUF_CODEC_NONE, false);
  ashuf_ctx *ctx = context_in(NULL);
  assert_int_equal(expect_blocks_equal(ctx, &block, NULL, &batch, NULL, 0), 1);
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&block);
  ashuf_buffer_free(&stream);
  ashuf_buffer_free(&today);
  column_free(&batch);
}

/* ---- T51 ---------------------------------------------------------------------------------- */

static bool is_flagged(const struct ashuf_buffer *block) { return (block->data[16] & 0x80) != 0; }

/* Encoded with ZSTD, where the writer sets the flag; its stream then in every codec. */
static void expect_lengths(const char *type, int nulls, int64_t offset) {
  struct test_random random = {51};
  struct test_column column = column_random("c", type, &random, nulls, 60);
  struct test_column batch = batch_of(&column, 1);
  column_slice(&batch, offset, 41);
  struct ashuf_buffer block = blocks_of(&batch, ASHUF_CODEC_ZSTD);
  struct ashuf_buffer stream = stream_of_block(&block);
  assert_true(is_flagged(&block));
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_buffer out = block_around(&stream, 1, every_codec[c], true);
    ashuf_ctx *ctx = context_in(NULL);
    struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
    for (int warm = 0; warm < 2; warm++) {
      options.validate = warm;
      assert_int_equal(expect_blocks_equal(ctx, &out, &options, &batch, NULL, 0), 1);
    }
    ashuf_ctx_free(ctx);
    ashuf_buffer_free(&out);
  }
  ashuf_buffer_free(&stream);
  ashuf_buffer_free(&block);
  column_free(&batch);
}

static void t51_every_type_with_offsets_is_read_in_every_codec(void **state) {
  (void)state;
  static const char *const types[] = {"u",
                                      "z",
                                      "list(i)",
                                      "map(u,l)",
                                      "list(list(b))",
                                      "struct(i,u,b)",
                                      "list(struct(b,u))",
                                      "fixed_list:2(u)",
                                      "list(n)",
                                      "list(fixed_list:3(z))"};
  static const int64_t offsets[] = {0, 1, 7, 8, 9};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
      expect_lengths(types[t], i % 2 ? 30 : 0, offsets[i]);
}

/* d[0] is the first offset: 1 0 0 2 stands for offsets 1 1 1 3. */
static void t51_a_first_offset_above_0_is_read(void **state) {
  (void)state;
  static const uint8_t planes[16] = {0, 1, 0, 2};
  struct test_column batch = small_batch("");
  struct ashuf_buffer block = blocks_of(&batch, ASHUF_CODEC_ZSTD);
  struct ashuf_buffer stream = stream_of_block(&block);
  uint8_t *at = stream_find(&stream, planes, sizeof planes);
  at[0] = 1;
  at[1] = 0;
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_buffer out = block_around(&stream, 2, every_codec[c], true);
    struct ArrowArray got;
    static const int32_t want[] = {1, 1, 1, 3};
    ashuf_ctx *ctx = context_in(NULL);
    assert_int_equal(decode_block(ctx, out.data, out.size, NULL, NULL, &got, NULL), ASHUF_OK);
    assert_memory_equal(got.children[1]->buffers[1], want, sizeof want);
    got.release(&got);
    ashuf_ctx_free(ctx);
    ashuf_buffer_free(&out);
  }
  ashuf_buffer_free(&stream);
  ashuf_buffer_free(&block);
  column_free(&batch);
}

static void t51_the_flag_means_nothing_without_offsets(void **state) {
  (void)state;
  struct test_random random = {3};
  struct test_column columns[] = {
      column_random("a", "l", &random, 20, 50),
      column_random("b", "struct(b,w:3,fixed_list:2(i))", &random, 20, 50)};
  struct test_column batch = batch_of(columns, 2);
  struct ashuf_buffer stream = stream_of_batch(&batch, ASHUF_LAYOUT_COMPACT);
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_buffer out = block_around(&stream, 2, every_codec[c], true);
    ashuf_ctx *ctx = context_in(NULL);
    assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &batch, NULL, 0), 1);
    ashuf_ctx_free(ctx);
    ashuf_buffer_free(&out);
  }
  ashuf_buffer_free(&stream);
  column_free(&batch);
}

static void t51_layouts_it_does_not_cover_are_refused(void **state) {
  (void)state;
  static const char *const types[] = {"dict:i(u)",   "vu",        "list_view(i)",   "dense(i,u)",
                                      "sparse(i,u)", "runs:i(u)", "list(dict:c(i))"};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    struct test_random random = {t};
    struct test_column columns[] = {column_random("a", "u", &random, 20, 50),
                                    column_random("b", types[t], &random, 20, 50)};
    struct test_column batch = batch_of(columns, 2);
    struct ashuf_buffer block = blocks_of(&batch, ASHUF_CODEC_ZSTD);
    assert_false(is_flagged(&block)); /* nor is it written */
    struct ashuf_buffer stream = stream_of_block(&block);
    for (int c = 0; c < N_CODECS; c++)
      (void)refuse_stream(&stream, every_codec[c], true, ASHUF_UNSUPPORTED);
    ashuf_buffer_free(&stream);
    ashuf_buffer_free(&block);
    column_free(&batch);
  }
}

/* Metadata of a batch whose buffers are LZ4 frames: refused before any of them is looked at. */
static void put_compressed_batch(struct ashuf_buffer *out, const struct message *like) {
  struct builder builder;
  size_t size = 0;
  builder_init(&builder, NULL);
  uint32_t nodes = builder_structs(&builder, like->batch.nodes, like->batch.n_nodes, 16);
  uint32_t buffers = builder_structs(&builder, like->batch.buffers, like->batch.n_buffers, 16);
  uint32_t compression =
      made_table(&builder, (struct made_scalar[]){{COMPRESSION_CODEC, 1, BODY_LZ4}, {0, 0, 0}});
  builder_table(&builder);
  builder_scalar(&builder, BATCH_LENGTH, 8, like->batch.length, 0);
  builder_offset(&builder, BATCH_NODES, nodes);
  builder_offset(&builder, BATCH_BUFFERS, buffers);
  builder_offset(&builder, BATCH_COMPRESSION, compression);
  uint32_t header = builder_table_end(&builder);
  uint8_t *bytes =
      made_message(&builder, METADATA_V5, MESSAGE_BATCH, header, like->body_length, 0, &size);
  put_bytes(out, (const uint32_t[]){0xFFFFFFFFu, (uint32_t)size}, 8);
  put_bytes(out, bytes, size);
  free(bytes);
}

static void t51_lengths_beside_body_compression_are_refused(void **state) {
  (void)state;
  struct test_column batch = small_batch("");
  struct ashuf_buffer block = blocks_of(&batch, ASHUF_CODEC_ZSTD);
  struct ashuf_buffer stream = stream_of_block(&block);
  struct message message = stream_last_message(&stream);
  struct ashuf_buffer bad = block_copy(&stream, (size_t)message.offset - 8);
  put_compressed_batch(&bad, &message);
  put_bytes(&bad, stream.data + message.offset + message.metadata_size,
            (size_t)message.body_length + 8);
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_error error = refuse_stream(&bad, every_codec[c], true, ASHUF_UNSUPPORTED);
    assert_int_equal(error.offset, message.offset);
    assert_non_null(strstr(error.message, "compression"));
  }
  ashuf_buffer_free(&bad);
  ashuf_buffer_free(&stream);
  ashuf_buffer_free(&block);
  column_free(&batch);
}

static void t51_lengths_are_written_where_they_pay(void **state) {
  (void)state;
  struct test_column batch = small_batch("");
  ashuf_ctx *ctx = context_in(NULL);
  for (int c = 0; c < N_CODECS; c++) {
    bool pays = every_codec[c] == ASHUF_CODEC_LZ4 || every_codec[c] == ASHUF_CODEC_ZSTD;
    struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
    struct ashuf_buffer out = ASHUF_BUFFER_INIT;
    options.codec = every_codec[c];
    encode_batch(ctx, &batch, &options, &out);
    assert_int_equal(is_flagged(&out), pays);
    options.offsets_as_lengths = ASHUF_OFFSETS_AS_LENGTHS_OFF;
    out.size = 0;
    encode_batch(ctx, &batch, &options, &out);
    assert_false(is_flagged(&out));
    ashuf_buffer_free(&out);
  }
  ashuf_ctx_free(ctx);
  column_free(&batch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t42_a_null_count_of_minus_one_is_counted),
      cmocka_unit_test(t42_a_null_count_of_0_overrules_a_validity_buffer),
      cmocka_unit_test(t42_no_offsets_for_no_rows),
      cmocka_unit_test(t42_a_first_offset_above_0_is_read),
      cmocka_unit_test(t42_garbage_under_nulls_is_not_looked_at),
      cmocka_unit_test(t42_our_writer_counts_nulls_and_zeroes_what_is_under_them),
      cmocka_unit_test(t43_a_big_endian_stream_is_refused),
      cmocka_unit_test(t43_legacy_prefixes_nodes_at_4_mod_8_and_every_end_are_read),
      cmocka_unit_test(t43_run_ends_of_v4_are_read_without_a_validity_buffer),
      cmocka_unit_test(t51_every_type_with_offsets_is_read_in_every_codec),
      cmocka_unit_test(t51_a_first_offset_above_0_is_read),
      cmocka_unit_test(t51_the_flag_means_nothing_without_offsets),
      cmocka_unit_test(t51_layouts_it_does_not_cover_are_refused),
      cmocka_unit_test(t51_lengths_beside_body_compression_are_refused),
      cmocka_unit_test(t51_lengths_are_written_where_they_pay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

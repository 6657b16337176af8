/*
 * Bytes that another implementation made: streams of arrow-rs decoded and encoded again must come
 * out byte for byte in the arrow-rs layout; the annotated example block in every codec.
 */
#include "support/annotated_block.h"
#include "support/blocks.h"

#include <dirent.h>
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

/* The field count is not known from outside: the one that the decoder accepts. */
static ashuf_status decode_stream(ashuf_ctx *ctx, const uint8_t *stream, size_t size,
                                  const ashuf_schema **schema, struct ArrowArray *batch,
                                  struct ashuf_error *error) {
  ashuf_status status = ASHUF_BAD_HEADER;
  for (uint64_t columns = 0; columns < 64 && status == ASHUF_BAD_HEADER; columns++) {
    struct ashuf_buffer block = ASHUF_BUFFER_INIT;
    wrap_stream(stream, size, columns, &block);
    status = decode_block(ctx, block.data, block.size, NULL, schema, batch, error);
    ashuf_buffer_free(&block);
  }
  return status;
}

static void expect_same_bytes(const char *name, const uint8_t *got, size_t got_size,
                              const uint8_t *want, size_t want_size) {
  size_t i = 0;
  while (i < got_size && i < want_size && got[i] == want[i]) i++;
  if (got_size == want_size && i == want_size) return;
  print_error("%s: %zu bytes, want %zu, first difference at %zu\n", name, got_size, want_size, i);
  fail();
}

/* true where the stream has rows. */
static bool check_stream(ashuf_ctx *ctx, const char *name, const uint8_t *stream, size_t size) {
  const ashuf_schema *schema = NULL;
  struct ArrowArray batch;
  struct ashuf_error error;
  ashuf_status status = decode_stream(ctx, stream, size, &schema, &batch, &error);
  if (status != ASHUF_OK) print_error("%s: %s\n", name, error.message);
  assert_int_equal(status, ASHUF_OK);
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  options.codec = ASHUF_CODEC_NONE;
  options.layout = ASHUF_LAYOUT_ARROW_RS;
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  bool rows = batch.length != 0;
  if (rows) {
    assert_int_equal(ashuf_block_encode(ctx, schema, &batch, &options, &out, NULL), ASHUF_OK);
    expect_same_bytes(name, out.data + 20, out.size - 20, stream, size);
  }
  batch.release(&batch);
  ashuf_buffer_free(&out);
  return rows;
}

static void arrow_rs_streams_come_out_byte_for_byte(void **state) {
  (void)state;
  const char *root = getenv("ASHUF_TEST_DATA");
  if (root == NULL || *root == '\0') skip();
  char path[1024];
  snprintf(path, sizeof path, "%s/data/own_golden", root);
  DIR *directory = opendir(path);
  assert_non_null(directory);
  ashuf_ctx *ctx = new_ctx();
  int checked = 0;
  for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    if (strstr(entry->d_name, ".arrows") == NULL) continue;
    size_t size = 0;
    snprintf(path, sizeof path, "data/own_golden/%s", entry->d_name);
    uint8_t *stream = read_test_data(path, &size);
    assert_non_null(stream);
    if (check_stream(ctx, entry->d_name, stream, size)) checked++;
    free(stream);
  }
  closedir(directory);
  ashuf_ctx_free(ctx);
  assert_true(checked >= 80);
}

static void example_block_reads_in_every_codec(void **state) {
  (void)state;
  static const char *const names[] = {"ex_none", "ex_lz4",          "ex_zstd",
                                      "ex_snap", "ex_snap_literal", "ex_snap_stored"};
  if (getenv("ASHUF_TEST_DATA") == NULL) skip();
  ashuf_ctx *ctx = new_ctx();
  int32_t a[] = {7, 0, -2};
  struct test_column columns[2] = {column_int32("a", a, "101", 3),
                                   column_strings("b", "u", (const char *[]){"x", "", "yz"}, 3)};
  struct test_column batch = batch_of(columns, 2);
  for (size_t i = 0; i < 6; i++) {
    char path[128];
    size_t size = 0;
    snprintf(path, sizeof path, "data/own_golden/blocks/%s.bin", names[i]);
    uint8_t *data = read_test_data(path, &size);
    assert_non_null(data);
    struct ashuf_buffer block = ASHUF_BUFFER_INIT;
    put_bytes(&block, data, size);
    assert_int_equal(expect_blocks_equal(ctx, &block, NULL, &batch, NULL, 0), 1);
    ashuf_buffer_free(&block);
    free(data);
  }
  column_free(&batch);
  ashuf_ctx_free(ctx);
}

/* Metadata behind its prefix, zero-padded to padded bytes. */
static void put_message(struct ashuf_buffer *out, const uint8_t *metadata, size_t size,
                        uint32_t padded) {
  static const uint8_t zeros[64];
  const uint32_t prefix[2] = {0xFFFFFFFFu, padded};
  put_bytes(out, prefix, sizeof prefix);
  put_bytes(out, metadata, size);
  put_bytes(out, zeros, padded - size);
}

/* A body buffer with the zeros that fill it up to 64 bytes. */
static void put_body(struct ashuf_buffer *out, const void *bytes, size_t size) {
  uint8_t buffer[64] = {0};
  memcpy(buffer, bytes, size);
  put_bytes(out, buffer, sizeof buffer);
}

static struct ashuf_buffer annotated_block(void) {
  struct ashuf_buffer stream = ASHUF_BUFFER_INIT;
  put_message(&stream, annotated_schema, sizeof annotated_schema, 184);
  put_message(&stream, annotated_batch, sizeof annotated_batch, 248);
  put_body(&stream, "\x05", 1);
  put_body(&stream, (const int32_t[]){7, 0, -2}, 12);
  put_body(&stream, "\xff", 1);
  put_body(&stream, (const int32_t[]){0, 1, 1, 3}, 16);
  put_body(&stream, "xyz", 3);
  put_bytes(&stream, (const uint32_t[]){0xFFFFFFFFu, 0}, 8);
  struct ashuf_buffer block = ASHUF_BUFFER_INIT;
  wrap_stream(stream.data, stream.size, 2, &block);
  ashuf_buffer_free(&stream);
  return block;
}

static void annotated_block_is_written_byte_for_byte(void **state) {
  (void)state;
  ashuf_ctx *ctx = new_ctx();
  int32_t a[] = {7, 0, -2};
  struct test_column columns[2] = {column_int32("a", a, "101", 3),
                                   column_strings("b", "u", (const char *[]){"x", "", "yz"}, 3)};
  columns[1].schema.flags = 0;
  struct test_column batch = batch_of(columns, 2);
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  options.codec = ASHUF_CODEC_NONE;
  options.layout = ASHUF_LAYOUT_ARROW_RS;
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  encode_batch(ctx, &batch, &options, &out);
  struct ashuf_buffer want = annotated_block();
  assert_int_equal(want.size, 796);
  expect_same_bytes("annotated block", out.data, out.size, want.data, want.size);
  column_free(&batch);
  ashuf_buffer_free(&want);
  ashuf_buffer_free(&out);
  ashuf_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrow_rs_streams_come_out_byte_for_byte),
      cmocka_unit_test(example_block_reads_in_every_codec),
      cmocka_unit_test(annotated_block_is_written_byte_for_byte),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

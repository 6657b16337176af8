/* Compressed data that promises more than there is, and the limit on what may come out: T47. */
#include "base/bytes.h"
#include "codec/checksum.h"
#include "support/small_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
/* A context with what a codec library needs at the least (some 160 KiB for ZSTD). */
#define CONTEXT_MOST (512 * KIB)

/* A block around a payload as it is. */
static struct ashuf_buffer wrap_payload(int codec, const void *payload, size_t size) {
  static const char *const tags[] = {"", "NONE", "LZ4_", "ZSTD", "SNAP"};
  struct ashuf_buffer block = ASHUF_BUFFER_INIT;
  wrap_stream(payload, size, 2, &block);
  memcpy(block.data + 16, tags[codec], 4);
  return block;
}

/* Decodes in a domain of its own; *peak is what that took, the batch included. */
static ashuf_status decode_measured(const struct ashuf_buffer *block, uint64_t max_decoded,
                                    uint64_t *peak, struct ashuf_error *error) {
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  ashuf_ctx *ctx = context_in(memory);
  options.max_decoded_bytes = max_decoded;
  ashuf_status status = decode_block(ctx, block->data, block->size, &options, NULL, NULL, error);
  *peak = memory_stats(memory).peak;
  ashuf_ctx_free(ctx);
  assert_int_equal(memory_stats(memory).now, 0);
  ashuf_memory_free(memory);
  return status;
}

/* ---- ZSTD --------------------------------------------------------------------------------- */

/* A frame with a window of 1 << log bytes and no content size, one raw block. */
static void put_zstd_frame(struct ashuf_buffer *out, unsigned log, const void *bytes, size_t size) {
  uint8_t head[9] = {0x28, 0xB5, 0x2F, 0xFD, 0, (uint8_t)((log - 10) << 3)};
  uint32_t word = (uint32_t)size << 3 | 1;
  memcpy(head + 6, &word, 3);
  put_bytes(out, head, sizeof head);
  put_bytes(out, bytes, size);
}

static void t47_a_zstd_frame_of_30_bytes_gets_no_window_of_128_mib(void **state) {
  (void)state;
  struct ashuf_buffer good = small_block(ASHUF_CODEC_NONE, "");
  struct ashuf_buffer frame = ASHUF_BUFFER_INIT;
  put_zstd_frame(&frame, 27, good.data + 20, 21);
  assert_int_equal(frame.size, 30);
  struct ashuf_buffer block = wrap_payload(ASHUF_CODEC_ZSTD, frame.data, frame.size);
  struct ashuf_error error;
  uint64_t peak = 0;
  assert_int_equal(decode_measured(&block, 0, &peak, &error), ASHUF_TRUNCATED);
  assert_int_equal(error.space, ASHUF_SPACE_STREAM);
  assert_true(peak <= CONTEXT_MOST);
  ashuf_buffer_free(&block);
  ashuf_buffer_free(&frame);
  ashuf_buffer_free(&good);
}

/* Up to the largest window the format can name, 1.875 << 41: a sound block all the same. */
static void t47_a_small_zstd_frame_decodes_whatever_window_it_asks_for(void **state) {
  (void)state;
  struct ashuf_buffer good = small_block(ASHUF_CODEC_NONE, "");
  for (unsigned log = 10; log <= 41; log++) {
    struct ashuf_buffer frame = ASHUF_BUFFER_INIT;
    struct ashuf_error error = {0};
    uint64_t peak = 0;
    put_zstd_frame(&frame, log, good.data + 20, good.size - 20);
    struct ashuf_buffer block = wrap_payload(ASHUF_CODEC_ZSTD, frame.data, frame.size);
    ashuf_status status = decode_measured(&block, 0, &peak, &error);
    if (status != ASHUF_OK && status != ASHUF_SIZE_LIMIT)
      fail_msg("window 1 << %u: %s", log, error.message);
    if (log <= 27) assert_int_equal(status, ASHUF_OK);
    if (peak > CONTEXT_MOST)
      fail_msg("window 1 << %u: %llu bytes at the peak", log, (unsigned long long)peak);
    ashuf_buffer_free(&block);
    ashuf_buffer_free(&frame);
  }
  ashuf_buffer_free(&good);
}

/* Runs of 128 KiB in 4 bytes each: 64 MiB in some 2 KiB, behind a window of 128 MiB. */
static void t47_a_zstd_frame_of_runs_stops_at_the_limit(void **state) {
  (void)state;
  struct ashuf_buffer frame = ASHUF_BUFFER_INIT;
  put_bytes(&frame, (const uint8_t[]){0x28, 0xB5, 0x2F, 0xFD, 0, 17 << 3}, 6);
  for (int i = 0; i < 512; i++) {
    uint32_t word = 131072u << 3 | 1u << 1 | (i == 511);
    put_bytes(&frame, &word, 3);
    put_bytes(&frame, "\x01", 1);
  }
  struct ashuf_buffer block = wrap_payload(ASHUF_CODEC_ZSTD, frame.data, frame.size);
  struct ashuf_error error;
  uint64_t peak = 0;
  /* metadata of 0x01010101 bytes, all of them there */
  assert_int_not_equal(decode_measured(&block, MIB, &peak, &error), ASHUF_OK);
  assert_true(peak <= MIB + 2 * MIB);
  assert_int_not_equal(decode_measured(&block, 0, &peak, &error), ASHUF_OK);
  assert_true(peak <= 3 * 64 * MIB);
  ashuf_buffer_free(&block);
  ashuf_buffer_free(&frame);
}

/* ---- LZ4 ---------------------------------------------------------------------------------- */

/* A frame whose blocks may have 1 << (8 + 2 * code) bytes, and one stored block. */
static void put_lz4_frame(struct ashuf_buffer *out, unsigned code, const void *bytes, size_t size) {
  uint8_t head[7] = {0x04, 0x22, 0x4D, 0x18, 0x60, (uint8_t)(code << 4), 0};
  uint32_t word = (uint32_t)size | 0x80000000u;
  head[6] = (uint8_t)(xxh32_of(head + 4, 2) >> 8);
  put_bytes(out, head, sizeof head);
  put_bytes(out, &word, 4);
  put_bytes(out, bytes, size);
  put_bytes(out, "\0\0\0\0", 4);
}

static void t47_an_lz4_frame_of_10_bytes_gets_no_block_of_4_mib(void **state) {
  (void)state;
  struct ashuf_buffer good = small_block(ASHUF_CODEC_NONE, "");
  struct ashuf_error error;
  uint64_t peak = 0;
  struct ashuf_buffer frame = ASHUF_BUFFER_INIT;
  put_lz4_frame(&frame, 7, good.data + 20, 10);
  struct ashuf_buffer block = wrap_payload(ASHUF_CODEC_LZ4, frame.data, frame.size);
  assert_int_equal(decode_measured(&block, 0, &peak, &error), ASHUF_TRUNCATED);
  assert_int_equal(error.offset, 8); /* where what is cut short begins, as without a codec */
  assert_true(peak <= 128 * KIB);
  ashuf_buffer_free(&block);
  frame.size = 0;
  put_lz4_frame(&frame, 7, good.data + 20, good.size - 20);
  block = wrap_payload(ASHUF_CODEC_LZ4, frame.data, frame.size);
  assert_int_equal(decode_measured(&block, 0, &peak, &error), ASHUF_OK);
  assert_true(peak <= 128 * KIB);
  ashuf_buffer_free(&block);
  ashuf_buffer_free(&frame);
  ashuf_buffer_free(&good);
}

/* ---- max_decoded_bytes --------------------------------------------------------------------- */

static uint64_t stream_size_of(const struct ashuf_buffer *block) {
  struct ashuf_buffer stream = stream_of_block(block);
  uint64_t size = stream.size;
  ashuf_buffer_free(&stream);
  return size;
}

static void expect_limit(const struct ashuf_buffer *block, uint64_t limit, ashuf_status want) {
  struct ashuf_error error = {0};
  uint64_t peak = 0;
  ashuf_status status = decode_measured(block, limit, &peak, &error);
  if (status != want)
    fail_msg("%llu bytes allowed: %s (%s), want %s", (unsigned long long)limit,
             ashuf_status_name(status), error.message, ashuf_status_name(want));
}

/* The stream fits exactly, or is too large: wherever the limit falls, that is what is said. */
static void t47_a_sound_stream_above_the_limit_is_a_size_limit(void **state) {
  (void)state;
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_buffer block = small_block(every_codec[c], "");
    uint64_t size = stream_size_of(&block);
    for (uint64_t limit = 1; limit < size; limit++) expect_limit(&block, limit, ASHUF_SIZE_LIMIT);
    expect_limit(&block, size, ASHUF_OK);
    ashuf_buffer_free(&block);
  }
}

static void t47_a_sound_body_above_the_limit_takes_no_memory(void **state) {
  (void)state;
  const int64_t n = 400000;
  int64_t *zeros = calloc((size_t)n, sizeof *zeros);
  struct test_column column = column_int64("l", zeros, NULL, n);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  options.max_rows = n;
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_buffer block = ASHUF_BUFFER_INIT;
    struct ashuf_error error;
    uint64_t peak = 0;
    ashuf_ctx *ctx = context_in(NULL);
    options.codec = every_codec[c];
    encode_batch(ctx, &batch, &options, &block);
    assert_int_equal(decode_measured(&block, MIB, &peak, &error), ASHUF_SIZE_LIMIT);
    if (peak > MIB + CONTEXT_MOST)
      fail_msg("%s: %llu bytes at the peak", ashuf_codec_name(every_codec[c]),
               (unsigned long long)peak);
    expect_limit(&block, stream_size_of(&block), ASHUF_OK);
    ashuf_buffer_free(&block);
    ashuf_ctx_free(ctx);
  }
  column_free(&batch);
  free(zeros);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t47_a_zstd_frame_of_30_bytes_gets_no_window_of_128_mib),
      cmocka_unit_test(t47_a_small_zstd_frame_decodes_whatever_window_it_asks_for),
      cmocka_unit_test(t47_a_zstd_frame_of_runs_stops_at_the_limit),
      cmocka_unit_test(t47_an_lz4_frame_of_10_bytes_gets_no_block_of_4_mib),
      cmocka_unit_test(t47_a_sound_stream_above_the_limit_is_a_size_limit),
      cmocka_unit_test(t47_a_sound_body_above_the_limit_takes_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "support/small_blocks.h"

#include "base/bytes.h"
#include "support/codec_streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int every_codec[N_CODECS] = {ASHUF_CODEC_NONE, ASHUF_CODEC_LZ4, ASHUF_CODEC_ZSTD,
                                   ASHUF_CODEC_SNAPPY};

static void require(int good, const char *what) {
  if (good) return;
  (void)fprintf(stderr, "test support: %s\n", what);
  abort();
}

ashuf_ctx *context_in(ashuf_memory *memory) {
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  ashuf_ctx *ctx = NULL;
  options.memory = memory;
  require(ashuf_ctx_new(&options, &ctx, NULL) == ASHUF_OK, "no context");
  return ctx;
}

struct ashuf_ctx_stats context_stats(const ashuf_ctx *ctx) {
  struct ashuf_ctx_stats stats = ASHUF_CTX_STATS_INIT;
  ashuf_ctx_get_stats(ctx, &stats);
  return stats;
}

struct ashuf_memory_stats memory_stats(const ashuf_memory *memory) {
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &stats);
  return stats;
}

struct test_column small_batch(const char *tag) {
  char a[32];
  char b[32];
  (void)snprintf(a, sizeof a, "a%s", tag);
  (void)snprintf(b, sizeof b, "b%s", tag);
  int32_t values[] = {7, 0, -2};
  struct test_column columns[2] = {column_int32(a, values, "101", 3),
                                   column_strings(b, "u", (const char *[]){"x", "", "yz"}, 3)};
  return batch_of(columns, 2);
}

static struct ashuf_buffer encoded(const struct test_column *batch,
                                   const struct ashuf_encode_options *options) {
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  ashuf_ctx *ctx = context_in(NULL);
  encode_batch(ctx, batch, options, &out);
  ashuf_ctx_free(ctx);
  return out;
}

struct ashuf_buffer small_block(int codec, const char *tag) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  struct test_column batch = small_batch(tag);
  options.codec = codec;
  options.offsets_as_lengths = ASHUF_OFFSETS_AS_LENGTHS_OFF;
  struct ashuf_buffer out = encoded(&batch, &options);
  column_free(&batch);
  return out;
}

struct ashuf_buffer blocks_of(const struct test_column *batch, int codec) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  options.codec = codec;
  return encoded(batch, &options);
}

struct ashuf_buffer block_copy(const struct ashuf_buffer *block, size_t size) {
  struct ashuf_buffer copy = ASHUF_BUFFER_INIT;
  put_bytes(&copy, block->data, size);
  return copy;
}

void block_set_length(struct ashuf_buffer *block) { store_u64(block->data, block->size - 8); }

size_t block_schema_end(const struct ashuf_buffer *block) {
  return 20 + 8 + load_u32(block->data + 24);
}

struct ashuf_buffer stream_of_block(const struct ashuf_buffer *block) {
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  struct ashuf_buffer stream = ASHUF_BUFFER_INIT;
  struct decoder *decoder = decoder_new(NULL);
  const size_t step = 4096;
  size_t got = step;
  uint8_t piece[4096];
  require(ashuf_block_peek(block->data, block->size, &info, NULL) == ASHUF_OK, "no block");
  require(decoder_open(decoder, info.codec, block->data + 20, block->size - 20, UINT64_MAX, NULL) ==
              ASHUF_OK,
          "the codec does not open");
  while (got == step) {
    require(decoder_read(decoder, piece, step, &got, NULL) == ASHUF_OK, "the codec fails");
    put_bytes(&stream, piece, got);
  }
  decoder_free(decoder);
  return stream;
}

struct ashuf_buffer block_around(const struct ashuf_buffer *stream, uint64_t columns, int codec,
                                 bool offsets_as_lengths) {
  static const char *const tags[] = {"", "NONE", "LZ4_", "ZSTD", "SNAP"};
  struct ashuf_buffer block = ASHUF_BUFFER_INIT;
  struct encoder *encoder = encoder_new(NULL);
  wrap_stream(NULL, 0, columns, &block);
  memcpy(block.data + 16, tags[codec], 4);
  if (offsets_as_lengths) block.data[16] |= 0x80;
  require(codec_encode(encoder, codec, stream->data, stream->size, &block) == ASHUF_OK,
          "the codec does not encode");
  encoder_free(encoder);
  block_set_length(&block);
  return block;
}

struct message stream_last_message(const struct ashuf_buffer *stream) {
  struct message message;
  size_t at = 0;
  bool found = false;
  while (load_u32(stream->data + at + 4) != 0) {
    size_t size = load_u32(stream->data + at + 4);
    require(message_read(stream->data + at + 8, size, at + 8, &message, NULL) == ASHUF_OK,
            "no message");
    at += 8 + size + (size_t)message.body_length;
    found = true;
  }
  require(found, "an empty stream");
  return message;
}

uint8_t *stream_find(const struct ashuf_buffer *stream, const void *pattern, size_t size) {
  for (size_t at = stream->size - size + 1; at-- > 0;)
    if (memcmp(stream->data + at, pattern, size) == 0) return stream->data + at;
  require(0, "the pattern is not in the stream");
  return NULL;
}

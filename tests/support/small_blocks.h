/*
 * Small blocks for tests that damage them: three rows, a copy, the stream inside, a new wrapping.
 * What goes wrong here aborts.
 *
 *   struct ashuf_buffer block = small_block(ASHUF_CODEC_NONE, "A");
 *   struct ashuf_buffer bad = block_copy(&block, block.size - 1);   block_set_length(&bad);
 */
#ifndef TESTS_SUPPORT_SMALL_BLOCKS_H
#define TESTS_SUPPORT_SMALL_BLOCKS_H

#include "ipc/metadata.h"
#include "support/blocks.h"

#define N_CODECS 4
extern const int every_codec[N_CODECS]; /* NONE, LZ4, ZSTD, SNAPPY */

/* A context in a domain, which may be NULL, with the other options at their defaults. */
ashuf_ctx *context_in(ashuf_memory *memory);
struct ashuf_ctx_stats context_stats(const ashuf_ctx *ctx);
struct ashuf_memory_stats memory_stats(const ashuf_memory *memory);

/* int32 a<tag> = 7, null, -2 and utf8 b<tag> = "x", "", "yz" (offsets 0 1 1 3). */
struct test_column small_batch(const char *tag);
struct ashuf_buffer small_block(int codec, const char *tag); /* offsets as they are */
/* The blocks of a batch with the default options but for the codec. */
struct ashuf_buffer blocks_of(const struct test_column *batch, int codec);

/* The first size bytes; its length field is as it was until block_set_length. */
struct ashuf_buffer block_copy(const struct ashuf_buffer *block, size_t size);
void block_set_length(struct ashuf_buffer *block);
/* Where the schema message of a block with codec NONE ends. */
size_t block_schema_end(const struct ashuf_buffer *block);

/* The IPC stream of one block, the codec undone. */
struct ashuf_buffer stream_of_block(const struct ashuf_buffer *block);
/* One block around a stream. */
struct ashuf_buffer block_around(const struct ashuf_buffer *stream, uint64_t columns, int codec,
                                 bool offsets_as_lengths);

/* The last message of a stream that ends with an end mark; its lists point into the stream. */
struct message stream_last_message(const struct ashuf_buffer *stream);
/* The last place of a pattern in a stream, which must be there. */
uint8_t *stream_find(const struct ashuf_buffer *stream, const void *pattern, size_t size);

#endif /* TESTS_SUPPORT_SMALL_BLOCKS_H */

/*
 * Blocks for tests: columns to blocks and back, streams wrapped into blocks by hand.
 */
#ifndef TESTS_SUPPORT_BLOCKS_H
#define TESTS_SUPPORT_BLOCKS_H

#include "support/arrays.h"

#include <ashuf/ashuf.h>

/* Encodes the batch; aborts on failure. */
void encode_batch(ashuf_ctx *ctx, const struct test_column *batch,
                  const struct ashuf_encode_options *options, struct ashuf_buffer *out);

/*
 * Decodes the blocks in out one after another and requires that their rows, in order, have the
 * values of the batch's rows (rows NULL: all of them; else those numbers). Returns the number of
 * blocks. dictionaries are compared by the values they stand for.
 */
int expect_blocks_equal(ashuf_ctx *ctx, const struct ashuf_buffer *out,
                        const struct ashuf_decode_options *options, const struct test_column *batch,
                        const int64_t *rows, int64_t n_rows);

/* Appends a block with codec NONE around an IPC stream; the field count is given. */
void wrap_stream(const uint8_t *stream, size_t size, uint64_t columns, struct ashuf_buffer *out);

/* Appends bytes to a buffer. */
void put_bytes(struct ashuf_buffer *out, const void *bytes, size_t size);

/* Decodes one borrowed block; returns the status. schema and batch may be NULL. */
ashuf_status decode_block(ashuf_ctx *ctx, const uint8_t *data, size_t size,
                          const struct ashuf_decode_options *options, const ashuf_schema **schema,
                          struct ArrowArray *batch, struct ashuf_error *error);

/* The whole of a file under ASHUF_TEST_DATA, malloced; NULL where it is not there. */
uint8_t *read_test_data(const char *path, size_t *size);

#endif /* TESTS_SUPPORT_BLOCKS_H */

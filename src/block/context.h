/*
 * The context behind ashuf_ctx: one thread's decoder, encoder and counters.
 */
#ifndef ASHUF_BLOCK_CONTEXT_H
#define ASHUF_BLOCK_CONTEXT_H

#include "block/block_read.h"
#include "block/block_write.h"

struct ashuf_ctx {
  ashuf_memory *memory; /* a reference */
  struct block_decoder decoder;
  struct block_encoder *encoder; /* made on first use */
  struct source_set batch;       /* of the batch being encoded; schema NULL before the first */
  struct ashuf_ctx_stats stats;
  bool busy; /* inside a call */
};

ashuf_status context_new(const struct ashuf_ctx_options *options, ashuf_ctx **out,
                         struct ashuf_error *error);
void context_free(ashuf_ctx *ctx);
void context_reset(ashuf_ctx *ctx);
void context_get_stats(const ashuf_ctx *ctx, struct ashuf_ctx_stats *out);

/* A whole block. Arguments as ashuf_block_decode, checked; info is not NULL. */
ashuf_status context_decode_block(ashuf_ctx *ctx, struct ashuf_bytes *block,
                                  const struct ashuf_decode_options *options,
                                  const ashuf_schema **schema, struct ArrowArray *batch,
                                  struct ashuf_block_info *info, struct ashuf_error *error);
/* A payload from its tag on. Arguments as ashuf_payload_decode. */
ashuf_status context_decode_payload(ashuf_ctx *ctx, struct ashuf_bytes *payload, uint64_t columns,
                                    const struct ashuf_decode_options *options,
                                    const ashuf_schema **schema, struct ArrowArray *batch,
                                    struct ashuf_block_info *info, struct ashuf_error *error);
/* rows NULL: the whole batch. Arguments as ashuf_block_encode_rows. */
ashuf_status context_encode(ashuf_ctx *ctx, const ashuf_schema *schema,
                            const struct ArrowArray *batch, const int64_t *rows, int64_t n_rows,
                            const struct ashuf_encode_options *options, struct ashuf_buffer *out,
                            struct ashuf_error *error);
/* A whole batch of codec NONE, lending what need not be copied (block_encoder_lend). */
ashuf_status context_encode_lending(ashuf_ctx *ctx, const ashuf_schema *schema,
                                    const struct ArrowArray *batch,
                                    const struct ashuf_encode_options *options,
                                    struct ashuf_buffer *out, struct ashuf_buffer *loans,
                                    struct ashuf_error *error);
/* Arguments as ashuf_block_encode_iov. */
ashuf_status context_encode_segments(ashuf_ctx *ctx, const ashuf_schema *schema,
                                     const struct ArrowArray *batch,
                                     const struct ashuf_encode_options *options,
                                     struct ashuf_segments *out, struct ashuf_error *error);

#endif /* ASHUF_BLOCK_CONTEXT_H */

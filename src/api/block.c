/* The exported calls of block.h: argument checks in front of src/block. */
#include "base/bytes.h"
#include "base/options.h"
#include "block/context.h"
#include "ipc/batch_holder.h"

enum { SITE_API_BLOCK = 1200 };

static ashuf_status missing(struct ashuf_error *error, const char *what) {
  return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_BLOCK, "%s is missing", what);
}

/* Takes the context for a call; a call inside a call would find it half-way through a block. */
static ashuf_status enter(ashuf_ctx *ctx, struct ashuf_error *error) {
  if (ctx->busy)
    return error_set(error, ASHUF_INVALID_STATE, SITE_CTX_BUSY,
                     "the context is in use further up the stack");
  ctx->busy = true;
  return ASHUF_OK;
}

static ashuf_status leave(ashuf_ctx *ctx, ashuf_status status) {
  ctx->busy = false;
  return status;
}

ashuf_status ashuf_ctx_new(const struct ashuf_ctx_options *options, ashuf_ctx **out,
                           struct ashuf_error *error) {
  return out == NULL ? missing(error, "out") : context_new(options, out, error);
}

void ashuf_ctx_free(ashuf_ctx *ctx) { context_free(ctx); }

void ashuf_ctx_get_stats(const ashuf_ctx *ctx, struct ashuf_ctx_stats *out) {
  if (ctx != NULL && out != NULL) context_get_stats(ctx, out);
}

void ashuf_ctx_reset(ashuf_ctx *ctx) {
  if (ctx != NULL && !ctx->busy) context_reset(ctx);
}

ashuf_status ashuf_block_peek(const void *data, size_t size, struct ashuf_block_info *out,
                              struct ashuf_error *error) {
  if (data == NULL || out == NULL) return missing(error, "data or out");
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  ashuf_status status = block_header_read(data, size, &info, error);
  if (status == ASHUF_OK) options_write(out, &info, sizeof info);
  return status;
}

ashuf_status ashuf_block_decode(ashuf_ctx *ctx, struct ashuf_bytes *block,
                                const struct ashuf_decode_options *options,
                                const ashuf_schema **schema, struct ArrowArray *batch,
                                struct ashuf_block_info *info, struct ashuf_error *error) {
  if (ctx == NULL || block == NULL || (block->data == NULL && block->size != 0))
    return missing(error, "ctx or block");
  if (schema == NULL || batch == NULL) return missing(error, "schema or batch");
  struct ashuf_block_info own = ASHUF_BLOCK_INFO_INIT;
  ashuf_status status = enter(ctx, error);
  if (status != ASHUF_OK) return status;
  status = leave(ctx, context_decode_block(ctx, block, options, schema, batch, &own, error));
  if (status == ASHUF_OK) options_write(info, &own, sizeof own);
  return status;
}

ashuf_status ashuf_payload_decode(ashuf_ctx *ctx, struct ashuf_bytes *payload, uint64_t columns,
                                  const struct ashuf_decode_options *options,
                                  const ashuf_schema **schema, struct ArrowArray *batch,
                                  struct ashuf_block_info *info, struct ashuf_error *error) {
  if (ctx == NULL || payload == NULL || (payload->data == NULL && payload->size != 0))
    return missing(error, "ctx or payload");
  if (schema == NULL || batch == NULL) return missing(error, "schema or batch");
  struct ashuf_block_info own = ASHUF_BLOCK_INFO_INIT;
  ashuf_status status = enter(ctx, error);
  if (status != ASHUF_OK) return status;
  status = leave(
      ctx, context_decode_payload(ctx, payload, columns, options, schema, batch, &own, error));
  if (status == ASHUF_OK) options_write(info, &own, sizeof own);
  return status;
}

uint64_t ashuf_batch_retained_bytes(const struct ArrowArray *batch) {
  return batch_holder_retained(batch);
}

ashuf_status ashuf_block_encode(ashuf_ctx *ctx, const ashuf_schema *schema,
                                const struct ArrowArray *batch,
                                const struct ashuf_encode_options *options,
                                struct ashuf_buffer *out, struct ashuf_error *error) {
  if (ctx == NULL || schema == NULL || batch == NULL || out == NULL)
    return missing(error, "ctx, schema, batch or out");
  ashuf_status status = enter(ctx, error);
  if (status != ASHUF_OK) return status;
  return leave(ctx, context_encode(ctx, schema, batch, NULL, 0, options, out, error));
}

ashuf_status ashuf_block_encode_rows(ashuf_ctx *ctx, const ashuf_schema *schema,
                                     const struct ArrowArray *batch, const int64_t *rows,
                                     int64_t n_rows, const struct ashuf_encode_options *options,
                                     struct ashuf_buffer *out, struct ashuf_error *error) {
  if (ctx == NULL || schema == NULL || batch == NULL || out == NULL)
    return missing(error, "ctx, schema, batch or out");
  if (n_rows < 0 || (rows == NULL && n_rows != 0)) return missing(error, "rows");
  if (n_rows == 0) return ASHUF_OK;
  ashuf_status status = enter(ctx, error);
  if (status != ASHUF_OK) return status;
  return leave(ctx, context_encode(ctx, schema, batch, rows, n_rows, options, out, error));
}

ashuf_status ashuf_block_encode_iov(ashuf_ctx *ctx, const ashuf_schema *schema,
                                    const struct ArrowArray *batch,
                                    const struct ashuf_encode_options *options,
                                    struct ashuf_segments *out, struct ashuf_error *error) {
  if (ctx == NULL || schema == NULL || batch == NULL || out == NULL)
    return missing(error, "ctx, schema, batch or out");
  ashuf_status status = enter(ctx, error);
  if (status != ASHUF_OK) return status;
  return leave(ctx, context_encode_segments(ctx, schema, batch, options, out, error));
}

void ashuf_segments_clear(struct ashuf_segments *segments) {
  if (segments == NULL) return;
  segments->list = NULL;
  segments->n = 0;
  segments->bytes = 0;
  segments->own.size = segments->loans.size = segments->pieces.size = 0;
}

void ashuf_segments_free(struct ashuf_segments *segments) {
  if (segments == NULL) return;
  ashuf_segments_clear(segments);
  ashuf_buffer_free(&segments->own);
  ashuf_buffer_free(&segments->loans);
  ashuf_buffer_free(&segments->pieces);
}

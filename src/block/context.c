#include "block/context.h"

#include "base/options.h"

#define DEFAULT_CACHE_ENTRIES 4u
#define DEFAULT_CACHE_MAX_SIZE ((uint64_t)64 << 10)
#define DEFAULT_SCRATCH_CAP ((uint64_t)8 << 20)
#define DEFAULT_MAX_DECODED ((uint64_t)2 << 30)

static void resolve_options(struct ashuf_ctx_options *own, const struct ashuf_ctx_options *given) {
  *own = (struct ashuf_ctx_options)ASHUF_CTX_OPTIONS_INIT;
  options_read(own, sizeof *own, given);
  if (own->schema_cache_entries == 0) own->schema_cache_entries = DEFAULT_CACHE_ENTRIES;
  if (own->schema_cache_max_size == 0) own->schema_cache_max_size = DEFAULT_CACHE_MAX_SIZE;
  if (own->scratch_cap == 0) own->scratch_cap = DEFAULT_SCRATCH_CAP;
}

ashuf_status context_new(const struct ashuf_ctx_options *options, ashuf_ctx **out,
                         struct ashuf_error *error) {
  struct ashuf_ctx_options own;
  resolve_options(&own, options);
  ashuf_ctx *ctx = memory_zeroed(own.memory, sizeof *ctx);
  if (ctx == NULL) return error_memory(error, SITE_CTX_MEMORY, own.memory, sizeof *ctx);
  ctx->memory = ashuf_memory_ref(own.memory);
  if (!block_decoder_init(&ctx->decoder, ctx->memory, &own)) {
    ashuf_status status = error_memory(error, SITE_CTX_MEMORY, own.memory, sizeof ctx->decoder);
    context_free(ctx);
    return status;
  }
  *out = ctx;
  return ASHUF_OK;
}

static void drop_encoder(ashuf_ctx *ctx) {
  block_encoder_free(ctx->encoder);
  ctx->encoder = NULL;
  if (ctx->batch.schema != NULL) source_set_free(&ctx->batch);
  ctx->batch.schema = NULL;
}

void context_free(ashuf_ctx *ctx) {
  if (ctx == NULL) return;
  drop_encoder(ctx);
  block_decoder_free(&ctx->decoder);
  ashuf_memory *memory = ctx->memory;
  memory_free(memory, ctx, sizeof *ctx);
  ashuf_memory_free(memory);
}

void context_reset(ashuf_ctx *ctx) {
  block_decoder_reset(&ctx->decoder);
  drop_encoder(ctx);
  memset(&ctx->stats, 0, sizeof ctx->stats);
}

void context_get_stats(const ashuf_ctx *ctx, struct ashuf_ctx_stats *out) {
  struct ashuf_ctx_stats own = ctx->stats;
  const struct schema_cache *cache = &ctx->decoder.cache;
  own.messages_parsed = ctx->decoder.messages_parsed;
  own.schema_hits = cache->hits;
  own.schema_misses = cache->misses;
  own.schema_evictions = cache->evictions;
  own.schema_bypasses = cache->bypasses;
  options_write(out, &own, sizeof own);
}

/* ---- Decode ------------------------------------------------------------------------------- */

static ashuf_status resolve_decode(struct ashuf_decode_options *own,
                                   const struct ashuf_decode_options *given,
                                   struct ashuf_error *error) {
  *own = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
  if (given != NULL && given->struct_size != 0) options_read(own, sizeof *own, given);
  if (own->max_decoded_bytes == 0) own->max_decoded_bytes = DEFAULT_MAX_DECODED;
  if (own->validate == ASHUF_VALIDATE_FULL || own->validate == ASHUF_VALIDATE_TRUSTED)
    return ASHUF_OK;
  return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_DECODE_OPTIONS, "unknown validate option %d",
                   own->validate);
}

/* tag points at the codec tag; info has the header's facts except codec and flag. */
static ashuf_status decode_from_tag(ashuf_ctx *ctx, struct ashuf_bytes *bytes, const uint8_t *tag,
                                    size_t size, const struct ashuf_decode_options *options,
                                    const ashuf_schema **schema, struct ArrowArray *batch,
                                    struct ashuf_block_info *info, struct ashuf_error *error) {
  struct ashuf_decode_options own;
  ashuf_status status = resolve_decode(&own, options, error);
  if (status == ASHUF_OK) status = block_tag_read(tag, info, error);
  if (status != ASHUF_OK) return status;
  uint64_t whole = info->size;
  status = block_decode_payload(&ctx->decoder, tag + 4, size - 4, &own, bytes, info, schema, batch,
                                error);
  if (status != ASHUF_OK) return status;
  /* A given block that the batch does not live in has served. */
  if (bytes->release != NULL) {
    struct ashuf_bytes served = *bytes;
    bytes->release = NULL;
    served.release(&served);
  }
  ctx->stats.blocks_decoded++;
  ctx->stats.rows_decoded += (uint64_t)info->rows;
  ctx->stats.bytes_decoded += whole;
  return ASHUF_OK;
}

ashuf_status context_decode_block(ashuf_ctx *ctx, struct ashuf_bytes *block,
                                  const struct ashuf_decode_options *options,
                                  const ashuf_schema **schema, struct ArrowArray *batch,
                                  struct ashuf_block_info *info, struct ashuf_error *error) {
  ashuf_status status = block_header_read(block->data, block->size, info, error);
  if (status != ASHUF_OK) return status;
  if (info->size > block->size)
    return error_in(error, ASHUF_TRUNCATED, SITE_BLOCK_TRUNCATED, ASHUF_SPACE_BLOCK, block->size,
                    "block of %llu bytes ends after %zu", (unsigned long long)info->size,
                    block->size);
  if (info->size < block->size)
    return error_in(error, ASHUF_TRAILING_DATA, SITE_BLOCK_TRAILING, ASHUF_SPACE_BLOCK, info->size,
                    "%llu bytes after the block", (unsigned long long)(block->size - info->size));
  return decode_from_tag(ctx, block, block->data + BLOCK_TAG_OFFSET, block->size - BLOCK_TAG_OFFSET,
                         options, schema, batch, info, error);
}

ashuf_status context_decode_payload(ashuf_ctx *ctx, struct ashuf_bytes *payload, uint64_t columns,
                                    const struct ashuf_decode_options *options,
                                    const ashuf_schema **schema, struct ArrowArray *batch,
                                    struct ashuf_block_info *info, struct ashuf_error *error) {
  if (payload->size < 5)
    return error_in(error, ASHUF_TRUNCATED, SITE_HEADER_TRUNCATED, ASHUF_SPACE_BLOCK,
                    BLOCK_TAG_OFFSET + payload->size, "payload of %zu bytes is too short",
                    payload->size);
  info->size = payload->size + BLOCK_TAG_OFFSET;
  info->columns = columns;
  return decode_from_tag(ctx, payload, payload->data, payload->size, options, schema, batch, info,
                         error);
}

/* ---- Encode ------------------------------------------------------------------------------- */

/* The set that holds the batch being encoded, bound to the schema. */
static ashuf_status bind_schema(ashuf_ctx *ctx, const ashuf_schema *schema,
                                struct ashuf_error *error) {
  if (ctx->batch.schema == schema) return ASHUF_OK;
  if (ctx->batch.schema != NULL) source_set_free(&ctx->batch);
  ctx->batch.schema = NULL;
  return source_set_init(&ctx->batch, schema, ctx->memory, error);
}

static ashuf_status check_rows(const int64_t *rows, int64_t n_rows, int64_t length,
                               struct ashuf_error *error) {
  for (int64_t i = 0; i < n_rows; i++)
    if (rows[i] < 0 || rows[i] >= length)
      return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_ENCODE_ROWS,
                       "row number %lld is outside the batch's %lld rows", (long long)rows[i],
                       (long long)length);
  return ASHUF_OK;
}

static ashuf_status make_encoder(ashuf_ctx *ctx, struct ashuf_error *error) {
  if (ctx->encoder == NULL) ctx->encoder = block_encoder_new(ctx->memory);
  return ctx->encoder != NULL ? ASHUF_OK : error_memory(error, SITE_ENCODE_MEMORY, ctx->memory, 1);
}

static ashuf_status encode_pushed(ashuf_ctx *ctx, const int64_t *rows, int64_t n_rows,
                                  const struct ashuf_encode_options *options,
                                  struct ashuf_buffer *out, struct ashuf_error *error) {
  int64_t length = ctx->batch.lengths[0];
  ashuf_status status = check_rows(rows, rows == NULL ? 0 : n_rows, length, error);
  if (status == ASHUF_OK) status = make_encoder(ctx, error);
  if (status != ASHUF_OK) return status;
  struct row_range all = {row_id_of(0, 0), length};
  struct selection selection = {.n_rows = length, .ranges = &all, .n_ranges = 1};
  /* Batch 0: a row number is its own row id. */
  if (rows != NULL)
    selection = (struct selection){.n_rows = n_rows, .ids = (const row_id *)(const void *)rows};
  struct block_encode_stats stats = {0, 0, 0, 0};
  status = block_encode_selection(ctx->encoder, &ctx->batch, &selection, options, out, NULL, &stats,
                                  error);
  block_encoder_trim(ctx->encoder, ctx->decoder.scratch_cap);
  if (status != ASHUF_OK) return status; /* the blocks before the failure were taken back */
  ctx->stats.blocks_encoded += stats.blocks;
  ctx->stats.rows_encoded += (uint64_t)stats.rows;
  ctx->stats.bytes_encoded += stats.bytes;
  return status;
}

ashuf_status context_encode(ashuf_ctx *ctx, const ashuf_schema *schema,
                            const struct ArrowArray *batch, const int64_t *rows, int64_t n_rows,
                            const struct ashuf_encode_options *options, struct ashuf_buffer *out,
                            struct ashuf_error *error) {
  struct ashuf_encode_options own;
  encode_options_resolve(&own, options);
  ashuf_status status = encode_options_check(&own, error);
  if (status == ASHUF_OK) status = bind_schema(ctx, schema, error);
  if (status == ASHUF_OK) status = source_set_push(&ctx->batch, batch, error);
  if (status != ASHUF_OK) return status;
  status = encode_pushed(ctx, rows, n_rows, &own, out, error);
  source_set_clear(&ctx->batch);
  return status;
}

ashuf_status context_encode_lending(ashuf_ctx *ctx, const ashuf_schema *schema,
                                    const struct ArrowArray *batch,
                                    const struct ashuf_encode_options *options,
                                    struct ashuf_buffer *out, struct ashuf_buffer *loans,
                                    struct ashuf_error *error) {
  ashuf_status status = make_encoder(ctx, error);
  if (status != ASHUF_OK) return status;
  block_encoder_lend(ctx->encoder, loans);
  status = context_encode(ctx, schema, batch, NULL, 0, options, out, error);
  block_encoder_lend(ctx->encoder, NULL);
  return status;
}

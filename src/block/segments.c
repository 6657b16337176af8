/*
 * Blocks as pieces of memory: the encoder's own bytes, cut where it lent some of the batch's. Both
 * are kept as they were made, and the pieces are listed anew after every call, since own bytes move
 * as they grow.
 */
#include "base/buffer.h"
#include "base/options.h"
#include "block/context.h"
#include "block/header.h"
#include "codec/codec.h"

static size_t count_loans(const struct ashuf_segments *out) {
  return out->loans.size / sizeof(struct encoder_loan);
}

static void put_piece(struct ashuf_segments *out, const void *data, size_t size) {
  if (size == 0) return;
  ((struct ashuf_segment *)(void *)out->pieces.data)[out->n++] = (struct ashuf_segment){data, size};
  out->bytes += size;
}

/* Room has been made: a piece in front of each loan, the loan, and a last one. */
static void list_pieces(struct ashuf_segments *out) {
  const struct encoder_loan *loans = (const void *)out->loans.data;
  size_t n = count_loans(out);
  size_t done = 0;
  out->n = 0;
  out->bytes = 0;
  for (size_t i = 0; i < n; i++) {
    put_piece(out, out->own.data + done, loans[i].at - done);
    put_piece(out, loans[i].bytes, loans[i].size);
    done = loans[i].at;
  }
  if (out->own.size != done) put_piece(out, out->own.data + done, out->own.size - done);
  out->list = (const void *)out->pieces.data;
  out->pieces.size = out->n * sizeof *out->list;
}

static ashuf_status make_room(struct ashuf_segments *out, ashuf_memory *memory,
                              struct ashuf_error *error) {
  size_t size = (2 * count_loans(out) + 1) * sizeof(struct ashuf_segment);
  out->pieces.size = 0;
  if (buffer_reserve(&out->pieces, memory, size)) return ASHUF_OK;
  return error_memory(error, SITE_ENCODE_MEMORY, memory, size);
}

static ashuf_status choose_none(struct ashuf_encode_options *own,
                                const struct ashuf_encode_options *given,
                                struct ashuf_error *error) {
  struct ashuf_encode_options chosen = ASHUF_ENCODE_OPTIONS_INIT;
  if (given != NULL && given->struct_size != 0) options_read(&chosen, sizeof chosen, given);
  if (chosen.codec == ASHUF_CODEC_DEFAULT) chosen.codec = ASHUF_CODEC_NONE;
  if (chosen.codec != ASHUF_CODEC_NONE)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_ENCODE_SEGMENTS,
                     "only codec none leaves the batch's bytes as they are");
  encode_options_resolve(own, &chosen);
  return ASHUF_OK;
}

ashuf_status context_encode_segments(ashuf_ctx *ctx, const ashuf_schema *schema,
                                     const struct ArrowArray *batch,
                                     const struct ashuf_encode_options *options,
                                     struct ashuf_segments *out, struct ashuf_error *error) {
  struct ashuf_encode_options own;
  ashuf_status status = choose_none(&own, options, error);
  if (status != ASHUF_OK) return status;
  size_t own_before = out->own.size;
  size_t loans_before = out->loans.size;
  status = context_encode_lending(ctx, schema, batch, &own, &out->own, &out->loans, error);
  if (status == ASHUF_OK) status = make_room(out, ctx->memory, error);
  if (status != ASHUF_OK) {
    out->own.size = own_before;
    out->loans.size = loans_before;
  }
  if (out->pieces.data != NULL) list_pieces(out);
  return status;
}

/*
 * A block decoded, encoded in a way that a sum of the input chooses, and decoded again: the
 * values are the same.
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 100

static ashuf_ctx *ctx;

static ashuf_status decode(const uint8_t *data, size_t size, const ashuf_schema **schema,
                           struct ArrowArray *batch, struct ashuf_block_info *info) {
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  struct ashuf_bytes block = {.data = data, .size = size};
  options.max_decoded_bytes = FUZZ_MOST_OUTPUT;
  return ashuf_block_decode(ctx, &block, &options, schema, batch, info, NULL);
}

/* What may keep a good batch from being written. */
static int may_refuse(ashuf_status status) {
  return status == ASHUF_SIZE_LIMIT || status == ASHUF_UNSUPPORTED ||
         status == ASHUF_UNSUPPORTED_TYPE || status == ASHUF_SCHEMA_MISMATCH;
}

static void compare_again(const struct ashuf_buffer *out, const char *text) {
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  const ashuf_schema *schema;
  struct ArrowArray batch;
  if (out->size == 0) return;
  if (decode(out->data, out->size, &schema, &batch, &info) != ASHUF_OK)
    fuzz_fail("a written block is not read");
  char *again = fuzz_batch_text(schema, &batch, batch.length);
  if (strcmp(again, text) != 0) fuzz_fail("another value is read");
  free(again);
  batch.release(&batch);
}

static void round_trip(const ashuf_schema *schema, const struct ArrowArray *batch, uint8_t how) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  options.codec = ASHUF_CODEC_NONE + (how & 3);
  options.layout = how >> 2 & 1;
  options.dictionaries = how >> 3 & 1;
  options.offsets_as_lengths = how >> 4 & 1;
  ashuf_status status = ashuf_block_encode(ctx, schema, batch, &options, &out, NULL);
  if (status == ASHUF_OK) {
    char *text = fuzz_batch_text(schema, batch, batch->length);
    compare_again(&out, text);
    free(text);
  } else if (!may_refuse(status)) {
    fuzz_fail(ashuf_status_name(status));
  }
  ashuf_buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  const ashuf_schema *schema;
  struct ArrowArray batch;
  const uint8_t *block = fuzz_guard(data, size);
  if (block == NULL || size == 0) return 0;
  if (ctx == NULL && ashuf_ctx_new(NULL, &ctx, NULL) != ASHUF_OK) abort();
  uint64_t hash = 0;
  for (size_t i = 0; i < size; i++) hash = hash * 31 + data[i];
  if (decode(block, size, &schema, &batch, &info) != ASHUF_OK) return 0;
  fuzz_decoded += info.stream_size;
  ashuf_schema *own = ashuf_schema_ref(schema);
  if (batch.length <= MOST_ROWS) round_trip(own, &batch, (uint8_t)(hash >> 7));
  ashuf_schema_free(own);
  batch.release(&batch);
  return 0;
}

/*
 * A block, decoded by a context that lives on and by a fresh one, validated and trusted. Contexts
 * agree in status and place; what the validated mode takes can be read value by value.
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 200

struct outcome {
  ashuf_status status;
  int site;
  uint64_t offset;
};

static struct outcome decode(ashuf_ctx *ctx, const uint8_t *data, size_t size, int validate) {
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  struct ashuf_bytes block = {.data = data, .size = size};
  struct ashuf_error error = {0};
  const ashuf_schema *schema;
  struct ArrowArray batch;
  options.validate = validate;
  options.max_decoded_bytes = FUZZ_MOST_OUTPUT;
  ashuf_status status = ashuf_block_decode(ctx, &block, &options, &schema, &batch, &info, &error);
  if (status != ASHUF_OK) return (struct outcome){status, error.site, error.offset};
  fuzz_decoded += info.stream_size;
  if (validate == ASHUF_VALIDATE_FULL)
    free(fuzz_batch_text(schema, &batch, batch.length < MOST_ROWS ? batch.length : MOST_ROWS));
  batch.release(&batch);
  return (struct outcome){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static ashuf_ctx *kept;
  ashuf_ctx *fresh;
  const uint8_t *block = fuzz_guard(data, size);
  if (block == NULL) return 0;
  if (kept == NULL && ashuf_ctx_new(NULL, &kept, NULL) != ASHUF_OK) abort();
  if (ashuf_ctx_new(NULL, &fresh, NULL) != ASHUF_OK) abort();
  struct outcome first = decode(kept, block, size, ASHUF_VALIDATE_FULL);
  struct outcome again = decode(fresh, block, size, ASHUF_VALIDATE_FULL);
  struct outcome trusted = decode(fresh, block, size, ASHUF_VALIDATE_TRUSTED);
  ashuf_ctx_free(fresh);
  if (first.status != again.status || first.site != again.site || first.offset != again.offset)
    fuzz_fail("a used context and a fresh one differ");
  if (first.status == ASHUF_OK && trusted.status != ASHUF_OK)
    fuzz_fail("the trusted mode refuses what the validated one takes");
  return 0;
}

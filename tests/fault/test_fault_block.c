/* Every allocation of encoding and decoding one block failed in turn: each type, each codec. */
#include "support/blocks.h"
#include "support/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct round_trip {
  const struct test_column *batch;
  struct ashuf_encode_options encode;
};

static ashuf_status decode_all(ashuf_ctx *ctx, const struct ashuf_buffer *out,
                               struct ashuf_error *error) {
  for (size_t at = 0; at < out->size;) {
    struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
    ashuf_status status = ashuf_block_peek(out->data + at, out->size - at, &info, error);
    if (status == ASHUF_OK)
      status = decode_block(ctx, out->data + at, info.size, NULL, NULL, NULL, error);
    if (status != ASHUF_OK) return status;
    at += info.size;
  }
  return ASHUF_OK;
}

static ashuf_status encode_and_decode(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  const struct round_trip *trip = data;
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.memory = memory;
  ashuf_ctx *ctx = NULL;
  ashuf_schema *schema = NULL;
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  ashuf_status status = ashuf_ctx_new(&options, &ctx, error);
  if (status == ASHUF_OK)
    status = ashuf_schema_import(&trip->batch->schema, memory, &schema, error);
  if (status == ASHUF_OK)
    status = ashuf_block_encode(ctx, schema, &trip->batch->array, &trip->encode, &out, error);
  if (status == ASHUF_OK) status = decode_all(ctx, &out, error);
  ashuf_buffer_free(&out);
  ashuf_schema_free(schema);
  ashuf_ctx_free(ctx);
  return status;
}

static void sweep(const char *type, int codec) {
  struct test_random random = {42};
  struct test_column column = column_random("c", type, &random, 20, 40);
  struct test_column batch = batch_of(&column, 1);
  struct round_trip trip = {&batch, ASHUF_ENCODE_OPTIONS_INIT};
  trip.encode.codec = codec;
  trip.encode.max_rows = 32;
  fault_sweep(encode_and_decode, &trip);
  column_free(&batch);
}

static void every_type_in_every_codec_stands_a_failing_allocator(void **state) {
  (void)state;
  for (int codec = ASHUF_CODEC_NONE; codec <= ASHUF_CODEC_SNAPPY; codec++)
    for (const char *const *type = test_types; *type != NULL; type++)
      if (ashuf_codec_available(codec)) sweep(*type, codec);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_in_every_codec_stands_a_failing_allocator),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "ref/compare.h"

#include "ref/array_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct decoded {
  const ashuf_schema *schema;
  struct ArrowArray batch;
};

static ashuf_status decode(ashuf_ctx *ctx, const uint8_t *block, size_t size, int validate,
                           struct decoded *out, struct ashuf_error *error) {
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  struct ashuf_bytes bytes = {.data = block, .size = size};
  options.validate = validate;
  options.max_decoded_bytes = (uint64_t)64 << 20;
  memset(error, 0, sizeof *error);
  return ashuf_block_decode(ctx, &bytes, &options, &out->schema, &out->batch, NULL, error);
}

static char *text_of_difference(int64_t column, int64_t row, const char *expected,
                                const char *found) {
  char *text = malloc(1024);
  if (text == NULL) abort();
  snprintf(text, 1024, "column %lld row %lld: reference %.400s, library %.400s", (long long)column,
           (long long)row, expected, found);
  return text;
}

static char *compare_column(const struct ref_result *expected, int64_t column,
                            const struct ArrowSchema *schema, const struct ArrowArray *array) {
  char *difference = NULL;
  for (int64_t row = 0; row < expected->rows && difference == NULL; row++) {
    char *text = array_text(schema, array, row);
    if (strncmp(text, expected->text[column][row], ARRAY_TEXT_MOST) != 0)
      difference = text_of_difference(column, row, expected->text[column][row], text);
    free(text);
  }
  return difference;
}

static char *compare_rows(const struct ref_result *expected, const struct decoded *decoded) {
  struct ArrowSchema schema;
  struct ashuf_error error;
  if (ashuf_schema_export(decoded->schema, &schema, &error) != ASHUF_OK) abort();
  char *difference = NULL;
  if (decoded->batch.length != expected->rows || schema.n_children != expected->columns)
    difference = text_of_difference(-1, -1, "other rows or columns", "");
  for (int64_t i = 0; i < schema.n_children && difference == NULL; i++)
    difference = compare_column(expected, i, schema.children[i], decoded->batch.children[i]);
  schema.release(&schema);
  return difference;
}

static void compare_fresh(const uint8_t *block, size_t size, struct comparison *out) {
  ashuf_ctx *ctx;
  struct ashuf_error error;
  struct decoded decoded;
  if (ashuf_ctx_new(NULL, &ctx, NULL) != ASHUF_OK) abort();
  ashuf_status status = decode(ctx, block, size, ASHUF_VALIDATE_FULL, &decoded, &error);
  out->fresh_differs =
      status != out->status || error.site != out->error.site || error.offset != out->error.offset;
  if (status == ASHUF_OK) decoded.batch.release(&decoded.batch);
  status = decode(ctx, block, size, ASHUF_VALIDATE_TRUSTED, &decoded, &error);
  out->trusted_refuses = out->status == ASHUF_OK && status != ASHUF_OK;
  if (status == ASHUF_OK) decoded.batch.release(&decoded.batch);
  ashuf_ctx_free(ctx);
}

void compare_block(ashuf_ctx *ctx, const uint8_t *block, size_t size, struct comparison *out) {
  struct decoded decoded;
  memset(out, 0, sizeof *out);
  ref_decode(block, size, &out->expected);
  out->status = decode(ctx, block, size, ASHUF_VALIDATE_FULL, &decoded, &out->error);
  if (out->status == ASHUF_OK) {
    if (out->expected.outcome == REF_ROWS) out->difference = compare_rows(&out->expected, &decoded);
    decoded.batch.release(&decoded.batch);
  }
  compare_fresh(block, size, out);
}

void comparison_free(struct comparison *comparison) {
  ref_result_free(&comparison->expected);
  free(comparison->difference);
}

#include "support/blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int condition, const char *what, const struct ashuf_error *error) {
  if (condition) return;
  fprintf(stderr, "%s: %s\n", what, error != NULL ? error->message : "");
  abort();
}

void put_bytes(struct ashuf_buffer *out, const void *bytes, size_t size) {
  if (size > out->capacity - out->size) {
    /* Buffers of this file are malloced; the library frees them the same way. */
    size_t capacity = (out->size + size) * 2;
    out->data = realloc(out->data, capacity);
    if (out->data == NULL) abort();
    out->capacity = capacity;
  }
  if (size != 0) memcpy(out->data + out->size, bytes, size);
  out->size += size;
}

void encode_batch(ashuf_ctx *ctx, const struct test_column *batch,
                  const struct ashuf_encode_options *options, struct ashuf_buffer *out) {
  struct ashuf_error error;
  ashuf_schema *schema = NULL;
  require(ashuf_schema_import(&batch->schema, NULL, &schema, &error) == ASHUF_OK, "import", &error);
  require(ashuf_block_encode(ctx, schema, &batch->array, options, out, &error) == ASHUF_OK,
          "encode", &error);
  ashuf_schema_free(schema);
}

ashuf_status decode_block(ashuf_ctx *ctx, const uint8_t *data, size_t size,
                          const struct ashuf_decode_options *options, const ashuf_schema **schema,
                          struct ArrowArray *batch, struct ashuf_error *error) {
  struct ashuf_bytes bytes = {.data = data, .size = size};
  const ashuf_schema *own_schema = NULL;
  struct ArrowArray own_batch;
  ashuf_status status =
      ashuf_block_decode(ctx, &bytes, options, &own_schema, &own_batch, NULL, error);
  if (status != ASHUF_OK) return status;
  if (schema != NULL) *schema = own_schema;
  if (batch != NULL)
    *batch = own_batch;
  else
    own_batch.release(&own_batch);
  return status;
}

static void expect_row_equal(const struct ArrowSchema *got_schema, const struct ArrowArray *got,
                             int64_t got_row, const struct test_column *want, int64_t want_row) {
  char *a = value_text(got_schema, got, got_row);
  char *b = value_text(&want->schema, &want->array, want_row);
  if (strcmp(a, b) != 0) {
    fprintf(stderr, "row %lld: got %s, want %s (row %lld)\n", (long long)got_row, a, b,
            (long long)want_row);
    abort();
  }
  free(a);
  free(b);
}

int expect_blocks_equal(ashuf_ctx *ctx, const struct ashuf_buffer *out,
                        const struct ashuf_decode_options *options, const struct test_column *batch,
                        const int64_t *rows, int64_t n_rows) {
  int blocks = 0;
  int64_t row = 0;
  if (rows == NULL) n_rows = batch->array.length;
  for (size_t at = 0; at < out->size; blocks++) {
    struct ashuf_error error;
    struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
    require(ashuf_block_peek(out->data + at, out->size - at, &info, &error) == ASHUF_OK, "peek",
            &error);
    const ashuf_schema *schema = NULL;
    struct ArrowArray got;
    require(
        decode_block(ctx, out->data + at, info.size, options, &schema, &got, &error) == ASHUF_OK,
        "decode", &error);
    struct ArrowSchema exported;
    require(ashuf_schema_export(schema, &exported, &error) == ASHUF_OK, "export", &error);
    for (int64_t i = 0; i < got.length; i++, row++)
      expect_row_equal(&exported, &got, i, batch, rows == NULL ? row : rows[row]);
    exported.release(&exported);
    got.release(&got);
    at += info.size;
  }
  require(row == n_rows, "number of rows", NULL);
  return blocks;
}

void wrap_stream(const uint8_t *stream, size_t size, uint64_t columns, struct ashuf_buffer *out) {
  uint64_t length = size + 12;
  put_bytes(out, &length, 8);
  put_bytes(out, &columns, 8);
  put_bytes(out, "NONE", 4);
  put_bytes(out, stream, size);
}

uint8_t *read_test_data(const char *path, size_t *size) {
  const char *root = getenv("ASHUF_TEST_DATA");
  if (root == NULL || *root == '\0') return NULL;
  char name[1024];
  snprintf(name, sizeof name, "%s/%s", root, path);
  FILE *file = fopen(name, "rb");
  if (file == NULL) return NULL;
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  char piece[65536];
  size_t got = 0;
  while ((got = fread(piece, 1, sizeof piece, file)) > 0) put_bytes(&out, piece, got);
  fclose(file);
  *size = out.size;
  return out.data != NULL ? out.data : malloc(1);
}

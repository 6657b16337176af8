#include "support/ipc_streams.h"

#include "support/blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int append(void *out, const void *data, size_t size) {
  put_bytes(out, data, size);
  return 0;
}

static void require(int good, const struct ashuf_error *error) {
  if (good) return;
  fprintf(stderr, "%s\n", error->message);
  abort();
}

void ipc_stream_of(const struct test_column *batches, size_t n, struct ashuf_buffer *out) {
  struct ashuf_error error;
  ashuf_schema *schema = NULL;
  ashuf_ipc_writer *writer = NULL;
  require(ashuf_schema_import(&batches[0].schema, NULL, &schema, &error) == ASHUF_OK, &error);
  require(ashuf_ipc_writer_new(schema, NULL, append, out, &writer, &error) == ASHUF_OK, &error);
  for (size_t i = 0; i < n; i++)
    require(ashuf_ipc_writer_write(writer, &batches[i].array, &error) == ASHUF_OK, &error);
  require(ashuf_ipc_writer_finish(writer, &error) == ASHUF_OK, &error);
  ashuf_ipc_writer_free(writer);
  ashuf_schema_free(schema);
}

ashuf_status ipc_read_rows(const char *path, const struct ashuf_ipc_read_options *options,
                           int64_t *rows, struct ashuf_error *error) {
  struct ArrowArrayStream stream;
  int64_t n = 0;
  ashuf_status status = ashuf_ipc_read_path(path, options, &stream, error);
  if (status != ASHUF_OK) return status;
  for (;;) {
    struct ArrowArray batch;
    if (stream.get_next(&stream, &batch) != 0) {
      if (!ashuf_stream_get_error(&stream, error)) abort();
      status = error->status;
      break;
    }
    if (batch.release == NULL) break;
    n += batch.length;
    batch.release(&batch);
  }
  stream.release(&stream);
  if (rows != NULL) *rows = n;
  return status;
}

static void expect_row(const struct ArrowSchema *schema, const struct ArrowArray *got, int64_t row,
                       const struct test_column *want, int64_t want_row) {
  char *a = value_text(schema, got, row);
  char *b = value_text(&want->schema, &want->array, want_row);
  if (strcmp(a, b) != 0) {
    fprintf(stderr, "row %lld: got %s, want %s\n", (long long)want_row, a, b);
    abort();
  }
  free(a);
  free(b);
}

/* Large batches are compared in some hundred places. */
static void expect_rows(const struct ArrowSchema *schema, const struct ArrowArray *got,
                        const struct test_column *want, int64_t first) {
  int64_t step = got->length / 500 + 1;
  for (int64_t row = 0; row < got->length; row += step)
    expect_row(schema, got, row, want, first + row);
}

int expect_ipc_rows(const char *path, const struct test_column *batches, size_t n) {
  struct ashuf_error error;
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  int found = 0;
  size_t at = 0;
  int64_t first = 0;
  require(ashuf_ipc_read_path(path, NULL, &stream, &error) == ASHUF_OK, &error);
  if (stream.get_schema(&stream, &schema) != 0) abort();
  for (;;) {
    struct ArrowArray got;
    if (stream.get_next(&stream, &got) != 0)
      require(0, (ashuf_stream_get_error(&stream, &error), &error));
    if (got.release == NULL) break;
    while (at < n && first == batches[at].array.length && got.length != 0) {
      at++;
      first = 0;
    }
    if (got.length > 0) {
      if (at == n) abort();
      expect_rows(&schema, &got, &batches[at], first);
    }
    first += got.length;
    found++;
    got.release(&got);
  }
  while (at < n && first == batches[at].array.length) {
    at++;
    first = 0;
  }
  if (at != n) {
    fprintf(stderr, "only %zu of %zu batches came\n", at, n);
    abort();
  }
  schema.release(&schema);
  stream.release(&stream);
  return found;
}

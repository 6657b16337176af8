#include "support/read_rows.h"

#include "base/bytes.h"
#include "codec/checksum.h"
#include "support/blocks.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void block_file_put(struct block_file *file, struct test_column batch, int codec) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  ashuf_ctx *ctx = NULL;
  if (ashuf_ctx_new(NULL, &ctx, NULL) != ASHUF_OK) abort();
  options.codec = codec;
  options.max_rows = INT32_MAX;
  encode_batch(ctx, &batch, &options, &file->data);
  ashuf_ctx_free(ctx);
  column_free(&batch);
}

void block_file_end_partition(struct block_file *file) {
  if (file->partitions == BLOCK_FILE_PARTITIONS) abort();
  file->offsets[++file->partitions] = file->data.size;
}

static void write_file(const char *stem, const char *ending, const void *bytes, size_t size) {
  char name[256];
  (void)snprintf(name, sizeof name, "%s%s", stem, ending);
  scratch_write(name, bytes, size);
}

void block_file_write(struct block_file *file, const char *stem, int kind) {
  uint8_t entries[(BLOCK_FILE_PARTITIONS + 1) * 8];
  for (int i = 0; i <= file->partitions; i++) store_u64_big(entries + 8 * i, file->offsets[i]);
  write_file(stem, ".data", file->data.data, file->data.size);
  write_file(stem, ".index", entries, ((size_t)file->partitions + 1) * 8);
  if (kind != CHECKSUM_NONE) {
    char ending[32];
    (void)snprintf(ending, sizeof ending, ".checksum.%s", checksum_name(kind));
    for (int i = 0; i < file->partitions; i++) {
      size_t size = (size_t)(file->offsets[i + 1] - file->offsets[i]);
      uint32_t value = checksum_begin(kind);
      if (size != 0) value = checksum_update(kind, value, file->data.data + file->offsets[i], size);
      store_u64_big(entries + 8 * i, value);
    }
    write_file(stem, ending, entries, (size_t)file->partitions * 8);
  }
  ashuf_buffer_free(&file->data);
  memset(file, 0, sizeof *file);
}

static void add_batch(struct row_texts *out, const struct ArrowSchema *schema,
                      const struct ArrowArray *batch) {
  size_t n = (size_t)batch->length;
  out->list = realloc(out->list, (out->n + n + 1) * sizeof *out->list);
  if (out->list == NULL) abort();
  for (size_t i = 0; i < n; i++) out->list[out->n++] = value_text(schema, batch, (int64_t)i);
  out->batches++;
  if (batch->length > out->most) out->most = batch->length;
}

void rows_of_stream(struct ArrowArrayStream *stream, struct row_texts *out) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  memset(out, 0, sizeof *out);
  if (stream->get_schema(stream, &schema) != 0) abort();
  while (stream->get_next(stream, &batch) == 0 && batch.release != NULL) {
    add_batch(out, &schema, &batch);
    batch.release(&batch);
  }
  schema.release(&schema);
  if (ashuf_stream_get_error(stream, &out->error)) out->status = out->error.status;
  out->stats = (struct ashuf_read_stats)ASHUF_READ_STATS_INIT;
  (void)ashuf_stream_get_read_stats(stream, &out->stats);
  stream->release(stream);
}

void rows_of_files(const char *const *paths, size_t n, const struct ashuf_read_options *options,
                   struct row_texts *out) {
  struct ArrowArrayStream stream;
  struct ashuf_error error;
  ashuf_status status = ashuf_read_files(paths, n, options, &stream, &error);
  if (status == ASHUF_OK) {
    rows_of_stream(&stream, out);
    return;
  }
  memset(out, 0, sizeof *out);
  out->status = status;
  out->error = error;
}

bool rows_equal(const struct row_texts *a, const struct row_texts *b) {
  if (a->n != b->n) return false;
  for (size_t i = 0; i < a->n; i++)
    if (strcmp(a->list[i], b->list[i]) != 0) {
      (void)fprintf(stderr, "row %zu: %s and %s\n", i, a->list[i], b->list[i]);
      return false;
    }
  return true;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

void rows_sort(struct row_texts *rows) {
  if (rows->n > 1) qsort(rows->list, rows->n, sizeof *rows->list, by_text);
}

void rows_append(struct row_texts *rows, struct row_texts *more) {
  rows->list = realloc(rows->list, (rows->n + more->n + 1) * sizeof *rows->list);
  if (rows->list == NULL) abort();
  if (more->n != 0) memcpy(rows->list + rows->n, more->list, more->n * sizeof *more->list);
  rows->n += more->n;
  rows->batches += more->batches;
  more->n = 0;
  rows_free(more);
}

void rows_free(struct row_texts *rows) {
  for (size_t i = 0; i < rows->n; i++) free(rows->list[i]);
  free(rows->list);
  memset(rows, 0, sizeof *rows);
}

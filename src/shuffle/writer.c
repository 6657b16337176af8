#include "shuffle/writer.h"

#include "base/options.h"

#include <string.h>

/* Drops everything but what the caller may still look at: the arrays of a finished writer. */
static void drop_work(ashuf_writer *writer) {
  file_writer_discard(&writer->data);
  file_writer_discard(&writer->index);
  batch_store_free(&writer->store);
  block_encoder_free(writer->encoder);
  writer->encoder = NULL;
  ashuf_buffer_free(&writer->blocks);
}

void writer_close(ashuf_writer *writer) {
  if (writer == NULL) return;
  ashuf_memory *memory = writer->memory;
  drop_work(writer);
  memory_free(memory, writer->offsets, ((size_t)writer->partitions + 1) * sizeof *writer->offsets);
  memory_free(memory, writer->rows, (size_t)writer->partitions * sizeof *writer->rows);
  partition_unref(writer->partitioner);
  memory_free(memory, writer, sizeof *writer);
  ashuf_memory_free(memory);
}

static ashuf_status allocate(ashuf_writer *writer, struct ashuf_error *error) {
  size_t n = (size_t)writer->partitions;
  writer->offsets = memory_zeroed(writer->memory, (n + 1) * sizeof *writer->offsets);
  writer->rows = memory_zeroed(writer->memory, n * sizeof *writer->rows);
  writer->encoder = block_encoder_new(writer->memory);
  if (writer->offsets == NULL || writer->rows == NULL || writer->encoder == NULL)
    return error_memory(error, SITE_WRITER_MEMORY, writer->memory,
                        n * (sizeof *writer->offsets + sizeof *writer->rows));
  return ASHUF_OK;
}

static ashuf_status start(ashuf_writer *writer, const char *data_path, const char *index_path,
                          struct ashuf_error *error) {
  unsigned mode = writer->options.file_mode;
  if (index_path != NULL && strcmp(data_path, index_path) == 0)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_WRITER_PATHS,
                     "data and index cannot be the same file");
  if ((mode & ~07777u) != 0)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_WRITER_MODE,
                     "file mode %o has more than permission bits", mode);
  ashuf_status status = encode_options_check(&writer->options.encode, error);
  if (status == ASHUF_OK) status = allocate(writer, error);
  if (status == ASHUF_OK)
    status = batch_store_init(&writer->store, writer->partitioner, writer->memory, error);
  if (status == ASHUF_OK)
    status = file_writer_open(&writer->data, data_path, mode, writer->memory, error);
  if (status == ASHUF_OK && index_path != NULL) {
    status = file_writer_open(&writer->index, index_path, mode, writer->memory, error);
    writer->has_index = true;
  }
  return status;
}

ashuf_status writer_open(ashuf_partitioner *partitioner, const struct ashuf_writer_options *options,
                         const char *data_path, const char *index_path, ashuf_writer **out,
                         struct ashuf_error *error) {
  ashuf_writer *writer = memory_zeroed(options->memory, sizeof *writer);
  if (writer == NULL)
    return error_memory(error, SITE_WRITER_MEMORY, options->memory, sizeof *writer);
  writer->memory = ashuf_memory_ref(options->memory);
  writer->partitioner = partition_ref(partitioner);
  writer->partitions = partitioner->n;
  writer->options = *options;
  writer->data = (struct file_writer)FILE_WRITER_INIT;
  writer->index = (struct file_writer)FILE_WRITER_INIT;
  ashuf_status status = start(writer, data_path, index_path, error);
  if (status != ASHUF_OK) {
    writer_close(writer);
    return status;
  }
  *out = writer;
  return ASHUF_OK;
}

static ashuf_status require_open(const ashuf_writer *writer, struct ashuf_error *error) {
  if (writer->state == WRITER_OPEN) return ASHUF_OK;
  return error_set(
      error, ASHUF_INVALID_STATE, SITE_WRITER_STATE,
      writer->state == WRITER_FINISHED ? "the writer is finished" : "the writer failed before");
}

static ashuf_status broken(ashuf_writer *writer, ashuf_status status) {
  writer->state = WRITER_BROKEN;
  drop_work(writer);
  return status;
}

ashuf_status writer_report(const ashuf_writer *writer, int64_t rows_pushed, int64_t rows_written,
                           struct ashuf_error *error) {
  const struct ashuf_writer_options *options = &writer->options;
  if (options->progress == NULL ||
      options->progress(options->progress_data, rows_pushed, rows_written) == 0)
    return ASHUF_OK;
  return error_set(error, ASHUF_CANCELLED, SITE_WRITER_CANCELLED,
                   "the progress callback cancelled the writing");
}

/* Whether a failed push says that the batch is bad, and nothing about the writer. */
static bool is_about_batch(ashuf_status status) {
  return status == ASHUF_BAD_ARRAY || status == ASHUF_SCHEMA_MISMATCH ||
         status == ASHUF_INVALID_ARGUMENT;
}

ashuf_status writer_push(ashuf_writer *writer, struct ArrowArray *batch,
                         struct ashuf_error *error) {
  ashuf_status status = require_open(writer, error);
  if (status != ASHUF_OK) return status;
  status = batch_store_check(&writer->store, batch, error);
  if (is_about_batch(status)) return status;
  int64_t rows_pushed = writer->rows_pushed + batch->length;
  if (status == ASHUF_OK) {
    status = writer_report(writer, rows_pushed, 0, error);
    if (status != ASHUF_OK) batch_store_drop(&writer->store, batch);
  }
  if (status != ASHUF_OK) return broken(writer, status);
  batch_store_keep(&writer->store, batch);
  writer->rows_pushed = rows_pushed;
  return ASHUF_OK;
}

static void describe(const ashuf_writer *writer, struct ashuf_map_output *out) {
  struct ashuf_map_output own = ASHUF_MAP_OUTPUT_INIT;
  own.partitions = writer->partitions;
  own.offsets = writer->offsets;
  own.rows = writer->rows;
  own.total_rows = writer->stats.rows;
  own.total_blocks = writer->stats.blocks;
  own.raw_bytes = writer->stats.raw_bytes;
  options_write(out, &own, sizeof own);
}

ashuf_status writer_finish(ashuf_writer *writer, struct ashuf_map_output *out,
                           struct ashuf_error *error) {
  ashuf_status status = require_open(writer, error);
  if (status != ASHUF_OK) return status;
  status = writer_write_files(writer, error);
  if (status != ASHUF_OK) return broken(writer, status);
  writer->state = WRITER_FINISHED;
  drop_work(writer);
  describe(writer, out);
  return ASHUF_OK;
}

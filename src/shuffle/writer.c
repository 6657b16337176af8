#include "shuffle/writer.h"

#include "base/options.h"
#include "codec/checksum.h"

#include <string.h>

/* Drops everything but what the caller may still look at: the arrays of a finished writer. */
static void drop_work(ashuf_writer *writer) {
  output_close(&writer->output);
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
  memory_free(memory, writer->checksums, (size_t)writer->partitions * sizeof *writer->checksums);
  partition_unref(writer->partitioner);
  memory_free(memory, writer, sizeof *writer);
  ashuf_memory_free(memory);
}

static ashuf_status allocate_checksums(ashuf_writer *writer, struct ashuf_error *error) {
  size_t size = (size_t)writer->partitions * sizeof *writer->checksums;
  int kind = writer->options.checksum;
  if (kind == ASHUF_CHECKSUM_NONE) return ASHUF_OK;
  writer->checksums = memory_alloc(writer->memory, size);
  if (writer->checksums == NULL)
    return error_memory(error, SITE_WRITER_MEMORY, writer->memory, size);
  for (int32_t i = 0; i < writer->partitions; i++) writer->checksums[i] = checksum_begin(kind);
  return ASHUF_OK;
}

static ashuf_status allocate(ashuf_writer *writer, struct ashuf_error *error) {
  size_t n = (size_t)writer->partitions;
  writer->offsets = memory_zeroed(writer->memory, (n + 1) * sizeof *writer->offsets);
  writer->rows = memory_zeroed(writer->memory, n * sizeof *writer->rows);
  writer->encoder = block_encoder_new(writer->memory);
  if (writer->offsets == NULL || writer->rows == NULL || writer->encoder == NULL)
    return error_memory(error, SITE_WRITER_MEMORY, writer->memory,
                        n * (sizeof *writer->offsets + sizeof *writer->rows));
  return allocate_checksums(writer, error);
}

static ashuf_status check_options(const struct ashuf_writer_options *options,
                                  struct ashuf_error *error) {
  int checksum = options->checksum;
  if (checksum != ASHUF_CHECKSUM_NONE && checksum_name(checksum) == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_WRITER_OPTION, "unknown checksum %d",
                     checksum);
  return encode_options_check(&options->encode, error);
}

/* Everything but the output, which comes last: a sink is not aborted that was never begun. */
static ashuf_status open_inside(ashuf_partitioner *partitioner,
                                const struct ashuf_writer_options *options, ashuf_writer **out,
                                struct ashuf_error *error) {
  ashuf_writer *writer = memory_zeroed(options->memory, sizeof *writer);
  if (writer == NULL)
    return error_memory(error, SITE_WRITER_MEMORY, options->memory, sizeof *writer);
  writer->memory = ashuf_memory_ref(options->memory);
  writer->partitioner = partition_ref(partitioner);
  writer->partitions = partitioner->n;
  writer->options = *options;
  ashuf_status status = check_options(options, error);
  if (status == ASHUF_OK) status = allocate(writer, error);
  if (status == ASHUF_OK)
    status = batch_store_init(&writer->store, writer->partitioner, writer->memory, error);
  if (status == ASHUF_OK)
    *out = writer;
  else
    writer_close(writer);
  return status;
}

ashuf_status writer_open_files(ashuf_partitioner *partitioner,
                               const struct ashuf_writer_options *options, const char *data_path,
                               const char *index_path, ashuf_writer **out,
                               struct ashuf_error *error) {
  ashuf_writer *writer = NULL;
  ashuf_status status = open_inside(partitioner, options, &writer, error);
  if (status != ASHUF_OK) return status;
  status = output_files_open(&writer->output, &writer->options, data_path, index_path, error);
  if (status == ASHUF_OK)
    *out = writer;
  else
    writer_close(writer);
  return status;
}

ashuf_status writer_open_sink(ashuf_partitioner *partitioner,
                              const struct ashuf_writer_options *options,
                              const struct ashuf_sink *sink, ashuf_writer **out,
                              struct ashuf_error *error) {
  ashuf_status status = open_inside(partitioner, options, out, error);
  if (status == ASHUF_OK) output_sink_open(&(*out)->output, sink);
  return status;
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
  if (atomic_load_explicit(&writer->cancelled, memory_order_relaxed))
    return error_set(error, ASHUF_CANCELLED, SITE_WRITER_CANCELLED, "the writing was cancelled");
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

void writer_describe(const ashuf_writer *writer, struct ashuf_map_output *out) {
  struct ashuf_map_output own = ASHUF_MAP_OUTPUT_INIT;
  own.partitions = writer->partitions;
  own.offsets = writer->offsets;
  own.rows = writer->rows;
  own.checksums = writer->checksums;
  own.total_rows = writer->stats.rows;
  own.total_blocks = writer->stats.blocks;
  own.raw_bytes = writer->stats.raw_bytes;
  *out = own;
}

ashuf_status writer_finish(ashuf_writer *writer, struct ashuf_map_output *out,
                           struct ashuf_error *error) {
  ashuf_status status = require_open(writer, error);
  if (status != ASHUF_OK) return status;
  status = writer_write_output(writer, error);
  if (status != ASHUF_OK) return broken(writer, status);
  writer->state = WRITER_FINISHED;
  drop_work(writer);
  struct ashuf_map_output own;
  writer_describe(writer, &own);
  options_write(out, &own, sizeof own);
  return ASHUF_OK;
}

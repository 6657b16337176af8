#include "shuffle/output.h"

#include "base/buffer.h"
#include "base/bytes.h"
#include "shuffle/checksum_file.h"
#include "shuffle/index.h"

#include <string.h>

/* Numbers written at a time to the checksum file. */
#define CHECKSUM_PIECE 512

/* ---- Files -------------------------------------------------------------------------------- */

static ashuf_status check_options(const struct ashuf_writer_options *options, const char *data_path,
                                  const char *index_path, struct ashuf_error *error) {
  if (index_path != NULL && strcmp(data_path, index_path) == 0)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_OUTPUT_PATHS,
                     "data and index cannot be the same file");
  if ((options->file_mode & ~07777u) != 0)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_OUTPUT_MODE,
                     "file mode %o has more than permission bits", options->file_mode);
  if (options->index_order != ASHUF_INDEX_BIG_ENDIAN &&
      options->index_order != ASHUF_INDEX_LITTLE_ENDIAN)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_OUTPUT_OPTION, "unknown index order %d",
                     options->index_order);
  return ASHUF_OK;
}

static ashuf_status open_checksums(struct output_files *files,
                                   const struct ashuf_writer_options *options,
                                   const char *data_path, const char *index_path,
                                   struct ashuf_error *error) {
  size_t size = 0;
  char *path = checksum_file_path(data_path, options->checksum, files->memory, &size);
  if (path == NULL) return error_memory(error, SITE_OUTPUT_MEMORY, files->memory, size);
  ashuf_status status;
  if (index_path != NULL && strcmp(path, index_path) == 0)
    status = error_set(error, ASHUF_INVALID_ARGUMENT, SITE_OUTPUT_PATHS,
                       "checksums and index cannot be the same file");
  else
    status = file_writer_open(&files->checksums, path, options->file_mode, files->memory, error);
  memory_free(files->memory, path, size);
  return status;
}

ashuf_status output_files_open(struct output *output, const struct ashuf_writer_options *options,
                               const char *data_path, const char *index_path,
                               struct ashuf_error *error) {
  struct output_files *files = &output->files;
  memset(output, 0, sizeof *output);
  files->memory = options->memory;
  files->data = files->checksums = files->index = (struct file_writer)FILE_WRITER_INIT;
  files->has_index = index_path != NULL;
  files->has_checksums = options->checksum != ASHUF_CHECKSUM_NONE;
  files->index_order = options->index_order;
  files->sync = options->sync != 0;
  output->open = true;
  ashuf_status status = check_options(options, data_path, index_path, error);
  if (status == ASHUF_OK)
    status = file_writer_open(&files->data, data_path, options->file_mode, files->memory, error);
  if (status == ASHUF_OK && files->has_checksums)
    status = open_checksums(files, options, data_path, index_path, error);
  if (status == ASHUF_OK && files->has_index)
    status = file_writer_open(&files->index, index_path, options->file_mode, files->memory, error);
  if (status != ASHUF_OK) output_close(output);
  return status;
}

static ashuf_status write_checksums(struct output_files *files,
                                    const struct ashuf_map_output *written,
                                    struct ashuf_error *error) {
  uint8_t piece[CHECKSUM_PIECE * 8];
  ashuf_status status = ASHUF_OK;
  for (int32_t first = 0; first < written->partitions && status == ASHUF_OK;) {
    int32_t left = written->partitions - first;
    int32_t n = left < CHECKSUM_PIECE ? left : CHECKSUM_PIECE;
    for (int32_t i = 0; i < n; i++) store_u64_big(piece + i * 8, written->checksums[first + i]);
    status = file_writer_append(&files->checksums, piece, (size_t)n * 8, error);
    first += n;
  }
  if (status != ASHUF_OK) return status;
  return file_writer_complete(&files->checksums, files->sync, error);
}

static ashuf_status write_index(struct output_files *files, const struct ashuf_map_output *written,
                                struct ashuf_error *error) {
  struct ashuf_buffer bytes = ASHUF_BUFFER_INIT;
  enum index_order order =
      files->index_order == ASHUF_INDEX_LITTLE_ENDIAN ? INDEX_LITTLE_ENDIAN : INDEX_BIG_ENDIAN;
  ashuf_status status =
      index_encode(written->offsets, written->partitions, order, &bytes, files->memory, error);
  if (status == ASHUF_OK) status = file_writer_append(&files->index, bytes.data, bytes.size, error);
  ashuf_buffer_free(&bytes);
  if (status != ASHUF_OK) return status;
  return file_writer_complete(&files->index, files->sync, error);
}

/* The checksum file of another algorithm, where an earlier output left one. */
static ashuf_status find_stale(struct output_files *files, int kind, struct ashuf_error *error) {
  size_t size = 0;
  char *path = checksum_file_path(files->data.path, kind, files->memory, &size);
  if (path == NULL) return error_memory(error, SITE_OUTPUT_MEMORY, files->memory, size);
  ashuf_status status = ASHUF_OK;
  bool there = false;
  bool is_ours = (files->has_checksums && strcmp(path, files->checksums.path) == 0) ||
                 (files->has_index && strcmp(path, files->index.path) == 0);
  if (!is_ours)
    status = file_writer_removal(&files->stale[files->n_stale], path, files->memory, &there, error);
  files->n_stale += there && status == ASHUF_OK;
  memory_free(files->memory, path, size);
  return status;
}

/* Readers take any checksum file beside the data for its own. */
static ashuf_status find_all_stale(struct output_files *files, struct ashuf_error *error) {
  ashuf_status status = ASHUF_OK;
  for (int kind = CHECKSUM_ADLER32; kind <= CHECKSUM_CRC32C && status == ASHUF_OK; kind++)
    status = find_stale(files, kind, error);
  return status;
}

static ashuf_status finish_files(struct output_files *files, const struct ashuf_map_output *written,
                                 struct ashuf_error *error) {
  struct file_writer *all[FILE_MAX_COMMIT];
  size_t n = 0;
  ashuf_status status = file_writer_complete(&files->data, files->sync, error);
  all[n++] = &files->data;
  if (status == ASHUF_OK && files->has_checksums) {
    status = write_checksums(files, written, error);
    all[n++] = &files->checksums;
  }
  if (status == ASHUF_OK && files->has_index) {
    status = write_index(files, written, error);
    all[n++] = &files->index;
  }
  if (status == ASHUF_OK) status = find_all_stale(files, error);
  if (status != ASHUF_OK) return status;
  for (size_t i = 0; i < files->n_stale; i++) all[n++] = &files->stale[i];
  return files_commit(all, n, files->sync, error);
}

/* ---- Either ------------------------------------------------------------------------------- */

void output_sink_open(struct output *output, const struct ashuf_sink *sink) {
  memset(output, 0, sizeof *output);
  output->to_sink = true;
  output->sink = *sink;
  output->open = true;
}

static ashuf_status sink_status(int failure, const char *what, struct ashuf_error *error) {
  if (failure == 0) return ASHUF_OK;
  return error_os(error, SITE_OUTPUT_SINK, failure, "the sink failed in %s", what);
}

ashuf_status output_begin(struct output *output, int32_t partition, struct ashuf_error *error) {
  if (!output->to_sink || output->sink.partition_begin == NULL) return ASHUF_OK;
  return sink_status(output->sink.partition_begin(output->sink.user_data, partition),
                     "partition_begin", error);
}

ashuf_status output_bytes(struct output *output, const void *bytes, size_t size,
                          struct ashuf_error *error) {
  if (size == 0) return ASHUF_OK;
  if (!output->to_sink) return file_writer_append(&output->files.data, bytes, size, error);
  if (output->sink.bytes == NULL) return ASHUF_OK;
  return sink_status(output->sink.bytes(output->sink.user_data, bytes, size), "bytes", error);
}

ashuf_status output_end(struct output *output, int32_t partition, uint64_t size, uint32_t checksum,
                        struct ashuf_error *error) {
  if (!output->to_sink || output->sink.partition_end == NULL) return ASHUF_OK;
  return sink_status(output->sink.partition_end(output->sink.user_data, partition, size, checksum),
                     "partition_end", error);
}

ashuf_status output_complete(struct output *output, const struct ashuf_map_output *written,
                             struct ashuf_error *error) {
  ashuf_status status;
  if (!output->to_sink)
    status = finish_files(&output->files, written, error);
  else if (output->sink.finish == NULL)
    status = ASHUF_OK;
  else
    status = sink_status(output->sink.finish(output->sink.user_data, written), "finish", error);
  if (status != ASHUF_OK) return status;
  if (output->to_sink) output->open = false;
  output_close(output);
  return ASHUF_OK;
}

void output_close(struct output *output) {
  if (!output->open) return;
  output->open = false;
  if (output->to_sink) {
    if (output->sink.abort != NULL) output->sink.abort(output->sink.user_data);
    return;
  }
  file_writer_discard(&output->files.data);
  file_writer_discard(&output->files.checksums);
  file_writer_discard(&output->files.index);
  for (size_t i = 0; i < output->files.n_stale; i++) file_writer_discard(&output->files.stale[i]);
  output->files.n_stale = 0;
}

#include "shuffle/reader.h"
#include "arrow/stream.h"
#include "base/options.h"
#include "shuffle/map_file.h"

enum { SITE_API_MAP_FILE = 1220, SITE_API_MAP_NEXT = 1221, SITE_API_READ_FILES = 1222 };

ashuf_status ashuf_map_file_open(const char *data_path, const char *index_path, int require_index,
                                 ashuf_memory *memory, ashuf_map_file **out,
                                 struct ashuf_error *error) {
  if (data_path == NULL || out == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_MAP_FILE, "data_path or out is NULL");
  return map_file_open(data_path, index_path, require_index != 0, memory, out, error);
}

void ashuf_map_file_close(ashuf_map_file *file) { map_file_close(file); }

int64_t ashuf_map_file_partitions(const ashuf_map_file *file) { return file->partitions; }

const uint64_t *ashuf_map_file_offsets(const ashuf_map_file *file) { return file->offsets; }

int ashuf_map_file_has_index(const ashuf_map_file *file) { return file->has_index; }

ashuf_status ashuf_map_file_load_checksums(ashuf_map_file *file, const char **algorithm,
                                           struct ashuf_error *error) {
  if (file == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_MAP_FILE, "file is NULL");
  ashuf_status status = map_file_load_checksums(file, error);
  if (status == ASHUF_OK && algorithm != NULL) *algorithm = checksum_name(file->checksums.kind);
  return status;
}

ashuf_status ashuf_map_file_verify(const ashuf_map_file *file, int64_t partition, int *compared,
                                   struct ashuf_error *error) {
  if (file == NULL || compared == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_MAP_FILE, "file or compared is NULL");
  return map_file_verify(file, partition, compared, error);
}

ashuf_status ashuf_map_file_seek(const ashuf_map_file *file, int64_t first, int64_t end,
                                 struct ashuf_block_cursor *out, struct ashuf_error *error) {
  if (file == NULL || out == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_MAP_FILE, "file or out is NULL");
  return map_file_seek(file, first, end, out, error);
}

ashuf_status ashuf_map_file_next(const ashuf_map_file *file, ashuf_ctx *ctx,
                                 struct ashuf_block_cursor *cursor,
                                 const struct ashuf_decode_options *options, int *found,
                                 struct ashuf_block_cursor *at, const ashuf_schema **schema,
                                 struct ArrowArray *batch, struct ashuf_block_info *info,
                                 struct ashuf_error *error) {
  if (file == NULL || ctx == NULL || cursor == NULL || found == NULL || schema == NULL ||
      batch == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_MAP_NEXT,
                     "file, ctx, cursor, found, schema or batch is NULL");
  return map_file_next(file, ctx, cursor, options, found, at, schema, batch, info, error);
}

static ashuf_status check_paths(const char *const *paths, size_t n_paths,
                                struct ashuf_error *error) {
  if (n_paths != 0 && paths == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_READ_FILES, "paths is NULL");
  for (size_t i = 0; i < n_paths; i++)
    if (paths[i] == NULL)
      return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_READ_FILES, "path %zu is NULL", i);
  return ASHUF_OK;
}

static ashuf_status check_options(const struct ashuf_read_options *options,
                                  struct ashuf_error *error) {
  if (options->target_rows < 0 || options->verify < ASHUF_VERIFY_BEFORE ||
      options->verify > ASHUF_VERIFY_OFF)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_READ_FILES,
                     "target_rows is negative, or verify none of its values");
  if (options->decode.n_projection != 0 && options->decode.projection == NULL &&
      options->decode.projection_names == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_READ_FILES,
                     "n_projection without a projection");
  return ASHUF_OK;
}

ashuf_status ashuf_read_files(const char *const *paths, size_t n_paths,
                              const struct ashuf_read_options *options,
                              struct ArrowArrayStream *out, struct ashuf_error *error) {
  struct ashuf_read_options own = ASHUF_READ_OPTIONS_INIT;
  struct ashuf_decode_options decode = ASHUF_DECODE_OPTIONS_INIT;
  if (out == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_READ_FILES, "out is NULL");
  ashuf_status status = check_paths(paths, n_paths, error);
  if (status != ASHUF_OK) return status;
  options_read(&own, sizeof own, options);
  if (own.decode.struct_size != 0) options_read(&decode, sizeof decode, &own.decode);
  own.decode = decode;
  status = check_options(&own, error);
  if (status != ASHUF_OK) return status;
  return reader_open(paths, n_paths, &own, out, error);
}

int ashuf_stream_get_read_stats(struct ArrowArrayStream *stream, struct ashuf_read_stats *out) {
  return out != NULL && reader_get_stats(stream, out);
}

#include "shuffle/reader.h"

#include "arrow/stream.h"
#include "shuffle/map_file.h"

#include <string.h>

struct reader {
  struct stream_state state; /* first: arrow/stream.h */
  ashuf_memory *memory;      /* a reference */
  ashuf_ctx *ctx;
  struct ashuf_decode_options decode;
  ashuf_schema *schema; /* of the stream; decode.expected points to it */
  int64_t first_partition;
  int64_t end_partition; /* -1: to the last */

  char **paths; /* n_paths, NULL behind the last that could be copied */
  size_t n_paths;
  size_t next_path;
  ashuf_map_file *file; /* the one being read, or NULL */
  struct ashuf_block_cursor cursor;
  struct ArrowArray first; /* read by reader_open, not yet handed out; release NULL: none */
};

static void reader_free(struct reader *reader) {
  ashuf_memory *memory = reader->memory;
  if (reader->first.release != NULL) reader->first.release(&reader->first);
  map_file_close(reader->file);
  for (size_t i = 0; reader->paths != NULL && i < reader->n_paths; i++)
    if (reader->paths[i] != NULL)
      memory_free(memory, reader->paths[i], strlen(reader->paths[i]) + 1);
  memory_free(memory, reader->paths, reader->n_paths * sizeof *reader->paths);
  ashuf_schema_free(reader->schema);
  ashuf_ctx_free(reader->ctx);
  memory_free(memory, reader, sizeof *reader);
  ashuf_memory_free(memory);
}

static ashuf_status no_memory(const struct reader *reader, size_t size, struct ashuf_error *error) {
  return error_memory(error, SITE_READER_MEMORY, reader->memory, size);
}

static ashuf_status copy_paths(struct reader *reader, const char *const *paths, size_t n_paths,
                               struct ashuf_error *error) {
  if (n_paths == 0) return ASHUF_OK;
  if (n_paths > SIZE_MAX / sizeof *reader->paths) return no_memory(reader, SIZE_MAX, error);
  reader->paths = memory_zeroed(reader->memory, n_paths * sizeof *reader->paths);
  if (reader->paths == NULL) return no_memory(reader, n_paths * sizeof *reader->paths, error);
  reader->n_paths = n_paths;
  for (size_t i = 0; i < n_paths; i++) {
    size_t size = strlen(paths[i]) + 1;
    reader->paths[i] = memory_alloc(reader->memory, size);
    if (reader->paths[i] == NULL) return no_memory(reader, size, error);
    memcpy(reader->paths[i], paths[i], size);
  }
  return ASHUF_OK;
}

/* The file at path, and the cursor at its first partition asked for. */
static ashuf_status open_file(const struct reader *reader, const char *path, ashuf_map_file **file,
                              struct ashuf_block_cursor *cursor, struct ashuf_error *error) {
  ashuf_map_file *opened;
  ashuf_status status = map_file_open(path, NULL, true, reader->memory, &opened, error);
  if (status != ASHUF_OK) return status;
  status = map_file_seek(opened, reader->first_partition, reader->end_partition, cursor, error);
  if (status != ASHUF_OK) {
    error_prefix(error, "%s: ", opened->data.label);
    map_file_close(opened);
    return status;
  }
  *file = opened;
  return ASHUF_OK;
}

static ashuf_status check_files(const struct reader *reader, struct ashuf_error *error) {
  for (size_t i = 0; i < reader->n_paths; i++) {
    ashuf_map_file *file;
    struct ashuf_block_cursor cursor;
    ashuf_status status = open_file(reader, reader->paths[i], &file, &cursor, error);
    if (status != ASHUF_OK) return status;
    map_file_close(file);
  }
  return ASHUF_OK;
}

/* The next block of all files; *found 0 behind the last. */
static ashuf_status next_block(struct reader *reader, int *found, const ashuf_schema **schema,
                               struct ArrowArray *batch, struct ashuf_error *error) {
  for (;;) {
    if (reader->file == NULL) {
      *found = 0;
      if (reader->next_path == reader->n_paths) return ASHUF_OK;
      ashuf_status status = open_file(reader, reader->paths[reader->next_path], &reader->file,
                                      &reader->cursor, error);
      if (status != ASHUF_OK) return status;
      reader->next_path++;
    }
    ashuf_status status = map_file_next(reader->file, reader->ctx, &reader->cursor, &reader->decode,
                                        found, NULL, schema, batch, NULL, error);
    if (status != ASHUF_OK || *found) return status;
    map_file_close(reader->file);
    reader->file = NULL;
  }
}

static ashuf_status read_first(struct reader *reader, struct ashuf_error *error) {
  int found;
  const ashuf_schema *schema;
  ashuf_status status = next_block(reader, &found, &schema, &reader->first, error);
  if (status != ASHUF_OK) {
    reader->first.release = NULL;
    return status;
  }
  if (!found) reader->first.release = NULL;
  if (reader->schema != NULL) return ASHUF_OK;
  if (!found)
    return error_set(error, ASHUF_NO_SCHEMA, SITE_READER_NO_SCHEMA,
                     "there is no block to read, and no schema was given");
  reader->schema = ashuf_schema_ref(schema);
  reader->decode.expected = reader->schema;
  return ASHUF_OK;
}

static ashuf_status start(struct reader *reader, const char *const *paths, size_t n_paths,
                          const struct ashuf_read_options *options, struct ashuf_error *error) {
  struct ashuf_ctx_options ctx_options = ASHUF_CTX_OPTIONS_INIT;
  ctx_options.memory = reader->memory;
  reader->decode = options->decode;
  if (options->decode.expected != NULL) reader->schema = ashuf_schema_ref(options->decode.expected);
  reader->first_partition = options->first_partition;
  reader->end_partition = options->end_partition == 0 ? -1 : options->end_partition;
  ashuf_status status = copy_paths(reader, paths, n_paths, error);
  if (status == ASHUF_OK) status = check_files(reader, error);
  if (status == ASHUF_OK) status = ashuf_ctx_new(&ctx_options, &reader->ctx, error);
  if (status == ASHUF_OK) status = read_first(reader, error);
  return status;
}

/* ---- The stream --------------------------------------------------------------------------- */

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  struct reader *reader = stream->private_data;
  if (stream_has_failed(&reader->state)) return stream_errno(&reader->state.error);
  ashuf_status status = ashuf_schema_export(reader->schema, out, &reader->state.error);
  return status == ASHUF_OK ? 0 : stream_errno(&reader->state.error);
}

static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  struct reader *reader = stream->private_data;
  if (stream_has_failed(&reader->state)) return stream_errno(&reader->state.error);
  if (reader->first.release != NULL) {
    *out = reader->first;
    reader->first.release = NULL;
    return 0;
  }
  int found;
  const ashuf_schema *schema;
  if (next_block(reader, &found, &schema, out, &reader->state.error) != ASHUF_OK)
    return stream_errno(&reader->state.error);
  if (!found) memset(out, 0, sizeof *out);
  return 0;
}

static void stream_release(struct ArrowArrayStream *stream) {
  reader_free(stream->private_data);
  stream->private_data = NULL;
  stream->release = NULL;
}

ashuf_status reader_open(const char *const *paths, size_t n_paths,
                         const struct ashuf_read_options *options, struct ArrowArrayStream *out,
                         struct ashuf_error *error) {
  struct reader *reader = memory_zeroed(options->memory, sizeof *reader);
  if (reader == NULL)
    return error_memory(error, SITE_READER_MEMORY, options->memory, sizeof *reader);
  reader->memory = ashuf_memory_ref(options->memory);
  ashuf_status status = start(reader, paths, n_paths, options, error);
  if (status != ASHUF_OK) {
    reader_free(reader);
    return status;
  }
  *out = (struct ArrowArrayStream){stream_get_schema, stream_get_next, stream_last_error,
                                   stream_release, reader};
  return ASHUF_OK;
}

#include "ipc_input.h"

#include "limit.h"

#include <stdio.h>
#include <string.h>

/* The error behind a failed call of a stream. */
static ashuf_status stream_error(struct ArrowArrayStream *stream, int failure,
                                 struct ashuf_error *error) {
  if (ashuf_stream_get_error(stream, error) != 0) return error->status;
  const char *text = stream->get_last_error(stream);
  memset(error, 0, sizeof *error);
  error->status = ASHUF_IO;
  error->os_errno = failure;
  error->block_offset = UINT64_MAX;
  error->map = error->partition = error->block = -1;
  (void)snprintf(error->message, sizeof error->message, "%s",
                 text == NULL ? strerror(failure) : text);
  return error->status;
}

static ashuf_status read_schema(struct ipc_input *input, struct ashuf_error *error) {
  struct ArrowSchema schema;
  int failure = input->stream.get_schema(&input->stream, &schema);
  if (failure != 0) return stream_error(&input->stream, failure, error);
  ashuf_status status = ashuf_schema_import(&schema, limit_memory(), &input->schema, error);
  schema.release(&schema);
  return status;
}

/* opened: the status of opening the stream. */
static ashuf_status begin(struct ipc_input *input, ashuf_status opened, struct ashuf_error *error) {
  if (opened != ASHUF_OK) {
    input->stream.release = NULL;
    return opened;
  }
  ashuf_status status = read_schema(input, error);
  if (status != ASHUF_OK) ipc_input_close(input);
  return status;
}

ashuf_status ipc_input_open(struct ipc_input *out, const char *path, struct ashuf_error *error) {
  struct ashuf_ipc_read_options options = ASHUF_IPC_READ_OPTIONS_INIT;
  options.memory = limit_memory();
  memset(out, 0, sizeof *out);
  out->path = path;
  return begin(out, ashuf_ipc_read_path(path, &options, &out->stream, error), error);
}

ashuf_status ipc_input_open_shuffle(struct ipc_input *out, const char *const *paths, size_t n,
                                    const struct ashuf_read_options *options,
                                    struct ashuf_error *error) {
  memset(out, 0, sizeof *out);
  out->path = paths[0];
  return begin(out, ashuf_read_files(paths, n, options, &out->stream, error), error);
}

ashuf_status ipc_input_next(struct ipc_input *input, struct ArrowArray *batch,
                            struct ashuf_error *error) {
  memset(batch, 0, sizeof *batch);
  int failure = input->stream.get_next(&input->stream, batch);
  if (failure == 0) {
    project_batch(&input->projection, batch);
    return ASHUF_OK;
  }
  batch->release = NULL;
  return stream_error(&input->stream, failure, error);
}

void ipc_input_close(struct ipc_input *input) {
  ashuf_schema_free(input->schema);
  input->schema = NULL;
  project_close(&input->projection);
  if (input->stream.release != NULL) input->stream.release(&input->stream);
  input->stream.release = NULL;
}

/* The exported calls of ipc.h: argument checks in front of src/ipc. */
#include "base/options.h"
#include "ipc/stream_reader.h"
#include "ipc/stream_writer.h"

enum { SITE_API_IPC = 1260 };

#define DEFAULT_MAX_DECODED ((uint64_t)2 << 30)

static ashuf_status missing(struct ashuf_error *error, const char *what) {
  return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_IPC, "%s is missing", what);
}

ashuf_status ashuf_ipc_read_path(const char *path, const struct ashuf_ipc_read_options *options,
                                 struct ArrowArrayStream *out, struct ashuf_error *error) {
  struct ashuf_ipc_read_options own = ASHUF_IPC_READ_OPTIONS_INIT;
  if (path == NULL || out == NULL) return missing(error, "path or out");
  options_read(&own, sizeof own, options);
  if (own.max_decoded_bytes == 0) own.max_decoded_bytes = DEFAULT_MAX_DECODED;
  return stream_reader_open(path, &own, out, error);
}

ashuf_status ashuf_ipc_writer_new(const ashuf_schema *schema, ashuf_memory *memory,
                                  int (*write)(void *user_data, const void *data, size_t size),
                                  void *user_data, ashuf_ipc_writer **out,
                                  struct ashuf_error *error) {
  if (schema == NULL || write == NULL || out == NULL) return missing(error, "schema, write or out");
  struct stream_sink sink = {write, user_data};
  return stream_writer_open(schema, memory, &sink, out, error);
}

ashuf_status ashuf_ipc_writer_write(ashuf_ipc_writer *writer, const struct ArrowArray *batch,
                                    struct ashuf_error *error) {
  if (writer == NULL || batch == NULL || batch->release == NULL)
    return missing(error, "writer or batch");
  return stream_writer_write(writer, batch, error);
}

ashuf_status ashuf_ipc_writer_finish(ashuf_ipc_writer *writer, struct ashuf_error *error) {
  return writer == NULL ? missing(error, "writer") : stream_writer_finish(writer, error);
}

void ashuf_ipc_writer_free(ashuf_ipc_writer *writer) { stream_writer_free(writer); }

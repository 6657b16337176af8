#include "shuffle/writer.h"
#include "base/options.h"

enum { SITE_API_WRITER = 1240 };

#define DEFAULT_FILE_MODE 0644u

static ashuf_status missing(struct ashuf_error *error, const char *what) {
  return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_API_WRITER, "%s is missing", what);
}

/* The caller's options over the defaults, complete. */
static struct ashuf_writer_options resolve(const struct ashuf_writer_options *options) {
  struct ashuf_writer_options own = ASHUF_WRITER_OPTIONS_INIT;
  options_read(&own, sizeof own, options);
  struct ashuf_encode_options given = own.encode;
  encode_options_resolve(&own.encode, given.struct_size != 0 ? &given : NULL);
  if (own.file_mode == 0) own.file_mode = DEFAULT_FILE_MODE;
  if (own.spill_codec == ASHUF_CODEC_DEFAULT) own.spill_codec = ASHUF_CODEC_NONE;
  if (own.threads == 0) own.threads = 1;
  return own;
}

ashuf_status ashuf_writer_open_files(ashuf_partitioner *partitioner,
                                     const struct ashuf_writer_options *options,
                                     const char *data_path, const char *index_path,
                                     ashuf_writer **out, struct ashuf_error *error) {
  if (partitioner == NULL || data_path == NULL || out == NULL)
    return missing(error, "partitioner, data_path or out");
  struct ashuf_writer_options own = resolve(options);
  return writer_open_files(partitioner, &own, data_path, index_path, out, error);
}

ashuf_status ashuf_writer_open_sink(ashuf_partitioner *partitioner,
                                    const struct ashuf_writer_options *options,
                                    const struct ashuf_sink *sink, ashuf_writer **out,
                                    struct ashuf_error *error) {
  if (partitioner == NULL || sink == NULL || out == NULL)
    return missing(error, "partitioner, sink or out");
  struct ashuf_writer_options own = resolve(options);
  struct ashuf_sink own_sink = ASHUF_SINK_INIT;
  options_read(&own_sink, sizeof own_sink, sink);
  return writer_open_sink(partitioner, &own, &own_sink, out, error);
}

ashuf_status ashuf_writer_push(ashuf_writer *writer, struct ArrowArray *batch,
                               struct ashuf_error *error) {
  if (writer == NULL || batch == NULL || batch->release == NULL)
    return missing(error, "writer or batch");
  return writer_push(writer, batch, error);
}

ashuf_status ashuf_writer_finish(ashuf_writer *writer, struct ashuf_map_output *out,
                                 struct ashuf_error *error) {
  if (writer == NULL) return missing(error, "writer");
  return writer_finish(writer, out, error);
}

void ashuf_writer_close(ashuf_writer *writer) { writer_close(writer); }

void ashuf_writer_request_spill(ashuf_writer *writer) {
  if (writer != NULL) atomic_store(&writer->spill_requested, true);
}

void ashuf_writer_cancel(ashuf_writer *writer) {
  if (writer != NULL) atomic_store(&writer->cancelled, true);
}

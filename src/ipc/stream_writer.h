/*
 * Batches to an Arrow IPC stream that every reader takes: dictionary columns as their values,
 * buffers at multiples of 64, validity only where something is null, no compression.
 *
 *   batch -> cut -> plan (sizes) -> metadata, body gathered into a buffer -> write callback
 *
 * A batch whose message would hold more than WRITER_MAX_BODY goes out as several. One message is
 * in memory at a time, and its buffer is used again.
 *
 * Legal order: stream_writer_open (writes the schema) -> stream_writer_write ... ->
 * stream_writer_finish (the end mark); stream_writer_free at any point. After a failure nothing
 * is written any more: INVALID_STATE.
 */
#ifndef ASHUF_IPC_STREAM_WRITER_H
#define ASHUF_IPC_STREAM_WRITER_H

#include "base/error.h"

#include <ashuf/ipc.h>

#define WRITER_MAX_BODY ((uint64_t)16 << 20)
#define WRITER_MAX_ROWS ((int64_t)1 << 20)

enum {
  SITE_IPC_WRITER_MEMORY = 700,
  SITE_IPC_WRITER_OUTPUT = 701,
  SITE_IPC_WRITER_STATE = 702,
  SITE_IPC_WRITER_ROW = 703
};

struct stream_sink {
  int (*write)(void *user_data, const void *data, size_t size);
  void *user_data;
};

ashuf_status stream_writer_open(const ashuf_schema *schema, ashuf_memory *memory,
                                const struct stream_sink *sink, ashuf_ipc_writer **out,
                                struct ashuf_error *error);
ashuf_status stream_writer_write(ashuf_ipc_writer *writer, const struct ArrowArray *batch,
                                 struct ashuf_error *error);
ashuf_status stream_writer_finish(ashuf_ipc_writer *writer, struct ashuf_error *error);
void stream_writer_free(ashuf_ipc_writer *writer);

#endif /* ASHUF_IPC_STREAM_WRITER_H */

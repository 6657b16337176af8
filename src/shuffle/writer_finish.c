#include "base/buffer.h"
#include "shuffle/index.h"
#include "shuffle/writer.h"

#include <inttypes.h>

static ashuf_status sink_write(void *self, const struct ashuf_buffer *out,
                               struct ashuf_error *error) {
  ashuf_writer *writer = self;
  return file_writer_append(&writer->data, out->data, out->size, error);
}

static ashuf_status write_partition(ashuf_writer *writer, int32_t partition,
                                    struct ashuf_error *error) {
  struct selection rows = batch_store_selection(&writer->store, partition);
  struct block_sink sink = {sink_write, writer};
  ashuf_status status = ASHUF_OK;
  if (rows.n_rows != 0) {
    writer->blocks.size = 0;
    status =
        block_encode_selection(writer->encoder, &writer->store.set, &rows, &writer->options.encode,
                               &writer->blocks, &sink, &writer->stats, error);
    if (status == ASHUF_OK) status = sink_write(writer, &writer->blocks, error);
  }
  if (status != ASHUF_OK) {
    error_prefix(error, "partition %" PRId32 ": ", partition);
    if (error != NULL) error->partition = partition;
    return status;
  }
  writer->rows[partition] = rows.n_rows;
  writer->offsets[partition + 1] = writer->data.size;
  return rows.n_rows == 0 ? ASHUF_OK
                          : writer_report(writer, writer->rows_pushed, writer->stats.rows, error);
}

static ashuf_status write_data(ashuf_writer *writer, struct ashuf_error *error) {
  ashuf_status status = batch_store_scatter(&writer->store, error);
  for (int32_t p = 0; p < writer->partitions && status == ASHUF_OK; p++)
    status = write_partition(writer, p, error);
  if (status != ASHUF_OK) return status;
  return file_writer_complete(&writer->data, writer->options.sync != 0, error);
}

static ashuf_status write_index(ashuf_writer *writer, struct ashuf_error *error) {
  struct ashuf_buffer *bytes = &writer->blocks; /* the blocks are written */
  bytes->size = 0;
  ashuf_status status = index_encode(writer->offsets, writer->partitions, INDEX_BIG_ENDIAN, bytes,
                                     writer->memory, error);
  if (status == ASHUF_OK)
    status = file_writer_append(&writer->index, bytes->data, bytes->size, error);
  if (status == ASHUF_OK)
    status = file_writer_complete(&writer->index, writer->options.sync != 0, error);
  return status;
}

ashuf_status writer_write_files(ashuf_writer *writer, struct ashuf_error *error) {
  struct file_writer *files[] = {&writer->data, &writer->index};
  ashuf_status status = write_data(writer, error);
  if (status == ASHUF_OK && writer->has_index) status = write_index(writer, error);
  if (status != ASHUF_OK) return status;
  return files_commit(files, writer->has_index ? 2 : 1, writer->options.sync != 0, error);
}

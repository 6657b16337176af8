#include "base/buffer.h"
#include "codec/checksum.h"
#include "shuffle/writer.h"

#include <inttypes.h>

/* The partition being written. */
struct writing {
  ashuf_writer *writer;
  int32_t partition;
  uint64_t size;
};

static ashuf_status emit(void *self, const struct ashuf_buffer *out, struct ashuf_error *error) {
  struct writing *writing = self;
  ashuf_writer *writer = writing->writer;
  if (writer->checksums != NULL)
    writer->checksums[writing->partition] = checksum_update(
        writer->options.checksum, writer->checksums[writing->partition], out->data, out->size);
  writing->size += out->size;
  return output_bytes(&writer->output, out->data, out->size, error);
}

static ashuf_status write_rows(ashuf_writer *writer, const struct selection *rows,
                               struct writing *writing, struct ashuf_error *error) {
  struct block_sink sink = {emit, writing};
  ashuf_status status = output_begin(&writer->output, writing->partition, error);
  if (status != ASHUF_OK) return status;
  writer->blocks.size = 0;
  status =
      block_encode_selection(writer->encoder, &writer->store.set, rows, &writer->options.encode,
                             &writer->blocks, &sink, &writer->stats, error);
  if (status == ASHUF_OK) status = emit(writing, &writer->blocks, error);
  if (status != ASHUF_OK) return status;
  return output_end(&writer->output, writing->partition, writing->size,
                    writer->checksums != NULL ? writer->checksums[writing->partition] : 0, error);
}

static ashuf_status write_partition(ashuf_writer *writer, int32_t partition,
                                    struct ashuf_error *error) {
  struct selection rows = batch_store_selection(&writer->store, partition);
  struct writing writing = {writer, partition, 0};
  ashuf_status status = ASHUF_OK;
  if (rows.n_rows != 0) status = write_rows(writer, &rows, &writing, error);
  if (status != ASHUF_OK) {
    error_prefix(error, "partition %" PRId32 ": ", partition);
    if (error != NULL) error->partition = partition;
    return status;
  }
  writer->rows[partition] = rows.n_rows;
  writer->offsets[partition + 1] = writer->offsets[partition] + writing.size;
  return rows.n_rows == 0 ? ASHUF_OK
                          : writer_report(writer, writer->rows_pushed, writer->stats.rows, error);
}

ashuf_status writer_write_output(ashuf_writer *writer, struct ashuf_error *error) {
  struct ashuf_map_output written;
  ashuf_status status = batch_store_scatter(&writer->store, error);
  for (int32_t p = 0; p < writer->partitions && status == ASHUF_OK; p++)
    status = write_partition(writer, p, error);
  if (status != ASHUF_OK) return status;
  writer_describe(writer, &written);
  return output_finish(&writer->output, &written, error);
}

#include "os/clock.h"
#include "shuffle/writer.h"

/* ---- Without runs: the rows of a partition are one list already ---------------------------- */

/* How many rows of a partition the round still takes; more than a block, so that it gets on. */
static int64_t room(const ashuf_writer *writer) {
  int64_t most = (int64_t)(writer->round_bytes / (uint64_t)writer->row_bytes);
  int64_t left = most - writer->round.n_rows;
  return left > writer->options.encode.max_rows ? left : writer->options.encode.max_rows;
}

static ashuf_status write_list(ashuf_writer *writer, int32_t partition, struct ashuf_error *error) {
  struct selection rows = batch_store_selection(&writer->store, partition);
  size_t first = (size_t)(rows.ids - writer->store.scatter.rows);
  int64_t taken = 0;
  for (int64_t at = 0; at < rows.n_rows;) {
    int64_t most = room(writer);
    int64_t n = rows.n_rows - at < most ? rows.n_rows - at : most;
    struct round_part part = {.partition = partition,
                              .more_follows = at + n < rows.n_rows,
                              .first = first + (size_t)at,
                              .n_rows = n};
    ashuf_status status = round_add(writer, &part, error);
    if (status != ASHUF_OK) return status;
    if (!part.more_follows) break;
    status = round_run(writer, writer->store.scatter.rows, &taken, error);
    if (status != ASHUF_OK) return status;
    at += taken;
  }
  return ASHUF_OK;
}

ashuf_status writer_write_direct(ashuf_writer *writer, int32_t *partition,
                                 struct ashuf_error *error) {
  ashuf_status status = ASHUF_OK;
  int64_t taken;
  while (*partition < writer->partitions && status == ASHUF_OK) {
    status = write_list(writer, (*partition)++, error);
    if (status != ASHUF_OK || (!round_is_full(writer) && *partition < writer->partitions)) continue;
    status = round_run(writer, writer->store.scatter.rows, &taken, error);
    if (status != ASHUF_OK || *partition == writer->partitions) break;
    if (!writer_wants_spill(writer, 0) && !writer_is_refused(writer, 0)) continue;
    status = writer_spill(writer, *partition, error);
    break;
  }
  return status;
}

/* ---- All ---------------------------------------------------------------------------------- */

static void count_row_bytes(ashuf_writer *writer) {
  if (writer->store.n_rows == 0) return;
  int64_t bytes = (int64_t)writer->store.buffers.bytes / writer->store.n_rows;
  writer->row_bytes = bytes > 1 ? bytes : 1;
}

static ashuf_status write_partitions(ashuf_writer *writer, struct ashuf_error *error) {
  uint64_t start = clock_now();
  int32_t next = 0;
  writer_drop_reserve(writer);
  count_row_bytes(writer);
  ashuf_status status = batch_store_scatter(&writer->store, error);
  writer->counters.partition_ns += clock_now() - start;
  /* Beside the rows in memory, runs need a block each, and a round. */
  uint64_t extra =
      writer->spills.n_runs * (writer->block_bytes + writer->block_bytes / 4) + writer->round_bytes;
  if (writer->spills.n_runs == 0) extra = 0;
  if (status == ASHUF_OK && (writer_wants_spill(writer, extra) || writer_is_refused(writer, extra)))
    status = writer_spill(writer, 0, error);
  batch_copier_trim(&writer->copier);
  if (status == ASHUF_OK && writer->spills.n_runs == 0)
    status = writer_write_direct(writer, &next, error);
  if (status == ASHUF_OK && writer->spills.n_runs != 0)
    status = writer_write_merged(writer, next, error);
  return status;
}

ashuf_status writer_write_output(ashuf_writer *writer, struct ashuf_error *error) {
  struct ashuf_map_output written;
  ashuf_status status = write_partitions(writer, error);
  if (status != ASHUF_OK) return status;
  if (writer->stats.rows != writer->rows_pushed)
    return error_set(error, ASHUF_IO, SITE_WRITER_ROWS, "%lld of %lld rows were written",
                     (long long)writer->stats.rows, (long long)writer->rows_pushed);
  for (int32_t p = 0; p < writer->partitions; p++) writer->offsets[p + 1] += writer->offsets[p];
  uint64_t start = clock_now();
  writer_describe(writer, &written);
  status = output_complete(&writer->output, &written, error);
  writer->counters.write_ns += clock_now() - start;
  return status;
}

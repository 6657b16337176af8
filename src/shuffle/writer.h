/*
 * The writer of one map output: what stands behind ashuf_writer_*.
 *
 *   open     temporaries of data and index stand beside their paths
 *   push     batches are kept, each row's partition with them
 *   finish   rows to partitions; each partition's blocks to the data file; the index; both whole,
 *            synced if asked, then named as one step (os/file.h): data first, index last
 *
 *   WRITER_OPEN --finish--> WRITER_FINISHED
 *        \--any failure that is not about a batch--> WRITER_BROKEN: no file, no batch, no more work
 */
#ifndef ASHUF_SHUFFLE_WRITER_H
#define ASHUF_SHUFFLE_WRITER_H

#include "block/block_write.h"
#include "shuffle/batch_store.h"
#include "shuffle/output.h"

#include <ashuf/shuffle.h>
#include <stdatomic.h>

enum {
  SITE_WRITER_MEMORY = 1080,
  SITE_WRITER_STATE = 1081,
  SITE_WRITER_OPTION = 1082,
  SITE_WRITER_CANCELLED = 1084
};

enum writer_state { WRITER_OPEN, WRITER_FINISHED, WRITER_BROKEN };

struct ashuf_writer {
  atomic_bool cancelled;          /* by any thread */
  atomic_bool spill_requested;    /* by any thread */
  ashuf_memory *memory;           /* a reference */
  ashuf_partitioner *partitioner; /* a reference */
  struct ashuf_writer_options options;
  enum writer_state state;
  struct batch_store store;
  struct block_encoder *encoder;
  struct ashuf_buffer blocks; /* on their way to the data file */
  struct output output;

  int32_t partitions;
  uint64_t *offsets;   /* partitions + 1 */
  int64_t *rows;       /* partitions */
  uint32_t *checksums; /* partitions; NULL where none are wanted */
  int64_t rows_pushed;
  struct block_encode_stats stats;
};

/* options is complete: struct sizes set, encode and file_mode resolved. */
ashuf_status writer_open_files(ashuf_partitioner *partitioner,
                               const struct ashuf_writer_options *options, const char *data_path,
                               const char *index_path, ashuf_writer **out,
                               struct ashuf_error *error);
ashuf_status writer_open_sink(ashuf_partitioner *partitioner,
                              const struct ashuf_writer_options *options,
                              const struct ashuf_sink *sink, ashuf_writer **out,
                              struct ashuf_error *error);
ashuf_status writer_push(ashuf_writer *writer, struct ArrowArray *batch, struct ashuf_error *error);
ashuf_status writer_finish(ashuf_writer *writer, struct ashuf_map_output *out,
                           struct ashuf_error *error);
void writer_close(ashuf_writer *writer);

/* What stands behind out, as far as the writer has come. */
void writer_describe(const ashuf_writer *writer, struct ashuf_map_output *out);
/* For writer.c: partitions, then the output's end. The writer is broken by its caller on failure.
 */
ashuf_status writer_write_output(ashuf_writer *writer, struct ashuf_error *error);
/* CANCELLED where the progress callback wants no more. */
ashuf_status writer_report(const ashuf_writer *writer, int64_t rows_pushed, int64_t rows_written,
                           struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_WRITER_H */

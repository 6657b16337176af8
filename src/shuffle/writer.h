/*
 * The writer of one map output: what stands behind ashuf_writer_*.
 *
 *   open     the output is begun; files stand as temporaries beside their paths
 *   push     batches are kept, each row's partition with them, mostly as copies in large pages
 *            (batch_copy.h); over the limit all rows in memory
 *            become one run of a spill file (spill.h)
 *   finish   rows by partition, first those of the runs, oldest first, then those in memory;
 *            blocks to the output; the output is finished, files as one step: data, checksums,
 *            index
 *
 *   WRITER_OPEN --finish--> WRITER_FINISHED
 *        \--any failure that is not about a batch--> WRITER_BROKEN: no file, no batch, no more work
 *
 * Blocks are cut by the partition's rows alone (block_encode_full), so the output does not depend
 * on runs, batches or threads.
 *
 *   writer.c         states, push, when to spill
 *   writer_host.c    what a host grants, who says how much only by refusing
 *   writer_round.c   rounds of encoding: many partitions, or a piece of one, by all threads
 *   writer_finish.c  which rows make up the rounds
 *   writer_merge.c   the same where runs are part of it
 */
#ifndef ASHUF_SHUFFLE_WRITER_H
#define ASHUF_SHUFFLE_WRITER_H

#include "shuffle/batch_copy.h"
#include "shuffle/batch_store.h"
#include "shuffle/encode_pool.h"
#include "shuffle/output.h"
#include "shuffle/spill.h"

#include <ashuf/shuffle.h>
#include <stdatomic.h>

enum {
  SITE_WRITER_MEMORY = 1080,
  SITE_WRITER_STATE = 1081,
  SITE_WRITER_OPTION = 1082,
  SITE_WRITER_CANCELLED = 1084,
  SITE_WRITER_ROWS = 1085
};

enum writer_state { WRITER_OPEN, WRITER_FINISHED, WRITER_BROKEN };

/* What is encoded at once. A partition larger than a round is the last part of several. */
struct encode_round {
  struct round_part *parts;
  size_t n_parts;
  size_t parts_capacity;
  struct encode_task *tasks;
  size_t tasks_capacity;
  int64_t n_rows;
  bool whole_parts; /* blocks of max_rows rows were too large: parts are not cut in advance */
  int32_t begun;    /* the partition whose beginning the output has seen; -1 */
};

struct ashuf_writer {
  atomic_bool cancelled;       /* by any thread */
  atomic_bool spill_requested; /* by any thread */

  ashuf_memory *memory;           /* a reference */
  ashuf_partitioner *partitioner; /* a reference */
  struct ashuf_writer_options options;
  enum writer_state state;
  struct batch_store store;
  struct batch_copier copier;
  struct spill_set spills;
  struct encode_pool pool;
  struct encode_round round;
  struct ashuf_buffer blocks; /* on their way to the output, or to a spill file */
  struct output output;

  uint64_t limit;       /* of the options or the domain, the smaller; 0: none */
  uint64_t least_held;  /* of rows, when they had to go */
  uint64_t reserve;     /* charged, for the next spill */
  uint64_t block_bytes; /* of a spilled block */
  uint64_t round_bytes; /* of the rows of a round */
  uint64_t group_bytes; /* of the rows of small partitions that are encoded together */
  int64_t row_bytes;    /* of an average row */
  bool had_messages[2]; /* whether the schema, and the plain one, had theirs before */

  int32_t partitions;
  uint64_t *offsets;   /* partitions + 1; while writing, [p + 1] is the size of p */
  int64_t *rows;       /* partitions */
  uint32_t *checksums; /* partitions; NULL where none are wanted */
  int64_t rows_pushed;
  struct block_encode_stats stats;
  struct ashuf_map_output counters; /* the numbers in it that are counted along the way */
};

/* What a round holds at most, in bytes; 0: by the limit. Set by tests that have few rows. */
extern uint64_t writer_round_bytes;

/* Bytes of a slab for copies of batches; 0: by the limit. Set by tests that have few rows. */
extern size_t writer_slab_bytes;

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

/* ---- For the writer_*.c: the writer is broken by writer.c on failure ---------------------- */

/* What stands behind out, as far as the writer has come. */
void writer_describe(const ashuf_writer *writer, struct ashuf_map_output *out);
/* CANCELLED where the progress callback, or another thread, wants no more. */
ashuf_status writer_report(const ashuf_writer *writer, int64_t rows_pushed, int64_t rows_written,
                           struct ashuf_error *error);
/* A run of all rows of partitions from first on; no batch is left in memory. */
ashuf_status writer_spill(ashuf_writer *writer, int32_t first, struct ashuf_error *error);
/* Whether rows in memory should go, extra more bytes being needed. Clears a request. */
bool writer_wants_spill(ashuf_writer *writer, uint64_t extra);

/* What encoding takes beside the rows, in bytes. */
uint64_t writer_work_bytes(const ashuf_writer *writer);
/* Of blocks that wait for the output. */
size_t writer_sink_bytes(const ashuf_writer *writer);
/* Sizes of what lies in memory at a time while runs are written and merged, memory bytes in all. */
void writer_set_sizes(ashuf_writer *writer, uint64_t memory);

/*
 * A host (the domain's grow) says no at any time, and does not say how much it has. While rows are
 * in memory, what it takes to spill them is charged in advance; what was held when rows had to go
 * counts as the limit for the sizes above; and rows go before they are encoded where the host does
 * not grant what that takes. All of it does nothing where there is no host.
 */
void writer_take_reserve(ashuf_writer *writer);
void writer_drop_reserve(ashuf_writer *writer);
/* Rows that take held bytes have to go. */
void writer_learn_limit(ashuf_writer *writer, uint64_t held);
/* Whether the host refuses what encoding takes, and extra bytes. */
bool writer_is_refused(ashuf_writer *writer, uint64_t extra);

/* Every partition, then the output's end. */
ashuf_status writer_write_output(ashuf_writer *writer, struct ashuf_error *error);
/* Partitions from *partition on, as long as there are no runs; *partition is what comes next. */
ashuf_status writer_write_direct(ashuf_writer *writer, int32_t *partition,
                                 struct ashuf_error *error);
/* All partitions from first on, of runs and memory. */
ashuf_status writer_write_merged(ashuf_writer *writer, int32_t first, struct ashuf_error *error);

/* Adds rows to the round; more of them may follow in the next one if it is the last part. */
ashuf_status round_add(ashuf_writer *writer, const struct round_part *part,
                       struct ashuf_error *error);
bool round_is_full(const ashuf_writer *writer);
/* Encodes and writes the parts, whose first counts in ids, and empties the round. *taken: how many
 * rows of the last part were written; all, unless more follow. */
ashuf_status round_run(ashuf_writer *writer, const row_id *ids, int64_t *taken,
                       struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_WRITER_H */

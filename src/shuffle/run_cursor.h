/*
 * One run of a spill file read in order: the directory's entries, and the blocks behind them.
 *
 *   run_cursor_open -> partition and rows say what comes next; partition is RUN_END at the end
 *     -> run_cursor_load, when the rows of the loaded block are used up -> run_cursor_take
 *
 * Lengths are checked against what was written: a file cut short is an error, never fewer rows.
 */
#ifndef ASHUF_SHUFFLE_RUN_CURSOR_H
#define ASHUF_SHUFFLE_RUN_CURSOR_H

#include "block/context.h"
#include "block/header.h"
#include "ipc/batch_holder.h"
#include "shuffle/spill.h"

#define RUN_END INT32_MAX
#define RUN_DIRECTORY_PIECE 512

struct run_cursor {
  const struct spill_file *file;
  uint64_t block; /* the next one */
  uint64_t blocks_end;
  uint64_t directory; /* the next piece */
  uint64_t directory_end;
  int32_t partition;     /* of the next row */
  int64_t rows;          /* that the partition still has here */
  int64_t loaded;        /* rows of the last block that were not taken */
  uint64_t loaded_bytes; /* that the last block takes in memory */
  bool has_header;
  uint8_t header[ASHUF_BLOCK_HEADER_SIZE]; /* of the next block */
  uint16_t piece_at;
  uint16_t piece_size;
  uint8_t piece[RUN_DIRECTORY_PIECE];
};

ashuf_status run_cursor_open(struct run_cursor *cursor, const struct spill_set *set, size_t run,
                             struct ashuf_error *error);
/* The next block, decoded; its rows are the next ones. */
ashuf_status run_cursor_load(struct run_cursor *cursor, ashuf_ctx *ctx, ashuf_memory *memory,
                             struct ArrowArray *out, struct ashuf_error *error);
/* Moves past n <= rows, n <= loaded rows. */
ashuf_status run_cursor_take(struct run_cursor *cursor, int64_t n, struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_RUN_CURSOR_H */

/*
 * The rows that a whole writer is measured on, in memory before anything is timed: batches of up
 * to 8,192 rows, each kept as a block without a codec. A batch that is asked for is decoded from
 * its block into one allocation of its own, so that whoever gets it owns it, as if it had just
 * come from a scan.
 *
 *   bench_rows_read or bench_rows_make -> bench_rows_batch, in any order -> bench_rows_free
 *
 * What fails ends the program with a message.
 */
#ifndef BENCH_SUPPORT_ROWS_H
#define BENCH_SUPPORT_ROWS_H

#include <ashuf/ashuf.h>

#define BENCH_BATCH_ROWS 8192

struct bench_rows_block {
  uint8_t *data;
  size_t size;
  int64_t rows;
};

struct bench_rows {
  ashuf_schema *schema;
  struct bench_rows_block *blocks;
  size_t n;
  size_t capacity;
  int64_t n_rows;
};

/* Up to limit rows of an Arrow IPC file or stream, cut into batches. */
void bench_rows_read(struct bench_rows *rows, const char *path, int64_t limit);
/*
 * Rows that need no file and are the same each time. kind "lineitem": 16 columns like those of
 * TPC-H lineitem, some 170 bytes a row. kind "events": seven utf8 columns and a timestamp.
 */
void bench_rows_make(struct bench_rows *rows, const char *kind, int64_t limit);
void bench_rows_free(struct bench_rows *rows);

/* Batch i, for the caller to release. */
struct ArrowArray bench_rows_batch(const struct bench_rows *rows, ashuf_ctx *ctx, size_t i);

#endif /* BENCH_SUPPORT_ROWS_H */

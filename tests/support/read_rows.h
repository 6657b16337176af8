/*
 * Map outputs made of blocks given one by one, and the rows of a stream as texts.
 */
#ifndef TESTS_SUPPORT_READ_ROWS_H
#define TESTS_SUPPORT_READ_ROWS_H

#include "support/arrays.h"

#include <ashuf/ashuf.h>

#define BLOCK_FILE_PARTITIONS 64

/* Zero-initialised: an output without partitions. */
struct block_file {
  struct ashuf_buffer data;
  uint64_t offsets[BLOCK_FILE_PARTITIONS + 1];
  int partitions;
};

/* Appends the rows of the batch as one block to the partition that is open; frees the batch. */
void block_file_put(struct block_file *file, struct test_column batch, int codec);
void block_file_end_partition(struct block_file *file);
/* Writes "<stem>.data" and ".index" into the scratch directory, and ".checksum.<ALGO>" where kind
 * (enum checksum_kind) is not NONE. Frees the file. */
void block_file_write(struct block_file *file, const char *stem, int kind);

struct row_texts {
  char **list;
  size_t n;
  size_t batches;
  int64_t most;        /* rows of the largest batch */
  ashuf_status status; /* of what ended the stream */
  struct ashuf_error error;
  struct ashuf_read_stats stats;
};

/* All rows of a stream until its end or failure; releases it. */
void rows_of_stream(struct ArrowArrayStream *stream, struct row_texts *out);
/* The same of ashuf_read_files; where that fails there are no rows, and its error. */
void rows_of_files(const char *const *paths, size_t n, const struct ashuf_read_options *options,
                   struct row_texts *out);
/* Whether both have the same rows in the same order. */
bool rows_equal(const struct row_texts *a, const struct row_texts *b);
/* In the order of their bytes. */
void rows_sort(struct row_texts *rows);
/* Moves the rows of more behind those of rows. */
void rows_append(struct row_texts *rows, struct row_texts *more);
void rows_free(struct row_texts *rows);

#endif /* TESTS_SUPPORT_READ_ROWS_H */

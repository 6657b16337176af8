/*
 * Whole lives of a writer over random rows, the output kept in memory by a sink: for comparing
 * what should not differ. What goes wrong here fails the running test.
 */
#ifndef TESTS_SUPPORT_WRITER_RUNS_H
#define TESTS_SUPPORT_WRITER_RUNS_H

#include "support/arrays.h"

#include <ashuf/shuffle.h>

#define RUN_MAX_COLUMNS 8

/* How rows are placed; each by the key at most. */
enum run_placement {
  RUN_HASH,
  RUN_RANGE,
  RUN_BY_CONTENT,
  RUN_BY_POSITION,
  RUN_SINGLE,
  RUN_PLACEMENTS
};

/* The rows: an int64 key, then columns of test types. The same seed makes the same rows. */
struct run_rows {
  const char *types[RUN_MAX_COLUMNS];
  int n_types;
  int null_percent;
  int64_t n_rows;
  uint64_t seed;
  enum run_placement placement;
};

struct run_batch_sizes {
  uint64_t seed;
  int64_t most; /* rows of a batch; at random from 0 on */
};

/* What came out. Free with run_output_free. */
struct run_output {
  ashuf_status status;
  struct ashuf_error error;
  struct ashuf_map_output numbers; /* its arrays are copies */
  uint8_t *bytes;
  size_t size;
  int begun;
  int finished;
  int aborted;
};

/* Called before each push, with the writer. */
typedef void (*run_hook)(ashuf_writer *writer, int64_t batch, void *data);

struct run_rows run_rows_random(struct test_random *random, int64_t n_rows);
struct ashuf_writer_options run_options(void);
/* All the rows as one batch, and who places them. */
struct test_column run_rows_batch(const struct run_rows *rows);
ashuf_partitioner *run_partitioner(const struct run_rows *rows, int32_t partitions);
void run_writer(const struct run_rows *rows, const struct run_batch_sizes *sizes,
                int32_t partitions, const struct ashuf_writer_options *options, run_hook hook,
                void *data, struct run_output *out);
/* Bytes, offsets, rows and checksums. */
void run_expect_equal(const struct run_output *a, const struct run_output *b);
/* Each partition has its rows of the input, in their order, by what they are as text. */
void run_expect_rows(const struct run_output *output, const struct run_rows *rows);
void run_output_free(struct run_output *output);

#endif /* TESTS_SUPPORT_WRITER_RUNS_H */

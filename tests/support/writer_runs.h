/*
 * Whole lives of a writer over random rows, the output kept in memory by a sink: for comparing
 * what should not differ. What goes wrong here fails the running test.
 */
#ifndef TESTS_SUPPORT_WRITER_RUNS_H
#define TESTS_SUPPORT_WRITER_RUNS_H

#include "support/arrays.h"

#include <ashuf/shuffle.h>

#define RUN_MAX_COLUMNS 8

/* The rows: an int64 key, then columns of test types. The same seed makes the same rows. */
struct run_rows {
  const char *types[RUN_MAX_COLUMNS];
  int n_types;
  int null_percent;
  int64_t n_rows;
  uint64_t seed;
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
void run_writer(const struct run_rows *rows, const struct run_batch_sizes *sizes,
                int32_t partitions, const struct ashuf_writer_options *options, run_hook hook,
                void *data, struct run_output *out);
/* Bytes, offsets, rows and checksums. */
void run_expect_equal(const struct run_output *a, const struct run_output *b);
void run_output_free(struct run_output *output);

#endif /* TESTS_SUPPORT_WRITER_RUNS_H */

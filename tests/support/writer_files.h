/*
 * A writer of files in the scratch directory, of the rows of output_batch. What goes wrong here
 * fails the running test.
 */
#ifndef TESTS_SUPPORT_WRITER_FILES_H
#define TESTS_SUPPORT_WRITER_FILES_H

#include "support/map_outputs.h"

/* Fails with the error's text where the status is another. */
void expect_status(ashuf_status found, ashuf_status wanted, const struct ashuf_error *error);

/* By the key of output_batch. */
ashuf_partitioner *files_partitioner(int32_t partitions);
/* OUTPUT_DATA; index_name NULL: no index. options NULL: the defaults. */
ashuf_writer *files_open(const struct ashuf_writer_options *options, int32_t partitions,
                         const char *index_name);
/* The rows [first, first + n) of output_batch, which must be taken. */
void files_push(ashuf_writer *writer, int64_t first, int64_t n);

#endif /* TESTS_SUPPORT_WRITER_FILES_H */

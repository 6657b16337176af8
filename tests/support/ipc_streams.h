/*
 * Arrow IPC streams for tests: batches to bytes through the library's writer, files and pipes
 * back through its reader.
 */
#ifndef TESTS_SUPPORT_IPC_STREAMS_H
#define TESTS_SUPPORT_IPC_STREAMS_H

#include "support/arrays.h"

#include <ashuf/ashuf.h>

/* Appends a stream of these batches, all of the schema of the first; aborts on failure. */
void ipc_stream_of(const struct test_column *batches, size_t n, struct ashuf_buffer *out);

/*
 * Reads to the end. Returns the status of what failed first, and fills the error; *rows (may be
 * NULL) counts what came until then.
 */
ashuf_status ipc_read_rows(const char *path, const struct ashuf_ipc_read_options *options,
                           int64_t *rows, struct ashuf_error *error);

/* Reads the file and requires the rows of the batches, in order. Returns the batches it found. */
int expect_ipc_rows(const char *path, const struct test_column *batches, size_t n);

#endif /* TESTS_SUPPORT_IPC_STREAMS_H */

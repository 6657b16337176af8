/*
 * Arrow IPC files and streams, in and out: where rows come from before a shuffle and go to
 * after one.
 */
#ifndef ASHUF_IPC_H
#define ASHUF_IPC_H

#include <ashuf/block.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ashuf_ipc_read_options {
  size_t struct_size;
  ashuf_memory *memory;
  int validate;               /* enum ashuf_validate */
  uint64_t max_decoded_bytes; /* of one message, body compression undone; default 2 GiB */
};
#define ASHUF_IPC_READ_OPTIONS_INIT \
  { sizeof(struct ashuf_ipc_read_options), 0, 0, 0 }

/*
 * A stream of batches from an Arrow IPC file or stream; which of the two is told by its first
 * bytes. path "-" is standard input. LZ4 and ZSTD body compression are undone.
 * Errors: IO, NOT_ARROW, and those of bad data.
 */
ASHUF_API ashuf_status ashuf_ipc_read_path(const char *path,
                                           const struct ashuf_ipc_read_options *options,
                                           struct ArrowArrayStream *out, struct ashuf_error *error);

/*
 * An Arrow IPC stream on its way out, one that every reader takes: dictionary columns go out as
 * their values. The schema is written by ashuf_ipc_writer_new. After a failed write or finish the
 * rest of the stream is INVALID_STATE.
 */
typedef struct ashuf_ipc_writer ashuf_ipc_writer;

/* write gets every byte in order; a non-zero return is taken as an errno and ends the writing. */
ASHUF_API ashuf_status ashuf_ipc_writer_new(const ashuf_schema *schema, ashuf_memory *memory,
                                            int (*write)(void *user_data, const void *data,
                                                         size_t size),
                                            void *user_data, ashuf_ipc_writer **out,
                                            struct ashuf_error *error);
/* One record batch message, or several where the batch is large; batch is borrowed. */
ASHUF_API ashuf_status ashuf_ipc_writer_write(ashuf_ipc_writer *writer,
                                              const struct ArrowArray *batch,
                                              struct ashuf_error *error);
/* The end marker. */
ASHUF_API ashuf_status ashuf_ipc_writer_finish(ashuf_ipc_writer *writer, struct ashuf_error *error);
ASHUF_API void ashuf_ipc_writer_free(ashuf_ipc_writer *writer);

#ifdef __cplusplus
}
#endif

#endif /* ASHUF_IPC_H */

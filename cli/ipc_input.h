/* An Arrow IPC file, stream or standard input, or a map output, batch by batch. */
#ifndef ASHUF_CLI_IPC_INPUT_H
#define ASHUF_CLI_IPC_INPUT_H

#include "project.h"

struct ipc_input {
  const char *path; /* the caller's */
  struct ArrowArrayStream stream;
  ashuf_schema *schema;
  struct projection projection; /* of what the stream gives; closed with the input */
};

/* Each returns a status and fills error; nothing is printed. */
ashuf_status ipc_input_open(struct ipc_input *out, const char *path, struct ashuf_error *error);
/* The rows of map outputs that options ask for. NO_SCHEMA where they have no block. */
ashuf_status ipc_input_open_shuffle(struct ipc_input *out, const char *const *paths, size_t n,
                                    const struct ashuf_read_options *options,
                                    struct ashuf_error *error);
/* batch->release is NULL at the end. */
ashuf_status ipc_input_next(struct ipc_input *input, struct ArrowArray *batch,
                            struct ashuf_error *error);
/* Takes one that never opened. */
void ipc_input_close(struct ipc_input *input);

#endif /* ASHUF_CLI_IPC_INPUT_H */

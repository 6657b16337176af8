/*
 * Where the bytes of an Arrow IPC file or stream come from: a regular file, read at any place, or
 * a pipe, read in order. Nothing is read ahead, except for the few bytes of input_peek: a pipe
 * that carries something else behind the stream keeps it, and one that is written to slowly gives
 * each message as soon as it is there.
 *
 * Legal order: input_open -> input_peek, input_seek, input_read in any order -> input_close.
 */
#ifndef ASHUF_IPC_INPUT_H
#define ASHUF_IPC_INPUT_H

#include "ipc/message_stream.h"
#include "os/file.h"

#define INPUT_PEEK 8

struct input {
  struct file file;
  bool sized;        /* its size is known, and any place can be read */
  uint64_t position; /* of the next byte, in the file */
  uint64_t end;      /* sized: where reading stops */
  uint8_t peeked[INPUT_PEEK];
  size_t n_peeked; /* those in front of position that a pipe has given already */
};

/* path "-" is standard input. A directory is an error. */
ashuf_status input_open(struct input *out, const char *path, struct ashuf_error *error);
void input_close(struct input *input);

/* The first bytes of an input of which nothing was read yet, without moving; *got < INPUT_PEEK
 * only where there are no more. */
ashuf_status input_peek(struct input *input, uint8_t out[INPUT_PEEK], size_t *got,
                        struct ashuf_error *error);
/* The next bytes; *got < size only at the end. */
ashuf_status input_read(struct input *input, void *out, size_t size, size_t *got,
                        struct ashuf_error *error);
/* Sized ones: goes to offset and lets reading stop at end; both lie in the file. */
void input_seek(struct input *input, uint64_t offset, uint64_t end);
/* Bytes that can still come; UINT64_MAX for a pipe. */
uint64_t input_bound(const struct input *input);

/* The input for a message_stream. */
struct byte_source input_source(struct input *input);

#endif /* ASHUF_IPC_INPUT_H */

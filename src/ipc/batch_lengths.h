/*
 * Undoing "offsets as lengths" in a body, and which schemas allow it.
 *
 * The conversion is in place, so buffers that overlap could undo each other's checks: the reader
 * requires that the buffers of such a body follow one another.
 */
#ifndef ASHUF_IPC_BATCH_LENGTHS_H
#define ASHUF_IPC_BATCH_LENGTHS_H

#include "ipc/body.h"

struct lengths_place {
  struct body *body;   /* an own one */
  const uint8_t *data; /* the buffer, inside the body */
  uint64_t size;
  uint64_t offset; /* in the stream */
};

/* n entries of width bytes become offsets again. Errors: BAD_BATCH, BAD_VALUES. */
ashuf_status batch_undo_lengths(struct lengths_place *place, int width, int64_t n,
                                struct ashuf_buffer *scratch, ashuf_memory *memory,
                                struct ashuf_error *error);

#endif /* ASHUF_IPC_BATCH_LENGTHS_H */

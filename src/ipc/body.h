/*
 * The body of a message in memory, counted, because the arrays of a batch share it.
 *
 *   own allocation, 64-aligned:   [ body bytes ][ pad to 16 ][ struct body ]
 *   lent by a given block:        [ struct body ][ the block, or the first body of it ]
 */
#ifndef ASHUF_IPC_BODY_H
#define ASHUF_IPC_BODY_H

#include "ipc/message_stream.h"

#include <stdatomic.h>

struct body {
  const uint8_t *data;
  size_t size;
  uint64_t offset; /* of the body in the stream, for errors */
  atomic_uint references;
  bool lent;            /* its bytes are somebody else's */
  ashuf_memory *memory; /* a reference */
  uint8_t *writable;    /* data, where it is our own allocation, else NULL */
  size_t allocation;    /* bytes of the allocation that holds this struct */
};

/* An own body of size bytes, not initialised; one reference; NULL: out of memory. */
struct body *body_new(ashuf_memory *memory, size_t size);

/*
 * Reads size bytes of the stream into an own body. The size has to be possible for what the
 * source can still hold; a source that cannot say (a pipe) is read in growing steps.
 */
ashuf_status body_read(struct message_stream *stream, ashuf_memory *memory, uint64_t size,
                       struct body **out, struct ashuf_error *error);

/*
 * A body that lies inside a block of the caller's; NULL: out of memory. first: an earlier body of
 * the same block, which the new one keeps alive, or NULL. The block has to be adopted, or outlive
 * its bodies.
 */
struct body *body_lend(ashuf_memory *memory, const uint8_t *data, size_t size, uint64_t offset,
                       struct body *first);
/* The block that a first lent body lies in moves into it: its release becomes NULL. */
void body_adopt(struct body *first, struct ashuf_bytes *block);

struct body *body_ref(struct body *body);
void body_free(struct body *body);
/* The first body of the block that it lies in, which owns the block; NULL for an own body. */
const struct body *body_owner(const struct body *body);
/* Bytes of the block that a first lent body owns. */
uint64_t body_block_size(const struct body *owner);

#endif /* ASHUF_IPC_BODY_H */

/*
 * The body of a message in memory, counted, because the arrays of a batch share it.
 *
 *   own allocation, 64-aligned:   [ struct body, 64 ][ body bytes ][ pad ]
 *   lent by a given block:        [ struct body ][ the block, or the first body of it ]
 *
 * An own body may be handed out before its bytes are there. Whoever looks at them asks for them
 * first, from the front to the back, and so finds them in the cache:
 *
 *   body_begin -> { body_arrive -> look } ... -> body_arrive(size), then the stream may go on
 */
#ifndef ASHUF_IPC_BODY_H
#define ASHUF_IPC_BODY_H

#include "ipc/message_stream.h"

#include <stdatomic.h>

struct body {
  const uint8_t *data;
  size_t size;
  size_t arrived;                /* bytes of it that are there */
  uint64_t offset;               /* of the body in the stream, for errors */
  struct message_stream *stream; /* that the others come from, */
  const uint8_t *source;         /* or all of them where they lie */
  ashuf_memory *memory;          /* a reference */
  atomic_uint references;
  bool lent; /* its bytes are somebody else's */
};

/* An own body of size bytes, not initialised; one reference; NULL: out of memory. */
struct body *body_new(ashuf_memory *memory, size_t size);
/* The bytes of an own body; NULL for a lent one. */
uint8_t *body_writable(struct body *body);

/*
 * An own body for the next size bytes of the stream, none of which has been read. The size has to
 * be possible for what the source can still hold, which it has to know.
 */
ashuf_status body_begin(struct message_stream *stream, ashuf_memory *memory, uint64_t size,
                        struct body **out, struct ashuf_error *error);
ashuf_status body_read_on(struct body *body, size_t end, struct ashuf_error *error);
/*
 * Where the caller may copy bytes [start, end) from, to their place in the body: then he has to.
 * NULL where they do not lie in memory, or some are there already.
 */
const uint8_t *body_take(struct body *body, size_t start, size_t end);
/* Makes sure that the first end bytes are there, end <= size. */
static inline ashuf_status body_arrive(struct body *body, size_t end, struct ashuf_error *error) {
  return end <= body->arrived ? ASHUF_OK : body_read_on(body, end, error);
}

/* The same, read at once; a source that does not know what it holds (a pipe) is read in growing
 * steps. */
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
/* Bytes of the allocation that holds the struct. */
size_t body_allocation(const struct body *body);
/* Bytes of the block that a first lent body owns. */
uint64_t body_block_size(const struct body *owner);

#endif /* ASHUF_IPC_BODY_H */

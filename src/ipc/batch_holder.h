/*
 * What the arrays of one decoded batch share, and the ArrowArray structs themselves: one
 * allocation besides the bodies.
 *
 *   [ struct batch_holder ][ ArrowArray structs ... -> ][ <- ... pointers ][ <- bodies ]
 *
 * Arrays are taken from the front; buffer and child pointers, and the bodies behind them, from the
 * end towards the front.
 *
 * Counted: the root and every array below it hold one reference each. Releasing an array gives
 * back its own and those of what still hangs below it, in one step; a child that was moved out
 * gives back its own later, maybe on another thread.
 */
#ifndef ASHUF_IPC_BATCH_HOLDER_H
#define ASHUF_IPC_BATCH_HOLDER_H

#include "arrow/schema.h"
#include "ipc/body.h"

struct holder_extra; /* an allocation more: realigned buffers, variadic pointers */

struct batch_holder {
  atomic_uint references;
  uint32_t n_arrays; /* arrays taken, the root included */
  uint32_t n_slots;  /* pointers taken from the end, room for bodies included */
  uint32_t n_bodies;
  ashuf_memory *memory; /* a reference */
  size_t allocation;
  struct holder_extra *extras;
  int64_t zero; /* the single offset of an empty array whose buffer was left out */
};

/* Room for one batch of the schema; NULL: out of memory. */
struct batch_holder *batch_holder_new(const ashuf_schema *schema, ashuf_memory *memory);

/* The holder keeps a reference to the body; once a body. */
void batch_holder_keep(struct batch_holder *holder, struct body *body);

/* A zeroed array of the batch, owned by the holder until it is released or moved out. */
struct ArrowArray *batch_holder_array(struct batch_holder *holder);
/* n pointers; n <= 3 per array: those of views with data buffers are an extra. */
const void **batch_holder_pointers(struct batch_holder *holder, int64_t n);
struct ArrowArray **batch_holder_children(struct batch_holder *holder, int64_t n);
/* size bytes, 64-aligned, that live as long as the holder; NULL: out of memory. */
void *batch_holder_extra(struct batch_holder *holder, size_t size);

/* Makes root, which the caller owns, an array of this batch with release and private_data. */
void batch_holder_finish(struct batch_holder *holder, struct ArrowArray *root);
/* Drops a holder whose arrays were never handed out. */
void batch_holder_abandon(struct batch_holder *holder);

/* Bytes that an array of ours keeps alive: its bodies, structs and extras; 0 for a stranger's. */
uint64_t batch_holder_retained(const struct ArrowArray *array);
/* Whether it is an array of ours whose bytes are counted in this domain. */
bool batch_holder_is_of(const struct ArrowArray *array, const ashuf_memory *memory);

#endif /* ASHUF_IPC_BATCH_HOLDER_H */

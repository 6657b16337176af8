/*
 * The batches a writer was given and has not written: their arrays, the sources they form, and
 * each row's partition.
 *
 * Legal order: batch_store_init -> batch_store_check, batch_store_keep per batch ->
 * batch_store_scatter -> batch_store_selection ... -> batch_store_free. A batch that is refused
 * leaves the store as it was.
 */
#ifndef ASHUF_SHUFFLE_BATCH_STORE_H
#define ASHUF_SHUFFLE_BATCH_STORE_H

#include "partition/partition.h"
#include "partition/scatter.h"

enum { SITE_STORE_MEMORY = 1060 };

struct stored_batch {
  struct ArrowArray array; /* moved in by batch_store_keep */
  int32_t *ids;            /* partition of each row; NULL where there are none */
};

struct batch_store {
  ashuf_memory *memory; /* not a reference */
  const ashuf_partitioner *partitioner;
  struct source_set set;   /* all batches */
  struct source_set probe; /* the batch being checked */
  struct scatter scatter;
  struct stored_batch *batches;
  size_t n_batches;
  size_t capacity;
  int64_t n_rows;
};

ashuf_status batch_store_init(struct batch_store *store, const ashuf_partitioner *partitioner,
                              ashuf_memory *memory, struct ashuf_error *error);

/*
 * Everything about a batch that can fail: checks it, places its rows. On success the batch is
 * still the caller's, and batch_store_keep must follow at once; if it is not to be kept,
 * batch_store_drop and then batch_store_free.
 */
ashuf_status batch_store_check(struct batch_store *store, const struct ArrowArray *batch,
                               struct ashuf_error *error);
/* Moves the batch that was just checked. */
void batch_store_keep(struct batch_store *store, struct ArrowArray *batch);
void batch_store_drop(struct batch_store *store, const struct ArrowArray *batch);

/* The rows of each partition, in the order they came. */
ashuf_status batch_store_scatter(struct batch_store *store, struct ashuf_error *error);

/* The rows of one partition, once scattered. */
struct selection batch_store_selection(const struct batch_store *store, int32_t partition);

/* Releases the batches. Takes one zero-initialised, and one twice. */
void batch_store_free(struct batch_store *store);

#endif /* ASHUF_SHUFFLE_BATCH_STORE_H */

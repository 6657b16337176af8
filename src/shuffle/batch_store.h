/*
 * The batches a writer was given and has not written: their arrays, the sources they form, each
 * row's partition, and how much memory all that takes.
 *
 * Legal order: batch_store_init
 *   -> per batch: batch_store_check, batch_store_admit, batch_store_join (both again, after
 *      batch_store_clear, where there was no room), batch_store_keep; or batch_store_drop; the last
 *      three for each piece of a batch that comes in pieces
 *   -> batch_store_scatter -> batch_store_selection ... -> batch_store_clear -> next batch
 *   -> batch_store_free
 * A batch that is refused leaves the store as it was.
 */
#ifndef ASHUF_SHUFFLE_BATCH_STORE_H
#define ASHUF_SHUFFLE_BATCH_STORE_H

#include "partition/partition.h"
#include "partition/scatter.h"
#include "shuffle/buffer_set.h"

enum { SITE_STORE_MEMORY = 1060, SITE_STORE_CHARGE = 1062 };

struct stored_batch {
  struct ArrowArray array; /* moved in by batch_store_keep */
  const int32_t *ids;      /* partition of each row; NULL where there are none */
  int32_t *own_ids;        /* what is freed with it: ids of all pieces of the batch; or NULL */
  int64_t n_own_ids;
};

struct batch_store {
  ashuf_memory *memory; /* not a reference */
  const ashuf_partitioner *partitioner;
  struct source_set set;   /* all batches */
  struct source_set probe; /* the batch being checked */
  struct scatter scatter;
  struct buffer_set buffers; /* what the batches keep alive */
  uint64_t charged;          /* of that, what was charged to the domain */
  uint64_t last_charge;      /* for the batch that was admitted last */
  struct stored_batch *batches;
  size_t n_batches;
  size_t capacity;
  int32_t *incoming; /* partitions of the batch being checked */
  int64_t n_rows;
  int64_t rows_before; /* rows that were cleared away */
  int64_t widest_row;  /* the largest average row of a batch so far, in bytes */
  bool scattered;
};

ashuf_status batch_store_init(struct batch_store *store, const ashuf_partitioner *partitioner,
                              ashuf_memory *memory, struct ashuf_error *error);

/* Checks a batch and places its rows. On failure it is refused. */
ashuf_status batch_store_check(struct batch_store *store, const struct ArrowArray *batch,
                               struct ashuf_error *error);
/*
 * Makes room for the batch that was checked. After MEMORY_LIMIT the store may be cleared and asked
 * again; after another failure it is to be freed. uncharged: the batch is taken however much it
 * keeps alive, and the store is to be cleared soon.
 */
ashuf_status batch_store_admit(struct batch_store *store, const struct ArrowArray *batch,
                               bool uncharged, struct ashuf_error *error);
/* Gives back what admitting charged; batch_store_clear must follow. */
void batch_store_withdraw(struct batch_store *store);
/* Puts the batch that was admitted beside the others; failures as above. batch_store_keep must
 * follow at once. */
ashuf_status batch_store_join(struct batch_store *store, const struct ArrowArray *batch,
                              struct ashuf_error *error);
/* Moves the array that was joined; cannot fail. It holds the rows from first on of the batch of
 * batch_rows that was checked, which may come in pieces; the one that reaches its end is the last.
 */
void batch_store_keep(struct batch_store *store, struct ArrowArray *array, int64_t first,
                      int64_t batch_rows);
/* Forgets the batch that was checked or admitted; batch_store_clear or free must follow. */
void batch_store_drop(struct batch_store *store, int64_t batch_rows);

/* Bytes of memory that go when the store is cleared. */
uint64_t batch_store_held(const struct batch_store *store);

/* The rows of each partition, in the order they came. */
ashuf_status batch_store_scatter(struct batch_store *store, struct ashuf_error *error);

/* The rows of one partition, once scattered; none after batch_store_clear. */
struct selection batch_store_selection(const struct batch_store *store, int32_t partition);

/* Releases the batches. A batch that was checked stays so. */
void batch_store_clear(struct batch_store *store);
/* Takes one zero-initialised, and one twice. */
void batch_store_free(struct batch_store *store);

#endif /* ASHUF_SHUFFLE_BATCH_STORE_H */

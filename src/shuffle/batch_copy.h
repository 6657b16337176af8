/*
 * Batches copied to memory of our own, their rows sorted by partition.
 *
 * Rows of one partition are gathered from all over the input. Where that lies in pages of 4 KiB,
 * finding the page costs more than fetching the row, and a caller's buffers lie in such pages. So a
 * batch is copied as it comes, while it is in the cache, into slabs of large pages; sorted, so that
 * with few partitions a page has many rows that are wanted together, and with many partitions those
 * of neighbouring ones share a cache line. A copy is a block (codec NONE) made in its place in the
 * slab, whose decoded batch lies in it: nothing here knows of types.
 *
 * Several threads copy a batch together, each an equal share of the sorted rows, into slabs of its
 * own: one copy a share.
 *
 *   batch_copier_init -> batch_copy ... -> batch_copier_free
 *
 * Copies keep their slabs alive, and are released before the copier is freed, while no other thread
 * is copying.
 */
#ifndef ASHUF_SHUFFLE_BATCH_COPY_H
#define ASHUF_SHUFFLE_BATCH_COPY_H

#include "shuffle/encode_pool.h"

enum { SITE_COPY_MEMORY = 1130 };

struct copy_slab;

/* Rows copied at a time, and those that a thread is worth; 0: as is best. Set by tests that have
 * few rows. */
extern int64_t batch_copy_piece_rows;
extern int64_t batch_copy_share_rows;

/* What one thread copies with, and the copy it made of the batch at hand. */
struct copy_share {
  ashuf_memory *memory; /* not a reference */
  ashuf_memory *full;   /* a domain that has nothing: a block cannot grow past its slab */
  ashuf_ctx *ctx;
  struct copy_slab *slab; /* a reference; NULL before the first */
  struct copy_slab *free_slabs;
  size_t slab_bytes;
  size_t row_bytes; /* of the last copy */
  struct ArrowArray copy;
  bool done;
};

struct batch_copier {
  ashuf_memory *memory; /* not a reference */
  struct copy_share *shares;
  int n_shares;
  size_t slab_bytes;
  uint64_t *rows; /* two lists for sorting */
  int32_t *ids;
  size_t capacity; /* rows they have room for */
};

/* slab_bytes of one slab of each of n_shares threads; 0: batches are never copied. */
ashuf_status batch_copier_init(struct batch_copier *copier, size_t slab_bytes, int n_shares,
                               ashuf_memory *memory, struct ashuf_error *error);
/* Frees slabs without copies. */
void batch_copier_trim(struct batch_copier *copier);
/* All copies have been released. */
void batch_copier_free(struct batch_copier *copier);

/* How many of a batch's n_rows rows from first on are best copied next: what stays in the cache. */
int64_t batch_copy_rows(int64_t n_rows, int64_t first);

/*
 * Copies of n_rows rows from first on of the one batch of set, in copier->shares[0 .. *n - 1].copy,
 * which are the caller's to release: sorted by their ids, which are sorted with them. *n is 0 where
 * the rows are better left where they are: too wide, or no memory for them now. BAD_ARRAY where
 * their values are bad; ids are as they were then.
 */
ashuf_status batch_copy(struct batch_copier *copier, struct encode_pool *pool,
                        const struct source_set *set, int64_t first, int64_t n_rows,
                        int32_t partitions, int32_t *ids, int *n, struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_BATCH_COPY_H */

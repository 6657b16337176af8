/*
 * Batches copied to memory of our own, their rows sorted by partition.
 *
 * Rows of one partition are gathered from all over the input. Where that lies in pages of 4 KiB,
 * finding the page costs more than fetching the row, and a caller's buffers lie in such pages. So a
 * batch is copied as it comes, while it is in the cache, into slabs of large pages; sorted, so that
 * with few partitions a page has many rows that are wanted together. The copy is a block (codec
 * NONE) whose decoded batch lies in it: nothing here knows of types.
 *
 *   batch_copier_init -> batch_copy ... -> batch_copier_free
 *
 * Copies keep their slabs alive, and are released before the copier is freed, on its thread.
 */
#ifndef ASHUF_SHUFFLE_BATCH_COPY_H
#define ASHUF_SHUFFLE_BATCH_COPY_H

#include "block/context.h"

enum { SITE_COPY_MEMORY = 1130 };

struct copy_slab;

struct batch_copier {
  ashuf_memory *memory; /* not a reference */
  ashuf_ctx *ctx;
  struct ashuf_buffer block;
  struct copy_slab *slab; /* a reference; NULL before the first */
  struct copy_slab *free_slabs;
  size_t slab_bytes;
  uint64_t *rows; /* two lists for sorting */
  int32_t *ids;
  size_t capacity; /* rows they have room for */
};

/* slab_bytes 0: batches are never copied. */
ashuf_status batch_copier_init(struct batch_copier *copier, size_t slab_bytes, ashuf_memory *memory,
                               struct ashuf_error *error);
/* Frees slabs without copies. */
void batch_copier_trim(struct batch_copier *copier);
/* All copies have been released. */
void batch_copier_free(struct batch_copier *copier);

/*
 * A copy of the one batch of set, rows sorted by ids, which are sorted with them. *done is false
 * where the batch is better left as it is: too large, or no memory for it now. BAD_ARRAY where its
 * values are bad; ids are as they were then.
 */
ashuf_status batch_copy(struct batch_copier *copier, const struct source_set *set,
                        struct block_encoder *encoder, int32_t partitions, int32_t *ids,
                        struct ArrowArray *out, bool *done, struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_BATCH_COPY_H */

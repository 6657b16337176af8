/*
 * Rows by id -> blocks, one thread's share of it: how rows are best reached in memory.
 *
 *   part_encoder_init -> part_encode_rows | part_encode_whole ... -> part_encoder_free
 *
 * Three ways, whose blocks have the same bytes:
 *
 *   ids     row by row
 *   ranges  rows that follow each other in memory, as they do where batches are sorted by partition
 *           and partitions are few, are copied together
 *   staged  the rows of many small partitions are gathered together first, in their order, as one
 *           batch that stays in the cache; each partition is a slice of it then. Gathered one by
 *           one they would wait for memory: a few rows from every batch and column, and the next
 *           partition's lie beside them in the same cache lines, which are gone by then.
 */
#ifndef ASHUF_SHUFFLE_PART_ENCODER_H
#define ASHUF_SHUFFLE_PART_ENCODER_H

#include "block/context.h"

enum { SITE_PART_MEMORY = 1122 };

struct part_encoder {
  ashuf_memory *memory; /* not a reference */
  struct block_encoder *encoder;
  struct row_range *ranges;
  size_t capacity; /* of ranges */
  /* Staging; made when there is something to stage: */
  ashuf_ctx *ctx;
  struct ashuf_buffer block;
  size_t row_bytes; /* of the last block */
  struct source_set set;
};

/* Where from, how, and where to. */
struct part_job {
  const struct source_set *set;
  const struct ashuf_encode_options *options;
  struct ashuf_buffer *out;
  const struct block_sink *sink;
  struct block_encode_stats *stats;
};

/* The rows [first, first + n_rows) of a list of row ids, which are of one partition. */
struct round_part {
  int32_t partition;
  bool more_follows; /* rows that are not in the list yet: a block they could join waits */
  size_t first;
  int64_t n_rows;
  /* Results: */
  int64_t taken; /* rows encoded */
  size_t size;   /* bytes of their blocks */
};

ashuf_status part_encoder_init(struct part_encoder *encoder, ashuf_memory *memory,
                               struct ashuf_error *error);
/* Takes one zero-initialised, and one twice. */
void part_encoder_free(struct part_encoder *encoder);

/* The blocks of rows that follow one another in a partition; more_follows: those alone that no
 * further row could change. *taken: rows written, which are all there are to write unless the sink
 * only bounds out. On failure out is as block_encode_full says. */
ashuf_status part_encode_rows(struct part_encoder *encoder, const struct part_job *job,
                              const struct selection *rows, bool more_follows, int64_t *taken,
                              struct ashuf_error *error);

/*
 * The blocks of whole partitions whose ids follow one another; each part's taken and size are set.
 * job->sink bounds out: rows may share what is large and be many times what they take in memory.
 * On failure, which names the partition, out has the blocks of the parts before.
 */
ashuf_status part_encode_whole(struct part_encoder *encoder, const struct part_job *job,
                               const row_id *ids, struct round_part *parts, size_t n,
                               struct ashuf_error *error);

/* A failure in a partition. */
ashuf_status part_error(int32_t partition, ashuf_status status, struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_PART_ENCODER_H */

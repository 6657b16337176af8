/*
 * Sampling keys input by input, in one pass.
 *
 *   inputs[i]   a reservoir of reservoir_size keys, and how many rows came by
 *   pool        keys of all inputs, each with the number drawn for it: those below the fraction of
 *               all rows so far that wanted keys make. The fraction falls as rows arrive, so what
 *               it passes at the end was in the pool all along: a Bernoulli sample.
 *
 * An input whose share of the wanted keys does not fit its reservoir has the pool's keys instead.
 * With three inputs or fewer that cannot be, and there is no pool.
 *
 * sampler_new -> sampler_push, sampler_bounds any number of times -> sampler_free
 */
#ifndef ASHUF_PARTITION_SAMPLER_H
#define ASHUF_PARTITION_SAMPLER_H

#include "partition/sample.h"
#include "partition/xorshift.h"

struct kept_key {
  uint8_t *data;
  size_t size;
  size_t capacity;
};

struct sampled_input {
  struct xorshift random;
  struct xorshift pool_random;
  int64_t rows;
  struct kept_key *keys;
  size_t n;
  size_t capacity;
};

struct pool_key {
  double drawn;
  int32_t input;
  struct kept_key key;
};

struct ashuf_range_sampler {
  ashuf_memory *memory; /* a reference */
  ashuf_schema *key_schema;
  struct source_set set; /* of the batch being taken */
  struct row_encoding encoding;
  bool failed;
  int32_t partitions;
  double wanted; /* keys, of all rows */
  int64_t reservoir_size;
  int64_t rows; /* of all inputs */
  struct sampled_input *inputs;
  int32_t n_inputs;
  struct pool_key *pool;
  size_t n_pool;
  size_t pool_capacity;
  int32_t n_keys;
  struct row_key keys[];
};

/* What ashuf_range_sampler_... do, arguments not NULL; own's keys and partitions are checked. */
ashuf_status sampler_new(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                         int32_t n_inputs, int32_t seed, ashuf_memory *memory,
                         ashuf_range_sampler **out, struct ashuf_error *error);
ashuf_status sampler_push(ashuf_range_sampler *sampler, int32_t input,
                          const struct ArrowArray *batch, struct ashuf_error *error);
ashuf_status sampler_bounds(const ashuf_range_sampler *sampler, struct ArrowArray *bounds,
                            struct ashuf_error *error);
void sampler_free(ashuf_range_sampler *sampler);

#endif /* ASHUF_PARTITION_SAMPLER_H */

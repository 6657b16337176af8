#include "partition/sample.h"

#include <math.h>
#include <string.h>

/* Candidates on their way out of the caller's rows. */
struct gathering {
  struct source_set set; /* of the rows */
  struct arena arena;    /* the encoded keys */
  struct row_encoding encoding;
  struct row_key *keys; /* of the key schema */
  int32_t n_keys;
  const float *weights;
  struct candidate *candidates;
};

static ashuf_status check_weights(const float *weights, int64_t n, struct ashuf_error *error) {
  for (int64_t i = 0; weights != NULL && i < n; i++)
    if (!isfinite(weights[i]) || weights[i] < 0)
      return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_SAMPLE_WEIGHT,
                       "candidate %lld: its weight is not a number of rows", (long long)i);
  return ASHUF_OK;
}

static ashuf_status gather_block(struct gathering *to, int64_t first, int64_t n,
                                 struct ashuf_error *error) {
  ashuf_memory *memory = to->arena.memory;
  ashuf_status status =
      row_encode(to->set.columns, to->keys, to->n_keys, 0, first, n, memory, &to->encoding, error);
  for (int64_t i = 0; status == ASHUF_OK && i < n; i++) {
    struct row_bytes key = to->encoding.rows[i];
    uint8_t *copy = arena_alloc(&to->arena, key.size, 1);
    if (copy == NULL) return error_memory(error, SITE_SAMPLE_MEMORY, memory, key.size);
    memcpy(copy, key.data, key.size);
    key.data = copy;
    float weight = to->weights == NULL ? 1 : to->weights[first + i];
    to->candidates[first + i] = (struct candidate){row_prefix(copy, key.size), key, weight};
  }
  return status;
}

static ashuf_status gather(struct gathering *to, const struct ashuf_partitioning *own,
                           const struct ArrowArray *rows, struct ashuf_error *error) {
  ashuf_status status = source_set_push(&to->set, rows, error);
  if (status != ASHUF_OK) error_prefix(error, "candidates: ");
  int64_t n = status == ASHUF_OK ? to->set.lengths[0] : 0;
  if (status == ASHUF_OK) status = check_weights(to->weights, n, error);
  if (status != ASHUF_OK) return status;
  to->n_keys = own->n_keys;
  to->keys = arena_array(&to->arena, (size_t)own->n_keys, sizeof *to->keys);
  to->candidates = arena_array(&to->arena, (size_t)n, sizeof *to->candidates);
  if (to->keys == NULL || to->candidates == NULL)
    return error_memory(error, SITE_SAMPLE_MEMORY, to->arena.memory,
                        (size_t)n * sizeof *to->candidates);
  for (int32_t i = 0; i < own->n_keys; i++) to->keys[i] = range_key(own, i, true);
  for (int64_t first = 0; status == ASHUF_OK && first < n; first += ROW_BLOCK)
    status = gather_block(to, first, n - first < ROW_BLOCK ? n - first : ROW_BLOCK, error);
  return status;
}

ashuf_status sample_bounds(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                           const struct ArrowArray *rows, const float *weights,
                           ashuf_memory *memory, struct ArrowArray *bounds,
                           struct ashuf_error *error) {
  struct gathering to = {.weights = weights};
  ashuf_schema *key_schema = NULL;
  ashuf_status status = range_key_schema(schema, own, memory, &key_schema, error);
  if (status != ASHUF_OK) return status;
  arena_init(&to.arena, memory);
  status = source_set_init(&to.set, key_schema, memory, error);
  if (status == ASHUF_OK) {
    status = gather(&to, own, rows, error);
    if (status == ASHUF_OK) {
      size_t n = (size_t)to.set.lengths[0];
      int32_t chosen = sample_choose(to.candidates, n, own->partitions);
      status = sample_export(key_schema, to.keys, to.candidates, chosen, memory, bounds, error);
    }
    source_set_free(&to.set);
  }
  row_encoding_free(&to.encoding);
  arena_free(&to.arena);
  ashuf_schema_free(key_schema);
  return status;
}

#include "partition/sampler.h"

#include <string.h>

/* Spark's spark.sql.execution.rangeExchange.sampleSizePerPartition, and its most for all. */
#define KEYS_A_PARTITION 100.0
#define MAX_WANTED 1e6
#define OVERSAMPLING 3.0
#define POOL_INPUTS 4 /* so many inputs need a pool */
#define FIRST_CAPACITY 64

/* ---- Making ------------------------------------------------------------------------------- */

static uint32_t byteswap_multiply(uint32_t value) {
  return __builtin_bswap32(value * 0x9e3775cdu) * 0x9e3775cdu;
}

/* The generator of an input's reservoir is Spark's; the pool's is of the same kind. */
static void seed_input(struct sampled_input *input, uint32_t index, uint32_t seed) {
  int32_t own = (int32_t)byteswap_multiply(index ^ seed << 16);
  input->random = xorshift_seeded(own);
  input->pool_random = xorshift_seeded((int64_t)own ^ ((int64_t)1 << 32));
}

static size_t sampler_size(int32_t n_keys) {
  return sizeof(ashuf_range_sampler) + (size_t)n_keys * sizeof(struct row_key);
}

static ashuf_status fill(ashuf_range_sampler *sampler, const ashuf_schema *schema,
                         const struct ashuf_partitioning *own, struct ashuf_error *error) {
  size_t size = (size_t)sampler->n_inputs * sizeof *sampler->inputs;
  for (int32_t i = 0; i < own->n_keys; i++) sampler->keys[i] = range_key(own, i, false);
  ashuf_status status = range_key_schema(schema, own, sampler->memory, &sampler->key_schema, error);
  if (status == ASHUF_OK) status = source_set_init(&sampler->set, schema, sampler->memory, error);
  if (status != ASHUF_OK) return status;
  sampler->inputs = memory_zeroed(sampler->memory, size);
  return sampler->inputs != NULL ? ASHUF_OK
                                 : error_memory(error, SITE_SAMPLE_MEMORY, sampler->memory, size);
}

ashuf_status sampler_new(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                         int32_t n_inputs, int32_t seed, ashuf_memory *memory,
                         ashuf_range_sampler **out, struct ashuf_error *error) {
  if (n_inputs < 1)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_SAMPLE_INPUTS, "%d inputs: at least 1",
                     n_inputs);
  ashuf_range_sampler *made = memory_zeroed(memory, sampler_size(own->n_keys));
  if (made == NULL)
    return error_memory(error, SITE_SAMPLE_MEMORY, memory, sampler_size(own->n_keys));
  made->memory = ashuf_memory_ref(memory);
  made->partitions = own->partitions;
  made->n_keys = own->n_keys;
  made->n_inputs = n_inputs;
  double wanted = KEYS_A_PARTITION * own->partitions;
  made->wanted = wanted < MAX_WANTED ? wanted : MAX_WANTED;
  double share = OVERSAMPLING * made->wanted / n_inputs;
  made->reservoir_size = (int64_t)share;
  if ((double)made->reservoir_size < share) made->reservoir_size++;
  ashuf_status status = fill(made, schema, own, error);
  if (status != ASHUF_OK) {
    sampler_free(made);
    return status;
  }
  for (int32_t i = 0; i < n_inputs; i++) seed_input(&made->inputs[i], (uint32_t)i, (uint32_t)seed);
  *out = made;
  return ASHUF_OK;
}

static void free_key(ashuf_memory *memory, const struct kept_key *key) {
  memory_free(memory, key->data, key->capacity);
}

static void free_inputs(ashuf_range_sampler *sampler) {
  for (int32_t i = 0; i < sampler->n_inputs; i++) {
    struct sampled_input *input = &sampler->inputs[i];
    for (size_t k = 0; k < input->n; k++) free_key(sampler->memory, &input->keys[k]);
    memory_free(sampler->memory, input->keys, input->capacity * sizeof *input->keys);
  }
  memory_free(sampler->memory, sampler->inputs,
              (size_t)sampler->n_inputs * sizeof *sampler->inputs);
}

void sampler_free(ashuf_range_sampler *sampler) {
  if (sampler == NULL) return;
  ashuf_memory *memory = sampler->memory;
  if (sampler->inputs != NULL) free_inputs(sampler);
  for (size_t i = 0; i < sampler->n_pool; i++) free_key(memory, &sampler->pool[i].key);
  memory_free(memory, sampler->pool, sampler->pool_capacity * sizeof *sampler->pool);
  row_encoding_free(&sampler->encoding);
  if (sampler->set.schema != NULL) source_set_free(&sampler->set);
  ashuf_schema_free(sampler->key_schema);
  memory_free(memory, sampler, sampler_size(sampler->n_keys));
  ashuf_memory_free(memory);
}

/* ---- Taking rows -------------------------------------------------------------------------- */

/* Puts bytes where the key is; the key stays as it was where there is no memory. */
static bool replace_key(ashuf_memory *memory, struct kept_key *key, struct row_bytes bytes) {
  if (bytes.size > key->capacity) {
    uint8_t *data = memory_alloc(memory, bytes.size);
    if (data == NULL) return false;
    free_key(memory, key);
    key->data = data;
    key->capacity = bytes.size;
  }
  if (bytes.size != 0) memcpy(key->data, bytes.data, bytes.size);
  key->size = bytes.size;
  return true;
}

/* A block of elements that holds count, grown to hold one more; false where there is no memory. */
static bool make_room(ashuf_memory *memory, void **block, size_t count, size_t *capacity,
                      size_t size) {
  if (count < *capacity) return true;
  size_t larger = *capacity == 0 ? FIRST_CAPACITY : *capacity * 2;
  void *grown = memory_grow(memory, *block, *capacity * size, larger * size);
  if (grown == NULL) return false;
  *block = grown;
  *capacity = larger;
  return true;
}

static bool take_into_reservoir(ashuf_range_sampler *sampler, struct sampled_input *input,
                                struct row_bytes key) {
  input->rows++;
  if (input->rows <= sampler->reservoir_size) {
    void *keys = input->keys;
    if (!make_room(sampler->memory, &keys, input->n, &input->capacity, sizeof *input->keys))
      return false;
    input->keys = keys;
    input->keys[input->n] = (struct kept_key){NULL, 0, 0};
    if (!replace_key(sampler->memory, &input->keys[input->n], key)) return false;
    input->n++;
    return true;
  }
  int64_t at = (int64_t)(xorshift_double(&input->random) * (double)input->rows);
  return at >= sampler->reservoir_size || replace_key(sampler->memory, &input->keys[at], key);
}

static double fraction(const ashuf_range_sampler *sampler) {
  double rows = sampler->rows > 1 ? (double)sampler->rows : 1;
  return sampler->wanted < rows ? sampler->wanted / rows : 1;
}

/* Drops what the fraction has fallen below. */
static void prune_pool(ashuf_range_sampler *sampler) {
  double most = fraction(sampler);
  size_t kept = 0;
  for (size_t i = 0; i < sampler->n_pool; i++) {
    if (sampler->pool[i].drawn < most)
      sampler->pool[kept++] = sampler->pool[i];
    else
      free_key(sampler->memory, &sampler->pool[i].key);
  }
  sampler->n_pool = kept;
}

/* Room in a full pool: half of it, or pruning would come with every row. */
static bool clear_pool(ashuf_range_sampler *sampler) {
  prune_pool(sampler);
  if (sampler->n_pool < sampler->pool_capacity / 2) return true;
  void *pool = sampler->pool;
  bool made = make_room(sampler->memory, &pool, sampler->pool_capacity, &sampler->pool_capacity,
                        sizeof *sampler->pool);
  sampler->pool = pool;
  return made;
}

static bool take_into_pool(ashuf_range_sampler *sampler, int32_t number, struct row_bytes key) {
  double drawn = xorshift_double(&sampler->inputs[number].pool_random);
  if (drawn >= fraction(sampler)) return true;
  if (sampler->n_pool == sampler->pool_capacity && !clear_pool(sampler)) return false;
  struct pool_key taken = {.drawn = drawn, .input = number};
  if (!replace_key(sampler->memory, &taken.key, key)) return false;
  sampler->pool[sampler->n_pool++] = taken;
  return true;
}

static ashuf_status take_block(ashuf_range_sampler *sampler, int32_t number, int64_t first,
                               int64_t n, struct ashuf_error *error) {
  ashuf_status status = row_encode(sampler->set.columns, sampler->keys, sampler->n_keys, 0, first,
                                   n, sampler->memory, &sampler->encoding, error);
  if (status != ASHUF_OK) return status;
  struct sampled_input *input = &sampler->inputs[number];
  for (int64_t i = 0; i < n; i++) {
    struct row_bytes key = sampler->encoding.rows[i];
    sampler->rows++;
    if (!take_into_reservoir(sampler, input, key) ||
        (sampler->n_inputs >= POOL_INPUTS && !take_into_pool(sampler, number, key)))
      return error_memory(error, SITE_SAMPLE_MEMORY, sampler->memory, key.size);
  }
  return ASHUF_OK;
}

ashuf_status sampler_push(ashuf_range_sampler *sampler, int32_t input,
                          const struct ArrowArray *batch, struct ashuf_error *error) {
  if (sampler->failed)
    return error_set(error, ASHUF_INVALID_STATE, SITE_SAMPLE_STATE, "an earlier batch failed");
  if (input < 0 || input >= sampler->n_inputs)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_SAMPLE_INPUT, "no input %d among %d",
                     input, sampler->n_inputs);
  source_set_clear(&sampler->set);
  ashuf_status status = source_set_push(&sampler->set, batch, error);
  int64_t rows = status == ASHUF_OK ? sampler->set.lengths[0] : 0;
  for (int64_t first = 0; status == ASHUF_OK && first < rows; first += ROW_BLOCK)
    status = take_block(sampler, input, first, rows - first < ROW_BLOCK ? rows - first : ROW_BLOCK,
                        error);
  sampler->failed = status != ASHUF_OK;
  return status;
}

/* ---- Bounds ------------------------------------------------------------------------------- */

static struct candidate candidate_of(const struct kept_key *key, float weight) {
  struct row_bytes bytes = {key->data, key->size};
  return (struct candidate){row_prefix(bytes.data, bytes.size), bytes, weight};
}

/* Whether the reservoir is too small for the input's share. */
static bool is_imbalanced(const ashuf_range_sampler *sampler, const struct sampled_input *input) {
  return fraction(sampler) * (double)input->rows > (double)sampler->reservoir_size;
}

static size_t collect(const ashuf_range_sampler *sampler, struct candidate *out) {
  size_t n = 0;
  double share = fraction(sampler);
  for (int32_t i = 0; i < sampler->n_inputs; i++) {
    const struct sampled_input *input = &sampler->inputs[i];
    if (is_imbalanced(sampler, input)) continue;
    float weight = (float)((double)input->rows / (double)input->n);
    for (size_t k = 0; k < input->n; k++) out[n++] = candidate_of(&input->keys[k], weight);
  }
  for (size_t i = 0; i < sampler->n_pool; i++) {
    const struct pool_key *key = &sampler->pool[i];
    if (key->drawn < share && is_imbalanced(sampler, &sampler->inputs[key->input]))
      out[n++] = candidate_of(&key->key, (float)(1 / share));
  }
  return n;
}

ashuf_status sampler_bounds(const ashuf_range_sampler *sampler, struct ArrowArray *bounds,
                            struct ashuf_error *error) {
  if (sampler->failed)
    return error_set(error, ASHUF_INVALID_STATE, SITE_SAMPLE_STATE, "an earlier batch failed");
  size_t most = sampler->n_pool + 1;
  for (int32_t i = 0; i < sampler->n_inputs; i++) most += sampler->inputs[i].n;
  size_t size = most * sizeof(struct candidate);
  struct candidate *candidates = memory_alloc(sampler->memory, size);
  if (candidates == NULL) return error_memory(error, SITE_SAMPLE_MEMORY, sampler->memory, size);
  int32_t n = sample_choose(candidates, collect(sampler, candidates), sampler->partitions);
  ashuf_status status = sample_export(sampler->key_schema, sampler->keys, candidates, n,
                                      sampler->memory, bounds, error);
  memory_free(sampler->memory, candidates, size);
  return status;
}

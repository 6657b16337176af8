#include "partition/partition.h"

#include "base/options.h"
#include "partition/sampler.h"

ashuf_status ashuf_partitioner_new(const ashuf_schema *schema,
                                   const struct ashuf_partitioning *partitioning,
                                   ashuf_memory *memory, ashuf_partitioner **out,
                                   struct ashuf_error *error) {
  struct ashuf_partitioning own = ASHUF_PARTITIONING_INIT;
  if (schema == NULL || partitioning == NULL || out == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_ARGUMENT,
                     "schema, partitioning or out is NULL");
  options_read(&own, sizeof own, partitioning);
  return partition_new(schema, &own, memory, out, error);
}

void ashuf_partitioner_free(ashuf_partitioner *partitioner) { partition_unref(partitioner); }

/* The ordinal of the batch's first row, rows of a task being countable. */
static ashuf_status read_cursor(const ashuf_partitioner *partitioner,
                                const struct ashuf_partition_cursor *cursor, int64_t rows,
                                struct ashuf_partition_cursor *out, struct ashuf_error *error) {
  if (cursor == NULL && partitioner->rule == RULE_POSITION)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_CURSOR,
                     "round robin by position needs a cursor");
  options_read(out, sizeof *out, cursor);
  if (out->row_ordinal < 0 || rows < 0 || rows > INT64_MAX - out->row_ordinal)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_CURSOR,
                     "cursor: row %lld and %lld rows more", (long long)out->row_ordinal,
                     (long long)rows);
  return ASHUF_OK;
}

ashuf_status ashuf_partition_ids(const ashuf_partitioner *partitioner,
                                 struct ashuf_partition_cursor *cursor,
                                 const struct ArrowArray *batch, int32_t *ids,
                                 struct ashuf_error *error) {
  if (partitioner == NULL || batch == NULL || (ids == NULL && batch->length > 0))
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_ARGUMENT,
                     "partitioner, batch or ids is NULL");
  struct ashuf_partition_cursor own = ASHUF_PARTITION_CURSOR_INIT;
  ashuf_status status = read_cursor(partitioner, cursor, batch->length, &own, error);
  if (status == ASHUF_OK) status = partition_batch(partitioner, batch, own.row_ordinal, ids, error);
  if (status != ASHUF_OK) return status;
  own.row_ordinal += batch->length;
  options_write(cursor, &own, sizeof own);
  return ASHUF_OK;
}

/* ---- Bounds ------------------------------------------------------------------------------- */

/* The caller's partitioning as a range's, for functions that look at its keys alone. */
static ashuf_status read_range(const ashuf_schema *schema,
                               const struct ashuf_partitioning *partitioning, const void *out,
                               struct ashuf_partitioning *own, struct ashuf_error *error) {
  if (schema == NULL || partitioning == NULL || out == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_ARGUMENT,
                     "schema, partitioning or out is NULL");
  options_read(own, sizeof *own, partitioning);
  own->kind = ASHUF_PARTITION_RANGE;
  if (own->partitions < 1)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_COUNT,
                     "%d partitions: at least 1", own->partitions);
  if (own->n_keys == 0)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_KEYS,
                     "range partitioning needs keys");
  return range_check_keys(schema, own, error);
}

ashuf_status ashuf_range_schema(const ashuf_schema *schema,
                                const struct ashuf_partitioning *partitioning, ashuf_memory *memory,
                                ashuf_schema **out, struct ashuf_error *error) {
  struct ashuf_partitioning own = ASHUF_PARTITIONING_INIT;
  ashuf_schema *made = NULL;
  ashuf_status status = read_range(schema, partitioning, out, &own, error);
  if (status == ASHUF_OK) status = range_key_schema(schema, &own, memory, &made, error);
  if (status == ASHUF_OK) *out = made;
  return status;
}

ashuf_status ashuf_range_bounds(const ashuf_schema *schema,
                                const struct ashuf_partitioning *partitioning,
                                const struct ArrowArray *candidates, const float *weights,
                                ashuf_memory *memory, struct ArrowArray *bounds,
                                struct ashuf_error *error) {
  struct ashuf_partitioning own = ASHUF_PARTITIONING_INIT;
  ashuf_status status = read_range(schema, partitioning, bounds, &own, error);
  if (status == ASHUF_OK && candidates == NULL)
    status =
        error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_ARGUMENT, "candidates is NULL");
  if (status != ASHUF_OK) return status;
  return sample_bounds(schema, &own, candidates, weights, memory, bounds, error);
}

ashuf_status ashuf_range_sampler_new(const ashuf_schema *schema,
                                     const struct ashuf_partitioning *partitioning,
                                     int32_t n_inputs, int32_t seed, ashuf_memory *memory,
                                     ashuf_range_sampler **out, struct ashuf_error *error) {
  struct ashuf_partitioning own = ASHUF_PARTITIONING_INIT;
  ashuf_status status = read_range(schema, partitioning, out, &own, error);
  if (status != ASHUF_OK) return status;
  return sampler_new(schema, &own, n_inputs, seed, memory, out, error);
}

ashuf_status ashuf_range_sampler_push(ashuf_range_sampler *sampler, int32_t input,
                                      const struct ArrowArray *batch, struct ashuf_error *error) {
  if (sampler == NULL || batch == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_ARGUMENT,
                     "sampler or batch is NULL");
  return sampler_push(sampler, input, batch, error);
}

ashuf_status ashuf_range_sampler_bounds(const ashuf_range_sampler *sampler,
                                        struct ArrowArray *bounds, struct ashuf_error *error) {
  if (sampler == NULL || bounds == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_ARGUMENT,
                     "sampler or bounds is NULL");
  return sampler_bounds(sampler, bounds, error);
}

void ashuf_range_sampler_free(ashuf_range_sampler *sampler) { sampler_free(sampler); }

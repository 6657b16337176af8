#include "partition/partition.h"

#include "base/options.h"

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

void ashuf_partitioner_free(ashuf_partitioner *partitioner) {
  partition_unref(partitioner);
}

ashuf_status ashuf_partition_ids(const ashuf_partitioner *partitioner,
                                 const struct ArrowArray *batch, int32_t *ids,
                                 struct ashuf_error *error) {
  if (partitioner == NULL || batch == NULL || (ids == NULL && batch->length > 0))
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_ARGUMENT,
                     "partitioner, batch or ids is NULL");
  return partition_batch(partitioner, batch, ids, error);
}

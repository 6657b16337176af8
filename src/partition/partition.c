#include "partition/partition.h"

#include "arrow/row_hash.h"

#include <string.h>

/* States of as many rows as stay in the first-level cache beside a column of them. */
#define HASH_ROWS 1024

static ashuf_status check_keys(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                               struct ashuf_error *error) {
  if (own->n_keys < 0 || (own->n_keys > 0 && own->keys == NULL) ||
      (own->n_keys == 0 && schema->n_columns != 0))
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_KEYS,
                     "hash partitioning needs keys");
  for (int32_t i = 0; i < own->n_keys; i++) {
    int32_t key = own->keys[i];
    if (key < 0 || key >= schema->n_columns)
      return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_KEY,
                       "key %d: no column %d among %d", i, key, schema->n_columns);
    ashuf_status status = row_hash_check(&schema->columns[key], error);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

static ashuf_status check(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                          struct ashuf_error *error) {
  if (own->kind != ASHUF_PARTITION_SINGLE && own->kind != ASHUF_PARTITION_HASH)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_KIND,
                     "unknown kind of partitioning %d", own->kind);
  if (own->partitions < 1)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_COUNT,
                     "%d partitions: at least 1", own->partitions);
  return own->kind == ASHUF_PARTITION_HASH ? check_keys(schema, own, error) : ASHUF_OK;
}

static size_t size_of(int32_t n_keys) {
  return sizeof(ashuf_partitioner) + (size_t)n_keys * sizeof(int32_t);
}

ashuf_status partition_new(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                           ashuf_memory *memory, ashuf_partitioner **out,
                           struct ashuf_error *error) {
  ashuf_status status = check(schema, own, error);
  if (status != ASHUF_OK) return status;
  bool all_to_one =
      own->kind == ASHUF_PARTITION_SINGLE || own->partitions == 1 || schema->n_columns == 0;
  int32_t n_keys = all_to_one ? 0 : own->n_keys;
  ashuf_partitioner *made = memory_zeroed(memory, size_of(n_keys));
  if (made == NULL) return error_memory(error, SITE_PARTITION_MEMORY, memory, size_of(n_keys));
  made->memory = ashuf_memory_ref(memory);
  atomic_init(&made->references, 1);
  made->schema = ashuf_schema_ref(schema);
  made->kind = all_to_one ? ASHUF_PARTITION_SINGLE : own->kind;
  made->n = own->partitions;
  made->n_keys = n_keys;
  for (int32_t i = 0; i < n_keys; i++) made->keys[i] = own->keys[i];
  *out = made;
  return ASHUF_OK;
}

ashuf_partitioner *partition_ref(const ashuf_partitioner *partitioner) {
  ashuf_partitioner *counted = (ashuf_partitioner *)(uintptr_t)partitioner;
  atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
  return counted;
}

void partition_unref(ashuf_partitioner *partitioner) {
  if (partitioner == NULL) return;
  if (atomic_fetch_sub_explicit(&partitioner->references, 1, memory_order_acq_rel) != 1) return;
  ashuf_memory *memory = partitioner->memory;
  ashuf_schema_free(partitioner->schema);
  memory_free(memory, partitioner, size_of(partitioner->n_keys));
  ashuf_memory_free(memory);
}

static ashuf_status hash_rows(const ashuf_partitioner *partitioner, const struct source_set *set,
                              size_t batch, int64_t first, int64_t n, int32_t *ids,
                              struct ashuf_error *error) {
  uint32_t hashes[HASH_ROWS];
  for (int64_t i = 0; i < n; i++) hashes[i] = ROW_HASH_SEED;
  for (int32_t i = 0; i < partitioner->n_keys; i++) {
    const struct source *column = &set->columns[partitioner->keys[i]];
    ashuf_status status = row_hash_fold(column, batch, first, n, hashes, error);
    if (status != ASHUF_OK) return status;
  }
  row_hash_modulo(hashes, n, partitioner->n, ids);
  return ASHUF_OK;
}

ashuf_status partition_rows(const ashuf_partitioner *partitioner, const struct source_set *set,
                            size_t batch, int64_t first_row_ordinal, int32_t *ids,
                            struct ashuf_error *error) {
  int64_t rows = set->lengths[batch];
  (void)first_row_ordinal;
  if (partitioner->kind == ASHUF_PARTITION_SINGLE) {
    if (rows != 0) memset(ids, 0, (size_t)rows * sizeof *ids);
    return ASHUF_OK;
  }
  for (int64_t first = 0; first < rows; first += HASH_ROWS) {
    int64_t n = rows - first < HASH_ROWS ? rows - first : HASH_ROWS;
    ashuf_status status = hash_rows(partitioner, set, batch, first, n, ids + first, error);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

static ashuf_status batch_ids(const ashuf_partitioner *partitioner, const struct source_set *set,
                              int32_t *ids, struct ashuf_error *error) {
  size_t size = (size_t)set->lengths[0] * sizeof *ids;
  if (size == 0) return ASHUF_OK;
  int32_t *own = memory_alloc(partitioner->memory, size);
  if (own == NULL) return error_memory(error, SITE_PARTITION_MEMORY, partitioner->memory, size);
  ashuf_status status = partition_rows(partitioner, set, 0, 0, own, error);
  if (status == ASHUF_OK) memcpy(ids, own, size);
  memory_free(partitioner->memory, own, size);
  return status;
}

ashuf_status partition_batch(const ashuf_partitioner *partitioner, const struct ArrowArray *batch,
                             int32_t *ids, struct ashuf_error *error) {
  struct source_set set;
  ashuf_status status = source_set_init(&set, partitioner->schema, partitioner->memory, error);
  if (status != ASHUF_OK) return status;
  status = source_set_push(&set, batch, error);
  if (status == ASHUF_OK) status = batch_ids(partitioner, &set, ids, error);
  source_set_free(&set);
  return status;
}

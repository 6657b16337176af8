#include "partition/partition.h"

#include "arrow/row_hash.h"
#include "partition/range.h"

#include <string.h>

/* States of as many rows as stay in the first-level cache beside a column of them. */
#define HASH_ROWS 1024

/* ---- Checks ------------------------------------------------------------------------------- */

ashuf_status partition_check_keys(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                                  struct ashuf_error *error) {
  if (own->n_keys < 0 || (own->n_keys > 0 && own->keys == NULL) ||
      (own->n_keys == 0 && schema->n_columns != 0))
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_KEYS,
                     "%s partitioning needs keys",
                     own->kind == ASHUF_PARTITION_HASH ? "hash" : "range");
  for (int32_t i = 0; i < own->n_keys; i++)
    if (own->keys[i] < 0 || own->keys[i] >= schema->n_columns)
      return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_KEY,
                       "key %d: no column %d among %d", i, own->keys[i], schema->n_columns);
  return ASHUF_OK;
}

static ashuf_status check_hash(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                               struct ashuf_error *error) {
  ashuf_status status = partition_check_keys(schema, own, error);
  for (int32_t i = 0; status == ASHUF_OK && i < own->n_keys; i++)
    status = row_hash_check(&schema->columns[own->keys[i]], error);
  return status;
}

static ashuf_status check_range(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                                struct ashuf_error *error) {
  if (own->range_rule != ASHUF_RANGE_SPARK && own->range_rule != ASHUF_RANGE_COMET)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_RULE, "unknown range rule %d",
                     own->range_rule);
  return range_check_keys(schema, own, error);
}

/* Columns that round robin by content hashes. */
static int32_t n_hashed(const ashuf_schema *schema, const struct ashuf_partitioning *own) {
  int32_t most = own->max_hash_columns;
  return most == 0 || most > schema->n_columns ? schema->n_columns : most;
}

static ashuf_status check_round_robin(const ashuf_schema *schema,
                                      const struct ashuf_partitioning *own,
                                      struct ashuf_error *error) {
  if (own->round_robin != ASHUF_ROUND_ROBIN_HASH_ALL &&
      own->round_robin != ASHUF_ROUND_ROBIN_POSITIONAL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_RULE,
                     "unknown kind of round robin %d", own->round_robin);
  if (own->group_rows < 0)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_GROUP, "groups of %lld rows",
                     (long long)own->group_rows);
  if (own->max_hash_columns < 0)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_COLUMNS,
                     "round robin by %d columns", own->max_hash_columns);
  if (own->round_robin == ASHUF_ROUND_ROBIN_POSITIONAL) return ASHUF_OK;
  ashuf_status status = ASHUF_OK;
  for (int32_t i = 0; status == ASHUF_OK && i < n_hashed(schema, own); i++)
    status = row_hash_check(&schema->columns[i], error);
  return status;
}

static ashuf_status check(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                          struct ashuf_error *error) {
  if (own->kind < ASHUF_PARTITION_SINGLE || own->kind > ASHUF_PARTITION_ROUND_ROBIN)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_KIND,
                     "unknown kind of partitioning %d", own->kind);
  if (own->partitions < 1)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PARTITION_COUNT,
                     "%d partitions: at least 1", own->partitions);
  switch (own->kind) {
    case ASHUF_PARTITION_HASH:
      return check_hash(schema, own, error);
    case ASHUF_PARTITION_RANGE:
      return check_range(schema, own, error);
    case ASHUF_PARTITION_ROUND_ROBIN:
      return check_round_robin(schema, own, error);
    default:
      return ASHUF_OK;
  }
}

/* ---- A partitioning bound to a schema ----------------------------------------------------- */

static size_t size_of(int32_t n_keys) {
  return sizeof(ashuf_partitioner) + (size_t)n_keys * sizeof(int32_t);
}

static enum partition_rule rule_of(const ashuf_schema *schema,
                                   const struct ashuf_partitioning *own) {
  if (own->kind == ASHUF_PARTITION_SINGLE || own->partitions == 1 || schema->n_columns == 0)
    return RULE_ALL_TO_0;
  if (own->kind == ASHUF_PARTITION_RANGE) return RULE_RANGE;
  if (own->kind == ASHUF_PARTITION_HASH) return RULE_HASH;
  return own->round_robin == ASHUF_ROUND_ROBIN_POSITIONAL ? RULE_POSITION : RULE_HASH;
}

/* Bounds are looked at even where all rows go to partition 0. */
static ashuf_status new_range(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                              ashuf_memory *memory, struct range **out, struct ashuf_error *error) {
  *out = NULL;
  if (own->kind != ASHUF_PARTITION_RANGE || own->n_keys == 0) return ASHUF_OK;
  ashuf_schema *key_schema = NULL;
  ashuf_status status = range_key_schema(schema, own, memory, &key_schema, error);
  if (status == ASHUF_OK) status = range_new(key_schema, own, memory, out, error);
  ashuf_schema_free(key_schema);
  return status;
}

static void fill(ashuf_partitioner *made, const struct ashuf_partitioning *own) {
  bool by_content = own->kind == ASHUF_PARTITION_ROUND_ROBIN;
  for (int32_t i = 0; i < made->n_keys; i++) made->keys[i] = by_content ? i : own->keys[i];
  if (made->rule == RULE_POSITION)
    made->deal = round_robin_new(own->partitions, own->group_rows, own->map_index);
}

ashuf_status partition_new(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                           ashuf_memory *memory, ashuf_partitioner **out,
                           struct ashuf_error *error) {
  struct range *range = NULL;
  ashuf_status status = check(schema, own, error);
  if (status == ASHUF_OK) status = new_range(schema, own, memory, &range, error);
  if (status != ASHUF_OK) return status;
  enum partition_rule rule = rule_of(schema, own);
  bool by_content = own->kind == ASHUF_PARTITION_ROUND_ROBIN;
  int32_t n_keys = rule != RULE_HASH ? 0 : by_content ? n_hashed(schema, own) : own->n_keys;
  ashuf_partitioner *made = memory_zeroed(memory, size_of(n_keys));
  if (made == NULL) {
    range_free(range);
    return error_memory(error, SITE_PARTITION_MEMORY, memory, size_of(n_keys));
  }
  made->memory = ashuf_memory_ref(memory);
  atomic_init(&made->references, 1);
  made->schema = ashuf_schema_ref(schema);
  made->rule = rule;
  made->n = own->partitions;
  made->range = range;
  made->n_keys = n_keys;
  fill(made, own);
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
  range_free(partitioner->range);
  memory_free(memory, partitioner, size_of(partitioner->n_keys));
  ashuf_memory_free(memory);
}

/* ---- Placing ------------------------------------------------------------------------------ */

static ashuf_status hash_block(const ashuf_partitioner *partitioner, const struct source_set *set,
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

static ashuf_status hash_rows(const ashuf_partitioner *partitioner, const struct source_set *set,
                              size_t batch, int32_t *ids, struct ashuf_error *error) {
  int64_t rows = set->lengths[batch];
  for (int64_t first = 0; first < rows; first += HASH_ROWS) {
    int64_t n = rows - first < HASH_ROWS ? rows - first : HASH_ROWS;
    ashuf_status status = hash_block(partitioner, set, batch, first, n, ids + first, error);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

ashuf_status partition_rows(const ashuf_partitioner *partitioner, const struct source_set *set,
                            size_t batch, int64_t first_row_ordinal, int32_t *ids,
                            struct ashuf_error *error) {
  int64_t rows = set->lengths[batch];
  if (rows == 0) return ASHUF_OK;
  switch (partitioner->rule) {
    case RULE_HASH:
      return hash_rows(partitioner, set, batch, ids, error);
    case RULE_RANGE:
      return range_ids(partitioner->range, set, batch, ids, error);
    case RULE_POSITION:
      round_robin_ids(&partitioner->deal, first_row_ordinal, rows, ids);
      return ASHUF_OK;
    default:
      memset(ids, 0, (size_t)rows * sizeof *ids);
      return ASHUF_OK;
  }
}

static ashuf_status batch_ids(const ashuf_partitioner *partitioner, const struct source_set *set,
                              int64_t first_row_ordinal, int32_t *ids, struct ashuf_error *error) {
  size_t size = (size_t)set->lengths[0] * sizeof *ids;
  if (size == 0) return ASHUF_OK;
  int32_t *own = memory_alloc(partitioner->memory, size);
  if (own == NULL) return error_memory(error, SITE_PARTITION_MEMORY, partitioner->memory, size);
  ashuf_status status = partition_rows(partitioner, set, 0, first_row_ordinal, own, error);
  if (status == ASHUF_OK) memcpy(ids, own, size);
  memory_free(partitioner->memory, own, size);
  return status;
}

ashuf_status partition_batch(const ashuf_partitioner *partitioner, const struct ArrowArray *batch,
                             int64_t first_row_ordinal, int32_t *ids, struct ashuf_error *error) {
  struct source_set set;
  ashuf_status status = source_set_init(&set, partitioner->schema, partitioner->memory, error);
  if (status != ASHUF_OK) return status;
  status = source_set_push(&set, batch, error);
  if (status == ASHUF_OK) status = batch_ids(partitioner, &set, first_row_ordinal, ids, error);
  source_set_free(&set);
  return status;
}

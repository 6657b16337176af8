#include "shuffle/batch_store.h"

#include <string.h>

ashuf_status batch_store_init(struct batch_store *store, const ashuf_partitioner *partitioner,
                              ashuf_memory *memory, struct ashuf_error *error) {
  memset(store, 0, sizeof *store);
  store->memory = memory;
  store->partitioner = partitioner;
  ashuf_status status = scatter_init(&store->scatter, partitioner->n, memory, error);
  if (status == ASHUF_OK)
    status = source_set_init(&store->probe, partitioner->schema, memory, error);
  if (status == ASHUF_OK) status = source_set_init(&store->set, partitioner->schema, memory, error);
  if (status != ASHUF_OK) batch_store_free(store);
  return status;
}

static size_t ids_size(int64_t n_rows) { return (size_t)n_rows * sizeof(int32_t); }

static void free_ids(const struct batch_store *store, struct stored_batch *stored, int64_t n_rows) {
  memory_free(store->memory, stored->ids, ids_size(n_rows));
  stored->ids = NULL;
}

static ashuf_status reserve(struct batch_store *store, struct ashuf_error *error) {
  if (store->n_batches < store->capacity) return ASHUF_OK;
  size_t capacity = store->capacity == 0 ? 16 : store->capacity * 2;
  size_t size = capacity * sizeof *store->batches;
  struct stored_batch *batches =
      memory_grow(store->memory, store->batches, store->capacity * sizeof *store->batches, size);
  if (batches == NULL) return error_memory(error, SITE_STORE_MEMORY, store->memory, size);
  store->batches = batches;
  store->capacity = capacity;
  return ASHUF_OK;
}

/* The partitions of a batch's rows. A bad key is found here, while the batch is in the probe
 * alone: a set cannot give a batch back. */
static ashuf_status place(struct batch_store *store, const struct ArrowArray *batch,
                          struct stored_batch *stored, struct ashuf_error *error) {
  source_set_clear(&store->probe);
  ashuf_status status = source_set_push(&store->probe, batch, error);
  if (status != ASHUF_OK || batch->length == 0) return status;
  stored->ids = memory_alloc(store->memory, ids_size(batch->length));
  if (stored->ids == NULL)
    return error_memory(error, SITE_STORE_MEMORY, store->memory, ids_size(batch->length));
  return partition_rows(store->partitioner, &store->probe, 0, store->n_rows, stored->ids, error);
}

ashuf_status batch_store_check(struct batch_store *store, const struct ArrowArray *batch,
                               struct ashuf_error *error) {
  ashuf_status status = reserve(store, error);
  if (status != ASHUF_OK) return status;
  struct stored_batch *stored = &store->batches[store->n_batches];
  memset(stored, 0, sizeof *stored);
  status = place(store, batch, stored, error);
  if (status == ASHUF_OK) status = source_set_push(&store->set, batch, error);
  if (status != ASHUF_OK && stored->ids != NULL) free_ids(store, stored, batch->length);
  return status;
}

void batch_store_keep(struct batch_store *store, struct ArrowArray *batch) {
  struct stored_batch *stored = &store->batches[store->n_batches++];
  stored->array = *batch;
  batch->release = NULL;
  store->n_rows += stored->array.length;
  scatter_count(&store->scatter, stored->ids, stored->array.length);
}

void batch_store_drop(struct batch_store *store, const struct ArrowArray *batch) {
  struct stored_batch *stored = &store->batches[store->n_batches];
  if (stored->ids != NULL) free_ids(store, stored, batch->length);
}

ashuf_status batch_store_scatter(struct batch_store *store, struct ashuf_error *error) {
  ashuf_status status = scatter_begin(&store->scatter, error);
  if (status != ASHUF_OK) return status;
  for (size_t i = 0; i < store->n_batches; i++) {
    struct stored_batch *stored = &store->batches[i];
    int64_t n_rows = stored->array.length;
    if (n_rows == 0) continue;
    scatter_place(&store->scatter, i, 0, stored->ids, n_rows);
    free_ids(store, stored, n_rows);
  }
  return ASHUF_OK;
}

struct selection batch_store_selection(const struct batch_store *store, int32_t partition) {
  return scatter_partition(&store->scatter, partition);
}

void batch_store_free(struct batch_store *store) {
  for (size_t i = 0; i < store->n_batches; i++) {
    struct stored_batch *stored = &store->batches[i];
    if (stored->ids != NULL) free_ids(store, stored, stored->array.length);
    stored->array.release(&stored->array);
  }
  memory_free(store->memory, store->batches, store->capacity * sizeof *store->batches);
  if (store->probe.schema != NULL) source_set_free(&store->probe);
  if (store->set.schema != NULL) source_set_free(&store->set);
  scatter_free(&store->scatter);
  memset(store, 0, sizeof *store);
}

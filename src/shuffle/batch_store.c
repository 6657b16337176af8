#include "shuffle/batch_store.h"

#include "ipc/batch_holder.h"

#include <string.h>

ashuf_status batch_store_init(struct batch_store *store, const ashuf_partitioner *partitioner,
                              ashuf_memory *memory, struct ashuf_error *error) {
  memset(store, 0, sizeof *store);
  store->memory = memory;
  store->partitioner = partitioner;
  buffer_set_init(&store->buffers, memory);
  ashuf_status status = scatter_init(&store->scatter, partitioner->n, memory, error);
  if (status == ASHUF_OK)
    status = source_set_init(&store->probe, partitioner->schema, memory, error);
  if (status == ASHUF_OK) status = source_set_init(&store->set, partitioner->schema, memory, error);
  if (status != ASHUF_OK) batch_store_free(store);
  return status;
}

static void free_ids(const struct batch_store *store, int32_t **ids, int64_t n_rows) {
  memory_free(store->memory, *ids, (size_t)n_rows * sizeof **ids);
  *ids = NULL;
}

/* The partitions of a batch's rows. A bad key is found here, while the batch is in the probe
 * alone: a set cannot give a batch back. */
ashuf_status batch_store_check(struct batch_store *store, const struct ArrowArray *batch,
                               struct ashuf_error *error) {
  source_set_clear(&store->probe);
  ashuf_status status = source_set_push(&store->probe, batch, error);
  if (status != ASHUF_OK || batch->length == 0) return status;
  size_t size = (size_t)batch->length * sizeof *store->incoming;
  store->incoming = memory_alloc(store->memory, size);
  if (store->incoming == NULL) return error_memory(error, SITE_STORE_MEMORY, store->memory, size);
  status = partition_rows(store->partitioner, &store->probe, 0, store->rows_before + store->n_rows,
                          store->incoming, error);
  if (status != ASHUF_OK) free_ids(store, &store->incoming, batch->length);
  return status;
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

/* Counts what the batch keeps alive. What our own decoder made is in its domain already. */
static ashuf_status charge(struct batch_store *store, const struct ArrowArray *batch,
                           bool uncharged, struct ashuf_error *error) {
  uint64_t before = store->buffers.bytes;
  store->last_charge = 0;
  ashuf_status status = buffer_set_add(&store->buffers, store->set.schema, batch, error);
  if (status != ASHUF_OK) return status;
  uint64_t bytes = store->buffers.bytes - before;
  if (batch->length != 0 && (int64_t)bytes / batch->length > store->widest_row)
    store->widest_row = (int64_t)bytes / batch->length;
  if (uncharged || batch_holder_is_of(batch, store->memory)) return ASHUF_OK;
  if (!memory_charge(store->memory, (size_t)bytes))
    return error_set(error, ASHUF_MEMORY_LIMIT, SITE_STORE_CHARGE,
                     "no room for a batch of %llu bytes", (unsigned long long)bytes);
  store->charged += bytes;
  store->last_charge = bytes;
  return ASHUF_OK;
}

ashuf_status batch_store_admit(struct batch_store *store, const struct ArrowArray *batch,
                               bool uncharged, struct ashuf_error *error) {
  ashuf_status status = reserve(store, error);
  if (status == ASHUF_OK)
    status = scatter_reserve(&store->scatter, store->n_rows + batch->length, error);
  return status == ASHUF_OK ? charge(store, batch, uncharged, error) : status;
}

void batch_store_withdraw(struct batch_store *store) {
  memory_discharge(store->memory, (size_t)store->last_charge);
  store->charged -= store->last_charge;
  store->last_charge = 0;
}

ashuf_status batch_store_join(struct batch_store *store, const struct ArrowArray *batch,
                              struct ashuf_error *error) {
  return source_set_push(&store->set, batch, error);
}

void batch_store_keep(struct batch_store *store, struct ArrowArray *array, int64_t first,
                      int64_t batch_rows) {
  struct stored_batch *stored = &store->batches[store->n_batches++];
  int64_t n = array->length;
  *stored = (struct stored_batch){.array = *array};
  if (n != 0) stored->ids = store->incoming + first;
  array->release = NULL;
  store->n_rows += n;
  scatter_count(&store->scatter, stored->ids, n);
  if (first + n != batch_rows) return;
  stored->own_ids = store->incoming;
  stored->n_own_ids = batch_rows;
  store->incoming = NULL;
}

void batch_store_drop(struct batch_store *store, int64_t batch_rows) {
  if (store->incoming != NULL) free_ids(store, &store->incoming, batch_rows);
}

uint64_t batch_store_held(const struct batch_store *store) {
  uint64_t ids = store->scattered ? 0 : (uint64_t)store->n_rows * sizeof(int32_t);
  return store->buffers.bytes + ids + (uint64_t)store->scatter.capacity * sizeof(row_id);
}

ashuf_status batch_store_scatter(struct batch_store *store, struct ashuf_error *error) {
  if (store->scattered) return ASHUF_OK;
  ashuf_status status = scatter_begin(&store->scatter, error);
  if (status != ASHUF_OK) return status;
  for (size_t i = 0; i < store->n_batches; i++) {
    struct stored_batch *stored = &store->batches[i];
    int64_t n_rows = stored->array.length;
    if (n_rows == 0) continue;
    scatter_place(&store->scatter, i, 0, stored->ids, n_rows);
    free_ids(store, &stored->own_ids, stored->n_own_ids);
  }
  store->scattered = true;
  return ASHUF_OK;
}

struct selection batch_store_selection(const struct batch_store *store, int32_t partition) {
  return scatter_partition(&store->scatter, partition);
}

static void release_batches(struct batch_store *store) {
  for (size_t i = 0; i < store->n_batches; i++) {
    struct stored_batch *stored = &store->batches[i];
    if (stored->own_ids != NULL) free_ids(store, &stored->own_ids, stored->n_own_ids);
    stored->array.release(&stored->array);
  }
  memory_discharge(store->memory, (size_t)store->charged);
  store->charged = 0;
}

/* Where others stand behind our batches in the set, ours leave empty places. */
static void leave_set(struct batch_store *store) {
  if (store->set.n_batches == store->n_batches) {
    source_set_clear(&store->set);
    return;
  }
  for (size_t i = 0; i < store->n_batches; i++) source_set_vacate(&store->set, i);
}

void batch_store_clear(struct batch_store *store) {
  leave_set(store);
  release_batches(store);
  buffer_set_clear(&store->buffers);
  store->n_batches = 0;
  store->rows_before += store->n_rows;
  store->n_rows = 0;
  store->scattered = false;
  scatter_reset(&store->scatter);
}

void batch_store_free(struct batch_store *store) {
  release_batches(store);
  memory_free(store->memory, store->batches, store->capacity * sizeof *store->batches);
  buffer_set_free(&store->buffers);
  if (store->probe.schema != NULL) source_set_free(&store->probe);
  if (store->set.schema != NULL) source_set_free(&store->set);
  scatter_free(&store->scatter);
  memset(store, 0, sizeof *store);
}

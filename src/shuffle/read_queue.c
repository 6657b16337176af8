#include "shuffle/read_queue.h"

#include <string.h>

static bool is_no_memory(ashuf_status status) {
  return status == ASHUF_OUT_OF_MEMORY || status == ASHUF_MEMORY_LIMIT;
}

/* ---- One slot ------------------------------------------------------------------------------ */

/* The block of a slot that is SLOT_BUSY. Where it fails for want of memory the block stays. */
static void decode(const struct read_queue *queue, ashuf_ctx *ctx, struct read_slot *slot) {
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  const ashuf_schema *schema = NULL;
  slot->status = ashuf_block_decode(ctx, &slot->block, &queue->decode, &schema,
                                    &slot->decoded.batch, &info, &slot->error);
  if (slot->status == ASHUF_OK) {
    slot->decoded.schema = ashuf_schema_ref(schema);
    slot->decoded.stream_size = info.stream_size;
    slot->decoded.rows = info.rows;
    slot->retained = ashuf_batch_retained_bytes(&slot->decoded.batch);
    slot->block.release = NULL;
    return;
  }
  slot->retained = 0;
  block_place_tell(&slot->place, &slot->error);
}

static void slot_free(struct read_slot *slot) {
  if (slot->block.release != NULL) slot->block.release(&slot->block);
  if (slot->decoded.schema != NULL) slot->decoded.batch.release(&slot->decoded.batch);
  ashuf_schema_free(slot->decoded.schema);
  memset(slot, 0, sizeof *slot);
}

static struct read_slot *slot_at(const struct read_queue *queue, size_t i) {
  return &queue->slots[(queue->oldest + i) % queue->n_slots];
}

/* ---- Workers ------------------------------------------------------------------------------- */

static void lock(struct read_queue *queue) {
  if (queue->n_workers > 0) (void)pthread_mutex_lock(&queue->mutex);
}
static void unlock(struct read_queue *queue) {
  if (queue->n_workers > 0) (void)pthread_mutex_unlock(&queue->mutex);
}

/* Locked: the oldest slot that nobody has begun to decode, where the budget allows it. */
static struct read_slot *find_work(const struct read_queue *queue) {
  if (queue->waiting >= queue->budget) return NULL;
  for (size_t i = 0; i < queue->used; i++)
    if (slot_at(queue, i)->state == SLOT_READ) return slot_at(queue, i);
  return NULL;
}

/* Locked on entry and return. */
static void work_on(struct read_queue *queue, ashuf_ctx *ctx, struct read_slot *slot) {
  slot->state = SLOT_BUSY;
  unlock(queue);
  decode(queue, ctx, slot);
  lock(queue);
  slot->state = SLOT_DONE;
  queue->waiting += slot->retained;
}

static void *worker_run(void *argument) {
  struct read_worker *worker = argument;
  struct read_queue *queue = worker->queue;
  (void)pthread_mutex_lock(&queue->mutex);
  while (!queue->stop) {
    struct read_slot *slot = find_work(queue);
    if (slot == NULL) {
      (void)pthread_cond_wait(&queue->work, &queue->mutex);
      continue;
    }
    work_on(queue, worker->ctx, slot);
    (void)pthread_cond_signal(&queue->done);
  }
  (void)pthread_mutex_unlock(&queue->mutex);
  return NULL;
}

static ashuf_status new_ctx(const struct read_queue *queue, ashuf_ctx **out,
                            struct ashuf_error *error) {
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.memory = queue->memory;
  return ashuf_ctx_new(&options, out, error);
}

static bool make_locks(struct read_queue *queue) {
  if (pthread_mutex_init(&queue->mutex, NULL) != 0) return false;
  if (pthread_cond_init(&queue->work, NULL) != 0) {
    (void)pthread_mutex_destroy(&queue->mutex);
    return false;
  }
  if (pthread_cond_init(&queue->done, NULL) != 0) {
    (void)pthread_cond_destroy(&queue->work);
    (void)pthread_mutex_destroy(&queue->mutex);
    return false;
  }
  queue->locks = true;
  return true;
}

/* n_workers is said before any of them runs: it is what makes the others lock. */
static ashuf_status start_workers(struct read_queue *queue, int n, struct ashuf_error *error) {
  size_t size = (size_t)n * sizeof *queue->workers;
  if (!make_locks(queue)) return ASHUF_OK;
  queue->workers = memory_zeroed(queue->memory, size);
  if (queue->workers == NULL) return error_memory(error, SITE_QUEUE_MEMORY, queue->memory, size);
  queue->n_workers = n;
  for (int i = 0; i < n; i++) {
    struct read_worker *worker = &queue->workers[i];
    worker->queue = queue;
    ashuf_status status = new_ctx(queue, &worker->ctx, error);
    if (status != ASHUF_OK) return status;
    if (thread_start(&worker->thread, worker_run, worker) != 0) break;
  }
  return ASHUF_OK;
}

static void stop_workers(struct read_queue *queue) {
  lock(queue);
  queue->stop = true;
  if (queue->locks) (void)pthread_cond_broadcast(&queue->work);
  unlock(queue);
  for (int i = 0; i < queue->n_workers; i++) thread_join(&queue->workers[i].thread);
  for (int i = 0; i < queue->n_workers; i++) ashuf_ctx_free(queue->workers[i].ctx);
  memory_free(queue->memory, queue->workers, (size_t)queue->n_workers * sizeof *queue->workers);
  if (!queue->locks) return;
  (void)pthread_cond_destroy(&queue->done);
  (void)pthread_cond_destroy(&queue->work);
  (void)pthread_mutex_destroy(&queue->mutex);
}

/* ---- The caller's side --------------------------------------------------------------------- */

ashuf_status read_queue_open(struct read_queue *queue, struct read_source *source,
                             const struct ashuf_decode_options *decode_options, int threads,
                             uint64_t budget, ashuf_memory *memory, struct ashuf_error *error) {
  queue->memory = memory;
  queue->source = source;
  queue->decode = *decode_options;
  queue->budget = budget;
  if (threads < 1 || threads > READ_THREADS_MOST)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_QUEUE_THREADS,
                     "threads is %d, and not in [1, %d]", threads, READ_THREADS_MOST);
  size_t n = threads == 1 ? 1 : (size_t)threads * SLOTS_A_THREAD;
  queue->slots = memory_zeroed(memory, n * sizeof *queue->slots);
  if (queue->slots == NULL)
    return error_memory(error, SITE_QUEUE_MEMORY, memory, n * sizeof *queue->slots);
  queue->n_slots = n;
  ashuf_status status = new_ctx(queue, &queue->ctx, error);
  if (status != ASHUF_OK || threads == 1) return status;
  return start_workers(queue, threads - 1, error);
}

void read_queue_close(struct read_queue *queue) {
  if (queue->slots == NULL) return;
  stop_workers(queue);
  for (size_t i = 0; i < queue->n_slots; i++) slot_free(&queue->slots[i]);
  memory_free(queue->memory, queue->slots, queue->n_slots * sizeof *queue->slots);
  ashuf_ctx_free(queue->ctx);
}

/* Locked: the newest slot is there for the workers. */
static void publish(struct read_queue *queue, enum slot_state state) {
  lock(queue);
  slot_at(queue, queue->used)->state = state;
  queue->used++;
  if (queue->n_workers > 0) (void)pthread_cond_signal(&queue->work);
  unlock(queue);
}

/* Reads blocks into the free slots. A failure is a slot of its own, behind what came before it. */
static void fill(struct read_queue *queue) {
  while (!queue->ended && queue->used < queue->n_slots) {
    struct read_slot *slot = slot_at(queue, queue->used);
    int found = 0;
    slot->status =
        read_source_next(queue->source, &found, &slot->block, &slot->place, &slot->error);
    if (slot->status != ASHUF_OK) {
      slot->block.release = NULL;
      if (is_no_memory(slot->status) && queue->used > 0) return; /* later, when some is free */
      queue->ended = true;
      publish(queue, SLOT_DONE);
      return;
    }
    queue->ended = !found;
    if (found) publish(queue, SLOT_READ);
  }
}

/* Waits for the oldest slot; decodes it, or another one meanwhile. */
static struct read_slot *oldest_done(struct read_queue *queue) {
  struct read_slot *slot = slot_at(queue, 0);
  lock(queue);
  while (slot->state != SLOT_DONE) {
    struct read_slot *work = slot->state == SLOT_READ ? slot : find_work(queue);
    if (work != NULL)
      work_on(queue, queue->ctx, work);
    else
      (void)pthread_cond_wait(&queue->done, &queue->mutex);
  }
  unlock(queue);
  /* What failed beside others gets its turn alone. */
  if (queue->n_workers > 0 && is_no_memory(slot->status) && slot->block.release != NULL) {
    decode(queue, queue->ctx, slot);
    lock(queue);
    queue->waiting += slot->retained;
    unlock(queue);
  }
  return slot;
}

/* The slot is cleared where workers do not see it: a cleared one looks like one to decode. */
static void take(struct read_queue *queue, struct read_slot *slot) {
  uint64_t retained = slot->retained;
  lock(queue);
  memset(&slot->decoded, 0, sizeof slot->decoded);
  slot_free(slot);
  queue->waiting -= retained;
  queue->oldest = (queue->oldest + 1) % queue->n_slots;
  queue->used--;
  if (queue->n_workers > 0) (void)pthread_cond_signal(&queue->work);
  unlock(queue);
}

ashuf_status read_queue_next(struct read_queue *queue, int *found, struct read_block *out,
                             struct ashuf_error *error) {
  fill(queue);
  *found = queue->used != 0;
  if (!*found) return ASHUF_OK;
  struct read_slot *slot = oldest_done(queue);
  if (slot->status != ASHUF_OK) {
    if (error != NULL) *error = slot->error;
    return slot->status;
  }
  *out = slot->decoded;
  out->place = slot->place;
  take(queue, slot);
  return ASHUF_OK;
}

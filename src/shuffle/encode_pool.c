#include "shuffle/encode_pool.h"

ashuf_status encode_pool_init(struct encode_pool *pool, int threads, const atomic_bool *cancelled,
                              ashuf_memory *memory, struct ashuf_error *error) {
  *pool = (struct encode_pool){.memory = memory, .cancelled = cancelled};
  size_t size = (size_t)threads * sizeof *pool->workers;
  pool->workers = memory_zeroed(memory, size);
  if (pool->workers == NULL) return error_memory(error, SITE_POOL_MEMORY, memory, size);
  pool->n_workers = threads;
  for (int i = 0; i < threads; i++) {
    struct encode_worker *worker = &pool->workers[i];
    worker->pool = pool;
    ashuf_status status = part_encoder_init(&worker->encoder, memory, error);
    if (status == ASHUF_OK) continue;
    encode_pool_free(pool);
    return status;
  }
  return ASHUF_OK;
}

void encode_pool_free(struct encode_pool *pool) {
  if (pool->started) {
    gate_close(&pool->gate);
    for (int i = 1; i < pool->n_workers; i++) thread_join(&pool->workers[i].thread);
    gate_free(&pool->gate);
  }
  for (int i = 0; i < pool->n_workers; i++) {
    part_encoder_free(&pool->workers[i].encoder);
    ashuf_buffer_free(&pool->workers[i].out);
  }
  memory_free(pool->memory, pool->workers, (size_t)pool->n_workers * sizeof *pool->workers);
  *pool = (struct encode_pool){0};
}

static void work(struct encode_worker *worker) {
  struct encode_pool *pool = worker->pool;
  while (!atomic_load_explicit(&pool->stop, memory_order_relaxed) &&
         !atomic_load_explicit(pool->cancelled, memory_order_relaxed)) {
    size_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
    if (i >= pool->n_tasks) return;
    worker->status = pool->function(pool->self, worker, i);
    if (worker->status == ASHUF_OK) continue;
    worker->failed = i;
    atomic_store_explicit(&pool->stop, true, memory_order_relaxed);
    return;
  }
}

static void *run_worker(void *argument) {
  struct encode_worker *worker = argument;
  uint64_t seen = 0;
  while (gate_wait(&worker->pool->gate, &seen)) {
    work(worker);
    gate_done(&worker->pool->gate);
  }
  return NULL;
}

static ashuf_status start_threads(struct encode_pool *pool, struct ashuf_error *error) {
  int failure = gate_init(&pool->gate);
  if (failure != 0)
    return error_os(error, SITE_POOL_THREAD, failure, "cannot start threads to encode");
  pool->started = true;
  for (int i = 1; i < pool->n_workers && failure == 0; i++)
    failure = thread_start(&pool->workers[i].thread, run_worker, &pool->workers[i]);
  if (failure == 0) return ASHUF_OK;
  return error_os(error, SITE_POOL_THREAD, failure, "cannot start threads to encode");
}

/* The failure of the first task that has one. */
static ashuf_status first_failure(const struct encode_pool *pool, struct ashuf_error *error) {
  const struct encode_worker *first = NULL;
  for (int i = 0; i < pool->n_workers; i++) {
    const struct encode_worker *worker = &pool->workers[i];
    if (worker->failed != SIZE_MAX && (first == NULL || worker->failed < first->failed))
      first = worker;
  }
  if (first == NULL) return ASHUF_OK;
  if (error != NULL) *error = first->error;
  return first->status;
}

ashuf_status encode_pool_do(struct encode_pool *pool, pool_function function, void *self, size_t n,
                            struct ashuf_error *error) {
  bool alone = pool->n_workers == 1 || n < 2;
  if (!alone && !pool->started) {
    ashuf_status status = start_threads(pool, error);
    if (status != ASHUF_OK) return status;
  }
  pool->function = function;
  pool->self = self;
  pool->n_tasks = n;
  atomic_store(&pool->next, 0);
  atomic_store(&pool->stop, false);
  for (int i = 0; i < pool->n_workers; i++) pool->workers[i].failed = SIZE_MAX;
  if (!alone) gate_open(&pool->gate, pool->n_workers - 1);
  work(&pool->workers[0]);
  if (!alone) gate_drain(&pool->gate);
  return first_failure(pool, error);
}

/* ---- Encoding ----------------------------------------------------------------------------- */

struct encode_job {
  const struct source_set *set;
  const struct ashuf_encode_options *options;
  const row_id *ids;
  struct block_sink bound;
  struct encode_task *tasks;
};

static ashuf_status encode_task(void *self, struct encode_worker *worker, size_t i) {
  const struct encode_job *job = self;
  struct encode_task *task = &job->tasks[i];
  struct part_job own = {job->set, job->options, &worker->out, &job->bound, &task->stats};
  ashuf_status status;
  task->worker = (int)(worker - worker->pool->workers);
  task->start = worker->out.size;
  task->stats = (struct block_encode_stats){0};
  if (task->n_parts != 0)
    status = part_encode_whole(&worker->encoder, &own, job->ids, task->parts, task->n_parts,
                               &worker->error);
  else
    status = part_encode_rows(&worker->encoder, &own, &task->rows, task->more_follows, &task->taken,
                              &worker->error);
  if (status != ASHUF_OK && task->n_parts == 0)
    (void)part_error(task->parts->partition, status, &worker->error);
  task->size = worker->out.size - task->start;
  task->stopped = worker->out.size >= job->bound.most && task->taken < task->rows.n_rows;
  return status;
}

ashuf_status encode_pool_run(struct encode_pool *pool, const struct source_set *set,
                             const struct ashuf_encode_options *options, const row_id *ids,
                             size_t most, struct encode_task *tasks, size_t n,
                             struct ashuf_error *error) {
  struct encode_job job = {set, options, ids, {.most = most}, tasks};
  for (int i = 0; i < pool->n_workers; i++) pool->workers[i].out.size = 0;
  return encode_pool_do(pool, encode_task, &job, n, error);
}

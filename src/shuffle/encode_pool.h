/*
 * The threads of a writer, the calling thread being the first, with an encoder each: encoding many
 * selections of one source set at once, or whatever else has tasks that do not depend on each
 * other. Each task is done by one thread; which one makes no difference to its bytes.
 *
 *   encode_pool_init -> encode_pool_run | encode_pool_do ... -> encode_pool_free
 *
 * Threads start with the first round that has work for them.
 */
#ifndef ASHUF_SHUFFLE_ENCODE_POOL_H
#define ASHUF_SHUFFLE_ENCODE_POOL_H

#include "os/thread.h"
#include "shuffle/part_encoder.h"

enum { SITE_POOL_MEMORY = 1120, SITE_POOL_THREAD = 1121 };

#define POOL_MAX_THREADS 256

struct encode_task {
  struct round_part *parts; /* whole partitions, whose sizes are results too, or: */
  size_t n_parts;           /* 0: a piece of parts[0] */
  struct selection rows;    /* of the piece */
  bool more_follows;        /* write the blocks alone that no further row could change */
  /* Results: */
  int64_t taken; /* rows written */
  bool stopped;  /* not all that there are to write: the worker's buffer holds what it may */
  int worker;    /* whose buffer has the blocks, at: */
  size_t start;
  size_t size;
  struct block_encode_stats stats;
};

struct encode_pool;
struct encode_worker;

/* Does task i on a worker's thread; a failure, told in worker->error, ends the round. */
typedef ashuf_status (*pool_function)(void *self, struct encode_worker *worker, size_t i);

struct encode_worker {
  struct encode_pool *pool;
  struct thread thread;
  struct part_encoder encoder;
  struct ashuf_buffer out;
  size_t failed; /* the task that failed here; SIZE_MAX: none */
  ashuf_status status;
  struct ashuf_error error;
};

struct encode_pool {
  ashuf_memory *memory; /* not a reference */
  struct encode_worker *workers;
  int n_workers;
  bool started;
  struct gate gate;
  const atomic_bool *cancelled; /* tasks are left alone once it is set */
  /* The round: */
  pool_function function;
  void *self;
  size_t n_tasks;
  atomic_size_t next;
  atomic_bool stop;
};

ashuf_status encode_pool_init(struct encode_pool *pool, int threads, const atomic_bool *cancelled,
                              ashuf_memory *memory, struct ashuf_error *error);
/* Takes one zero-initialised, and one twice. */
void encode_pool_free(struct encode_pool *pool);

/* Calls function for each task. After a failure (that of the first task is returned), or once
 * cancelled is set, some tasks were not done. */
ashuf_status encode_pool_do(struct encode_pool *pool, pool_function function, void *self, size_t n,
                            struct ashuf_error *error);

/* Does all tasks, as far as no worker's buffer comes to hold more than most bytes and a block; the
 * blocks of task i are then in the buffer of its worker. ids are what parts count in. */
ashuf_status encode_pool_run(struct encode_pool *pool, const struct source_set *set,
                             const struct ashuf_encode_options *options, const row_id *ids,
                             size_t most, struct encode_task *tasks, size_t n,
                             struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_ENCODE_POOL_H */

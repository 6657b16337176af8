/*
 * Blocks decoded ahead, in order.
 *
 *   read_source -> slots [ oldest ... newest ] -> read_queue_next
 *                     ^ decoded by workers, and by the caller while it waits
 *
 * The caller's thread alone reads files: it fills the free slots, then takes the oldest, which it
 * decodes itself where nobody has begun to. So with one thread there is one slot and no worker.
 * Workers stop while as many decoded bytes wait as the budget allows; one more block a thread may
 * be in work. Where memory runs out while slots are filled or decoded ahead, that is done again in
 * the slot's turn, when those in front of it are gone.
 *
 * Legal order: read_queue_open -> read_queue_next ... -> read_queue_close.
 */
#ifndef ASHUF_SHUFFLE_READ_QUEUE_H
#define ASHUF_SHUFFLE_READ_QUEUE_H

#include "os/thread.h"
#include "shuffle/read_source.h"

#define READ_THREADS_MOST 256
#define SLOTS_A_THREAD 4

enum { SITE_QUEUE_MEMORY = 1065, SITE_QUEUE_THREADS = 1066 };

enum slot_state { SLOT_READ, SLOT_BUSY, SLOT_DONE };

/* A decoded block. */
struct read_block {
  ashuf_schema *schema; /* a reference; NULL where it failed */
  struct ArrowArray batch;
  uint64_t stream_size; /* bytes of its IPC stream */
  int64_t rows;
  struct block_place place;
};

struct read_slot {
  enum slot_state state;
  struct ashuf_bytes block; /* release NULL: decoded, or none */
  struct block_place place;
  ashuf_status status;
  struct ashuf_error error;
  struct read_block decoded;
  uint64_t retained; /* bytes of the batch */
};

struct read_worker {
  struct read_queue *queue;
  struct thread thread;
  ashuf_ctx *ctx;
};

struct read_queue {
  ashuf_memory *memory; /* not a reference */
  struct read_source *source;
  struct ashuf_decode_options decode;
  uint64_t budget;
  ashuf_ctx *ctx; /* of the caller's thread */
  struct read_slot *slots;
  size_t n_slots;
  size_t oldest;
  size_t used;
  bool ended;       /* the source has no more, or failed */
  uint64_t waiting; /* decoded bytes in slots */
  struct read_worker *workers;
  int n_workers;
  bool locks; /* mutex and conditions exist */
  pthread_mutex_t mutex;
  pthread_cond_t work; /* a slot was filled, or taken, or stop */
  pthread_cond_t done; /* a slot was decoded */
  bool stop;
};

/* queue is zeroed; source is borrowed. threads >= 1. A thread that cannot be started is done
 * without. */
ashuf_status read_queue_open(struct read_queue *queue, struct read_source *source,
                             const struct ashuf_decode_options *decode, int threads,
                             uint64_t budget, ashuf_memory *memory, struct ashuf_error *error);
/* The next block; *found 0 at the end. After a failure only read_queue_close is legal. */
ashuf_status read_queue_next(struct read_queue *queue, int *found, struct read_block *out,
                             struct ashuf_error *error);
/* Takes one that was not opened, or half. */
void read_queue_close(struct read_queue *queue);

#endif /* ASHUF_SHUFFLE_READ_QUEUE_H */

/*
 * Threads, and the gate by which one thread sets several to work and waits for them.
 *
 * The library starts threads only where an option asks for them. They block all signals, which
 * stay the program's.
 *
 *   gate_init -> thread_start of workers, each in a loop over gate_wait
 *             -> gate_open (all workers start a round) -> gate_drain (all have called gate_done)
 *             -> gate_close (gate_wait returns false from now on) -> thread_join -> gate_free
 */
#ifndef ASHUF_OS_THREAD_H
#define ASHUF_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct thread {
  pthread_t id;
  bool started;
};

/* 0 or an errno. */
int thread_start(struct thread *thread, void *(*run)(void *), void *argument);
/* Takes one that was never started. */
void thread_join(struct thread *thread);

struct gate {
  pthread_mutex_t mutex;
  pthread_cond_t opened;
  pthread_cond_t drained;
  uint64_t round;
  int working;
  bool closed;
};

/* 0 or an errno. */
int gate_init(struct gate *gate);
void gate_free(struct gate *gate);
/* Waits for a round after *seen and takes part in it; false once the gate is closed. */
bool gate_wait(struct gate *gate, uint64_t *seen);
void gate_done(struct gate *gate);
/* Starts a round of n workers, who all wait. What was written before is seen by them. */
void gate_open(struct gate *gate, int n);
/* Waits until all of them are done. What they wrote is seen afterwards. */
void gate_drain(struct gate *gate);
void gate_close(struct gate *gate);

#endif /* ASHUF_OS_THREAD_H */

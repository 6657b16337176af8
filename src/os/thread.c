#include "os/thread.h"

#include <signal.h>

int thread_start(struct thread *thread, void *(*run)(void *), void *argument) {
  sigset_t all;
  sigset_t before;
  (void)sigfillset(&all);
  int failure = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (failure != 0) return failure;
  failure = pthread_create(&thread->id, NULL, run, argument);
  thread->started = failure == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failure;
}

void thread_join(struct thread *thread) {
  if (thread->started) (void)pthread_join(thread->id, NULL);
  thread->started = false;
}

int gate_init(struct gate *gate) {
  int failure = pthread_mutex_init(&gate->mutex, NULL);
  if (failure != 0) return failure;
  failure = pthread_cond_init(&gate->opened, NULL);
  if (failure == 0) {
    failure = pthread_cond_init(&gate->drained, NULL);
    if (failure != 0) (void)pthread_cond_destroy(&gate->opened);
  }
  if (failure != 0) (void)pthread_mutex_destroy(&gate->mutex);
  gate->round = 0;
  gate->working = 0;
  gate->closed = false;
  return failure;
}

void gate_free(struct gate *gate) {
  (void)pthread_cond_destroy(&gate->opened);
  (void)pthread_cond_destroy(&gate->drained);
  (void)pthread_mutex_destroy(&gate->mutex);
}

bool gate_wait(struct gate *gate, uint64_t *seen) {
  (void)pthread_mutex_lock(&gate->mutex);
  while (gate->round == *seen && !gate->closed)
    (void)pthread_cond_wait(&gate->opened, &gate->mutex);
  bool open = gate->round != *seen;
  *seen = gate->round;
  (void)pthread_mutex_unlock(&gate->mutex);
  return open;
}

void gate_done(struct gate *gate) {
  (void)pthread_mutex_lock(&gate->mutex);
  if (--gate->working == 0) (void)pthread_cond_signal(&gate->drained);
  (void)pthread_mutex_unlock(&gate->mutex);
}

void gate_open(struct gate *gate, int n) {
  (void)pthread_mutex_lock(&gate->mutex);
  gate->working = n;
  gate->round++;
  (void)pthread_cond_broadcast(&gate->opened);
  (void)pthread_mutex_unlock(&gate->mutex);
}

void gate_drain(struct gate *gate) {
  (void)pthread_mutex_lock(&gate->mutex);
  while (gate->working != 0) (void)pthread_cond_wait(&gate->drained, &gate->mutex);
  (void)pthread_mutex_unlock(&gate->mutex);
}

void gate_close(struct gate *gate) {
  (void)pthread_mutex_lock(&gate->mutex);
  gate->closed = true;
  (void)pthread_cond_broadcast(&gate->opened);
  (void)pthread_mutex_unlock(&gate->mutex);
}

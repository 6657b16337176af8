/* A host's memory manager that has several writers, and what writers say that they spilled. */
#include "shuffle/writer.h"

#include "support/scratch.h"
#include "support/writer_files.h"
#include "support/writer_runs.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

enum { MEMBERS = 2, ROWS = 100000, BATCH = 1000, PARTITIONS = 20, WAIT_MS = 5000 };

struct manager;

/* One writer of the manager's, with a thread that feeds it. */
struct member {
  struct manager *manager;
  const char *data;
  ashuf_writer *writer; /* NULL once it closes */
  uint64_t granted;
  bool waiting;
  ashuf_status status;
  struct ashuf_error error;
  struct ashuf_map_output numbers;
};

/* Grants most bytes to all together. Who finds no room has the other one spill, and waits for what
 * it gives back; where both wait, the one that has more is refused. */
struct manager {
  pthread_mutex_t lock;
  pthread_cond_t given_back;
  uint64_t most;
  uint64_t now;
  uint64_t peak;
  bool asks_in_grow;
  bool asks_all_the_time;
  uint64_t asks; /* of all writers, by the manager's thread */
  bool stop;
  struct member members[MEMBERS];
};

static struct member *other_of(const struct member *member) {
  struct manager *manager = member->manager;
  return &manager->members[member == manager->members];
}

static void ask_for_spill(struct member *member) {
  if (member->writer != NULL) ashuf_writer_request_spill(member->writer);
}

/* Whether there is hope; the lock is held. */
static bool wait_for(struct member *member, const struct timespec *until) {
  struct manager *manager = member->manager;
  struct member *other = other_of(member);
  if (!manager->asks_in_grow || other->writer == NULL) return false;
  if (other->waiting && member->granted >= other->granted) return false;
  ask_for_spill(other);
  pthread_cond_broadcast(&manager->given_back); /* the other one may have to give up */
  member->waiting = true;
  int failed = pthread_cond_timedwait(&manager->given_back, &manager->lock, until);
  member->waiting = false;
  return failed == 0;
}

static int grow(void *data, uint64_t bytes) {
  struct member *member = data;
  struct manager *manager = member->manager;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += WAIT_MS / 1000;
  pthread_mutex_lock(&manager->lock);
  bool fits = bytes <= manager->most - manager->now;
  while (!fits && bytes <= manager->most && wait_for(member, &until))
    fits = bytes <= manager->most - manager->now;
  if (fits) {
    manager->now += bytes;
    member->granted += bytes;
    if (manager->now > manager->peak) manager->peak = manager->now;
  }
  pthread_mutex_unlock(&manager->lock);
  return fits ? 0 : 1;
}

static void shrink(void *data, uint64_t bytes) {
  struct member *member = data;
  struct manager *manager = member->manager;
  pthread_mutex_lock(&manager->lock);
  manager->now -= bytes;
  member->granted -= bytes;
  pthread_cond_broadcast(&manager->given_back);
  pthread_mutex_unlock(&manager->lock);
}

static void set_writer(struct member *member, ashuf_writer *writer) {
  pthread_mutex_lock(&member->manager->lock);
  member->writer = writer;
  pthread_cond_broadcast(&member->manager->given_back);
  pthread_mutex_unlock(&member->manager->lock);
}

/* Half of the rows are in: until the manager's thread has asked. */
static void let_ask(struct manager *manager) {
  pthread_mutex_lock(&manager->lock);
  for (uint64_t first = manager->asks; manager->asks_all_the_time && manager->asks < first + 2;)
    pthread_cond_wait(&manager->given_back, &manager->lock);
  pthread_mutex_unlock(&manager->lock);
}

/* Fails no assertion: it may be another thread's. */
static void *feed(void *data) {
  struct member *member = data;
  struct ashuf_memory_options hooks = ASHUF_MEMORY_OPTIONS_INIT;
  struct ashuf_writer_options options = run_options();
  ashuf_partitioner *partitioner = files_partitioner(PARTITIONS);
  ashuf_writer *writer = NULL;
  hooks.grow = grow;
  hooks.shrink = shrink;
  hooks.user_data = member;
  member->numbers = (struct ashuf_map_output)ASHUF_MAP_OUTPUT_INIT;
  member->status = ashuf_memory_new(&hooks, &options.memory, &member->error);
  options.encode.max_rows = BATCH;
  if (member->status == ASHUF_OK)
    member->status =
        ashuf_writer_open_files(partitioner, &options, member->data, NULL, &writer, &member->error);
  set_writer(member, writer);
  for (int64_t i = 0; i < ROWS && member->status == ASHUF_OK; i += BATCH) {
    struct ArrowArray batch = output_array(output_batch(i, BATCH));
    if (i == ROWS / 2) let_ask(member->manager);
    member->status = ashuf_writer_push(writer, &batch, &member->error);
    if (batch.release != NULL) batch.release(&batch);
  }
  if (member->status == ASHUF_OK)
    member->status = ashuf_writer_finish(writer, &member->numbers, &member->error);
  set_writer(member, NULL);
  ashuf_writer_close(writer);
  ashuf_partitioner_free(partitioner);
  ashuf_memory_free(options.memory);
  return NULL;
}

/* Has all of them spill, again and again. */
static void *ask_all_the_time(void *data) {
  struct manager *manager = data;
  const struct timespec pause = {0, 2000000};
  pthread_mutex_lock(&manager->lock);
  while (!manager->stop) {
    for (int i = 0; i < MEMBERS; i++) ask_for_spill(&manager->members[i]);
    manager->asks++;
    pthread_cond_broadcast(&manager->given_back);
    pthread_mutex_unlock(&manager->lock);
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&manager->lock);
  }
  pthread_mutex_unlock(&manager->lock);
  return NULL;
}

/* What any writer of these rows writes. */
static uint8_t *write_alone(size_t *size) {
  struct manager manager = {.most = UINT64_MAX};
  pthread_mutex_init(&manager.lock, NULL);
  pthread_cond_init(&manager.given_back, NULL);
  struct member *member = &manager.members[0];
  *member = (struct member){.manager = &manager, .data = scratch_path("alone.data")};
  feed(member);
  expect_status(member->status, ASHUF_OK, &member->error);
  assert_int_equal(member->numbers.spills, 0);
  assert_int_equal(manager.now, 0);
  return scratch_read("alone.data", size);
}

static void share(uint64_t most, bool asks_in_grow, bool asks_all_the_time) {
  static const char *const names[MEMBERS] = {"a.data", "b.data"};
  struct manager manager = {
      .most = most, .asks_in_grow = asks_in_grow, .asks_all_the_time = asks_all_the_time};
  pthread_t threads[MEMBERS + 1];
  size_t size;
  uint8_t *expected = write_alone(&size);
  pthread_mutex_init(&manager.lock, NULL);
  pthread_cond_init(&manager.given_back, NULL);
  for (int i = 0; i < MEMBERS; i++)
    manager.members[i] = (struct member){.manager = &manager, .data = scratch_path(names[i])};
  if (asks_all_the_time)
    assert_int_equal(pthread_create(&threads[MEMBERS], NULL, ask_all_the_time, &manager), 0);
  for (int i = 0; i < MEMBERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, feed, &manager.members[i]), 0);
  for (int i = 0; i < MEMBERS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  pthread_mutex_lock(&manager.lock);
  manager.stop = true;
  pthread_mutex_unlock(&manager.lock);
  if (asks_all_the_time) assert_int_equal(pthread_join(threads[MEMBERS], NULL), 0);
  for (int i = 0; i < MEMBERS; i++) {
    size_t found_size;
    struct member *member = &manager.members[i];
    expect_status(member->status, ASHUF_OK, &member->error);
    assert_true(member->numbers.spills > 0);
    uint8_t *found = scratch_read(names[i], &found_size);
    assert_int_equal(found_size, size);
    assert_memory_equal(found, expected, size);
    free(found);
  }
  assert_int_equal(scratch_count(), 2 * (MEMBERS + 1)); /* data and checksums */
  assert_int_equal(manager.now, 0);
  assert_true(manager.peak <= most);
  free(expected);
}

static void t36_a_host_makes_another_writer_spill_inside_grow(void **state) {
  (void)state;
  share((uint64_t)10 << 20, true, false);
}

static void t36_a_host_makes_writers_spill_from_its_own_thread(void **state) {
  (void)state;
  share((uint64_t)64 << 20, false, true);
}

static void t36_a_host_does_both(void **state) {
  (void)state;
  share((uint64_t)10 << 20, true, true);
}

/* ---- What was spilled --------------------------------------------------------------------- */

enum { COLUMNS = 8, SPILLED_ROWS = 8192 };

/* One column of eight that no codec makes smaller. */
static struct ArrowArray one_in_eight(struct test_random *random, struct test_column *model) {
  static int64_t values[SPILLED_ROWS];
  struct test_column columns[COLUMNS];
  for (int c = 0; c < COLUMNS; c++) {
    for (int i = 0; i < SPILLED_ROWS; i++) values[i] = c == 0 ? (int64_t)random_next(random) : c;
    columns[c] = column_int64("c", values, NULL, SPILLED_ROWS);
  }
  struct test_column batch = batch_of(columns, COLUMNS);
  if (model == NULL) return output_array(batch);
  *model = batch;
  return batch.array;
}

static uint64_t size_of_files(const struct spill_set *spills) {
  uint64_t size = 0;
  for (size_t i = 0; i < spills->n_files; i++) {
    struct stat stat;
    if (spills->files[i].fd < 0) continue;
    assert_int_equal(fstat(spills->files[i].fd, &stat), 0);
    size += (uint64_t)stat.st_size;
  }
  return size;
}

static void t39_counters_of_spilled_bytes_are_those_of_memory_and_of_files(void **state) {
  (void)state;
  const int64_t batches = 64; /* 32 MiB of values */
  struct test_random random = {39};
  struct test_column model;
  struct ashuf_writer_options options = run_options();
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_error error = {0};
  ashuf_writer *writer;
  options.memory_limit = (uint64_t)8 << 20;
  options.spill_codec = ASHUF_CODEC_LZ4;
  struct ArrowArray batch = one_in_eight(&random, &model);
  ashuf_partitioner *partitioner = output_partitioner(&model.schema, 4);
  model.schema.release(&model.schema);
  expect_status(ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA), NULL,
                                        &writer, &error),
                ASHUF_OK, &error);
  ashuf_partitioner_free(partitioner);
  for (int64_t i = 0; i < batches; i++) {
    if (i != 0) batch = one_in_eight(&random, NULL);
    expect_status(ashuf_writer_push(writer, &batch, &error), ASHUF_OK, &error);
  }
  ashuf_writer_request_spill(writer); /* the rest too */
  batch = one_in_eight(&random, NULL);
  expect_status(ashuf_writer_push(writer, &batch, &error), ASHUF_OK, &error);
  uint64_t files = size_of_files(&writer->spills);
  uint64_t held = batch_store_held(&writer->store);
  expect_status(ashuf_writer_finish(writer, &output, &error), ASHUF_OK, &error);
  uint64_t values = (uint64_t)batches * SPILLED_ROWS * COLUMNS * 8;
  assert_true(output.spills >= 4);
  assert_true(output.memory_spilled >= values);
  assert_true(output.memory_spilled < values + values / 3);
  assert_true(held < values / 16);
  assert_int_equal(output.disk_spilled, files);
  assert_true(output.disk_spilled > values / 8);
  assert_true(output.disk_spilled < output.memory_spilled / 8);
  ashuf_writer_close(writer);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(t36_a_host_makes_another_writer_spill_inside_grow),
      CASE(t36_a_host_makes_writers_spill_from_its_own_thread),
      CASE(t36_a_host_does_both),
      CASE(t39_counters_of_spilled_bytes_are_those_of_memory_and_of_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

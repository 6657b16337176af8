/*
 * Whoever a writer depends on lets it down at each of their calls in turn: the allocator while
 * several threads encode, the host's memory manager, the sink, whoever cancels. Whatever happens:
 * the same bytes as without, or an error that says so; the sink aborted once, nothing charged, no
 * file left, a handle that refuses more work (run_writer sees to the first of these).
 */
#include "shuffle/writer.h"

#include "support/scratch.h"
#include "support/writer_files.h"
#include "support/writer_runs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARTITIONS 5

/* What a host does when its turn has come. */
enum act { FAIL_ONCE, FAIL_ON, SPILL, CANCEL };

/* Counts calls of one kind, by any thread; acts at number at, and behind it where it FAILs ON. */
struct host {
  atomic_int calls;
  int at;
  enum act act;
  ashuf_writer *writer;
  atomic_llong granted; /* bytes */
  atomic_bool acted;
};

static bool turn(struct host *host) {
  int call = atomic_fetch_add(&host->calls, 1) + 1;
  if (call != host->at && (host->act != FAIL_ON || call < host->at)) return false;
  atomic_store(&host->acted, true);
  if (host->act == SPILL && host->writer != NULL) ashuf_writer_request_spill(host->writer);
  if (host->act == CANCEL && host->writer != NULL) ashuf_writer_cancel(host->writer);
  return host->act == FAIL_ONCE || host->act == FAIL_ON;
}

static void meet(ashuf_writer *writer, int64_t batch, void *data) {
  struct host *host = data;
  (void)batch;
  host->writer = writer;
}

static void *host_allocate(void *data, size_t size, size_t alignment) {
  void *pointer = NULL;
  if (turn(data) || posix_memalign(&pointer, alignment, size) != 0) return NULL;
  return pointer;
}
static void host_release(void *data, void *pointer, size_t size, size_t alignment) {
  (void)data;
  (void)size;
  (void)alignment;
  free(pointer);
}
static int host_grow(void *data, uint64_t bytes) {
  struct host *host = data;
  if (turn(host)) return 1;
  atomic_fetch_add(&host->granted, (long long)bytes);
  return 0;
}
static void host_shrink(void *data, uint64_t bytes) {
  struct host *host = data;
  long long before = atomic_fetch_sub(&host->granted, (long long)bytes);
  assert_true(before >= (long long)bytes);
}

/* The ways a writer goes: with and without spill files, one thread and several. */
static const struct way {
  uint64_t limit;
  int threads;
  size_t slab_bytes;
} ways[] = {{0, 1, 0}, {0, 3, 4000}, {1, 1, 0}, {20000, 2, 3000}};
#define WAYS (sizeof ways / sizeof *ways)

static const struct run_rows rows = {{"u", "dict:c(u)", "list(vu)"}, 3, 20, 250, 5, RUN_HASH};

static struct ashuf_writer_options options_of(const struct way *way) {
  struct ashuf_writer_options options = run_options();
  options.memory_limit = way->limit;
  options.threads = way->threads;
  options.encode.max_rows = 30;
  writer_slab_bytes = way->slab_bytes;
  writer_round_bytes = 2000;
  return options;
}

static void write_expected(struct run_output *out) {
  const struct way plain = {0, 1, 0};
  struct ashuf_writer_options options = options_of(&plain);
  struct run_batch_sizes all = {1, rows.n_rows};
  run_writer(&rows, &all, PARTITIONS, &options, NULL, NULL, out);
  expect_status(out->status, ASHUF_OK, &out->error);
}

/* One run with a memory domain of the host's; whether its turn came. */
static bool run_with(struct host *host, const struct ashuf_memory_options *hooks,
                     const struct way *way, const struct run_output *expected,
                     ashuf_status failure) {
  struct ashuf_writer_options options = options_of(way);
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  struct run_batch_sizes sizes = {2, 90};
  struct run_output found;
  assert_int_equal(ashuf_memory_new(hooks, &options.memory, NULL), ASHUF_OK);
  run_writer(&rows, &sizes, PARTITIONS, &options, meet, host, &found);
  host->writer = NULL;
  if (found.status == ASHUF_OK)
    run_expect_equal(&found, expected);
  else
    expect_status(found.status, failure, &found.error);
  if (found.status != ASHUF_OK) assert_true(atomic_load(&host->acted));
  run_output_free(&found);
  ashuf_memory_get_stats(options.memory, &stats);
  assert_int_equal(stats.now, 0);
  ashuf_memory_free(options.memory);
  return atomic_load(&host->acted);
}

/* From the first call to the first run that has none left; every call near the ends, else steps. */
static void sweep(bool grows, enum act act, ashuf_status failure) {
  struct run_output expected;
  write_expected(&expected);
  for (size_t i = 0; i < WAYS; i++)
    for (int at = 1;; at += 1 + at / 20) {
      struct host host = {.at = at, .act = act};
      struct ashuf_memory_options hooks = ASHUF_MEMORY_OPTIONS_INIT;
      if (grows) {
        hooks.grow = host_grow;
        hooks.shrink = host_shrink;
      } else {
        hooks.allocate = host_allocate;
        hooks.release = host_release;
      }
      hooks.user_data = &host;
      bool acted = run_with(&host, &hooks, &ways[i], &expected, failure);
      assert_int_equal(atomic_load(&host.granted), 0);
      if (!acted) break;
    }
  run_output_free(&expected);
}

static void an_allocator_that_refuses_once(void **state) {
  (void)state;
  sweep(false, FAIL_ONCE, ASHUF_OUT_OF_MEMORY);
}
static void an_allocator_that_refuses_from_a_call_on(void **state) {
  (void)state;
  sweep(false, FAIL_ON, ASHUF_OUT_OF_MEMORY);
}
static void a_host_that_refuses_to_grow_once(void **state) {
  (void)state;
  sweep(true, FAIL_ONCE, ASHUF_MEMORY_LIMIT);
}
static void a_host_that_refuses_to_grow_from_a_call_on(void **state) {
  (void)state;
  sweep(true, FAIL_ON, ASHUF_MEMORY_LIMIT);
}
static void t23_a_host_that_asks_for_a_spill_while_it_is_asked_for_memory(void **state) {
  (void)state;
  sweep(true, SPILL, ASHUF_OK);
}
static void a_host_that_cancels_while_it_is_asked_for_memory(void **state) {
  (void)state;
  sweep(true, CANCEL, ASHUF_CANCELLED);
}

/* ---- Sinks and callbacks ------------------------------------------------------------------ */

/* A sink whose calls are the host's turns. */
static struct failing_sink {
  struct host host;
  int which; /* 0 begin, 1 bytes, 2 end, 3 finish, 4 progress */
  int aborted;
} failing;

static int sink_turn(int which) {
  return failing.which == which && turn(&failing.host) ? ENOSPC : 0;
}
static int sink_begin(void *data, int32_t partition) {
  (void)data;
  (void)partition;
  return sink_turn(0);
}
static int sink_bytes(void *data, const void *bytes, size_t size) {
  (void)data;
  assert_non_null(bytes);
  assert_true(size > 0);
  return sink_turn(1);
}
static int sink_end(void *data, int32_t partition, uint64_t size, uint32_t checksum) {
  (void)data;
  (void)partition;
  (void)size;
  (void)checksum;
  return sink_turn(2);
}
static int sink_finish(void *data, const struct ashuf_map_output *output) {
  (void)data;
  assert_int_equal(output->total_rows, 1200);
  return sink_turn(3);
}
static void sink_abort(void *data) {
  (void)data;
  failing.aborted++;
}
static int progress(void *data, int64_t pushed, int64_t written) {
  (void)data;
  assert_true(pushed >= written);
  return sink_turn(4) != 0;
}

static ashuf_status write_to_sink(const struct way *way, ashuf_memory *memory,
                                  struct ashuf_error *error) {
  struct ashuf_sink sink = ASHUF_SINK_INIT;
  struct ashuf_writer_options options = options_of(way);
  ashuf_writer *writer = NULL;
  ashuf_partitioner *partitioner = files_partitioner(PARTITIONS);
  ashuf_status status = ASHUF_OK;
  sink.partition_begin = sink_begin;
  sink.bytes = sink_bytes;
  sink.partition_end = sink_end;
  sink.finish = sink_finish;
  sink.abort = sink_abort;
  options.progress = progress;
  options.memory = memory;
  expect_status(ashuf_writer_open_sink(partitioner, &options, &sink, &writer, error), ASHUF_OK,
                error);
  ashuf_partitioner_free(partitioner);
  failing.host.writer = writer;
  for (int64_t i = 0; i < 4 && status == ASHUF_OK; i++) {
    struct ArrowArray batch = output_array(output_batch(i * 300, 300));
    status = ashuf_writer_push(writer, &batch, error);
    if (batch.release != NULL) batch.release(&batch);
  }
  if (status == ASHUF_OK) status = ashuf_writer_finish(writer, NULL, error);
  assert_int_equal(failing.aborted, status != ASHUF_OK);
  struct ArrowArray more = output_array(output_batch(0, 1));
  assert_int_equal(ashuf_writer_push(writer, &more, NULL), ASHUF_INVALID_STATE);
  more.release(&more);
  assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_INVALID_STATE);
  ashuf_writer_close(writer);
  assert_int_equal(failing.aborted, status != ASHUF_OK);
  return status;
}

static void sweep_sink(enum act act, int which, ashuf_status failure) {
  for (size_t i = 0; i < WAYS; i++)
    for (int at = 1;; at += 1 + at / 12) {
      struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
      ashuf_memory *memory;
      struct ashuf_error error = {0};
      memset(&failing, 0, sizeof failing);
      failing.host.act = act;
      failing.host.at = at;
      failing.which = which;
      assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
      ashuf_status status = write_to_sink(&ways[i], memory, &error);
      ashuf_memory_get_stats(memory, &stats);
      assert_int_equal(stats.now, 0);
      ashuf_memory_free(memory);
      if (!atomic_load(&failing.host.acted)) {
        expect_status(status, ASHUF_OK, &error);
        assert_true(at > 1);
        break;
      }
      /* Too late: nothing comes behind the last call. */
      if (act == CANCEL && status == ASHUF_OK) continue;
      expect_status(status, failure, &error);
      if (failure == ASHUF_IO) assert_int_equal(error.os_errno, ENOSPC);
    }
}

static void t38_a_sink_that_fails_at_any_of_its_calls(void **state) {
  (void)state;
  for (int which = 0; which < 4; which++) sweep_sink(FAIL_ONCE, which, ASHUF_IO);
}
static void a_callback_that_cancels_at_any_of_its_calls(void **state) {
  (void)state;
  sweep_sink(FAIL_ONCE, 4, ASHUF_CANCELLED);
}
static void a_writer_cancelled_from_any_call_of_its_sink(void **state) {
  (void)state;
  for (int which = 0; which < 5; which++) sweep_sink(CANCEL, which, ASHUF_CANCELLED);
}
static void t23_a_spill_asked_for_in_any_call_of_a_sink(void **state) {
  (void)state;
  for (int which = 0; which < 5; which++) sweep_sink(SPILL, which, ASHUF_OK);
}

/* ---- Closed at every stage ---------------------------------------------------------------- */

static void t38_a_writer_may_be_closed_at_any_stage(void **state) {
  (void)state;
  for (size_t i = 0; i < WAYS; i++)
    for (int batches = 0; batches < 6; batches++) {
      struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
      struct ashuf_writer_options options = options_of(&ways[i]);
      assert_int_equal(ashuf_memory_new(NULL, &options.memory, NULL), ASHUF_OK);
      ashuf_writer *writer = files_open(&options, PARTITIONS, OUTPUT_INDEX);
      for (int k = 0; k < batches; k++) {
        files_push(writer, k * 300, 300);
        if (k % 2 == 1) ashuf_writer_request_spill(writer);
      }
      assert_int_equal(scratch_count(), 3);
      ashuf_writer_close(writer);
      assert_int_equal(scratch_count(), 0);
      ashuf_memory_get_stats(options.memory, &stats);
      assert_int_equal(stats.now, 0);
      ashuf_memory_free(options.memory);
    }
}

static int restore(void **state) {
  writer_slab_bytes = 0;
  writer_round_bytes = 0;
  return scratch_teardown(state);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_setup, restore)
  const struct CMUnitTest tests[] = {
      CASE(an_allocator_that_refuses_once),
      CASE(an_allocator_that_refuses_from_a_call_on),
      CASE(a_host_that_refuses_to_grow_once),
      CASE(a_host_that_refuses_to_grow_from_a_call_on),
      CASE(t23_a_host_that_asks_for_a_spill_while_it_is_asked_for_memory),
      CASE(a_host_that_cancels_while_it_is_asked_for_memory),
      CASE(t38_a_sink_that_fails_at_any_of_its_calls),
      CASE(a_callback_that_cancels_at_any_of_its_calls),
      CASE(a_writer_cancelled_from_any_call_of_its_sink),
      CASE(t23_a_spill_asked_for_in_any_call_of_a_sink),
      CASE(t38_a_writer_may_be_closed_at_any_stage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

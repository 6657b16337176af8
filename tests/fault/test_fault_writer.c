/*
 * T19: a map output written with every system call failing in turn, interrupted, or cut short;
 * and with every allocation failing in turn. Whatever happens: an error that says so or complete
 * files, nothing charged, no file left, a handle that refuses more work.
 */
#include "support/fault.h"
#include "support/map_outputs.h"
#include "support/os_faults.h"
#include "support/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARTITIONS 3
#define ROWS 2000
#define BATCHES 4

/* Whether runs are spilled on the way, and checksums written: the data and index must not differ.
 */
static bool spilling;

static int files(void) { return spilling ? 3 : 2; }

/* The files of a run without faults: what every successful run must write. */
static uint8_t *good_data;
static uint8_t *good_index;
static size_t good_data_size;
static size_t good_index_size;

struct run {
  ashuf_memory *memory;
  ashuf_status status;
  struct ashuf_error error;
};

static int group_setup(void **state) {
  (void)state;
  (void)scratch_begin();
  return 0;
}
static int group_teardown(void **state) {
  (void)state;
  os_faults_stop();
  scratch_end();
  free(good_data);
  free(good_index);
  return 0;
}

/* A handle that has failed takes nothing more, and a batch offered to it stays the caller's. */
static void expect_refusal(ashuf_writer *writer) {
  struct ArrowArray batch = output_array(output_batch(0, 3));
  assert_int_equal(ashuf_writer_push(writer, &batch, NULL), ASHUF_INVALID_STATE);
  assert_non_null(batch.release);
  batch.release(&batch);
  assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_INVALID_STATE);
}

static ashuf_status push_all(ashuf_writer *writer, struct ashuf_error *error) {
  for (int64_t i = 0; i < BATCHES; i++) {
    struct ArrowArray batch = output_array(output_batch(i * ROWS / BATCHES, ROWS / BATCHES));
    ashuf_status status = ashuf_writer_push(writer, &batch, error);
    assert_true((batch.release == NULL) == (status == ASHUF_OK));
    if (batch.release != NULL) batch.release(&batch);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

/* One whole life of a writer. */
static ashuf_status write_output(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  ashuf_writer *writer = NULL;
  (void)data;
  options.memory = memory;
  options.sync = 1;
  options.memory_limit = spilling ? 1 : 0;
  options.checksum = spilling ? ASHUF_CHECKSUM_CRC32 : ASHUF_CHECKSUM_NONE;
  options.encode = (struct ashuf_encode_options)ASHUF_ENCODE_OPTIONS_INIT;
  options.encode.max_rows = 256;
  struct test_column model = output_batch(0, 1);
  ashuf_partitioner *partitioner = output_partitioner(&model.schema, PARTITIONS);
  column_free(&model);
  ashuf_status status = ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA),
                                                scratch_path(OUTPUT_INDEX), &writer, error);
  ashuf_partitioner_free(partitioner);
  if (status != ASHUF_OK) {
    assert_null(writer);
    return status;
  }
  status = push_all(writer, error);
  if (status == ASHUF_OK) status = ashuf_writer_finish(writer, NULL, error);
  expect_refusal(writer);
  ashuf_writer_close(writer);
  return status;
}

static void run_once(struct run *run, enum os_fault kind, int n, int code) {
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  memset(run, 0, sizeof *run);
  assert_int_equal(ashuf_memory_new(NULL, &run->memory, NULL), ASHUF_OK);
  os_faults_start(kind, n, code);
  run->status = write_output(run->memory, &run->error, NULL);
  os_faults_stop();
  assert_int_equal(os_faults_open(), 0);
  ashuf_memory_get_stats(run->memory, &stats);
  assert_int_equal(stats.now, 0);
  ashuf_memory_free(run->memory);
}

static void expect_good_files(void) {
  size_t size;
  uint8_t *bytes = scratch_read(OUTPUT_DATA, &size);
  assert_non_null(bytes);
  assert_int_equal(size, good_data_size);
  assert_memory_equal(bytes, good_data, size);
  free(bytes);
  bytes = scratch_read(OUTPUT_INDEX, &size);
  assert_non_null(bytes);
  assert_int_equal(size, good_index_size);
  assert_memory_equal(bytes, good_index, size);
  free(bytes);
  assert_int_equal(scratch_count(), files());
}

/* The calls of a run without faults. */
static int count_calls(void) {
  struct run run;
  scratch_clear();
  run_once(&run, FAULT_NONE, 0, 0);
  int n = os_faults_calls();
  assert_int_equal(run.status, ASHUF_OK);
  if (good_data == NULL) {
    good_data = scratch_read(OUTPUT_DATA, &good_data_size);
    good_index = scratch_read(OUTPUT_INDEX, &good_index_size);
    assert_non_null(good_data);
    assert_non_null(good_index);
  }
  expect_good_files();
  return n;
}

static void sweep_errors(int code) {
  int n = count_calls();
  assert_true(n > 15);
  for (int i = 1; i <= n; i++) {
    struct run run;
    scratch_clear();
    run_once(&run, FAULT_ERROR, i, code);
    assert_true(os_faults_hit());
    if (run.status == ASHUF_OK) {
      /* Only a descriptor that nothing was written to, or nobody needs any more, may fail to close
       * unnoticed: a directory's, a spill file's. */
      assert_string_equal(os_faults_name(), "close");
      expect_good_files();
      continue;
    }
    assert_int_equal(run.status, ASHUF_IO);
    assert_int_equal(run.error.status, ASHUF_IO);
    assert_int_equal(run.error.os_errno, code);
    assert_int_equal(scratch_count(), 0);
  }
}

static void t19_no_space_at_every_call_leaves_no_file(void **state) {
  (void)state;
  sweep_errors(ENOSPC);
}

static void t19_an_io_error_at_every_call_leaves_no_file(void **state) {
  (void)state;
  sweep_errors(EIO);
}

/* Everything fails from a call on, but what takes back. */
static void t19_a_device_that_stays_broken_leaves_no_file(void **state) {
  (void)state;
  int n = count_calls();
  for (int i = 1; i <= n; i++) {
    struct run run;
    scratch_clear();
    run_once(&run, FAULT_ERROR_ON, i, EIO);
    if (run.status == ASHUF_OK) {
      expect_good_files();
      continue;
    }
    assert_int_equal(run.status, ASHUF_IO);
    assert_int_equal(scratch_count(), 0);
  }
}

static void t19_interrupted_calls_change_nothing(void **state) {
  (void)state;
  int n = count_calls();
  for (int i = 1; i <= n; i++) {
    struct run run;
    scratch_clear();
    run_once(&run, FAULT_EINTR, i, 0);
    assert_int_equal(run.status, ASHUF_OK);
    expect_good_files();
  }
}

static void t19_short_writes_change_nothing(void **state) {
  (void)state;
  int n = count_calls();
  for (int i = 1; i <= n; i++) {
    struct run run;
    scratch_clear();
    run_once(&run, FAULT_SHORT, i, 0);
    assert_int_equal(run.status, ASHUF_OK);
    expect_good_files();
  }
}

/* An attempt that fails over the output of an earlier one leaves that as it was. */
static void t19_a_failed_attempt_keeps_the_earlier_output(void **state) {
  (void)state;
  int n = count_calls();
  for (int i = 1; i <= n; i++) {
    struct run run;
    scratch_clear();
    scratch_write(OUTPUT_DATA, "earlier", 7);
    scratch_write(OUTPUT_INDEX, "earlier index", 13);
    run_once(&run, FAULT_ERROR, i, ENOSPC);
    if (run.status == ASHUF_OK) continue;
    size_t size;
    uint8_t *data = scratch_read(OUTPUT_DATA, &size);
    assert_non_null(data);
    assert_int_equal(size, 7);
    free(data);
    uint8_t *index = scratch_read(OUTPUT_INDEX, &size);
    assert_non_null(index);
    assert_int_equal(size, 13);
    free(index);
    assert_int_equal(scratch_count(), 2);
  }
}

static ashuf_status write_and_check(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  scratch_clear();
  ashuf_status status = write_output(memory, error, data);
  assert_int_equal(scratch_count(), status == ASHUF_OK ? files() : 0);
  return status;
}

static void every_failed_allocation_leaves_no_file(void **state) {
  (void)state;
  fault_sweep(write_and_check, NULL);
}

static int spill(void **state) {
  (void)state;
  spilling = true;
  return 0;
}
/* Spill files that have a name for a moment. */
static int spill_named(void **state) {
  os_faults_nameless(false);
  return spill(state);
}
static int keep(void **state) {
  (void)state;
  os_faults_nameless(true);
  spilling = false;
  return 0;
}

#define SPILLING(name) \
  { #name " while spilling", name, spill, keep, NULL }

#define NAMED(name) \
  { #name " while spilling to named files", name, spill_named, keep, NULL }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t19_no_space_at_every_call_leaves_no_file),
      cmocka_unit_test(t19_an_io_error_at_every_call_leaves_no_file),
      cmocka_unit_test(t19_a_device_that_stays_broken_leaves_no_file),
      cmocka_unit_test(t19_interrupted_calls_change_nothing),
      cmocka_unit_test(t19_short_writes_change_nothing),
      cmocka_unit_test(t19_a_failed_attempt_keeps_the_earlier_output),
      cmocka_unit_test(every_failed_allocation_leaves_no_file),
      SPILLING(t19_no_space_at_every_call_leaves_no_file),
      SPILLING(t19_an_io_error_at_every_call_leaves_no_file),
      SPILLING(t19_a_device_that_stays_broken_leaves_no_file),
      SPILLING(t19_interrupted_calls_change_nothing),
      SPILLING(t19_short_writes_change_nothing),
      SPILLING(t19_a_failed_attempt_keeps_the_earlier_output),
      SPILLING(every_failed_allocation_leaves_no_file),
      NAMED(t19_no_space_at_every_call_leaves_no_file),
      NAMED(t19_a_device_that_stays_broken_leaves_no_file),
      NAMED(t19_interrupted_calls_change_nothing),
  };
  return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

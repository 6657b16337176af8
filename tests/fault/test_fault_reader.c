/*
 * T19, T38: map outputs read with every system call failing in turn, interrupted, or cut short,
 * and with every allocation failing in turn. Whatever happens: an error that says so or all rows,
 * nothing charged, no descriptor left.
 */
#include "codec/checksum.h"
#include "support/fault.h"
#include "support/os_faults.h"
#include "support/read_rows.h"
#include "support/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROWS (2 * 6 * 8)

static char path_text[2][768];
static const char *paths[] = {path_text[0], path_text[1]};

/* Plain and dictionary blocks in turn, a checksum file beside the first output. */
static void write_output(int map) {
  static const char *const words[] = {"a", NULL, "bee", "", "a", "sea", NULL, "bee"};
  static const char *const values[] = {"sea", "", "bee", "a"};
  static const int64_t indices[] = {3, 0, 2, 1, 3, 0, 0, 2};
  struct block_file file = {0};
  char stem[] = "shuffle_4_0_0";
  stem[10] = (char)('0' + map);
  for (int i = 0; i < 6; i++) {
    struct test_column column = i % 2 == 0 ? column_strings("w", "u", words, 8)
                                           : column_dictionary("w", "c", indices, "10111101", 8,
                                                               column_strings("", "u", values, 4));
    block_file_put(&file, batch_of(&column, 1), i % 3 == 0 ? ASHUF_CODEC_NONE : ASHUF_CODEC_LZ4);
    if (i % 2 == 1) block_file_end_partition(&file);
  }
  block_file_write(&file, stem, map == 0 ? CHECKSUM_CRC32C : CHECKSUM_NONE);
  char name[32];
  (void)snprintf(name, sizeof name, "%s.data", stem);
  (void)snprintf(path_text[map], sizeof path_text[map], "%s", scratch_path(name));
}

static int setup(void **state) {
  (void)state;
  (void)scratch_begin();
  write_output(0);
  write_output(1);
  return 0;
}
struct way {
  int verify;
  int threads;
  int64_t target_rows;
  const char *column;   /* projection, or NULL */
  const char *expected; /* index type of a dictionary, or NULL */
};

static ashuf_status drain(struct ArrowArrayStream *stream, int64_t *rows,
                          struct ashuf_error *error) {
  for (;;) {
    struct ArrowArray batch;
    if (stream->get_next(stream, &batch) != 0) {
      struct ashuf_error failure;
      assert_int_equal(ashuf_stream_get_error(stream, &failure), 1);
      /* It stays. */
      assert_int_not_equal(stream->get_next(stream, &batch), 0);
      if (error != NULL) *error = failure;
      return failure.status;
    }
    if (batch.release == NULL) return ASHUF_OK;
    *rows += batch.length;
    batch.release(&batch);
  }
}

static ashuf_status import_expected(const char *index, ashuf_memory *memory, ashuf_schema **out,
                                    struct ashuf_error *error) {
  struct test_column column =
      column_dictionary("w", index, NULL, NULL, 0, column_strings("", "u", NULL, 0));
  struct test_column batch = batch_of(&column, 1);
  ashuf_status status = ashuf_schema_import(&batch.schema, memory, out, error);
  column_free(&batch);
  return status;
}

static ashuf_status read_all(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  const struct way *way = data;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  struct ArrowArrayStream stream;
  ashuf_schema *expected = NULL;
  int64_t rows = 0;
  ashuf_status status = ASHUF_OK;
  options.memory = memory;
  options.verify = way->verify;
  options.threads = way->threads;
  options.target_rows = way->target_rows;
  options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
  if (way->column != NULL) {
    options.decode.projection_names = &way->column;
    options.decode.n_projection = 1;
  }
  if (way->expected != NULL) status = import_expected(way->expected, memory, &expected, error);
  options.decode.expected = expected;
  if (status == ASHUF_OK) status = ashuf_read_files(paths, 2, &options, &stream, error);
  ashuf_schema_free(expected);
  if (status != ASHUF_OK) return status;
  status = drain(&stream, &rows, error);
  stream.release(&stream);
  if (status == ASHUF_OK) assert_int_equal(rows, ROWS);
  return status;
}

static struct way ways[] = {{ASHUF_VERIFY_BEFORE, 1, 0, NULL, NULL},
                            {ASHUF_VERIFY_TRAILING, 1, 20, "w", NULL},
                            {ASHUF_VERIFY_OFF, 1, 1000, NULL, "i"}};
#define WAYS (sizeof ways / sizeof *ways)

static void every_allocation_may_fail(void **state) {
  (void)state;
  for (size_t i = 0; i < WAYS; i++) fault_sweep(read_all, &ways[i]);
}

static int count_calls(struct way *way) {
  os_faults_start(FAULT_NONE, 0, 0);
  assert_int_equal(read_all(NULL, NULL, way), ASHUF_OK);
  int n = os_faults_calls();
  os_faults_stop();
  return n;
}

static void every_call_may_fail(void **state) {
  (void)state;
  for (size_t i = 0; i < WAYS; i++)
    for (int n = count_calls(&ways[i]), call = 1; call <= n; call++) {
      os_faults_start(FAULT_ERROR, call, EIO);
      ashuf_status status = read_all(NULL, NULL, &ways[i]);
      bool harmless = strcmp(os_faults_name(), "close") == 0;
      assert_int_equal(status, harmless ? ASHUF_OK : ASHUF_IO);
      assert_int_equal(os_faults_open(), 0);
      os_faults_stop();
    }
}

/* With threads a failed call is the same error as without, at every call. */
static void threads_change_no_error_of_a_call(void **state) {
  (void)state;
  for (size_t i = 0; i < WAYS; i++) {
    struct way two = ways[i];
    two.threads = 2;
    int n = count_calls(&ways[i]);
    assert_int_equal(count_calls(&two), n);
    for (int call = 1; call <= n; call++) {
      struct ashuf_error errors[2] = {{0}, {0}};
      ashuf_status found[2];
      for (int k = 0; k < 2; k++) {
        struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
        ashuf_memory *memory;
        assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
        os_faults_start(FAULT_ERROR, call, EIO);
        found[k] = read_all(memory, &errors[k], k == 0 ? &ways[i] : &two);
        assert_int_equal(os_faults_open(), 0);
        os_faults_stop();
        ashuf_memory_get_stats(memory, &stats);
        assert_int_equal(stats.now, 0);
        ashuf_memory_free(memory);
      }
      assert_int_equal(found[1], found[0]);
      assert_int_equal(errors[1].os_errno, errors[0].os_errno);
      assert_int_equal(errors[1].site, errors[0].site);
      assert_string_equal(errors[1].message, errors[0].message);
    }
  }
}

static void interruptions_and_short_reads_change_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < WAYS; i++)
    for (int n = count_calls(&ways[i]), call = 1; call <= n; call++)
      for (int kind = FAULT_EINTR; kind <= FAULT_SHORT; kind++) {
        struct way way = ways[i];
        way.threads = 1 + call % 2;
        os_faults_start((enum os_fault)kind, call, 0);
        assert_int_equal(read_all(NULL, NULL, &way), ASHUF_OK);
        assert_int_equal(os_faults_open(), 0);
        os_faults_stop();
      }
}

/* With threads allocations come in any order: a limit, a little higher each time. */
static void every_limit_is_an_error_or_all_rows_with_threads_too(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads++) {
    struct way way = {ASHUF_VERIFY_BEFORE, threads, 30, NULL, NULL};
    int good = 0;
    for (uint64_t limit = 64; good < 5; limit += limit / 16 + 1) {
      struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
      struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
      ashuf_memory *memory;
      options.limit = limit;
      assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
      ashuf_status status = read_all(memory, NULL, &way);
      assert_true(status == ASHUF_OK || status == ASHUF_MEMORY_LIMIT ||
                  status == ASHUF_OUT_OF_MEMORY);
      ashuf_memory_get_stats(memory, &stats);
      assert_int_equal(stats.now, 0);
      assert_true(stats.peak <= limit);
      good += status == ASHUF_OK;
      ashuf_memory_free(memory);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(every_call_may_fail),
      cmocka_unit_test(threads_change_no_error_of_a_call),
      cmocka_unit_test(interruptions_and_short_reads_change_nothing),
      cmocka_unit_test(every_limit_is_an_error_or_all_rows_with_threads_too),
  };
  return cmocka_run_group_tests(tests, setup, scratch_teardown);
}

/* Rows in spill files: how many files, what is counted, what becomes of damage. */
#include "shuffle/writer.h"

#include "support/scratch.h"
#include "support/writer_files.h"
#include "support/writer_runs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct run_rows ints(int64_t n_rows) {
  struct run_rows rows = {{"i", "i", "i", "i", "i", "i", "i", "i"}, 8, 10, n_rows, 18, RUN_HASH};
  return rows;
}

static void t18_eleven_spills_with_64_descriptors_write_the_same(void **state) {
  (void)state;
  struct run_rows rows = ints(12000);
  struct run_batch_sizes all = {1, 100000};
  struct ashuf_writer_options options = run_options();
  struct run_output expected, found;
  struct rlimit before, few;
  run_writer(&rows, &all, 1000, &options, NULL, NULL, &expected);
  expect_status(expected.status, ASHUF_OK, &expected.error);
  assert_int_equal(expected.numbers.spills, 0);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  few = before;
  few.rlim_cur = 64;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  struct run_batch_sizes sizes = {5, 600};
  options.memory_limit = 64 << 10;
  run_writer(&rows, &sizes, 1000, &options, NULL, NULL, &found);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  expect_status(found.status, ASHUF_OK, &found.error);
  assert_true(found.numbers.spills >= 11);
  run_expect_equal(&found, &expected);
  run_output_free(&found);
  run_output_free(&expected);
}

static void t20_a_spill_file_cut_short_is_an_error(void **state) {
  (void)state;
  for (int cut = 0; cut < 3; cut++) {
    struct ashuf_error error = {0};
    struct ashuf_writer_options options = run_options();
    ashuf_writer *writer = files_open(&options, 7, OUTPUT_INDEX);
    files_push(writer, 0, 500);
    ashuf_writer_request_spill(writer);
    files_push(writer, 500, 500);
    assert_int_equal(writer->spills.n_runs, 1);
    struct spill_file *file = &writer->spills.files[0];
    assert_int_equal(ftruncate(file->fd, cut == 0   ? (off_t)file->size - 1
                                         : cut == 1 ? 0
                                                    : (off_t)file->size / 2),
                     0);
    expect_status(ashuf_writer_finish(writer, NULL, &error), ASHUF_TRUNCATED, &error);
    assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_INVALID_STATE);
    ashuf_writer_close(writer);
    assert_int_equal(scratch_count(), 0);
  }
}

static void t21_many_spills_of_many_partitions_take_little_memory(void **state) {
  (void)state;
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  struct ashuf_writer_options options = run_options();
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_error error = {0};
  assert_int_equal(ashuf_memory_new(NULL, &options.memory, NULL), ASHUF_OK);
  options.memory_limit = 32 << 20;
  ashuf_writer *writer = files_open(&options, 16000, OUTPUT_INDEX);
  for (int64_t i = 0; i < 89; i++) {
    files_push(writer, i * 400, 400);
    ashuf_writer_request_spill(writer);
  }
  ashuf_memory_get_stats(options.memory, &stats);
  uint64_t before = stats.now;
  expect_status(ashuf_writer_finish(writer, &output, &error), ASHUF_OK, &error);
  assert_int_equal(output.spills, 89);
  assert_int_equal(output.total_rows, 89 * 400);
  ashuf_writer_close(writer);
  ashuf_memory_get_stats(options.memory, &stats);
  assert_int_equal(stats.now, 0);
  assert_true(before < (4 << 20));
  assert_true(stats.peak < (24 << 20));
  ashuf_memory_free(options.memory);
}

static void t39_spilled_bytes_of_memory_and_disk_are_counted_apart(void **state) {
  (void)state;
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_writer_options options = run_options();
  struct stat found;
  options.spill_codec = ASHUF_CODEC_LZ4;
  options.memory_limit = 4 << 20;
  ashuf_writer *writer = files_open(&options, 3, OUTPUT_INDEX);
  for (int i = 0; i < 40; i++) files_push(writer, 0, 8000); /* the same rows: they compress well */
  ashuf_writer_request_spill(writer);
  files_push(writer, 0, 1);
  assert_int_equal(fstat(writer->spills.files[0].fd, &found), 0);
  uint64_t written = (uint64_t)found.st_size;
  assert_int_equal(writer->spills.bytes, written);
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  assert_int_equal(output.disk_spilled, written);
  assert_true(output.spills > 2);
  assert_true(output.memory_spilled > 40 * 8000 * 30);
  assert_true(output.disk_spilled < output.memory_spilled / 2);
  ashuf_writer_close(writer);
}

static void spill_directories_take_turns(void **state) {
  (void)state;
  struct ashuf_writer_options options = run_options();
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  char first[256], second[256];
  (void)snprintf(first, sizeof first, "%s", scratch_path("one"));
  (void)snprintf(second, sizeof second, "%s", scratch_path("two"));
  assert_int_equal(mkdir(first, 0700), 0);
  assert_int_equal(mkdir(second, 0700), 0);
  const char *directories[] = {first, second};
  options.spill_dirs = directories;
  options.n_spill_dirs = 2;
  ashuf_writer *writer = files_open(&options, 3, OUTPUT_INDEX);
  directories[0] = NULL; /* they were copied */
  for (int i = 0; i < 7; i++) {
    files_push(writer, 100 * i, 100);
    ashuf_writer_request_spill(writer);
  }
  assert_int_equal(writer->spills.n_runs, 6);
  assert_true(writer->spills.files[0].size > 0 && writer->spills.files[1].size > 0);
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  assert_int_equal(output.total_rows, 700);
  ashuf_writer_close(writer);
  assert_int_equal(rmdir(first), 0); /* empty */
  assert_int_equal(rmdir(second), 0);
}

/* Cut by a byte, to half and to nothing, whichever of the files it is. */
static void t20_a_cut_file_of_any_spill_directory_is_an_error(void **state) {
  (void)state;
  char first[256], second[256];
  const char *directories[] = {first, second};
  (void)snprintf(first, sizeof first, "%s", scratch_path("one"));
  (void)snprintf(second, sizeof second, "%s", scratch_path("two"));
  assert_int_equal(mkdir(first, 0700), 0);
  assert_int_equal(mkdir(second, 0700), 0);
  for (int i = 0; i < 6; i++) {
    struct ashuf_writer_options options = run_options();
    struct ashuf_error error = {0};
    options.spill_dirs = directories;
    options.n_spill_dirs = 2;
    options.threads = 1 + i % 2;
    ashuf_writer *writer = files_open(&options, 7, OUTPUT_INDEX);
    for (int k = 0; k < 5; k++) {
      files_push(writer, 200 * k, 200);
      ashuf_writer_request_spill(writer);
    }
    const struct spill_file *file = &writer->spills.files[i / 3];
    assert_true(file->size > 0);
    off_t size = (off_t)file->size;
    assert_int_equal(ftruncate(file->fd, i % 3 == 0 ? size - 1 : i % 3 == 1 ? size / 2 : 0), 0);
    expect_status(ashuf_writer_finish(writer, NULL, &error), ASHUF_TRUNCATED, &error);
    ashuf_writer_close(writer);
    assert_int_equal(scratch_count(), 2); /* the directories */
  }
  assert_int_equal(rmdir(first), 0);
  assert_int_equal(rmdir(second), 0);
}

static void a_spill_directory_that_is_not_there_is_an_error(void **state) {
  (void)state;
  const char *directory = scratch_path("nowhere");
  struct ashuf_writer_options options = run_options();
  struct ashuf_error error = {0};
  options.spill_dirs = &directory;
  options.n_spill_dirs = 1;
  ashuf_writer *writer = files_open(&options, 3, OUTPUT_INDEX);
  files_push(writer, 0, 10);
  ashuf_writer_request_spill(writer);
  struct ArrowArray array = output_array(output_batch(0, 10));
  expect_status(ashuf_writer_push(writer, &array, &error), ASHUF_IO, &error);
  assert_int_equal(error.os_errno, ENOENT);
  assert_non_null(array.release); /* still the caller's */
  array.release(&array);
  ashuf_writer_close(writer);
  assert_int_equal(scratch_count(), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(t18_eleven_spills_with_64_descriptors_write_the_same),
      CASE(t20_a_spill_file_cut_short_is_an_error),
      CASE(t21_many_spills_of_many_partitions_take_little_memory),
      CASE(t39_spilled_bytes_of_memory_and_disk_are_counted_apart),
      CASE(spill_directories_take_turns),
      CASE(t20_a_cut_file_of_any_spill_directory_is_an_error),
      CASE(a_spill_directory_that_is_not_there_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

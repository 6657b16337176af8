/* Files get their names only when whole; a failure at any call leaves things as they were. */
#include "os/file.h"

#include "support/os_faults.h"
#include "support/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_content(const char *name, const char *text) {
  size_t size;
  uint8_t *bytes = scratch_read(name, &size);
  assert_non_null(bytes);
  assert_int_equal(size, strlen(text));
  assert_memory_equal(bytes, text, size);
  free(bytes);
}

/* Two files as one step, the way a map output is written; bytes are written in three pieces, one
 * larger than the buffer. */
static ashuf_status write_pair(bool sync, ashuf_memory *memory, struct ashuf_error *error) {
  static char large[300000];
  memset(large, 'x', sizeof large);
  struct file_writer data = FILE_WRITER_INIT;
  struct file_writer index = FILE_WRITER_INIT;
  ashuf_status status = file_writer_open(&data, scratch_path("d"), 0644, memory, error);
  if (status == ASHUF_OK) status = file_writer_open(&index, scratch_path("i"), 0600, memory, error);
  if (status == ASHUF_OK) status = file_writer_append(&data, "head", 4, error);
  if (status == ASHUF_OK) status = file_writer_append(&data, large, sizeof large, error);
  if (status == ASHUF_OK) status = file_writer_append(&data, "tail", 4, error);
  if (status == ASHUF_OK) status = file_writer_append(&index, "new", 3, error);
  if (status == ASHUF_OK) status = file_writer_complete(&data, sync, error);
  if (status == ASHUF_OK) status = file_writer_complete(&index, sync, error);
  struct file_writer *both[] = {&data, &index};
  if (status == ASHUF_OK) status = files_commit(both, 2, sync, error);
  file_writer_discard(&data);
  file_writer_discard(&index);
  return status;
}

static void expect_new_pair(void) {
  size_t size;
  uint8_t *bytes = scratch_read("d", &size);
  assert_non_null(bytes);
  assert_int_equal(size, 300008);
  assert_memory_equal(bytes, "headx", 5);
  assert_memory_equal(bytes + 300003, "xtail", 5);
  free(bytes);
  expect_content("i", "new");
}

static void only_whole_files_bear_their_names(void **state) {
  (void)state;
  struct file_writer writer;
  assert_int_equal(file_writer_open(&writer, scratch_path("d"), 0644, NULL, NULL), ASHUF_OK);
  assert_int_equal(file_writer_append(&writer, "abc", 3, NULL), ASHUF_OK);
  assert_int_equal(writer.size, 3);
  assert_int_equal(access(scratch_path("d"), F_OK), -1);
  assert_int_equal(scratch_count(), 1);
  assert_non_null(strstr(writer.temporary, "/d.tmp-"));
  assert_int_equal(file_writer_complete(&writer, false, NULL), ASHUF_OK);
  assert_int_equal(access(scratch_path("d"), F_OK), -1);
  struct file_writer *one = &writer;
  assert_int_equal(files_commit(&one, 1, false, NULL), ASHUF_OK);
  file_writer_discard(&writer);
  file_writer_discard(&writer);
  expect_content("d", "abc");
  assert_int_equal(scratch_count(), 1);
}

static void a_discarded_writer_leaves_nothing(void **state) {
  (void)state;
  struct file_writer writer;
  assert_int_equal(file_writer_open(&writer, scratch_path("d"), 0644, NULL, NULL), ASHUF_OK);
  assert_int_equal(file_writer_append(&writer, "abc", 3, NULL), ASHUF_OK);
  file_writer_discard(&writer);
  assert_int_equal(scratch_count(), 0);
}

static void two_writers_of_one_path_do_not_meet(void **state) {
  (void)state;
  struct file_writer a, b;
  assert_int_equal(file_writer_open(&a, scratch_path("d"), 0644, NULL, NULL), ASHUF_OK);
  assert_int_equal(file_writer_open(&b, scratch_path("d"), 0644, NULL, NULL), ASHUF_OK);
  assert_string_not_equal(a.temporary, b.temporary);
  file_writer_discard(&a);
  file_writer_discard(&b);
}

static void t37_the_mode_is_what_was_asked_whatever_the_umask(void **state) {
  (void)state;
  static const mode_t modes[] = {0640, 0666, 0777, 0400, 0644};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    struct file_writer writer;
    struct file_writer *one = &writer;
    struct stat info;
    mode_t before = umask(0077);
    assert_int_equal(file_writer_open(&writer, scratch_path("d"), modes[i], NULL, NULL), 0);
    (void)umask(before);
    assert_int_equal(file_writer_complete(&writer, false, NULL), ASHUF_OK);
    assert_int_equal(files_commit(&one, 1, false, NULL), ASHUF_OK);
    file_writer_discard(&writer);
    assert_int_equal(stat(scratch_path("d"), &info), 0);
    assert_int_equal(info.st_mode & 07777, modes[i]);
  }
}

static void what_is_no_regular_file_is_not_replaced(void **state) {
  (void)state;
  struct file_writer writer;
  struct ashuf_error error;
  assert_int_equal(mkdir(scratch_path("folder"), 0700), 0);
  assert_int_equal(file_writer_open(&writer, scratch_path("folder"), 0644, NULL, &error), ASHUF_IO);
  assert_int_equal(error.site, SITE_FILE_NOT_REGULAR);
  assert_int_equal(mkfifo(scratch_path("pipe"), 0600), 0);
  assert_int_equal(file_writer_open(&writer, scratch_path("pipe"), 0644, NULL, &error), ASHUF_IO);
  assert_int_equal(error.os_errno, EEXIST);
  assert_int_equal(scratch_count(), 2);
}

static void a_missing_directory_is_an_error_at_open(void **state) {
  (void)state;
  struct file_writer writer;
  struct ashuf_error error;
  assert_int_equal(file_writer_open(&writer, scratch_path("none/d"), 0644, NULL, &error), ASHUF_IO);
  assert_int_equal(error.os_errno, ENOENT);
  assert_non_null(strstr(error.message, "none/d"));
  assert_non_null(strstr(error.message, "No such file"));
}

static int count_pair_calls(bool old) {
  scratch_clear();
  if (old) {
    scratch_write("d", "old data", 8);
    scratch_write("i", "old index", 9);
  }
  os_faults_start(FAULT_NONE, 0, 0);
  assert_int_equal(write_pair(true, NULL, NULL), ASHUF_OK);
  os_faults_stop();
  expect_new_pair();
  assert_int_equal(scratch_count(), 2);
  return os_faults_calls();
}

/* Fails every call in turn, over an empty directory or over an older pair. */
static void sweep_pair(enum os_fault kind, int code, bool old) {
  int n = count_pair_calls(old);
  for (int i = 1; i <= n; i++) {
    scratch_clear();
    if (old) {
      scratch_write("d", "old data", 8);
      scratch_write("i", "old index", 9);
    }
    struct ashuf_error error;
    os_faults_start(kind, i, code);
    ashuf_status status = write_pair(true, NULL, &error);
    const char *name = os_faults_name();
    int open_files = os_faults_open();
    os_faults_stop();
    assert_int_equal(open_files, 0);
    if (status == ASHUF_OK) {
      expect_new_pair();
      /* Removing an old file that was moved aside may fail: the new ones stand all the same. */
      assert_true(scratch_count() == 2 || strcmp(name, "unlink") == 0);
      continue;
    }
    assert_int_equal(status, ASHUF_IO);
    assert_int_equal(error.os_errno, code);
    assert_int_equal(scratch_count(), old ? 2 : 0);
    if (old) {
      expect_content("d", "old data");
      expect_content("i", "old index");
    }
  }
}

static void t19_a_failed_call_leaves_no_file(void **state) {
  (void)state;
  sweep_pair(FAULT_ERROR, ENOSPC, false);
  sweep_pair(FAULT_ERROR, EIO, false);
}

static void t19_a_failed_call_keeps_the_older_pair(void **state) {
  (void)state;
  sweep_pair(FAULT_ERROR, ENOSPC, true);
}

static void t19_interrupted_and_short_calls_succeed(void **state) {
  (void)state;
  static const enum os_fault kinds[] = {FAULT_EINTR, FAULT_SHORT};
  for (size_t k = 0; k < 2; k++) {
    int n = count_pair_calls(true);
    for (int i = 1; i <= n; i++) {
      scratch_clear();
      os_faults_start(kinds[k], i, 0);
      assert_int_equal(write_pair(true, NULL, NULL), ASHUF_OK);
      os_faults_stop();
      expect_new_pair();
      assert_int_equal(scratch_count(), 2);
    }
  }
}

static void writers_survive_failed_allocations(void **state) {
  (void)state;
  for (uint64_t limit = 1; limit < 400000; limit = limit * 2 + 1) {
    struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
    struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
    ashuf_memory *memory;
    options.limit = limit;
    scratch_clear();
    assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
    struct ashuf_error error;
    ashuf_status status = write_pair(false, memory, &error);
    assert_true(status == ASHUF_MEMORY_LIMIT);
    assert_int_equal(error.status, status);
    assert_int_equal(scratch_count(), 0);
    ashuf_memory_get_stats(memory, &stats);
    assert_int_equal(stats.now, 0);
    ashuf_memory_free(memory);
  }
}

/* ---- Reading ------------------------------------------------------------------------------ */

static void reads_are_exact_or_truncated_at_a_byte(void **state) {
  (void)state;
  struct file file;
  struct ashuf_error error;
  char bytes[16];
  scratch_write("f", "0123456789", 10);
  assert_int_equal(file_open(&file, scratch_path("f"), &error), ASHUF_OK);
  assert_true(file.regular);
  assert_int_equal(file.size, 10);
  assert_int_equal(file_read_at(&file, 4, bytes, 6, &error), ASHUF_OK);
  assert_memory_equal(bytes, "456789", 6);
  assert_int_equal(file_read_at(&file, 4, bytes, 9, &error), ASHUF_TRUNCATED);
  assert_int_equal(error.space, ASHUF_SPACE_FILE);
  assert_int_equal(error.offset, 10);
  assert_int_equal(file_read_at(&file, UINT64_MAX, bytes, 1, &error), ASHUF_IO);
  file_close(&file);
  file_close(&file);
}

static void a_pipe_is_read_to_its_end(void **state) {
  (void)state;
  int ends[2];
  char bytes[16];
  size_t got;
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], "0123456789", 10), 10);
  (void)close(ends[1]);
  struct file file = FILE_INIT;
  file.fd = ends[0];
  assert_int_equal(file_read(&file, bytes, 4, &got, NULL), ASHUF_OK);
  assert_int_equal(got, 4);
  assert_int_equal(file_read(&file, bytes, 16, &got, NULL), ASHUF_OK);
  assert_int_equal(got, 6);
  assert_int_equal(file_read(&file, bytes, 16, &got, NULL), ASHUF_OK);
  assert_int_equal(got, 0);
  file_close(&file);
  assert_int_equal(close(ends[0]), -1);
}

static void a_directory_and_a_missing_file_are_errors(void **state) {
  (void)state;
  struct file file;
  struct ashuf_error error;
  assert_int_equal(file_open(&file, scratch_path(""), &error), ASHUF_IO);
  assert_int_equal(error.os_errno, EISDIR);
  assert_int_equal(error.site, SITE_FILE_DIRECTORY);
  assert_int_equal(file_open(&file, scratch_path("none"), &error), ASHUF_IO);
  assert_int_equal(error.os_errno, ENOENT);
}

static void standard_input_stays_open(void **state) {
  (void)state;
  struct file file;
  file_open_standard_input(&file);
  assert_int_equal(file.fd, 0);
  os_faults_start(FAULT_NONE, 0, 0);
  file_close(&file);
  assert_int_equal(os_faults_calls(), 0);
  os_faults_stop();
}

static void labels_are_short_and_printable(void **state) {
  (void)state;
  char label[FILE_LABEL_SIZE];
  char path[300];
  assert_string_equal(file_label("a/b.data", label), "a/b.data");
  assert_string_equal(file_label("a\n\033b", label), "a\\x0a\\x1bb");
  memset(path, 'p', sizeof path);
  memcpy(path + sizeof path - 6, ".data", 6);
  (void)file_label(path, label);
  assert_true(strlen(label) < FILE_LABEL_SIZE);
  assert_memory_equal(label, "...ppp", 6);
  assert_string_equal(label + strlen(label) - 5, ".data");
  memset(path, 1, sizeof path - 1);
  (void)file_label(path, label);
  assert_true(strlen(label) < FILE_LABEL_SIZE);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(only_whole_files_bear_their_names),
      TEST(a_discarded_writer_leaves_nothing),
      TEST(two_writers_of_one_path_do_not_meet),
      TEST(t37_the_mode_is_what_was_asked_whatever_the_umask),
      TEST(what_is_no_regular_file_is_not_replaced),
      TEST(a_missing_directory_is_an_error_at_open),
      TEST(t19_a_failed_call_leaves_no_file),
      TEST(t19_a_failed_call_keeps_the_older_pair),
      TEST(t19_interrupted_and_short_calls_succeed),
      TEST(writers_survive_failed_allocations),
      TEST(reads_are_exact_or_truncated_at_a_byte),
      TEST(a_pipe_is_read_to_its_end),
      TEST(a_directory_and_a_missing_file_are_errors),
      TEST(standard_input_stays_open),
      TEST(labels_are_short_and_printable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

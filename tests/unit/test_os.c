/* One table for system calls: interrupted calls go on, short ones are completed. */
#include "os/os.h"

#include "support/os_faults.h"
#include "support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Writes, reads back both ways, renames, removes; 0 or the first errno. */
static int exercise(char *read_back) {
  static const char text[] = "0123456789abcdef";
  int fd = -1;
  size_t got = 0;
  struct os_info info;
  char *again = read_back + sizeof text;
  int failure = os_open(scratch_path("a"), O_RDWR | O_CREAT | O_TRUNC, 0600, &fd);
  if (failure != 0) return failure;
  if (failure == 0) failure = os_write(fd, text, sizeof text);
  if (failure == 0) failure = os_fchmod(fd, 0640);
  if (failure == 0) failure = os_fsync(fd);
  if (failure == 0) failure = os_read_at(fd, 0, read_back, sizeof text, &got);
  if (failure == 0 && got != sizeof text) failure = -1;
  (void)lseek(fd, 0, SEEK_SET);
  if (failure == 0) failure = os_read(fd, again, sizeof text + 5, &got);
  if (failure == 0 && got != sizeof text) failure = -2;
  if (failure == 0) failure = os_fstat(fd, &info);
  int close_failure = os_close(fd);
  if (failure == 0) failure = close_failure;
  if (failure == 0) failure = os_lstat(scratch_path("a"), &info);
  if (failure == 0) failure = os_rename(scratch_path("a"), scratch_path("b"));
  if (failure == 0) failure = os_unlink(scratch_path("b"));
  return failure;
}

static int count_calls(void) {
  char bytes[64];
  os_faults_start(FAULT_NONE, 0, 0);
  assert_int_equal(exercise(bytes), 0);
  return os_faults_calls();
}

static void every_interrupted_call_is_repeated(void **state) {
  (void)state;
  char bytes[64];
  int n = count_calls();
  for (int i = 1; i <= n; i++) {
    os_faults_start(FAULT_EINTR, i, 0);
    assert_int_equal(exercise(bytes), 0);
    assert_true(os_faults_hit());
    assert_int_equal(os_faults_open(), 0);
    assert_string_equal(bytes, "0123456789abcdef");
  }
}

static void short_reads_and_writes_are_completed(void **state) {
  (void)state;
  char bytes[64] = {0};
  int n = count_calls();
  for (int i = 1; i <= n; i++) {
    memset(bytes, 0, sizeof bytes);
    os_faults_start(FAULT_SHORT, i, 0);
    assert_int_equal(exercise(bytes), 0);
    assert_string_equal(bytes, "0123456789abcdef");
    assert_string_equal(bytes + 17, "0123456789abcdef");
  }
}

static void every_failed_call_gives_its_errno(void **state) {
  (void)state;
  char bytes[64];
  int n = count_calls();
  for (int i = 1; i <= n; i++) {
    os_faults_start(FAULT_ERROR, i, ENOSPC);
    assert_int_equal(exercise(bytes), ENOSPC);
    assert_int_equal(os_faults_open(), 0);
  }
}

static void an_offset_past_the_signed_range_is_refused(void **state) {
  (void)state;
  char byte;
  size_t got;
  assert_int_equal(os_read_at(0, (uint64_t)INT64_MAX + 1, &byte, 1, &got), EOVERFLOW);
  assert_int_equal(os_read_at(0, INT64_MAX, &byte, 1, &got), EOVERFLOW);
}

static ssize_t takes_nothing(int fd, const void *bytes, size_t size) {
  (void)fd;
  (void)bytes;
  (void)size;
  return 0;
}

static void a_device_that_takes_nothing_is_an_error(void **state) {
  (void)state;
  struct os_calls calls = *os_system();
  calls.write = takes_nothing;
  os_replace(&calls);
  assert_int_equal(os_write(1, "x", 1), EIO);
  os_replace(NULL);
}

static void kinds_of_files_are_told_apart(void **state) {
  (void)state;
  struct os_info info;
  scratch_write("plain", "abc", 3);
  assert_int_equal(symlink("plain", scratch_path("link")), 0);
  assert_int_equal(os_lstat(scratch_path("plain"), &info), 0);
  assert_int_equal(info.kind, OS_REGULAR);
  assert_int_equal(info.size, 3);
  assert_int_equal(os_lstat(scratch_path("link"), &info), 0);
  assert_int_equal(info.kind, OS_LINK);
  assert_int_equal(os_lstat(scratch_path(""), &info), 0);
  assert_int_equal(info.kind, OS_DIRECTORY);
  assert_int_equal(os_lstat("/dev/null", &info), 0);
  assert_int_equal(info.kind, OS_OTHER);
  assert_int_equal(os_lstat(scratch_path("none"), &info), ENOENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(every_interrupted_call_is_repeated, scratch_setup,
                                      scratch_teardown),
      cmocka_unit_test_setup_teardown(short_reads_and_writes_are_completed, scratch_setup,
                                      scratch_teardown),
      cmocka_unit_test_setup_teardown(every_failed_call_gives_its_errno, scratch_setup,
                                      scratch_teardown),
      cmocka_unit_test_setup_teardown(an_offset_past_the_signed_range_is_refused, scratch_setup,
                                      scratch_teardown),
      cmocka_unit_test_setup_teardown(a_device_that_takes_nothing_is_an_error, scratch_setup,
                                      scratch_teardown),
      cmocka_unit_test_setup_teardown(kinds_of_files_are_told_apart, scratch_setup,
                                      scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

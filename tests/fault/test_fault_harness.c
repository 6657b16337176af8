/* The sweep of tests/support/fault.h finds what it is there to find. */
#include "base/error.h"
#include "base/memory.h"
#include "support/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum behaviour {
  CORRECT,
  LEAKS_ON_FAILURE,
  LEAKS_ALWAYS,
  SWALLOWS_FAILURE,
  WRONG_STATUS,
  NO_ERROR,
  WRONG_SIZE,
  SWALLOWS_WHEN_ALL_FAIL
};

#define ANY_SITE 1

/* Two blocks, the second one optional to the behaviours that hide its failure. */
static ashuf_status two_blocks(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  enum behaviour behaviour = *(enum behaviour *)data;
  void *first = memory_alloc(memory, 100);
  if (first == NULL && behaviour == SWALLOWS_WHEN_ALL_FAIL) {
    void *again = memory_alloc(memory, 100);
    if (again == NULL) return ASHUF_OK;
    memory_free(memory, again, 100);
  }
  if (first == NULL) return error_memory(error, ANY_SITE, memory, 100);
  void *second = memory_aligned(memory, 200);
  bool failed = second == NULL;
  memory_free_aligned(memory, second, 200);
  if (behaviour != LEAKS_ALWAYS && !(behaviour == LEAKS_ON_FAILURE && failed))
    memory_free(memory, first, behaviour == WRONG_SIZE ? 99 : 100);
  if (!failed || behaviour == SWALLOWS_FAILURE) return ASHUF_OK;
  if (behaviour == NO_ERROR) return ASHUF_OUT_OF_MEMORY;
  if (behaviour == WRONG_STATUS) return error_set(error, ASHUF_IO, ANY_SITE, "cannot read");
  return error_memory(error, ANY_SITE, memory, 200);
}

/* The leaks are deliberate: the leak checker must not see them as this program's. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static void expect_verdict(enum behaviour behaviour, const char *wanted) {
  struct fault_report report;
  assert_false(fault_sweep_run(two_blocks, &behaviour, &report));
  if (strstr(report.text, wanted) == NULL) fail_msg("wanted %s, got %s", wanted, report.text);
}

static void test_correct_scenario_passes_and_every_allocation_was_failed(void **state) {
  (void)state;
  enum behaviour behaviour = CORRECT;
  struct fault_report report;
  assert_true(fault_sweep_run(two_blocks, &behaviour, &report));
  assert_string_equal(report.text, "");
  assert_int_equal(report.allocations, 2);
  fault_sweep(two_blocks, &behaviour);
}

static void test_leak_on_the_failing_path_is_found(void **state) {
  (void)state;
  expect_verdict(LEAKS_ON_FAILURE, "allocation 2 failing: memory leaked");
}

static void test_leak_without_a_failure_is_found(void **state) {
  (void)state;
  expect_verdict(LEAKS_ALWAYS, "memory leaked");
}

static void test_swallowed_failure_is_found(void **state) {
  (void)state;
  expect_verdict(SWALLOWS_FAILURE, "allocation 2 failing: a failed allocation was swallowed");
}

static void test_failure_that_only_lasting_shortage_shows_is_found(void **state) {
  (void)state;
  expect_verdict(SWALLOWS_WHEN_ALL_FAIL, "allocation 1 and all later failing: a failed allocation");
}

static void test_wrong_status_is_found(void **state) {
  (void)state;
  expect_verdict(WRONG_STATUS, "the status is not OUT_OF_MEMORY (status IO");
}

static void test_status_without_error_is_found(void **state) {
  (void)state;
  expect_verdict(NO_ERROR, "the error's status is not the returned one");
}

static void test_release_with_another_size_is_found(void **state) {
  (void)state;
  expect_verdict(WRONG_SIZE, "memory was released with another size");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_correct_scenario_passes_and_every_allocation_was_failed),
      cmocka_unit_test(test_leak_on_the_failing_path_is_found),
      cmocka_unit_test(test_leak_without_a_failure_is_found),
      cmocka_unit_test(test_swallowed_failure_is_found),
      cmocka_unit_test(test_failure_that_only_lasting_shortage_shows_is_found),
      cmocka_unit_test(test_wrong_status_is_found),
      cmocka_unit_test(test_status_without_error_is_found),
      cmocka_unit_test(test_release_with_another_size_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

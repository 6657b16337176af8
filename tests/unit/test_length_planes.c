/* T51: offsets to length planes and back, and what hostile planes do. */
#include "ipc/length_planes.h"

#include "base/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void t51_the_layout_is_the_formats(void **state) {
  (void)state;
  const int32_t offsets[] = {1, 3, 3, 0x010203};
  uint8_t planes[16];
  planes_from_offsets(offsets, 4, 4, planes);
  const uint8_t want[16] = {1, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0};
  assert_memory_equal(planes, want, 16);
}

static void t51_both_widths_survive_at_every_size(void **state) {
  (void)state;
  for (int width = 4; width <= 8; width += 4)
    for (int64_t n = 0; n < 1600; n = n < 20 ? n + 1 : n + 131) {
      uint8_t *offsets = malloc((size_t)(n * width) + 1);
      uint8_t *planes = malloc((size_t)(n * width) + 1);
      uint8_t *back = malloc((size_t)(n * width) + 1);
      int64_t at = n % 3;
      for (int64_t i = 0; i < n; i++) {
        memcpy(offsets + i * width, &at, (size_t)width);
        at += (i * 7919) % 70000;
      }
      planes_from_offsets(offsets, width, n, planes);
      assert_true(planes_to_offsets(planes, width, n, back));
      assert_memory_equal(offsets, back, (size_t)(n * width));
      free(offsets);
      free(planes);
      free(back);
    }
}

static void expect_refused(const int32_t *lengths, int64_t n) {
  uint8_t planes[64];
  uint8_t out[64];
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < 4; k++) planes[k * n + i] = (uint8_t)((uint32_t)lengths[i] >> (8 * k));
  assert_false(planes_to_offsets(planes, 4, n, out));
}

static void t51_negative_lengths_and_large_sums_are_refused(void **state) {
  (void)state;
  expect_refused((const int32_t[]){0, -1, 1}, 3);
  expect_refused((const int32_t[]){-5, 5, 5}, 3);
  expect_refused((const int32_t[]){INT32_MAX, 1, 0}, 3);
  expect_refused((const int32_t[]){INT32_MAX, INT32_MAX, INT32_MAX}, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t51_the_layout_is_the_formats),
      cmocka_unit_test(t51_both_widths_survive_at_every_size),
      cmocka_unit_test(t51_negative_lengths_and_large_sums_are_refused),
  };
  int failed = cmocka_run_group_tests_name("wide registers", tests, NULL, NULL);
  cpu_plain_only = true;
  return failed + cmocka_run_group_tests_name("any machine", tests, NULL, NULL);
}

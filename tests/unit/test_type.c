/* The table of types against what docs/FORMAT.md says of buffers, tags and widths. */
#include "arrow/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_type_has_a_name_of_its_own(void **state) {
  (void)state;
  for (int i = 0; i < TYPE_COUNT; i++) {
    assert_non_null(type_info((enum arrow_type)i)->name);
    for (int k = 0; k < i; k++)
      assert_string_not_equal(type_info((enum arrow_type)i)->name,
                              type_info((enum arrow_type)k)->name);
  }
}

static void buffers_follow_from_the_layout(void **state) {
  (void)state;
  static const int buffers[] = {
      [LAYOUT_NULL] = 0,   [LAYOUT_BITS] = 2,   [LAYOUT_FIXED] = 2,     [LAYOUT_BYTES] = 3,
      [LAYOUT_VIEWS] = 2,  [LAYOUT_LIST] = 2,   [LAYOUT_LIST_VIEW] = 3, [LAYOUT_FIXED_LIST] = 1,
      [LAYOUT_STRUCT] = 1, [LAYOUT_SPARSE] = 1, [LAYOUT_DENSE] = 2,     [LAYOUT_RUN_ENDS] = 0};
  for (int i = 0; i < TYPE_COUNT; i++) {
    const struct type_info *info = type_info((enum arrow_type)i);
    assert_int_equal(info->buffers, buffers[info->layout]);
    bool none = info->layout == LAYOUT_NULL || info->layout >= LAYOUT_SPARSE;
    assert_int_equal(info->validity, !none);
  }
}

static void only_nested_types_have_children(void **state) {
  (void)state;
  for (int i = 0; i < TYPE_COUNT; i++)
    assert_int_equal(type_info((enum arrow_type)i)->children != 0,
                     type_is_nested((enum arrow_type)i));
}

struct expectation {
  enum arrow_type type;
  int tag;
  int width;
};

static void tags_and_widths_are_those_of_the_format(void **state) {
  (void)state;
  static const struct expectation expected[] = {
      {TYPE_NULL, 1, 0},          {TYPE_BOOL, 6, 0},         {TYPE_INT8, 2, 1},
      {TYPE_UINT64, 2, 8},        {TYPE_FLOAT16, 3, 2},      {TYPE_FLOAT64, 3, 8},
      {TYPE_DECIMAL32, 7, 4},     {TYPE_DECIMAL256, 7, 32},  {TYPE_DATE32, 8, 4},
      {TYPE_DATE64, 8, 8},        {TYPE_TIME32, 9, 4},       {TYPE_TIME64, 9, 8},
      {TYPE_TIMESTAMP, 10, 8},    {TYPE_DURATION, 18, 8},    {TYPE_INTERVAL_MONTHS, 11, 4},
      {TYPE_BINARY, 4, 4},        {TYPE_UTF8, 5, 4},         {TYPE_INTERVAL_MONTH_DAY_NANO, 11, 16},
      {TYPE_LARGE_BINARY, 19, 8}, {TYPE_LARGE_UTF8, 20, 8},  {TYPE_FIXED_SIZE_BINARY, 15, 0},
      {TYPE_BINARY_VIEW, 23, 16}, {TYPE_UTF8_VIEW, 24, 16},  {TYPE_LIST, 12, 4},
      {TYPE_LARGE_LIST, 21, 8},   {TYPE_LIST_VIEW, 25, 4},   {TYPE_LARGE_LIST_VIEW, 26, 8},
      {TYPE_STRUCT, 13, 0},       {TYPE_MAP, 17, 4},         {TYPE_FIXED_SIZE_LIST, 16, 0},
      {TYPE_SPARSE_UNION, 14, 1}, {TYPE_DENSE_UNION, 14, 1}, {TYPE_RUN_END_ENCODED, 22, 0}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const struct type_info *info = type_info(expected[i].type);
    assert_int_equal(info->ipc_type, expected[i].tag);
    assert_int_equal(info->width, expected[i].width);
  }
}

static void index_types_are_the_eight_integers(void **state) {
  (void)state;
  int indices = 0;
  int of_sign = 0;
  for (int i = 0; i < TYPE_COUNT; i++) {
    indices += type_is_index((enum arrow_type)i);
    of_sign += type_is_signed_index((enum arrow_type)i);
  }
  assert_int_equal(indices, 8);
  assert_int_equal(of_sign, 4);
  assert_true(type_is_index(TYPE_UINT64) && !type_is_signed_index(TYPE_UINT64));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_has_a_name_of_its_own),
      cmocka_unit_test(buffers_follow_from_the_layout),
      cmocka_unit_test(only_nested_types_have_children),
      cmocka_unit_test(tags_and_widths_are_those_of_the_format),
      cmocka_unit_test(index_types_are_the_eight_integers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

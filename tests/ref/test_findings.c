/*
 * Blocks on which the library and the reference decoder once disagreed, one test each, from
 * tests/ref/findings.
 */
#include "ref/compare.h"
#include "support/arrays.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint8_t *read_block(const char *name, size_t *size) {
  const char *source = getenv("ASHUF_SOURCE_DIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/ref/findings/%s.block", source == NULL ? "." : source,
           name);
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(65536);
  if (file == NULL || data == NULL) fail_msg("%s is not there", path);
  size_t got = fread(data, 1, 65536, file);
  fclose(file);
  uint8_t *exact = realloc(data, got); /* a byte too far is seen */
  *size = got;
  return exact;
}

static void compare_finding(const char *name, struct comparison *out) {
  size_t size;
  uint8_t *block = read_block(name, &size);
  ashuf_ctx *ctx;
  assert_int_equal(ashuf_ctx_new(NULL, &ctx, NULL), ASHUF_OK);
  compare_block(ctx, block, size, out);
  ashuf_ctx_free(ctx);
  free(block);
}

static void expect_read(const char *name) {
  struct comparison comparison;
  compare_finding(name, &comparison);
  if (comparison.status != ASHUF_OK) print_error("%s\n", comparison.error.message);
  assert_int_equal(comparison.expected.outcome, REF_ROWS);
  assert_int_equal(comparison.status, ASHUF_OK);
  assert_null(comparison.difference);
  assert_false(comparison.fresh_differs);
  assert_false(comparison.trusted_refuses);
  comparison_free(&comparison);
}

static void expect_refused(const char *name) {
  struct comparison comparison;
  compare_finding(name, &comparison);
  assert_int_equal(comparison.expected.outcome, REF_REFUSED);
  assert_int_not_equal(comparison.status, ASHUF_OK);
  assert_false(comparison.fresh_differs);
  comparison_free(&comparison);
}

/*
 * A dictionary whose values hold dictionary-encoded fields came with its inner dictionary but not
 * itself, all its indices being null. A field of the schema has the inner id, so the block is
 * good; the library asked whether reading the batch had touched it. It also leaked the batch it
 * had just read.
 */
static void test_inner_dictionary_of_an_absent_one_is_no_stranger(void **state) {
  (void)state;
  expect_read("inner_dictionary_of_an_absent_one");
}

/* With null count 0 a validity buffer is ignored whatever it holds: also that of a V4 union. */
static void test_v4_union_may_have_a_validity_buffer(void **state) {
  (void)state;
  expect_read("v4_union_with_a_validity_buffer");
}

/*
 * The trusted mode leaves offsets alone, but a dictionary in pieces is put together by them: wild
 * ones made it read outside the body.
 */
static void test_trusted_mode_does_not_follow_wild_offsets_of_a_delta(void **state) {
  (void)state;
  struct comparison comparison;
  compare_finding("trusted_delta_with_wild_offsets", &comparison);
  assert_int_equal(comparison.expected.outcome, REF_REFUSED);
  assert_int_not_equal(comparison.status, ASHUF_OK);
  comparison_free(&comparison);
}

/* The node of a Null column says as many nulls as rows. */
static void test_null_column_counts_every_row_as_null(void **state) {
  (void)state;
  expect_refused("null_column_of_another_null_count");
}

/*
 * A buffer of values that shares bytes with one of offsets stored as lengths: undoing the lengths
 * in place changed the values. Either the values as they stand in the body, or a refusal.
 */
static void test_values_do_not_change_when_lengths_are_undone(void **state) {
  (void)state;
  struct comparison comparison;
  compare_finding("lengths_buffer_shared_with_data", &comparison);
  assert_null(comparison.difference);
  assert_false(comparison.fresh_differs);
  comparison_free(&comparison);
}

/*
 * A null in a member that the schema calls not nullable is read; so it is when the dictionary it
 * stands in comes in pieces.
 */
static void test_delta_is_as_lenient_as_a_whole_dictionary(void **state) {
  (void)state;
  expect_read("delta_with_null_in_not_null_member");
}

/* A dictionary message without nodes or buffers: NULL plus zero, which clang's sanitizer sees. */
static void test_dictionary_message_without_lists(void **state) {
  (void)state;
  struct comparison comparison;
  compare_finding("fuzz_empty_lists_of_a_dictionary", &comparison);
  assert_false(comparison.fresh_differs);
  comparison_free(&comparison);
}

/* The dictionary stands inside one that did not come, as no row needed it. */
static void test_dictionary_that_no_row_shows(void **state) {
  (void)state;
  expect_refused("inner_dictionary_out_of_its_body");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inner_dictionary_of_an_absent_one_is_no_stranger),
      cmocka_unit_test(test_v4_union_may_have_a_validity_buffer),
      cmocka_unit_test(test_trusted_mode_does_not_follow_wild_offsets_of_a_delta),
      cmocka_unit_test(test_null_column_counts_every_row_as_null),
      cmocka_unit_test(test_values_do_not_change_when_lengths_are_undone),
      cmocka_unit_test(test_delta_is_as_lenient_as_a_whole_dictionary),
      cmocka_unit_test(test_dictionary_message_without_lists),
      cmocka_unit_test(test_dictionary_that_no_row_shows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

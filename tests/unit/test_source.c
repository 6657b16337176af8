/* What source_set_push lets in, what it refuses, and that a refusal changes nothing. */
#include "arrow/source.h"

#include "support/arrays.h"

#include <ashuf/ashuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int32_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

/* A batch of one column whose schema was imported before anything is spoiled. */
struct opened {
  struct test_column batch;
  struct ArrowArray *column;
  ashuf_schema *schema;
  struct source_set set;
};

static void open_column(struct opened *opened, struct test_column column) {
  struct ashuf_error error;
  opened->batch = batch_of(&column, 1);
  opened->column = opened->batch.array.children[0];
  if (ashuf_schema_import(&opened->batch.schema, NULL, &opened->schema, &error) != ASHUF_OK)
    fail_msg("schema: %s", error.message);
  assert_int_equal(source_set_init(&opened->set, opened->schema, NULL, &error), ASHUF_OK);
}

static void close_column(struct opened *opened) {
  source_set_free(&opened->set);
  ashuf_schema_free(opened->schema);
  column_free(&opened->batch);
}

/* The column must be refused with the status, by name, and the set stay as it is. */
static void expect(struct opened *opened, ashuf_status want, const char *label) {
  struct ashuf_error error = {0};
  ashuf_status status = source_set_push(&opened->set, &opened->batch.array, &error);
  if (status != want) fail_msg("status %d, want %d: %s", status, want, error.message);
  if (want != ASHUF_OK) {
    assert_int_equal(opened->set.n_batches, 0);
    assert_int_equal(opened->set.columns[0].n_with_nulls, 0);
    if (label != NULL && strstr(error.message, label) == NULL)
      fail_msg("no %s in: %s", label, error.message);
  }
}

static struct test_column column_x(void) { return column_int32("x", numbers, "1101", 4); }

static void lengths_and_counts_are_checked(void **state) {
  (void)state;
  struct opened opened;
  open_column(&opened, column_x());
  struct ArrowArray good = *opened.column;
  opened.column->length = -1;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  *opened.column = good;
  opened.column->length = 3;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  *opened.column = good;
  opened.column->offset = -1;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  opened.column->offset = INT64_MAX;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  *opened.column = good;
  opened.column->n_buffers = 3;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  *opened.column = good;
  opened.column->n_children = 1;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  *opened.column = good;
  opened.column->null_count = 5;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  opened.column->null_count = -2;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  *opened.column = good;
  expect(&opened, ASHUF_OK, NULL);
  close_column(&opened);
}

static void missing_buffers_are_refused(void **state) {
  (void)state;
  struct opened opened;
  open_column(&opened, column_x());
  const void *validity = opened.column->buffers[0];
  const void *values = opened.column->buffers[1];
  opened.column->buffers[0] = NULL;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  opened.column->null_count = -1; /* without a bitmap: no nulls */
  expect(&opened, ASHUF_OK, NULL);
  source_set_clear(&opened.set);
  opened.column->buffers[1] = NULL;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  opened.column->buffers[0] = validity;
  opened.column->buffers[1] = values;
  close_column(&opened);
}

static void strings_without_bytes_must_be_empty(void **state) {
  (void)state;
  struct opened opened;
  open_column(&opened, column_bytes("s", "u", (int64_t[]){0, 0, 3, 3}, "abc", "101", 3));
  const void *bytes = opened.column->buffers[2];
  opened.column->buffers[2] = NULL;
  expect(&opened, ASHUF_OK, NULL);
  opened.column->null_count = 0;
  source_set_clear(&opened.set);
  expect(&opened, ASHUF_BAD_ARRAY, "\"s\"");
  opened.column->buffers[2] = bytes;
  close_column(&opened);
}

static void a_bitmap_without_nulls_is_left_aside(void **state) {
  (void)state;
  struct opened opened;
  open_column(&opened, column_int32("x", numbers, "01111", 5));
  opened.column->null_count = 0; /* says that the bitmap is not to be looked at */
  expect(&opened, ASHUF_OK, NULL);
  assert_null(opened.set.columns[0].views[0].validity);
  assert_int_equal(opened.set.columns[0].n_with_nulls, 0);
  opened.column->null_count = -1;
  expect(&opened, ASHUF_OK, NULL);
  assert_non_null(opened.set.columns[0].views[1].validity);
  assert_int_equal(opened.set.columns[0].n_with_nulls, 1);
  column_slice(&opened.batch, 1, 4);
  expect(&opened, ASHUF_OK, NULL);
  assert_null(opened.set.columns[0].views[2].validity);
  close_column(&opened);
}

static void a_null_in_a_column_without_nulls_is_a_mismatch(void **state) {
  (void)state;
  for (int count = -1; count <= 1; count += 2) {
    struct opened opened;
    struct test_column column = column_x();
    column.schema.flags = 0;
    column.array.null_count = count;
    open_column(&opened, column);
    expect(&opened, ASHUF_SCHEMA_MISMATCH, "\"x\"");
    column_slice(&opened.batch, 0, 2);
    expect(&opened, ASHUF_OK, NULL);
    close_column(&opened);
  }
}

/* struct<x: int32 not null>: rows 1 and 3 of the child are null. */
static struct test_column struct_with_nulls(const char *valid) {
  struct test_column child = column_int32("x", numbers, "1010", 4);
  child.schema.flags = 0;
  return column_struct("s", valid, 4, &child, 1);
}

static void a_null_under_a_null_parent_is_nobodys(void **state) {
  (void)state;
  struct opened opened;
  open_column(&opened, struct_with_nulls("1010"));
  expect(&opened, ASHUF_OK, NULL);
  close_column(&opened);
  open_column(&opened, struct_with_nulls("1011"));
  expect(&opened, ASHUF_SCHEMA_MISMATCH, "\"x\"");
  expect(&opened, ASHUF_SCHEMA_MISMATCH, "\"s\"");
  close_column(&opened);
}

static void a_null_outside_every_list_is_nobodys(void **state) {
  (void)state;
  static const struct {
    int64_t offsets[5];
    const char *valid;
    ashuf_status status;
  } cases[] = {
      {{1, 2, 2, 2, 2}, NULL, ASHUF_OK},
      {{0, 1, 1, 1, 1}, NULL, ASHUF_SCHEMA_MISMATCH},
      {{0, 2, 3, 4, 4}, "0010", ASHUF_SCHEMA_MISMATCH},
      {{0, 2, 3, 4, 4}, "0101", ASHUF_OK},
      {{0, 0, 0, 0, 4}, NULL, ASHUF_SCHEMA_MISMATCH},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct opened opened;
    struct test_column child = column_int32("x", numbers, "0110", 4);
    child.schema.flags = 0;
    open_column(&opened, column_list("l", "+l", cases[i].offsets, cases[i].valid, 4, child));
    expect(&opened, cases[i].status, "\"x\"");
    close_column(&opened);
  }
}

static void null_values_of_a_dictionary_count_where_they_are_named(void **state) {
  (void)state;
  for (int64_t named = 0; named < 2; named++) {
    struct opened opened;
    struct test_column values = column_int32("", numbers, "10", 2);
    struct test_column column = column_dictionary("d", "c", (int64_t[]){0, named}, NULL, 2, values);
    column.schema.flags = 0;
    open_column(&opened, column);
    expect(&opened, named == 1 ? ASHUF_SCHEMA_MISMATCH : ASHUF_OK, "\"d\"");
    close_column(&opened);
  }
}

static void children_must_be_as_long_as_their_parents(void **state) {
  (void)state;
  struct opened opened;
  struct test_column child = column_int32("x", numbers, NULL, 4);
  open_column(&opened, column_struct("s", NULL, 4, &child, 1));
  opened.column->children[0]->length = 3;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  opened.column->children[0]->length = 4;
  opened.column->offset = 1;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  close_column(&opened);
  open_column(&opened, column_fixed_list("f", 2, NULL, 5, column_int32("x", numbers, NULL, 10)));
  opened.column->children[0]->length = 9;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  close_column(&opened);
}

static void offsets_of_parents_reach_their_children(void **state) {
  (void)state;
  struct opened opened;
  struct test_column item = column_int32("x", numbers, NULL, 10);
  column_slice(&item, 2, 8);
  struct test_column list = column_fixed_list("f", 2, NULL, 4, item);
  struct test_column column = column_struct("s", NULL, 4, &list, 1);
  open_column(&opened, column);
  column_slice(&opened.batch, 1, 3);
  expect(&opened, ASHUF_OK, NULL);
  const struct array_view *view = opened.set.columns[0].children[0].children[0].views;
  assert_int_equal(view->offset, 2 + 1 * 2);
  assert_int_equal(view->length, 6);
  close_column(&opened);
}

static void the_batch_itself_is_checked(void **state) {
  (void)state;
  struct opened opened;
  uint8_t bits = 0x0d;
  open_column(&opened, column_x());
  opened.batch.array.buffers[0] = &bits;
  opened.batch.array.null_count = -1;
  expect(&opened, ASHUF_BAD_ARRAY, NULL);
  opened.batch.array.buffers[0] = NULL;
  opened.batch.array.null_count = 1;
  expect(&opened, ASHUF_BAD_ARRAY, NULL);
  opened.batch.array.null_count = 0;
  opened.batch.array.n_children = 0;
  expect(&opened, ASHUF_BAD_ARRAY, NULL);
  opened.batch.array.n_children = 1;
  opened.batch.array.length = 5;
  expect(&opened, ASHUF_BAD_ARRAY, "\"x\"");
  opened.batch.array.length = 4;
  struct ArrowArray released = {0};
  assert_int_equal(source_set_push(&opened.set, &released, NULL), ASHUF_BAD_ARRAY);
  expect(&opened, ASHUF_OK, NULL);
  close_column(&opened);
}

static void every_type_is_let_in_and_memory_is_reused(void **state) {
  (void)state;
  struct test_random dice = {3};
  for (size_t t = 0; test_types[t] != NULL; t++) {
    struct ashuf_error error;
    struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
    ashuf_memory *memory;
    struct opened opened;
    assert_int_equal(ashuf_memory_new(NULL, &memory, &error), ASHUF_OK);
    struct test_column column = column_random("c", test_types[t], &dice, 40, 20);
    opened.batch = batch_of(&column, 1);
    assert_int_equal(ashuf_schema_import(&opened.batch.schema, NULL, &opened.schema, &error), 0);
    assert_int_equal(source_set_init(&opened.set, opened.schema, memory, &error), ASHUF_OK);
    for (int i = 0; i < 40; i++)
      assert_int_equal(source_set_push(&opened.set, &opened.batch.array, &error), ASHUF_OK);
    ashuf_memory_get_stats(memory, &stats);
    uint64_t allocations = stats.allocations;
    for (int i = 0; i < 10; i++) {
      source_set_clear(&opened.set);
      assert_int_equal(source_set_push(&opened.set, &opened.batch.array, &error), ASHUF_OK);
    }
    ashuf_memory_get_stats(memory, &stats);
    assert_int_equal(stats.allocations, allocations);
    close_column(&opened);
    ashuf_memory_get_stats(memory, &stats);
    assert_int_equal(stats.now, 0);
    ashuf_memory_free(memory);
  }
}

/* ---- Every allocation failed in turn -------------------------------------------------------- */

struct failing {
  int left;
};

static void *failing_allocate(void *user, size_t size, size_t alignment) {
  struct failing *failing = user;
  if (failing->left-- == 0) return NULL;
  return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void failing_release(void *user, void *pointer, size_t size, size_t alignment) {
  (void)user, (void)size, (void)alignment;
  free(pointer);
}

static void no_memory_is_an_error_and_no_more(void **state) {
  (void)state;
  struct test_random dice = {5};
  struct opened opened;
  struct test_column column = column_random("c", "list(struct(b,u))", &dice, 20, 10);
  open_column(&opened, column);
  for (int n = 0, failed = 1; failed != 0; n++) {
    struct failing failing = {n};
    struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
    options.allocate = failing_allocate;
    options.release = failing_release;
    options.user_data = &failing;
    ashuf_memory *memory;
    struct source_set set;
    assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
    failed = source_set_init(&set, opened.schema, memory, NULL) != ASHUF_OK;
    for (size_t i = 0; failed == 0 && i < 30; i++) {
      failed = source_set_push(&set, &opened.batch.array, NULL) != ASHUF_OK;
      assert_int_equal(set.n_batches, i + (failed == 0));
      for (size_t k = 0; k < set.n_batches; k++)
        assert_int_equal(set.columns[0].views[k].length, 10);
      if (failed != 0) source_set_free(&set);
    }
    if (failed == 0) source_set_free(&set);
    struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
    ashuf_memory_get_stats(memory, &stats);
    assert_int_equal(stats.now, 0);
    ashuf_memory_free(memory);
    assert_true(n < 50);
  }
  close_column(&opened);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lengths_and_counts_are_checked),
      cmocka_unit_test(missing_buffers_are_refused),
      cmocka_unit_test(strings_without_bytes_must_be_empty),
      cmocka_unit_test(a_bitmap_without_nulls_is_left_aside),
      cmocka_unit_test(a_null_in_a_column_without_nulls_is_a_mismatch),
      cmocka_unit_test(a_null_under_a_null_parent_is_nobodys),
      cmocka_unit_test(a_null_outside_every_list_is_nobodys),
      cmocka_unit_test(null_values_of_a_dictionary_count_where_they_are_named),
      cmocka_unit_test(children_must_be_as_long_as_their_parents),
      cmocka_unit_test(offsets_of_parents_reach_their_children),
      cmocka_unit_test(the_batch_itself_is_checked),
      cmocka_unit_test(every_type_is_let_in_and_memory_is_reused),
      cmocka_unit_test(no_memory_is_an_error_and_no_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

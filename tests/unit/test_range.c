/* Placement by range: the vectors, the rules, few and bad bounds. */
#include "support/arrays.h"
#include "support/ranges.h"

#include <ashuf/ashuf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct test_random dice = {77};

/* Takes over column and bounds; ids: one a row. */
static void place_columns(struct test_column column, struct test_column bounds, int rule,
                          uint8_t order, int32_t *ids) {
  struct test_column batch = batch_of(&column, 1);
  struct test_column bound_rows = batch_of(&bounds, 1);
  ashuf_schema *schema = range_schema(&batch);
  struct ashuf_partitioning how = range_of(1000, 1, &bound_rows.array, rule);
  how.orders = &order;
  ashuf_partitioner *partitioner = NULL;
  struct ashuf_error error;
  if (ashuf_partitioner_new(schema, &how, NULL, &partitioner, &error) != ASHUF_OK)
    fail_msg("%s", error.message);
  column_free(&bound_rows); /* the bounds were copied */
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, ids, NULL), ASHUF_OK);
  ashuf_partitioner_free(partitioner);
  ashuf_schema_free(schema);
  column_free(&batch);
}

/* ---- The vectors --------------------------------------------------------------------------- */

#define MAX_PARTS 8

/* A cell as a column of its parts: whole numbers, others, or texts. */
static struct test_column parse_cell(char *cell, char like) {
  int64_t integers[MAX_PARTS];
  double doubles[MAX_PARTS];
  const char *texts[MAX_PARTS];
  int64_t n = 0;
  char *rest;
  for (char *part = strtok_r(cell, ";", &rest); part != NULL; part = strtok_r(NULL, ";", &rest)) {
    integers[n] = atoll(part);
    doubles[n] = atof(part);
    texts[n++] = strcmp(part, "<empty>") == 0 ? "" : part;
  }
  if (like == 'l') return column_int64("k", integers, NULL, n);
  if (like == 'g') return column_fixed("k", "g", 8, doubles, NULL, n);
  return column_strings("k", "u", texts, n);
}

static void check_vector(char *line) {
  char *cells[4];
  char *rest = line;
  for (int i = 0; i < 4; i++) cells[i] = strsep(&rest, ",");
  char like = strchr("0123456789", cells[0][0]) == NULL ? 'u'
              : strchr(cells[0], '.') != NULL           ? 'g'
                                                        : 'l';
  for (int rule = ASHUF_RANGE_SPARK; rule <= ASHUF_RANGE_COMET; rule++) {
    char bounds[64];
    char key[64];
    int32_t id = -1;
    snprintf(bounds, sizeof bounds, "%s", cells[0]);
    snprintf(key, sizeof key, "%s", cells[1]);
    place_columns(parse_cell(key, like), parse_cell(bounds, like), rule, 0, &id);
    if (id != atoi(cells[2 + rule]))
      fail_msg("%s among %s: %d instead of %s", cells[1], cells[0], id, cells[2 + rule]);
  }
}

/* T41, too: what equals a bound lies left of it in Spark and right of it in Comet. */
static void t41_all_vectors_hold(void **state) {
  (void)state;
  const char *data = getenv("ASHUF_TEST_DATA");
  if (data == NULL) {
    print_message("ASHUF_TEST_DATA is not set\n");
    skip();
  }
  char line[256];
  snprintf(line, sizeof line, "%s/vectors/range_vectors.csv", data);
  FILE *file = fopen(line, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  int n = 0;
  for (; fgets(line, sizeof line, file) != NULL; n++) check_vector(line);
  fclose(file);
  assert_int_equal(n, 18);
}

static void t41_a_key_equal_to_a_bound_is_left_in_spark_and_right_in_comet(void **state) {
  (void)state;
  int32_t keys[] = {9, 10, 11, 20, 30, 31};
  int32_t bounds[] = {10, 20, 30};
  int32_t ids[6];
  place_columns(column_int32("k", keys, NULL, 6), column_int32("k", bounds, NULL, 3),
                ASHUF_RANGE_SPARK, 0, ids);
  assert_memory_equal(ids, ((int32_t[]){0, 0, 1, 1, 2, 3}), sizeof ids);
  place_columns(column_int32("k", keys, NULL, 6), column_int32("k", bounds, NULL, 3),
                ASHUF_RANGE_COMET, 0, ids);
  assert_memory_equal(ids, ((int32_t[]){0, 1, 1, 2, 3, 3}), sizeof ids);
}

/* ---- Order --------------------------------------------------------------------------------- */

static void t9_descending_turns_values_but_not_nulls(void **state) {
  (void)state;
  int32_t keys[] = {31, 30, 25, 10, 9, 0};
  int32_t bounds[] = {30, 20, 10};
  int32_t ids[6];
  struct {
    int rule;
    unsigned order;
    int32_t ids[6];
  } cases[] = {
      {ASHUF_RANGE_SPARK, ASHUF_ORDER_DESCENDING, {0, 0, 1, 2, 3, 3}},
      {ASHUF_RANGE_COMET, ASHUF_ORDER_DESCENDING, {0, 1, 1, 3, 3, 3}},
      {ASHUF_RANGE_SPARK, ASHUF_ORDER_DESCENDING | ASHUF_ORDER_NULLS_FIRST, {0, 0, 1, 2, 3, 0}},
      {ASHUF_RANGE_COMET, ASHUF_ORDER_DESCENDING | ASHUF_ORDER_NULLS_LAST, {0, 1, 1, 3, 3, 3}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    place_columns(column_int32("k", keys, "111110", 6), column_int32("k", bounds, NULL, 3),
                  cases[i].rule, (uint8_t)cases[i].order, ids);
    assert_memory_equal(ids, cases[i].ids, sizeof ids);
  }
}

static void t9_a_null_bound_parts_nulls_from_values(void **state) {
  (void)state;
  int32_t keys[] = {5, 0, 6};
  int32_t ids[3];
  int32_t first[] = {0, 5};
  int32_t last[] = {5, 0};
  place_columns(column_int32("k", keys, "101", 3), column_int32("k", first, "01", 2),
                ASHUF_RANGE_SPARK, 0, ids);
  assert_memory_equal(ids, ((int32_t[]){1, 0, 2}), sizeof ids);
  place_columns(column_int32("k", keys, "101", 3), column_int32("k", first, "01", 2),
                ASHUF_RANGE_COMET, 0, ids);
  assert_memory_equal(ids, ((int32_t[]){2, 1, 2}), sizeof ids);
  place_columns(column_int32("k", keys, "101", 3), column_int32("k", last, "10", 2),
                ASHUF_RANGE_COMET, ASHUF_ORDER_NULLS_LAST, ids);
  assert_memory_equal(ids, ((int32_t[]){1, 2, 1}), sizeof ids);
}

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void t9_zeros_are_one_value_and_nans_the_greatest(void **state) {
  (void)state;
  double keys[] = {-INFINITY,
                   -1e-300,
                   -0.0,
                   0.0,
                   1e-300,
                   INFINITY,
                   double_of(0xfff8000000000001),
                   double_of(0x7ff0000000000001)};
  double bounds[] = {0.0, INFINITY, double_of(0x7ff8000000000000)};
  int32_t ids[8];
  place_columns(column_fixed("k", "g", 8, keys, NULL, 8),
                column_fixed("k", "g", 8, bounds, NULL, 3), ASHUF_RANGE_SPARK, 0, ids);
  assert_memory_equal(ids, ((int32_t[]){0, 0, 0, 0, 1, 1, 2, 2}), sizeof ids);
  bounds[0] = -0.0;
  place_columns(column_fixed("k", "g", 8, keys, NULL, 8),
                column_fixed("k", "g", 8, bounds, NULL, 3), ASHUF_RANGE_COMET, 0, ids);
  assert_memory_equal(ids, ((int32_t[]){0, 0, 1, 1, 1, 2, 3, 3}), sizeof ids);
}

/* T9: what four tasks send to a partition lies between its bounds, whoever sends it. */
static void t9_writers_that_share_bounds_make_disjoint_ranges(void **state) {
  (void)state;
  enum { ROWS = 100000, WRITERS = 4, BOUNDS = 10 };
  int64_t *values = malloc(ROWS * sizeof *values);
  int32_t *ids = malloc(ROWS * sizeof *ids);
  for (int64_t i = 0; i < ROWS; i++) values[i] = i;
  for (int64_t i = ROWS - 1; i > 0; i--) {
    int64_t j = random_below(&dice, i + 1);
    int64_t swapped = values[i];
    values[i] = values[j];
    values[j] = swapped;
  }
  for (int descending = 0; descending <= 1; descending++) {
    int64_t bounds[BOUNDS];
    int64_t low[BOUNDS + 1];
    int64_t high[BOUNDS + 1];
    for (int i = 0; i < BOUNDS; i++) bounds[i] = 9000 * (descending ? BOUNDS - i : i + 1);
    for (int i = 0; i <= BOUNDS; i++) {
      low[i] = INT64_MAX;
      high[i] = INT64_MIN;
    }
    for (int w = 0; w < WRITERS; w++)
      place_columns(column_int64("k", values + w * ROWS / WRITERS, NULL, ROWS / WRITERS),
                    column_int64("k", bounds, NULL, BOUNDS), ASHUF_RANGE_SPARK,
                    descending ? ASHUF_ORDER_DESCENDING : 0, ids + w * ROWS / WRITERS);
    for (int64_t i = 0; i < ROWS; i++) {
      if (values[i] < low[ids[i]]) low[ids[i]] = values[i];
      if (values[i] > high[ids[i]]) high[ids[i]] = values[i];
    }
    for (int i = 0; i < BOUNDS; i++) {
      if (descending) {
        assert_int_equal(low[i], bounds[i]); /* inclusive at the end the order comes to last */
        assert_int_equal(high[i + 1], low[i] - 1);
      } else {
        assert_int_equal(high[i], bounds[i]);
        assert_int_equal(low[i + 1], high[i] + 1);
      }
    }
  }
  free(values);
  free(ids);
}

/* ---- Few bounds, none, and bad ones ---------------------------------------------------------- */

static ashuf_status try_bounds(const ashuf_schema *schema, struct test_column bounds,
                               int32_t partitions, struct ashuf_error *error) {
  struct test_column rows = batch_of(&bounds, 1);
  struct ashuf_partitioning how = range_of(partitions, 1, &rows.array, ASHUF_RANGE_SPARK);
  ashuf_partitioner *partitioner = NULL;
  ashuf_status status = ashuf_partitioner_new(schema, &how, NULL, &partitioner, error);
  assert_true((partitioner != NULL) == (status == ASHUF_OK));
  ashuf_partitioner_free(partitioner);
  column_free(&rows);
  return status;
}

static void equal_bounds_count_once_and_too_many_are_refused(void **state) {
  (void)state;
  struct test_column column = column_int32("key", (int32_t[]){1}, NULL, 1);
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = range_schema(&batch);
  struct ashuf_error error = {0};
  int32_t bounds[] = {1, 1, 1, 2, 2, 3, 2};
  assert_int_equal(try_bounds(schema, column_int32("k", bounds, NULL, 6), 4, &error), ASHUF_OK);
  assert_int_equal(try_bounds(schema, column_int32("k", bounds, NULL, 6), 3, &error),
                   ASHUF_INVALID_ARGUMENT);
  assert_non_null(strstr(error.message, "more than 2 different bounds"));
  assert_int_equal(try_bounds(schema, column_int32("k", bounds, NULL, 7), 9, &error),
                   ASHUF_INVALID_ARGUMENT);
  assert_non_null(strstr(error.message, "bound 6 lies before bound 5"));
  assert_int_equal(try_bounds(schema, column_int32("k", bounds, NULL, 1), 1, &error),
                   ASHUF_INVALID_ARGUMENT);
  int64_t falling[] = {0, 5, 2};
  assert_int_equal(try_bounds(schema, column_bytes("k", "u", falling, "abcde", NULL, 2), 9, &error),
                   ASHUF_BAD_ARRAY); /* three buffers where two are due */
  assert_non_null(strstr(error.message, "bounds: "));
  ashuf_schema_free(schema);
  column_free(&batch);
}

static void without_bounds_all_rows_go_to_partition_0(void **state) {
  (void)state;
  struct test_column column = column_random("key", "u", &dice, 30, 100);
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = range_schema(&batch);
  int32_t zeros[100] = {0};
  for (int32_t partitions = 1; partitions < 9; partitions += 7) {
    struct ashuf_partitioning how = range_of(partitions, 1, NULL, ASHUF_RANGE_COMET);
    ashuf_partitioner *partitioner = NULL;
    int32_t ids[100];
    memset(ids, 0xff, sizeof ids);
    assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &partitioner, NULL), ASHUF_OK);
    assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, ids, NULL), ASHUF_OK);
    assert_memory_equal(ids, zeros, sizeof ids);
    ashuf_partitioner_free(partitioner);
  }
  ashuf_schema_free(schema);
  column_free(&batch);
}

static void keys_without_an_order_are_refused_by_name(void **state) {
  (void)state;
  static const char *const types[] = {"n",
                                      "e",
                                      "tiD",
                                      "tin",
                                      "list(i)",
                                      "struct(i)",
                                      "map(u,l)",
                                      "fixed_list:3(i)",
                                      "dict:i(list(u))",
                                      "sparse(i,u)",
                                      "dense(i,u)",
                                      "list_view(i)",
                                      "runs:i(dict:c(u))",
                                      "runs:i(runs:s(i))",
                                      "dict:i(runs:i(u))",
                                      "runs:i(struct(i))"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    struct test_column column = column_random("odd", types[i], &dice, 0, 3);
    struct test_column batch = batch_of(&column, 1);
    ashuf_schema *schema = range_schema(&batch);
    struct ashuf_partitioning how = range_of(2, 1, NULL, ASHUF_RANGE_SPARK);
    ashuf_partitioner *partitioner = NULL;
    struct ashuf_error error = {0};
    assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &partitioner, &error),
                     ASHUF_UNSUPPORTED_TYPE);
    assert_non_null(strstr(error.message, "\"odd\""));
    ashuf_schema_free(schema);
    column_free(&batch);
  }
}

static void bad_range_partitionings_are_refused(void **state) {
  (void)state;
  struct test_column column = column_int32("key", (int32_t[]){1}, NULL, 1);
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = range_schema(&batch);
  ashuf_partitioner *out = NULL;
  struct ashuf_partitioning how = range_of(2, 1, NULL, 2);
  assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &out, NULL), ASHUF_INVALID_ARGUMENT);
  how = range_of(2, 0, NULL, 0);
  assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &out, NULL), ASHUF_INVALID_ARGUMENT);
  how = range_of(2, 2, NULL, 0);
  assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &out, NULL), ASHUF_INVALID_ARGUMENT);
  uint8_t bad_orders[] = {6, 7, 8, 255};
  for (int i = 0; i < 4; i++) {
    how = range_of(2, 1, NULL, 0);
    how.orders = &bad_orders[i];
    assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &out, NULL), ASHUF_INVALID_ARGUMENT);
  }
  assert_null(out);
  ashuf_schema_free(schema);
  column_free(&batch);
}

static void a_bad_batch_leaves_ids_and_cursor_alone(void **state) {
  (void)state;
  int64_t falling[] = {0, 1, 2, 8, 4};
  struct test_column bound = column_strings("s", "u", (const char *[]){"b"}, 1);
  struct test_column bounds = batch_of(&bound, 1);
  struct test_column column = column_bytes("s", "u", falling, "abcd", NULL, 4);
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = range_schema(&batch);
  struct ashuf_partitioning how = range_of(2, 1, &bounds.array, ASHUF_RANGE_SPARK);
  struct ashuf_partition_cursor cursor = ASHUF_PARTITION_CURSOR_INIT;
  ashuf_partitioner *partitioner = NULL;
  struct ashuf_error error = {0};
  int32_t ids[] = {-7, -7, -7, -7};
  cursor.row_ordinal = 5;
  assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &partitioner, NULL), ASHUF_OK);
  assert_int_equal(ashuf_partition_ids(partitioner, &cursor, &batch.array, ids, &error),
                   ASHUF_BAD_ARRAY);
  assert_non_null(strstr(error.message, "\"s\""));
  assert_memory_equal(ids, ((int32_t[]){-7, -7, -7, -7}), sizeof ids);
  assert_int_equal(cursor.row_ordinal, 5);
  ashuf_partitioner_free(partitioner);
  ashuf_schema_free(schema);
  column_free(&batch);
  column_free(&bounds);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t41_all_vectors_hold),
      cmocka_unit_test(t41_a_key_equal_to_a_bound_is_left_in_spark_and_right_in_comet),
      cmocka_unit_test(t9_descending_turns_values_but_not_nulls),
      cmocka_unit_test(t9_a_null_bound_parts_nulls_from_values),
      cmocka_unit_test(t9_zeros_are_one_value_and_nans_the_greatest),
      cmocka_unit_test(t9_writers_that_share_bounds_make_disjoint_ranges),
      cmocka_unit_test(equal_bounds_count_once_and_too_many_are_refused),
      cmocka_unit_test(without_bounds_all_rows_go_to_partition_0),
      cmocka_unit_test(keys_without_an_order_are_refused_by_name),
      cmocka_unit_test(bad_range_partitionings_are_refused),
      cmocka_unit_test(a_bad_batch_leaves_ids_and_cursor_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

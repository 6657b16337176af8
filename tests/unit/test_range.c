/* Placement by range: the vectors, the rules, and a naive comparator on every type. */
#include "arrow/row_encode.h"
#include "support/arrays.h"
#include "support/fault.h"
#include "support/row_order.h"
#include "support/take.h"

#include <ashuf/ashuf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct test_random dice = {77};

static ashuf_schema *schema_of(const struct test_column *batch) {
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(&batch->schema, NULL, &schema, NULL), ASHUF_OK);
  return schema;
}

static const int32_t first_columns[] = {0, 1, 2, 3};

static struct ashuf_partitioning range_of(int32_t partitions, int32_t n_keys,
                                          const struct ArrowArray *bounds, int rule) {
  struct ashuf_partitioning how = ASHUF_PARTITIONING_INIT;
  how.kind = ASHUF_PARTITION_RANGE;
  how.partitions = partitions;
  how.keys = first_columns;
  how.n_keys = n_keys;
  how.bounds = bounds;
  how.range_rule = rule;
  return how;
}

/* Takes over column and bounds; ids: one a row. */
static void place_columns(struct test_column column, struct test_column bounds, int rule,
                          uint8_t order, int32_t *ids) {
  struct test_column batch = batch_of(&column, 1);
  struct test_column bound_rows = batch_of(&bounds, 1);
  ashuf_schema *schema = schema_of(&batch);
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
static void all_vectors_hold(void **state) {
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

static void a_key_equal_to_a_bound_is_left_in_spark_and_right_in_comet(void **state) {
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

static void descending_turns_values_but_not_nulls(void **state) {
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

static void a_null_bound_parts_nulls_from_values(void **state) {
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

static void zeros_are_one_value_and_nans_the_greatest(void **state) {
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
static void writers_that_share_bounds_make_disjoint_ranges(void **state) {
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

/* ---- Any types, against the naive comparator ------------------------------------------------ */

static const char *const ordered_types[] = {
    "b",          "c",   "C",         "s",         "S",           "i",         "I",
    "l",          "L",   "f",         "g",         "d:9,2,32",    "d:18,2,64", "d:38,10",
    "d:76,5,256", "tdD", "tdm",       "tts",       "ttn",         "tsu:UTC",   "tDn",
    "tiM",        "w:0", "w:3",       "w:16",      "w:100",       "z",         "Z",
    "u",          "U",   "dict:i(u)", "dict:C(i)", "dict:s(w:3)", "dict:l(l)", "dict:L(d:38,10)",
    "dict:I(b)"};
#define N_TYPES ((int64_t)(sizeof ordered_types / sizeof *ordered_types))

#define MAX_KEYS 3

struct rows {
  struct test_column batch;
  int64_t offset; /* of the batch's first row */
  int64_t n;
  int32_t n_keys;
  uint8_t orders[MAX_KEYS];
  int64_t bounds[64]; /* rows */
  int32_t n_bounds;
  ashuf_schema *schema;
};

static int compare_rows(const struct rows *rows, int64_t a, int64_t b) {
  for (int32_t k = 0; k < rows->n_keys; k++) {
    int order = row_order(rows->batch.schema.children[k], rows->batch.array.children[k],
                          rows->offset + a, rows->offset + b, rows->orders[k]);
    if (order != 0) return order;
  }
  return 0;
}

/* Some values of floats, and bytes of strings, that are rarely met by chance. */
static void season(struct test_column *column) {
  static const uint64_t doubles[] = {0,
                                     (uint64_t)1 << 63,
                                     0x7ff8000000000000,
                                     0xfff8000000000001,
                                     0x7ff0000000000000,
                                     0xfff0000000000000};
  static const uint32_t floats[] = {0,          (uint32_t)1 << 31, 0x7fc00000,
                                    0xffc00001, 0x7f800000,        0xff800000};
  const struct ArrowArray *array = &column->array;
  const char *format = column->schema.format;
  uint8_t *values = (uint8_t *)(uintptr_t)array->buffers[1];
  for (int64_t i = 0; i < array->length; i++) {
    int64_t slot = array->offset + i;
    if (format[0] == 'g' && random_below(&dice, 2) == 0)
      memcpy(values + slot * 8, &doubles[random_below(&dice, 6)], 8);
    if (format[0] == 'f' && random_below(&dice, 2) == 0)
      memcpy(values + slot * 4, &floats[random_below(&dice, 6)], 4);
  }
  if (strchr("zu", format[0]) == NULL || array->length == 0) return;
  uint8_t *bytes = (uint8_t *)(uintptr_t)array->buffers[2];
  static const uint8_t odd[] = {0, 0, 0xff, 'a'};
  int32_t end = ((const int32_t *)array->buffers[1])[array->offset + array->length];
  for (int32_t i = 0; i < end; i++)
    if (random_below(&dice, 10) != 0) bytes[i] = odd[random_below(&dice, 4)];
}

static void choose_bounds(struct rows *rows) {
  int64_t wanted = rows->n == 0 ? 0 : random_below(&dice, 64);
  rows->n_bounds = 0;
  for (int64_t i = 0; i < wanted; i++) {
    int64_t row = random_below(&dice, rows->n);
    int32_t at = rows->n_bounds;
    while (at > 0 && compare_rows(rows, rows->bounds[at - 1], row) > 0) at--;
    memmove(rows->bounds + at + 1, rows->bounds + at,
            (size_t)(rows->n_bounds - at) * sizeof *rows->bounds);
    rows->bounds[at] = row;
    rows->n_bounds++;
  }
}

static void rows_open(struct rows *rows) {
  struct test_column columns[MAX_KEYS];
  static const uint8_t orders[] = {0, 1, 2, 3, 4, 5};
  int64_t all = random_below(&dice, 700);
  rows->n_keys = random_below(&dice, 2) == 0 ? 1 : (int32_t)random_below(&dice, MAX_KEYS) + 1;
  for (int32_t k = 0; k < rows->n_keys; k++) {
    const char *type = ordered_types[random_below(&dice, N_TYPES)];
    columns[k] = column_random("k", type, &dice, random_below(&dice, 2) == 0 ? 0 : 20, all);
    if (columns[k].schema.dictionary == NULL) season(&columns[k]);
    rows->orders[k] = orders[random_below(&dice, 6)];
  }
  rows->batch = batch_of(columns, rows->n_keys);
  rows->schema = schema_of(&rows->batch);
  rows->offset = random_below(&dice, all + 1);
  rows->n = all - rows->offset;
  column_slice(&rows->batch, rows->offset, rows->n);
  choose_bounds(rows);
}

static void root_release(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    array->children[i]->release(array->children[i]);
    free(array->children[i]);
  }
  free(array->children);
  array->release = NULL;
}

/* The bound rows as an array of their own. */
static struct ArrowArray take_bounds(const struct rows *rows) {
  struct source_set set;
  row_id ids[64];
  assert_int_equal(source_set_init(&set, rows->schema, NULL, NULL), ASHUF_OK);
  assert_int_equal(source_set_push(&set, &rows->batch.array, NULL), ASHUF_OK);
  for (int32_t i = 0; i < rows->n_bounds; i++) ids[i] = row_id_of(0, rows->bounds[i]);
  struct selection selection = {.n_rows = rows->n_bounds, .ids = ids};
  struct ArrowArray root = {.length = rows->n_bounds, .n_children = rows->n_keys};
  root.children = calloc((size_t)rows->n_keys, sizeof *root.children);
  root.release = root_release;
  for (int32_t k = 0; k < rows->n_keys; k++) {
    root.children[k] = malloc(sizeof *root.children[k]);
    *root.children[k] = take_rows(&set.columns[k], &selection);
    root.children[k]->null_count = -1;
    root.children[k]->n_buffers = root.children[k]->buffers[2] == NULL ? 2 : 3;
  }
  source_set_free(&set);
  return root;
}

/* Different bounds before row, or no later than it. */
static int32_t naive_id(const struct rows *rows, int64_t row, int rule) {
  int32_t id = 0;
  for (int32_t i = 0; i < rows->n_bounds; i++) {
    if (i > 0 && compare_rows(rows, rows->bounds[i - 1], rows->bounds[i]) == 0) continue;
    int order = compare_rows(rows, rows->bounds[i], row);
    id += rule == ASHUF_RANGE_SPARK ? order < 0 : order <= 0;
  }
  return id;
}

static void check_rows(const struct rows *rows, int rule) {
  struct ArrowArray bounds = take_bounds(rows);
  struct ashuf_partitioning how = range_of(64, rows->n_keys, &bounds, rule);
  ashuf_partitioner *partitioner = NULL;
  struct ashuf_error error;
  int32_t ids[700];
  how.orders = rows->orders;
  if (ashuf_partitioner_new(rows->schema, &how, NULL, &partitioner, &error) != ASHUF_OK)
    fail_msg("%s", error.message);
  bounds.release(&bounds);
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &rows->batch.array, ids, &error),
                   ASHUF_OK);
  for (int64_t i = 0; i < rows->n; i++)
    if (ids[i] != naive_id(rows, i, rule))
      fail_msg("row %d of %d keys (the first %s, order %d): %d instead of %d", (int)i, rows->n_keys,
               rows->batch.schema.children[0]->format, rows->orders[0], ids[i],
               naive_id(rows, i, rule));
  ashuf_partitioner_free(partitioner);
}

static void placement_agrees_with_a_naive_comparator(void **state) {
  (void)state;
  for (int round = 0; round < 1500; round++) {
    struct rows rows;
    rows_open(&rows);
    check_rows(&rows, ASHUF_RANGE_SPARK);
    check_rows(&rows, ASHUF_RANGE_COMET);
    ashuf_schema_free(rows.schema);
    column_free(&rows.batch);
  }
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
  ashuf_schema *schema = schema_of(&batch);
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
  ashuf_schema *schema = schema_of(&batch);
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
    ashuf_schema *schema = schema_of(&batch);
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
  ashuf_schema *schema = schema_of(&batch);
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
  ashuf_schema *schema = schema_of(&batch);
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

/* ---- Memory ---------------------------------------------------------------------------------- */

static ashuf_status make_and_place(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  const struct rows *rows = data;
  struct ArrowArray bounds = take_bounds(rows);
  struct ashuf_partitioning how = range_of(64, rows->n_keys, &bounds, ASHUF_RANGE_SPARK);
  ashuf_partitioner *partitioner = NULL;
  int32_t ids[700];
  how.orders = rows->orders;
  ashuf_status status = ashuf_partitioner_new(rows->schema, &how, memory, &partitioner, error);
  bounds.release(&bounds);
  if (status == ASHUF_OK)
    status = ashuf_partition_ids(partitioner, NULL, &rows->batch.array, ids, error);
  ashuf_partitioner_free(partitioner);
  return status;
}

static void no_allocation_that_fails_leaks(void **state) {
  (void)state;
  for (int round = 0; round < 30; round++) {
    struct rows rows;
    rows_open(&rows);
    fault_sweep(make_and_place, &rows);
    ashuf_schema_free(rows.schema);
    column_free(&rows.batch);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_vectors_hold),
      cmocka_unit_test(a_key_equal_to_a_bound_is_left_in_spark_and_right_in_comet),
      cmocka_unit_test(descending_turns_values_but_not_nulls),
      cmocka_unit_test(a_null_bound_parts_nulls_from_values),
      cmocka_unit_test(zeros_are_one_value_and_nans_the_greatest),
      cmocka_unit_test(writers_that_share_bounds_make_disjoint_ranges),
      cmocka_unit_test(placement_agrees_with_a_naive_comparator),
      cmocka_unit_test(equal_bounds_count_once_and_too_many_are_refused),
      cmocka_unit_test(without_bounds_all_rows_go_to_partition_0),
      cmocka_unit_test(keys_without_an_order_are_refused_by_name),
      cmocka_unit_test(bad_range_partitionings_are_refused),
      cmocka_unit_test(a_bad_batch_leaves_ids_and_cursor_alone),
      cmocka_unit_test(no_allocation_that_fails_leaks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

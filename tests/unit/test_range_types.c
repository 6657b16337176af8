/* Placement by range of rows of every ordered type, against a naive comparator. */
#include "support/arrays.h"
#include "support/fault.h"
#include "support/ranges.h"
#include "support/row_order.h"
#include "support/take.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct test_random dice = {77};

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
  rows->schema = range_schema(&rows->batch);
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
      cmocka_unit_test(placement_agrees_with_a_naive_comparator),
      cmocka_unit_test(no_allocation_that_fails_leaks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

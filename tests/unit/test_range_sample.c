/* Bounds from candidates and from sampled inputs. */
#include "partition/xorshift.h"
#include "support/arrays.h"
#include "support/fault.h"
#include "support/row_order.h"

#include <ashuf/ashuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct test_random dice = {31};

static ashuf_schema *schema_of(const struct test_column *batch) {
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(&batch->schema, NULL, &schema, NULL), ASHUF_OK);
  return schema;
}

static const int32_t first_columns[] = {0, 1, 2};

static struct ashuf_partitioning range_of(int32_t partitions, int32_t n_keys) {
  struct ashuf_partitioning how = ASHUF_PARTITIONING_INIT;
  how.kind = ASHUF_PARTITION_RANGE;
  how.partitions = partitions;
  how.keys = first_columns;
  how.n_keys = n_keys;
  return how;
}

static struct ArrowArray bounds_of(struct test_column *batch, struct ashuf_partitioning how,
                                   const float *weights) {
  ashuf_schema *schema = schema_of(batch);
  struct ArrowArray bounds = {0};
  struct ashuf_error error;
  if (ashuf_range_bounds(schema, &how, &batch->array, weights, NULL, &bounds, &error) != ASHUF_OK)
    fail_msg("%s", error.message);
  ashuf_schema_free(schema);
  return bounds;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* The literal of Spark's PartitioningSuite. */
static void weighted_candidates_give_sparks_bounds(void **state) {
  (void)state;
  double keys[] = {0.7, 0.1, 0.4, 0.3, 0.2, 0.5, 1.0};
  float weights[] = {2, 1, 1, 1, 1, 1, 3};
  struct test_column column = column_fixed("k", "g", 8, keys, NULL, 7);
  struct test_column batch = batch_of(&column, 1);
  struct ArrowArray bounds = bounds_of(&batch, range_of(3, 1), weights);
  assert_int_equal(bounds.length, 2);
  const double *found = bounds.children[0]->buffers[1];
  assert_true(found[0] == 0.4);
  assert_true(found[1] == 0.7);
  bounds.release(&bounds);
  column_free(&batch);
}

static void fewer_candidates_than_partitions_part_among_themselves(void **state) {
  (void)state;
  struct test_column column = column_int64("k", (int64_t[]){3, 1, 2}, NULL, 3);
  struct test_column batch = batch_of(&column, 1);
  struct ArrowArray bounds = bounds_of(&batch, range_of(10, 1), NULL);
  assert_int_equal(bounds.length, 2);
  assert_memory_equal(bounds.children[0]->buffers[1], ((int64_t[]){1, 2}), 16);
  bounds.release(&bounds);
  column_slice(&batch, 0, 0);
  bounds = bounds_of(&batch, range_of(10, 1), NULL);
  assert_int_equal(bounds.length, 0);
  bounds.release(&bounds);
  column_free(&batch);
}

static void equal_candidates_make_one_bound(void **state) {
  (void)state;
  int64_t keys[] = {5, 5, 5, 5, 5, 5, 5, 9};
  struct test_column column = column_int64("k", keys, NULL, 8);
  struct test_column batch = batch_of(&column, 1);
  struct ArrowArray bounds = bounds_of(&batch, range_of(4, 1), NULL);
  assert_int_equal(bounds.length, 2);
  assert_memory_equal(bounds.children[0]->buffers[1], ((int64_t[]){5, 9}), 16);
  bounds.release(&bounds);
  column_free(&batch);
}

static const char *const types[] = {
    "b",          "c",   "C",          "s",          "S",         "i",
    "I",          "l",   "L",          "d:9,2,32",   "d:18,2,64", "d:38,10",
    "d:76,5,256", "tdD", "tdm",        "tts",        "ttn",       "tsu:UTC",
    "tDn",        "tiM", "w:0",        "w:3",        "w:100",     "z",
    "Z",          "u",   "U",          "dict:i(u)",  "dict:C(i)", "dict:s(w:3)",
    "vu",         "vz",  "dict:c(vz)", "runs:i(vu)", "runs:s(i)", "runs:l(u)"};
#define N_TYPES ((int64_t)(sizeof types / sizeof *types))

struct keyed {
  struct test_column batch;
  uint8_t orders[3];
  int32_t n_keys;
};

static int compare_rows(const struct keyed *keyed, int64_t a, int64_t b) {
  int order = 0;
  for (int32_t k = 0; order == 0 && k < keyed->n_keys; k++)
    order = row_order(keyed->batch.schema.children[k], keyed->batch.array.children[k], a, b,
                      keyed->orders[k]);
  return order;
}

static void keyed_open(struct keyed *keyed, int64_t rows) {
  struct test_column columns[3];
  keyed->n_keys = 1 + (int32_t)random_below(&dice, 3);
  for (int32_t k = 0; k < keyed->n_keys; k++) {
    columns[k] = column_random("k", types[random_below(&dice, N_TYPES)], &dice,
                               random_below(&dice, 2) == 0 ? 0 : 20, rows);
    keyed->orders[k] = (uint8_t)random_below(&dice, 6);
  }
  keyed->batch = batch_of(columns, keyed->n_keys);
}

/* Sorted by insertion, equal ones once; returns how many. */
static int64_t sort_rows(const struct keyed *keyed, int64_t n, int64_t *sorted) {
  int64_t found = 0;
  for (int64_t row = 0; row < n; row++) {
    int64_t at = found;
    while (at > 0 && compare_rows(keyed, sorted[at - 1], row) > 0) at--;
    if (at > 0 && compare_rows(keyed, sorted[at - 1], row) == 0) continue;
    memmove(sorted + at + 1, sorted + at, (size_t)(found - at) * sizeof *sorted);
    sorted[at] = row;
    found++;
  }
  return found;
}

static void check_bound(const struct keyed *keyed, const struct ArrowSchema *schema,
                        const struct ArrowArray *bounds, int64_t bound, int64_t row) {
  for (int32_t k = 0; k < keyed->n_keys; k++) {
    char *found = value_text(schema->children[k], bounds->children[k], bound);
    char *expected =
        value_text(keyed->batch.schema.children[k], keyed->batch.array.children[k], row);
    assert_string_equal(found, expected);
    free(found);
    free(expected);
  }
}

static struct ArrowArray sample_one(const ashuf_schema *schema,
                                    const struct ashuf_partitioning *how,
                                    const struct ArrowArray *batch) {
  ashuf_range_sampler *sampler = NULL;
  struct ArrowArray bounds;
  assert_int_equal(ashuf_range_sampler_new(schema, how, 1, 0, NULL, &sampler, NULL), ASHUF_OK);
  assert_int_equal(ashuf_range_sampler_push(sampler, 0, batch, NULL), ASHUF_OK);
  assert_int_equal(ashuf_range_sampler_bounds(sampler, &bounds, NULL), ASHUF_OK);
  ashuf_range_sampler_free(sampler);
  return bounds;
}

/* With a partition a candidate, the bounds are the keys themselves: all but the last. */
static void bounds_of_every_type_are_the_keys_they_were(void **state) {
  (void)state;
  for (int round = 0; round < 600; round++) {
    struct keyed keyed;
    int64_t rows = random_below(&dice, 60);
    int64_t sorted[60];
    keyed_open(&keyed, rows);
    ashuf_schema *schema = schema_of(&keyed.batch);
    struct ashuf_partitioning how = range_of(1000, keyed.n_keys);
    how.orders = keyed.orders;
    struct ArrowArray bounds = sample_one(schema, &how, &keyed.batch.array);
    ashuf_schema *key_schema = NULL;
    struct ArrowSchema exported;
    assert_int_equal(ashuf_range_schema(schema, &how, NULL, &key_schema, NULL), ASHUF_OK);
    assert_int_equal(ashuf_schema_export(key_schema, &exported, NULL), ASHUF_OK);
    int64_t different = sort_rows(&keyed, rows, sorted);
    assert_int_equal(bounds.length, different == rows && rows > 0 ? rows - 1 : different);
    for (int64_t i = 0; i < bounds.length; i++)
      check_bound(&keyed, &exported, &bounds, i, sorted[i]);
    how.bounds = &bounds;
    ashuf_partitioner *partitioner = NULL;
    int32_t ids[60];
    assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &partitioner, NULL), ASHUF_OK);
    assert_int_equal(ashuf_partition_ids(partitioner, NULL, &keyed.batch.array, ids, NULL),
                     ASHUF_OK);
    ashuf_partitioner_free(partitioner);
    for (int64_t row = 0; row < rows; row++) {
      int32_t before = 0;
      while (before < bounds.length && compare_rows(&keyed, sorted[before], row) < 0) before++;
      assert_int_equal(ids[row], before);
    }
    exported.release(&exported);
    bounds.release(&bounds);
    ashuf_schema_free(key_schema);
    ashuf_schema_free(schema);
    column_free(&keyed.batch);
  }
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

static void push_values(ashuf_range_sampler *sampler, int32_t input, const int64_t *values,
                        int64_t n) {
  struct test_column column = column_int64("k", values, NULL, n);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_error error;
  if (ashuf_range_sampler_push(sampler, input, &batch.array, &error) != ASHUF_OK)
    fail_msg("%s", error.message);
  column_free(&batch);
}

static ashuf_range_sampler *sampler_of(int32_t partitions, int32_t n_inputs, int32_t seed) {
  struct test_column column = column_int64("k", (int64_t[]){0}, NULL, 1);
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = schema_of(&batch);
  struct ashuf_partitioning how = range_of(partitions, 1);
  ashuf_range_sampler *sampler = NULL;
  assert_int_equal(ashuf_range_sampler_new(schema, &how, n_inputs, seed, NULL, &sampler, NULL),
                   ASHUF_OK);
  ashuf_schema_free(schema);
  column_free(&batch);
  return sampler;
}

static int64_t *random_values(int64_t n, int64_t below) {
  int64_t *values = malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = random_below(&dice, below);
  return values;
}

static struct ArrowArray finish(ashuf_range_sampler *sampler) {
  struct ArrowArray bounds;
  assert_int_equal(ashuf_range_sampler_bounds(sampler, &bounds, NULL), ASHUF_OK);
  ashuf_range_sampler_free(sampler);
  return bounds;
}

static void assert_equal_bounds(struct ArrowArray a, struct ArrowArray b) {
  assert_int_equal(a.length, b.length);
  assert_memory_equal(a.children[0]->buffers[1], b.children[0]->buffers[1], (size_t)a.length * 8);
  a.release(&a);
  b.release(&b);
}

static void few_rows_are_no_sample_but_all_keys(void **state) {
  (void)state;
  int64_t *values = random_values(3000, 1000000);
  ashuf_range_sampler *sampler = sampler_of(10, 1, 4711);
  push_values(sampler, 0, values, 3000);
  struct test_column column = column_int64("k", values, NULL, 3000);
  struct test_column batch = batch_of(&column, 1);
  assert_equal_bounds(finish(sampler), bounds_of(&batch, range_of(10, 1), NULL));
  column_free(&batch);
  free(values);
}

/* Spark's SamplingUtils.reservoirSampleAndCount and the seeds of RangePartitioner.sketch. */
static int64_t naive_reservoir(const int64_t *values, int64_t n, int64_t size, int32_t index,
                               int32_t seed, int64_t *out) {
  uint32_t mixed = ((uint32_t)index ^ (uint32_t)seed << 16) * 0x9e3775cdu;
  struct xorshift random = xorshift_seeded((int32_t)(__builtin_bswap32(mixed) * 0x9e3775cdu));
  for (int64_t i = 0; i < n && i < size; i++) out[i] = values[i];
  for (int64_t l = size + 1; l <= n; l++) {
    int64_t at = (int64_t)(xorshift_double(&random) * (double)l);
    if (at < size) out[at] = values[l - 1];
  }
  return n < size ? n : size;
}

/* Four partitions want 400 keys, so of two inputs each keeps 600. */
static void reservoirs_are_filled_as_spark_fills_them(void **state) {
  (void)state;
  int64_t sizes[] = {5000, 450};
  int64_t keys[1200];
  float weights[1200];
  int64_t n = 0;
  ashuf_range_sampler *sampler = sampler_of(4, 2, -3);
  for (int32_t i = 0; i < 2; i++) {
    int64_t *values = random_values(sizes[i], 100000);
    int64_t kept = naive_reservoir(values, sizes[i], 600, i, -3, keys + n);
    for (int64_t k = 0; k < kept; k++) weights[n + k] = (float)((double)sizes[i] / (double)kept);
    n += kept;
    for (int64_t at = 0; at < sizes[i]; at += 450) {
      int64_t rest = sizes[i] - at;
      push_values(sampler, i, values + at, rest < 450 ? rest : 450);
    }
    free(values);
  }
  struct test_column column = column_int64("k", keys, NULL, n);
  struct test_column batch = batch_of(&column, 1);
  assert_equal_bounds(finish(sampler), bounds_of(&batch, range_of(4, 1), weights));
  column_free(&batch);
}

/* Inputs of these sizes, the rows of each in batches of at most this, last input first or not. */
static struct ArrowArray sample_inputs(int64_t *const *values, const int64_t *sizes, int32_t n,
                                       int64_t batch, bool backwards, int32_t seed) {
  ashuf_range_sampler *sampler = sampler_of(8, n, seed);
  for (int32_t k = 0; k < n; k++) {
    int32_t i = backwards ? n - 1 - k : k;
    for (int64_t at = 0; at < sizes[i]; at += batch) {
      int64_t rest = sizes[i] - at;
      push_values(sampler, i, values[i] + at, rest < batch ? rest : batch);
    }
  }
  return finish(sampler);
}

static void count_between(const struct ArrowArray *bounds, const int64_t *values, int64_t n,
                          int64_t *counts) {
  const int64_t *bound = bounds->children[0]->buffers[1];
  for (int64_t i = 0; i < n; i++) {
    int64_t id = 0;
    while (id < bounds->length && bound[id] < values[i]) id++;
    counts[id]++;
  }
}

/* One input has nearly all rows: its reservoir of 240 keys stands for far fewer than its share. */
static void a_large_input_among_small_ones_is_sampled_in_proportion(void **state) {
  (void)state;
  int64_t sizes[] = {10, 200000, 30, 0, 10, 500, 10, 10, 1, 10};
  int64_t *values[10];
  int64_t counts[8] = {0};
  for (int i = 0; i < 10; i++) values[i] = random_values(sizes[i] + 1, 1000000000);
  struct ArrowArray bounds = sample_inputs(values, sizes, 10, 4096, false, 0);
  assert_int_equal(bounds.length, 7);
  for (int i = 0; i < 10; i++) count_between(&bounds, values[i], sizes[i], counts);
  for (int i = 0; i < 8; i++) assert_in_range(counts[i], 15000, 36000);
  bounds.release(&bounds);
  for (int i = 0; i < 10; i++) free(values[i]);
}

static void bounds_depend_on_rows_and_seed_alone(void **state) {
  (void)state;
  int64_t sizes[] = {2000, 60000, 5, 900, 1};
  int64_t *values[5];
  for (int i = 0; i < 5; i++) values[i] = random_values(sizes[i], 1000000000);
  struct ArrowArray first = sample_inputs(values, sizes, 5, 1000, false, 9);
  struct ArrowArray other_seed = sample_inputs(values, sizes, 5, 1000, false, 10);
  assert_memory_not_equal(first.children[0]->buffers[1], other_seed.children[0]->buffers[1], 56);
  other_seed.release(&other_seed);
  assert_equal_bounds(first, sample_inputs(values, sizes, 5, 1000, false, 9));
  assert_equal_bounds(sample_inputs(values, sizes, 5, 77, true, 9),
                      sample_inputs(values, sizes, 5, 60000, false, 9));
  for (int i = 0; i < 5; i++) free(values[i]);
}

static void no_rows_give_no_bounds(void **state) {
  (void)state;
  struct ArrowArray bounds = finish(sampler_of(8, 3, 0));
  assert_int_equal(bounds.length, 0);
  assert_int_equal(bounds.n_children, 1);
  bounds.release(&bounds);
}

/* ---- Failures -------------------------------------------------------------------------------- */

static void bad_arguments_are_refused(void **state) {
  (void)state;
  struct test_column columns[] = {column_int64("k", (int64_t[]){1, 2}, NULL, 2),
                                  column_random("list", "list(i)", &dice, 0, 2)};
  struct test_column batch = batch_of(columns, 2);
  struct test_column key = column_int64("k", (int64_t[]){1, 2}, NULL, 2);
  struct test_column rows = batch_of(&key, 1);
  ashuf_schema *schema = schema_of(&batch);
  struct ashuf_partitioning how = range_of(4, 1);
  struct ArrowArray bounds;
  ashuf_range_sampler *sampler = NULL;
  float bad[][2] = {{1, -1}, {1.0f / 0.0f, 1}, {0.0f / 0.0f, 1}};
  for (int i = 0; i < 3; i++)
    assert_int_equal(ashuf_range_bounds(schema, &how, &rows.array, bad[i], NULL, &bounds, NULL),
                     ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_range_bounds(schema, &how, &batch.array, NULL, NULL, &bounds, NULL),
                   ASHUF_BAD_ARRAY); /* two columns where one is the key */
  assert_int_equal(ashuf_range_bounds(schema, &how, NULL, NULL, NULL, &bounds, NULL),
                   ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_range_sampler_new(schema, &how, 0, 0, NULL, &sampler, NULL),
                   ASHUF_INVALID_ARGUMENT);
  how.partitions = 0;
  assert_int_equal(ashuf_range_sampler_new(schema, &how, 1, 0, NULL, &sampler, NULL),
                   ASHUF_INVALID_ARGUMENT);
  how = range_of(4, 0);
  assert_int_equal(ashuf_range_sampler_new(schema, &how, 1, 0, NULL, &sampler, NULL),
                   ASHUF_INVALID_ARGUMENT);
  how = range_of(4, 2);
  assert_int_equal(ashuf_range_sampler_new(schema, &how, 1, 0, NULL, &sampler, NULL),
                   ASHUF_UNSUPPORTED_TYPE);
  assert_null(sampler);
  ashuf_range_sampler_free(NULL);
  ashuf_schema_free(schema);
  column_free(&batch);
  column_free(&rows);
}

static void a_sampler_that_failed_takes_no_more(void **state) {
  (void)state;
  int64_t falling[] = {0, 1, 2, 8, 4};
  struct test_column column = column_bytes("s", "u", falling, "abcd", NULL, 4);
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = schema_of(&batch);
  struct ashuf_partitioning how = range_of(4, 1);
  ashuf_range_sampler *sampler = NULL;
  struct ArrowArray bounds;
  struct ashuf_error error = {0};
  assert_int_equal(ashuf_range_sampler_new(schema, &how, 2, 0, NULL, &sampler, NULL), ASHUF_OK);
  assert_int_equal(ashuf_range_sampler_push(sampler, 2, &batch.array, NULL),
                   ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_range_sampler_push(sampler, -1, &batch.array, NULL),
                   ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_range_sampler_push(sampler, 1, &batch.array, &error), ASHUF_BAD_ARRAY);
  assert_non_null(strstr(error.message, "\"s\""));
  column_slice(&batch, 0, 2);
  assert_int_equal(ashuf_range_sampler_push(sampler, 1, &batch.array, NULL), ASHUF_INVALID_STATE);
  assert_int_equal(ashuf_range_sampler_bounds(sampler, &bounds, NULL), ASHUF_INVALID_STATE);
  ashuf_range_sampler_free(sampler);
  ashuf_schema_free(schema);
  column_free(&batch);
}

/* One partition of 20 inputs keeps 15 keys an input, 100 of all. */
static ashuf_status sample_with(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  const struct keyed *keyed = data;
  ashuf_schema *schema = schema_of(&keyed->batch);
  struct ashuf_partitioning how = range_of(1, keyed->n_keys);
  ashuf_range_sampler *sampler = NULL;
  struct ArrowArray bounds = {0};
  how.orders = keyed->orders;
  ashuf_status status = ashuf_range_sampler_new(schema, &how, 20, 0, memory, &sampler, error);
  if (status == ASHUF_OK) status = ashuf_range_sampler_push(sampler, 3, &keyed->batch.array, error);
  if (status == ASHUF_OK) status = ashuf_range_sampler_bounds(sampler, &bounds, error);
  if (bounds.release != NULL) bounds.release(&bounds);
  bounds.release = NULL;
  ashuf_range_sampler_free(sampler);
  how.partitions = 50;
  if (status == ASHUF_OK) {
    ashuf_schema *key_schema = NULL;
    status = ashuf_range_schema(schema, &how, memory, &key_schema, error);
    ashuf_schema_free(key_schema);
  }
  ashuf_schema_free(schema);
  return status;
}

static ashuf_status choose_with(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  const struct keyed *keyed = data;
  ashuf_schema *schema = schema_of(&keyed->batch);
  struct ashuf_partitioning how = range_of(50, keyed->n_keys);
  struct ArrowArray bounds = {0};
  ashuf_status status =
      ashuf_range_bounds(schema, &how, &keyed->batch.array, NULL, memory, &bounds, error);
  if (bounds.release != NULL) bounds.release(&bounds);
  ashuf_schema_free(schema);
  return status;
}

static void no_allocation_that_fails_leaks(void **state) {
  (void)state;
  for (int round = 0; round < 8; round++) {
    struct keyed keyed;
    keyed_open(&keyed, 130);
    fault_sweep(sample_with, &keyed);
    bool plain = true; /* a candidate is of the bounds' type */
    for (int32_t k = 0; k < keyed.n_keys; k++) {
      const struct ArrowSchema *column = keyed.batch.schema.children[k];
      plain = plain && column->dictionary == NULL && strchr("+v", column->format[0]) == NULL;
    }
    if (plain) fault_sweep(choose_with, &keyed);
    column_free(&keyed.batch);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weighted_candidates_give_sparks_bounds),
      cmocka_unit_test(fewer_candidates_than_partitions_part_among_themselves),
      cmocka_unit_test(equal_candidates_make_one_bound),
      cmocka_unit_test(bounds_of_every_type_are_the_keys_they_were),
      cmocka_unit_test(few_rows_are_no_sample_but_all_keys),
      cmocka_unit_test(reservoirs_are_filled_as_spark_fills_them),
      cmocka_unit_test(a_large_input_among_small_ones_is_sampled_in_proportion),
      cmocka_unit_test(bounds_depend_on_rows_and_seed_alone),
      cmocka_unit_test(no_rows_give_no_bounds),
      cmocka_unit_test(bad_arguments_are_refused),
      cmocka_unit_test(a_sampler_that_failed_takes_no_more),
      cmocka_unit_test(no_allocation_that_fails_leaks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Round robin by content and by position, and the generator that says where the first row goes. */
#include "partition/round_robin.h"

#include "partition/xorshift.h"
#include "support/arrays.h"

#include <ashuf/ashuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct test_random dice = {5};

static ashuf_schema *schema_of(const struct test_column *batch) {
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(&batch->schema, NULL, &schema, NULL), ASHUF_OK);
  return schema;
}

static struct ashuf_partitioning by_position(int32_t n, int64_t group_rows, int64_t map_index) {
  struct ashuf_partitioning how = ASHUF_PARTITIONING_INIT;
  how.kind = ASHUF_PARTITION_ROUND_ROBIN;
  how.round_robin = ASHUF_ROUND_ROBIN_POSITIONAL;
  how.partitions = n;
  how.group_rows = group_rows;
  how.map_index = map_index;
  return how;
}

static struct ashuf_partitioning by_content(int32_t n, int32_t max_columns) {
  struct ashuf_partitioning how = ASHUF_PARTITIONING_INIT;
  how.kind = ASHUF_PARTITION_ROUND_ROBIN;
  how.partitions = n;
  how.max_hash_columns = max_columns;
  return how;
}

static void place(struct ashuf_partitioning how, const struct test_column *batch,
                  struct ashuf_partition_cursor *cursor, int32_t *ids) {
  ashuf_schema *schema = schema_of(batch);
  ashuf_partitioner *partitioner = NULL;
  struct ashuf_error error;
  if (ashuf_partitioner_new(schema, &how, NULL, &partitioner, &error) != ASHUF_OK)
    fail_msg("%s", error.message);
  ashuf_schema_free(schema);
  if (ashuf_partition_ids(partitioner, cursor, &batch->array, ids, &error) != ASHUF_OK)
    fail_msg("%s", error.message);
  ashuf_partitioner_free(partitioner);
}

static void place_from_start(struct ashuf_partitioning how, const struct test_column *batch,
                             int32_t *ids) {
  struct ashuf_partition_cursor cursor = ASHUF_PARTITION_CURSOR_INIT;
  place(how, batch, &cursor, ids);
  assert_int_equal(cursor.row_ordinal, batch->array.length);
}

/* ---- The generator -------------------------------------------------------------------------- */

static void the_generator_is_sparks(void **state) {
  (void)state;
  static const double first[] = {0.619189370225301, 0.5096018842446481, 0.8325259388871524,
                                 0.26322809041172357, 0.6702867696264135};
  struct xorshift random = xorshift_seeded(42);
  assert_true(random.state == 0x38078a854d18b285u);
  for (int i = 0; i < 5; i++) assert_true(xorshift_double(&random) == first[i]);
}

static void all_start_vectors_hold(void **state) {
  (void)state;
  const char *data = getenv("ASHUF_TEST_DATA");
  if (data == NULL) {
    print_message("ASHUF_TEST_DATA is not set\n");
    skip();
  }
  struct test_column column = column_int32("a", (int32_t[]){7}, NULL, 1);
  struct test_column batch = batch_of(&column, 1);
  char line[256];
  snprintf(line, sizeof line, "%s/vectors/roundrobin_vectors.csv", data);
  FILE *file = fopen(line, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  int n = 0;
  for (; fgets(line, sizeof line, file) != NULL; n++) {
    long long map;
    int partitions;
    int start;
    int32_t id = -1;
    assert_int_equal(sscanf(line, "%lld,%d,%d", &map, &partitions, &start), 3);
    place_from_start(by_position(partitions, 1, map), &batch, &id);
    if (id != (start + 1) % partitions) fail_msg("%s: the first row goes to %d", line, id);
  }
  fclose(file);
  column_free(&batch);
  assert_int_equal(n, 120);
}

/* ---- By position ----------------------------------------------------------------------------- */

static void groups_run_on_across_batches(void **state) {
  (void)state;
  enum { ROWS = 1000 };
  struct test_column column = column_random("a", "i", &dice, 20, ROWS);
  struct test_column batch = batch_of(&column, 1);
  int32_t whole[ROWS];
  int32_t pieces[ROWS];
  place_from_start(by_position(7, 9, 3), &batch, whole);
  for (int64_t i = 1; i < ROWS; i++)
    assert_int_equal(whole[i], (whole[i - 1] + (i % 9 == 0 ? 1 : 0)) % 7);
  struct ashuf_partition_cursor cursor = ASHUF_PARTITION_CURSOR_INIT;
  for (int64_t at = 0; at < ROWS;) {
    int64_t n = random_below(&dice, 40);
    if (n > ROWS - at) n = ROWS - at;
    struct ArrowArray kept = batch.array;
    batch.array.offset = at;
    batch.array.length = n;
    place(by_position(7, 9, 3), &batch, &cursor, pieces + at);
    batch.array = kept;
    at += n;
    assert_int_equal(cursor.row_ordinal, at);
  }
  assert_memory_equal(pieces, whole, sizeof whole);
  column_free(&batch);
}

static int64_t first_group(int32_t partitions) {
  struct round_robin deal = round_robin_new(partitions, 0, 0);
  return deal.group_rows;
}

static void a_group_is_by_default_a_batchs_share(void **state) {
  (void)state;
  assert_int_equal(first_group(1), 8192);
  assert_int_equal(first_group(3), 2730);
  assert_int_equal(first_group(128), 64);
  assert_int_equal(first_group(129), 64);
  assert_int_equal(first_group(INT32_MAX), 64);
}

static void the_last_ordinals_are_placed_too(void **state) {
  (void)state;
  struct round_robin deal = round_robin_new(INT32_MAX, INT64_MAX, -1);
  int32_t ids[3];
  round_robin_ids(&deal, INT64_MAX - 2, 3, ids);
  assert_int_equal(ids[0], deal.start);
  assert_int_equal(ids[1], deal.start);
  assert_int_equal(ids[2], (deal.start + 1) % INT32_MAX);
}

static void count_ids(const int32_t *ids, int64_t n, int64_t *counts) {
  for (int64_t i = 0; i < n; i++) counts[ids[i]]++;
}

/* T11 */
static void t11_identical_rows_are_spread_by_position_and_not_by_content(void **state) {
  (void)state;
  enum { ROWS = 1000000, N = 10 };
  int64_t *values = calloc(ROWS, sizeof *values);
  int32_t *ids = malloc(ROWS * sizeof *ids);
  struct test_column column = column_int64("a", values, NULL, ROWS);
  struct test_column batch = batch_of(&column, 1);
  int64_t counts[N] = {0};
  place_from_start(by_position(N, 1, 0), &batch, ids);
  count_ids(ids, ROWS, counts);
  for (int i = 0; i < N; i++) assert_int_equal(counts[i], ROWS / N);
  memset(counts, 0, sizeof counts);
  place(by_content(N, 0), &batch, NULL, ids);
  count_ids(ids, ROWS, counts);
  assert_int_equal(counts[ids[0]], ROWS);
  free(values);
  free(ids);
  column_free(&batch);
}

static void partitions_of_a_task_differ_by_a_group_at_most(void **state) {
  (void)state;
  enum { ROWS = 5003, N = 11, GROUP = 64 };
  struct test_column column = column_random("a", "i", &dice, 0, ROWS);
  struct test_column batch = batch_of(&column, 1);
  int32_t ids[ROWS];
  int64_t counts[N] = {0};
  place_from_start(by_position(N, GROUP, 5), &batch, ids);
  count_ids(ids, ROWS, counts);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) assert_true(counts[i] - counts[k] <= GROUP);
  column_free(&batch);
}

/* T12: tasks with few rows do not all begin at the same partition. */
static void t12_small_tasks_reach_all_partitions(void **state) {
  (void)state;
  struct test_column column = column_random("a", "u", &dice, 0, 6);
  struct test_column batch = batch_of(&column, 1);
  int64_t counts[10] = {0};
  for (int64_t map = 0; map < 16; map++) {
    int32_t ids[6];
    place_from_start(by_position(10, 1, map), &batch, ids);
    count_ids(ids, 6, counts);
  }
  for (int i = 0; i < 10; i++) assert_true(counts[i] > 0);
  column_free(&batch);
}

static void position_needs_a_cursor_that_can_count_the_rows(void **state) {
  (void)state;
  struct test_column column = column_int32("a", (int32_t[]){1, 2}, NULL, 2);
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = schema_of(&batch);
  struct ashuf_partitioning how = by_position(3, 1, 0);
  struct ashuf_partition_cursor cursor = ASHUF_PARTITION_CURSOR_INIT;
  ashuf_partitioner *partitioner = NULL;
  int32_t ids[] = {-7, -7};
  assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &partitioner, NULL), ASHUF_OK);
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, ids, NULL),
                   ASHUF_INVALID_ARGUMENT);
  cursor.row_ordinal = -1;
  assert_int_equal(ashuf_partition_ids(partitioner, &cursor, &batch.array, ids, NULL),
                   ASHUF_INVALID_ARGUMENT);
  cursor.row_ordinal = INT64_MAX - 1;
  assert_int_equal(ashuf_partition_ids(partitioner, &cursor, &batch.array, ids, NULL),
                   ASHUF_INVALID_ARGUMENT);
  assert_int_equal(cursor.row_ordinal, INT64_MAX - 1);
  assert_memory_equal(ids, ((int32_t[]){-7, -7}), sizeof ids);
  cursor.row_ordinal = INT64_MAX - 2;
  assert_int_equal(ashuf_partition_ids(partitioner, &cursor, &batch.array, ids, NULL), ASHUF_OK);
  ashuf_partitioner_free(partitioner);
  ashuf_schema_free(schema);
  column_free(&batch);
}

/* ---- By content ------------------------------------------------------------------------------ */

static void content_is_the_hash_of_the_first_columns(void **state) {
  (void)state;
  enum { ROWS = 300 };
  struct test_column columns[] = {column_random("a", "u", &dice, 20, ROWS),
                                  column_random("b", "l", &dice, 20, ROWS),
                                  column_random("c", "list(i)", &dice, 20, ROWS)};
  struct test_column batch = batch_of(columns, 3);
  int32_t keys[] = {0, 1, 2};
  for (int32_t max = 0; max <= 4; max++) {
    struct ashuf_partitioning hash = ASHUF_PARTITIONING_INIT;
    int32_t expected[ROWS];
    int32_t ids[ROWS];
    hash.kind = ASHUF_PARTITION_HASH;
    hash.partitions = 13;
    hash.keys = keys;
    hash.n_keys = max == 0 || max > 3 ? 3 : max;
    place(hash, &batch, NULL, expected);
    place(by_content(13, max), &batch, NULL, ids);
    assert_memory_equal(ids, expected, sizeof ids);
  }
  column_free(&batch);
}

#define T10_ROWS 1000000
#define T10_BATCH 10000
#define T10_PARTITIONS 200

/* Adds to each partition's sum something that only its rows decide. */
static void sum_partitions(int64_t first, uint64_t *sums) {
  static int64_t values[T10_BATCH];
  static int32_t ids[T10_BATCH];
  for (int64_t i = 0; i < T10_BATCH; i++) values[i] = first + i;
  struct test_column column = column_int64("a", values, NULL, T10_BATCH);
  struct test_column batch = batch_of(&column, 1);
  place(by_content(T10_PARTITIONS, 0), &batch, NULL, ids);
  for (int64_t i = 0; i < T10_BATCH; i++) {
    struct test_random mixed = {(uint64_t)values[i]};
    sums[ids[i]] += random_next(&mixed);
  }
  column_free(&batch);
}

/* T10: a second attempt that gets its batches in another order sends no row elsewhere. */
static void t10_content_does_not_depend_on_the_order_of_batches(void **state) {
  (void)state;
  enum { BATCHES = T10_ROWS / T10_BATCH };
  uint64_t first[T10_PARTITIONS] = {0};
  uint64_t second[T10_PARTITIONS] = {0};
  for (int64_t i = 0; i < BATCHES; i++) sum_partitions(i * T10_BATCH, first);
  for (int64_t i = 0; i < BATCHES; i++) sum_partitions(i * 37 % BATCHES * T10_BATCH, second);
  assert_memory_equal(first, second, sizeof first);
  for (int p = 1; p < T10_PARTITIONS; p++) assert_true(first[p] != first[p - 1]);
}

/* ---- What all kinds share -------------------------------------------------------------------- */

static void what_cannot_be_hashed_is_refused_by_content_alone(void **state) {
  (void)state;
  struct test_column columns[] = {column_random("a", "i", &dice, 0, 4),
                                  column_random("half", "e", &dice, 0, 4)};
  struct test_column batch = batch_of(columns, 2);
  ashuf_schema *schema = schema_of(&batch);
  ashuf_partitioner *out = NULL;
  struct ashuf_error error = {0};
  struct ashuf_partitioning how = by_content(3, 0);
  assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &out, &error), ASHUF_UNSUPPORTED_TYPE);
  assert_non_null(strstr(error.message, "\"half\""));
  assert_null(out);
  int32_t ids[4];
  place(by_content(3, 1), &batch, NULL, ids);
  place_from_start(by_position(3, 1, 0), &batch, ids);
  ashuf_schema_free(schema);
  column_free(&batch);
}

static void bad_round_robins_are_refused(void **state) {
  (void)state;
  struct test_column column = column_int32("a", (int32_t[]){1}, NULL, 1);
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = schema_of(&batch);
  ashuf_partitioner *out = NULL;
  struct ashuf_partitioning bad[] = {by_position(3, -1, 0), by_content(3, -1), by_content(3, 0),
                                     by_position(0, 1, 0)};
  bad[2].round_robin = 2;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(ashuf_partitioner_new(schema, &bad[i], NULL, &out, NULL),
                     ASHUF_INVALID_ARGUMENT);
  assert_null(out);
  ashuf_schema_free(schema);
  column_free(&batch);
}

static void rows_without_columns_and_single_partitions_go_to_0(void **state) {
  (void)state;
  struct test_column nothing = batch_of_nothing(9);
  struct test_column column = column_random("a", "i", &dice, 0, 9);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_partitioning range = by_content(5, 0);
  range.kind = ASHUF_PARTITION_RANGE;
  struct {
    struct ashuf_partitioning how;
    const struct test_column *batch;
  } cases[] = {{by_position(5, 1, 2), &nothing},
               {by_content(5, 0), &nothing},
               {range, &nothing},
               {by_position(1, 1, 2), &batch},
               {by_content(1, 0), &batch}};
  int32_t zeros[9] = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int32_t ids[9];
    memset(ids, 0xff, sizeof ids);
    place(cases[i].how, cases[i].batch, NULL, ids);
    assert_memory_equal(ids, zeros, sizeof ids);
  }
  column_free(&nothing);
  column_free(&batch);
}

/* The struct of a program built against the first version ends before the bounds. */
static void a_shorter_struct_leaves_the_rest_at_defaults(void **state) {
  (void)state;
  struct test_column column = column_int32("a", (int32_t[]){0, 1, -1}, NULL, 3);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_partitioning how;
  int32_t key = 0;
  int32_t ids[3];
  memset(&how, 0x5a, sizeof how);
  how.struct_size = offsetof(struct ashuf_partitioning, bounds);
  assert_int_equal(how.struct_size, 32);
  how.kind = ASHUF_PARTITION_RANGE;
  how.partitions = 200;
  how.keys = &key;
  how.n_keys = 1;
  place(how, &batch, NULL, ids);
  assert_memory_equal(ids, ((int32_t[]){0, 0, 0}), sizeof ids);
  how.kind = ASHUF_PARTITION_HASH;
  place(how, &batch, NULL, ids);
  assert_memory_equal(ids, ((int32_t[]){191, 43, 13}), sizeof ids);
  column_free(&batch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_generator_is_sparks),
      cmocka_unit_test(all_start_vectors_hold),
      cmocka_unit_test(groups_run_on_across_batches),
      cmocka_unit_test(a_group_is_by_default_a_batchs_share),
      cmocka_unit_test(the_last_ordinals_are_placed_too),
      cmocka_unit_test(t11_identical_rows_are_spread_by_position_and_not_by_content),
      cmocka_unit_test(partitions_of_a_task_differ_by_a_group_at_most),
      cmocka_unit_test(t12_small_tasks_reach_all_partitions),
      cmocka_unit_test(position_needs_a_cursor_that_can_count_the_rows),
      cmocka_unit_test(content_is_the_hash_of_the_first_columns),
      cmocka_unit_test(t10_content_does_not_depend_on_the_order_of_batches),
      cmocka_unit_test(what_cannot_be_hashed_is_refused_by_content_alone),
      cmocka_unit_test(bad_round_robins_are_refused),
      cmocka_unit_test(rows_without_columns_and_single_partitions_go_to_0),
      cmocka_unit_test(a_shorter_struct_leaves_the_rest_at_defaults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

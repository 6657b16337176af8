/* Partition ids through the public interface, and the counting sort. */
#include "partition/partition.h"

#include "partition/scatter.h"
#include "support/arrays.h"

#include <ashuf/ashuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct test_random dice = {23};

static ashuf_status make(const ashuf_schema *schema, int kind, int32_t n, const int32_t *keys,
                         int32_t n_keys, ashuf_partitioner **out, struct ashuf_error *error) {
  struct ashuf_partitioning partitioning = ASHUF_PARTITIONING_INIT;
  partitioning.kind = kind;
  partitioning.partitions = n;
  partitioning.keys = keys;
  partitioning.n_keys = n_keys;
  return ashuf_partitioner_new(schema, &partitioning, NULL, out, error);
}

static ashuf_schema *schema_of(const struct test_column *batch) {
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(&batch->schema, NULL, &schema, NULL), ASHUF_OK);
  return schema;
}

/* The smoke set of the specification: hash 200 over int32, then two columns. */
static void ids_equal_sparks(void **state) {
  (void)state;
  struct test_column columns[] = {column_int32("a", (int32_t[]){0, 1, -1, 1}, NULL, 4),
                                  column_int32("b", (int32_t[]){9, 2, 9, 0}, "0100", 4)};
  struct test_column batch = batch_of(columns, 2);
  ashuf_schema *schema = schema_of(&batch);
  ashuf_partitioner *partitioner = NULL;
  int32_t ids[4];
  assert_int_equal(make(schema, ASHUF_PARTITION_HASH, 200, (int32_t[]){0}, 1, &partitioner, NULL),
                   ASHUF_OK);
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, ids, NULL), ASHUF_OK);
  assert_memory_equal(ids, ((int32_t[]){191, 43, 13, 43}), sizeof ids);
  ashuf_partitioner_free(partitioner);
  assert_int_equal(
      make(schema, ASHUF_PARTITION_HASH, 200, (int32_t[]){0, 1}, 2, &partitioner, NULL), ASHUF_OK);
  ashuf_schema_free(schema); /* the partitioner holds its own reference */
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, ids, NULL), ASHUF_OK);
  assert_memory_equal(ids, ((int32_t[]){191, 21, 13, 43}), sizeof ids);
  ashuf_partitioner_free(partitioner);
  column_free(&batch);
}

static void slices_and_long_batches_keep_their_rows(void **state) {
  (void)state;
  int64_t n = 5000;
  struct test_column columns[] = {column_random("a", "l", &dice, 20, n),
                                  column_random("b", "u", &dice, 20, n)};
  struct test_column batch = batch_of(columns, 2);
  ashuf_schema *schema = schema_of(&batch);
  ashuf_partitioner *partitioner = NULL;
  int32_t *all = malloc((size_t)n * sizeof *all);
  int32_t *some = malloc((size_t)n * sizeof *some);
  assert_int_equal(make(schema, ASHUF_PARTITION_HASH, 37, (int32_t[]){1, 0}, 2, &partitioner, NULL),
                   ASHUF_OK);
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, all, NULL), ASHUF_OK);
  for (int64_t i = 0; i < n; i++) assert_in_range(all[i], 0, 36);
  column_slice(&batch, 9, 4001);
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, some, NULL), ASHUF_OK);
  assert_memory_equal(some, all + 9, 4001 * sizeof *some);
  free(all);
  free(some);
  ashuf_partitioner_free(partitioner);
  ashuf_schema_free(schema);
  column_free(&batch);
}

static void one_partition_takes_all_without_hashing(void **state) {
  (void)state;
  struct test_column column = column_random("a", "u", &dice, 20, 100);
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = schema_of(&batch);
  int32_t zeros[100] = {0};
  for (int kind = ASHUF_PARTITION_SINGLE; kind <= ASHUF_PARTITION_HASH; kind++) {
    ashuf_partitioner *partitioner = NULL;
    int32_t ids[100];
    memset(ids, 0xff, sizeof ids);
    int32_t n = kind == ASHUF_PARTITION_SINGLE ? 7 : 1;
    assert_int_equal(make(schema, kind, n, (int32_t[]){0}, 1, &partitioner, NULL), ASHUF_OK);
    assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, ids, NULL), ASHUF_OK);
    assert_memory_equal(ids, zeros, sizeof ids);
    ashuf_partitioner_free(partitioner);
  }
  ashuf_schema_free(schema);
  column_free(&batch);
}

static void rows_without_columns_go_to_partition_0(void **state) {
  (void)state;
  struct test_column batch = batch_of_nothing(12);
  ashuf_schema *schema = schema_of(&batch);
  ashuf_partitioner *partitioner = NULL;
  int32_t ids[12];
  int32_t zeros[12] = {0};
  memset(ids, 0xff, sizeof ids);
  assert_int_equal(make(schema, ASHUF_PARTITION_HASH, 10, NULL, 0, &partitioner, NULL), ASHUF_OK);
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, ids, NULL), ASHUF_OK);
  assert_memory_equal(ids, zeros, sizeof ids);
  batch.array.length = 0;
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, NULL, NULL), ASHUF_OK);
  ashuf_partitioner_free(partitioner);
  ashuf_schema_free(schema);
  column_free(&batch);
}

static void bad_partitionings_are_refused(void **state) {
  (void)state;
  struct test_column columns[] = {column_int32("a", (int32_t[]){1}, NULL, 1),
                                  column_random("half", "e", &dice, 0, 1)};
  struct test_column batch = batch_of(columns, 2);
  ashuf_schema *schema = schema_of(&batch);
  ashuf_partitioner *out = NULL;
  struct ashuf_error error = {0};
  int hash = ASHUF_PARTITION_HASH;
  int32_t keys[] = {0, 1, 2, -1};
  assert_int_equal(make(schema, 7, 1, keys, 1, &out, &error), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(make(schema, hash, 0, keys, 1, &out, &error), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(make(schema, hash, -5, keys, 1, &out, &error), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(make(schema, hash, 2, keys, 0, &out, &error), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(make(schema, hash, 2, NULL, 1, &out, &error), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(make(schema, hash, 2, keys + 2, 1, &out, &error), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(make(schema, hash, 2, keys + 3, 1, &out, &error), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(make(schema, hash, 2, keys, 2, &out, &error), ASHUF_UNSUPPORTED_TYPE);
  assert_non_null(strstr(error.message, "\"half\""));
  assert_int_equal(make(NULL, hash, 2, keys, 1, &out, &error), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(make(schema, hash, 2, keys, 1, NULL, &error), ASHUF_INVALID_ARGUMENT);
  assert_null(out);
  assert_int_equal(ashuf_partitioner_new(schema, NULL, NULL, &out, NULL), ASHUF_INVALID_ARGUMENT);
  ashuf_partitioner_free(NULL);
  ashuf_schema_free(schema);
  column_free(&batch);
}

static void a_bad_batch_leaves_the_ids_alone(void **state) {
  (void)state;
  int64_t falling[] = {0, 1, 2, 8, 4};
  struct test_column column = column_bytes("s", "u", falling, "abcd", NULL, 4);
  struct test_column batch = batch_of(&column, 1);
  ashuf_schema *schema = schema_of(&batch);
  ashuf_partitioner *partitioner = NULL;
  int32_t ids[] = {-7, -7, -7, -7};
  struct ashuf_error error = {0};
  assert_int_equal(make(schema, ASHUF_PARTITION_HASH, 3, (int32_t[]){0}, 1, &partitioner, NULL),
                   ASHUF_OK);
  assert_int_equal(ashuf_partition_ids(partitioner, NULL, &batch.array, ids, &error),
                   ASHUF_BAD_ARRAY);
  assert_non_null(strstr(error.message, "\"s\""));
  assert_memory_equal(ids, ((int32_t[]){-7, -7, -7, -7}), sizeof ids);
  ashuf_partitioner_free(partitioner);
  ashuf_schema_free(schema);
  column_free(&batch);
}

/* ---- The counting sort --------------------------------------------------------------------- */

static void check_scatter(struct scatter *scatter, int32_t partitions, size_t n_batches,
                          int64_t rows) {
  int32_t *ids = calloc(n_batches * (size_t)rows + 1, sizeof *ids);
  int64_t n = 0;
  for (size_t b = 0; b < n_batches; b++)
    for (int64_t i = 0; i < rows; i++) ids[n++] = (int32_t)random_below(&dice, partitions);
  for (size_t b = 0; b < n_batches; b++) scatter_count(scatter, ids + (int64_t)b * rows, rows);
  assert_int_equal(scatter_begin(scatter, NULL), ASHUF_OK);
  for (size_t b = 0; b < n_batches; b++)
    scatter_place(scatter, b, 0, ids + (int64_t)b * rows, rows);
  int64_t seen = 0;
  for (int32_t p = 0; p < partitions; p++) {
    struct selection part = scatter_partition(scatter, p);
    for (int64_t i = 0; i < part.n_rows; i++) {
      row_id id = part.ids[i];
      assert_int_equal(ids[(int64_t)row_batch(id) * rows + row_number(id)], p);
      if (i != 0) assert_true(part.ids[i - 1] < id); /* stable: input order, so nothing twice */
    }
    seen += part.n_rows;
  }
  assert_int_equal(seen, n);
  free(ids);
}

static void scatter_is_stable_and_complete(void **state) {
  (void)state;
  static const int32_t partitions[] = {1, 2, 200, 1000000};
  for (size_t i = 0; i < sizeof partitions / sizeof *partitions; i++) {
    struct scatter scatter;
    assert_int_equal(scatter_init(&scatter, partitions[i], NULL, NULL), ASHUF_OK);
    check_scatter(&scatter, partitions[i], 3, 500);
    scatter_reset(&scatter);
    check_scatter(&scatter, partitions[i], 0, 0);
    scatter_reset(&scatter);
    check_scatter(&scatter, partitions[i], 7, 1000);
    scatter_free(&scatter);
  }
}

static void scatter_without_memory_can_be_tried_again(void **state) {
  (void)state;
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  options.limit = 1000;
  ashuf_memory *memory;
  struct scatter scatter;
  struct ashuf_error error = {0};
  int32_t ids[100];
  for (int i = 0; i < 100; i++) ids[i] = i % 3;
  assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
  assert_int_equal(scatter_init(&scatter, 1000, memory, &error), ASHUF_MEMORY_LIMIT);
  assert_int_equal(scatter_init(&scatter, 3, memory, &error), ASHUF_OK);
  scatter_count(&scatter, ids, 100);
  scatter_count(&scatter, ids, 100);
  assert_int_equal(scatter_begin(&scatter, &error), ASHUF_MEMORY_LIMIT);
  scatter_reset(&scatter);
  scatter_count(&scatter, ids, 100);
  assert_int_equal(scatter_begin(&scatter, &error), ASHUF_OK);
  scatter_place(&scatter, 4, 10, ids, 100);
  assert_int_equal(scatter_partition(&scatter, 1).n_rows, 33);
  assert_int_equal(scatter_partition(&scatter, 1).ids[0], row_id_of(4, 11));
  scatter_free(&scatter);
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &stats);
  assert_int_equal(stats.now, 0);
  ashuf_memory_free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ids_equal_sparks),
      cmocka_unit_test(slices_and_long_batches_keep_their_rows),
      cmocka_unit_test(one_partition_takes_all_without_hashing),
      cmocka_unit_test(rows_without_columns_go_to_partition_0),
      cmocka_unit_test(bad_partitionings_are_refused),
      cmocka_unit_test(a_bad_batch_leaves_the_ids_alone),
      cmocka_unit_test(scatter_is_stable_and_complete),
      cmocka_unit_test(scatter_without_memory_can_be_tried_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

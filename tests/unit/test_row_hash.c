/* Hashes and partitions equal Spark's. */
#include "arrow/row_hash.h"

#include "base/cpu.h"

#include "support/arrays.h"
#include "support/vectors.h"

#include <ashuf/ashuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct test_random dice = {11};

struct opened {
  struct test_column batch;
  ashuf_schema *schema;
  struct source_set set;
};

static void open_batch(struct opened *opened, struct test_column batch) {
  struct ashuf_error error;
  opened->batch = batch;
  if (ashuf_schema_import(&batch.schema, NULL, &opened->schema, &error) != ASHUF_OK)
    fail_msg("schema: %s", error.message);
  assert_int_equal(source_set_init(&opened->set, opened->schema, NULL, &error), ASHUF_OK);
  if (source_set_push(&opened->set, &batch.array, &error) != ASHUF_OK)
    fail_msg("push: %s", error.message);
}

static void open_column(struct opened *opened, struct test_column column) {
  open_batch(opened, batch_of(&column, 1));
}

static void close_batch(struct opened *opened) {
  source_set_free(&opened->set);
  ashuf_schema_free(opened->schema);
  column_free(&opened->batch);
}

/* ---- The vectors --------------------------------------------------------------------------- */

static void check_vector(const char *id, struct test_column *columns, int n_columns, uint32_t seed,
                         const char *const *cells) {
  static const int32_t moduli[] = {2, 10, 200, 2000};
  struct opened opened;
  uint32_t hash = seed;
  open_batch(&opened, batch_of(columns, n_columns));
  for (int i = 0; i < n_columns; i++) {
    assert_int_equal(row_hash_check(opened.set.columns[i].field, NULL), ASHUF_OK);
    assert_int_equal(row_hash_fold(&opened.set.columns[i], 0, 0, 1, &hash, NULL), ASHUF_OK);
  }
  if ((int32_t)hash != atoi(cells[6]))
    fail_msg("%s: hash %d instead of %s", id, (int32_t)hash, cells[6]);
  for (int i = 0; i < 4; i++) {
    int32_t partition;
    row_hash_modulo(&hash, 1, moduli[i], &partition);
    assert_int_equal(partition, atoi(cells[8 + i]));
  }
  close_batch(&opened);
}

/* Cuts text at separators in place; empty cells count. */
static int cut(char *text, char separator, char **cells, int room) {
  int n = 0;
  for (char *cell = text; cell != NULL && n < room; n++) {
    cells[n] = cell;
    cell = strchr(cell, separator);
    if (cell != NULL) *cell++ = '\0';
  }
  return n;
}

/* Whether the line could be expressed. */
static bool run_line(const char *line, enum vector_layout layout) {
  char *copy = strdup(line);
  char *cells[16];
  char *types[16];
  char *values[16];
  struct test_column columns[16];
  assert_true(cut(copy, ',', cells, 16) >= 12);
  int n = cut(cells[3], '|', types, 16);
  assert_int_equal(cut(cells[4], '|', values, 16), n);
  int built = 0;
  if (strcmp(cells[2], "spark") == 0)
    while (built < n && vector_column(types[built], values[built], layout, &columns[built]))
      built++;
  bool whole = built == n;
  if (whole)
    check_vector(cells[0], columns, n, (uint32_t)strtoul(cells[5], NULL, 10),
                 (const char *const *)cells);
  else
    while (built-- > 0) column_free(&columns[built]);
  free(copy);
  return whole;
}

static void every_vector_of_spark(void **state) {
  (void)state;
  char path[1024];
  char line[8192];
  const char *data = getenv("ASHUF_TEST_DATA");
  if (data == NULL) skip();
  snprintf(path, sizeof path, "%s/vectors/murmur3_vectors.csv", data);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  int ran = 0;
  int left = 0;
  assert_non_null(fgets(line, sizeof line, file));
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\r\n")] = '\0';
    for (int layout = VECTOR_PLAIN; layout <= VECTOR_DICTIONARY; layout++) {
      bool done = run_line(line, layout);
      ran += done;
      left += !done;
    }
  }
  fclose(file);
  /* Left out: Spark 4.3's calendar intervals (2) and nanosecond timestamps (1). */
  assert_int_equal(left, 3 * 3);
  assert_int_equal(ran, 410 * 3);
}

/* ---- Decimals and floats ------------------------------------------------------------------- */

static uint32_t hash_of(struct test_column column) {
  struct opened opened;
  uint32_t hash = ROW_HASH_SEED;
  open_column(&opened, column);
  assert_int_equal(row_hash_fold(&opened.set.columns[0], 0, 0, 1, &hash, NULL), ASHUF_OK);
  close_batch(&opened);
  return hash;
}

static uint32_t hash_of_text(const char *type, const char *value, enum vector_layout layout) {
  struct test_column column;
  assert_true(vector_column(type, value, layout, &column));
  return hash_of(column);
}

static void t7_wide_decimals_hash_their_shortest_bytes(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"0", "x:00"},
      {"1", "x:01"},
      {"-1", "x:ff"},
      {"127", "x:7f"},
      {"128", "x:0080"},
      {"-128", "x:80"},
      {"-129", "x:ff7f"},
      {"1000000000000000000", "x:0de0b6b3a7640000"},
      {"9223372036854775808", "x:008000000000000000"},
      {"10000000000000000000000000000000000000", "x:0785ee10d5da46d900f436a000000000"},
      {"-10000000000000000000000000000000000000", "x:f87a11ef2a25b926ff0bc96000000000"},
      {"null", "null"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t want = hash_of_text("bin", cases[i][1], VECTOR_PLAIN);
    assert_int_equal(hash_of_text("dec:38", cases[i][0], VECTOR_PLAIN), want);
    assert_int_equal(hash_of_text("dec:19", cases[i][0], VECTOR_LARGE), want);
  }
  assert_int_equal((int32_t)hash_of_text("dec:38", "0", VECTOR_PLAIN), -783713497);
}

static void t7_narrow_decimals_hash_as_longs_whatever_their_width(void **state) {
  (void)state;
  static const int64_t values[] = {0, 1, -1, 127, -129, 99999999};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    uint32_t want = hash_of(column_int64("l", &values[i], NULL, 1));
    uint64_t wide[4] = {(uint64_t)values[i], 0, 0, 0};
    for (int k = 1; k < 4; k++) wide[k] = values[i] < 0 ? UINT64_MAX : 0;
    assert_int_equal(hash_of(column_fixed("d", "d:9,2,32", 4, wide, NULL, 1)), want);
    assert_int_equal(hash_of(column_fixed("d", "d:18,2,64", 8, wide, NULL, 1)), want);
    assert_int_equal(hash_of(column_fixed("d", "d:18,2", 16, wide, NULL, 1)), want);
    assert_int_equal(hash_of(column_fixed("d", "d:18,2,256", 32, wide, NULL, 1)), want);
  }
}

static void t8_all_nans_are_one_and_both_zeros_are_one(void **state) {
  (void)state;
  uint32_t singles[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0x00000000, 0x80000000};
  uint64_t doubles[] = {0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001, 0,
                        0x8000000000000000};
  int32_t zero = 0;
  int64_t long_zero = 0;
  for (int i = 0; i < 5; i++) {
    uint32_t f = hash_of(column_fixed("f", "f", 4, &singles[i], NULL, 1));
    uint32_t g = hash_of(column_fixed("g", "g", 8, &doubles[i], NULL, 1));
    assert_int_equal(f, i < 3 ? (uint32_t)-349261430 : hash_of(column_int32("i", &zero, NULL, 1)));
    assert_int_equal(
        g, i < 3 ? (uint32_t)-1281358385 : hash_of(column_int64("l", &long_zero, NULL, 1)));
  }
  uint32_t infinity = 0x7f800000;
  assert_int_not_equal(hash_of(column_fixed("f", "f", 4, &infinity, NULL, 1)),
                       (uint32_t)-349261430);
}

static void times_are_brought_to_microseconds_and_days(void **state) {
  (void)state;
  int64_t micros = -1;
  uint32_t minus_one = hash_of(column_int64("l", &micros, NULL, 1));
  int64_t nanos = -1;
  assert_int_equal(hash_of(column_fixed("t", "tsn:", 8, &nanos, NULL, 1)), minus_one);
  assert_int_equal(hash_of(column_fixed("t", "tDn", 8, &nanos, NULL, 1)), minus_one);
  int64_t millis = 7;
  micros = 7000;
  assert_int_equal(hash_of(column_fixed("t", "tsm:", 8, &millis, NULL, 1)),
                   hash_of(column_int64("l", &micros, NULL, 1)));
  micros = 7000000;
  assert_int_equal(hash_of(column_fixed("t", "tss:", 8, &millis, NULL, 1)),
                   hash_of(column_int64("l", &micros, NULL, 1)));
  int64_t date = -1;
  int32_t day = -1;
  assert_int_equal(hash_of(column_fixed("d", "tdm", 8, &date, NULL, 1)),
                   hash_of(column_int32("i", &day, NULL, 1)));
}

/* ---- Nulls, nesting, slices ---------------------------------------------------------------- */

static void a_null_struct_leaves_the_state_alone(void **state) {
  (void)state;
  int32_t hidden[] = {7, 7};
  struct test_column child = column_int32("i", hidden, NULL, 2);
  struct opened opened;
  uint32_t hashes[2] = {ROW_HASH_SEED, ROW_HASH_SEED};
  open_column(&opened, column_struct("s", "01", 2, &child, 1));
  assert_int_equal(row_hash_fold(&opened.set.columns[0], 0, 0, 2, hashes, NULL), ASHUF_OK);
  assert_int_equal(hashes[0], ROW_HASH_SEED);
  assert_int_equal((int32_t)hashes[1], 1079293707);
  close_batch(&opened);
}

static bool spark_hashes(const char *type) {
  static const char *const refused[] = {"C", "S", "I", "L", "e", "tts", "ttm", "ttu", "tiD"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (strcmp(type, refused[i]) == 0) return false;
  return strstr(type, "sparse(") == NULL && strstr(type, "dense(") == NULL;
}

/* Rows hashed together equal rows hashed one by one, at any offset, with any nulls. */
static void check_rows(const char *type, int nulls) {
  struct opened opened;
  uint32_t together[300];
  int64_t n = 1 + random_below(&dice, 299);
  struct test_column column = column_random("c", type, &dice, nulls, n);
  struct test_column batch = batch_of(&column, 1);
  int64_t offset = random_below(&dice, n < 10 ? n : 10);
  column_slice(&batch, offset, n - offset);
  n -= offset;
  open_batch(&opened, batch);
  for (int64_t i = 0; i < n; i++) together[i] = (uint32_t)i * 77;
  int64_t first = random_below(&dice, n);
  assert_int_equal(
      row_hash_fold(&opened.set.columns[0], 0, first, n - first, together + first, NULL), ASHUF_OK);
  for (int64_t i = first; i < n; i++) {
    uint32_t alone = (uint32_t)i * 77;
    char *text = value_text(batch.schema.children[0], batch.array.children[0], offset + i);
    assert_int_equal(row_hash_fold(&opened.set.columns[0], 0, i, 1, &alone, NULL), ASHUF_OK);
    assert_int_equal(alone, together[i]);
    if (strcmp(text, "null") == 0) assert_int_equal(alone, (uint32_t)i * 77);
    free(text);
  }
  close_batch(&opened);
}

static void rows_together_equal_rows_one_by_one(void **state) {
  (void)state;
  for (size_t t = 0; test_types[t] != NULL; t++)
    for (int nulls = 0; nulls <= 60 && spark_hashes(test_types[t]); nulls += 20)
      check_rows(test_types[t], nulls);
}

static void types_without_a_hash_are_refused_by_name(void **state) {
  (void)state;
  static const char *const types[] = {"list(C)", "struct(i,e)", "dict:i(S)", "map(u,tiD)"};
  for (size_t t = 0; test_types[t] != NULL; t++) {
    struct opened opened;
    struct ashuf_error error = {0};
    open_column(&opened, column_random("col", test_types[t], &dice, 0, 1));
    if (spark_hashes(test_types[t])) {
      assert_int_equal(row_hash_check(opened.set.columns[0].field, &error), ASHUF_OK);
    } else {
      assert_int_equal(row_hash_check(opened.set.columns[0].field, &error), ASHUF_UNSUPPORTED_TYPE);
      assert_non_null(strstr(error.message, "\"col\""));
    }
    close_batch(&opened);
  }
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    struct opened opened;
    open_column(&opened, column_random("col", types[t], &dice, 0, 1));
    assert_int_equal(row_hash_check(opened.set.columns[0].field, NULL), ASHUF_UNSUPPORTED_TYPE);
    close_batch(&opened);
  }
}

static ashuf_status status_of(struct test_column column) {
  struct opened opened;
  struct ashuf_error error = {0};
  uint32_t hashes[4] = {42, 42, 42, 42};
  open_column(&opened, column);
  ashuf_status status =
      row_hash_fold(&opened.set.columns[0], 0, 0, opened.set.lengths[0], hashes, &error);
  if (status != ASHUF_OK) assert_non_null(strstr(error.message, "\"bad\""));
  close_batch(&opened);
  return status;
}

static void offsets_and_indices_out_of_range_are_refused(void **state) {
  (void)state;
  int64_t falling[] = {0, 5, 3, 8};
  int64_t two[] = {0, 2, 0};
  int32_t five[] = {1, 2, 3, 4, 5};
  assert_int_equal(status_of(column_bytes("bad", "u", falling, "abcdefgh", NULL, 3)),
                   ASHUF_BAD_ARRAY);
  assert_int_equal(status_of(column_bytes("bad", "u", falling, "abcdefgh", "101", 3)), ASHUF_OK);
  assert_int_equal(
      status_of(column_list("bad", "+l", falling, NULL, 3, column_int32("item", five, NULL, 5))),
      ASHUF_BAD_ARRAY);
  assert_int_equal(
      status_of(column_dictionary("bad", "c", two, NULL, 3, column_int32("", five, NULL, 2))),
      ASHUF_BAD_ARRAY);
  assert_int_equal(
      status_of(column_dictionary("bad", "c", two, "101", 3, column_int32("", five, NULL, 2))),
      ASHUF_OK);
}

/* ---- floorMod ------------------------------------------------------------------------------ */

static int32_t slow_modulo(uint32_t hash, int32_t n) {
  int64_t rest = (int64_t)(int32_t)hash % n;
  return (int32_t)(rest < 0 ? rest + n : rest);
}

static void check_modulus(int32_t n) {
  uint32_t hashes[1024];
  int32_t ids[1024];
  int count = 0;
  for (int64_t k = -3; k <= 3; k++) {
    /* Around 0, the ends, and multiples of n: where a reciprocal would slip. */
    hashes[count++] = (uint32_t)k;
    hashes[count++] = 0x80000000u + (uint32_t)k;
    for (int i = 0; i < 40; i++) {
      int64_t most = INT64_C(0x7fffffff) / n;
      int64_t multiple = i < 2 ? most - i : random_below(&dice, most + 1);
      hashes[count++] = (uint32_t)(multiple * n + k);
      hashes[count++] = (uint32_t)(-multiple * n + k);
    }
  }
  while (count < 1024) hashes[count++] = (uint32_t)random_next(&dice);
  row_hash_modulo(hashes, count, n, ids);
  for (int i = 0; i < count; i++)
    if (ids[i] != slow_modulo(hashes[i], n))
      fail_msg("%d mod %d gave %d", (int32_t)hashes[i], n, ids[i]);
}

static void floor_modulo_is_exact_for_any_modulus(void **state) {
  (void)state;
  for (int32_t n = 1; n <= 2100; n++) check_modulus(n);
  for (int i = 0; i < 2000; i++) check_modulus((int32_t)(1 + random_below(&dice, INT32_MAX)));
  for (int32_t k = 0; k < 31; k++) {
    int32_t power = (int32_t)1 << k;
    check_modulus(power);
    check_modulus(power == 1 ? 1 : power - 1);
    check_modulus(power + 1);
  }
  check_modulus(INT32_MAX);
  check_modulus(INT32_MAX - 1);
  check_modulus(1000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_vector_of_spark),
      cmocka_unit_test(t7_wide_decimals_hash_their_shortest_bytes),
      cmocka_unit_test(t7_narrow_decimals_hash_as_longs_whatever_their_width),
      cmocka_unit_test(t8_all_nans_are_one_and_both_zeros_are_one),
      cmocka_unit_test(times_are_brought_to_microseconds_and_days),
      cmocka_unit_test(a_null_struct_leaves_the_state_alone),
      cmocka_unit_test(rows_together_equal_rows_one_by_one),
      cmocka_unit_test(types_without_a_hash_are_refused_by_name),
      cmocka_unit_test(offsets_and_indices_out_of_range_are_refused),
      cmocka_unit_test(floor_modulo_is_exact_for_any_modulus),
  };
  int failed = cmocka_run_group_tests_name("wide registers", tests, NULL, NULL);
  cpu_plain_only = true;
  return failed + cmocka_run_group_tests_name("any machine", tests, NULL, NULL);
}

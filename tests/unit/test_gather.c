/* Gathered rows equal a slow reading of the rows they were taken from, for every type. */
#include "arrow/gather.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "base/cpu.h"
#include "support/arrays.h"
#include "support/take.h"

#include <ashuf/ashuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *exactly(size_t size) {
  void *pointer = malloc(size == 0 ? 1 : size);
  assert_non_null(pointer);
  return pointer;
}

static struct test_random dice = {7};

/* ---- Batches and selections at random ------------------------------------------------------ */

#define MAX_TEST_BATCHES 9

struct batches {
  struct test_column batch[MAX_TEST_BATCHES];
  size_t n;
  ashuf_schema *schema;
  struct source_set set;
};

static void batches_open(struct batches *batches, const struct test_column *batch) {
  struct ashuf_error error;
  assert_int_equal(ashuf_schema_import(&batch->schema, NULL, &batches->schema, &error), ASHUF_OK);
  assert_int_equal(source_set_init(&batches->set, batches->schema, NULL, &error), ASHUF_OK);
}

static void batches_push(struct batches *batches, struct test_column batch) {
  struct ashuf_error error;
  if (batches->n == 0) batches_open(batches, &batch);
  batches->batch[batches->n++] = batch;
  if (source_set_push(&batches->set, &batch.array, &error) != ASHUF_OK)
    fail_msg("push: %s", error.message);
}

static void batches_close(struct batches *batches) {
  source_set_free(&batches->set);
  ashuf_schema_free(batches->schema);
  for (size_t i = 0; i < batches->n; i++) column_free(&batches->batch[i]);
}

static void batches_random(struct batches *batches, const char *type, int nulls, size_t n) {
  *batches = (struct batches){.n = 0};
  for (size_t i = 0; i < n; i++) {
    int64_t rows = random_below(&dice, 150);
    struct test_column column =
        column_random("c", type, &dice, random_below(&dice, 3) == 0 ? 0 : nulls, rows);
    struct test_column batch = batch_of(&column, 1);
    int64_t offset = random_below(&dice, 10);
    if (offset < rows) column_slice(&batch, offset, rows - offset);
    batches_push(batches, batch);
  }
}

static void check_rows(const struct batches *batches, const row_id *rows,
                       const struct selection *selection) {
  struct ArrowArray taken = take_rows(&batches->set.columns[0], selection);
  for (int64_t i = 0; i < selection->n_rows; i++) {
    const struct test_column *batch = &batches->batch[row_batch(rows[i])];
    char *want = value_text(batch->schema.children[0], batch->array.children[0],
                            batch->array.offset + row_number(rows[i]));
    char *got = value_text(batch->schema.children[0], &taken, i);
    assert_string_equal(got, want);
    free(want);
    free(got);
  }
  taken.release(&taken);
}

/* n random rows, repeated or not, of those batches that have rows; returns how many. */
static int64_t random_ids(const struct batches *batches, int64_t n, row_id *ids) {
  int64_t made = 0;
  bool forward = random_below(&dice, 2) == 0;
  for (int64_t i = 0; i < n; i++) {
    size_t batch = forward ? (size_t)(i * (int64_t)batches->n / n)
                           : (size_t)random_below(&dice, (int64_t)batches->n);
    int64_t rows = batches->set.lengths[batch];
    if (rows != 0) ids[made++] = row_id_of(batch, random_below(&dice, rows));
  }
  return made;
}

static void check_ids(const struct batches *batches, int64_t n) {
  row_id *ids = exactly((size_t)n * sizeof *ids);
  n = random_ids(batches, n, ids);
  check_rows(batches, ids, &(struct selection){.n_rows = n, .ids = ids});
  free(ids);
}

static void check_ranges(const struct batches *batches, size_t n_ranges) {
  struct row_range *ranges = exactly(n_ranges * sizeof *ranges);
  row_id *ids = exactly(n_ranges * 150 * sizeof *ids);
  int64_t n = 0;
  for (size_t i = 0; i < n_ranges; i++) {
    size_t batch = (size_t)random_below(&dice, (int64_t)batches->n);
    int64_t rows = batches->set.lengths[batch];
    int64_t first = random_below(&dice, rows + 1);
    ranges[i] = (struct row_range){row_id_of(batch, first), random_below(&dice, rows - first + 1)};
    for (int64_t k = 0; k < ranges[i].length; k++) ids[n++] = ranges[i].first + (uint64_t)k;
  }
  check_rows(batches, ids,
             &(struct selection){.n_rows = n, .ranges = ranges, .n_ranges = n_ranges});
  free(ranges);
  free(ids);
}

static void gather_equals_the_rows_for_every_type_and_selection(void **state) {
  (void)state;
  static const int64_t sizes[] = {0, 1, 7, 8, 9, 63, 64, 65, 200};
  for (size_t t = 0; test_types[t] != NULL; t++) {
    for (int nulls = 0; nulls <= 100; nulls += nulls == 0 ? 30 : 70) {
      struct batches batches;
      batches_random(&batches, test_types[t], nulls, 1 + (t + (size_t)nulls) % MAX_TEST_BATCHES);
      for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_ids(&batches, sizes[i]);
      for (size_t i = 0; i < 6; i++) check_ranges(&batches, i);
      batches_close(&batches);
    }
  }
}

/* ---- Named cases --------------------------------------------------------------------------- */

static void ten_rows_of_a_long_slice(void **state) {
  (void)state;
  struct batches batches = {.n = 0};
  struct test_column column = column_random("s", "u", &dice, 20, 1000000);
  struct test_column batch = batch_of(&column, 1);
  column_slice(&batch, 999990, 10);
  batches_push(&batches, batch);
  row_id ids[10];
  for (int i = 0; i < 10; i++) ids[i] = row_id_of(0, i);
  struct row_range range = {ids[0], 10};
  check_rows(&batches, ids, &(struct selection){.n_rows = 10, .ranges = &range, .n_ranges = 1});
  check_rows(&batches, ids, &(struct selection){.n_rows = 10, .ids = ids});
  batches_close(&batches);
}

/* Every row null, no value in the dictionary: nothing may be read where nothing is. */
static void nulls_of_an_empty_dictionary(void **state) {
  (void)state;
  static const char *const values[] = {"i",
                                       "b",
                                       "u",
                                       "d:38,2",
                                       "w:100",
                                       "struct(i,u,b)",
                                       "list(u)",
                                       "fixed_list:3(l)",
                                       "fixed_list:2(w:100)",
                                       "struct(fixed_list:9(d:38,2),u)",
                                       "n",
                                       NULL};
  for (int i = 0; values[i] != NULL; i++) {
    int64_t wild[] = {5, -1, 0, 77};
    struct test_column nothing = column_random("", values[i], &dice, 0, 0);
    struct test_column column = column_dictionary("d", "i", wild, "0000", 4, nothing);
    struct batches batches = {.n = 0};
    batches_push(&batches, batch_of(&column, 1));
    row_id ids[] = {2, 0, 3, 1};
    struct row_range range = {0, 4};
    row_id in_order[] = {0, 1, 2, 3};
    check_rows(&batches, ids, &(struct selection){.n_rows = 4, .ids = ids});
    check_rows(&batches, in_order,
               &(struct selection){.n_rows = 4, .ranges = &range, .n_ranges = 1});
    batches_close(&batches);
  }
}

/* Nulls that are empty, some that hide bytes, and all of a stretch with offsets that mean nothing.
 */
static void offsets_move_past_nulls_of_any_kind(void **state) {
  (void)state;
  for (int hidden = 0; hidden < 3; hidden++) {
    int64_t offsets[301] = {0};
    char valid[301] = {0};
    char bytes[600];
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < 300; i++) {
      bool null = i % 9 == 4 || (i >= 128 && i < 270);
      valid[i] = null ? '0' : '1';
      bool longer = !null || (hidden == 1 && i % 100 == 22);
      offsets[i + 1] = offsets[i] + (longer ? 2 : 0);
    }
    for (int i = 129; hidden == 2 && i < 270; i++) offsets[i] = i < 200 ? -7 : 70000;
    struct test_column column = column_bytes("s", "u", offsets, bytes, valid, 300);
    struct batches batches = {.n = 0};
    batches_push(&batches, batch_of(&column, 1));
    for (int64_t from = 0; from < 40; from += 13) {
      row_id ids[300];
      struct row_range ranges[2] = {{(row_id)from, 130}, {(row_id)from + 130, 170 - from}};
      for (int64_t i = from; i < 300; i++) ids[i - from] = (row_id)i;
      check_rows(&batches, ids,
                 &(struct selection){.n_rows = 300 - from, .ranges = ranges, .n_ranges = 2});
    }
    batches_close(&batches);
  }
}

static void null_values_of_a_dictionary_are_nulls(void **state) {
  (void)state;
  struct test_column values = column_strings("", "u", (const char *[]){"a", NULL, "c"}, 3);
  struct test_column column =
      column_dictionary("d", "c", (int64_t[]){2, 1, 0, 1, -5}, "11110", 5, values);
  struct batches batches = {.n = 0};
  batches_push(&batches, batch_of(&column, 1));
  struct row_range range = {0, 5};
  struct selection selection = {.n_rows = 5, .ranges = &range, .n_ranges = 1};
  struct selection decoded;
  row_id ids[5];
  uint8_t bits = 0xff;
  int64_t nulls = 0;
  assert_int_equal(
      gather_decode(&batches.set.columns[0], &selection, &bits, &nulls, ids, &decoded, NULL),
      ASHUF_OK);
  assert_int_equal(bits, 0x05);
  assert_int_equal(nulls, 3);
  batches_close(&batches);
}

/* A status of gathering all rows of a column by ids and by a range. */
static ashuf_status status_of(struct test_column column, const char *valid_rows) {
  struct batches batches = {.n = 0};
  int64_t n = column.array.length;
  batches_push(&batches, batch_of(&column, 1));
  const struct source *source = &batches.set.columns[0];
  ashuf_status status[2];
  for (int kind = 0; kind < 2; kind++) {
    row_id *ids = exactly((size_t)n * sizeof *ids);
    struct row_range range = {0, n};
    int64_t chosen = 0;
    for (int64_t i = 0; i < n; i++)
      if (valid_rows == NULL || valid_rows[i] == '1') ids[chosen++] = (row_id)i;
    struct selection selection = {.n_rows = n, .ranges = &range, .n_ranges = 1};
    if (kind == 0 || valid_rows != NULL)
      selection = (struct selection){.n_rows = chosen, .ids = ids};
    uint8_t *bits = exactly(bits_size(selection.n_rows));
    int64_t nulls = gather_validity(source, &selection, bits);
    uint8_t *out = exactly((size_t)(selection.n_rows + 1) * 8);
    struct row_range *ranges = exactly((size_t)n * sizeof *ranges);
    struct selection child;
    uint64_t total;
    struct ashuf_error error = {0};
    const uint8_t *validity = nulls == 0 ? NULL : bits;
    row_id *decoded = exactly((size_t)n * sizeof *decoded);
    if (source->dictionary != NULL)
      status[kind] = gather_decode(source, &selection, bits, &nulls, decoded, &child, &error);
    else if (type_info(source->field->type)->layout == LAYOUT_LIST)
      status[kind] =
          gather_lists(source, &selection, validity, out, &total, ranges, &child, &error);
    else
      status[kind] = gather_offsets(source, &selection, validity, out, &total, &error);
    if (status[kind] != ASHUF_OK) assert_non_null(strstr(error.message, "\"bad\""));
    free(ids);
    free(bits);
    free(out);
    free(ranges);
    free(decoded);
  }
  batches_close(&batches);
  assert_int_equal(status[0], status[1]);
  return status[0];
}

static void offsets_that_fall_or_leave_the_buffer_are_refused(void **state) {
  (void)state;
  static const char *const formats[] = {"u", "U", "z", "Z"};
  for (int i = 0; i < 4; i++) {
    const char *format = formats[i];
    int64_t falling[] = {0, 5, 3, 8};
    int64_t negative[] = {-1, 5, 6, 8};
    int64_t beyond[] = {0, 9, 8, 8};
    assert_int_equal(status_of(column_bytes("bad", format, falling, "abcdefgh", NULL, 3), NULL),
                     ASHUF_BAD_ARRAY);
    assert_int_equal(status_of(column_bytes("bad", format, negative, "abcdefgh", NULL, 3), NULL),
                     ASHUF_BAD_ARRAY);
    assert_int_equal(status_of(column_bytes("bad", format, beyond, "abcdefgh", NULL, 3), NULL),
                     ASHUF_BAD_ARRAY);
    /* The same beside a null. */
    assert_int_equal(status_of(column_bytes("bad", format, falling, "abcdefgh", "110", 3), NULL),
                     ASHUF_BAD_ARRAY);
    assert_int_equal(status_of(column_bytes("bad", format, negative, "abcdefgh", "101", 3), NULL),
                     ASHUF_BAD_ARRAY);
    assert_int_equal(status_of(column_bytes("bad", format, beyond, "abcdefgh", "101", 3), NULL),
                     ASHUF_BAD_ARRAY);
    /* The offender is null, or not selected. */
    assert_int_equal(status_of(column_bytes("bad", format, falling, "abcdefgh", "101", 3), NULL),
                     ASHUF_OK);
    assert_int_equal(status_of(column_bytes("bad", format, falling, "abcdefgh", NULL, 3), "101"),
                     ASHUF_OK);
  }
}

static struct test_column list_over_five(const char *format, const int64_t *offsets,
                                         const char *valid) {
  struct test_column child = column_int32("item", (int32_t[]){1, 2, 3, 4, 5}, NULL, 5);
  return column_list("bad", format, offsets, valid, 3, child);
}

static void lists_that_leave_their_child_are_refused(void **state) {
  (void)state;
  static const char *const formats[] = {"+l", "+L"};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(status_of(list_over_five(formats[i], (int64_t[]){0, 2, 1, 5}, NULL), NULL),
                     ASHUF_BAD_ARRAY);
    assert_int_equal(status_of(list_over_five(formats[i], (int64_t[]){0, 2, 3, 6}, NULL), NULL),
                     ASHUF_BAD_ARRAY);
    assert_int_equal(status_of(list_over_five(formats[i], (int64_t[]){0, 2, 3, 6}, "110"), NULL),
                     ASHUF_OK);
    assert_int_equal(status_of(list_over_five(formats[i], (int64_t[]){0, 2, 3, 5}, NULL), NULL),
                     ASHUF_OK);
  }
}

static void indices_outside_the_dictionary_are_refused(void **state) {
  (void)state;
  static const char *const formats[] = {"c", "C", "s", "S", "i", "I", "l", "L"};
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 4; k++) {
      int64_t indices[] = {0, (int64_t[]){2, -1, 1, 100}[k], 1};
      struct test_column bad = column_dictionary("bad", formats[i], indices, NULL, 3,
                                                 column_int32("", (int32_t[]){7, 8}, NULL, 2));
      assert_int_equal(status_of(bad, NULL), k == 2 ? ASHUF_OK : ASHUF_BAD_ARRAY);
      struct test_column hidden = column_dictionary("bad", formats[i], indices, "101", 3,
                                                    column_int32("", (int32_t[]){7, 8}, NULL, 2));
      assert_int_equal(status_of(hidden, NULL), ASHUF_OK);
    }
  }
}

static void empty_strings_need_no_bytes(void **state) {
  (void)state;
  struct test_column column = column_bytes("s", "u", (int64_t[]){0, 0, 0}, "", NULL, 2);
  int32_t *offsets = (int32_t *)(uintptr_t)column.array.buffers[1];
  for (int i = 0; i < 3; i++) offsets[i] = 5;
  assert_null(column.array.buffers[2]);
  assert_int_equal(status_of(column, NULL), ASHUF_OK);
}

static void sums_beyond_32_bits_are_told(void **state) {
  (void)state;
  /* One string of 2^30 bytes that nobody reads, three times. */
  struct test_column column = column_bytes("s", "u", (int64_t[]){0, 0}, "", NULL, 1);
  int32_t *offsets = (int32_t *)(uintptr_t)column.array.buffers[1];
  offsets[1] = 1 << 30;
  column.array.buffers[2] = exactly(1);
  struct batches batches = {.n = 0};
  batches_push(&batches, batch_of(&column, 1));
  row_id ids[] = {0, 0, 0};
  int32_t out[4];
  uint64_t total = 0;
  assert_int_equal(
      gather_offsets(&batches.set.columns[0], &(struct selection){.n_rows = 3, .ids = ids}, NULL,
                     out, &total, NULL),
      ASHUF_OK);
  assert_int_equal(total, (uint64_t)3 << 30);
  batches_close(&batches);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gather_equals_the_rows_for_every_type_and_selection),
      cmocka_unit_test(ten_rows_of_a_long_slice),
      cmocka_unit_test(nulls_of_an_empty_dictionary),
      cmocka_unit_test(offsets_move_past_nulls_of_any_kind),
      cmocka_unit_test(null_values_of_a_dictionary_are_nulls),
      cmocka_unit_test(offsets_that_fall_or_leave_the_buffer_are_refused),
      cmocka_unit_test(lists_that_leave_their_child_are_refused),
      cmocka_unit_test(indices_outside_the_dictionary_are_refused),
      cmocka_unit_test(empty_strings_need_no_bytes),
      cmocka_unit_test(sums_beyond_32_bits_are_told),
  };
  int failed = cmocka_run_group_tests_name("wide registers", tests, NULL, NULL);
  cpu_plain_only = true;
  return failed + cmocka_run_group_tests_name("any machine", tests, NULL, NULL);
}

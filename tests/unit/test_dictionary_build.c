/* A dictionary built for selected rows says what the rows say, each value once, in the order of
 * first appearance, whichever way entries are found. */
#include "ipc/dictionary_build.h"

#include "arrow/gather.h"
#include "base/bits.h"
#include "base/bytes.h"
#include "support/arrays.h"

#include <ashuf/ashuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_TEST_BATCHES 9
#define MAX_TEST_ROWS 4000

static struct test_random dice = {11};

/* Batches of one dictionary column; views is what was pushed, slices of owned ones or the same. */
struct fixture {
  struct test_column owned[MAX_TEST_BATCHES];
  size_t n_owned;
  struct ArrowArray views[MAX_TEST_BATCHES];
  size_t n;
  ashuf_schema *schema;
  struct source_set set;
};

static void fixture_push(struct fixture *fixture, const struct ArrowArray *view) {
  struct ashuf_error error;
  if (fixture->n == 0) {
    const struct ArrowSchema *schema = &fixture->owned[0].schema;
    assert_int_equal(ashuf_schema_import(schema, NULL, &fixture->schema, &error), ASHUF_OK);
    assert_int_equal(source_set_init(&fixture->set, fixture->schema, NULL, &error), ASHUF_OK);
  }
  fixture->views[fixture->n] = *view;
  if (source_set_push(&fixture->set, &fixture->views[fixture->n++], &error) != ASHUF_OK)
    fail_msg("push: %s", error.message);
}

static void fixture_take(struct fixture *fixture, struct test_column column) {
  struct test_column *owned = &fixture->owned[fixture->n_owned++];
  *owned = batch_of(&column, 1);
  fixture_push(fixture, &owned->array);
}

static void fixture_close(struct fixture *fixture) {
  source_set_free(&fixture->set);
  ashuf_schema_free(fixture->schema);
  for (size_t i = 0; i < fixture->n_owned; i++) column_free(&fixture->owned[i]);
}

static char *row_text(const struct fixture *fixture, row_id row, bool value) {
  const struct ArrowSchema *schema = fixture->owned[0].schema.children[0];
  const struct ArrowArray *view = &fixture->views[row_batch(row)];
  const struct ArrowArray *array = view->children[0];
  if (value) return value_text(schema->dictionary, array->dictionary, row_number(row));
  return value_text(schema, array, view->offset + row_number(row));
}

static ashuf_status build(const struct fixture *fixture, const struct selection *rows,
                          struct arena *arena, struct built_dictionary *built,
                          struct ashuf_error *error) {
  const struct source *source = &fixture->set.columns[0];
  uint8_t *bits = arena_array(arena, bits_size(rows->n_rows), 1);
  assert_non_null(bits);
  *built = (struct built_dictionary){.nulls = gather_validity(source, rows, bits)};
  if (built->nulls != 0) built->validity = bits;
  return dictionary_build(source, rows, arena, built, error);
}

static void check_values(const struct fixture *fixture, const struct built_dictionary *built) {
  int64_t n = built->values.n_rows;
  char *texts[MAX_TEST_ROWS];
  for (int64_t i = 0; i < n; i++) {
    texts[i] = row_text(fixture, built->values.ids[i], true);
    for (int64_t k = 0; k < i && n < 300; k++) assert_string_not_equal(texts[k], texts[i]);
  }
  for (int64_t i = 0; i < n; i++) free(texts[i]);
}

/* ids: the rows of the selection. */
static void check(const struct fixture *fixture, const row_id *ids, const struct selection *rows) {
  struct arena arena;
  struct built_dictionary built;
  struct ashuf_error error = {0};
  arena_init(&arena, NULL);
  if (build(fixture, rows, &arena, &built, &error) != ASHUF_OK) fail_msg("%s", error.message);
  assert_true(built.fits);
  int width = fixture->set.columns[0].field->byte_width;
  uint64_t seen = 0;
  int64_t nulls = 0;
  for (int64_t i = 0; i < rows->n_rows; i++) {
    char *want = row_text(fixture, ids[i], false);
    uint64_t index = load_unsigned((const uint8_t *)built.indices + i * width, width);
    if (built.validity != NULL && !bit_get(built.validity, i)) {
      assert_string_equal(want, "null");
      assert_int_equal(index, 0);
      nulls++;
    } else {
      char *got = row_text(fixture, built.values.ids[index], true);
      assert_string_equal(got, want);
      assert_in_range(index, 0, seen); /* the next new one at the most */
      seen += index == seen;
      free(got);
    }
    free(want);
  }
  assert_int_equal(seen, built.values.n_rows);
  assert_int_equal(nulls, built.nulls);
  check_values(fixture, &built);
  arena_free(&arena);
}

static void check_all(const struct fixture *fixture, int64_t n_ids) {
  row_id *ids = malloc(MAX_TEST_ROWS * MAX_TEST_BATCHES * sizeof *ids);
  struct row_range ranges[MAX_TEST_BATCHES];
  assert_non_null(ids);
  int64_t n = 0;
  for (int64_t i = 0; i < n_ids; i++) {
    size_t batch = (size_t)(i % 3 == 0 ? random_below(&dice, (int64_t)fixture->n)
                                       : i * (int64_t)fixture->n / n_ids);
    int64_t rows = fixture->set.lengths[batch];
    if (rows != 0) ids[n++] = row_id_of(batch, random_below(&dice, rows));
  }
  check(fixture, ids, &(struct selection){.n_rows = n, .ids = ids});
  n = 0;
  for (size_t i = 0; i < fixture->n; i++) {
    int64_t rows = fixture->set.lengths[i];
    int64_t first = random_below(&dice, rows + 1);
    ranges[i] = (struct row_range){row_id_of(i, first), rows - first};
    for (int64_t k = first; k < rows; k++) ids[n++] = row_id_of(i, k);
  }
  check(fixture, ids, &(struct selection){.n_rows = n, .ranges = ranges, .n_ranges = fixture->n});
  free(ids);
}

static void rows_of_random_dictionaries_keep_their_values(void **state) {
  (void)state;
  static const char indices[] = "cCsSiIlL";
  static const char *const values[] = {"u", "i", "b", "n", "vu", "list(u)", "struct(i,u)", "Z"};
  for (int t = 0; t < 8; t++) {
    for (int nulls = 0; nulls <= 100; nulls += 25) {
      char type[32];
      struct fixture fixture = {.n = 0};
      (void)snprintf(type, sizeof type, "dict:%c(%s)", indices[t], values[(t + nulls) % 8]);
      for (size_t i = 0; i < MAX_TEST_BATCHES - (size_t)t; i++)
        fixture_take(&fixture, column_random("c", type, &dice, random_below(&dice, 3) ? nulls : 0,
                                             random_below(&dice, 100)));
      check_all(&fixture, 1);
      check_all(&fixture, 90);
      fixture_close(&fixture);
    }
  }
}

/* n rows over a dictionary of entries strings, of which distinct are different. */
static struct test_column column_of(const char *format, int64_t n, int64_t entries,
                                    int64_t distinct, bool nulls) {
  int64_t indices[MAX_TEST_ROWS];
  char valid[MAX_TEST_ROWS + 1];
  const char *strings[MAX_TEST_ROWS];
  char room[MAX_TEST_ROWS][8];
  for (int64_t i = 0; i < n; i++) {
    indices[i] = random_below(&dice, entries);
    valid[i] = nulls && i % 7 == 3 ? '0' : '1';
  }
  for (int64_t i = 0; i < entries; i++) {
    (void)snprintf(room[i], sizeof room[i], "v%d", (int)(i % distinct));
    strings[i] = nulls && i % 5 == 4 ? NULL : room[i];
  }
  return column_dictionary("c", format, indices, nulls ? valid : NULL, n,
                           column_strings("", "u", strings, entries));
}

/* Few rows of a large dictionary are found by hashing, many by a map; three of four rows are. */
static void few_rows_of_large_dictionaries_and_many_of_small_ones(void **state) {
  (void)state;
  static const struct {
    int64_t rows, entries, distinct;
  } cases[] = {{20, 3000, 50}, {3000, 20, 5}, {3000, 3000, 2999}, {65, 1000, 7}, {1, 17, 17}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int nulls = 0; nulls < 2; nulls++) {
      struct fixture fixture = {.n = 0};
      for (int k = 0; k < 3; k++)
        fixture_take(&fixture, column_of("i", cases[i].rows, cases[i].entries, cases[i].distinct,
                                         nulls != 0));
      check_all(&fixture, cases[i].rows);
      fixture_close(&fixture);
    }
  }
}

/* The map of one batch serves the next one only where the dictionary is the same. */
static void batches_that_share_a_dictionary(void **state) {
  (void)state;
  struct fixture fixture = {.n = 0};
  fixture_take(&fixture, column_of("i", 300, 40, 30, true));
  for (int64_t i = 0; i < 4; i++) {
    struct ArrowArray slice = fixture.owned[0].array;
    slice.offset = 50 * i;
    slice.length = 50;
    fixture_push(&fixture, &slice);
  }
  fixture_take(&fixture, column_of("i", 300, 40, 30, true));
  check_all(&fixture, 5);
  check_all(&fixture, 700);
  fixture_close(&fixture);
}

static void an_index_type_holds_so_many_values(void **state) {
  (void)state;
  static const struct {
    const char *format;
    int64_t distinct;
    bool fits;
  } cases[] = {{"c", 128, true}, {"c", 129, false}, {"C", 256, true}, {"C", 257, false}};
  for (size_t i = 0; i < 4; i++) {
    struct fixture fixture = {.n = 0};
    int64_t indices[2][150];
    int64_t half = cases[i].distinct / 2;
    for (int64_t k = 0; k < 150; k++) indices[0][k] = indices[1][k] = k < half ? k : half;
    for (int k = 0; k < 2; k++) {
      const char *strings[150];
      char room[150][8];
      int64_t n = k == 0 ? half : cases[i].distinct - half;
      for (int64_t v = 0; v < 150; v++) {
        (void)snprintf(room[v], sizeof room[v], "%d.%d", k, (int)v);
        strings[v] = room[v];
      }
      fixture_take(&fixture, column_dictionary("c", cases[i].format, indices[k], NULL, n,
                                               column_strings("", "u", strings, 150)));
    }
    struct row_range ranges[2] = {{row_id_of(0, 0), fixture.set.lengths[0]},
                                  {row_id_of(1, 0), fixture.set.lengths[1]}};
    struct selection rows = {.n_rows = cases[i].distinct, .ranges = ranges, .n_ranges = 2};
    struct arena arena;
    struct built_dictionary built;
    arena_init(&arena, NULL);
    assert_int_equal(build(&fixture, &rows, &arena, &built, NULL), ASHUF_OK);
    assert_int_equal(built.fits, cases[i].fits);
    if (built.fits) assert_int_equal(built.values.n_rows, cases[i].distinct);
    arena_free(&arena);
    fixture_close(&fixture);
  }
}

static void indices_outside_the_dictionary_are_refused_where_a_row_is_valid(void **state) {
  (void)state;
  static const char *const formats[] = {"c", "C", "s", "S", "i", "I", "l", "L"};
  for (int bad = 0; bad < 3; bad++) {
    for (int f = 0; f < 8; f++) {
      for (int rows = 5; rows <= 100; rows += 95) {
        int64_t indices[100] = {0};
        char valid[101] = {0};
        bool is_signed = f % 2 == 0;
        indices[3] = bad == 2 || !is_signed ? 300 : -1;
        if (f < 2 && indices[3] == 300) continue; /* no index of a byte */
        memset(valid, '1', (size_t)rows);
        if (bad == 0) valid[3] = '0';
        const char *strings[300];
        for (int i = 0; i < 300; i++) strings[i] = i % 2 == 0 ? "even" : "odd";
        struct fixture fixture = {.n = 0};
        fixture_take(&fixture, column_dictionary("c", formats[f], indices, valid, rows,
                                                 column_strings("", "u", strings, 300)));
        struct row_range range = {0, rows};
        struct selection selection = {.n_rows = rows, .ranges = &range, .n_ranges = 1};
        struct arena arena;
        struct built_dictionary built;
        struct ashuf_error error = {0};
        arena_init(&arena, NULL);
        ashuf_status status = build(&fixture, &selection, &arena, &built, &error);
        assert_int_equal(status, bad == 0 ? ASHUF_OK : ASHUF_BAD_ARRAY);
        if (bad != 0) assert_non_null(strstr(error.message, "\"c\""));
        arena_free(&arena);
        fixture_close(&fixture);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_random_dictionaries_keep_their_values),
      cmocka_unit_test(few_rows_of_large_dictionaries_and_many_of_small_ones),
      cmocka_unit_test(batches_that_share_a_dictionary),
      cmocka_unit_test(an_index_type_holds_so_many_values),
      cmocka_unit_test(indices_outside_the_dictionary_are_refused_where_a_row_is_valid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

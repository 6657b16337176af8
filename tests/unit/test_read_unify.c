/* One stream, one schema: encodings, time zones, projections; and every type put together. */
#include "arrow/schema.h"
#include "codec/checksum.h"
#include "support/read_rows.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const words[] = {"a", NULL, "bee", "", "a", "sea", NULL, "bee"};

static struct test_column plain_words(const char *name) {
  return column_strings(name, "u", words, 8);
}

/* The same values; value 3 of the dictionary is null. */
static struct test_column encoded_words(const char *name, const char *index) {
  static const char *const values[] = {"sea", "", "bee", NULL, "a", "unused"};
  static const int64_t indices[] = {4, 3, 2, 1, 4, 0, 99, 2};
  return column_dictionary(name, index, indices, "11111101", 8, column_strings("", "u", values, 6));
}

static ashuf_schema *schema_of(struct test_column batch) {
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  column_free(&batch);
  return schema;
}

static struct test_column one(struct test_column column) { return batch_of(&column, 1); }

/* Blocks: utf8, dictionary<int32>, utf8, dictionary<int8>, ... of the same 8 rows. */
static const char *alternate(int plain_first) {
  struct block_file file = {0};
  for (int i = 0; i < 6; i++) {
    bool plain = (i + plain_first) % 2 == 1;
    block_file_put(&file, one(plain ? plain_words("w") : encoded_words("w", i % 4 < 2 ? "i" : "c")),
                   i % 3 == 0 ? ASHUF_CODEC_NONE : ASHUF_CODEC_LZ4);
  }
  block_file_end_partition(&file);
  block_file_write(&file, "shuffle_3_1_0", CHECKSUM_NONE);
  return scratch_path("shuffle_3_1_0.data");
}

static void expect_words(const struct row_texts *rows) {
  static const char *const texts[] = {"{x61}", "{null}",    "{x626565}", "{x}",
                                      "{x61}", "{x736561}", "{null}",    "{x626565}"};
  assert_int_equal(rows->status, ASHUF_OK);
  assert_int_equal(rows->n, 48);
  for (size_t i = 0; i < rows->n; i++) assert_string_equal(rows->list[i], texts[i % 8]);
}

static const char *format_of(const char *path, const struct ashuf_read_options *options, char *out,
                             char *values) {
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  assert_int_equal(ashuf_read_files(&path, 1, options, &stream, NULL), ASHUF_OK);
  assert_int_equal(stream.get_schema(&stream, &schema), 0);
  (void)snprintf(out, 16, "%s", schema.children[0]->format);
  *values = schema.children[0]->dictionary != NULL ? schema.children[0]->dictionary->format[0] : 0;
  schema.release(&schema);
  stream.release(&stream);
  return out;
}

static void t50_mixed_blocks_are_one_stream_of_plain_values(void **state) {
  (void)state;
  for (int plain_first = 0; plain_first < 2; plain_first++)
    for (int target = 0; target < 100; target += 19) {
      const char *path = alternate(plain_first);
      struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
      struct row_texts rows;
      char format[16];
      char values;
      options.target_rows = target;
      options.threads = 1 + target % 3;
      assert_string_equal(format_of(path, &options, format, &values), "u");
      assert_int_equal(values, 0);
      rows_of_files(&path, 1, &options, &rows);
      expect_words(&rows);
      rows_free(&rows);
    }
}

static void t50_with_an_expected_schema_they_are_brought_to_it(void **state) {
  (void)state;
  static const char *const indices[] = {NULL, "i", "c", "S"};
  for (int i = 0; i < 4; i++)
    for (int target = 0; target < 100; target += 33) {
      const char *path = alternate(i % 2);
      struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
      struct row_texts rows;
      char format[16];
      char values;
      ashuf_schema *schema =
          schema_of(one(i == 0 ? plain_words("w") : encoded_words("w", indices[i])));
      options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
      options.decode.expected = schema;
      options.target_rows = target;
      assert_string_equal(format_of(path, &options, format, &values), i == 0 ? "u" : indices[i]);
      assert_int_equal(values, i == 0 ? 0 : 'u');
      rows_of_files(&path, 1, &options, &rows);
      expect_words(&rows);
      rows_free(&rows);
      ashuf_schema_free(schema);
    }
}

static struct test_column moments(const char *format) {
  static const int64_t values[] = {1, -1, 86400000000};
  return one(column_fixed("at", format, 8, values, "101", 3));
}

static void t32_labels_of_time_zones_are_those_of_the_declared_schema(void **state) {
  (void)state;
  static const char *const labels[] = {"tsu:UTC", "tsu:America/Los_Angeles", "tsu:"};
  for (int declared = -1; declared < 3; declared++) {
    struct block_file file = {0};
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    struct row_texts rows;
    char format[64];
    char values;
    ashuf_schema *schema = NULL;
    for (int i = 0; i < 3; i++) block_file_put(&file, moments(labels[i]), ASHUF_CODEC_NONE);
    block_file_end_partition(&file);
    block_file_write(&file, "shuffle_3_2_0", CHECKSUM_NONE);
    const char *path = scratch_path("shuffle_3_2_0.data");
    if (declared >= 0) schema = schema_of(moments(labels[declared]));
    options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
    options.decode.expected = schema;
    options.target_rows = declared + 1;
    (void)format_of(path, &options, format, &values);
    assert_int_equal(strncmp(format, labels[declared < 0 ? 0 : declared], 15), 0);
    rows_of_files(&path, 1, &options, &rows);
    assert_int_equal(rows.status, ASHUF_OK);
    assert_int_equal(rows.n, 9);
    assert_string_equal(rows.list[4], "{null}");
    rows_free(&rows);
    ashuf_schema_free(schema);
  }
}

static void t32_another_unit_is_an_error_that_names_the_column(void **state) {
  (void)state;
  struct block_file file = {0};
  struct row_texts rows;
  block_file_put(&file, moments("tsu:UTC"), ASHUF_CODEC_NONE);
  block_file_put(&file, moments("tsm:UTC"), ASHUF_CODEC_NONE);
  block_file_end_partition(&file);
  block_file_write(&file, "shuffle_3_2_0", CHECKSUM_NONE);
  const char *path = scratch_path("shuffle_3_2_0.data");
  rows_of_files(&path, 1, NULL, &rows);
  assert_int_equal(rows.status, ASHUF_SCHEMA_MISMATCH);
  assert_int_equal(rows.n, 3);
  assert_int_equal(rows.error.block, 1);
  assert_int_equal(rows.error.map, 2);
  assert_non_null(strstr(rows.error.message, "\"at\""));
  assert_non_null(strstr(rows.error.message, "timestamp(ms, UTC)"));
  rows_free(&rows);
}

/* Three batches of one random schema. */
#define COLUMNS 4
struct shape {
  const char *types[COLUMNS];
  int nulls;
};

static struct test_column random_batch(const struct shape *shape, struct test_random *random,
                                       int64_t n) {
  struct test_column columns[COLUMNS];
  for (int c = 0; c < COLUMNS; c++) {
    const char name[] = {'c', (char)('0' + c), '\0'};
    columns[c] = column_random(name, shape->types[c], random, shape->nulls, n);
  }
  return batch_of(columns, COLUMNS);
}

static void random_shape(struct test_random *random, struct shape *out) {
  int64_t n_types = 0;
  while (test_types[n_types] != NULL) n_types++;
  for (int c = 0; c < COLUMNS; c++) out->types[c] = test_types[random_below(random, n_types)];
  out->nulls = (int)random_below(random, 3) * 20;
}

static const char *write_random(struct test_random *random, const struct shape *shape) {
  struct block_file file = {0};
  scratch_clear(); /* a checksum file of another kind */
  for (int p = 0; p < 3; p++) {
    for (int64_t b = random_below(random, 5); b >= 0; b--)
      block_file_put(&file, random_batch(shape, random, 1 + random_below(random, 40)),
                     ASHUF_CODEC_NONE + (int)random_below(random, 3));
    block_file_end_partition(&file);
  }
  block_file_write(&file, "shuffle_3_4_0", (int)random_below(random, 4));
  return scratch_path("shuffle_3_4_0.data");
}

static void coalesced_or_by_threads_rows_are_the_same_for_random_schemas(void **state) {
  (void)state;
  struct test_random random = {20261130};
  for (int round = 0; round < 60; round++) {
    struct shape shape;
    struct row_texts first;
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    random_shape(&random, &shape);
    const char *path = write_random(&random, &shape);
    ashuf_schema *kept = schema_of(random_batch(&shape, &random, 1));
    rows_of_files(&path, 1, &options, &first);
    if (first.status != ASHUF_OK) fail_msg("%s", first.error.message);
    for (int way = 0; way < 6; way++) {
      struct row_texts rows;
      options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
      if (way >= 3) options.decode.expected = kept; /* dictionaries stay */
      options.target_rows = way % 3 == 0 ? 0 : 30 * (way % 3) * (way % 3);
      options.threads = 1 + way % 2;
      options.verify = way % 3;
      rows_of_files(&path, 1, &options, &rows);
      if (rows.status != ASHUF_OK) fail_msg("%s", rows.error.message);
      assert_true(rows_equal(&first, &rows));
      rows_free(&rows);
    }
    rows_free(&first);
    ashuf_schema_free(kept);
  }
}

/* "{a,b,c}" of the projected columns is what the whole rows have there. */
static void projections_give_the_columns_asked_for_in_that_order(void **state) {
  (void)state;
  struct test_random random = {7};
  for (int round = 0; round < 30; round++) {
    static const char *const names[] = {"c2", "c0"};
    static const int32_t numbers[] = {2, 0};
    struct shape shape;
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    struct row_texts whole;
    struct row_texts by_name;
    struct row_texts by_number;
    random_shape(&random, &shape);
    const char *path = write_random(&random, &shape);
    ashuf_schema *expected = schema_of(random_batch(&shape, &random, 1));
    options.target_rows = round % 2 * 25;
    options.threads = 1 + round % 2;
    options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
    rows_of_files(&path, 1, &options, &whole);
    options.decode.expected = round % 4 < 2 ? expected : NULL; /* of the whole block */
    options.decode.n_projection = 2;
    options.decode.projection = numbers;
    rows_of_files(&path, 1, &options, &by_number);
    options.decode.projection = NULL;
    options.decode.projection_names = names;
    rows_of_files(&path, 1, &options, &by_name);
    assert_int_equal(by_name.status, ASHUF_OK);
    assert_int_equal(whole.n, by_name.n);
    assert_true(rows_equal(&by_name, &by_number));
    /* Single columns put the pieces together again. */
    struct row_texts single[2];
    for (int i = 0; i < 2; i++) {
      options.decode.projection_names = &names[i];
      options.decode.n_projection = 1;
      rows_of_files(&path, 1, &options, &single[i]);
      assert_int_equal(single[i].n, whole.n);
    }
    for (size_t r = 0; r < whole.n; r++) {
      const char *second = strchr(single[0].list[r], '\0') - 1;
      size_t size = (size_t)(second - single[0].list[r]);
      assert_int_equal(strncmp(by_name.list[r], single[0].list[r], size), 0);
      assert_int_equal(by_name.list[r][size], ',');
      assert_string_equal(by_name.list[r] + size + 1, single[1].list[r] + 1);
      assert_int_equal(strncmp(whole.list[r], single[1].list[r], strlen(single[1].list[r]) - 1), 0);
    }
    rows_free(&single[0]);
    rows_free(&single[1]);
    rows_free(&whole);
    rows_free(&by_name);
    rows_free(&by_number);
    ashuf_schema_free(expected);
  }
}

static void projections_of_what_is_not_there_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"w", "no such"};
  static const int32_t twice[] = {0, 0};
  static const int32_t wrong[] = {1};
  const char *path = alternate(0);
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  struct row_texts rows;
  options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
  options.decode.n_projection = 1;
  rows_of_files(&path, 1, &options, &rows);
  assert_int_equal(rows.status, ASHUF_INVALID_ARGUMENT);
  options.decode.projection = wrong;
  rows_of_files(&path, 1, &options, &rows);
  assert_int_equal(rows.status, ASHUF_INVALID_ARGUMENT);
  options.decode.projection = NULL;
  options.decode.projection_names = &names[1];
  rows_of_files(&path, 1, &options, &rows);
  assert_int_equal(rows.status, ASHUF_INVALID_ARGUMENT);
  assert_non_null(strstr(rows.error.message, "no such"));
  options.decode.projection = twice;
  options.decode.n_projection = 2;
  rows_of_files(&path, 1, &options, &rows);
  assert_int_equal(rows.status, ASHUF_INVALID_ARGUMENT);
}

/* What a skipped column holds is not looked at; what is wanted still is. */
static void skipped_columns_are_not_validated(void **state) {
  (void)state;
  static const int64_t offsets[] = {0, 1, 2};
  static const int64_t numbers[] = {1, 2};
  for (int32_t wanted = 0; wanted < 2; wanted++) {
    struct block_file file = {0};
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    struct row_texts rows;
    struct test_column columns[] = {column_bytes("s", "u", offsets, "\xff\xfe", NULL, 2),
                                    column_int64("n", numbers, NULL, 2)};
    block_file_put(&file, batch_of(columns, 2), ASHUF_CODEC_NONE);
    block_file_end_partition(&file);
    block_file_write(&file, "shuffle_3_5_0", CHECKSUM_NONE);
    const char *path = scratch_path("shuffle_3_5_0.data");
    options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
    options.decode.projection = &wanted;
    options.decode.n_projection = 1;
    rows_of_files(&path, 1, &options, &rows);
    assert_int_equal(rows.status, wanted == 0 ? ASHUF_BAD_VALUES : ASHUF_OK);
    assert_int_equal(rows.n, wanted == 0 ? 0 : 2);
    rows_free(&rows);
  }
}

/* T31: Null columns at top level, in a struct, in a list, as map values. */
static void t31_null_columns_are_put_together_wherever_they_stand(void **state) {
  (void)state;
  struct block_file file = {0};
  struct row_texts rows[2];
  static const int64_t offsets[] = {0, 2, 2, 3};
  static const int32_t keys[] = {1, 2, 3};
  for (int i = 0; i < 3; i++) {
    struct test_column member = column_nulls("n", 3);
    struct test_column entry[] = {column_int32("key", keys, NULL, 3), column_nulls("value", 3)};
    entry[0].schema.flags = 0;
    struct test_column entries = column_struct("entries", NULL, 3, entry, 2);
    entries.schema.flags = 0;
    struct test_column columns[] = {
        column_nulls("t", 3), column_struct("s", "101", 3, &member, 1),
        column_list("l", "+l", offsets, NULL, 3, column_nulls("item", 3)),
        column_list("m", "+m", offsets, NULL, 3, entries)};
    block_file_put(&file, batch_of(columns, 4), ASHUF_CODEC_NONE);
  }
  block_file_end_partition(&file);
  block_file_write(&file, "shuffle_3_6_0", CHECKSUM_NONE);
  const char *path = scratch_path("shuffle_3_6_0.data");
  for (int i = 0; i < 2; i++) {
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    options.target_rows = i * 100;
    rows_of_files(&path, 1, &options, &rows[i]);
    assert_int_equal(rows[i].status, ASHUF_OK);
  }
  assert_int_equal(rows[0].n, 9);
  assert_int_equal(rows[1].batches, 1);
  assert_true(rows_equal(&rows[0], &rows[1]));
  rows_free(&rows[0]);
  rows_free(&rows[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t50_mixed_blocks_are_one_stream_of_plain_values),
      cmocka_unit_test(t50_with_an_expected_schema_they_are_brought_to_it),
      cmocka_unit_test(t32_labels_of_time_zones_are_those_of_the_declared_schema),
      cmocka_unit_test(t32_another_unit_is_an_error_that_names_the_column),
      cmocka_unit_test(coalesced_or_by_threads_rows_are_the_same_for_random_schemas),
      cmocka_unit_test(projections_give_the_columns_asked_for_in_that_order),
      cmocka_unit_test(projections_of_what_is_not_there_are_refused),
      cmocka_unit_test(skipped_columns_are_not_validated),
      cmocka_unit_test(t31_null_columns_are_put_together_wherever_they_stand),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

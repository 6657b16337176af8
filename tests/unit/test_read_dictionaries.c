/* Rows read back as a dictionary whose index type is narrow. */
#include "arrow/schema.h"
#include "codec/checksum.h"
#include "ipc/batch_dress.h"
#include "support/fault.h"
#include "support/read_rows.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct test_column one(struct test_column column) { return batch_of(&column, 1); }

static ashuf_schema *schema_of(struct test_column batch) {
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  column_free(&batch);
  return schema;
}

/* n rows of values 0 to distinct - 1 in turn. */
static struct test_column cycle(const char *name, int64_t n, int64_t distinct) {
  int64_t *values = malloc((size_t)n * sizeof *values);
  if (values == NULL) abort();
  for (int64_t i = 0; i < n; i++) values[i] = i % distinct;
  struct test_column column = column_int64(name, values, NULL, n);
  free(values);
  return column;
}

/* The same dictionary-encoded, in a column of its own or as the items of lists of two. */
static ashuf_schema *schema_of_cycle(const char *index, bool in_lists) {
  static const int64_t offsets[] = {0};
  struct test_column column = column_dictionary(in_lists ? "item" : "number", index, NULL, NULL, 0,
                                                column_int64("", NULL, NULL, 0));
  return schema_of(one(in_lists ? column_list("number", "+l", offsets, NULL, 0, column) : column));
}

static struct test_column lists_of_two(int64_t n, int64_t distinct) {
  int64_t *offsets = malloc(((size_t)n + 1) * sizeof *offsets);
  if (offsets == NULL) abort();
  for (int64_t i = 0; i <= n; i++) offsets[i] = 2 * i;
  struct test_column column =
      column_list("number", "+l", offsets, NULL, n, cycle("item", 2 * n, distinct));
  free(offsets);
  return column;
}

static void read_cycle(int64_t distinct, bool in_lists, const char *index, struct row_texts *rows) {
  struct block_file file = {0};
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  ashuf_schema *schema = index == NULL ? NULL : schema_of_cycle(index, in_lists);
  scratch_clear();
  block_file_put(&file,
                 one(in_lists ? lists_of_two(2000, distinct) : cycle("number", 2000, distinct)),
                 ASHUF_CODEC_LZ4);
  block_file_end_partition(&file);
  block_file_write(&file, "shuffle_3_7_0", CHECKSUM_NONE);
  const char *path = scratch_path("shuffle_3_7_0.data");
  options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
  options.decode.expected = schema;
  rows_of_files(&path, 1, &options, rows);
  ashuf_schema_free(schema);
}

/* What counts is the distinct values, not the rows. */
static void a_narrow_index_that_is_expected_takes_as_many_values_as_it_holds(void **state) {
  (void)state;
  static const struct {
    const char *index;
    int64_t holds;
  } types[] = {{"c", 128}, {"C", 256}};
  for (int i = 0; i < 4; i++) {
    struct row_texts plain, rows;
    int64_t holds = types[i % 2].holds;
    read_cycle(holds, i >= 2, NULL, &plain);
    read_cycle(holds, i >= 2, types[i % 2].index, &rows);
    if (rows.status != ASHUF_OK) fail_msg("%s", rows.error.message);
    assert_true(rows_equal(&plain, &rows));
    rows_free(&plain);
    rows_free(&rows);
    read_cycle(holds + 1, i >= 2, types[i % 2].index, &rows);
    assert_int_equal(rows.status, ASHUF_SIZE_LIMIT);
    assert_non_null(strstr(rows.error.message, "\"number\""));
    assert_int_equal(rows.error.block, 0);
    assert_int_equal(rows.n, 0);
    rows_free(&rows);
  }
}

/* Two blocks that each fill the index: put together they would not fit, and come one by one. */
static void dictionaries_that_would_outgrow_their_index_are_not_put_together(void **state) {
  (void)state;
  for (int narrow = 0; narrow < 2; narrow++) {
    struct block_file file = {0};
    struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
    struct row_texts rows;
    ashuf_schema *schema = schema_of_cycle(narrow ? "c" : "s", false);
    for (int b = 0; b < 3; b++) {
      int64_t indices[128], values[128];
      for (int i = 0; i < 128; i++) {
        indices[i] = i;
        values[i] = b * 1000 + i;
      }
      block_file_put(&file,
                     one(column_dictionary("number", narrow ? "c" : "s", indices, NULL, 128,
                                           column_int64("", values, NULL, 128))),
                     ASHUF_CODEC_NONE);
    }
    block_file_end_partition(&file);
    block_file_write(&file, "shuffle_3_8_0", CHECKSUM_NONE);
    const char *path = scratch_path("shuffle_3_8_0.data");
    options.decode = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
    options.decode.expected = schema;
    options.target_rows = 1000;
    rows_of_files(&path, 1, &options, &rows);
    assert_int_equal(rows.status, ASHUF_OK);
    assert_int_equal(rows.n, 384);
    assert_int_equal(rows.batches, narrow ? 3 : 1);
    assert_string_equal(rows.list[383], "{x4f08000000000000}"); /* 2127 */
    rows_free(&rows);
    ashuf_schema_free(schema);
  }
}

struct dressing {
  const ashuf_schema *schema;
  struct test_column plain;
};

static ashuf_status dress(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  const struct dressing *dressing = data;
  struct ArrowArray out;
  ashuf_status status = batch_dress(dressing->schema, &dressing->plain.array, memory, &out, error);
  if (status == ASHUF_OK) out.release(&out);
  return status;
}

static void every_allocation_of_the_way_to_narrow_indices_may_fail(void **state) {
  (void)state;
  for (int in_lists = 0; in_lists < 2; in_lists++) {
    ashuf_schema *schema = schema_of_cycle("c", in_lists);
    struct dressing dressing = {schema,
                                one(in_lists ? lists_of_two(200, 5) : cycle("number", 200, 5))};
    fault_sweep(dress, &dressing);
    column_free(&dressing.plain);
    ashuf_schema_free(schema);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_narrow_index_that_is_expected_takes_as_many_values_as_it_holds),
      cmocka_unit_test(dictionaries_that_would_outgrow_their_index_are_not_put_together),
      cmocka_unit_test(every_allocation_of_the_way_to_narrow_indices_may_fail),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

/* Cutting rows into blocks in several calls: the blocks are those of one call. */
#include "block/block_write.h"
#include "support/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct cutting {
  struct test_column batch;
  ashuf_schema *schema;
  struct source_set set;
  struct block_encoder *encoder;
  struct ashuf_encode_options options;
};

static void open_cutting(struct cutting *cutting, const char *type, int64_t rows) {
  struct test_random random = {9};
  struct test_column column = column_random("c", type, &random, 10, rows);
  memset(cutting, 0, sizeof *cutting);
  cutting->batch = batch_of(&column, 1);
  assert_int_equal(ashuf_schema_import(&cutting->batch.schema, NULL, &cutting->schema, NULL), 0);
  assert_int_equal(source_set_init(&cutting->set, cutting->schema, NULL, NULL), 0);
  assert_int_equal(source_set_push(&cutting->set, &cutting->batch.array, NULL), 0);
  cutting->encoder = block_encoder_new(NULL);
  encode_options_resolve(&cutting->options, NULL);
  cutting->options.max_rows = 100;
  cutting->options.max_body = 2000;
}

static void close_cutting(struct cutting *cutting) {
  block_encoder_free(cutting->encoder);
  source_set_free(&cutting->set);
  ashuf_schema_free(cutting->schema);
  column_free(&cutting->batch);
}

static struct selection range_of(struct row_range *range, int64_t first, int64_t n) {
  *range = (struct row_range){row_id_of(0, first), n};
  return (struct selection){.n_rows = n, .ranges = range, .n_ranges = 1};
}

static void whole(struct cutting *cutting, int64_t rows, struct ashuf_buffer *out) {
  struct row_range range;
  struct selection all = range_of(&range, 0, rows);
  struct block_encode_stats stats = {0, 0, 0, 0};
  assert_int_equal(block_encode_selection(cutting->encoder, &cutting->set, &all, &cutting->options,
                                          out, NULL, &stats, NULL),
                   ASHUF_OK);
  assert_int_equal(stats.rows, rows);
  assert_int_equal(stats.bytes, out->size);
}

/* Rows arrive in portions; what is left over is given again with the next portion. */
static void in_portions(struct cutting *cutting, int64_t rows, int64_t portion,
                        struct ashuf_buffer *out) {
  struct block_encode_stats stats = {0, 0, 0, 0};
  int64_t done = 0;
  for (int64_t known = 0; known < rows;) {
    known = known + portion < rows ? known + portion : rows;
    struct row_range range;
    struct selection part = range_of(&range, done, known - done);
    int64_t taken = -1;
    assert_int_equal(block_encode_full(cutting->encoder, &cutting->set, &part, &cutting->options,
                                       out, NULL, &stats, &taken, NULL),
                     ASHUF_OK);
    done += taken;
  }
  struct row_range range;
  struct selection rest = range_of(&range, done, rows - done);
  assert_int_equal(block_encode_selection(cutting->encoder, &cutting->set, &rest, &cutting->options,
                                          out, NULL, &stats, NULL),
                   ASHUF_OK);
  assert_int_equal(stats.rows, rows);
}

static void d11_blocks_do_not_depend_on_how_rows_arrive(void **state) {
  (void)state;
  static const char *const types[] = {"l", "u", "list(u)", "dict:c(u)", "struct(i,map(i,u))"};
  static const int64_t portions[] = {1, 7, 99, 100, 101, 350, 1000};
  for (size_t t = 0; t < 5; t++) {
    struct cutting cutting;
    open_cutting(&cutting, types[t], 730);
    struct ashuf_buffer want = ASHUF_BUFFER_INIT;
    whole(&cutting, 730, &want);
    for (size_t p = 0; p < sizeof portions / sizeof *portions; p++) {
      struct ashuf_buffer got = ASHUF_BUFFER_INIT;
      in_portions(&cutting, 730, portions[p], &got);
      assert_int_equal(got.size, want.size);
      assert_memory_equal(got.data, want.data, want.size);
      ashuf_buffer_free(&got);
    }
    ashuf_buffer_free(&want);
    close_cutting(&cutting);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(d11_blocks_do_not_depend_on_how_rows_arrive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What a writer writes depends on the rows and the options, and on nothing else: not on how often
 * it spilled, on how rows came in batches, or on how many threads encode.
 */
#include "shuffle/writer.h"

#include "support/writer_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int codecs[] = {ASHUF_CODEC_NONE, ASHUF_CODEC_LZ4, ASHUF_CODEC_ZSTD,
                             ASHUF_CODEC_SNAPPY};

/* More rounds, or others, by the environment. */
static int rounds(void) {
  const char *given = getenv("ASHUF_TEST_ROUNDS");
  return given != NULL ? atoi(given) : 60;
}
static uint64_t seed(void) {
  const char *given = getenv("ASHUF_TEST_SEED");
  uint64_t value = given != NULL ? strtoull(given, NULL, 10) : 20260131;
  print_message("ASHUF_TEST_SEED=%llu\n", (unsigned long long)value);
  return value;
}

/* A few rounds have more rows than are copied at once; 16-bit run ends cannot count as many. */
static struct run_rows random_rows(struct test_random *random) {
  bool many = random_below(random, 100) == 0;
  struct run_rows rows = run_rows_random(random, random_below(random, 900));
  for (int i = 0; i < rows.n_types; i++) many = many && strstr(rows.types[i], "runs:s") == NULL;
  if (many) rows.n_rows = 60000 + random_below(random, 30000);
  return rows;
}

static int restore(void **state) {
  (void)state;
  writer_round_bytes = 0;
  writer_slab_bytes = 0;
  batch_copy_piece_rows = 0;
  batch_copy_share_rows = 0;
  return 0;
}

static void expect_good(const struct run_output *out) {
  if (out->status != ASHUF_OK) print_error("%s\n", out->error.message);
  assert_int_equal(out->status, ASHUF_OK);
}

static int available_codec(struct test_random *random) {
  int codec = codecs[random_below(random, 4)];
  return ashuf_codec_available(codec) ? codec : ASHUF_CODEC_NONE;
}

/* Options that the bytes depend on. */
static struct ashuf_writer_options random_options(struct test_random *random) {
  struct ashuf_writer_options options = run_options();
  options.encode.codec = available_codec(random);
  options.encode.max_rows = 1 + random_below(random, random_below(random, 2) ? 40 : 400);
  options.encode.max_body =
      random_below(random, 3) == 0 ? 64 + (uint64_t)random_below(random, 9000) : 0;
  options.encode.layout = (int)random_below(random, 2);
  options.encode.dictionaries = (int)random_below(random, 2);
  return options;
}

/* Options that they do not depend on. */
static void vary(struct ashuf_writer_options *options, struct test_random *random) {
  static const uint64_t limits[] = {0, 1, 5000, 20000, 60000, 300000};
  options->memory_limit = limits[random_below(random, 6)];
  options->threads = 1 + (int)random_below(random, 3);
  options->spill_codec = available_codec(random);
  writer_slab_bytes = random_below(random, 2) ? 0 : 3000 + (size_t)random_below(random, 60000);
  batch_copy_piece_rows = random_below(random, 2) ? 0 : 1 + random_below(random, 100);
  batch_copy_share_rows = random_below(random, 2) ? 0 : 1 + random_below(random, 50);
  writer_round_bytes = random_below(random, 2) ? 0 : 200 + (uint64_t)random_below(random, 20000);
}

static void tell(int round, const struct run_rows *rows, int32_t partitions,
                 const struct ashuf_writer_options *options) {
  print_message("round %d: %lld rows, placement %d,", round, (long long)rows->n_rows,
                (int)rows->placement);
  for (int i = 0; i < rows->n_types; i++) print_message(" %s", rows->types[i]);
  print_message(
      "; %d partitions, limit %llu, %d threads, codec %d, spill codec %d, max rows %lld, "
      "max body %llu, layout %d, dictionaries %d, round bytes %llu\n",
      partitions, (unsigned long long)options->memory_limit, options->threads,
      options->encode.codec, options->spill_codec, (long long)options->encode.max_rows,
      (unsigned long long)options->encode.max_body, options->encode.layout,
      options->encode.dictionaries, (unsigned long long)writer_round_bytes);
}

static void output_depends_on_rows_and_options_alone(void **state) {
  (void)state;
  struct test_random random = {seed()};
  uint64_t spills = 0;
  for (int round = 0; round < rounds(); round++) {
    int32_t partitions = 1 + (int32_t)random_below(&random, random_below(&random, 2) ? 4 : 300);
    struct run_rows rows = random_rows(&random);
    struct ashuf_writer_options options = random_options(&random);
    struct run_batch_sizes all = {1, rows.n_rows + 1};
    struct run_output expected;
    writer_round_bytes = 0;
    writer_slab_bytes = 0;
    run_writer(&rows, &all, partitions, &options, NULL, NULL, &expected);
    expect_good(&expected);
    if (rows.n_rows < 1000) run_expect_rows(&expected, &rows);
    for (int i = 0; i < 4; i++) {
      int64_t most = rows.n_rows < 1000 ? 300 : rows.n_rows;
      struct run_batch_sizes sizes = {random_next(&random), 1 + random_below(&random, most)};
      struct run_output found;
      vary(&options, &random);
      run_writer(&rows, &sizes, partitions, &options, NULL, NULL, &found);
      expect_good(&found);
      if (found.size != expected.size || getenv("ASHUF_TEST_VERBOSE") != NULL)
        tell(round, &rows, partitions, &options);
      run_expect_equal(&found, &expected);
      spills += found.numbers.spills;
      run_output_free(&found);
    }
    run_output_free(&expected);
  }
  assert_true(spills > 0);
}

static void every_type_comes_back_from_a_spill_file_as_it_went(void **state) {
  (void)state;
  int bad = 0;
  int n = 0;
  while (test_types[n] != NULL) n++;
  for (int k = 0; k < 2 * n; k++) {
    int i = k / 2;
    struct run_rows rows = {{test_types[i]}, 1, 40, 300, 7 + (uint64_t)i, RUN_HASH};
    struct ashuf_writer_options options = run_options();
    struct run_batch_sizes sizes = {1, 100};
    struct run_output expected, found;
    options.encode.max_rows = 37;
    options.encode.dictionaries = k % 2;
    run_writer(&rows, &sizes, 5, &options, NULL, NULL, &expected);
    expect_good(&expected);
    options.memory_limit = 1;
    run_writer(&rows, &sizes, 5, &options, NULL, NULL, &found);
    expect_good(&found);
    assert_true(found.numbers.spills > 0);
    if (found.size != expected.size || memcmp(found.bytes, expected.bytes, found.size) != 0) {
      print_error("%s differs\n", test_types[i]);
      bad++;
    }
    run_output_free(&found);
    run_output_free(&expected);
  }
  assert_int_equal(bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_comes_back_from_a_spill_file_as_it_went),
      cmocka_unit_test_teardown(output_depends_on_rows_and_options_alone, restore),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

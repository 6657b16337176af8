/* Blocks of codec none as pieces of memory: the same bytes as copied ones, lent where they can. */
#include "support/blocks.h"
#include "support/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <cmocka.h>

_Static_assert(sizeof(struct ashuf_segment) == sizeof(struct iovec) &&
                   offsetof(struct ashuf_segment, size) == offsetof(struct iovec, iov_len),
               "pieces are given to writev as they are");

struct job {
  ashuf_ctx *ctx;
  ashuf_schema *schema;
  struct test_column batch;
  struct ashuf_encode_options options;
};

static struct job job_of(struct test_column batch) {
  struct job job = {.batch = batch, .options = ASHUF_ENCODE_OPTIONS_INIT};
  job.options.codec = ASHUF_CODEC_NONE;
  assert_int_equal(ashuf_ctx_new(NULL, &job.ctx, NULL), ASHUF_OK);
  assert_int_equal(ashuf_schema_import(&job.batch.schema, NULL, &job.schema, NULL), ASHUF_OK);
  return job;
}
static void job_free(struct job *job) {
  ashuf_schema_free(job->schema);
  ashuf_ctx_free(job->ctx);
  column_free(&job->batch);
}

static ashuf_status lend(struct job *job, struct ashuf_segments *out, struct ashuf_error *error) {
  return ashuf_block_encode_iov(job->ctx, job->schema, &job->batch.array, &job->options, out,
                                error);
}

/* The pieces joined are what ashuf_block_encode writes, `times` over. */
static void expect_copied_bytes(struct job *job, const struct ashuf_segments *out, int times,
                                const char *what) {
  struct ashuf_buffer copied = ASHUF_BUFFER_INIT;
  for (int i = 0; i < times; i++)
    assert_int_equal(
        ashuf_block_encode(job->ctx, job->schema, &job->batch.array, &job->options, &copied, NULL),
        ASHUF_OK);
  size_t at = 0;
  for (size_t i = 0; i < out->n; i++) {
    const struct ashuf_segment *piece = &out->list[i];
    if (piece->size == 0 || piece->size > copied.size - at ||
        memcmp(copied.data + at, piece->data, piece->size) != 0)
      fail_msg("%s: piece %zu, %zu bytes at %zu, differs", what, i, piece->size, at);
    at += piece->size;
  }
  assert_int_equal(at, copied.size);
  assert_int_equal(out->bytes, copied.size);
  ashuf_buffer_free(&copied);
}

static void pieces_joined_are_the_copied_block_for_every_type(void **state) {
  (void)state;
  struct test_random random = {77};
  for (const char *const *type = test_types; *type != NULL; type++)
    for (int variant = 0; variant < 8; variant++) {
      struct test_column column =
          column_random("c", *type, &random, (variant & 1) == 0 ? 0 : 20, 900);
      struct job job = job_of(batch_of(&column, 1));
      job.options.layout = (variant & 2) == 0 ? ASHUF_LAYOUT_COMPACT : ASHUF_LAYOUT_ARROW_RS;
      job.options.max_rows = (variant & 4) == 0 ? 0 : 300;
      struct ashuf_segments out = ASHUF_SEGMENTS_INIT;
      for (int times = 1; times <= 2; times++) {
        assert_int_equal(lend(&job, &out, NULL), ASHUF_OK);
        expect_copied_bytes(&job, &out, times, *type);
      }
      ashuf_segments_free(&out);
      job_free(&job);
    }
}

static struct job integers_and_strings(int64_t rows) {
  struct test_random random = {5};
  struct test_column columns[] = {column_random("n", "l", &random, 0, rows),
                                  column_random("s", "u", &random, 0, rows),
                                  column_random("m", "i", &random, 30, rows)};
  return job_of(batch_of(columns, 3));
}

static bool lies_in(const void *data, const void *buffer, size_t size) {
  return (uintptr_t)data - (uintptr_t)buffer < size;
}

static void values_without_nulls_are_lent_and_all_else_is_copied(void **state) {
  (void)state;
  struct job job = integers_and_strings(4000);
  struct ashuf_segments out = ASHUF_SEGMENTS_INIT;
  assert_int_equal(lend(&job, &out, NULL), ASHUF_OK);
  const struct ArrowArray *numbers = job.batch.array.children[0];
  size_t lent = 0;
  size_t lent_numbers = 0;
  for (size_t i = 0; i < out.n; i++) {
    if (lies_in(out.list[i].data, out.own.data, out.own.size)) continue;
    lent += out.list[i].size;
    const char *first = (const char *)numbers->buffers[1] + numbers->offset * 8;
    if (lies_in(out.list[i].data, first, 4000 * 8)) lent_numbers += out.list[i].size;
  }
  assert_int_equal(lent_numbers, 4000 * 8);
  assert_true(lent > lent_numbers);
  assert_int_equal(lent + out.own.size, out.bytes);
  ashuf_segments_free(&out);
  job_free(&job);
}

static void clear_keeps_the_memory_and_nothing_is_allocated_again(void **state) {
  (void)state;
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.memory = memory;
  struct job job = integers_and_strings(4000);
  ashuf_ctx_free(job.ctx);
  assert_int_equal(ashuf_ctx_new(&options, &job.ctx, NULL), ASHUF_OK);
  struct ashuf_segments out = ASHUF_SEGMENTS_INIT;
  struct ashuf_memory_stats warm = ASHUF_MEMORY_STATS_INIT;
  struct ashuf_memory_stats after = ASHUF_MEMORY_STATS_INIT;
  for (int i = 0; i < 20; i++) {
    ashuf_segments_clear(&out);
    assert_int_equal(out.n, 0);
    assert_int_equal(lend(&job, &out, NULL), ASHUF_OK);
    if (i == 2) ashuf_memory_get_stats(memory, &warm);
  }
  ashuf_memory_get_stats(memory, &after);
  assert_int_equal(after.allocations, warm.allocations);
  ashuf_segments_free(&out);
  job_free(&job);
  ashuf_memory_free(memory);
}

static void another_codec_is_refused_and_none_is_the_default(void **state) {
  (void)state;
  struct job job = integers_and_strings(50);
  struct ashuf_segments out = ASHUF_SEGMENTS_INIT;
  struct ashuf_error error;
  job.options.codec = ASHUF_CODEC_LZ4;
  assert_int_equal(lend(&job, &out, &error), ASHUF_INVALID_ARGUMENT);
  assert_non_null(strstr(error.message, "codec none"));
  assert_int_equal(out.n, 0);
  assert_int_equal(
      ashuf_block_encode_iov(job.ctx, job.schema, &job.batch.array, NULL, &out, &error), ASHUF_OK);
  job.options.codec = ASHUF_CODEC_NONE;
  expect_copied_bytes(&job, &out, 1, "no options");
  ashuf_segments_free(&out);
  ashuf_segments_free(NULL);
  ashuf_segments_clear(NULL);
  job_free(&job);
}

static void a_refused_batch_leaves_the_pieces_that_were_there(void **state) {
  (void)state;
  struct job job = integers_and_strings(600);
  struct ashuf_segments out = ASHUF_SEGMENTS_INIT;
  assert_int_equal(lend(&job, &out, NULL), ASHUF_OK);
  int64_t children = job.batch.array.n_children;
  job.batch.array.n_children = 1;
  assert_int_not_equal(lend(&job, &out, NULL), ASHUF_OK);
  job.batch.array.n_children = children;
  expect_copied_bytes(&job, &out, 1, "after a refusal");
  ashuf_segments_free(&out);
  job_free(&job);
}

static ashuf_status lend_twice(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  struct job job = *(const struct job *)data;
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.memory = memory;
  struct ashuf_segments out = ASHUF_SEGMENTS_INIT;
  ashuf_status status = ashuf_ctx_new(&options, &job.ctx, error);
  if (status != ASHUF_OK) return status;
  status = lend(&job, &out, error);
  if (status == ASHUF_OK) {
    uint64_t bytes = out.bytes;
    status = lend(&job, &out, error);
    size_t joined = 0;
    for (size_t i = 0; i < out.n; i++) joined += out.list[i].size;
    assert_int_equal(joined, out.bytes);
    assert_int_equal(out.bytes, status == ASHUF_OK ? 2 * bytes : bytes);
  }
  ashuf_segments_free(&out);
  ashuf_ctx_free(job.ctx);
  return status;
}

static void a_failing_allocator_leaves_the_pieces_that_were_there(void **state) {
  (void)state;
  struct job job = integers_and_strings(3000);
  job.options.max_rows = 700;
  fault_sweep(lend_twice, &job);
  job_free(&job);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_joined_are_the_copied_block_for_every_type),
      cmocka_unit_test(values_without_nulls_are_lent_and_all_else_is_copied),
      cmocka_unit_test(clear_keeps_the_memory_and_nothing_is_allocated_again),
      cmocka_unit_test(another_codec_is_refused_and_none_is_the_default),
      cmocka_unit_test(a_refused_batch_leaves_the_pieces_that_were_there),
      cmocka_unit_test(a_failing_allocator_leaves_the_pieces_that_were_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

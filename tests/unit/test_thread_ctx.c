/* The calling thread's own context, and calls inside calls. */
#include "support/blocks.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *ask(void *out) {
  *(ashuf_ctx **)out = ashuf_thread_ctx();
  return NULL; /* the thread's exit frees it: the leak checker watches */
}

static void each_thread_has_its_own(void **state) {
  (void)state;
  ashuf_ctx *mine = ashuf_thread_ctx();
  assert_non_null(mine);
  assert_ptr_equal(mine, ashuf_thread_ctx());
  ashuf_ctx *other = NULL;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, ask, &other), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_non_null(other);
  assert_ptr_not_equal(mine, other);
  ashuf_thread_ctx_release();
  ashuf_thread_ctx_release();
}

struct reentry {
  ashuf_ctx *ctx;
  struct ashuf_buffer block;
  ashuf_status status;
};

static void decode_again(struct ashuf_bytes *bytes) {
  struct reentry *reentry = bytes->private_data;
  bytes->release = NULL;
  reentry->status =
      decode_block(reentry->ctx, reentry->block.data, reentry->block.size, NULL, NULL, NULL, NULL);
}

static void a_call_inside_a_call_is_refused(void **state) {
  (void)state;
  struct reentry reentry = {.ctx = ashuf_thread_ctx(), .status = ASHUF_OK};
  int32_t values[] = {1, 2, 3};
  struct test_column column = column_int32("a", values, NULL, 3);
  struct test_column batch = batch_of(&column, 1);
  encode_batch(reentry.ctx, &batch, NULL, &reentry.block);
  struct ashuf_bytes given = {reentry.block.data, reentry.block.size, decode_again, &reentry};
  const ashuf_schema *schema = NULL;
  struct ArrowArray out;
  assert_int_equal(ashuf_block_decode(reentry.ctx, &given, NULL, &schema, &out, NULL, NULL),
                   ASHUF_OK);
  assert_int_equal(reentry.status, ASHUF_INVALID_STATE);
  assert_true(ashuf_batch_retained_bytes(&out) >= 12);
  assert_int_equal(ashuf_batch_retained_bytes(&batch.array), 0);
  out.release(&out);
  expect_blocks_equal(reentry.ctx, &reentry.block, NULL, &batch, NULL, 0);
  column_free(&batch);
  ashuf_buffer_free(&reentry.block);
  ashuf_thread_ctx_release();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_thread_has_its_own),
      cmocka_unit_test(a_call_inside_a_call_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The accounted allocator: what it counts, what it refuses, and how it says so. */
#include "base/memory.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static ashuf_memory *new_memory(uint64_t limit) {
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  options.limit = limit;
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
  return memory;
}

static struct ashuf_memory_stats stats_of(const ashuf_memory *memory) {
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &stats);
  return stats;
}

static void every_byte_is_counted_and_given_back(void **state) {
  (void)state;
  ashuf_memory *memory = new_memory(0);
  void *a = memory_alloc(memory, 100);
  void *b = memory_aligned(memory, 1000);
  void *c = memory_zeroed(memory, 10);
  assert_int_equal((uintptr_t)b % 64, 0);
  assert_int_equal(((char *)c)[9], 0);
  assert_int_equal(stats_of(memory).now, 1110);
  a = memory_grow(memory, a, 100, 300);
  assert_int_equal(stats_of(memory).now, 1310);
  memory_free(memory, a, 300);
  memory_free_aligned(memory, b, 1000);
  memory_free(memory, c, 10);
  struct ashuf_memory_stats stats = stats_of(memory);
  assert_int_equal(stats.now, 0);
  assert_int_equal(stats.peak, 1410);
  assert_int_equal(stats.allocations, 4);
  assert_int_equal(stats.total, 1410);
  assert_null(memory_alloc(memory, 0));
  ashuf_memory_free(memory);
}

/* Many at once, so that the system's addresses differ; each is written from end to end. */
static void every_size_is_aligned_whatever_malloc_gives(void **state) {
  (void)state;
  void *blocks[300];
  for (size_t i = 0; i < 300; i++) {
    size_t size = 1 + i * 7;
    blocks[i] = memory_aligned(NULL, size);
    assert_non_null(blocks[i]);
    assert_int_equal((uintptr_t)blocks[i] % 64, 0);
    memset(blocks[i], (int)i, size);
  }
  for (size_t i = 0; i < 300; i++) {
    assert_int_equal(((uint8_t *)blocks[i])[i * 7], (uint8_t)i);
    memory_free_aligned(NULL, blocks[i], 1 + i * 7);
  }
  assert_null(memory_aligned(NULL, SIZE_MAX - 10));
}

static void the_limit_refuses_and_is_named(void **state) {
  (void)state;
  ashuf_memory *memory = new_memory(1000);
  struct ashuf_error error;
  void *a = memory_alloc(memory, 1000);
  assert_non_null(a);
  assert_null(memory_alloc(memory, 1));
  assert_int_equal(error_memory(&error, 1, memory, 1), ASHUF_MEMORY_LIMIT);
  assert_int_equal(error.status, ASHUF_MEMORY_LIMIT);
  assert_null(memory_alloc(memory, SIZE_MAX));
  assert_false(memory_charge(memory, 1));
  assert_int_equal(stats_of(memory).now, 1000);
  memory_free(memory, a, 1000);
  assert_true(memory_charge(memory, 1000));
  memory_discharge(memory, 1000);
  ashuf_memory_free(memory);
}

static void *refuse(void *user_data, size_t size, size_t alignment) {
  (void)user_data, (void)size, (void)alignment;
  return NULL;
}
static void ignore(void *user_data, void *pointer, size_t size, size_t alignment) {
  (void)user_data, (void)pointer, (void)size, (void)alignment;
}

static void an_allocator_that_has_none_is_no_limit(void **state) {
  (void)state;
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  options.allocate = refuse;
  options.release = ignore;
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
  assert_null(memory_alloc(memory, 8));
  assert_int_equal(error_memory(NULL, 1, memory, 8), ASHUF_OUT_OF_MEMORY);
  assert_int_equal(stats_of(memory).now, 0);
  ashuf_memory_free(memory);
}

static int host_grow(void *user_data, uint64_t bytes) {
  int64_t *left = user_data;
  if ((int64_t)bytes > *left) return 1;
  *left -= (int64_t)bytes;
  return 0;
}
static void host_shrink(void *user_data, uint64_t bytes) {
  *(int64_t *)user_data += (int64_t)bytes;
}

static void a_host_grants_and_gets_back(void **state) {
  (void)state;
  int64_t left = 500;
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  options.grow = host_grow;
  options.shrink = host_shrink;
  options.user_data = &left;
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
  void *a = memory_alloc(memory, 400);
  assert_int_equal(left, 100);
  assert_null(memory_alloc(memory, 101));
  assert_int_equal(error_memory(NULL, 1, memory, 101), ASHUF_MEMORY_LIMIT);
  memory_free(memory, a, 400);
  assert_int_equal(left, 500);
  ashuf_memory_free(memory);
}

static void hooks_come_in_pairs(void **state) {
  (void)state;
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  ashuf_memory *memory = NULL;
  options.allocate = refuse;
  assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_INVALID_ARGUMENT);
  assert_null(memory);
}

/* An older caller knows fewer fields than the library, a newer one more. */
static void options_of_any_size_are_read(void **state) {
  (void)state;
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  options.limit = 10;
  ashuf_memory *memory = NULL;
  for (size_t size = sizeof(size_t); size <= sizeof options; size += sizeof(size_t)) {
    options.struct_size = size;
    assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
    void *a = memory_alloc(memory, 11);
    assert_int_equal(a == NULL, size >= 2 * sizeof(size_t));
    memory_free(memory, a, 11);
    ashuf_memory_free(memory);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_byte_is_counted_and_given_back),
      cmocka_unit_test(every_size_is_aligned_whatever_malloc_gives),
      cmocka_unit_test(the_limit_refuses_and_is_named),
      cmocka_unit_test(an_allocator_that_has_none_is_no_limit),
      cmocka_unit_test(a_host_grants_and_gets_back),
      cmocka_unit_test(hooks_come_in_pairs),
      cmocka_unit_test(options_of_any_size_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

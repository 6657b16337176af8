/* Bitmaps, buffers, arenas, errors: the pieces that everything else is made of. */
#include "base/arena.h"
#include "base/bits.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/cpu.h"
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void bits_are_counted_at_every_offset(void **state) {
  (void)state;
  uint8_t source[64];
  for (size_t i = 0; i < sizeof source; i++) source[i] = (uint8_t)(i * 37 + 11);
  for (int64_t offset = 0; offset < 20; offset++)
    for (int64_t n = 0; n < 300; n++) {
      /* No byte may be read that holds none of the bits. */
      size_t need = (size_t)((offset + n + 7) / 8);
      uint8_t *exact = malloc(need + 1);
      memcpy(exact, source, need);
      uint8_t *tight = need == 0 ? exact : realloc(exact, need);
      int64_t count = 0;
      for (int64_t i = 0; i < n; i++) count += bit_get(source, offset + i);
      assert_int_equal(bits_count(tight, offset, n), count);
      free(tight);
    }
}

static void ranges_are_bounded_without_overflow(void **state) {
  (void)state;
  assert_true(range_inside(0, 0, 0));
  assert_true(range_inside(3, 7, 10));
  assert_false(range_inside(3, 8, 10));
  assert_false(range_inside(UINT64_MAX, 2, 10));
  assert_false(range_inside(2, UINT64_MAX, 10));
}

static void a_buffer_grows_and_keeps_its_memory(void **state) {
  (void)state;
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  struct ashuf_buffer buffer = ASHUF_BUFFER_INIT;
  for (int i = 0; i < 1000; i++) assert_true(buffer_append(&buffer, memory, &i, sizeof i));
  ashuf_memory_free(memory); /* the buffer holds a reference */
  assert_int_equal(buffer.size, 4000);
  assert_int_equal(((int *)(void *)buffer.data)[999], 999);
  assert_false(buffer_reserve(&buffer, NULL, SIZE_MAX));
  ashuf_buffer_free(&buffer);
  assert_null(buffer.data);
  ashuf_buffer_free(&buffer);
}

static void an_arena_aligns_and_resets(void **state) {
  (void)state;
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  struct arena arena;
  arena_init(&arena, memory);
  for (int round = 0; round < 3; round++) {
    for (size_t i = 0; i < 500; i++) {
      size_t alignment = (size_t)1 << (i % 7);
      uint8_t *p = arena_alloc(&arena, i, alignment);
      assert_non_null(p);
      assert_int_equal((uintptr_t)p & (alignment - 1), 0);
      memset(p, 0xee, i);
    }
    arena_reset(&arena, 1 << 20);
  }
  struct ashuf_memory_stats before = ASHUF_MEMORY_STATS_INIT;
  struct ashuf_memory_stats after = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &before);
  assert_non_null(arena_alloc(&arena, 50000, 16));
  ashuf_memory_get_stats(memory, &after);
  assert_int_equal(before.allocations, after.allocations);
  arena_reset(&arena, 1);
  ashuf_memory_get_stats(memory, &after);
  assert_int_equal(after.now, 0);
  assert_null(arena_array(&arena, SIZE_MAX, 2));
  assert_string_equal(arena_text(&arena, "abc", 2), "ab");
  arena_free(&arena);
  ashuf_memory_get_stats(memory, &after);
  assert_int_equal(after.now, 0);
  ashuf_memory_free(memory);
}

static void errors_never_print_input_raw(void **state) {
  (void)state;
  char text[64];
  assert_string_equal(error_escape(text, sizeof text, "a\n\x1b\"\xff", 5), "a\\x0a\\x1b\\x22\\xff");
  char small[8];
  assert_string_equal(error_escape(small, sizeof small, "abcdefghij", 10), "abcd...");
  assert_string_equal(error_escape(small, sizeof small, "", 0), "");
}

static void an_error_says_what_and_where(void **state) {
  (void)state;
  struct ashuf_error error;
  assert_int_equal(error_at(&error, ASHUF_BAD_FRAMING, 7, 42, "cut after %d", 3),
                   ASHUF_BAD_FRAMING);
  assert_int_equal(error.site, 7);
  assert_int_equal(error.offset, 42);
  assert_int_equal(error.space, ASHUF_SPACE_STREAM);
  assert_int_equal(error.partition, -1);
  error_prefix(&error, "file %s: ", "x");
  assert_string_equal(error.message, "file x: cut after 3");
  assert_int_equal(error_os(&error, 8, 2, "open"), ASHUF_IO);
  assert_int_equal(error.os_errno, 2);
  char longer[400];
  memset(longer, 'y', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  error_prefix(&error, "%s", longer);
  assert_int_equal(strlen(error.message), sizeof error.message - 1);
  assert_int_equal(error_set(NULL, ASHUF_IO, 1, "nobody listens"), ASHUF_IO);
}

static void every_status_has_a_name_and_a_text(void **state) {
  (void)state;
  assert_string_equal(ashuf_status_name(ASHUF_BAD_HEADER), "BAD_HEADER");
  assert_string_equal(ashuf_status_name(12345), "UNKNOWN");
#define CHECK(name, number, text)         \
  assert_int_equal(ASHUF_##name, number); \
  assert_string_equal(ashuf_status_text(number), text);
  ASHUF_STATUS_LIST(CHECK)
#undef CHECK
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_are_counted_at_every_offset),
      cmocka_unit_test(ranges_are_bounded_without_overflow),
      cmocka_unit_test(a_buffer_grows_and_keeps_its_memory),
      cmocka_unit_test(an_arena_aligns_and_resets),
      cmocka_unit_test(errors_never_print_input_raw),
      cmocka_unit_test(an_error_says_what_and_where),
      cmocka_unit_test(every_status_has_a_name_and_a_text),
  };
  int failed = cmocka_run_group_tests_name("wide registers", tests, NULL, NULL);
  cpu_plain_only = true;
  return failed + cmocka_run_group_tests_name("any machine", tests, NULL, NULL);
}

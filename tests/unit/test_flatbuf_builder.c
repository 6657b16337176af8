/* The builder lays out bytes as the Rust crate does: docs/FORMAT.md, "FlatBuffers: writing". */
#include "flatbuf/builder.h"

#include "base/bytes.h"
#include "support/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void require(struct builder *builder, uint32_t root, const uint8_t *expected, size_t size) {
  const uint8_t *bytes;
  assert_int_equal(builder_finish(builder, root, &bytes, NULL), ASHUF_OK);
  assert_int_equal(builder->used, size);
  assert_memory_equal(bytes, expected, size);
  builder_free(builder);
}

static void test_empty_table_has_a_vtable_of_four_bytes(void **state) {
  (void)state;
  struct builder builder;
  builder_init(&builder, NULL);
  builder_table(&builder);
  const uint8_t expected[] = {8, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0};
  require(&builder, builder_table_end(&builder), expected, sizeof expected);
}

static void test_defaults_are_left_out_and_the_vtable_ends_with_the_last_field(void **state) {
  (void)state;
  struct builder builder;
  builder_init(&builder, NULL);
  builder_table(&builder);
  builder_scalar(&builder, 0, 2, 7, 7);
  builder_scalar(&builder, 1, 1, 9, 0);
  builder_scalar(&builder, 3, 8, 0, 0);
  /* root | vtable: 8 bytes, table of 8, slot 0 absent, slot 1 at 7 | table: vtable, pad, 9 */
  const uint8_t expected[] = {12, 0, 0, 0, 8, 0, 8, 0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0, 9};
  require(&builder, builder_table_end(&builder), expected, sizeof expected);
}

static void test_text_is_padded_behind_its_nul(void **state) {
  (void)state;
  struct builder builder;
  builder_init(&builder, NULL);
  uint32_t text = builder_text(&builder, "abcd", 4);
  assert_int_equal(text, 12);
  const uint8_t expected[] = {4, 0, 0, 0, 'a', 'b', 'c', 'd', 0, 0, 0, 0};
  assert_memory_equal(builder.data + builder.capacity - builder.used, expected, sizeof expected);
  assert_int_equal(builder_text(&builder, "", 0), 20);
  builder_free(&builder);
}

static void test_vector_elements_are_aligned_and_the_count_stands_before_them(void **state) {
  (void)state;
  struct builder builder;
  builder_init(&builder, NULL);
  const int64_t one = 1;
  const int32_t two[] = {2, 3};
  assert_int_equal(builder_vector(&builder, &one, 1, 8), 12);
  assert_int_equal(builder_vector(&builder, two, 2, 4), 24);
  assert_int_equal(builder_vector(&builder, &one, 1, 8), 36);
  const uint8_t expected[] = {1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,  /* at 36: aligned already */
                              2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0,  /* at 24 */
                              1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}; /* at 12 */
  assert_memory_equal(builder.data + builder.capacity - builder.used, expected, sizeof expected);
  assert_int_equal(builder_structs(&builder, NULL, 0, 16), 44);
  builder_free(&builder);
}

static void test_kept_addresses_become_a_vector_in_their_order(void **state) {
  (void)state;
  struct builder builder;
  builder_init(&builder, NULL);
  builder_keep(&builder, 99); /* stays for an outer vector */
  uint32_t first = builder_text(&builder, "x", 1);
  builder_keep(&builder, first);
  uint32_t second = builder_text(&builder, "y", 1);
  builder_keep(&builder, second);
  uint32_t vector = builder_kept_vector(&builder, 2);
  const uint8_t *at = builder.data + builder.capacity - vector;
  assert_int_equal(load_u32(at), 2);
  assert_int_equal(vector - 4 - load_u32(at + 4), first);
  assert_int_equal(vector - 8 - load_u32(at + 8), second);
  assert_int_equal(builder.n_stack, 1);
  builder_free(&builder);
}

static uint32_t byte_table(struct builder *builder, unsigned slot) {
  builder_table(builder);
  builder_scalar(builder, slot, 1, 1, 0);
  return builder_table_end(builder);
}

static uint32_t vtable_of(const struct builder *builder, uint32_t table) {
  return table + load_u32(builder->data + builder->capacity - table);
}

static void test_equal_vtables_are_written_once_across_growth(void **state) {
  (void)state;
  struct builder builder;
  builder_init(&builder, NULL);
  uint32_t first = byte_table(&builder, 0);
  uint32_t other = byte_table(&builder, 1);
  uint32_t last = 0;
  for (int i = 0; i < 2000; i++) last = byte_table(&builder, i % 2 == 0);
  assert_true(builder.capacity > 8192);
  /* The second table stands behind a vtable of 6 bytes, so that it is shorter than later ones. */
  assert_int_equal(builder.n_vtables, 3);
  for (int i = 0; i < 2; i++) last = byte_table(&builder, (unsigned)i);
  assert_int_equal(builder.n_vtables, 3);
  assert_int_not_equal(vtable_of(&builder, first), vtable_of(&builder, other));
  assert_true(vtable_of(&builder, last) < 64);
  builder_free(&builder);
}

static ashuf_status build_much(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  (void)data;
  struct builder builder;
  const uint8_t *bytes;
  builder_init(&builder, memory);
  for (unsigned i = 0; i < 100; i++) {
    (void)builder_text(&builder, "0123456789abcdef0123456789abcdef", 32);
    builder_keep(&builder, byte_table(&builder, i % BUILDER_SLOTS));
  }
  uint32_t vector = builder_kept_vector(&builder, 100);
  builder_table(&builder);
  builder_offset(&builder, 0, vector);
  ashuf_status status = builder_finish(&builder, builder_table_end(&builder), &bytes, error);
  builder_free(&builder);
  return status;
}

static void test_every_failed_allocation_is_reported_and_leaks_nothing(void **state) {
  (void)state;
  fault_sweep(build_much, NULL);
}

static void test_two_gibibytes_are_refused_before_they_are_allocated(void **state) {
  (void)state;
  struct builder builder;
  struct ashuf_error error;
  const uint8_t *bytes = NULL;
  builder_init(&builder, NULL);
  (void)builder_text(&builder, "never read", (size_t)INT32_MAX + 1);
  (void)builder_text(&builder, "x", 1);
  assert_int_equal(builder_finish(&builder, 4, &bytes, &error), ASHUF_SIZE_LIMIT);
  assert_int_equal(error.site, SITE_BUILDER_SIZE);
  assert_null(bytes);
  builder_free(&builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_empty_table_has_a_vtable_of_four_bytes),
      cmocka_unit_test(test_defaults_are_left_out_and_the_vtable_ends_with_the_last_field),
      cmocka_unit_test(test_text_is_padded_behind_its_nul),
      cmocka_unit_test(test_vector_elements_are_aligned_and_the_count_stands_before_them),
      cmocka_unit_test(test_kept_addresses_become_a_vector_in_their_order),
      cmocka_unit_test(test_equal_vtables_are_written_once_across_growth),
      cmocka_unit_test(test_every_failed_allocation_is_reported_and_leaks_nothing),
      cmocka_unit_test(test_two_gibibytes_are_refused_before_they_are_allocated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

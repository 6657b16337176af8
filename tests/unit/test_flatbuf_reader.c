/* The checked reader, one broken rule a test, on a table written by hand. */
#include "flatbuf/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/*
 * What the tests start from, and change one byte of:
 *    0 root -> 20         4 vtable: 14 bytes, table of 20, slots at 4, 8, 16, 18, 12
 *   20 table              24 text -> 40, 28 i32s -> 48, 32 tables -> 60, 36 i16 -2, 38 u8 5
 *   40 "abc"              48 vector of 2 i32s: 1, 2   60 vector of 1 offset -> 20 + ...
 */
static const uint8_t sample[] = {
    20,   0,    0,  0,                                        /* 0 */
    14,   0,    20, 0, 4,   0,   8,   0, 16, 0, 18, 0, 12, 0, /* 4 */
    0,    0,                                                  /* 18 */
    16,   0,    0,  0,                                        /* 20: vtable at 4 */
    16,   0,    0,  0,                                        /* 24: text at 40 */
    20,   0,    0,  0,                                        /* 28: vector at 48 */
    28,   0,    0,  0,                                        /* 32: vector at 60 */
    0xfe, 0xff, 5,  0,                                        /* 36 */
    3,    0,    0,  0, 'a', 'b', 'c', 0,                      /* 40 */
    2,    0,    0,  0, 1,   0,   0,   0, 2,  0, 0,  0,        /* 48 */
    1,    0,    0,  0, 8,   0,   0,   0,                      /* 60: table at 72 */
    4,    0,    4,  0,                                        /* 68: its vtable */
    4,    0,    0,  0,                                        /* 72 */
};

enum { SLOT_TEXT, SLOT_INTS, SLOT_I16, SLOT_U8, SLOT_TABLES };

struct fixture {
  uint8_t *bytes;
  struct flatbuf reader;
  struct flatbuf_table root;
  struct ashuf_error error;
};

/* The first size bytes, with bytes[at] = value; in a block of their exact size. */
static void open_bytes(struct fixture *fixture, size_t size, size_t at, uint8_t value) {
  memset(fixture, 0, sizeof *fixture);
  fixture->bytes = malloc(size);
  assert_non_null(fixture->bytes);
  memcpy(fixture->bytes, sample, size);
  if (at < size) fixture->bytes[at] = value;
  flatbuf_init(&fixture->reader, fixture->bytes, size, 1000, &fixture->error);
}

static void open_sample(struct fixture *fixture, size_t at, uint8_t value) {
  open_bytes(fixture, sizeof sample, at, value);
  assert_true(flatbuf_root(&fixture->reader, &fixture->root));
}

static void close_failed(struct fixture *fixture, int site, uint64_t at) {
  assert_int_equal(fixture->error.status, ASHUF_BAD_METADATA);
  assert_int_equal(fixture->error.site, site);
  assert_int_equal(fixture->error.space, ASHUF_SPACE_STREAM);
  assert_int_equal(fixture->error.offset, 1000 + at);
  free(fixture->bytes);
}

static void require_bad_root(size_t at, uint8_t value, int site, uint64_t error_at) {
  struct fixture fixture;
  open_bytes(&fixture, sizeof sample, at, value);
  assert_false(flatbuf_root(&fixture.reader, &fixture.root));
  close_failed(&fixture, site, error_at);
}

static void test_a_sound_table_is_read(void **state) {
  (void)state;
  struct fixture fixture;
  struct flatbuf_text text;
  struct flatbuf_vector vector;
  struct flatbuf_table table;
  int16_t number;
  uint8_t byte;
  int64_t wide;
  open_sample(&fixture, SIZE_MAX, 0);
  struct flatbuf *reader = &fixture.reader;
  assert_true(flatbuf_text(reader, &fixture.root, SLOT_TEXT, &text));
  assert_int_equal(text.size, 3);
  assert_string_equal(text.data, "abc");
  assert_true(flatbuf_vector(reader, &fixture.root, SLOT_INTS, 4, 4, &vector));
  assert_int_equal(vector.count, 2);
  assert_int_equal(load_u32(vector.data + 4), 2);
  assert_true(flatbuf_i16(reader, &fixture.root, SLOT_I16, 0, &number));
  assert_int_equal(number, -2);
  assert_true(flatbuf_u8(reader, &fixture.root, SLOT_U8, 0, &byte));
  assert_int_equal(byte, 5);
  assert_true(flatbuf_vector(reader, &fixture.root, SLOT_TABLES, 4, 4, &vector));
  assert_true(flatbuf_vector_table(reader, &vector, 0, &table));
  assert_int_equal(table.at, 72);
  assert_true(flatbuf_i64(reader, &table, 0, -7, &wide)); /* absent: past the vtable */
  assert_int_equal(wide, -7);
  assert_true(flatbuf_text(reader, &table, 3, &text));
  assert_null(text.data);
  free(fixture.bytes);
}

static void test_root_is_checked(void **state) {
  (void)state;
  struct fixture fixture;
  require_bad_root(0, 200, SITE_FLATBUF_OFFSET, 0);
  require_bad_root(0, 3, SITE_FLATBUF_OFFSET, 0);
  require_bad_root(0, 18, SITE_FLATBUF_OFFSET, 0); /* not a multiple of 4 */
  open_bytes(&fixture, 7, SIZE_MAX, 0);
  assert_false(flatbuf_root(&fixture.reader, &fixture.root));
  close_failed(&fixture, SITE_FLATBUF_SIZE, 0);
}

static void test_vtable_is_checked(void **state) {
  (void)state;
  require_bad_root(20, 24, SITE_FLATBUF_VTABLE, 20);   /* starts before the buffer */
  require_bad_root(20, 15, SITE_FLATBUF_VTABLE, 20);   /* odd */
  require_bad_root(23, 0x80, SITE_FLATBUF_VTABLE, 20); /* far behind the buffer */
  require_bad_root(4, 2, SITE_FLATBUF_VTABLE, 4);
  require_bad_root(4, 13, SITE_FLATBUF_VTABLE, 4);
  require_bad_root(4, 200, SITE_FLATBUF_VTABLE, 4);
}

static void test_inline_part_is_checked(void **state) {
  (void)state;
  require_bad_root(6, 3, SITE_FLATBUF_TABLE, 20);
  require_bad_root(6, 57, SITE_FLATBUF_TABLE, 20); /* 76 - 20 = 56 are there */
}

static void test_vtable_may_stand_behind_its_table(void **state) {
  (void)state;
  struct fixture fixture;
  open_bytes(&fixture, sizeof sample, SIZE_MAX, 0);
  store_u32(fixture.bytes + 20, (uint32_t)(20 - 68)); /* the empty table's */
  assert_true(flatbuf_root(&fixture.reader, &fixture.root));
  assert_int_equal(fixture.root.n_slots, 0);
  free(fixture.bytes);
}

static void test_field_lies_inside_its_table_and_aligned(void **state) {
  (void)state;
  static const uint8_t bad[] = {1, 3, 5, 17, 19, 20, 255}; /* of the i16 in slot 2 */
  for (size_t i = 0; i < sizeof bad; i++) {
    struct fixture fixture;
    int16_t number;
    open_sample(&fixture, 12, bad[i]);
    assert_false(flatbuf_i16(&fixture.reader, &fixture.root, SLOT_I16, 0, &number));
    close_failed(&fixture, SITE_FLATBUF_SLOT, 20);
  }
}

static void require_bad_text(size_t at, uint8_t value, int site, uint64_t error_at) {
  struct fixture fixture;
  struct flatbuf_text text;
  open_sample(&fixture, at, value);
  assert_false(flatbuf_text(&fixture.reader, &fixture.root, SLOT_TEXT, &text));
  close_failed(&fixture, site, error_at);
}

static void test_text_is_checked(void **state) {
  (void)state;
  require_bad_text(24, 200, SITE_FLATBUF_OFFSET, 24);
  require_bad_text(24, 0, SITE_FLATBUF_OFFSET, 24);
  require_bad_text(24, 17, SITE_FLATBUF_OFFSET, 24);
  require_bad_text(43, 0x80, SITE_FLATBUF_TEXT, 40);
  require_bad_text(40, 33, SITE_FLATBUF_TEXT, 40); /* 76 - 44 = 32 are there */
  require_bad_text(40, 32, SITE_FLATBUF_NUL, 40);  /* and then no NUL */
  require_bad_text(47, 'd', SITE_FLATBUF_NUL, 40);
  require_bad_text(45, 0xff, SITE_FLATBUF_UTF8, 44);
}

static void require_bad_ints(size_t at, uint8_t value, size_t alignment, uint64_t error_at) {
  struct fixture fixture;
  struct flatbuf_vector vector;
  open_sample(&fixture, at, value);
  assert_false(flatbuf_vector(&fixture.reader, &fixture.root, SLOT_INTS, 4, alignment, &vector));
  close_failed(&fixture, SITE_FLATBUF_VECTOR, error_at);
}

static void test_vector_is_checked(void **state) {
  (void)state;
  require_bad_ints(48, 7, 4, 48); /* 76 - 52 = 24 are there */
  require_bad_ints(51, 0xff, 4, 48);
  require_bad_ints(48, 2, 8, 48); /* elements at 52 are not aligned to 8 */
}

static void test_union_has_both_slots_or_none(void **state) {
  (void)state;
  struct fixture fixture;
  struct flatbuf_table member;
  uint8_t type;
  open_sample(&fixture, SIZE_MAX, 0); /* slots 3 and 4: type 5 and an offset */
  assert_true(flatbuf_union(&fixture.reader, &fixture.root, SLOT_U8, 4, &type, &member));
  assert_int_equal(type, 5); /* unknown: not looked at, or 60 would have to be a table */
  assert_int_equal(member.at, 0);
  free(fixture.bytes);
  open_sample(&fixture, 14, 0);
  assert_false(flatbuf_union(&fixture.reader, &fixture.root, SLOT_U8, 9, &type, &member));
  close_failed(&fixture, SITE_FLATBUF_UNION, 20);
  open_sample(&fixture, 16, 0);
  assert_false(flatbuf_union(&fixture.reader, &fixture.root, SLOT_U8, 9, &type, &member));
  close_failed(&fixture, SITE_FLATBUF_UNION, 20);
}

static void test_budgets_end_repeated_visits(void **state) {
  (void)state;
  struct fixture fixture;
  struct flatbuf_vector vector;
  struct flatbuf_table table;
  struct flatbuf_text text;
  int visits = 0;
  open_sample(&fixture, SIZE_MAX, 0);
  assert_true(flatbuf_vector(&fixture.reader, &fixture.root, SLOT_TABLES, 4, 4, &vector));
  while (flatbuf_vector_table(&fixture.reader, &vector, 0, &table)) visits++;
  assert_int_equal(visits, sizeof sample / 4 - 1); /* the root was one */
  close_failed(&fixture, SITE_FLATBUF_TABLE_BUDGET, 72);
  open_sample(&fixture, SIZE_MAX, 0);
  visits = 0;
  while (flatbuf_text(&fixture.reader, &fixture.root, SLOT_TEXT, &text)) visits++;
  assert_in_range(visits, 50, sizeof sample);
  close_failed(&fixture, SITE_FLATBUF_BYTE_BUDGET, 40);
}

static void test_utf8_is_told_from_what_is_not(void **state) {
  (void)state;
  static const char *const good[] = {"",
                                     "plain ascii of more than eight bytes",
                                     "\xc2\x80",
                                     "\xdf\xbf",
                                     "\xe0\xa0\x80",
                                     "\xed\x9f\xbf",
                                     "\xee\x80\x80",
                                     "\xef\xbf\xbf",
                                     "\xf0\x90\x80\x80",
                                     "\xf4\x8f\xbf\xbf",
                                     "0123456\xc3\xa9_89"};
  static const char *const bad[] = {"\x80",
                                    "\xc0\x80",
                                    "\xc1\xbf",
                                    "\xc2",
                                    "\xc2 ",
                                    "\xe0\x9f\xbf",
                                    "\xe2\x82",
                                    "\xed\xa0\x80",
                                    "\xf0\x8f\xbf\xbf",
                                    "\xf0\x9f\x98",
                                    "\xf4\x90\x80\x80",
                                    "\xf5\x80\x80\x80",
                                    "\xff",
                                    "0123456\xc3",
                                    "01234567\x80"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    assert_true(flatbuf_is_utf8((const uint8_t *)good[i], strlen(good[i])));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_false(flatbuf_is_utf8((const uint8_t *)bad[i], strlen(bad[i])));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_sound_table_is_read),
      cmocka_unit_test(test_root_is_checked),
      cmocka_unit_test(test_vtable_is_checked),
      cmocka_unit_test(test_inline_part_is_checked),
      cmocka_unit_test(test_vtable_may_stand_behind_its_table),
      cmocka_unit_test(test_field_lies_inside_its_table_and_aligned),
      cmocka_unit_test(test_text_is_checked),
      cmocka_unit_test(test_vector_is_checked),
      cmocka_unit_test(test_union_has_both_slots_or_none),
      cmocka_unit_test(test_budgets_end_repeated_visits),
      cmocka_unit_test(test_utf8_is_told_from_what_is_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

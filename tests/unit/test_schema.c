/* Sealing, counting, numbering, comparing and printing schemas, and their form without
 * dictionaries. */
#include "arrow/schema_int.h"
#include "support/schema_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int free_nodes(void **state) {
  (void)state;
  schema_nodes_free();
  return 0;
}

static ashuf_schema *import(const struct ArrowSchema *node) {
  struct ashuf_error error = {0};
  ashuf_schema *schema = NULL;
  if (ashuf_schema_import(node, NULL, &schema, &error) != ASHUF_OK) fail_msg("%s", error.message);
  return schema;
}

/* A schema of one unsealed column "c" of the type. */
static ashuf_schema *unsealed(enum arrow_type type, struct field **column) {
  ashuf_schema *schema = schema_new(NULL);
  assert_non_null(schema);
  schema->columns = schema_fields(schema, 1);
  assert_non_null(schema->columns);
  schema->n_columns = 1;
  *column = &schema->columns[0];
  (*column)->name = "c";
  (*column)->name_size = 1;
  (*column)->type = (uint8_t)type;
  return schema;
}

static void expect_unsealable(ashuf_schema *schema, ashuf_status expected, int site,
                              const char *text) {
  struct ashuf_error error = {0};
  assert_int_equal(schema_seal(schema, false, &error), expected);
  assert_int_equal(error.site, site);
  if (strstr(error.message, text) == NULL) fail_msg("\"%s\" is not in \"%s\"", text, error.message);
  ashuf_schema_free(schema);
}

/* ---- Rules ---- */

static void units_have_to_fit_the_width(void **state) {
  (void)state;
  static const struct {
    enum arrow_type type;
    bool fits[5];
  } cases[] = {{TYPE_TIME32, {true, true, false, false, false}},
               {TYPE_TIME64, {false, false, true, true, false}},
               {TYPE_TIMESTAMP, {true, true, true, true, false}},
               {TYPE_DURATION, {true, true, true, true, false}}};
  for (size_t i = 0; i < 4; i++)
    for (uint8_t unit = 0; unit < 5; unit++) {
      struct field *column;
      ashuf_schema *schema = unsealed(cases[i].type, &column);
      column->unit = unit;
      ashuf_status expected = cases[i].fits[unit] ? ASHUF_OK : ASHUF_BAD_SCHEMA;
      assert_int_equal(schema_seal(schema, false, NULL), expected);
      ashuf_schema_free(schema);
    }
}

static void precision_ends_where_the_width_does(void **state) {
  (void)state;
  static const struct {
    enum arrow_type type;
    int32_t most;
  } cases[] = {
      {TYPE_DECIMAL32, 9}, {TYPE_DECIMAL64, 18}, {TYPE_DECIMAL128, 38}, {TYPE_DECIMAL256, 76}};
  for (size_t i = 0; i < 4; i++)
    for (int32_t precision = -1; precision < 80; precision++) {
      struct field *column;
      ashuf_schema *schema = unsealed(cases[i].type, &column);
      column->precision = precision;
      bool fits = precision >= 1 && precision <= cases[i].most;
      assert_int_equal(schema_seal(schema, false, NULL), fits ? ASHUF_OK : ASHUF_BAD_SCHEMA);
      ashuf_schema_free(schema);
    }
}

static void a_map_needs_entries_of_two_fields(void **state) {
  (void)state;
  struct field *column;
  ashuf_schema *schema = unsealed(TYPE_MAP, &column);
  column->children = schema_fields(schema, 1);
  column->n_children = 1;
  expect_unsealable(schema, ASHUF_BAD_SCHEMA, SITE_SCHEMA_MAP, "column \"c\": the child of a map");
  schema = unsealed(TYPE_MAP, &column);
  column->children = schema_fields(schema, 1);
  column->n_children = 1;
  column->children[0].type = TYPE_STRUCT;
  column->children[0].n_children = 3;
  column->children[0].children = schema_fields(schema, 3);
  expect_unsealable(schema, ASHUF_BAD_SCHEMA, SITE_SCHEMA_MAP, "struct of two fields");
}

static void run_ends_are_signed_integers_of_16_bits_and_more(void **state) {
  (void)state;
  for (int type = 0; type < TYPE_COUNT; type++) {
    if (type_info((enum arrow_type)type)->children != 0) continue;
    struct field *column;
    ashuf_schema *schema = unsealed(TYPE_RUN_END_ENCODED, &column);
    column->children = schema_fields(schema, 2);
    column->n_children = 2;
    column->children[0].type = (uint8_t)type;
    column->children[0].precision = 1;
    column->children[0].unit = UNIT_MILLI;
    if (type == TYPE_TIME64) column->children[0].unit = UNIT_MICRO;
    bool fits = type == TYPE_INT16 || type == TYPE_INT32 || type == TYPE_INT64;
    assert_int_equal(schema_seal(schema, false, NULL), fits ? ASHUF_OK : ASHUF_BAD_SCHEMA);
    ashuf_schema_free(schema);
  }
}

static void dictionary_indices_are_integers(void **state) {
  (void)state;
  static const enum arrow_type types[] = {TYPE_FLOAT32, TYPE_UTF8, TYPE_BOOL, TYPE_DATE32};
  for (size_t i = 0; i < 4; i++) {
    struct field *column;
    ashuf_schema *schema = unsealed(types[i], &column);
    column->dictionary = schema_fields(schema, 1);
    column->dictionary->type = TYPE_UTF8;
    expect_unsealable(schema, ASHUF_BAD_SCHEMA, SITE_SCHEMA_INDEX_TYPE, "column \"c\": dictionary");
  }
}

static void unknown_numbers_and_missing_ids_are_refused(void **state) {
  (void)state;
  struct field *column;
  ashuf_schema *schema = unsealed(TYPE_COUNT, &column);
  expect_unsealable(schema, ASHUF_UNSUPPORTED_TYPE, SITE_SCHEMA_NOT_SUPPORTED, "column \"c\"");
  schema = unsealed(TYPE_DENSE_UNION, &column);
  column->children = schema_fields(schema, 1);
  column->n_children = 1;
  expect_unsealable(schema, ASHUF_BAD_SCHEMA, SITE_SCHEMA_UNION_IDS, "without type ids");
  schema = unsealed(TYPE_STRUCT, &column);
  column->n_children = -1;
  expect_unsealable(schema, ASHUF_BAD_SCHEMA, SITE_SCHEMA_CHILDREN, "-1 children");
  schema = unsealed(TYPE_FIXED_SIZE_BINARY, &column);
  column->byte_width = -4;
  expect_unsealable(schema, ASHUF_BAD_SCHEMA, SITE_SCHEMA_PARAMETER, "byte width -4");
}

static void widths_are_filled_in(void **state) {
  (void)state;
  struct field *column;
  ashuf_schema *schema = unsealed(TYPE_DECIMAL256, &column);
  column->precision = 5;
  assert_int_equal(schema_seal(schema, false, NULL), ASHUF_OK);
  assert_int_equal(column->byte_width, 32);
  ashuf_schema_free(schema);
}

/* ---- Counters and numbers ---- */

static struct ArrowSchema *dictionary(const char *name, struct ArrowSchema *values) {
  return schema_node_encode(schema_node("i", name), values);
}

/* outer: dictionary of structs {a: dictionary, b: list<dictionary>}; last: dictionary. */
static struct ArrowSchema *nested_dictionaries(void) {
  struct ArrowSchema *b =
      schema_node_add(schema_node("+l", "b"), dictionary("item", schema_node("u", "")));
  struct ArrowSchema *values = schema_node_flags("+s", "", 0);
  schema_node_add(values, dictionary("a", schema_node("tsu:UTC", "")));
  schema_node_add(values, b);
  struct ArrowSchema *batch = schema_node_batch(dictionary("outer", values));
  return schema_node_add(batch, dictionary("last", schema_node("d:9,2", "")));
}

static void inner_dictionaries_are_numbered_before_the_outer(void **state) {
  (void)state;
  ashuf_schema *schema = import(nested_dictionaries());
  const struct field *outer = &schema->columns[0];
  const struct field *values = outer->dictionary;
  assert_int_equal(values->children[0].dictionary_id, 0);
  assert_int_equal(values->children[1].children[0].dictionary_id, 1);
  assert_int_equal(outer->dictionary_id, 2);
  assert_int_equal(schema->columns[1].dictionary_id, 3);
  assert_int_equal(schema->n_dictionaries, 4);
  ashuf_schema_free(schema);
}

static void ids_that_were_read_are_kept(void **state) {
  (void)state;
  struct field *column;
  ashuf_schema *schema = unsealed(TYPE_INT32, &column);
  column->dictionary = schema_fields(schema, 1);
  column->dictionary->type = TYPE_UTF8;
  column->dictionary_id = 77;
  assert_int_equal(schema_seal(schema, false, NULL), ASHUF_OK);
  assert_int_equal(column->dictionary_id, 77);
  ashuf_schema_free(schema);
}

static void counters_follow_the_tree(void **state) {
  (void)state;
  struct ArrowSchema *batch = schema_node_batch(schema_node("n", "null"));
  schema_node_add(batch, schema_node_add(schema_node("+l", "list"), schema_node("u", "item")));
  schema_node_add(batch, schema_node("vu", "view"));
  schema_node_add(batch, dictionary("words", schema_node("u", "")));
  ashuf_schema *schema = import(batch);
  assert_int_equal(schema->n_nodes, 5);
  assert_int_equal(schema->n_buffers, 0 + 2 + 3 + 2 + 2);
  assert_int_equal(schema->n_variadic, 1);
  assert_int_equal(schema->n_arrays, 6);
  assert_int_equal(schema->n_pointers, 0 + 2 + 3 + 3 + 2 + 3);
  assert_int_equal(schema->n_dictionaries, 1);
  assert_int_equal(schema->depth, 2);
  ashuf_schema_free(schema);
}

/* ---- Plain ---- */

static void plain_replaces_dictionaries_by_their_values(void **state) {
  (void)state;
  struct ArrowSchema *node = nested_dictionaries();
  node->children[1]->flags = 0;
  node->children[1]->metadata = "\x01\0\0\0\x01\0\0\0k\x01\0\0\0v";
  ashuf_schema *schema = import(node);
  ashuf_schema *plain = schema_plain(schema);
  assert_non_null(plain);
  char text[200];
  assert_string_equal(field_type_text(&plain->columns[0], text, sizeof text),
                      "struct<a: timestamp(us, UTC), b: list<item: utf8>>");
  assert_string_equal(plain->columns[0].name, "outer");
  assert_true(plain->columns[0].nullable);
  assert_false(plain->columns[1].nullable);
  assert_string_equal(plain->columns[1].name, "last");
  assert_int_equal(plain->columns[1].type, TYPE_DECIMAL128);
  assert_int_equal(plain->columns[1].n_metadata, 1);
  assert_string_equal(plain->columns[1].metadata[0].value, "v");
  assert_int_equal(plain->n_dictionaries, 0);
  assert_int_equal(plain->n_nodes, 5);
  assert_int_equal(plain->n_buffers, 1 + 2 + 2 + 3 + 2);
  assert_int_equal(plain->depth, 3);
  ashuf_schema_free(plain);
  ashuf_schema_free(schema);
}

static void plain_is_made_once_and_outlives_its_schema(void **state) {
  (void)state;
  ashuf_schema *schema = import(nested_dictionaries());
  ashuf_schema *first = schema_plain(schema);
  ashuf_schema *second = schema_plain(schema);
  assert_ptr_equal(first, second);
  ashuf_schema_free(second);
  ashuf_schema_free(schema);
  schema_nodes_free();
  assert_int_equal(ashuf_schema_find_column(first, "last"), 1);
  ashuf_schema_free(first);
}

static void a_schema_without_dictionaries_is_its_own_plain(void **state) {
  (void)state;
  ashuf_schema *schema = import(schema_node_batch(schema_node("i", "a")));
  ashuf_schema *plain = schema_plain(schema);
  assert_ptr_equal(plain, schema);
  ashuf_schema_free(plain);
  assert_int_equal(ashuf_schema_n_columns(schema), 1);
  ashuf_schema_free(schema);
}

static void a_published_message_is_freed_with_the_schema(void **state) {
  (void)state;
  ashuf_memory *memory;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  ashuf_schema *schema = schema_new(memory);
  struct schema_message *message = memory_alloc(memory, sizeof *message + 100);
  assert_non_null(message);
  message->size = 100;
  atomic_store(&schema->message, message);
  ashuf_schema_free(schema);
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &stats);
  assert_int_equal(stats.now, 0);
  ashuf_memory_free(memory);
}

/* ---- Comparing ---- */

static void expect_mismatch(struct ArrowSchema *expected, struct ArrowSchema *found,
                            const char *text) {
  ashuf_schema *a = import(expected);
  ashuf_schema *b = import(found);
  struct ashuf_error error = {0};
  assert_int_equal(ashuf_schema_equal(a, b), 0);
  assert_int_equal(schema_require_equal(a, b, &error), ASHUF_SCHEMA_MISMATCH);
  assert_string_equal(error.message, text);
  ashuf_schema_free(a);
  ashuf_schema_free(b);
}

static struct ArrowSchema *one(const char *format, const char *name) {
  return schema_node_batch(schema_node(format, name));
}

static struct ArrowSchema *list_of(const char *format, const char *name, int64_t flags) {
  return schema_node_batch(
      schema_node_add(schema_node("+l", "l"), schema_node_flags(format, name, flags)));
}

static void a_mismatch_names_the_column_and_both_types(void **state) {
  (void)state;
  expect_mismatch(one("i", "a"), one("l", "a"), "column \"a\": expected int32, found int64");
  expect_mismatch(one("tsu:UTC", "t"), one("tsu:", "t"),
                  "column \"t\": expected timestamp(us, UTC), found timestamp(us)");
  expect_mismatch(one("tsu:UTC", "t"), one("tsm:UTC", "t"),
                  "column \"t\": expected timestamp(us, UTC), found timestamp(ms, UTC)");
  expect_mismatch(one("i", "a"), one("i", "b"), "column 0: expected name \"a\", found \"b\"");
  expect_mismatch(one("i", "a"), schema_node_batch(schema_node_flags("i", "a", 0)),
                  "column \"a\": expected int32, found int32 not null");
  expect_mismatch(list_of("i", "x", 2), list_of("i", "x", 0),
                  "column \"l\": expected list<x: int32>, found list<x: int32 not null>");
  expect_mismatch(list_of("i", "x", 2), list_of("i", "y", 2),
                  "column \"l\": expected list<x: int32>, found list<y: int32>");
  expect_mismatch(one("d:9,2", "p"), one("d:9,3", "p"),
                  "column \"p\": expected decimal128(9, 2), found decimal128(9, 3)");
  expect_mismatch(schema_node_batch(dictionary("d", schema_node("u", ""))), one("u", "d"),
                  "column \"d\": expected dictionary<int32, utf8>, found utf8");
  expect_mismatch(schema_node_add(one("i", "a"), schema_node("i", "b\n")), one("i", "a"),
                  "expected 2 columns, found 1: column \"b\\x0a\" is missing");
  expect_mismatch(one("i", "a"), schema_node_add(one("i", "a"), schema_node("i", "b")),
                  "expected 1 columns, found 2: column \"b\" is not expected");
}

static struct ArrowSchema *map_of(int64_t flags) {
  struct ArrowSchema *entries = schema_node_flags("+s", "entries", 0);
  schema_node_add(schema_node_add(entries, schema_node_flags("u", "k", 0)), schema_node("i", "v"));
  return schema_node_batch(schema_node_add(schema_node_flags("+m", "m", flags), entries));
}

static struct ArrowSchema *child_under(const char *format) {
  return schema_node_batch(schema_node_add(schema_node(format, "c"), schema_node("i", "x")));
}

static void every_parameter_tells_types_apart(void **state) {
  (void)state;
  expect_mismatch(map_of(0), map_of(ARROW_FLAG_MAP_KEYS_SORTED),
                  "column \"m\": expected map<utf8, int32> not null, "
                  "found map<utf8, int32, keys sorted> not null");
  struct ArrowSchema *ordered = dictionary("d", schema_node("u", ""));
  ordered->flags |= ARROW_FLAG_DICTIONARY_ORDERED;
  expect_mismatch(schema_node_batch(dictionary("d", schema_node("u", ""))),
                  schema_node_batch(ordered),
                  "column \"d\": expected dictionary<int32, utf8>, "
                  "found dictionary<int32, utf8, ordered>");
  expect_mismatch(schema_node_batch(dictionary("d", schema_node("u", ""))),
                  schema_node_batch(dictionary("d", schema_node("z", ""))),
                  "column \"d\": expected dictionary<int32, utf8>, "
                  "found dictionary<int32, binary>");
  expect_mismatch(one("w:3", "b"), one("w:4", "b"),
                  "column \"b\": expected fixed_size_binary(3), found fixed_size_binary(4)");
  expect_mismatch(child_under("+w:3"), child_under("+w:4"),
                  "column \"c\": expected fixed_size_list<x: int32>[3], "
                  "found fixed_size_list<x: int32>[4]");
  expect_mismatch(child_under("+us:3"), child_under("+us:4"),
                  "column \"c\": expected sparse_union<x: int32=3>, "
                  "found sparse_union<x: int32=4>");
  expect_mismatch(child_under("+s"), one("+s", "c"),
                  "column \"c\": expected struct<x: int32>, found struct<>");
  expect_mismatch(one("ttu", "t"), one("ttn", "t"),
                  "column \"t\": expected time64(us), found time64(ns)");
}

static void what_a_message_does_not_carry_is_not_compared(void **state) {
  (void)state;
  struct ArrowSchema *left = schema_node_batch(dictionary("d", schema_node("u", "x")));
  struct ArrowSchema *right = schema_node_batch(dictionary("d", schema_node_flags("u", "y", 0)));
  left->metadata = "\x01\0\0\0\x01\0\0\0k\x01\0\0\0v";
  ashuf_schema *a = import(left);
  ashuf_schema *b = import(right);
  assert_int_equal(ashuf_schema_equal(a, b), 1);
  assert_int_equal(ashuf_schema_equal(a, a), 1);
  assert_int_equal(ashuf_schema_equal(a, NULL), 0);
  assert_true(field_equal(&a->columns[0], &b->columns[0]));
  ashuf_schema_free(a);
  ashuf_schema_free(b);
}

/* ---- Text and names ---- */

static void names_in_types_are_escaped_and_cut(void **state) {
  (void)state;
  char name[151];
  memset(name, 'n', 150);
  name[150] = '\0';
  struct ArrowSchema *node = schema_node_add(schema_node("+s", "c"), schema_node("i", "a\"\n"));
  ashuf_schema *schema = import(schema_node_batch(schema_node_add(node, schema_node("i", name))));
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  assert_int_equal(ashuf_schema_format_type(schema, 0, &out, NULL), ASHUF_OK);
  const char *start = "struct<a\\x22\\x0a: int32, nnnn";
  assert_memory_equal(out.data, start, strlen(start));
  assert_true(out.size < 160);
  assert_memory_equal(out.data + out.size - 11, "...: int32>", 11);
  assert_int_equal(ashuf_schema_format_type(schema, 1, &out, NULL), ASHUF_INVALID_ARGUMENT);
  char cut[12];
  assert_string_equal(field_type_text(&schema->columns[0], cut, sizeof cut), "struct<a...");
  ashuf_buffer_free(&out);
  ashuf_schema_free(schema);
}

static void columns_are_found_by_name(void **state) {
  (void)state;
  struct ArrowSchema *batch = schema_node_add(one("i", "a"), schema_node("u", "bb"));
  ashuf_schema *schema = import(schema_node_add(batch, schema_node("l", "a")));
  assert_int_equal(ashuf_schema_n_columns(schema), 3);
  assert_int_equal(ashuf_schema_find_column(schema, "a"), 0);
  assert_int_equal(ashuf_schema_find_column(schema, "bb"), 1);
  assert_int_equal(ashuf_schema_find_column(schema, "b"), -1);
  assert_string_equal(ashuf_schema_column_name(schema, 1), "bb");
  assert_null(ashuf_schema_column_name(schema, 3));
  assert_null(ashuf_schema_column_name(schema, -1));
  assert_null(ashuf_schema_column_name(NULL, 0));
  ashuf_schema_free(schema);
  ashuf_schema_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(units_have_to_fit_the_width),
      cmocka_unit_test(precision_ends_where_the_width_does),
      cmocka_unit_test(a_map_needs_entries_of_two_fields),
      cmocka_unit_test(run_ends_are_signed_integers_of_16_bits_and_more),
      cmocka_unit_test(dictionary_indices_are_integers),
      cmocka_unit_test(unknown_numbers_and_missing_ids_are_refused),
      cmocka_unit_test(widths_are_filled_in),
      cmocka_unit_test_teardown(inner_dictionaries_are_numbered_before_the_outer, free_nodes),
      cmocka_unit_test(ids_that_were_read_are_kept),
      cmocka_unit_test_teardown(counters_follow_the_tree, free_nodes),
      cmocka_unit_test_teardown(plain_replaces_dictionaries_by_their_values, free_nodes),
      cmocka_unit_test_teardown(plain_is_made_once_and_outlives_its_schema, free_nodes),
      cmocka_unit_test_teardown(a_schema_without_dictionaries_is_its_own_plain, free_nodes),
      cmocka_unit_test(a_published_message_is_freed_with_the_schema),
      cmocka_unit_test_teardown(a_mismatch_names_the_column_and_both_types, free_nodes),
      cmocka_unit_test_teardown(every_parameter_tells_types_apart, free_nodes),
      cmocka_unit_test_teardown(what_a_message_does_not_carry_is_not_compared, free_nodes),
      cmocka_unit_test_teardown(names_in_types_are_escaped_and_cut, free_nodes),
      cmocka_unit_test_teardown(columns_are_found_by_name, free_nodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

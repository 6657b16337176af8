/* Schemas coming in over the C Data Interface: every format, and everything that is refused. */
#include "arrow/schema_int.h"
#include "support/fault.h"
#include "support/schema_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int free_nodes(void **state) {
  (void)state;
  schema_nodes_free();
  return 0;
}

static ashuf_schema *import_column(struct ArrowSchema *column) {
  struct ashuf_error error = {0};
  ashuf_schema *schema = NULL;
  ashuf_status status = ashuf_schema_import(schema_node_batch(column), NULL, &schema, &error);
  if (status != ASHUF_OK) fail_msg("%s", error.message);
  return schema;
}

/* The import fails so, with a message that contains text. */
static void expect_refused(const struct ArrowSchema *node, ashuf_status expected, int site,
                           const char *text) {
  struct ashuf_error error = {0};
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(node, NULL, &schema, &error), expected);
  assert_null(schema);
  assert_int_equal(error.status, expected);
  if (strstr(error.message, text) == NULL) fail_msg("\"%s\" is not in \"%s\"", text, error.message);
  assert_int_equal(error.site, site);
}

/* ---- Formats ---- */

struct example {
  const char *format;
  enum arrow_type type;
  const char *text;
};

static const struct example leaves[] = {
    {"n", TYPE_NULL, "null"},
    {"b", TYPE_BOOL, "bool"},
    {"c", TYPE_INT8, "int8"},
    {"s", TYPE_INT16, "int16"},
    {"i", TYPE_INT32, "int32"},
    {"l", TYPE_INT64, "int64"},
    {"C", TYPE_UINT8, "uint8"},
    {"S", TYPE_UINT16, "uint16"},
    {"I", TYPE_UINT32, "uint32"},
    {"L", TYPE_UINT64, "uint64"},
    {"e", TYPE_FLOAT16, "float16"},
    {"f", TYPE_FLOAT32, "float32"},
    {"g", TYPE_FLOAT64, "float64"},
    {"d:9,2,32", TYPE_DECIMAL32, "decimal32(9, 2)"},
    {"d:18,-3,64", TYPE_DECIMAL64, "decimal64(18, -3)"},
    {"d:12,2", TYPE_DECIMAL128, "decimal128(12, 2)"},
    {"d:76,127,256", TYPE_DECIMAL256, "decimal256(76, 127)"},
    {"tdD", TYPE_DATE32, "date32"},
    {"tdm", TYPE_DATE64, "date64"},
    {"tts", TYPE_TIME32, "time32(s)"},
    {"ttm", TYPE_TIME32, "time32(ms)"},
    {"ttu", TYPE_TIME64, "time64(us)"},
    {"ttn", TYPE_TIME64, "time64(ns)"},
    {"tss:", TYPE_TIMESTAMP, "timestamp(s)"},
    {"tsm:America/Los_Angeles", TYPE_TIMESTAMP, "timestamp(ms, America/Los_Angeles)"},
    {"tsu:UTC", TYPE_TIMESTAMP, "timestamp(us, UTC)"},
    {"tsn:+01:00", TYPE_TIMESTAMP, "timestamp(ns, +01:00)"},
    {"tDs", TYPE_DURATION, "duration(s)"},
    {"tDm", TYPE_DURATION, "duration(ms)"},
    {"tDu", TYPE_DURATION, "duration(us)"},
    {"tDn", TYPE_DURATION, "duration(ns)"},
    {"tiM", TYPE_INTERVAL_MONTHS, "interval_months"},
    {"tiD", TYPE_INTERVAL_DAY_TIME, "interval_day_time"},
    {"tin", TYPE_INTERVAL_MONTH_DAY_NANO, "interval_month_day_nano"},
    {"w:16", TYPE_FIXED_SIZE_BINARY, "fixed_size_binary(16)"},
    {"w:0", TYPE_FIXED_SIZE_BINARY, "fixed_size_binary(0)"},
    {"z", TYPE_BINARY, "binary"},
    {"Z", TYPE_LARGE_BINARY, "large_binary"},
    {"u", TYPE_UTF8, "utf8"},
    {"U", TYPE_LARGE_UTF8, "large_utf8"},
    {"vz", TYPE_BINARY_VIEW, "binary_view"},
    {"vu", TYPE_UTF8_VIEW, "utf8_view"},
};

/* Import, export, import again: the format is the same, both schemas are equal. */
static void expect_round_trip(struct ArrowSchema *column, const char *text) {
  ashuf_schema *schema = import_column(column);
  struct ArrowSchema exported;
  assert_int_equal(ashuf_schema_export(schema, &exported, NULL), ASHUF_OK);
  assert_string_equal(exported.format, "+s");
  assert_string_equal(exported.children[0]->format, column->format);
  assert_int_equal(exported.children[0]->flags, column->flags);
  ashuf_schema *again = NULL;
  assert_int_equal(ashuf_schema_import(&exported, NULL, &again, NULL), ASHUF_OK);
  assert_true(ashuf_schema_equal(schema, again));
  assert_int_equal(schema_require_equal(schema, again, NULL), ASHUF_OK);
  exported.release(&exported);
  char out[200];
  assert_string_equal(field_type_text(&again->columns[0], out, sizeof out), text);
  ashuf_schema_free(schema);
  ashuf_schema_free(again);
}

static void every_leaf_format_round_trips(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
    struct ArrowSchema *column = schema_node(leaves[i].format, "c");
    ashuf_schema *schema = import_column(column);
    assert_int_equal(schema->columns[0].type, leaves[i].type);
    ashuf_schema_free(schema);
    expect_round_trip(column, leaves[i].text);
  }
}

static struct ArrowSchema *map_node(int64_t flags) {
  struct ArrowSchema *entries = schema_node_flags("+s", "entries", 0);
  schema_node_add(entries, schema_node_flags("u", "key", 0));
  schema_node_add(entries, schema_node("l", "value"));
  return schema_node_add(schema_node_flags("+m", "m", flags), entries);
}

static struct ArrowSchema *union_node(const char *format) {
  struct ArrowSchema *node = schema_node(format, "c");
  return schema_node_add(schema_node_add(node, schema_node("i", "a")), schema_node("u", "b"));
}

static void every_nested_format_round_trips(void **state) {
  (void)state;
  static const struct example lists[] = {
      {"+l", TYPE_LIST, "list<item: int32>"},
      {"+L", TYPE_LARGE_LIST, "large_list<item: int32>"},
      {"+vl", TYPE_LIST_VIEW, "list_view<item: int32>"},
      {"+vL", TYPE_LARGE_LIST_VIEW, "large_list_view<item: int32>"},
      {"+w:3", TYPE_FIXED_SIZE_LIST, "fixed_size_list<item: int32>[3]"},
  };
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    expect_round_trip(schema_node_add(schema_node(lists[i].format, "c"), schema_node("i", "item")),
                      lists[i].text);
  expect_round_trip(union_node("+s"), "struct<a: int32, b: utf8>");
  expect_round_trip(schema_node("+s", "c"), "struct<>");
  expect_round_trip(union_node("+us:0,127"), "sparse_union<a: int32=0, b: utf8=127>");
  expect_round_trip(union_node("+ud:5,3"), "dense_union<a: int32=5, b: utf8=3>");
  expect_round_trip(schema_node("+us:", "c"), "sparse_union<>");
  expect_round_trip(map_node(ARROW_FLAG_NULLABLE), "map<utf8, int64>");
  expect_round_trip(map_node(ARROW_FLAG_MAP_KEYS_SORTED), "map<utf8, int64, keys sorted>");
  struct ArrowSchema *ends = schema_node_flags("i", "run_ends", 0);
  expect_round_trip(
      schema_node_add(schema_node_add(schema_node("+r", "c"), ends), schema_node("u", "values")),
      "run_end_encoded<run_ends: int32 not null, values: utf8>");
}

static void dictionaries_round_trip(void **state) {
  (void)state;
  static const char *const indices[] = {"c", "s", "i", "l", "C", "S", "I", "L"};
  for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
    ashuf_schema *schema =
        import_column(schema_node_encode(schema_node(indices[i], "d"), schema_node("u", NULL)));
    assert_non_null(schema->columns[0].dictionary);
    assert_int_equal(schema->columns[0].dictionary->type, TYPE_UTF8);
    ashuf_schema_free(schema);
  }
  int64_t ordered = ARROW_FLAG_DICTIONARY_ORDERED;
  expect_round_trip(schema_node_encode(schema_node_flags("i", "d", ordered),
                                       map_node(ARROW_FLAG_MAP_KEYS_SORTED)),
                    "dictionary<int32, map<utf8, int64, keys sorted>, ordered>");
  expect_round_trip(schema_node_encode(schema_node("c", "d"), schema_node("tsu:UTC", "")),
                    "dictionary<int8, timestamp(us, UTC)>");
}

static void a_missing_name_is_empty(void **state) {
  (void)state;
  ashuf_schema *schema = import_column(schema_node("i", NULL));
  assert_string_equal(ashuf_schema_column_name(schema, 0), "");
  ashuf_schema_free(schema);
}

/* ---- Refused ---- */

static void bad_parameters_are_bad_schemas_with_the_columns_name(void **state) {
  (void)state;
  static const char *const bad[] = {
      "d:",        "d:12",         "d:12,",         "d:x,2",        "d:12,2,",
      "d:12,2,96", "d:12,2,128,1", "d: 1,2",        "d:12,2x",      "w:",
      "w:x",       "w:3 ",         "w:99999999999", "w:4294967297", "d:99999999999999999999,0",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_refused(schema_node_batch(schema_node(bad[i], "price")), ASHUF_BAD_SCHEMA,
                   SITE_IMPORT_FORMAT, "column \"price\": bad parameters");
  static const char *const out_of_range[] = {
      "d:0,0",   "d:39,0",   "d:10,0,32", "d:19,0,64", "d:77,0,256",
      "d:9,128", "d:9,-129", "d:-1,0",    "w:-1",
  };
  for (size_t i = 0; i < sizeof out_of_range / sizeof *out_of_range; i++)
    expect_refused(schema_node_batch(schema_node(out_of_range[i], "price")), ASHUF_BAD_SCHEMA,
                   SITE_SCHEMA_PARAMETER, "column \"price\": ");
  expect_refused(
      schema_node_batch(schema_node_add(schema_node("+w:-1", "l"), schema_node("i", "item"))),
      ASHUF_BAD_SCHEMA, SITE_SCHEMA_PARAMETER, "column \"l\": list size -1");
}

static void unknown_formats_are_unsupported_types(void **state) {
  (void)state;
  static const char *const unknown[] = {"",   "q",   "ii",  "nn",  "v",   "vx",
                                        "+",  "+x",  "+ll", "tdx", "ttx", "tsx",
                                        "ts", "tsu", "tDx", "ti",  "+u",  "+ux:"};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    expect_refused(schema_node_batch(schema_node(unknown[i], "odd")), ASHUF_UNSUPPORTED_TYPE,
                   SITE_IMPORT_UNKNOWN_FORMAT, "column \"odd\": unknown format");
  expect_refused(schema_node_batch(schema_node("\x01\"", "odd")), ASHUF_UNSUPPORTED_TYPE,
                 SITE_IMPORT_UNKNOWN_FORMAT, "\"\\x01\\x22\"");
}

static void union_ids_have_to_fit_the_children(void **state) {
  (void)state;
  static const char *const bad[] = {"+us:",    "+us:0",     "+us:0,1,2", "+ud:0,",
                                    "+ud:0,a", "+ud:0,128", "+ud:-1,0",  "+ud:0 1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_refused(schema_node_batch(union_node(bad[i])), ASHUF_BAD_SCHEMA, SITE_IMPORT_FORMAT,
                   "column \"c\": bad parameters");
  expect_refused(schema_node_batch(union_node("+ud:4,4")), ASHUF_BAD_SCHEMA, SITE_SCHEMA_UNION_IDS,
                 "type id 4 occurs twice");
  struct ArrowSchema *wide = schema_node("+us:0", "c");
  for (int i = 0; i < 129; i++) schema_node_add(wide, schema_node("i", "x"));
  expect_refused(schema_node_batch(wide), ASHUF_BAD_SCHEMA, SITE_IMPORT_CHILDREN,
                 "union with 129 children");
}

static void child_counts_follow_from_the_format(void **state) {
  (void)state;
  expect_refused(schema_node_batch(schema_node("+l", "l")), ASHUF_BAD_SCHEMA, SITE_IMPORT_CHILDREN,
                 "column \"l\": list with 0 children, not 1");
  expect_refused(schema_node_batch(union_node("+l")), ASHUF_BAD_SCHEMA, SITE_IMPORT_CHILDREN,
                 "list with 2 children, not 1");
  expect_refused(schema_node_batch(union_node("+m")), ASHUF_BAD_SCHEMA, SITE_IMPORT_CHILDREN,
                 "map with 2 children, not 1");
  expect_refused(schema_node_batch(schema_node_add(schema_node("i", "x"), schema_node("i", "y"))),
                 ASHUF_BAD_SCHEMA, SITE_IMPORT_CHILDREN, "int32 with 1 children, not 0");
  expect_refused(schema_node_batch(schema_node_add(schema_node("+r", "r"), schema_node("i", "y"))),
                 ASHUF_BAD_SCHEMA, SITE_IMPORT_CHILDREN, "1 children, not 2");
}

static void dishonest_structs_are_refused(void **state) {
  (void)state;
  struct ArrowSchema *column = schema_node("i", "a");
  struct ArrowSchema *batch = schema_node_batch(column);
  column->release = NULL;
  expect_refused(batch, ASHUF_BAD_SCHEMA, SITE_IMPORT_RELEASED,
                 "column \"\": the schema is released");
  batch->children[0] = NULL;
  expect_refused(batch, ASHUF_BAD_SCHEMA, SITE_IMPORT_RELEASED, "NULL");
  struct ArrowSchema without = *batch;
  without.children = NULL;
  expect_refused(&without, ASHUF_BAD_SCHEMA, SITE_IMPORT_CHILDREN, "children are NULL");
  without.n_children = -1;
  expect_refused(&without, ASHUF_BAD_SCHEMA, SITE_IMPORT_CHILDREN, "-1 children");
  without.n_children = INT64_MAX;
  expect_refused(&without, ASHUF_BAD_SCHEMA, SITE_IMPORT_CHILDREN, "children");
  without.release = NULL;
  expect_refused(&without, ASHUF_BAD_SCHEMA, SITE_IMPORT_RELEASED, "released");
  expect_refused(schema_node_batch(schema_node(NULL, "a")), ASHUF_BAD_SCHEMA, SITE_IMPORT_FORMAT,
                 "no format");
  expect_refused(schema_node("i", "a"), ASHUF_BAD_SCHEMA, SITE_IMPORT_ROOT, "not a struct");
  expect_refused(NULL, ASHUF_INVALID_ARGUMENT, SITE_SCHEMA_ARGUMENT, "no schema");
}

static void a_nested_offender_is_named_with_its_column(void **state) {
  (void)state;
  struct ArrowSchema *list = schema_node_add(schema_node("+l", "outer"), schema_node("?", "inner"));
  expect_refused(schema_node_batch(list), ASHUF_UNSUPPORTED_TYPE, SITE_IMPORT_UNKNOWN_FORMAT,
                 "column \"outer\": field \"inner\": unknown format \"?\"");
  list = schema_node_add(schema_node("+l", "outer"), schema_node("d:50,0", "inner"));
  expect_refused(schema_node_batch(list), ASHUF_BAD_SCHEMA, SITE_SCHEMA_PARAMETER,
                 "column \"outer\": field \"inner\": decimal128: precision 50");
}

static void text_has_to_be_utf8(void **state) {
  (void)state;
  expect_refused(schema_node_batch(schema_node("i", "\xFF")), ASHUF_BAD_SCHEMA, SITE_IMPORT_UTF8,
                 "the name is not UTF-8");
  expect_refused(schema_node_batch(schema_node("tsu:\xC0\x80", "t")), ASHUF_BAD_SCHEMA,
                 SITE_IMPORT_UTF8, "column \"t\": the timezone is not UTF-8");
}

static struct ArrowSchema *nested_lists(int levels) {
  struct ArrowSchema *node = schema_node("i", "item");
  for (int i = 1; i < levels; i++) node = schema_node_add(schema_node("+l", "item"), node);
  return node;
}

static void depth_has_a_limit(void **state) {
  (void)state;
  ashuf_schema *schema = import_column(nested_lists(MAX_FIELD_DEPTH));
  assert_int_equal(schema->depth, MAX_FIELD_DEPTH);
  ashuf_schema_free(schema);
  expect_refused(schema_node_batch(nested_lists(MAX_FIELD_DEPTH + 1)), ASHUF_BAD_SCHEMA,
                 SITE_SCHEMA_DEPTH, "deeper than 61 levels");
  expect_refused(schema_node_batch(nested_lists(10000)), ASHUF_BAD_SCHEMA, SITE_SCHEMA_DEPTH,
                 "deeper than 61 levels");
}

static void shared_children_cannot_multiply_without_end(void **state) {
  (void)state;
  struct ArrowSchema *node = schema_node("i", "leaf");
  for (int i = 0; i < 40; i++)
    node = schema_node_add(schema_node_add(schema_node("+s", "pair"), node), node);
  expect_refused(schema_node_batch(node), ASHUF_BAD_SCHEMA, SITE_SCHEMA_FIELDS, "more than");
}

static void a_cycle_of_dictionaries_is_refused(void **state) {
  (void)state;
  struct ArrowSchema *column = schema_node("i", "d");
  schema_node_encode(column, column);
  expect_refused(schema_node_batch(column), ASHUF_UNSUPPORTED_TYPE, SITE_SCHEMA_NESTED_DICTIONARY,
                 "dictionary-encoded themselves");
}

/* ---- Metadata ---- */

/* Two pairs of the same key and one before it in order; native-endian lengths. */
static const char blob[] =
    "\x03\0\0\0"
    "\x01\0\0\0k"
    "\x03\0\0\0old"
    "\x02\0\0\0aa"
    "\0\0\0\0"
    "\x01\0\0\0k"
    "\x03\0\0\0n\0w";

static void expect_metadata(const struct key_value *pairs, int32_t n) {
  assert_int_equal(n, 2);
  assert_string_equal(pairs[0].key, "aa");
  assert_int_equal(pairs[0].value_size, 0);
  assert_string_equal(pairs[1].key, "k");
  assert_int_equal(pairs[1].value_size, 3);
  assert_memory_equal(pairs[1].value, "n\0w", 3);
}

static void metadata_is_sorted_and_the_last_of_equal_keys_stays(void **state) {
  (void)state;
  struct ArrowSchema *column = schema_node("i", "a");
  struct ArrowSchema *batch = schema_node_batch(column);
  column->metadata = blob;
  batch->metadata = blob;
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(batch, NULL, &schema, NULL), ASHUF_OK);
  expect_metadata(schema->metadata, schema->n_metadata);
  expect_metadata(schema->columns[0].metadata, schema->columns[0].n_metadata);
  ashuf_schema_free(schema);
}

static void many_pairs_are_sorted(void **state) {
  (void)state;
  enum { PAIRS = 257 };
  char many[4 + PAIRS * 12];
  int32_t n = PAIRS;
  int32_t key_size = 4;
  int32_t none = 0;
  memcpy(many, &n, 4);
  for (int i = 0; i < PAIRS; i++) {
    char key[8];
    snprintf(key, sizeof key, "%04d", i * 101 % PAIRS);
    memcpy(many + 4 + i * 12, &key_size, 4);
    memcpy(many + 4 + i * 12 + 4, key, 4);
    memcpy(many + 4 + i * 12 + 8, &none, 4);
  }
  struct ArrowSchema *batch = schema_node_flags("+s", "", 0);
  batch->metadata = many;
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(batch, NULL, &schema, NULL), ASHUF_OK);
  assert_int_equal(schema->n_metadata, PAIRS);
  for (int i = 0; i < PAIRS; i++) assert_int_equal(atoi(schema->metadata[i].key), i);
  ashuf_schema_free(schema);
}

static void bad_metadata_is_refused(void **state) {
  (void)state;
  struct ArrowSchema *column = schema_node("i", "a");
  struct ArrowSchema *batch = schema_node_batch(column);
  column->metadata = "\xFF\xFF\xFF\xFF";
  expect_refused(batch, ASHUF_BAD_SCHEMA, SITE_IMPORT_METADATA,
                 "column \"a\": metadata with -1 pairs");
  column->metadata = "\x01\0\0\0\xFE\xFF\xFF\xFF";
  expect_refused(batch, ASHUF_BAD_SCHEMA, SITE_IMPORT_METADATA, "a length of -2");
  column->metadata = "\x01\0\0\0\x01\0\0\0\x80\0\0\0\0";
  expect_refused(batch, ASHUF_BAD_SCHEMA, SITE_IMPORT_UTF8, "metadata is not UTF-8");
  column->metadata = "\0\0\0\0";
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(batch, NULL, &schema, NULL), ASHUF_OK);
  assert_int_equal(schema->columns[0].n_metadata, 0);
  ashuf_schema_free(schema);
}

/* ---- Allocation failures ---- */

static ashuf_status import_plain_export(ashuf_memory *memory, struct ashuf_error *error,
                                        void *data) {
  ashuf_schema *schema = NULL;
  struct ArrowSchema exported = {0};
  ashuf_status status = ashuf_schema_import(data, memory, &schema, error);
  if (status != ASHUF_OK) return status;
  ashuf_schema *plain = schema_plain(schema);
  if (plain == NULL) {
    ashuf_schema_free(schema);
    return error_memory(error, SITE_SCHEMA_MEMORY, memory, 1);
  }
  status = ashuf_schema_export(schema, &exported, error);
  if (status != ASHUF_OK) assert_null(exported.release);
  struct ashuf_buffer text = ASHUF_BUFFER_INIT;
  if (status == ASHUF_OK) {
    exported.release(&exported);
    status = field_format_type(&plain->columns[0], &text, memory, error);
  }
  ashuf_buffer_free(&text);
  ashuf_schema_free(plain);
  ashuf_schema_free(schema);
  return status;
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state) {
  (void)state;
  struct ArrowSchema *batch = schema_node_batch(map_node(0));
  struct ArrowSchema *labels = schema_node_encode(schema_node("i", "labels"), schema_node("u", ""));
  schema_node_add(batch, schema_node_add(schema_node("+l", "list"), labels));
  for (int i = 0; i < 40; i++)
    schema_node_add(batch, schema_node("tsu:UTC", "a name of some length"));
  batch->metadata = blob;
  labels->metadata = blob;
  fault_sweep(import_plain_export, batch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(every_leaf_format_round_trips, free_nodes),
      cmocka_unit_test_teardown(every_nested_format_round_trips, free_nodes),
      cmocka_unit_test_teardown(dictionaries_round_trip, free_nodes),
      cmocka_unit_test_teardown(a_missing_name_is_empty, free_nodes),
      cmocka_unit_test_teardown(bad_parameters_are_bad_schemas_with_the_columns_name, free_nodes),
      cmocka_unit_test_teardown(unknown_formats_are_unsupported_types, free_nodes),
      cmocka_unit_test_teardown(union_ids_have_to_fit_the_children, free_nodes),
      cmocka_unit_test_teardown(child_counts_follow_from_the_format, free_nodes),
      cmocka_unit_test_teardown(dishonest_structs_are_refused, free_nodes),
      cmocka_unit_test_teardown(a_nested_offender_is_named_with_its_column, free_nodes),
      cmocka_unit_test_teardown(text_has_to_be_utf8, free_nodes),
      cmocka_unit_test_teardown(depth_has_a_limit, free_nodes),
      cmocka_unit_test_teardown(shared_children_cannot_multiply_without_end, free_nodes),
      cmocka_unit_test_teardown(a_cycle_of_dictionaries_is_refused, free_nodes),
      cmocka_unit_test_teardown(metadata_is_sorted_and_the_last_of_equal_keys_stays, free_nodes),
      cmocka_unit_test_teardown(many_pairs_are_sorted, free_nodes),
      cmocka_unit_test_teardown(bad_metadata_is_refused, free_nodes),
      cmocka_unit_test_teardown(every_failing_allocation_is_reported_and_leaks_nothing, free_nodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

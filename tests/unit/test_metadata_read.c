/* What messages may say and what not: every refusal of message_read and schema_read by its site. */
#include "support/metadata_make.h"

#include "support/annotated_block.h"
#include "support/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- Schemas of one column --------------------------------------------------------------- */

static ashuf_status read_field(struct builder *builder, const struct made_field *field,
                               ashuf_schema **out, struct ashuf_error *error) {
  size_t size;
  uint32_t fields = made_one(builder, made_field(builder, field));
  uint32_t header = made_schema(builder, fields, 0, 0);
  uint8_t *bytes = made_message(builder, METADATA_V5, MESSAGE_SCHEMA, header, 0, 0, &size);
  return made_read(bytes, size, out, error);
}

struct type_case {
  uint8_t ipc_type;
  struct made_scalar scalars[MADE_SCALARS];
  int outcome; /* an enum arrow_type, or the site of the error */
};

static ashuf_status read_type_case(const struct type_case *test, ashuf_schema **out,
                                   struct ashuf_error *error) {
  struct builder builder;
  builder_init(&builder, NULL);
  struct made_field field = {.name = "c\n", .ipc_type = test->ipc_type};
  field.type = made_table(&builder, test->scalars);
  return read_field(&builder, &field, out, error);
}

static void test_every_valid_combination_becomes_its_type(void **state) {
  (void)state;
  static const struct type_case cases[] = {
      {IPC_NULL, {{0}}, TYPE_NULL},
      {IPC_BOOL, {{0}}, TYPE_BOOL},
      {IPC_INT, {{INT_WIDTH, 4, 8}, {INT_SIGNED, 1, 1}}, TYPE_INT8},
      {IPC_INT, {{INT_WIDTH, 4, 16}, {INT_SIGNED, 1, 2}}, TYPE_INT16},
      {IPC_INT, {{INT_WIDTH, 4, 32}, {INT_SIGNED, 1, 255}}, TYPE_INT32},
      {IPC_INT, {{INT_WIDTH, 4, 64}, {INT_SIGNED, 1, 1}}, TYPE_INT64},
      {IPC_INT, {{INT_WIDTH, 4, 8}}, TYPE_UINT8},
      {IPC_INT, {{INT_WIDTH, 4, 16}, {INT_SIGNED, 1, 0}}, TYPE_UINT16},
      {IPC_INT, {{INT_WIDTH, 4, 32}}, TYPE_UINT32},
      {IPC_INT, {{INT_WIDTH, 4, 64}}, TYPE_UINT64},
      {IPC_FLOATING_POINT, {{0}}, TYPE_FLOAT16},
      {IPC_FLOATING_POINT, {{0, 2, 1}}, TYPE_FLOAT32},
      {IPC_FLOATING_POINT, {{0, 2, 2}}, TYPE_FLOAT64},
      {IPC_DECIMAL, {{DECIMAL_PRECISION, 4, 38}}, TYPE_DECIMAL128},
      {IPC_DECIMAL, {{DECIMAL_PRECISION, 4, 9}, {DECIMAL_WIDTH, 4, 32}}, TYPE_DECIMAL32},
      {IPC_DECIMAL, {{DECIMAL_PRECISION, 4, 18}, {DECIMAL_WIDTH, 4, 64}}, TYPE_DECIMAL64},
      {IPC_DECIMAL, {{DECIMAL_PRECISION, 4, 76}, {DECIMAL_WIDTH, 4, 256}}, TYPE_DECIMAL256},
      {IPC_DATE, {{0}}, TYPE_DATE64},
      {IPC_DATE, {{0, 2, 0}}, TYPE_DATE32},
      {IPC_TIME, {{0}}, TYPE_TIME32},
      {IPC_TIME, {{TIME_UNIT, 2, UNIT_SECOND}}, TYPE_TIME32},
      {IPC_TIME, {{TIME_UNIT, 2, UNIT_NANO}, {TIME_WIDTH, 4, 64}}, TYPE_TIME64},
      {IPC_TIMESTAMP, {{0}}, TYPE_TIMESTAMP},
      {IPC_DURATION, {{0}}, TYPE_DURATION},
      {IPC_INTERVAL, {{0}}, TYPE_INTERVAL_MONTHS},
      {IPC_INTERVAL, {{0, 2, 1}}, TYPE_INTERVAL_DAY_TIME},
      {IPC_INTERVAL, {{0, 2, 2}}, TYPE_INTERVAL_MONTH_DAY_NANO},
      {IPC_FIXED_SIZE_BINARY, {{0, 4, 16}}, TYPE_FIXED_SIZE_BINARY},
      {IPC_BINARY, {{0}}, TYPE_BINARY},
      {IPC_LARGE_BINARY, {{0}}, TYPE_LARGE_BINARY},
      {IPC_UTF8, {{0}}, TYPE_UTF8},
      {IPC_LARGE_UTF8, {{0}}, TYPE_LARGE_UTF8},
      {IPC_BINARY_VIEW, {{0}}, TYPE_BINARY_VIEW},
      {IPC_UTF8_VIEW, {{0}}, TYPE_UTF8_VIEW},
      {IPC_STRUCT, {{0}}, TYPE_STRUCT},
      {IPC_UNION, {{0}}, TYPE_SPARSE_UNION},
      {IPC_UNION, {{UNION_MODE, 2, 1}}, TYPE_DENSE_UNION},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ashuf_schema *schema;
    struct ashuf_error error;
    if (read_type_case(&cases[i], &schema, &error) != ASHUF_OK)
      fail_msg("case %zu: %s", i, error.message);
    assert_int_equal(schema->columns[0].type, cases[i].outcome);
    assert_string_equal(schema->columns[0].name, "c\n");
    assert_true(schema->columns[0].nullable);
    ashuf_schema_free(schema);
  }
}

static void test_types_that_do_not_exist_are_refused_with_their_column(void **state) {
  (void)state;
  static const struct type_case cases[] = {
      {IPC_INT, {{0}}, SITE_IPC_INT_WIDTH},
      {IPC_INT, {{INT_WIDTH, 4, 7}}, SITE_IPC_INT_WIDTH},
      {IPC_INT, {{INT_WIDTH, 4, 128}}, SITE_IPC_INT_WIDTH},
      {IPC_INT, {{INT_WIDTH, 4, -8}}, SITE_IPC_INT_WIDTH},
      {IPC_FLOATING_POINT, {{0, 2, 3}}, SITE_IPC_FLOAT},
      {IPC_FLOATING_POINT, {{0, 2, -1}}, SITE_IPC_FLOAT},
      {IPC_DECIMAL, {{DECIMAL_PRECISION, 4, 5}, {DECIMAL_WIDTH, 4, 96}}, SITE_IPC_DECIMAL_WIDTH},
      {IPC_DECIMAL, {{0}}, SITE_SCHEMA_PARAMETER},
      {IPC_DECIMAL, {{DECIMAL_PRECISION, 4, 39}}, SITE_SCHEMA_PARAMETER},
      {IPC_DATE, {{0, 2, 2}}, SITE_IPC_DATE_UNIT},
      {IPC_TIME, {{TIME_UNIT, 2, UNIT_NANO}}, SITE_IPC_TIME},
      {IPC_TIME, {{TIME_WIDTH, 4, 64}}, SITE_IPC_TIME},
      {IPC_TIME, {{TIME_UNIT, 2, UNIT_MICRO}, {TIME_WIDTH, 4, 32}}, SITE_IPC_TIME},
      {IPC_TIME, {{TIME_UNIT, 2, 4}}, SITE_IPC_UNIT},
      {IPC_TIMESTAMP, {{TIMESTAMP_UNIT, 2, 4}}, SITE_IPC_UNIT},
      {IPC_DURATION, {{0, 2, -1}}, SITE_IPC_UNIT},
      {IPC_INTERVAL, {{0, 2, 3}}, SITE_IPC_INTERVAL},
      {IPC_UNION, {{UNION_MODE, 2, 2}}, SITE_IPC_UNION_MODE},
      {IPC_FIXED_SIZE_BINARY, {{0, 4, -1}}, SITE_SCHEMA_PARAMETER},
      {IPC_LIST, {{0}}, SITE_SCHEMA_CHILDREN},
      {IPC_MAP, {{0}}, SITE_SCHEMA_CHILDREN},
      {IPC_RUN_END_ENCODED, {{0}}, SITE_SCHEMA_CHILDREN},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ashuf_schema *schema = NULL;
    struct ashuf_error error;
    assert_int_equal(read_type_case(&cases[i], &schema, &error), ASHUF_BAD_SCHEMA);
    assert_null(schema);
    assert_int_equal(error.site, cases[i].outcome);
    assert_non_null(strstr(error.message, "column \"c\\x0a\": "));
  }
}

static void test_unknown_type_and_no_type_are_told_apart(void **state) {
  (void)state;
  ashuf_schema *schema;
  struct ashuf_error error;
  struct builder builder;
  const struct type_case unknown = {IPC_LARGE_LIST_VIEW + 1, {{0}}, 0};
  assert_int_equal(read_type_case(&unknown, &schema, &error), ASHUF_UNSUPPORTED_TYPE);
  assert_int_equal(error.site, SITE_IPC_UNKNOWN_TYPE);
  builder_init(&builder, NULL);
  const struct made_field none = {.name = "x"};
  assert_int_equal(read_field(&builder, &none, &schema, &error), ASHUF_BAD_SCHEMA);
  assert_int_equal(error.site, SITE_IPC_NO_TYPE);
}

static void test_union_type_ids_are_checked(void **state) {
  (void)state;
  static const struct {
    int32_t ids[2];
    size_t n;
    int site; /* 0: good */
  } cases[] = {
      {{5, 127}, 2, 0},
      {{0, 0}, 1, SITE_IPC_UNION_IDS},
      {{0, 128}, 2, SITE_IPC_UNION_IDS},
      {{-1, 1}, 2, SITE_IPC_UNION_IDS},
      {{256, 1}, 2, SITE_IPC_UNION_IDS},
      {{3, 3}, 2, SITE_SCHEMA_UNION_IDS},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct builder builder;
    struct ashuf_error error = {0};
    ashuf_schema *schema = NULL;
    builder_init(&builder, NULL);
    struct made_field member = {.name = "m", .ipc_type = IPC_NULL};
    member.type = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{0}});
    for (int k = 0; k < 2; k++) builder_keep(&builder, made_field(&builder, &member));
    struct made_field field = {.name = "u", .ipc_type = IPC_UNION};
    field.children = builder_kept_vector(&builder, 2);
    uint32_t ids = builder_vector(&builder, cases[i].ids, cases[i].n, 4);
    builder_table(&builder);
    builder_offset(&builder, UNION_IDS, ids);
    field.type = builder_table_end(&builder);
    ashuf_status status = read_field(&builder, &field, &schema, &error);
    assert_int_equal(status, cases[i].site == 0 ? ASHUF_OK : ASHUF_BAD_SCHEMA);
    if (status == ASHUF_OK) {
      assert_int_equal(schema->columns[0].type_ids[1], 127);
      ashuf_schema_free(schema);
    } else {
      assert_int_equal(error.site, cases[i].site);
    }
  }
}

static void test_absent_type_ids_count_from_zero(void **state) {
  (void)state;
  struct builder builder;
  struct ashuf_error error;
  ashuf_schema *schema;
  builder_init(&builder, NULL);
  struct made_field member = {.ipc_type = IPC_NULL};
  member.type = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{0}});
  for (int k = 0; k < 3; k++) builder_keep(&builder, made_field(&builder, &member));
  struct made_field field = {.name = "u", .ipc_type = IPC_UNION};
  field.children = builder_kept_vector(&builder, 3);
  field.type = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{0}});
  assert_int_equal(read_field(&builder, &field, &schema, &error), ASHUF_OK);
  for (int8_t k = 0; k < 3; k++) assert_int_equal(schema->columns[0].type_ids[k], k);
  assert_string_equal(schema->columns[0].children[2].name, ""); /* absent names are empty */
  ashuf_schema_free(schema);
}

/* ---- Dictionaries ------------------------------------------------------------------------ */

static ashuf_status read_dictionary(uint32_t width, int16_t kind, ashuf_schema **out,
                                    struct ashuf_error *error) {
  struct builder builder;
  builder_init(&builder, NULL);
  struct made_field field = {.name = "d", .ipc_type = IPC_UTF8};
  field.type = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{0}});
  uint32_t index = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{INT_WIDTH, 4, width}});
  builder_table(&builder);
  builder_scalar(&builder, ENCODING_ID, 8, -5, 0);
  if (width != 0) builder_offset(&builder, ENCODING_INDEX_TYPE, index);
  builder_scalar(&builder, ENCODING_IS_ORDERED, 1, 1, 0);
  builder_scalar(&builder, ENCODING_KIND, 2, kind, 0);
  field.encoding = builder_table_end(&builder);
  return read_field(&builder, &field, out, error);
}

static void test_dictionary_is_an_index_with_values(void **state) {
  (void)state;
  ashuf_schema *schema;
  struct ashuf_error error;
  assert_int_equal(read_dictionary(16, 0, &schema, &error), ASHUF_OK);
  const struct field *column = &schema->columns[0];
  assert_int_equal(column->type, TYPE_UINT16);
  assert_int_equal(column->dictionary_id, -5);
  assert_true(column->dictionary_ordered);
  assert_int_equal(column->dictionary->type, TYPE_UTF8);
  assert_true(column->dictionary->nullable);
  assert_int_equal(schema->n_dictionaries, 1);
  ashuf_schema_free(schema);
  assert_int_equal(read_dictionary(0, 0, &schema, &error), ASHUF_BAD_SCHEMA);
  assert_int_equal(error.site, SITE_IPC_NO_INDEX_TYPE);
  assert_int_equal(read_dictionary(16, 1, &schema, &error), ASHUF_BAD_SCHEMA);
  assert_int_equal(error.site, SITE_IPC_DICTIONARY_KIND);
  assert_int_equal(read_dictionary(12, 0, &schema, &error), ASHUF_BAD_SCHEMA);
  assert_int_equal(error.site, SITE_IPC_INT_WIDTH);
}

/* ---- Nesting, endianness, names ---------------------------------------------------------- */

static ashuf_status read_nested(int levels, ashuf_schema **out, struct ashuf_error *error) {
  struct builder builder;
  builder_init(&builder, NULL);
  struct made_field field = {.name = "leaf", .ipc_type = IPC_BOOL};
  field.type = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{0}});
  for (int i = 1; i < levels; i++) {
    struct made_field parent = {.name = "p", .ipc_type = IPC_LIST};
    parent.children = made_one(&builder, made_field(&builder, &field));
    parent.type = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{0}});
    field = parent;
  }
  return read_field(&builder, &field, out, error);
}

static void test_nesting_is_capped(void **state) {
  (void)state;
  ashuf_schema *schema;
  struct ashuf_error error;
  assert_int_equal(MAX_FIELD_DEPTH, 61); /* with message, schema and type 64 tables deep */
  assert_int_equal(read_nested(MAX_FIELD_DEPTH, &schema, &error), ASHUF_OK);
  assert_int_equal(schema->depth, MAX_FIELD_DEPTH);
  ashuf_schema_free(schema);
  assert_int_equal(read_nested(MAX_FIELD_DEPTH + 1, &schema, &error), ASHUF_BAD_SCHEMA);
  assert_int_equal(error.site, SITE_IPC_DEPTH);
  assert_non_null(strstr(error.message, "column \"p\": field \"leaf\": "));
  assert_int_equal(read_nested(100000, &schema, &error), ASHUF_BAD_SCHEMA);
}

static void test_big_endian_is_told_before_anything_else(void **state) {
  (void)state;
  ashuf_schema *schema;
  struct ashuf_error error;
  for (int16_t endianness = 1; endianness < 3; endianness++) {
    struct builder builder;
    size_t size;
    builder_init(&builder, NULL);
    uint32_t header = made_schema(&builder, 0, endianness, 0); /* and no fields */
    uint8_t *bytes = made_message(&builder, METADATA_V5, MESSAGE_SCHEMA, header, 0, 0, &size);
    assert_int_equal(made_read(bytes, size, &schema, &error),
                     endianness == 1 ? ASHUF_BIG_ENDIAN : ASHUF_BAD_SCHEMA);
  }
  assert_int_equal(error.site, SITE_IPC_ENDIANNESS);
}

static void test_a_schema_without_fields_is_refused_one_of_no_columns_is_not(void **state) {
  (void)state;
  ashuf_schema *schema;
  struct ashuf_error error;
  struct builder builder;
  size_t size;
  builder_init(&builder, NULL);
  uint32_t header = made_schema(&builder, 0, 0, 0);
  uint8_t *bytes = made_message(&builder, METADATA_V5, MESSAGE_SCHEMA, header, 0, 0, &size);
  assert_int_equal(made_read(bytes, size, &schema, &error), ASHUF_BAD_SCHEMA);
  assert_int_equal(error.site, SITE_IPC_NO_FIELDS);
  builder_init(&builder, NULL);
  header = made_schema(&builder, builder_kept_vector(&builder, 0), 0, 0);
  bytes = made_message(&builder, METADATA_V4, MESSAGE_SCHEMA, header, 0, 0, &size);
  assert_int_equal(made_read(bytes, size, &schema, &error), ASHUF_OK);
  assert_int_equal(schema->n_columns, 0);
  ashuf_schema_free(schema);
}

static void test_names_and_metadata_must_be_utf8(void **state) {
  (void)state;
  ashuf_schema *schema;
  struct ashuf_error error;
  struct builder builder;
  builder_init(&builder, NULL);
  struct made_field field = {.name = "bad \xff", .ipc_type = IPC_NULL};
  field.type = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{0}});
  assert_int_equal(read_field(&builder, &field, &schema, &error), ASHUF_BAD_METADATA);
  assert_int_equal(error.site, SITE_FLATBUF_UTF8);
}

static uint32_t pair(struct builder *builder, const char *key, const char *value) {
  uint32_t key_text = builder_text(builder, key, strlen(key));
  uint32_t value_text = value == NULL ? 0 : builder_text(builder, value, strlen(value));
  builder_table(builder);
  builder_offset(builder, PAIR_KEY, key_text);
  if (value != NULL) builder_offset(builder, PAIR_VALUE, value_text);
  return builder_table_end(builder);
}

static void test_later_pairs_win_and_halves_are_dropped(void **state) {
  (void)state;
  ashuf_schema *schema;
  struct ashuf_error error;
  struct builder builder;
  builder_init(&builder, NULL);
  struct made_field field = {.name = "c", .ipc_type = IPC_NULL};
  field.type = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{0}});
  builder_keep(&builder, pair(&builder, "k", "first"));
  builder_keep(&builder, pair(&builder, "half", NULL));
  builder_keep(&builder, pair(&builder, "ARROW:extension:name", "uuid"));
  builder_keep(&builder, pair(&builder, "k", "last"));
  field.metadata = builder_kept_vector(&builder, 4);
  assert_int_equal(read_field(&builder, &field, &schema, &error), ASHUF_OK);
  const struct field *column = &schema->columns[0];
  assert_int_equal(column->n_metadata, 2);
  assert_string_equal(column->metadata[0].key, "ARROW:extension:name");
  assert_string_equal(column->metadata[1].value, "last");
  ashuf_schema_free(schema);
}

/* ---- Messages ---------------------------------------------------------------------------- */

static ashuf_status read_message(int16_t version, uint8_t type, int64_t body_length,
                                 struct message *message, struct ashuf_error *error) {
  struct builder builder;
  size_t size;
  builder_init(&builder, NULL);
  uint32_t header = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{0}});
  uint8_t *bytes =
      made_message(&builder, version, type, type == 0 ? 0 : header, body_length, 0, &size);
  ashuf_status status = message_read(bytes, size, 500, message, error);
  free(bytes);
  return status;
}

static void test_versions_before_v4_and_unknown_ones_are_refused(void **state) {
  (void)state;
  struct message message;
  struct ashuf_error error;
  for (int16_t version = -1; version < 7; version++) {
    bool good = version == METADATA_V4 || version == METADATA_V5;
    ashuf_status status = read_message(version, MESSAGE_BATCH, 0, &message, &error);
    assert_int_equal(status, good ? ASHUF_OK : ASHUF_BAD_METADATA);
    if (!good) assert_int_equal(error.site, SITE_IPC_VERSION);
  }
}

static void test_header_and_body_length_are_checked(void **state) {
  (void)state;
  struct message message;
  struct ashuf_error error;
  assert_int_equal(read_message(METADATA_V5, 0, 0, &message, &error), ASHUF_BAD_METADATA);
  assert_int_equal(error.site, SITE_IPC_HEADER);
  assert_int_equal(read_message(METADATA_V5, 6, 0, &message, &error), ASHUF_BAD_METADATA);
  assert_int_equal(error.site, SITE_IPC_HEADER);
  assert_in_range(error.offset, 500, 600);
  assert_int_equal(read_message(METADATA_V5, MESSAGE_TENSOR, 8, &message, &error), ASHUF_OK);
  assert_int_equal(message.type, MESSAGE_TENSOR);
  assert_int_equal(read_message(METADATA_V5, MESSAGE_BATCH, -1, &message, &error),
                   ASHUF_BAD_FRAMING);
  assert_int_equal(error.site, SITE_IPC_BODY_LENGTH);
  assert_int_equal(read_message(METADATA_V5, MESSAGE_DICTIONARY, 0, &message, &error),
                   ASHUF_BAD_METADATA);
  assert_int_equal(error.site, SITE_IPC_DICTIONARY_DATA);
}

static void test_annotated_batch_is_read(void **state) {
  (void)state;
  struct message message;
  struct ipc_node node;
  struct ipc_buffer buffer;
  assert_int_equal(message_read(annotated_batch, sizeof annotated_batch, 0, &message, NULL),
                   ASHUF_OK);
  assert_int_equal(message.type, MESSAGE_BATCH);
  assert_int_equal(message.body_length, 320);
  assert_int_equal(message.batch.length, 3);
  assert_int_equal(message.batch.compression, BODY_PLAIN);
  assert_int_equal(message.batch.n_nodes, 2);
  assert_int_equal(message.batch.n_buffers, 5);
  assert_int_equal(message.batch.n_variadic, 0);
  memcpy(&node, message.batch.nodes, sizeof node);
  assert_int_equal(node.null_count, 1);
  memcpy(&buffer, message.batch.buffers + 4 * sizeof buffer, sizeof buffer);
  assert_int_equal(buffer.offset, 256);
}

static ashuf_status read_compressed(uint8_t codec, uint8_t method, struct message *message,
                                    struct ashuf_error *error) {
  struct builder builder;
  size_t size;
  const struct made_scalar scalars[MADE_SCALARS] = {{COMPRESSION_CODEC, 1, codec},
                                                    {COMPRESSION_METHOD, 1, method}};
  builder_init(&builder, NULL);
  uint32_t compression = made_table(&builder, scalars);
  builder_table(&builder);
  builder_offset(&builder, BATCH_COMPRESSION, compression);
  uint32_t header = builder_table_end(&builder);
  uint8_t *bytes = made_message(&builder, METADATA_V5, MESSAGE_BATCH, header, 0, 0, &size);
  ashuf_status status = message_read(bytes, size, 0, message, error);
  free(bytes);
  return status;
}

static void test_body_compression_is_known_or_refused(void **state) {
  (void)state;
  struct message message;
  struct ashuf_error error;
  assert_int_equal(read_compressed(0, 0, &message, &error), ASHUF_OK);
  assert_int_equal(message.batch.compression, BODY_LZ4);
  assert_int_equal(read_compressed(1, 0, &message, &error), ASHUF_OK);
  assert_int_equal(message.batch.compression, BODY_ZSTD);
  assert_int_equal(read_compressed(2, 0, &message, &error), ASHUF_BAD_METADATA);
  assert_int_equal(read_compressed(0xff, 0, &message, &error), ASHUF_BAD_METADATA);
  assert_int_equal(read_compressed(0, 1, &message, &error), ASHUF_BAD_METADATA);
  assert_int_equal(error.site, SITE_IPC_COMPRESSION);
}

static void test_unused_metadata_of_a_message_is_verified(void **state) {
  (void)state;
  struct message message;
  struct ashuf_error error;
  for (int is_bad = 0; is_bad < 2; is_bad++) {
    struct builder builder;
    size_t size;
    builder_init(&builder, NULL);
    uint32_t pairs = made_one(&builder, pair(&builder, "key", is_bad ? "\xc0" : "value"));
    uint32_t header = made_table(&builder, (struct made_scalar[MADE_SCALARS]){{0}});
    uint8_t *bytes = made_message(&builder, METADATA_V5, MESSAGE_BATCH, header, 0, pairs, &size);
    assert_int_equal(message_read(bytes, size, 0, &message, &error),
                     is_bad ? ASHUF_BAD_METADATA : ASHUF_OK);
    free(bytes);
  }
}

/* ---- Failing memory ---------------------------------------------------------------------- */

static ashuf_status read_annotated(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  (void)data;
  struct message message;
  ashuf_schema *schema;
  assert_int_equal(message_read(annotated_schema, sizeof annotated_schema, 0, &message, error),
                   ASHUF_OK);
  ashuf_status status = schema_read(&message, memory, &schema, error);
  if (status == ASHUF_OK) ashuf_schema_free(schema);
  return status;
}

static void test_a_read_that_runs_out_of_memory_leaks_nothing(void **state) {
  (void)state;
  fault_sweep(read_annotated, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_valid_combination_becomes_its_type),
      cmocka_unit_test(test_types_that_do_not_exist_are_refused_with_their_column),
      cmocka_unit_test(test_unknown_type_and_no_type_are_told_apart),
      cmocka_unit_test(test_union_type_ids_are_checked),
      cmocka_unit_test(test_absent_type_ids_count_from_zero),
      cmocka_unit_test(test_dictionary_is_an_index_with_values),
      cmocka_unit_test(test_nesting_is_capped),
      cmocka_unit_test(test_big_endian_is_told_before_anything_else),
      cmocka_unit_test(test_a_schema_without_fields_is_refused_one_of_no_columns_is_not),
      cmocka_unit_test(test_names_and_metadata_must_be_utf8),
      cmocka_unit_test(test_later_pairs_win_and_halves_are_dropped),
      cmocka_unit_test(test_versions_before_v4_and_unknown_ones_are_refused),
      cmocka_unit_test(test_header_and_body_length_are_checked),
      cmocka_unit_test(test_annotated_batch_is_read),
      cmocka_unit_test(test_body_compression_is_known_or_refused),
      cmocka_unit_test(test_unused_metadata_of_a_message_is_verified),
      cmocka_unit_test(test_a_read_that_runs_out_of_memory_leaks_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

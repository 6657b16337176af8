/*
 * Damaged and hostile metadata, each in a block of its exact size so that a sanitizer sees a read
 * past the end: whatever the bytes are, the reader ends soon, without a crash and without much
 * memory; and a schema that it takes can be written and taken again.
 */
#include "support/metadata_make.h"

#include "support/annotated_block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* ---- Inputs ------------------------------------------------------------------------------ */

struct input {
  uint8_t *bytes;
  size_t size;
};

static struct input copy_input(const void *bytes, size_t size) {
  struct input input = {malloc(size == 0 ? 1 : size), size};
  assert_non_null(input.bytes);
  if (size != 0) memcpy(input.bytes, bytes, size);
  return input;
}

static void name_it(struct field *field, const char *name, enum arrow_type type) {
  field->name = name;
  field->name_size = strlen(name);
  field->type = (uint8_t)type;
  field->nullable = true;
}

static void give_children(ashuf_schema *schema, struct field *field, int32_t n) {
  field->children = schema_fields(schema, n);
  assert_non_null(field->children);
  field->n_children = n;
  for (int32_t i = 0; i < n; i++) name_it(&field->children[i], "child", TYPE_INT16);
}

/* Parameters that let a column of the type be sealed. */
static void complete(ashuf_schema *schema, struct field *field) {
  static const int8_t ids[] = {7, 3};
  int children = type_info(field->type)->children;
  field->precision = 9;
  field->scale = 2;
  field->unit = field->type == TYPE_TIME64 ? UNIT_NANO : UNIT_MILLI;
  if (field->type == TYPE_TIMESTAMP) field->timezone = "UTC";
  if (field->type == TYPE_FIXED_SIZE_BINARY) field->byte_width = 5;
  if (children != 0) give_children(schema, field, children < 0 ? 2 : children);
  if (field->type == TYPE_SPARSE_UNION || field->type == TYPE_DENSE_UNION) field->type_ids = ids;
  if (field->type == TYPE_MAP) {
    field->children[0].type = TYPE_STRUCT;
    give_children(schema, &field->children[0], 2);
  }
}

/* A column of every type, one with metadata, and a dictionary. */
static ashuf_schema *rich_schema(void) {
  static const struct key_value pairs[] = {{"a key", "a value", 5, 7}, {"b", "\xc3\xa9", 1, 2}};
  struct ashuf_error error;
  ashuf_schema *schema = schema_new(NULL);
  assert_non_null(schema);
  schema->columns = schema_fields(schema, TYPE_COUNT + 1);
  assert_non_null(schema->columns);
  schema->n_columns = TYPE_COUNT + 1;
  for (int i = 0; i < TYPE_COUNT; i++) {
    name_it(&schema->columns[i], type_info((enum arrow_type)i)->name, (enum arrow_type)i);
    complete(schema, &schema->columns[i]);
  }
  struct field *last = &schema->columns[TYPE_COUNT];
  name_it(last, "encoded", TYPE_UINT32);
  last->dictionary = schema_fields(schema, 1);
  assert_non_null(last->dictionary);
  name_it(last->dictionary, "", TYPE_UTF8);
  last->dictionary_ordered = true;
  last->metadata = pairs;
  last->n_metadata = 2;
  schema->metadata = pairs;
  schema->n_metadata = 2;
  ashuf_status status = schema_seal(schema, true, &error);
  assert_true(status == ASHUF_OK || error.site == SITE_SCHEMA_NOT_SUPPORTED);
  last->dictionary_id = 77;
  return schema;
}

static struct input rich_schema_input(void) {
  const struct schema_message *message;
  ashuf_schema *schema = rich_schema();
  assert_int_equal(schema_message_get(schema, &message, NULL), ASHUF_OK);
  struct input input = copy_input(message->bytes, message->size);
  ashuf_schema_free(schema);
  return input;
}

static struct input batch_input(bool is_dictionary, uint32_t n_variadic) {
  static const struct ipc_node nodes[] = {{3, 0}, {3, 1}};
  static const struct ipc_buffer buffers[] = {{0, 8}, {8, 16}, {24, 1}};
  static const int64_t variadic[] = {2, 0, 1};
  const struct batch_metadata batch = {.is_dictionary = is_dictionary,
                                       .dictionary_id = 9,
                                       .length = 3,
                                       .body_length = 32,
                                       .nodes = nodes,
                                       .buffers = buffers,
                                       .variadic = variadic,
                                       .n_nodes = 2,
                                       .n_buffers = 3,
                                       .n_variadic = n_variadic};
  size_t size = batch_metadata_size(&batch);
  struct input input = {malloc(size), size};
  assert_non_null(input.bytes);
  batch_metadata_write(&batch, input.bytes);
  return input;
}

/* ---- Reading all there is ---------------------------------------------------------------- */

static unsigned sum_bytes(const uint8_t *bytes, size_t size) {
  unsigned sum = 0;
  for (size_t i = 0; i < size; i++) sum += bytes[i];
  return sum;
}

static volatile unsigned sink;

static void touch_batch(const struct batch_header *batch) {
  sink += sum_bytes(batch->nodes, (size_t)batch->n_nodes * sizeof(struct ipc_node));
  sink += sum_bytes(batch->buffers, (size_t)batch->n_buffers * sizeof(struct ipc_buffer));
  sink += sum_bytes(batch->variadic, (size_t)batch->n_variadic * sizeof(int64_t));
}

static bool is_expected(ashuf_status status) {
  return status == ASHUF_BAD_METADATA || status == ASHUF_BAD_SCHEMA ||
         status == ASHUF_BAD_FRAMING || status == ASHUF_BIG_ENDIAN ||
         status == ASHUF_UNSUPPORTED_TYPE;
}

/* Writes a schema that was taken, and takes it again. */
static void write_and_take(ashuf_schema *schema) {
  const struct schema_message *written;
  ashuf_schema *again = NULL;
  struct ashuf_error error;
  assert_int_equal(schema_message_get(schema, &written, NULL), ASHUF_OK);
  struct input input = copy_input(written->bytes, written->size);
  assert_int_equal(made_read(input.bytes, input.size, &again, &error), ASHUF_OK);
  for (int32_t i = 0; i < schema->n_columns; i++)
    assert_true(field_equal(&schema->columns[i], &again->columns[i]));
  ashuf_schema_free(again);
}

/* Returns whether the bytes, which are freed, were taken. */
static bool take(struct input input) {
  struct message message;
  struct ashuf_error error;
  ashuf_schema *schema = NULL;
  ashuf_status status = message_read(input.bytes, input.size, 0, &message, &error);
  if (status == ASHUF_OK && message.type != MESSAGE_SCHEMA) {
    touch_batch(&message.batch);
    free(input.bytes);
    return true;
  }
  if (status == ASHUF_OK) {
    status = made_read(input.bytes, input.size, &schema, &error);
  } else {
    free(input.bytes);
  }
  if (status == ASHUF_OK) {
    write_and_take(schema);
    ashuf_schema_free(schema);
    return true;
  }
  assert_true(is_expected(status));
  assert_int_equal(error.status, status);
  return false;
}

/* ---- Damage ------------------------------------------------------------------------------ */

/* Every prefix; one that lacks more than the padding at the end is never taken. */
static void truncate_everywhere(struct input input, size_t slack) {
  for (size_t size = 0; size < input.size; size++)
    if (take(copy_input(input.bytes, size)) && size + slack < input.size)
      fail_msg("%zu of %zu bytes were taken", size, input.size);
}

static void damage_every_byte(struct input input) {
  static const uint8_t flips[] = {0x01, 0x04, 0x80, 0xff};
  for (size_t at = 0; at < input.size; at++) {
    for (size_t i = 0; i < sizeof flips; i++) {
      struct input damaged = copy_input(input.bytes, input.size);
      damaged.bytes[at] ^= flips[i];
      (void)take(damaged);
    }
  }
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void damage_at_random(struct input input, int rounds) {
  uint64_t random = 0x9e3779b97f4a7c15u;
  for (int round = 0; round < rounds; round++) {
    struct input damaged = copy_input(input.bytes, input.size);
    size_t n = next_random(&random) % 4 + 1;
    for (size_t i = 0; i < n; i++) {
      uint64_t value = next_random(&random);
      damaged.bytes[value % input.size] = (uint8_t)(value >> 40);
    }
    (void)take(damaged);
  }
}

static void damage(struct input input, size_t slack) {
  assert_true(take(copy_input(input.bytes, input.size)));
  truncate_everywhere(input, slack);
  damage_every_byte(input);
  damage_at_random(input, 2000);
  free(input.bytes);
}

static void test_damaged_small_schema(void **state) {
  (void)state;
  damage(copy_input(annotated_schema, sizeof annotated_schema), 3);
}

static void test_damaged_schema_of_every_type(void **state) {
  (void)state;
  damage(rich_schema_input(), 3);
}

static void test_damaged_batch(void **state) {
  (void)state;
  damage(copy_input(annotated_batch, sizeof annotated_batch), 0);
  damage(batch_input(false, 3), 0);
}

static void test_damaged_dictionary_batch(void **state) {
  (void)state;
  damage(batch_input(true, 0), 0);
  damage(batch_input(true, 2), 0);
}

/* ---- Shared objects ---------------------------------------------------------------------- */

/* Reads with a counted memory; a bomb has to be refused, quickly; struct field and the
 * doubling of the arena are what makes memory a multiple of the bytes. */
static void require_cheap_refusal(struct input input) {
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  struct ashuf_error error;
  struct message message;
  ashuf_memory *memory;
  ashuf_schema *schema;
  assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
  clock_t start = clock();
  assert_int_equal(message_read(input.bytes, input.size, 0, &message, &error), ASHUF_OK);
  assert_int_equal(schema_read_unsealed(&message, memory, &schema, &error), ASHUF_BAD_METADATA);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  ashuf_memory_get_stats(memory, &stats);
  ashuf_memory_free(memory);
  print_message("%zu bytes: %.3f ms, peak %llu bytes, %s\n", input.size, seconds * 1e3,
                (unsigned long long)stats.peak, error.message);
  assert_true(seconds < 0.5);
  assert_true(stats.peak <= 20 * input.size + 8192);
  free(input.bytes);
}

static struct input schema_of(struct builder *builder, uint32_t fields) {
  struct input input;
  uint32_t header = made_schema(builder, fields, 0, 0);
  input.bytes = made_message(builder, METADATA_V5, MESSAGE_SCHEMA, header, 0, 0, &input.size);
  return input;
}

static uint32_t empty_table(struct builder *builder) {
  builder_table(builder);
  return builder_table_end(builder);
}

static void test_children_shared_at_every_level_are_refused(void **state) {
  (void)state;
  struct builder builder;
  builder_init(&builder, NULL);
  struct made_field field = {.name = "x", .ipc_type = IPC_NULL, .type = empty_table(&builder)};
  uint32_t address = made_field(&builder, &field);
  for (int level = 0; level < 50; level++) {
    for (int i = 0; i < 4; i++) builder_keep(&builder, address);
    struct made_field parent = {.name = "p", .ipc_type = IPC_STRUCT};
    parent.children = builder_kept_vector(&builder, 4);
    parent.type = empty_table(&builder);
    address = made_field(&builder, &parent);
  }
  require_cheap_refusal(schema_of(&builder, made_one(&builder, address)));
}

/* Up to 64 KiB: a vector that names one field again and again, whose name is long. */
static void share_one_field(size_t entries, size_t name_size) {
  struct builder builder;
  char *name = malloc(name_size + 1);
  assert_non_null(name);
  memset(name, 'n', name_size);
  name[name_size] = '\0';
  builder_init(&builder, NULL);
  struct made_field field = {.name = name, .ipc_type = IPC_NULL, .type = empty_table(&builder)};
  uint32_t address = made_field(&builder, &field);
  for (size_t i = 0; i < entries; i++) builder_keep(&builder, address);
  struct input input = schema_of(&builder, builder_kept_vector(&builder, entries));
  free(name);
  require_cheap_refusal(input);
}

static void test_one_field_named_often_is_refused(void **state) {
  (void)state;
  share_one_field(16000, 1);
  share_one_field(4000, 40000);
  share_one_field(2000, 40000);
  share_one_field(2000, 100);
}

static void share_one_pair(size_t entries, size_t key_size) {
  struct builder builder;
  struct input input;
  char *key = malloc(key_size);
  assert_non_null(key);
  memset(key, 'k', key_size);
  builder_init(&builder, NULL);
  uint32_t text = builder_text(&builder, key, key_size);
  free(key);
  builder_table(&builder);
  builder_offset(&builder, PAIR_KEY, text);
  builder_offset(&builder, PAIR_VALUE, text);
  uint32_t pair = builder_table_end(&builder);
  for (size_t i = 0; i < entries; i++) builder_keep(&builder, pair);
  uint32_t pairs = builder_kept_vector(&builder, entries);
  uint32_t header = made_schema(&builder, builder_kept_vector(&builder, 0), 0, pairs);
  input.bytes = made_message(&builder, METADATA_V5, MESSAGE_SCHEMA, header, 0, 0, &input.size);
  require_cheap_refusal(input);
}

static void test_one_pair_named_often_is_refused(void **state) {
  (void)state;
  share_one_pair(15000, 1000);
  share_one_pair(3800, 45000);
  share_one_pair(3800, 100);
}

/* ---- What must pass ---------------------------------------------------------------------- */

static void test_wide_schemas_stay_within_the_budgets(void **state) {
  (void)state;
  enum { WIDTH = 20000 };
  struct builder builder;
  struct ashuf_error error;
  ashuf_schema *schema;
  builder_init(&builder, NULL);
  for (int i = 0; i < WIDTH; i++) { /* the smallest fields there are, no name, no children */
    struct made_field field = {.ipc_type = IPC_NULL};
    field.type = empty_table(&builder);
    builder_keep(&builder, made_field(&builder, &field));
  }
  struct input input = schema_of(&builder, builder_kept_vector(&builder, WIDTH));
  assert_int_equal(made_read(input.bytes, input.size, &schema, &error), ASHUF_OK);
  assert_int_equal(schema->n_columns, WIDTH);
  ashuf_schema_free(schema);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_damaged_small_schema),
      cmocka_unit_test(test_damaged_schema_of_every_type),
      cmocka_unit_test(test_damaged_batch),
      cmocka_unit_test(test_damaged_dictionary_batch),
      cmocka_unit_test(test_children_shared_at_every_level_are_refused),
      cmocka_unit_test(test_one_field_named_often_is_refused),
      cmocka_unit_test(test_one_pair_named_often_is_refused),
      cmocka_unit_test(test_wide_schemas_stay_within_the_budgets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

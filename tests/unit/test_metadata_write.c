/*
 * Written metadata: the fixed layout of batches against the generic builder, both against the
 * annotated block, and the life of a schema's message.
 */
#include "ipc/metadata.h"

#include "base/bytes.h"
#include "ipc/metadata_int.h"
#include "support/annotated_block.h"
#include "support/fault.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- Batches ----------------------------------------------------------------------------- */

/* The message as the Rust builder makes it, in the creation order of docs/FORMAT.md. */
static const uint8_t *build_batch(struct builder *builder, const struct batch_metadata *batch) {
  const uint8_t *bytes;
  uint32_t buffers = builder_structs(builder, batch->buffers, batch->n_buffers, 16);
  uint32_t nodes = builder_structs(builder, batch->nodes, batch->n_nodes, 16);
  uint32_t variadic = 0;
  if (batch->n_variadic != 0)
    variadic = builder_vector(builder, batch->variadic, batch->n_variadic, 8);
  builder_table(builder);
  builder_scalar(builder, BATCH_LENGTH, 8, batch->length, 0);
  builder_offset(builder, BATCH_NODES, nodes);
  builder_offset(builder, BATCH_BUFFERS, buffers);
  if (batch->n_variadic != 0) builder_offset(builder, BATCH_VARIADIC, variadic);
  uint32_t header = builder_table_end(builder);
  if (batch->is_dictionary) {
    builder_table(builder);
    builder_scalar(builder, DICTIONARY_ID, 8, batch->dictionary_id, 0);
    builder_offset(builder, DICTIONARY_DATA, header);
    header = builder_table_end(builder);
  }
  builder_table(builder);
  builder_scalar(builder, MESSAGE_VERSION, 2, METADATA_V5, 0);
  builder_scalar(builder, MESSAGE_HEADER_TYPE, 1,
                 batch->is_dictionary ? MESSAGE_DICTIONARY : MESSAGE_BATCH, 0);
  builder_scalar(builder, MESSAGE_BODY_LENGTH, 8, batch->body_length, 0);
  builder_offset(builder, MESSAGE_HEADER, header);
  assert_int_equal(builder_finish(builder, builder_table_end(builder), &bytes, NULL), ASHUF_OK);
  return bytes;
}

static void compare_with_builder(const struct batch_metadata *batch) {
  struct builder builder;
  builder_init(&builder, NULL);
  const uint8_t *expected = build_batch(&builder, batch);
  size_t size = batch_metadata_size(batch);
  assert_int_equal(size, builder.used);
  uint8_t *written = malloc(size);
  assert_non_null(written);
  memset(written, 0xa5, size);
  batch_metadata_write(batch, written);
  assert_memory_equal(written, expected, size);
  free(written);
  builder_free(&builder);
}

#define MOST 9

/* Every presence of the scalars with the given counts. */
static void compare_scalars(struct batch_metadata *batch) {
  for (unsigned bits = 0; bits < 16; bits++) {
    batch->is_dictionary = (bits & 1) != 0;
    batch->dictionary_id = (bits & 2) != 0 ? 0x0102030405060708 : 0;
    batch->length = (bits & 4) != 0 ? 8192 : 0;
    batch->body_length = (bits & 8) != 0 ? 64 : 0;
    compare_with_builder(batch);
  }
}

static void test_batches_of_every_shape_equal_the_builder(void **state) {
  (void)state;
  struct ipc_node nodes[MOST];
  struct ipc_buffer buffers[MOST];
  int64_t variadic[MOST];
  for (int i = 0; i < MOST; i++) {
    nodes[i] = (struct ipc_node){100 + i, i};
    buffers[i] = (struct ipc_buffer){i * 64, -1 - i};
    variadic[i] = i * 1000;
  }
  for (uint32_t counts = 0; counts < 6 * 6 * 4; counts++) {
    struct batch_metadata batch = {.nodes = nodes, .buffers = buffers, .variadic = variadic};
    batch.n_nodes = counts % 6;
    batch.n_buffers = counts / 6 % 6;
    batch.n_variadic = counts / 36;
    compare_scalars(&batch);
  }
}

static void test_empty_lists_may_be_null(void **state) {
  (void)state;
  struct batch_metadata batch = {.length = 12};
  compare_with_builder(&batch);
}

static void test_large_batches_equal_the_builder(void **state) {
  (void)state;
  enum { COUNT = 5000 };
  struct ipc_node *nodes = calloc(COUNT, sizeof *nodes);
  struct ipc_buffer *buffers = calloc(COUNT, sizeof *buffers);
  assert_non_null(nodes);
  assert_non_null(buffers);
  struct batch_metadata batch = {.length = INT64_MAX,
                                 .body_length = INT64_MAX,
                                 .nodes = nodes,
                                 .buffers = buffers,
                                 .n_nodes = COUNT,
                                 .n_buffers = COUNT};
  compare_with_builder(&batch);
  free(nodes);
  free(buffers);
}

static void test_annotated_batch_is_written_byte_for_byte(void **state) {
  (void)state;
  const struct ipc_node nodes[] = {{3, 1}, {3, 0}};
  const struct ipc_buffer buffers[] = {{0, 1}, {64, 12}, {128, 1}, {192, 16}, {256, 3}};
  const struct batch_metadata batch = {.length = 3,
                                       .body_length = 320,
                                       .nodes = nodes,
                                       .buffers = buffers,
                                       .n_nodes = 2,
                                       .n_buffers = 5};
  uint8_t written[sizeof annotated_batch];
  assert_int_equal(batch_metadata_size(&batch), sizeof written);
  batch_metadata_write(&batch, written);
  assert_memory_equal(written, annotated_batch, sizeof written);
}

/* ---- Schemas ----------------------------------------------------------------------------- */

static ashuf_schema *annotated_columns(ashuf_memory *memory) {
  ashuf_schema *schema = schema_new(memory);
  if (schema == NULL) return NULL;
  struct field *columns = schema_fields(schema, 2);
  if (columns == NULL) {
    ashuf_schema_free(schema);
    return NULL;
  }
  columns[0].name = "a";
  columns[0].name_size = 1;
  columns[0].type = TYPE_INT32;
  columns[0].nullable = true;
  columns[1].name = "b";
  columns[1].name_size = 1;
  columns[1].type = TYPE_UTF8;
  schema->columns = columns;
  schema->n_columns = 2;
  assert_int_equal(schema_seal(schema, true, NULL), ASHUF_OK);
  return schema;
}

static void test_annotated_schema_is_written_byte_for_byte(void **state) {
  (void)state;
  const struct schema_message *message;
  ashuf_schema *schema = annotated_columns(NULL);
  assert_int_equal(schema_message_get(schema, &message, NULL), ASHUF_OK);
  assert_int_equal(message->size, sizeof annotated_schema);
  assert_memory_equal(message->bytes, annotated_schema, sizeof annotated_schema);
  ashuf_schema_free(schema);
}

static void test_a_schema_is_encoded_once(void **state) {
  (void)state;
  const struct schema_message *first;
  const struct schema_message *second;
  ashuf_schema *schema = annotated_columns(NULL);
  assert_int_equal(schema_message_get(schema, &first, NULL), ASHUF_OK);
  assert_int_equal(schema_message_get(schema, &second, NULL), ASHUF_OK);
  assert_ptr_equal(first, second);
  ashuf_schema_free(schema);
}

static void *get_message(void *schema) {
  const struct schema_message *message = NULL;
  (void)schema_message_get(schema, &message, NULL);
  return (void *)(uintptr_t)message;
}

static void test_threads_that_encode_at_once_get_one_message(void **state) {
  (void)state;
  enum { THREADS = 4, ROUNDS = 50 };
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[THREADS];
    void *messages[THREADS];
    ashuf_schema *schema = annotated_columns(NULL);
    for (int i = 0; i < THREADS; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, get_message, schema), 0);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], &messages[i]), 0);
    assert_non_null(messages[0]);
    for (int i = 1; i < THREADS; i++) assert_ptr_equal(messages[i], messages[0]);
    ashuf_schema_free(schema);
  }
}

static ashuf_status encode(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  (void)data;
  const struct schema_message *message;
  ashuf_schema *schema = annotated_columns(memory);
  if (schema == NULL) return error_memory(error, 0, memory, 1);
  ashuf_status status = schema_message_get(schema, &message, error);
  ashuf_schema_free(schema);
  return status;
}

static void test_a_failed_encoding_leaks_nothing(void **state) {
  (void)state;
  fault_sweep(encode, NULL);
}

static void test_metadata_is_written_sorted_without_replaced_keys(void **state) {
  (void)state;
  static const struct key_value given[] = {
      {"z", "1", 1, 1}, {"a", "2", 1, 1}, {"z", "3", 1, 1}, {"", "", 0, 0}};
  ashuf_schema *schema = annotated_columns(NULL);
  schema->metadata = given;
  schema->n_metadata = 4;
  schema->columns[1].metadata = given;
  schema->columns[1].n_metadata = 2;
  assert_int_equal(schema_seal(schema, true, NULL), ASHUF_OK);
  const struct schema_message *written;
  assert_int_equal(schema_message_get(schema, &written, NULL), ASHUF_OK);
  struct message message;
  ashuf_schema *again;
  assert_int_equal(message_read(written->bytes, written->size, 0, &message, NULL), ASHUF_OK);
  assert_int_equal(schema_read_unsealed(&message, NULL, &again, NULL), ASHUF_OK);
  assert_int_equal(again->n_metadata, 3);
  assert_string_equal(again->metadata[0].key, "");
  assert_string_equal(again->metadata[1].key, "a");
  assert_string_equal(again->metadata[2].key, "z");
  assert_string_equal(again->metadata[2].value, "3");
  assert_int_equal(again->columns[0].n_metadata, 0);
  assert_int_equal(again->columns[1].n_metadata, 2);
  assert_string_equal(again->columns[1].metadata[0].key, "a");
  ashuf_schema_free(again);
  ashuf_schema_free(schema);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_batches_of_every_shape_equal_the_builder),
      cmocka_unit_test(test_empty_lists_may_be_null),
      cmocka_unit_test(test_large_batches_equal_the_builder),
      cmocka_unit_test(test_annotated_batch_is_written_byte_for_byte),
      cmocka_unit_test(test_annotated_schema_is_written_byte_for_byte),
      cmocka_unit_test(test_a_schema_is_encoded_once),
      cmocka_unit_test(test_threads_that_encode_at_once_get_one_message),
      cmocka_unit_test(test_a_failed_encoding_leaks_nothing),
      cmocka_unit_test(test_metadata_is_written_sorted_without_replaced_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

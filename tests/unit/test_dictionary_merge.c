/* Dictionaries and their deltas: the merged values are those of all parts, in order. */
#include "ipc/dictionary_merge.h"

#include "ipc/batch_read.h"
#include "support/blocks.h"
#include "support/fault.h"
#include "support/stream_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARTS 3

/* Batches of one column, and each of them as the message that a dictionary of it would hold. */
struct parts {
  struct test_column batches[PARTS];
  struct ashuf_buffer blocks[PARTS];
  ashuf_schema *schema;
};

static void parts_make(struct parts *parts, const char *type) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  struct test_random random = {77};
  ashuf_ctx *ctx;
  options.codec = ASHUF_CODEC_NONE;
  options.layout = ASHUF_LAYOUT_ARROW_RS;
  memset(parts, 0, sizeof *parts);
  assert_int_equal(ashuf_ctx_new(NULL, &ctx, NULL), ASHUF_OK);
  for (int i = 0; i < PARTS; i++) {
    struct test_column column = column_random("v", type, &random, i * 20, 5 + i * 30);
    parts->batches[i] = batch_of(&column, 1);
    encode_batch(ctx, &parts->batches[i], &options, &parts->blocks[i]);
  }
  assert_int_equal(ashuf_schema_import(&parts->batches[0].schema, NULL, &parts->schema, NULL),
                   ASHUF_OK);
  ashuf_ctx_free(ctx);
}

static void parts_free(struct parts *parts) {
  for (int i = 0; i < PARTS; i++) {
    column_free(&parts->batches[i]);
    ashuf_buffer_free(&parts->blocks[i]);
  }
  ashuf_schema_free(parts->schema);
}

/* The record batch of a block as dictionary 7 of the table. */
static ashuf_status put_block(struct dictionary_table *table, const struct ashuf_buffer *block,
                              bool is_delta, struct ashuf_error *error) {
  struct stream_walk walk = {block->data + 20, block->size - 20, 0};
  const uint8_t *metadata;
  size_t size;
  struct message message;
  do {
    assert_true(stream_walk_next(&walk, &metadata, &size));
    assert_int_equal(message_read(metadata, size, walk.at, &message, NULL), ASHUF_OK);
    if (message.type != MESSAGE_BATCH) stream_walk_skip(&walk, message.body_length);
  } while (message.type != MESSAGE_BATCH);
  message.batch.dictionary_id = 7;
  message.batch.is_delta = is_delta;
  struct body *body = body_new(table->memory, (size_t)message.body_length);
  if (body == NULL) return error_memory(error, 1, table->memory, 1);
  if (body->size != 0) memcpy(body_writable(body), walk.data + walk.at, body->size);
  ashuf_status status = dictionary_table_put(table, &message, body, error);
  if (status != ASHUF_OK) body_free(body);
  return status;
}

static ashuf_status merge_parts(struct dictionary_table *table, const struct parts *parts,
                                struct ashuf_error *error) {
  ashuf_status status = ASHUF_OK;
  for (int i = 0; i < PARTS && status == ASHUF_OK; i++)
    status = put_block(table, &parts->blocks[i], i > 0, error);
  if (status != ASHUF_OK) return status;
  return dictionary_merge(table, dictionary_table_find(table, 7), parts->schema->columns, error);
}

static void expect_all_rows(const struct parts *parts, struct dictionary_table *table) {
  struct dictionary_entry *entry = dictionary_table_find(table, 7);
  struct message message = {.type = MESSAGE_BATCH, .version = METADATA_V5, .batch = entry->header};
  struct batch_read_options options = {.validate = true};
  struct ArrowArray got;
  struct ashuf_error error;
  assert_null(entry->deltas);
  if (batch_read(parts->schema, &message, entry->body, NULL, &options, NULL, &got, &error) !=
      ASHUF_OK)
    fail_msg("%s", error.message);
  int64_t row = 0;
  for (int i = 0; i < PARTS; i++)
    for (int64_t k = 0; k < parts->batches[i].array.length; k++, row++) {
      char *a = value_text(&parts->batches[i].schema, &got, row);
      char *b = value_text(&parts->batches[i].schema, &parts->batches[i].array, k);
      assert_string_equal(a, b);
      free(a);
      free(b);
    }
  assert_int_equal(got.length, row);
  got.release(&got);
}

static void deltas_of_every_type_are_appended(void **state) {
  (void)state;
  for (size_t i = 0; test_types[i] != NULL; i++) {
    if (strstr(test_types[i], "dict") != NULL) continue; /* its values need a table of their own */
    struct parts parts;
    struct dictionary_table table = {.memory = NULL};
    struct ashuf_error error;
    parts_make(&parts, test_types[i]);
    if (merge_parts(&table, &parts, &error) != ASHUF_OK)
      fail_msg("%s: %s", test_types[i], error.message);
    expect_all_rows(&parts, &table);
    dictionary_table_free(&table);
    parts_free(&parts);
  }
}

/* Dictionaries inside the values are other entries of the table: only their indices are here. */
static void indices_inside_the_values_are_appended(void **state) {
  (void)state;
  struct parts parts;
  struct dictionary_table table = {.memory = NULL};
  struct ashuf_error error;
  parts_make(&parts, "struct(dict:c(u),i)");
  if (merge_parts(&table, &parts, &error) != ASHUF_OK) fail_msg("%s", error.message);
  struct dictionary_entry *entry = dictionary_table_find(&table, 7);
  int64_t rows = 0;
  for (int i = 0; i < PARTS; i++) rows += parts.batches[i].array.length;
  assert_int_equal(entry->header.length, rows);
  assert_int_equal(entry->header.n_nodes, 3);
  assert_int_equal(entry->header.n_buffers, 5);
  dictionary_table_free(&table);
  parts_free(&parts);
}

static void a_delta_needs_something_to_add_to(void **state) {
  (void)state;
  struct parts parts;
  struct dictionary_table table = {.memory = NULL};
  struct ashuf_error error;
  parts_make(&parts, "u");
  assert_int_equal(put_block(&table, &parts.blocks[0], true, &error), ASHUF_BAD_SEQUENCE);
  assert_int_equal(error.site, SITE_DICTIONARY_DELTA);
  dictionary_table_free(&table);
  parts_free(&parts);
}

static void a_replacement_drops_the_deltas(void **state) {
  (void)state;
  struct parts parts;
  struct dictionary_table table = {.memory = NULL};
  parts_make(&parts, "u");
  assert_int_equal(put_block(&table, &parts.blocks[0], false, NULL), ASHUF_OK);
  assert_int_equal(put_block(&table, &parts.blocks[1], true, NULL), ASHUF_OK);
  assert_int_equal(put_block(&table, &parts.blocks[2], false, NULL), ASHUF_OK);
  struct dictionary_entry *entry = dictionary_table_find(&table, 7);
  assert_null(entry->deltas);
  assert_int_equal(entry->header.length, parts.batches[2].array.length);
  dictionary_table_free(&table);
  parts_free(&parts);
}

static void a_damaged_delta_leaves_the_entry(void **state) {
  (void)state;
  struct parts parts;
  struct dictionary_table table = {.memory = NULL};
  struct ashuf_error error;
  parts_make(&parts, "u");
  assert_int_equal(put_block(&table, &parts.blocks[0], false, NULL), ASHUF_OK);
  assert_int_equal(put_block(&table, &parts.blocks[1], true, NULL), ASHUF_OK);
  struct dictionary_entry *entry = dictionary_table_find(&table, 7);
  entry->deltas->header.n_buffers = 2;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(dictionary_merge(&table, entry, parts.schema->columns, &error),
                     ASHUF_BAD_BATCH);
    assert_non_null(entry->deltas);
    assert_int_equal(entry->header.length, parts.batches[0].array.length);
  }
  dictionary_table_free(&table);
  parts_free(&parts);
}

static ashuf_status merge_with(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  struct dictionary_table table = {.memory = memory};
  ashuf_status status = merge_parts(&table, data, error);
  dictionary_table_free(&table);
  return status;
}

static void merging_stands_failing_allocations(void **state) {
  (void)state;
  struct parts parts;
  parts_make(&parts, "list(struct(u,i))");
  fault_sweep(merge_with, &parts);
  parts_free(&parts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(deltas_of_every_type_are_appended),
      cmocka_unit_test(indices_inside_the_values_are_appended),
      cmocka_unit_test(a_delta_needs_something_to_add_to),
      cmocka_unit_test(a_replacement_drops_the_deltas),
      cmocka_unit_test(a_damaged_delta_leaves_the_entry),
      cmocka_unit_test(merging_stands_failing_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

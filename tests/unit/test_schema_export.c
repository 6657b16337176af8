/* Schemas going out over the C Data Interface: contents, ownership, moves. */
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

/* {list: [dictionary<int8, struct<x>>], n: int32 not null}, with metadata. */
static struct ArrowSchema *example(void) {
  struct ArrowSchema *values = schema_node_add(schema_node("+s", ""), schema_node("i", "x"));
  struct ArrowSchema *item =
      schema_node_encode(schema_node_flags("c", "item", ARROW_FLAG_DICTIONARY_ORDERED), values);
  item->metadata = "\x01\0\0\0\x03\0\0\0key\x05\0\0\0value";
  struct ArrowSchema *batch = schema_node_batch(schema_node_add(schema_node("+l", "list"), item));
  batch->metadata = "\x01\0\0\0\x01\0\0\0a\0\0\0";
  return schema_node_add(batch, schema_node_flags("i", "n", 0));
}

static ashuf_schema *import(const struct ArrowSchema *node, ashuf_memory *memory) {
  struct ashuf_error error = {0};
  ashuf_schema *schema = NULL;
  if (ashuf_schema_import(node, memory, &schema, &error) != ASHUF_OK) fail_msg("%s", error.message);
  return schema;
}

static uint64_t bytes_in_use(const ashuf_memory *memory) {
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &stats);
  return stats.now;
}

/* The example's schema, exported; the schema and the domain's first reference are gone. */
static void export_example(ashuf_memory **memory, struct ArrowSchema *out) {
  assert_int_equal(ashuf_memory_new(NULL, memory, NULL), ASHUF_OK);
  ashuf_schema *schema = import(example(), *memory);
  assert_int_equal(ashuf_schema_export(schema, out, NULL), ASHUF_OK);
  ashuf_schema_free(schema);
}

static void names_flags_and_metadata_come_out_as_they_went_in(void **state) {
  (void)state;
  ashuf_memory *memory;
  struct ArrowSchema batch;
  export_example(&memory, &batch);
  assert_string_equal(batch.format, "+s");
  assert_string_equal(batch.name, "");
  assert_int_equal(batch.flags, 0);
  assert_int_equal(batch.n_children, 2);
  assert_memory_equal(batch.metadata, "\x01\0\0\0\x01\0\0\0a\0\0\0", 13);
  const struct ArrowSchema *list = batch.children[0];
  assert_string_equal(list->name, "list");
  assert_int_equal(list->flags, ARROW_FLAG_NULLABLE);
  assert_null(list->metadata);
  const struct ArrowSchema *item = list->children[0];
  assert_string_equal(item->format, "c");
  assert_int_equal(item->flags, ARROW_FLAG_DICTIONARY_ORDERED);
  assert_memory_equal(item->metadata, "\x01\0\0\0\x03\0\0\0key\x05\0\0\0value", 20);
  assert_int_equal(item->n_children, 0);
  assert_null(item->children);
  assert_string_equal(item->dictionary->format, "+s");
  assert_string_equal(item->dictionary->children[0]->name, "x");
  assert_int_equal(batch.children[1]->flags, 0);
  batch.release(&batch);
  assert_null(batch.release);
  assert_int_equal(bytes_in_use(memory), 0);
  ashuf_memory_free(memory);
}

static void an_export_outlives_the_schema_and_the_domain(void **state) {
  (void)state;
  ashuf_memory *memory;
  struct ArrowSchema batch;
  export_example(&memory, &batch);
  ashuf_memory_free(memory);
  assert_string_equal(batch.children[0]->children[0]->name, "item");
  batch.release(&batch);
}

static struct ArrowSchema move(struct ArrowSchema *from) {
  struct ArrowSchema moved = *from;
  from->release = NULL;
  return moved;
}

static void children_and_dictionaries_can_be_moved_out(void **state) {
  (void)state;
  ashuf_memory *memory;
  struct ArrowSchema batch;
  export_example(&memory, &batch);
  struct ArrowSchema list = move(batch.children[0]);
  struct ArrowSchema values = move(list.children[0]->dictionary);
  struct ArrowSchema root = move(&batch);
  root.release(&root);
  list.release(&list);
  assert_string_equal(values.children[0]->name, "x");
  assert_string_equal(values.children[0]->format, "i");
  values.release(&values);
  assert_int_equal(bytes_in_use(memory), 0);
  ashuf_memory_free(memory);
}

static void a_child_released_first_is_left_alone(void **state) {
  (void)state;
  ashuf_memory *memory;
  struct ArrowSchema batch;
  export_example(&memory, &batch);
  batch.children[1]->release(batch.children[1]);
  assert_null(batch.children[1]->release);
  batch.release(&batch);
  assert_int_equal(bytes_in_use(memory), 0);
  ashuf_memory_free(memory);
}

static void one_field_can_be_exported_alone(void **state) {
  (void)state;
  ashuf_schema *schema = import(example(), NULL);
  struct ArrowSchema column;
  assert_int_equal(field_export(&schema->columns[0], NULL, &column, NULL), ASHUF_OK);
  ashuf_schema_free(schema);
  assert_string_equal(column.format, "+l");
  assert_string_equal(column.name, "list");
  column.release(&column);
}

static void a_refused_export_leaves_its_output_alone(void **state) {
  (void)state;
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  options.limit = 64;
  ashuf_memory *memory;
  assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
  ashuf_schema *schema = import(example(), NULL);
  struct ArrowSchema out;
  memset(&out, 0x5A, sizeof out);
  struct ArrowSchema before = out;
  struct ashuf_error error;
  assert_int_equal(field_export(&schema->columns[0], memory, &out, &error), ASHUF_MEMORY_LIMIT);
  assert_memory_equal(&out, &before, sizeof out);
  assert_int_equal(ashuf_schema_export(NULL, &out, &error), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(ashuf_schema_export(schema, NULL, &error), ASHUF_INVALID_ARGUMENT);
  assert_int_equal(bytes_in_use(memory), 0);
  ashuf_schema_free(schema);
  ashuf_memory_free(memory);
}

static void a_schema_without_columns_is_an_empty_struct(void **state) {
  (void)state;
  ashuf_schema *schema = import(schema_node_flags("+s", NULL, 0), NULL);
  struct ArrowSchema out;
  assert_int_equal(ashuf_schema_export(schema, &out, NULL), ASHUF_OK);
  assert_int_equal(out.n_children, 0);
  assert_string_equal(out.format, "+s");
  out.release(&out);
  ashuf_schema_free(schema);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(names_flags_and_metadata_come_out_as_they_went_in, free_nodes),
      cmocka_unit_test_teardown(an_export_outlives_the_schema_and_the_domain, free_nodes),
      cmocka_unit_test_teardown(children_and_dictionaries_can_be_moved_out, free_nodes),
      cmocka_unit_test_teardown(a_child_released_first_is_left_alone, free_nodes),
      cmocka_unit_test_teardown(one_field_can_be_exported_alone, free_nodes),
      cmocka_unit_test_teardown(a_refused_export_leaves_its_output_alone, free_nodes),
      cmocka_unit_test_teardown(a_schema_without_columns_is_an_empty_struct, free_nodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

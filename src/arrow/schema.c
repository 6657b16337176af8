#include "arrow/schema.h"

#include <string.h>

ashuf_schema *schema_new(ashuf_memory *memory) {
  ashuf_schema *schema = memory_zeroed(memory, sizeof *schema);
  if (schema == NULL) return NULL;
  schema->memory = ashuf_memory_ref(memory);
  atomic_init(&schema->references, 1);
  atomic_init(&schema->message, NULL);
  atomic_init(&schema->plain, NULL);
  arena_init(&schema->arena, memory);
  return schema;
}

struct field *schema_fields(ashuf_schema *schema, int32_t n) {
  struct field *fields = arena_array(&schema->arena, (size_t)n, sizeof *fields);
  if (fields == NULL) return NULL;
  for (int32_t i = 0; i < n; i++) fields[i] = (struct field){.name = ""};
  return fields;
}

ashuf_schema *ashuf_schema_ref(const ashuf_schema *schema) {
  ashuf_schema *counted = (ashuf_schema *)(uintptr_t)schema;
  if (counted != NULL) atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
  return counted;
}

void ashuf_schema_free(ashuf_schema *schema) {
  if (schema == NULL) return;
  if (atomic_fetch_sub_explicit(&schema->references, 1, memory_order_acq_rel) != 1) return;
  ashuf_memory *memory = schema->memory;
  struct schema_message *message = atomic_load(&schema->message);
  if (message != NULL) memory_free(memory, message, sizeof *message + message->size);
  ashuf_schema_free(atomic_load(&schema->plain));
  arena_free(&schema->arena);
  memory_free(memory, schema, sizeof *schema);
  ashuf_memory_free(memory);
}

int64_t ashuf_schema_n_columns(const ashuf_schema *schema) {
  return schema != NULL ? schema->n_columns : 0;
}

const char *ashuf_schema_column_name(const ashuf_schema *schema, int64_t column) {
  if (schema == NULL || column < 0 || column >= schema->n_columns) return NULL;
  return schema->columns[column].name;
}

int64_t ashuf_schema_find_column(const ashuf_schema *schema, const char *name) {
  if (schema == NULL || name == NULL) return -1;
  size_t size = strlen(name);
  for (int32_t i = 0; i < schema->n_columns; i++) {
    const struct field *column = &schema->columns[i];
    if (column->name_size == size && memcmp(column->name, name, size) == 0) return i;
  }
  return -1;
}

const char *field_label(const struct field *field, char *out, size_t capacity) {
  return error_escape(out, capacity, field->name, field->name_size);
}

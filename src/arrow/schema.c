#include "arrow/schema.h"

#include "arrow/schema_int.h"

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

/* ---- Without dictionaries ---------------------------------------------------------------- */

static bool copy_bytes(struct arena *arena, const char **text, size_t size) {
  *text = arena_text(arena, *text, size);
  return *text != NULL;
}

static bool copy_metadata(struct arena *arena, const struct key_value **metadata, int32_t n) {
  if (n == 0) return true;
  struct key_value *pairs = arena_array(arena, (size_t)n, sizeof *pairs);
  if (pairs == NULL) return false;
  memcpy(pairs, *metadata, (size_t)n * sizeof *pairs);
  *metadata = pairs;
  for (int32_t i = 0; i < n; i++)
    if (!copy_bytes(arena, &pairs[i].key, (size_t)pairs[i].key_size) ||
        !copy_bytes(arena, &pairs[i].value, (size_t)pairs[i].value_size))
      return false;
  return true;
}

/* Texts, ids and metadata of a field that was copied as a struct. */
static bool copy_contents(struct arena *arena, struct field *field) {
  if (!copy_bytes(arena, &field->name, field->name_size)) return false;
  if (field->timezone != NULL && !copy_bytes(arena, &field->timezone, strlen(field->timezone)))
    return false;
  if (field->type_ids != NULL) {
    const char *ids = (const char *)field->type_ids;
    if (!copy_bytes(arena, &ids, (size_t)field->n_children)) return false;
    field->type_ids = (const int8_t *)ids;
  }
  return copy_metadata(arena, &field->metadata, field->n_metadata);
}

/* A field as its values: what the column is called and says stays that of the outer field. */
static struct field without_dictionary(const struct field *field) {
  if (field->dictionary == NULL) return *field;
  struct field values = *field->dictionary;
  values.name = field->name;
  values.name_size = field->name_size;
  values.nullable = field->nullable;
  values.metadata = field->metadata;
  values.n_metadata = field->n_metadata;
  return values;
}

static bool copy_fields(ashuf_schema *schema, const struct field *from, int32_t n, bool plain,
                        struct field **out);

/* What a field that was copied as a struct points to. */
static bool copy_field(ashuf_schema *schema, struct field *field, bool plain) {
  if (!copy_contents(&schema->arena, field)) return false;
  if (field->dictionary != NULL &&
      !copy_fields(schema, field->dictionary, 1, plain, &field->dictionary))
    return false;
  return field->n_children == 0 ||
         copy_fields(schema, field->children, field->n_children, plain, &field->children);
}

static bool copy_fields(ashuf_schema *schema, const struct field *from, int32_t n, bool plain,
                        struct field **out) {
  struct field *fields = schema_fields(schema, n);
  if (fields == NULL) return false;
  for (int32_t i = 0; i < n; i++) {
    fields[i] = from[i];
    while (plain && fields[i].dictionary != NULL) fields[i] = without_dictionary(&fields[i]);
    if (!copy_field(schema, &fields[i], plain)) return false;
  }
  *out = fields;
  return true;
}

static ashuf_schema *make_plain(const ashuf_schema *schema) {
  ashuf_schema *plain = schema_new(schema->memory);
  if (plain == NULL) return NULL;
  plain->n_columns = schema->n_columns;
  plain->metadata = schema->metadata;
  plain->n_metadata = schema->n_metadata;
  if (!copy_fields(plain, schema->columns, schema->n_columns, true, &plain->columns) ||
      !copy_metadata(&plain->arena, &plain->metadata, plain->n_metadata) ||
      schema_seal(plain, false, NULL) != ASHUF_OK) {
    ashuf_schema_free(plain);
    return NULL;
  }
  return plain;
}

ashuf_schema *schema_plain(const ashuf_schema *schema) {
  if (schema->n_dictionaries == 0) return ashuf_schema_ref(schema);
  ashuf_schema *shared = (ashuf_schema *)(uintptr_t)schema;
  ashuf_schema *plain = atomic_load_explicit(&shared->plain, memory_order_acquire);
  if (plain == NULL) {
    ashuf_schema *made = make_plain(schema);
    if (made == NULL) return NULL;
    if (atomic_compare_exchange_strong(&shared->plain, &plain, made))
      plain = made;
    else
      ashuf_schema_free(made);
  }
  return ashuf_schema_ref(plain);
}

/* The picked columns as they stand; what they point to is still the first schema's. */
static bool pick_columns(ashuf_schema *picked, const ashuf_schema *schema, const int32_t *numbers) {
  picked->columns = schema_fields(picked, picked->n_columns);
  if (picked->columns == NULL) return false;
  for (int32_t i = 0; i < picked->n_columns; i++) {
    picked->columns[i] = schema->columns[numbers == NULL ? i : numbers[i]];
    if (!copy_field(picked, &picked->columns[i], false)) return false;
  }
  return copy_metadata(&picked->arena, &picked->metadata, picked->n_metadata);
}

ashuf_schema *schema_pick(const ashuf_schema *schema, const int32_t *numbers, int32_t n,
                          ashuf_memory *memory) {
  ashuf_schema *picked = schema_new(memory);
  if (picked == NULL) return NULL;
  picked->n_columns = n;
  picked->metadata = schema->metadata;
  picked->n_metadata = schema->n_metadata;
  if (pick_columns(picked, schema, numbers) && schema_seal(picked, true, NULL) == ASHUF_OK)
    return picked;
  ashuf_schema_free(picked);
  return NULL;
}

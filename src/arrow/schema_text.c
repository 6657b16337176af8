#include "arrow/schema_int.h"
#include "base/buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void text_append(struct text *text, const char *bytes, size_t size) {
  if (text->size < text->capacity) {
    size_t room = text->capacity - text->size;
    memcpy(text->out + text->size, bytes, size < room ? size : room);
  }
  text->size += size;
}

void text_string(struct text *text, const char *string) {
  text_append(text, string, strlen(string));
}

void text_integer(struct text *text, int64_t value) {
  char digits[24];
  int size = snprintf(digits, sizeof digits, "%" PRId64, value);
  text_append(text, digits, (size_t)size);
}

void text_end(struct text *text) {
  size_t end = text->size < text->capacity ? text->size : text->capacity - 1;
  text->out[end] = '\0';
}

static void escaped(struct text *text, const char *bytes, size_t size) {
  char label[100 + 8];
  text_string(text, error_escape(label, sizeof label, bytes, size));
}

static void write_type(struct text *text, const struct field *field);

/* A nested field's type, and whether it may be null. */
static void write_nested(struct text *text, const struct field *field) {
  write_type(text, field);
  if (!field->nullable) text_string(text, " not null");
}

static void write_named(struct text *text, const struct field *field) {
  escaped(text, field->name, field->name_size);
  text_string(text, ": ");
  write_nested(text, field);
}

/* name<child: type, child: type>, with =id behind the children of a union. */
static void write_children(struct text *text, const struct field *field) {
  text_string(text, "<");
  for (int32_t i = 0; i < field->n_children; i++) {
    if (i > 0) text_string(text, ", ");
    write_named(text, &field->children[i]);
    if (field->type_ids == NULL) continue;
    text_string(text, "=");
    text_integer(text, field->type_ids[i]);
  }
  text_string(text, ">");
}

/* Keys are not null by convention: a key says nothing about it. */
static void write_map(struct text *text, const struct field *field) {
  const struct field *entries = &field->children[0];
  text_string(text, "<");
  write_type(text, &entries->children[0]);
  text_string(text, ", ");
  write_nested(text, &entries->children[1]);
  text_string(text, field->keys_sorted ? ", keys sorted>" : ">");
}

static void write_dictionary(struct text *text, const struct field *field) {
  text_string(text, "dictionary<");
  text_string(text, type_info(field->type)->name);
  text_string(text, ", ");
  write_type(text, field->dictionary);
  text_string(text, field->dictionary_ordered ? ", ordered>" : ">");
}

static void write_unit(struct text *text, const struct field *field) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  text_string(text, "(");
  text_string(text, field->unit <= UNIT_NANO ? units[field->unit] : "?");
  if (field->timezone != NULL) {
    text_string(text, ", ");
    escaped(text, field->timezone, strlen(field->timezone));
  }
  text_string(text, ")");
}

static void write_numbers(struct text *text, int32_t first, const int32_t *second) {
  text_string(text, "(");
  text_integer(text, first);
  if (second != NULL) {
    text_string(text, ", ");
    text_integer(text, *second);
  }
  text_string(text, ")");
}

static void write_parameters(struct text *text, const struct field *field) {
  switch (field->type) {
    case TYPE_DECIMAL32:
    case TYPE_DECIMAL64:
    case TYPE_DECIMAL128:
    case TYPE_DECIMAL256:
      write_numbers(text, field->precision, &field->scale);
      break;
    case TYPE_TIME32:
    case TYPE_TIME64:
    case TYPE_TIMESTAMP:
    case TYPE_DURATION:
      write_unit(text, field);
      break;
    case TYPE_FIXED_SIZE_BINARY:
      write_numbers(text, field->byte_width, NULL);
      break;
    case TYPE_MAP:
      write_map(text, field);
      break;
    default:
      if (type_is_nested(field->type)) write_children(text, field);
      break;
  }
}

static void write_type(struct text *text, const struct field *field) {
  if (field->dictionary != NULL) {
    write_dictionary(text, field);
    return;
  }
  text_string(text, type_info(field->type)->name);
  write_parameters(text, field);
  if (field->type != TYPE_FIXED_SIZE_LIST) return;
  text_string(text, "[");
  text_integer(text, field->list_size);
  text_string(text, "]");
}

const char *field_type_text(const struct field *field, char *out, size_t capacity) {
  struct text text = {out, capacity, 0};
  write_type(&text, field);
  text_end(&text);
  if (text.size >= capacity && capacity > 4) memcpy(out + capacity - 4, "...", 4);
  return out;
}

ashuf_status field_format_type(const struct field *field, struct ashuf_buffer *out,
                               ashuf_memory *memory, struct ashuf_error *error) {
  struct text count = {NULL, 0, 0};
  write_type(&count, field);
  if (!buffer_reserve(out, memory, count.size))
    return error_memory(error, SITE_SCHEMA_MEMORY, memory, count.size);
  struct text text = {(char *)out->data + out->size, count.size, 0};
  write_type(&text, field);
  out->size += count.size;
  return ASHUF_OK;
}

ashuf_status ashuf_schema_format_type(const ashuf_schema *schema, int64_t column,
                                      struct ashuf_buffer *out, struct ashuf_error *error) {
  if (schema == NULL || out == NULL || column < 0 || column >= schema->n_columns)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_SCHEMA_ARGUMENT,
                     "no schema, no output or no such column");
  return field_format_type(&schema->columns[column], out, schema->memory, error);
}

#include "support/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *pointer) {
  if (pointer == NULL) abort();
  return pointer;
}

/* Exactly size bytes, so that a sanitizer sees a byte too much; NULL for none. */
static void *copy_of(const void *bytes, size_t size) {
  if (size == 0) return NULL;
  return memcpy(must(malloc(size)), bytes, size);
}

/* ---- Releasing ---------------------------------------------------------------------------- */

static void schema_release(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
    free(schema->children[i]);
  }
  if (schema->dictionary != NULL) {
    schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
  }
  free(schema->children);
  free((void *)(uintptr_t)schema->format);
  free((void *)(uintptr_t)schema->name);
  schema->release = NULL;
}

static void array_release(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
    free(array->children[i]);
  }
  if (array->dictionary != NULL) {
    array->dictionary->release(array->dictionary);
    free(array->dictionary);
  }
  for (int64_t i = 0; i < array->n_buffers; i++) free((void *)(uintptr_t)array->buffers[i]);
  free(array->buffers);
  free(array->children);
  array->release = NULL;
}

void column_free(struct test_column *column) {
  if (column->schema.release != NULL) column->schema.release(&column->schema);
  if (column->array.release != NULL) column->array.release(&column->array);
}

/* ---- Building ----------------------------------------------------------------------------- */

static struct test_column column_new(const char *name, const char *format, int64_t n,
                                     int64_t n_buffers) {
  struct test_column column = {
      .schema = {.format = must(strdup(format)),
                 .name = must(strdup(name)),
                 .flags = ARROW_FLAG_NULLABLE,
                 .release = schema_release},
      .array = {.length = n, .n_buffers = n_buffers, .release = array_release},
  };
  column.array.buffers = must(calloc((size_t)n_buffers + 1, sizeof(void *)));
  return column;
}

static void set_bits(uint8_t *bits, const char *digits, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (digits[i] == '1') bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << (i % 8));
}

static void set_valid(struct test_column *column, const char *valid) {
  int64_t n = column->array.length;
  if (valid == NULL || n == 0) return;
  uint8_t *bits = must(calloc((size_t)(n + 7) / 8, 1));
  set_bits(bits, valid, n);
  column->array.buffers[0] = bits;
  for (int64_t i = 0; i < n; i++) column->array.null_count += valid[i] == '0';
}

static void adopt(struct test_column *parent, struct test_column *children, int64_t n) {
  parent->schema.n_children = parent->array.n_children = n;
  parent->schema.children = must(calloc((size_t)n + 1, sizeof(void *)));
  parent->array.children = must(calloc((size_t)n + 1, sizeof(void *)));
  for (int64_t i = 0; i < n; i++) {
    parent->schema.children[i] = copy_of(&children[i].schema, sizeof children[i].schema);
    parent->array.children[i] = copy_of(&children[i].array, sizeof children[i].array);
    children[i].schema.release = NULL;
    children[i].array.release = NULL;
  }
}

/* Integers as an array of width-byte little-endian ones. */
static void *narrow(const int64_t *values, size_t width, int64_t n) {
  uint8_t *out = must(malloc((size_t)n * width + 1));
  for (int64_t i = 0; i < n; i++) memcpy(out + (size_t)i * width, &values[i], width);
  uint8_t *exact = copy_of(out, (size_t)n * width);
  free(out);
  return exact;
}

struct test_column column_fixed(const char *name, const char *format, size_t width,
                                const void *values, const char *valid, int64_t n) {
  struct test_column column = column_new(name, format, n, 2);
  set_valid(&column, valid);
  column.array.buffers[1] = copy_of(values, (size_t)n * width);
  return column;
}

struct test_column column_int32(const char *name, const int32_t *values, const char *valid,
                                int64_t n) {
  return column_fixed(name, "i", 4, values, valid, n);
}

struct test_column column_int64(const char *name, const int64_t *values, const char *valid,
                                int64_t n) {
  return column_fixed(name, "l", 8, values, valid, n);
}

struct test_column column_bools(const char *name, const char *values, const char *valid) {
  int64_t n = (int64_t)strlen(values);
  struct test_column column = column_new(name, "b", n, 2);
  set_valid(&column, valid);
  uint8_t *bits = n == 0 ? NULL : must(calloc((size_t)(n + 7) / 8, 1));
  set_bits(bits, values, n);
  column.array.buffers[1] = bits;
  return column;
}

struct test_column column_bytes(const char *name, const char *format, const int64_t *offsets,
                                const void *bytes, const char *valid, int64_t n) {
  struct test_column column = column_new(name, format, n, 3);
  set_valid(&column, valid);
  size_t width = format[0] == 'U' || format[0] == 'Z' ? 8 : 4;
  column.array.buffers[1] = narrow(offsets, width, n + 1);
  column.array.buffers[2] = copy_of(bytes, (size_t)offsets[n]);
  return column;
}

struct test_column column_strings(const char *name, const char *format, const char *const *values,
                                  int64_t n) {
  int64_t *offsets = must(calloc((size_t)n + 1, sizeof *offsets));
  char *valid = must(calloc((size_t)n + 1, 1));
  char *bytes = must(calloc(1, 1));
  bool nulls = false;
  for (int64_t i = 0; i < n; i++) {
    size_t size = values[i] != NULL ? strlen(values[i]) : 0;
    offsets[i + 1] = offsets[i] + (int64_t)size;
    valid[i] = values[i] != NULL ? '1' : '0';
    nulls |= values[i] == NULL;
    bytes = must(realloc(bytes, (size_t)offsets[i + 1] + 1));
    if (size != 0) memcpy(bytes + offsets[i], values[i], size);
  }
  struct test_column column = column_bytes(name, format, offsets, bytes, nulls ? valid : NULL, n);
  free(offsets);
  free(valid);
  free(bytes);
  return column;
}

struct test_column column_nulls(const char *name, int64_t n) {
  struct test_column column = column_new(name, "n", n, 0);
  column.array.null_count = n;
  return column;
}

struct test_column column_list(const char *name, const char *format, const int64_t *offsets,
                               const char *valid, int64_t n, struct test_column child) {
  struct test_column column = column_new(name, format, n, 2);
  set_valid(&column, valid);
  column.array.buffers[1] = narrow(offsets, strcmp(format, "+L") == 0 ? 8 : 4, n + 1);
  adopt(&column, &child, 1);
  return column;
}

struct test_column column_fixed_list(const char *name, int32_t size, const char *valid, int64_t n,
                                     struct test_column child) {
  char format[32];
  snprintf(format, sizeof format, "+w:%d", size);
  struct test_column column = column_new(name, format, n, 1);
  set_valid(&column, valid);
  adopt(&column, &child, 1);
  return column;
}

struct test_column column_struct(const char *name, const char *valid, int64_t n,
                                 struct test_column *children, int64_t n_children) {
  struct test_column column = column_new(name, "+s", n, 1);
  set_valid(&column, valid);
  adopt(&column, children, n_children);
  return column;
}

struct test_column column_views(const char *name, const char *format, const void *views,
                                const char *valid, int64_t n, const void *const *buffers,
                                const int64_t *sizes, int64_t n_buffers) {
  struct test_column column = column_new(name, format, n, n_buffers + 3);
  set_valid(&column, valid);
  column.array.buffers[1] = copy_of(views, (size_t)n * 16);
  for (int64_t i = 0; i < n_buffers; i++)
    column.array.buffers[2 + i] = copy_of(buffers[i], (size_t)sizes[i]);
  column.array.buffers[n_buffers + 2] = copy_of(sizes, (size_t)n_buffers * sizeof *sizes);
  return column;
}

struct test_column column_list_view(const char *name, const char *format, const int64_t *offsets,
                                    const int64_t *sizes, const char *valid, int64_t n,
                                    struct test_column child) {
  struct test_column column = column_new(name, format, n, 3);
  size_t width = strcmp(format, "+vL") == 0 ? 8 : 4;
  set_valid(&column, valid);
  column.array.buffers[1] = narrow(offsets, width, n);
  column.array.buffers[2] = narrow(sizes, width, n);
  adopt(&column, &child, 1);
  return column;
}

struct test_column column_union(const char *name, const char *format, const int8_t *type_ids,
                                const int32_t *offsets, int64_t n, struct test_column *children,
                                int64_t n_children) {
  struct test_column column = column_new(name, format, n, offsets == NULL ? 1 : 2);
  column.array.buffers[0] = copy_of(type_ids, (size_t)n);
  if (offsets != NULL) column.array.buffers[1] = copy_of(offsets, (size_t)n * 4);
  adopt(&column, children, n_children);
  return column;
}

struct test_column column_runs(const char *name, const char *end_format, const int64_t *ends,
                               int64_t n_runs, int64_t n, struct test_column values) {
  size_t width = end_format[0] == 's' ? 2 : end_format[0] == 'i' ? 4 : 8;
  struct test_column children[2] = {column_new("run_ends", end_format, n_runs, 2), values};
  children[0].array.buffers[1] = narrow(ends, width, n_runs);
  children[0].schema.flags = 0;
  struct test_column column = column_new(name, "+r", n, 0);
  adopt(&column, children, 2);
  return column;
}

static size_t index_width(char format) {
  switch (format) {
    case 'c':
    case 'C':
      return 1;
    case 's':
    case 'S':
      return 2;
    case 'i':
    case 'I':
      return 4;
    default:
      return 8;
  }
}

struct test_column column_dictionary(const char *name, const char *index_format,
                                     const int64_t *indices, const char *valid, int64_t n,
                                     struct test_column values) {
  struct test_column column = column_new(name, index_format, n, 2);
  set_valid(&column, valid);
  column.array.buffers[1] = narrow(indices, index_width(index_format[0]), n);
  column.schema.dictionary = copy_of(&values.schema, sizeof values.schema);
  column.array.dictionary = copy_of(&values.array, sizeof values.array);
  return column;
}

struct test_column batch_of(struct test_column *columns, int64_t n_columns) {
  struct test_column batch =
      column_struct("", NULL, n_columns == 0 ? 0 : columns[0].array.length, columns, n_columns);
  batch.schema.flags = 0;
  return batch;
}

struct test_column batch_of_nothing(int64_t rows) {
  struct test_column batch = batch_of(NULL, 0);
  batch.array.length = rows;
  return batch;
}

void column_slice(struct test_column *column, int64_t offset, int64_t length) {
  if (offset + length > column->array.length) abort();
  column->array.offset += offset;
  column->array.length = length;
  if (column->array.null_count != 0) column->array.null_count = -1;
  if (strcmp(column->schema.format, "n") == 0) column->array.null_count = length;
}

#include "support_columns.h"

#include "support_harness.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DICTIONARY_VALUES 16

const char *const bench_mix_names[MIX_COUNT] = {"pr", "pr-binary", "pr-dict", "pr-dict-binary",
                                                "unit"};

static void *need(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  bench_require(memory != NULL, "out of memory");
  return memory;
}

/* ---- Schemas and arrays that own themselves ------------------------------------------------ */

static void release_schema(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    schema->children[i]->release(schema->children[i]);
    free(schema->children[i]);
  }
  if (schema->dictionary != NULL) schema->dictionary->release(schema->dictionary);
  free(schema->dictionary);
  free(schema->children);
  free(schema->private_data);
  schema->release = NULL;
}

static void release_array(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_buffers; i++) free((void *)(uintptr_t)array->buffers[i]);
  for (int64_t i = 0; i < array->n_children; i++) {
    array->children[i]->release(array->children[i]);
    free(array->children[i]);
  }
  if (array->dictionary != NULL) array->dictionary->release(array->dictionary);
  free(array->dictionary);
  free(array->children);
  free((void *)(uintptr_t)array->buffers);
  array->release = NULL;
}

static void make_schema(struct ArrowSchema *out, const char *format, const char *name,
                        bool nullable) {
  memset(out, 0, sizeof *out);
  char *copy = need(strlen(name), 1);
  strcpy(copy, name);
  out->format = format;
  out->name = copy;
  out->private_data = copy;
  out->flags = nullable ? ARROW_FLAG_NULLABLE : 0;
  out->release = release_schema;
}

static void make_array(struct ArrowArray *out, int64_t rows, int64_t buffers) {
  memset(out, 0, sizeof *out);
  out->length = rows;
  out->n_buffers = buffers;
  out->buffers = need((size_t)buffers, sizeof *out->buffers);
  out->release = release_array;
}

/* ---- Columns ------------------------------------------------------------------------------- */

/* splitmix64 */
static uint64_t random_next(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static void add_nulls(struct ArrowArray *array, uint64_t *random) {
  uint8_t *bits = need((size_t)array->length / 8 + 1, 1);
  for (int64_t i = 0; i < array->length; i++) {
    if (random_next(random) % 10 == 0)
      array->null_count++;
    else
      bits[i / 8] = (uint8_t)(bits[i / 8] | 1 << (i % 8));
  }
  array->buffers[0] = bits;
}

static bool is_valid(const struct ArrowArray *array, int64_t row) {
  const uint8_t *bits = array->buffers[0];
  return bits == NULL || (bits[row / 8] >> (row % 8) & 1) != 0;
}

/* 0, 1, 2, ... below limit and again */
static void count_up(struct ArrowArray *array, int64_t rows, bool wide, int64_t limit) {
  make_array(array, rows, 2);
  int64_t *longs = wide ? need((size_t)rows, 8) : NULL;
  int32_t *ints = wide ? NULL : need((size_t)rows, 4);
  for (int64_t i = 0; i < rows; i++) {
    if (wide)
      longs[i] = i % limit;
    else
      ints[i] = (int32_t)(i % limit);
  }
  array->buffers[1] = wide ? (void *)longs : (void *)ints;
}

static void value_strings(struct ArrowArray *array, int64_t rows) {
  make_array(array, rows, 3);
  int32_t *offsets = need((size_t)rows + 1, sizeof *offsets);
  char *bytes = need((size_t)rows, 32);
  for (int64_t i = 0; i < rows; i++)
    offsets[i + 1] = offsets[i] + sprintf(bytes + offsets[i], "value_%" PRId64, i);
  array->buffers[1] = offsets;
  array->buffers[2] = bytes;
}

static void dictionary_column(struct ArrowSchema *schema, struct ArrowArray *array, int64_t rows,
                              const char *format) {
  count_up(array, rows, false, DICTIONARY_VALUES);
  array->dictionary = need(1, sizeof *array->dictionary);
  value_strings(array->dictionary, DICTIONARY_VALUES);
  schema->dictionary = need(1, sizeof *schema->dictionary);
  make_schema(schema->dictionary, format, "", false);
}

static void pr_column(enum bench_mix mix, int number, const char *name, int64_t rows,
                      struct ArrowSchema *schema, struct ArrowArray *array) {
  bool text = mix == MIX_PR || mix == MIX_PR_DICT;
  bool dictionary = mix == MIX_PR_DICT || mix == MIX_PR_DICT_BINARY;
  if (number % 2 == 0) {
    make_schema(schema, "l", name, false);
    count_up(array, rows, true, INT64_MAX);
  } else if (dictionary) {
    make_schema(schema, "i", name, false);
    dictionary_column(schema, array, rows, text ? "u" : "z");
  } else {
    make_schema(schema, text ? "u" : "z", name, false);
    value_strings(array, rows);
  }
}

/* Null rows hold zeros and empty strings. */
static void unit_values(struct ArrowArray *array, int kind, uint64_t *random) {
  static const size_t widths[] = {4, 8, 8};
  char *values = need((size_t)array->length, 8);
  for (int64_t i = 0; i < array->length; i++) {
    uint64_t word = random_next(random);
    double real = (double)(word >> 11) * 0x1p-53;
    if (kind == 2) memcpy(&word, &real, sizeof word);
    if (is_valid(array, i)) memcpy(values + (size_t)i * widths[kind], &word, widths[kind]);
  }
  array->buffers[1] = values;
}

static void unit_strings(struct ArrowArray *array, uint64_t *random) {
  int32_t *offsets = need((size_t)array->length + 1, sizeof *offsets);
  char *bytes = need((size_t)array->length, 10);
  for (int64_t i = 0; i < array->length; i++) {
    offsets[i + 1] = offsets[i];
    if (!is_valid(array, i)) continue;
    uint64_t word = random_next(random);
    for (int j = 0; j < 10; j++, word /= 26) bytes[offsets[i + 1]++] = (char)('a' + word % 26);
  }
  array->buffers[1] = offsets;
  array->buffers[2] = bytes;
}

static void unit_booleans(struct ArrowArray *array, uint64_t *random) {
  uint8_t *bits = need((size_t)array->length / 8 + 1, 1);
  for (int64_t i = 0; i < array->length; i++)
    if (is_valid(array, i) && random_next(random) % 2 == 0)
      bits[i / 8] = (uint8_t)(bits[i / 8] | 1 << (i % 8));
  array->buffers[1] = bits;
}

static void unit_column(int number, const char *name, int64_t rows, uint64_t *random,
                        struct ArrowSchema *schema, struct ArrowArray *array) {
  static const char *const formats[] = {"i", "l", "g", "u", "b"};
  int kind = number % 5;
  make_schema(schema, formats[kind], name, true);
  make_array(array, rows, kind == 3 ? 3 : 2);
  add_nulls(array, random);
  if (kind < 3) unit_values(array, kind, random);
  if (kind == 3) unit_strings(array, random);
  if (kind == 4) unit_booleans(array, random);
}

void bench_columns(enum bench_mix mix, int columns, int64_t rows, int variant,
                   struct ArrowSchema *schema, struct ArrowArray *array) {
  uint64_t random = 42;
  make_schema(schema, "+s", "", false);
  make_array(array, rows, 1);
  schema->n_children = array->n_children = columns;
  schema->children = need((size_t)columns, sizeof *schema->children);
  array->children = need((size_t)columns, sizeof *array->children);
  for (int i = 0; i < columns; i++) {
    char name[32];
    snprintf(name, sizeof name, "c%d_%d", i, variant);
    schema->children[i] = need(1, sizeof **schema->children);
    array->children[i] = need(1, sizeof **array->children);
    if (mix == MIX_UNIT)
      unit_column(i, name, rows, &random, schema->children[i], array->children[i]);
    else
      pr_column(mix, i, name, rows, schema->children[i], array->children[i]);
  }
}

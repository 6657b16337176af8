#include "ref/array_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_row(FILE *file, const struct ArrowSchema *schema, const struct ArrowArray *array,
                      int64_t row);

static int64_t integer(const void *values, size_t width, bool is_signed, int64_t i) {
  uint64_t value = 0;
  memcpy(&value, (const uint8_t *)values + (size_t)i * width, width);
  unsigned unused = 64 - (unsigned)width * 8;
  return is_signed ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

static bool bit(const void *bits, int64_t i) {
  return (((const uint8_t *)bits)[i / 8] >> (i % 8) & 1) != 0;
}

static void write_hex(FILE *file, const void *bytes, int64_t size) {
  fputc('x', file);
  for (int64_t i = 0; i < size; i++) fprintf(file, "%02x", ((const uint8_t *)bytes)[i]);
}

static size_t width_of(const char *format) {
  static const struct {
    const char *prefix;
    size_t width;
  } widths[] = {{"c", 1},   {"C", 1},   {"s", 2},    {"S", 2},   {"e", 2},   {"i", 4},
                {"I", 4},   {"f", 4},   {"l", 8},    {"L", 8},   {"g", 8},   {"tdD", 4},
                {"tdm", 8}, {"tts", 4}, {"ttm", 4},  {"ttu", 8}, {"ttn", 8}, {"ts", 8},
                {"tiM", 4}, {"tiD", 8}, {"tin", 16}, {"tD", 8}};
  int bits = 128;
  if (format[0] == 'w') return (size_t)atoi(format + 2);
  if (format[0] == 'd') {
    sscanf(format, "d:%*d,%*d,%d", &bits);
    return (size_t)bits / 8;
  }
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    if (strncmp(format, widths[i].prefix, strlen(widths[i].prefix)) == 0) return widths[i].width;
  abort();
}

static void write_range(FILE *file, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t first, int64_t end) {
  fputc('[', file);
  for (int64_t i = first; i < end && ftell(file) < ARRAY_TEXT_MOST; i++) {
    if (i != first) fputc(',', file);
    write_row(file, schema->children[0], array->children[0], i);
  }
  fputc(']', file);
}

static void write_struct(FILE *file, const struct ArrowSchema *schema,
                         const struct ArrowArray *array, int64_t slot) {
  fputc('{', file);
  for (int64_t k = 0; k < schema->n_children; k++) {
    if (k != 0) fputc(',', file);
    write_row(file, schema->children[k], array->children[k], slot);
  }
  fputc('}', file);
}

static void write_union(FILE *file, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t slot) {
  int id = ((const int8_t *)array->buffers[0])[slot];
  int64_t at = schema->format[2] == 'd' ? integer(array->buffers[1], 4, true, slot) : slot;
  const char *ids = schema->format + 4;
  for (int64_t k = 0; k < schema->n_children; k++) {
    char *end;
    if (strtol(ids, &end, 10) == id) {
      fprintf(file, "<%d:", id);
      write_row(file, schema->children[k], array->children[k], at);
      fputc('>', file);
      return;
    }
    ids = end + 1;
  }
  abort();
}

static void write_run(FILE *file, const struct ArrowSchema *schema, const struct ArrowArray *array,
                      int64_t slot) {
  const struct ArrowArray *ends = array->children[0];
  size_t width = width_of(schema->children[0]->format);
  int64_t run = 0;
  while (integer(ends->buffers[1], width, true, ends->offset + run) <= slot) run++;
  write_row(file, schema->children[1], array->children[1], run);
}

static void write_nested(FILE *file, const struct ArrowSchema *schema,
                         const struct ArrowArray *array, int64_t slot) {
  char kind = schema->format[1];
  size_t width = schema->format[kind == 'v' ? 2 : 1] == 'L' ? 8 : 4;
  if (kind == 's') {
    write_struct(file, schema, array, slot);
  } else if (kind == 'w') {
    int64_t size = atoi(schema->format + 3);
    write_range(file, schema, array, slot * size, (slot + 1) * size);
  } else if (kind == 'v') {
    int64_t first = integer(array->buffers[1], width, true, slot);
    write_range(file, schema, array, first, first + integer(array->buffers[2], width, true, slot));
  } else if (kind == 'u') {
    write_union(file, schema, array, slot);
  } else if (kind == 'r') {
    write_run(file, schema, array, slot);
  } else {
    write_range(file, schema, array, integer(array->buffers[1], width, true, slot),
                integer(array->buffers[1], width, true, slot + 1));
  }
}

static void write_view(FILE *file, const struct ArrowArray *array, int64_t slot) {
  const uint8_t *view = (const uint8_t *)array->buffers[1] + 16 * slot;
  int64_t size = integer(view, 4, true, 0);
  if (size <= 12) {
    write_hex(file, view + 4, size);
  } else {
    int64_t buffer = integer(view, 4, true, 2), offset = integer(view, 4, true, 3);
    const int64_t *sizes = array->buffers[array->n_buffers - 1];
    if (size > sizes[buffer] || offset > sizes[buffer] - size) abort();
    write_hex(file, (const uint8_t *)array->buffers[2 + buffer] + offset, size);
  }
}

static void write_plain(FILE *file, const char *format, const struct ArrowArray *array,
                        int64_t slot) {
  if (format[0] == 'b') {
    fputs(bit(array->buffers[1], slot) ? "true" : "false", file);
  } else if (format[0] == 'v') {
    write_view(file, array, slot);
  } else if (strchr("zuZU", format[0]) != NULL) {
    size_t width = format[0] == 'Z' || format[0] == 'U' ? 8 : 4;
    int64_t start = integer(array->buffers[1], width, true, slot);
    int64_t size = integer(array->buffers[1], width, true, slot + 1) - start;
    write_hex(file, size == 0 ? NULL : (const uint8_t *)array->buffers[2] + start, size);
  } else {
    size_t width = width_of(format);
    write_hex(file, width == 0 ? NULL : (const uint8_t *)array->buffers[1] + (size_t)slot * width,
              (int64_t)width);
  }
}

static void write_row(FILE *file, const struct ArrowSchema *schema, const struct ArrowArray *array,
                      int64_t row) {
  int64_t slot = array->offset + row;
  const char *format = schema->format;
  bool has_validity = strncmp(format, "+u", 2) != 0 && strcmp(format, "+r") != 0;
  if (format[0] == 'n' || (has_validity && array->null_count != 0 && array->buffers[0] != NULL &&
                           !bit(array->buffers[0], slot))) {
    fputs("null", file);
  } else if (schema->dictionary != NULL) {
    bool is_signed = strchr("csil", format[0]) != NULL;
    int64_t index = integer(array->buffers[1], width_of(format), is_signed, slot);
    write_row(file, schema->dictionary, array->dictionary, index);
  } else if (format[0] == '+') {
    write_nested(file, schema, array, slot);
  } else {
    write_plain(file, format, array, slot);
  }
}

char *array_text(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (file == NULL) abort();
  write_row(file, schema, array, row);
  if (fclose(file) != 0) abort();
  return text;
}

#include "support/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool bit(const void *bits, int64_t i) {
  return (((const uint8_t *)bits)[i / 8] >> (i % 8) & 1) != 0;
}

static int64_t integer(const void *values, size_t width, bool is_signed, int64_t i) {
  uint64_t value = 0;
  memcpy(&value, (const uint8_t *)values + (size_t)i * width, width);
  unsigned unused = 64 - (unsigned)width * 8;
  return is_signed ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

static void write_hex(FILE *file, const void *bytes, int64_t size) {
  fputc('x', file);
  for (int64_t i = 0; i < size; i++) fprintf(file, "%02x", ((const uint8_t *)bytes)[i]);
}

static void write_value(FILE *file, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t row);

static void write_items(FILE *file, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t first, int64_t end) {
  fputc('[', file);
  for (int64_t i = first; i < end; i++) {
    if (i != first) fputc(',', file);
    write_value(file, schema->children[0], array->children[0], i);
  }
  fputc(']', file);
}

static void write_fields(FILE *file, const struct ArrowSchema *schema,
                         const struct ArrowArray *array, int64_t slot) {
  fputc('{', file);
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (i != 0) fputc(',', file);
    write_value(file, schema->children[i], array->children[i], slot);
  }
  fputc('}', file);
}

/* The type id, then the value: a union without rows of a child still says which it is. */
static void write_union(FILE *file, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t slot) {
  int64_t id = integer(array->buffers[0], 1, true, slot);
  const char *ids = schema->format + 4;
  for (int64_t i = 0; i < schema->n_children; i++) {
    char *end;
    if (strtol(ids, &end, 10) == id) {
      bool dense = schema->format[2] == 'd';
      fprintf(file, "<%d>", (int)id);
      write_value(file, schema->children[i], array->children[i],
                  dense ? integer(array->buffers[1], 4, true, slot) : slot);
      return;
    }
    ids = end + 1;
  }
  abort();
}

static size_t fixed_width(const char *format);

/* From the first run on. */
static void write_run(FILE *file, const struct ArrowSchema *schema, const struct ArrowArray *array,
                      int64_t slot) {
  const struct ArrowArray *ends = array->children[0];
  size_t width = fixed_width(schema->children[0]->format);
  int64_t run = 0;
  while (integer(ends->buffers[1], width, true, ends->offset + run) <= slot)
    if (++run == ends->length) abort();
  write_value(file, schema->children[1], array->children[1], run);
}

static void write_list_view(FILE *file, const struct ArrowSchema *schema,
                            const struct ArrowArray *array, int64_t slot) {
  size_t width = schema->format[2] == 'L' ? 8 : 4;
  int64_t first = integer(array->buffers[1], width, true, slot);
  int64_t size = integer(array->buffers[2], width, true, slot);
  write_items(file, schema, array, first, first + size);
}

static void write_nested(FILE *file, const struct ArrowSchema *schema,
                         const struct ArrowArray *array, int64_t slot) {
  size_t width = schema->format[1] == 'L' ? 8 : 4;
  switch (schema->format[1]) {
    case 's':
      write_fields(file, schema, array, slot);
      break;
    case 'w': {
      int64_t size = atoi(schema->format + 3);
      write_items(file, schema, array, slot * size, (slot + 1) * size);
      break;
    }
    case 'u':
      write_union(file, schema, array, slot);
      break;
    case 'r':
      write_run(file, schema, array, slot);
      break;
    case 'v':
      write_list_view(file, schema, array, slot);
      break;
    default:
      write_items(file, schema, array, integer(array->buffers[1], width, true, slot),
                  integer(array->buffers[1], width, true, slot + 1));
  }
}

static size_t fixed_width(const char *format) {
  int bits;
  if (sscanf(format, "d:%*d,%*d,%d", &bits) == 1) return (size_t)bits / 8;
  if (format[0] == 'd') return 16;
  if (format[0] == 'w') return (size_t)atoi(format + 2);
  if (strcmp(format, "tin") == 0) return 16;
  if (strcmp(format, "tdD") == 0 || strcmp(format, "tts") == 0 || strcmp(format, "ttm") == 0 ||
      strcmp(format, "tiM") == 0)
    return 4;
  if (strchr("cC", format[0]) != NULL) return 1;
  if (strchr("sSe", format[0]) != NULL) return 2;
  return strchr("iIf", format[0]) != NULL ? 4 : 8;
}

static void write_view(FILE *file, const struct ArrowArray *array, int64_t slot) {
  const uint8_t *view = (const uint8_t *)array->buffers[1] + slot * 16;
  int64_t size = integer(view, 4, true, 0);
  if (size <= 12) {
    for (int64_t i = size; i < 12; i++)
      if (view[4 + i] != 0) fputs("unpadded ", file);
    write_hex(file, view + 4, size);
    return;
  }
  const uint8_t *bytes = array->buffers[2 + integer(view, 4, true, 2)];
  bytes += integer(view, 4, true, 3);
  if (memcmp(bytes, view + 4, 4) != 0) fputs("other prefix ", file);
  write_hex(file, bytes, size);
}

static void write_plain(FILE *file, const char *format, const struct ArrowArray *array,
                        int64_t slot) {
  if (strcmp(format, "b") == 0) {
    fputs(bit(array->buffers[1], slot) ? "true" : "false", file);
  } else if (format[0] == 'v') {
    write_view(file, array, slot);
  } else if (strchr("zuZU", format[0]) != NULL) {
    size_t width = strchr("ZU", format[0]) != NULL ? 8 : 4;
    int64_t start = integer(array->buffers[1], width, true, slot);
    int64_t end = integer(array->buffers[1], width, true, slot + 1);
    if (end == start) {
      fputc('x', file);
      return;
    }
    write_hex(file, (const uint8_t *)array->buffers[2] + start, end - start);
  } else {
    size_t width = fixed_width(format);
    if (width == 0)
      fputc('x', file);
    else
      write_hex(file, (const uint8_t *)array->buffers[1] + (size_t)slot * width, (int64_t)width);
  }
}

static void write_value(FILE *file, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t row) {
  int64_t slot = array->offset + row;
  const char *format = schema->format;
  bool bitmap = strncmp(format, "+u", 2) != 0 && strcmp(format, "+r") != 0;
  if (format[0] == 'n' || (bitmap && array->null_count != 0 && array->buffers[0] != NULL &&
                           !bit(array->buffers[0], slot))) {
    fputs("null", file);
  } else if (schema->dictionary != NULL && array->dictionary == NULL) {
    write_value(file, schema->dictionary, array, row);
  } else if (schema->dictionary != NULL) {
    int64_t index =
        integer(array->buffers[1], fixed_width(format), strchr("csil", format[0]) != NULL, slot);
    write_value(file, schema->dictionary, array->dictionary, index);
  } else if (format[0] == '+') {
    write_nested(file, schema, array, slot);
  } else {
    write_plain(file, format, array, slot);
  }
}

char *value_text(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (file == NULL) abort();
  write_value(file, schema, array, row);
  if (fclose(file) != 0) abort();
  return text;
}

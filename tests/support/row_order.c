#include "support/row_order.h"

#include <ashuf/ashuf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool bit(const void *bits, int64_t at) {
  return (((const uint8_t *)bits)[at / 8] >> (at % 8) & 1) != 0;
}

static bool is_valid(const struct ArrowArray *array, int64_t row) {
  return array->null_count == 0 || array->buffers[0] == NULL ||
         bit(array->buffers[0], array->offset + row);
}

static size_t width_of(const char *format) {
  const char *bits = format[0] == 'd' ? strrchr(format, ',') : NULL;
  if (format[0] == 'd' && strchr(format, ',') != bits) return (size_t)atoi(bits + 1) / 8;
  if (format[0] == 'd') return 16;
  if (strcmp(format, "tdD") == 0 || strcmp(format, "tts") == 0 || strcmp(format, "ttm") == 0 ||
      strcmp(format, "tiM") == 0)
    return 4;
  if (strchr("cC", format[0]) != NULL) return 1;
  if (strchr("sS", format[0]) != NULL) return 2;
  return strchr("iIf", format[0]) != NULL ? 4 : 8;
}

/* An integer of any width: by its bytes, from the highest. */
static int compare_integers(const uint8_t *a, const uint8_t *b, size_t width, bool has_sign) {
  bool a_negative = has_sign && a[width - 1] >= 0x80;
  bool b_negative = has_sign && b[width - 1] >= 0x80;
  if (a_negative != b_negative) return a_negative ? -1 : 1;
  for (size_t i = width; i-- > 0;)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

static int compare_doubles(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
  return (a > b) - (a < b);
}

static int64_t offset_at(const void *offsets, bool large, int64_t at) {
  return large ? ((const int64_t *)offsets)[at] : ((const int32_t *)offsets)[at];
}

static int compare_strings(const struct ArrowArray *array, bool large, int64_t a, int64_t b) {
  const char *bytes = array->buffers[2];
  int64_t a_start = offset_at(array->buffers[1], large, a);
  int64_t b_start = offset_at(array->buffers[1], large, b);
  int64_t a_size = offset_at(array->buffers[1], large, a + 1) - a_start;
  int64_t b_size = offset_at(array->buffers[1], large, b + 1) - b_start;
  int64_t size = a_size < b_size ? a_size : b_size;
  int order = size == 0 ? 0 : memcmp(bytes + a_start, bytes + b_start, (size_t)size);
  return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static const char *view_bytes(const struct ArrowArray *array, int64_t slot, int32_t *size) {
  const char *view = (const char *)array->buffers[1] + slot * 16;
  int32_t place[2];
  memcpy(size, view, 4);
  memcpy(place, view + 8, 8);
  return *size <= 12 ? view + 4 : (const char *)array->buffers[2 + place[0]] + place[1];
}

static int compare_views(const struct ArrowArray *array, int64_t a, int64_t b) {
  int32_t a_size;
  int32_t b_size;
  const char *a_bytes = view_bytes(array, a, &a_size);
  const char *b_bytes = view_bytes(array, b, &b_size);
  int order = memcmp(a_bytes, b_bytes, (size_t)(a_size < b_size ? a_size : b_size));
  return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static int compare_floats(const uint8_t *values, bool twice, int64_t a, int64_t b) {
  float floats[2];
  double doubles[2];
  if (twice) {
    memcpy(&doubles[0], values + a * 8, 8);
    memcpy(&doubles[1], values + b * 8, 8);
    return compare_doubles(doubles[0], doubles[1]);
  }
  memcpy(&floats[0], values + a * 4, 4);
  memcpy(&floats[1], values + b * 4, 4);
  return compare_doubles((double)floats[0], (double)floats[1]);
}

/* Of valid rows; a and b are slots. */
static int compare_values(const char *format, const struct ArrowArray *array, int64_t a,
                          int64_t b) {
  const uint8_t *values = array->buffers[1];
  if (strchr("uUzZ", format[0]) != NULL)
    return compare_strings(array, format[0] == 'U' || format[0] == 'Z', a, b);
  if (format[0] == 'v') return compare_views(array, a, b);
  if (format[0] == 'b') return bit(values, a) - bit(values, b);
  if (format[0] == 'f' || format[0] == 'g') return compare_floats(values, format[0] == 'g', a, b);
  if (format[0] == 'w') {
    size_t width = (size_t)atoi(format + 2);
    return width == 0 ? 0 : memcmp(values + (size_t)a * width, values + (size_t)b * width, width);
  }
  size_t width = width_of(format);
  return compare_integers(values + (size_t)a * width, values + (size_t)b * width, width,
                          strchr("CSIL", format[0]) == NULL);
}

static int64_t index_at(const char *format, const struct ArrowArray *array, int64_t row) {
  size_t width = width_of(format);
  int64_t index = 0;
  memcpy(&index, (const uint8_t *)array->buffers[1] + (size_t)(array->offset + row) * width, width);
  return index;
}

/* The run that ends behind a row. */
static int64_t run_at(const struct ArrowSchema *schema, const struct ArrowArray *array,
                      int64_t row) {
  const struct ArrowArray *ends = array->children[0];
  for (int64_t run = 0;; run++)
    if (index_at(schema->children[0]->format, ends, run) > array->offset + row) return run;
}

int row_order(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t a,
              int64_t b, unsigned order) {
  bool descending = (order & ASHUF_ORDER_DESCENDING) != 0;
  bool nulls_last = (order & ASHUF_ORDER_NULLS_LAST) != 0 ||
                    (descending && (order & ASHUF_ORDER_NULLS_FIRST) == 0);
  if (strcmp(schema->format, "+r") == 0) {
    a = run_at(schema, array, a);
    b = run_at(schema, array, b);
    schema = schema->children[1];
    array = array->children[1];
  }
  bool a_valid = is_valid(array, a);
  bool b_valid = is_valid(array, b);
  if (schema->dictionary != NULL) {
    if (a_valid) a = index_at(schema->format, array, a);
    if (b_valid) b = index_at(schema->format, array, b);
    schema = schema->dictionary;
    array = array->dictionary;
    a_valid = a_valid && is_valid(array, a);
    b_valid = b_valid && is_valid(array, b);
  }
  if (!a_valid || !b_valid) {
    int null_order = (a_valid && !b_valid) - (!a_valid && b_valid);
    return nulls_last ? -null_order : null_order;
  }
  int value_order = compare_values(schema->format, array, array->offset + a, array->offset + b);
  return descending ? -value_order : value_order;
}

#include "column.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

/* Formats of one letter. */
static const struct {
  char letter;
  enum kind kind;
  int width;
} letters[] = {
    {'n', KIND_NULL, 0},   {'b', KIND_BOOL, 0},     {'c', KIND_SIGNED, 1}, {'C', KIND_UNSIGNED, 1},
    {'s', KIND_SIGNED, 2}, {'S', KIND_UNSIGNED, 2}, {'i', KIND_SIGNED, 4}, {'I', KIND_UNSIGNED, 4},
    {'l', KIND_SIGNED, 8}, {'L', KIND_UNSIGNED, 8}, {'e', KIND_FLOAT, 2},  {'f', KIND_FLOAT, 4},
    {'g', KIND_FLOAT, 8},  {'u', KIND_UTF8, 4},     {'U', KIND_UTF8, 8},   {'z', KIND_BINARY, 4},
    {'Z', KIND_BINARY, 8},
};

/* Formats that are one word. */
static const struct {
  const char *format;
  enum kind kind;
  int width;
} words[] = {
    {"vu", KIND_UTF8_VIEW, 16},
    {"vz", KIND_BINARY_VIEW, 16},
    {"tdD", KIND_DATE32, 4},
    {"tdm", KIND_DATE64, 8},
    {"tiM", KIND_INTERVAL_MONTHS, 4},
    {"tiD", KIND_INTERVAL_DAY_TIME, 8},
    {"tin", KIND_INTERVAL_MONTH_DAY_NANO, 16},
    {"+l", KIND_LIST, 4},
    {"+L", KIND_LIST, 8},
    {"+vl", KIND_LIST_VIEW, 4},
    {"+vL", KIND_LIST_VIEW, 8},
    {"+s", KIND_STRUCT, 0},
    {"+m", KIND_MAP, 4},
    {"+r", KIND_RUN_ENDS, 0},
};

static int unit_digits(char unit) {
  return unit == 's' ? 0 : unit == 'm' ? 3 : unit == 'u' ? 6 : 9;
}

static void read_decimal(struct column *out, const char *parameters) {
  int precision = 0, scale = 0, bits = 128;
  char *end = NULL;
  precision = (int)strtol(parameters, &end, 10);
  (void)precision;
  if (*end == ',') scale = (int)strtol(end + 1, &end, 10);
  if (*end == ',') bits = (int)strtol(end + 1, &end, 10);
  out->kind = KIND_DECIMAL;
  out->scale = scale;
  out->width = bits / 8;
}

static void read_union(struct column *out, const char *format) {
  out->kind = format[2] == 'd' ? KIND_DENSE_UNION : KIND_SPARSE_UNION;
  out->union_children = must_allocate(128, 1);
  memset(out->union_children, -1, 128);
  const char *at = format + 4;
  for (int child = 0; *at != '\0' && child < 128; child++) {
    char *end = NULL;
    long id = strtol(at, &end, 10);
    if (end == at) return;
    if (id >= 0 && id < 128) out->union_children[id] = (int8_t)child;
    at = *end == ',' ? end + 1 : end;
  }
}

static bool read_time(struct column *out, const char *format) {
  if (format[0] != 't' || format[1] == '\0' || format[2] == '\0') return false;
  out->digits = unit_digits(format[2]);
  out->width = 8;
  if (format[1] == 't') {
    out->kind = KIND_TIME;
    out->width = format[2] == 's' || format[2] == 'm' ? 4 : 8;
  } else if (format[1] == 's') {
    out->kind = KIND_TIMESTAMP;
    if (format[3] == ':' && format[4] != '\0') out->zone = format + 4;
  } else if (format[1] == 'D') {
    out->kind = KIND_DURATION;
  } else {
    return false;
  }
  return true;
}

static void read_format(struct column *out, const char *format) {
  for (size_t i = 0; format[1] == '\0' && i < sizeof letters / sizeof letters[0]; i++)
    if (letters[i].letter == format[0]) {
      out->kind = letters[i].kind;
      out->width = letters[i].width;
      return;
    }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(words[i].format, format) == 0) {
      out->kind = words[i].kind;
      out->width = words[i].width;
      return;
    }
  if (strncmp(format, "d:", 2) == 0) {
    read_decimal(out, format + 2);
  } else if (strncmp(format, "w:", 2) == 0 || strncmp(format, "+w:", 3) == 0) {
    out->kind = format[0] == 'w' ? KIND_FIXED_BINARY : KIND_FIXED_LIST;
    out->width = strtoll(strchr(format, ':') + 1, NULL, 10);
  } else if (strncmp(format, "+ud:", 4) == 0 || strncmp(format, "+us:", 4) == 0) {
    read_union(out, format);
  } else if (!read_time(out, format)) {
    out->kind = KIND_UNKNOWN;
  }
}

void column_init(struct column *out, const struct ArrowSchema *schema) {
  memset(out, 0, sizeof *out);
  out->name = schema->name == NULL ? "" : schema->name;
  read_format(out, schema->format);
  out->n_children = schema->n_children;
  out->children = must_allocate((size_t)schema->n_children, sizeof *out->children);
  for (int64_t i = 0; i < schema->n_children; i++)
    column_init(&out->children[i], schema->children[i]);
  if (schema->dictionary == NULL) return;
  out->dictionary = must_allocate(1, sizeof *out->dictionary);
  column_init(out->dictionary, schema->dictionary);
}

void column_free(struct column *column) {
  for (int64_t i = 0; i < column->n_children; i++) column_free(&column->children[i]);
  if (column->dictionary != NULL) column_free(column->dictionary);
  free(column->children);
  free(column->dictionary);
  free(column->union_children);
  memset(column, 0, sizeof *column);
}

bool column_is_number(const struct column *column) {
  if (column->dictionary != NULL) return column_is_number(column->dictionary);
  if (column->kind == KIND_RUN_ENDS) return column_is_number(&column->children[1]);
  return column->kind >= KIND_SIGNED && column->kind <= KIND_DECIMAL;
}

static bool same_name(const struct ArrowSchema *a, const struct ArrowSchema *b) {
  return strcmp(a->name == NULL ? "" : a->name, b->name == NULL ? "" : b->name) == 0;
}

static bool same_type(const struct ArrowSchema *a, const struct ArrowSchema *b) {
  if (a->dictionary != NULL) return same_type(a->dictionary, b);
  if (b->dictionary != NULL) return same_type(a, b->dictionary);
  if (strcmp(a->format, b->format) != 0 || a->n_children != b->n_children) return false;
  for (int64_t i = 0; i < a->n_children; i++)
    if (!same_name(a->children[i], b->children[i]) || !same_type(a->children[i], b->children[i]))
      return false;
  return true;
}

int64_t columns_differ(const struct ArrowSchema *a, const struct ArrowSchema *b) {
  int64_t n = a->n_children < b->n_children ? a->n_children : b->n_children;
  for (int64_t i = 0; i < n; i++)
    if (!same_name(a->children[i], b->children[i]) || !same_type(a->children[i], b->children[i]))
      return i;
  return a->n_children == b->n_children ? -1 : n;
}

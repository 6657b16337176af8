#include "support/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXTS 256

/* Values of one column as texts. */
struct texts {
  char *text[MAX_TEXTS];
  int n;
};

static void texts_add(struct texts *texts, const char *from, size_t size) {
  if (texts->n == MAX_TEXTS) abort();
  texts->text[texts->n++] = strndup(from, size);
}

static void texts_free(struct texts *texts) {
  for (int i = 0; i < texts->n; i++) free(texts->text[i]);
  texts->n = 0;
}

/* The parts of from[0, size) at separators outside any bracket; none of an empty text. */
static void split(const char *from, size_t size, char separator, struct texts *out) {
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < size; i++) {
    depth += strchr("[{<(", from[i]) != NULL;
    depth -= strchr("]})>", from[i]) != NULL;
    if (depth != 0 || from[i] != separator) continue;
    texts_add(out, from + start, i - start);
    start = i + 1;
  }
  if (size != 0) texts_add(out, from + start, size - start);
}

/* What stands between the first bracket and the last byte. */
static void split_inner(const char *text, char separator, struct texts *out) {
  const char *open = text + strcspn(text, "[{<(");
  split(open + 1, strlen(open) - 2, separator, out);
}

static char *valid_of(const struct texts *values) {
  char *valid = calloc((size_t)values->n + 1, 1);
  for (int i = 0; i < values->n; i++) valid[i] = strcmp(values->text[i], "null") == 0 ? '0' : '1';
  return valid;
}

static bool build(const char *name, const char *type, const struct texts *values,
                  enum vector_layout layout, struct test_column *out);

/* ---- Plain values ------------------------------------------------------------------------- */

static void parse_wide(const char *text, uint8_t *out, size_t width) {
  bool negative = *text == '-';
  unsigned __int128 value = 0;
  for (text += negative; *text >= '0' && *text <= '9'; text++)
    value = value * 10 + (unsigned)(*text - '0');
  if (negative) value = -value;
  memset(out, negative ? 0xff : 0, width);
  memcpy(out, &value, width < sizeof value ? width : sizeof value);
}

static void parse_interval(const char *text, uint8_t *out) {
  struct texts parts = {.n = 0};
  split_inner(text, ';', &parts);
  int32_t months = atoi(parts.text[0]);
  int32_t days = atoi(parts.text[1]);
  int64_t nanos = strtoll(parts.text[2], NULL, 10) * 1000;
  memcpy(out, &months, 4);
  memcpy(out + 4, &days, 4);
  memcpy(out + 8, &nanos, 8);
  texts_free(&parts);
}

static void parse_number(const char *text, uint8_t *out, size_t width) {
  if (strncmp(text, "0x", 2) == 0) {
    uint64_t bits = strtoull(text, NULL, 16);
    memcpy(out, &bits, width);
  } else if (*text == '(') {
    parse_interval(text, out);
  } else {
    parse_wide(text, out, width);
  }
}

/* Garbage lies under nulls. */
static struct test_column build_fixed(const char *name, const char *format, size_t width,
                                      const struct texts *values, const char *valid) {
  uint8_t *bytes = malloc((size_t)values->n * width + 1);
  memset(bytes, 0x5a, (size_t)values->n * width);
  for (int i = 0; i < values->n; i++)
    if (valid[i] == '1') parse_number(values->text[i], bytes + (size_t)i * width, width);
  struct test_column column = column_fixed(name, format, width, bytes, valid, values->n);
  free(bytes);
  return column;
}

static struct test_column build_bools(const char *name, const struct texts *values,
                                      const char *valid) {
  char *digits = calloc((size_t)values->n + 1, 1);
  for (int i = 0; i < values->n; i++) digits[i] = strcmp(values->text[i], "false") == 0 ? '0' : '1';
  struct test_column column = column_bools(name, digits, valid);
  free(digits);
  return column;
}

static struct test_column build_bytes(const char *name, const char *format,
                                      const struct texts *values, const char *valid) {
  int64_t offsets[MAX_TEXTS + 1] = {0};
  char bytes[4096];
  int64_t at = 0;
  for (int i = 0; i < values->n; i++) {
    const char *hex = valid[i] == '1' ? values->text[i] + 2 : "776f726e";
    for (; *hex != '\0'; hex += 2) {
      unsigned byte;
      if (at == sizeof bytes || sscanf(hex, "%2x", &byte) != 1) abort();
      bytes[at++] = (char)byte;
    }
    offsets[i + 1] = at;
  }
  return column_bytes(name, format, offsets, bytes, valid, values->n);
}

static const struct {
  const char *type;
  const char *format;
  size_t width;
} plain[] = {{"i8", "c", 1},     {"i16", "s", 2},   {"i32", "i", 4},    {"i64", "l", 8},
             {"f32", "f", 4},    {"f64", "g", 8},   {"date", "tdD", 4}, {"ts", "tsu:UTC", 8},
             {"time", "ttn", 8}, {"ymi", "tiM", 4}, {"dti", "tDu", 8},  {"cal", "tin", 16}};

static bool build_plain(const char *name, const char *type, const struct texts *values,
                        const char *valid, enum vector_layout layout, struct test_column *out) {
  bool large = layout == VECTOR_LARGE;
  char format[32];
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    if (strcmp(type, plain[i].type) != 0) continue;
    *out = build_fixed(name, plain[i].format, plain[i].width, values, valid);
    return true;
  }
  if (strncmp(type, "dec:", 4) == 0) {
    snprintf(format, sizeof format, "d:%s,0%s", type + 4, large ? ",256" : "");
    *out = build_fixed(name, format, large ? 32 : 16, values, valid);
  } else if (strcmp(type, "bool") == 0) {
    *out = build_bools(name, values, valid);
  } else if (strcmp(type, "str") == 0) {
    *out = build_bytes(name, large ? "U" : "u", values, valid);
  } else if (strcmp(type, "bin") == 0) {
    *out = build_bytes(name, large ? "Z" : "z", values, valid);
  } else if (strcmp(type, "null") == 0) {
    *out = column_nulls(name, values->n);
  } else {
    return false;
  }
  return true;
}

/* The same values behind indices; a null is a null index with garbage under it. */
static struct test_column encode(struct test_column values, const char *name, const char *valid,
                                 int64_t n) {
  int64_t indices[MAX_TEXTS];
  for (int64_t i = 0; i < n; i++) indices[i] = valid[i] == '1' ? i : 1000;
  return column_dictionary(name, "i", indices, valid, n, values);
}

/* ---- Nested values ------------------------------------------------------------------------ */

static bool build_list(const char *name, const char *type, const struct texts *values,
                       const char *valid, enum vector_layout layout, struct test_column *out) {
  struct texts item_types = {.n = 0};
  struct texts items = {.n = 0};
  int64_t offsets[MAX_TEXTS + 1] = {0};
  for (int i = 0; i < values->n; i++) {
    if (valid[i] == '1') split_inner(values->text[i], ';', &items);
    offsets[i + 1] = items.n;
  }
  split_inner(type, ';', &item_types);
  struct test_column child;
  bool built = build("item", item_types.text[0], &items, layout, &child);
  if (built)
    *out =
        column_list(name, layout == VECTOR_LARGE ? "+L" : "+l", offsets, valid, values->n, child);
  texts_free(&item_types);
  texts_free(&items);
  return built;
}

/* Field number of all values, which are structs split at separator. */
static bool build_field(const char *name, const char *type, const struct texts *values,
                        char separator, int number, enum vector_layout layout,
                        struct test_column *out) {
  struct texts fields = {.n = 0};
  for (int i = 0; i < values->n; i++) {
    struct texts parts = {.n = 0};
    const char *text = values->text[i];
    if (separator == '=')
      split(text, strlen(text), '=', &parts);
    else if (*text == '{')
      split_inner(text, ';', &parts);
    const char *field = parts.n > number ? parts.text[number] : "null";
    texts_add(&fields, field, strlen(field));
    texts_free(&parts);
  }
  bool built = build(name, type, &fields, layout, out);
  texts_free(&fields);
  return built;
}

static bool build_struct(const char *name, const char *type, const struct texts *values,
                         const char *valid, char separator, enum vector_layout layout,
                         struct test_column *out) {
  struct texts types = {.n = 0};
  struct test_column fields[8];
  split_inner(type, ';', &types);
  int built = 0;
  for (; built < types.n; built++)
    if (!build_field(built == 0 ? "a" : "b", types.text[built], values, separator, built, layout,
                     &fields[built]))
      break;
  bool all = built == types.n;
  if (all)
    *out = column_struct(name, valid, values->n, fields, types.n);
  else
    while (built-- > 0) column_free(&fields[built]);
  texts_free(&types);
  return all;
}

static bool build_map(const char *name, const char *type, const struct texts *values,
                      const char *valid, enum vector_layout layout, struct test_column *out) {
  struct texts entries = {.n = 0};
  int64_t offsets[MAX_TEXTS + 1] = {0};
  for (int i = 0; i < values->n; i++) {
    if (valid[i] == '1') split_inner(values->text[i], ';', &entries);
    offsets[i + 1] = entries.n;
  }
  struct test_column child;
  bool built = build_struct("entries", type, &entries, NULL, '=', layout, &child);
  if (built) {
    child.schema.flags = 0;
    child.schema.children[0]->flags = 0;
    *out = column_list(name, "+m", offsets, valid, values->n, child);
  }
  texts_free(&entries);
  return built;
}

static bool build(const char *name, const char *type, const struct texts *values,
                  enum vector_layout layout, struct test_column *out) {
  char *valid = valid_of(values);
  bool built;
  bool is_null = strcmp(type, "null") == 0;
  if (strncmp(type, "list<", 5) == 0) {
    built = build_list(name, type, values, valid, layout, out);
  } else if (strncmp(type, "struct<", 7) == 0) {
    built = build_struct(name, type, values, valid, ';', layout, out);
  } else if (strncmp(type, "map<", 4) == 0) {
    built = build_map(name, type, values, valid, layout, out);
  } else {
    built = build_plain(name, type, values, valid, layout, out);
    if (built && layout == VECTOR_DICTIONARY && !is_null)
      *out = encode(*out, name, valid, values->n);
  }
  free(valid);
  return built;
}

bool vector_column(const char *type, const char *value, enum vector_layout layout,
                   struct test_column *out) {
  struct texts values = {.n = 0};
  texts_add(&values, value, strlen(value));
  bool built = build("c", type, &values, layout, out);
  texts_free(&values);
  return built;
}

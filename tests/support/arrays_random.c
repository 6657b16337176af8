#include "support/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const test_types[] = {"n",
                                  "b",
                                  "c",
                                  "C",
                                  "s",
                                  "S",
                                  "i",
                                  "I",
                                  "l",
                                  "L",
                                  "e",
                                  "f",
                                  "g",
                                  "d:9,2,32",
                                  "d:18,2,64",
                                  "d:18,2",
                                  "d:38,10",
                                  "d:76,5,256",
                                  "tdD",
                                  "tdm",
                                  "tts",
                                  "ttm",
                                  "ttu",
                                  "ttn",
                                  "tss:",
                                  "tsm:UTC",
                                  "tsu:UTC",
                                  "tsn:",
                                  "tDs",
                                  "tDm",
                                  "tDu",
                                  "tDn",
                                  "tiM",
                                  "tiD",
                                  "tin",
                                  "w:0",
                                  "w:1",
                                  "w:3",
                                  "w:16",
                                  "w:100",
                                  "z",
                                  "Z",
                                  "u",
                                  "U",
                                  "list(i)",
                                  "large_list(u)",
                                  "list(n)",
                                  "list(list(b))",
                                  "map(u,l)",
                                  "fixed_list:3(i)",
                                  "fixed_list:0(i)",
                                  "fixed_list:2(u)",
                                  "struct(i,u,b)",
                                  "struct()",
                                  "struct(struct(l,list(u)),fixed_list:2(b))",
                                  "list(struct(b,u))",
                                  "dict:i(u)",
                                  "dict:c(u)",
                                  "dict:C(i)",
                                  "dict:s(w:3)",
                                  "dict:S(z)",
                                  "dict:I(b)",
                                  "dict:l(l)",
                                  "dict:L(d:38,10)",
                                  "list(dict:i(u))",
                                  "struct(dict:c(u),i)",
                                  "dict:i(struct(i,u))",
                                  "dict:i(list(u))",
                                  "dict:i(fixed_list:2(i))",
                                  "vu",
                                  "vz",
                                  "list_view(i)",
                                  "large_list_view(vu)",
                                  "sparse(i,u)",
                                  "dense(i,vu,list(b))",
                                  "dense(n)",
                                  "runs:s(i)",
                                  "runs:i(vu)",
                                  "runs:l(u)",
                                  "list(vu)",
                                  "map(u,vz)",
                                  "list(runs:i(u))",
                                  "list_view(list_view(u))",
                                  "fixed_list:2(list_view(vu))",
                                  "fixed_list:2(sparse(c,dense(l,u)))",
                                  "struct(vu,sparse(i,b),runs:s(b),list_view(u))",
                                  "list(dense(i,u))",
                                  "dense(struct(vu,i),dict:c(u),runs:s(l))",
                                  "sparse(dict:i(vu),list(i))",
                                  "runs:i(dict:c(u))",
                                  "runs:s(struct(i,vu))",
                                  "runs:i(list_view(u))",
                                  "runs:i(dense(i,u))",
                                  "runs:i(runs:s(i))",
                                  "dict:i(vu)",
                                  "dict:c(vz)",
                                  "dict:s(list_view(u))",
                                  "dict:i(runs:i(u))",
                                  "dict:i(struct(sparse(i,u),dense(vu,b)))",
                                  "list(dict:i(vu))",
                                  "fixed_list:3(dict:c(u))",
                                  "map(dict:s(u),dict:i(vu))",
                                  "list_view(dict:i(u))",
                                  "dict:i(struct(dict:s(u),i))",
                                  "dict:s(list(dict:i(vu)))",
                                  NULL};

uint64_t random_next(struct test_random *random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

int64_t random_below(struct test_random *random, int64_t below) {
  return (int64_t)(random_next(random) % (uint64_t)below);
}

static void *must(void *pointer) {
  if (pointer == NULL) abort();
  return pointer;
}

/* A place in the text of a type, and what the column below it shall be like. */
struct maker {
  const char *at;
  struct test_random *random;
  int null_percent;
};

static struct test_column make(struct maker *maker, const char *name, int64_t n);

static bool accept(struct maker *maker, const char *word) {
  size_t size = strlen(word);
  if (strncmp(maker->at, word, size) != 0) return false;
  maker->at += size;
  return true;
}

/* A format runs to the end, or to a bracket; a comma ends it unless a digit follows ("d:9,2"). */
static const char *take_format(struct maker *maker, char *room, size_t capacity) {
  size_t size = 0;
  bool decimal = maker->at[0] == 'd';
  while (maker->at[size] != '\0' && maker->at[size] != ')' && (maker->at[size] != ',' || decimal))
    size++;
  if (size >= capacity) abort();
  memcpy(room, maker->at, size);
  room[size] = '\0';
  maker->at += size;
  return room;
}

static char *random_valid(struct maker *maker, int64_t n) {
  if (maker->null_percent == 0) return NULL;
  char *valid = must(malloc((size_t)n + 1));
  for (int64_t i = 0; i < n; i++)
    valid[i] = random_below(maker->random, 100) < maker->null_percent ? '0' : '1';
  valid[n] = '\0';
  return valid;
}

static size_t width_of(const char *format) {
  int bits;
  if (sscanf(format, "d:%*d,%*d,%d", &bits) == 1) return (size_t)bits / 8;
  if (format[0] == 'd') return 16;
  if (format[0] == 'w') return (size_t)atoi(format + 2);
  if (strcmp(format, "tin") == 0) return 16;
  if (strcmp(format, "tdD") == 0 || strncmp(format, "tts", 3) == 0 ||
      strncmp(format, "ttm", 3) == 0 || strcmp(format, "tiM") == 0)
    return 4;
  if (strchr("cC", format[0]) != NULL) return 1;
  if (strchr("sSe", format[0]) != NULL) return 2;
  return strchr("iIf", format[0]) != NULL ? 4 : 8;
}

static struct test_column make_fixed(struct maker *maker, const char *name, const char *format,
                                     const char *valid, int64_t n) {
  size_t width = width_of(format);
  uint8_t *values = must(malloc((size_t)n * width + 1));
  for (size_t i = 0; i < (size_t)n * width; i++) values[i] = (uint8_t)random_next(maker->random);
  struct test_column column = column_fixed(name, format, width, values, valid, n);
  free(values);
  return column;
}

/* Mostly short ones, some empty, a few long. */
static int64_t random_size(struct test_random *random) {
  switch (random_below(random, 8)) {
    case 0:
      return 0;
    case 1:
      return random_below(random, 120);
    default:
      return random_below(random, 20);
  }
}

static struct test_column make_bytes(struct maker *maker, const char *name, const char *format,
                                     const char *valid, int64_t n) {
  int64_t *offsets = must(malloc(((size_t)n + 1) * sizeof *offsets));
  offsets[0] = random_below(maker->random, 3);
  for (int64_t i = 0; i < n; i++) offsets[i + 1] = offsets[i] + random_size(maker->random);
  char *bytes = must(malloc((size_t)offsets[n] + 1));
  for (int64_t i = 0; i < offsets[n]; i++) bytes[i] = (char)('a' + random_below(maker->random, 26));
  struct test_column column = column_bytes(name, format, offsets, bytes, valid, n);
  free(offsets);
  free(bytes);
  return column;
}

static struct test_column make_bools(struct maker *maker, const char *name, const char *valid,
                                     int64_t n) {
  char *values = must(malloc((size_t)n + 1));
  for (int64_t i = 0; i < n; i++) values[i] = (char)('0' + random_below(maker->random, 2));
  values[n] = '\0';
  struct test_column column = column_bools(name, values, valid);
  free(values);
  return column;
}

static struct test_column make_entries(struct maker *maker, int64_t n) {
  struct test_column pair[2];
  int nulls = maker->null_percent;
  maker->null_percent = 0;
  pair[0] = make(maker, "key", n);
  pair[0].schema.flags = 0;
  maker->null_percent = nulls;
  if (!accept(maker, ",")) abort();
  pair[1] = make(maker, "value", n);
  struct test_column entries = column_struct("entries", NULL, n, pair, 2);
  entries.schema.flags = 0;
  return entries;
}

static struct test_column make_list(struct maker *maker, const char *name, const char *format,
                                    const char *valid, int64_t n) {
  int64_t *offsets = must(malloc(((size_t)n + 1) * sizeof *offsets));
  offsets[0] = random_below(maker->random, 3);
  for (int64_t i = 0; i < n; i++) offsets[i + 1] = offsets[i] + random_below(maker->random, 5);
  int64_t rows = offsets[n] + random_below(maker->random, 2);
  struct test_column child =
      strcmp(format, "+m") == 0 ? make_entries(maker, rows) : make(maker, "item", rows);
  struct test_column column = column_list(name, format, offsets, valid, n, child);
  free(offsets);
  if (!accept(maker, ")")) abort();
  return column;
}

static struct test_column make_fixed_list(struct maker *maker, const char *name, const char *valid,
                                          int64_t n) {
  char *end;
  int32_t size = (int32_t)strtol(maker->at, &end, 10);
  maker->at = end;
  if (!accept(maker, "(")) abort();
  struct test_column child = make(maker, "item", n * size);
  if (!accept(maker, ")")) abort();
  return column_fixed_list(name, size, valid, n, child);
}

static struct test_column make_struct(struct maker *maker, const char *name, const char *valid,
                                      int64_t n) {
  struct test_column children[8];
  int64_t n_children = 0;
  while (!accept(maker, ")")) {
    char child[16];
    accept(maker, ",");
    snprintf(child, sizeof child, "f%d", (int)n_children);
    children[n_children++] = make(maker, child, n);
  }
  return column_struct(name, valid, n, children, n_children);
}

/* Views of any order and overlap into a few buffers; garbage under nulls. */
static struct test_column make_views(struct maker *maker, const char *name, const char *format,
                                     const char *valid, int64_t n) {
  int64_t sizes[3] = {300, 0, 150};
  const void *buffers[3];
  char bytes[300];
  for (int i = 0; i < 300; i++) bytes[i] = (char)('a' + random_below(maker->random, 3));
  for (int i = 0; i < 3; i++) buffers[i] = bytes;
  int64_t n_buffers = random_below(maker->random, 4);
  uint8_t *views = must(calloc((size_t)n + 1, 16));
  for (int64_t i = 0; i < n; i++) {
    uint8_t *view = views + i * 16;
    int32_t size = (int32_t)random_size(maker->random);
    if (size > 12 && n_buffers == 0) size = 12;
    int32_t buffer = n_buffers == 3 ? (int32_t)random_below(maker->random, 2) * 2 : 0;
    int32_t offset = (int32_t)random_below(maker->random, sizes[buffer] - size + 1);
    memcpy(view, &size, 4);
    memcpy(view + 4, bytes + offset, size > 12 ? 4 : (size_t)size);
    if (size > 12) memcpy(view + 8, &buffer, 4);
    if (size > 12) memcpy(view + 12, &offset, 4);
    for (int k = 0; valid != NULL && valid[i] == '0' && k < 16; k++)
      view[k] = (uint8_t)random_next(maker->random);
  }
  struct test_column column =
      column_views(name, format, views, valid, n, buffers, sizes, n_buffers);
  free(views);
  return column;
}

static struct test_column make_list_view(struct maker *maker, const char *name, const char *format,
                                         const char *valid, int64_t n) {
  int64_t *offsets = must(malloc(((size_t)n + 1) * sizeof *offsets));
  int64_t *sizes = must(malloc(((size_t)n + 1) * sizeof *sizes));
  int64_t rows = random_below(maker->random, 2 * n + 5);
  for (int64_t i = 0; i < n; i++) {
    bool garbage = valid != NULL && valid[i] == '0';
    sizes[i] = random_below(maker->random, rows < 4 ? rows + 1 : 5);
    offsets[i] = random_below(maker->random, rows - sizes[i] + 1);
    if (garbage) sizes[i] = (int64_t)random_next(maker->random);
    if (garbage) offsets[i] = (int64_t)random_next(maker->random);
  }
  struct test_column child = make(maker, "item", rows);
  struct test_column column = column_list_view(name, format, offsets, sizes, valid, n, child);
  free(offsets);
  free(sizes);
  if (!accept(maker, ")")) abort();
  return column;
}

/* Type ids 0, 5, 10 ...; rows of dense children in any order, more than once or not at all. */
static struct test_column make_union(struct maker *maker, const char *name, bool dense, int64_t n) {
  struct test_column children[8];
  int64_t rows[8];
  int64_t n_children = 0;
  char format[64];
  int size = snprintf(format, sizeof format, dense ? "+ud:" : "+us:");
  while (!accept(maker, ")")) {
    char child[16];
    accept(maker, ",");
    snprintf(child, sizeof child, "f%d", (int)n_children);
    size += snprintf(format + size, sizeof format - (size_t)size, "%s%d",
                     n_children == 0 ? "" : ",", (int)n_children * 5);
    rows[n_children] = dense ? 1 + random_below(maker->random, n + 1) : n;
    children[n_children] = make(maker, child, rows[n_children]);
    n_children++;
  }
  int8_t *ids = must(malloc((size_t)n + 1));
  int32_t *offsets = must(malloc(((size_t)n + 1) * sizeof *offsets));
  for (int64_t i = 0; i < n; i++) {
    int64_t child = random_below(maker->random, n_children);
    ids[i] = (int8_t)(child * 5);
    offsets[i] = (int32_t)random_below(maker->random, rows[child] + (rows[child] == 0));
  }
  struct test_column column =
      column_union(name, format, ids, dense ? offsets : NULL, n, children, n_children);
  free(ids);
  free(offsets);
  return column;
}

/* The last run may reach past the rows; values beyond the runs are there. */
static struct test_column make_runs(struct maker *maker, const char *name, int64_t n) {
  char format[2] = {*maker->at++, '\0'};
  if (!accept(maker, "(")) abort();
  int64_t *ends = must(malloc(((size_t)n + 1) * sizeof *ends));
  int64_t n_runs = 0;
  for (int64_t end = 0; end < n; n_runs++) ends[n_runs] = end += 1 + random_below(maker->random, 6);
  struct test_column values = make(maker, "values", n_runs + random_below(maker->random, 2));
  struct test_column column = column_runs(name, format, ends, n_runs, n, values);
  free(ends);
  if (!accept(maker, ")")) abort();
  return column;
}

static struct test_column make_dictionary(struct maker *maker, const char *name, const char *valid,
                                          int64_t n) {
  char format[2] = {*maker->at++, '\0'};
  int64_t size = 1 + random_below(maker->random, 20);
  if (!accept(maker, "(")) abort();
  int64_t *indices = must(malloc(((size_t)n + 1) * sizeof *indices));
  for (int64_t i = 0; i < n; i++)
    indices[i] = valid != NULL && valid[i] == '0' ? (int64_t)random_next(maker->random)
                                                  : random_below(maker->random, size);
  struct test_column values = make(maker, "", size);
  struct test_column column = column_dictionary(name, format, indices, valid, n, values);
  free(indices);
  if (!accept(maker, ")")) abort();
  return column;
}

static struct test_column make_kind(struct maker *maker, const char *name, const char *valid,
                                    int64_t n) {
  char format[32];
  if (accept(maker, "list(")) return make_list(maker, name, "+l", valid, n);
  if (accept(maker, "large_list(")) return make_list(maker, name, "+L", valid, n);
  if (accept(maker, "map(")) return make_list(maker, name, "+m", valid, n);
  if (accept(maker, "fixed_list:")) return make_fixed_list(maker, name, valid, n);
  if (accept(maker, "struct(")) return make_struct(maker, name, valid, n);
  if (accept(maker, "list_view(")) return make_list_view(maker, name, "+vl", valid, n);
  if (accept(maker, "large_list_view(")) return make_list_view(maker, name, "+vL", valid, n);
  if (accept(maker, "sparse(")) return make_union(maker, name, false, n);
  if (accept(maker, "dense(")) return make_union(maker, name, true, n);
  if (accept(maker, "runs:")) return make_runs(maker, name, n);
  if (accept(maker, "dict:")) return make_dictionary(maker, name, valid, n);
  take_format(maker, format, sizeof format);
  if (strcmp(format, "n") == 0) return column_nulls(name, n);
  if (strcmp(format, "b") == 0) return make_bools(maker, name, valid, n);
  if (format[0] == 'v') return make_views(maker, name, format, valid, n);
  if (strchr("zZuU", format[0]) != NULL) return make_bytes(maker, name, format, valid, n);
  return make_fixed(maker, name, format, valid, n);
}

static struct test_column make(struct maker *maker, const char *name, int64_t n) {
  static const int64_t offsets[] = {0, 0, 1, 3, 7, 8, 9, 13};
  int64_t before = offsets[random_below(maker->random, 8)];
  int64_t rows = before + n + random_below(maker->random, 3);
  char *valid = random_valid(maker, rows);
  struct test_column column = make_kind(maker, name, valid, rows);
  column_slice(&column, before, n);
  free(valid);
  return column;
}

struct test_column column_random(const char *name, const char *type, struct test_random *random,
                                 int null_percent, int64_t n) {
  struct maker maker = {type, random, null_percent};
  struct test_column column = make(&maker, name, n);
  if (*maker.at != '\0') abort();
  return column;
}

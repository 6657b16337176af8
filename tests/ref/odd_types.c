#include "ref/odd_int.h"

#include <stdlib.h>
#include <string.h>

static int pick(struct test_random *random, const int *from, int n) {
  return from[random_below(random, n)];
}

static struct odd_type *new_type(int tag) {
  struct odd_type *type = calloc(1, sizeof *type);
  if (type == NULL) abort();
  type->tag = tag;
  return type;
}

void odd_type_free(struct odd_type *type) {
  for (int i = 0; i < type->n_children; i++) odd_type_free(type->children[i]);
  free(type);
}

static void add_child(struct odd_type *type, struct odd_type *child) {
  type->children[type->n_children++] = child;
}

static struct odd_type *run_ends_type(struct test_random *random) {
  struct odd_type *ends = new_type(ODD_INT);
  ends->is_signed = true;
  ends->width = 2 << random_below(random, 3);
  return ends;
}

static struct odd_type *entries_type(struct test_random *random, int depth, bool late) {
  struct odd_type *entries = new_type(ODD_STRUCT), *key;
  do { /* of a kind without nulls of its own */
    key = odd_type_random(random, depth, late);
    if (key->tag != ODD_NULL && !key->has_dictionary) break;
    odd_type_free(key);
  } while (true);
  entries->never_null = key->never_null = true;
  add_child(entries, key);
  add_child(entries, odd_type_random(random, depth, late));
  return entries;
}

static void set_children(struct test_random *random, struct odd_type *type, int depth, bool late) {
  int n = type->tag == ODD_STRUCT  ? (int)random_below(random, 4)
          : type->tag == ODD_UNION ? 1 + (int)random_below(random, 3)
                                   : 1;
  if (type->tag == ODD_RUN_ENDS) add_child(type, run_ends_type(random));
  if (type->tag == ODD_MAP)
    add_child(type, entries_type(random, depth, late));
  else
    for (int i = 0; i < n; i++) add_child(type, odd_type_random(random, depth, late));
  type->counted_ids = odd_chance(random, 2);
  for (int i = 0; i < n; i++) type->ids[i] = type->counted_ids ? i : 127 - 7 * i;
}

static void set_parameters(struct test_random *random, struct odd_type *type) {
  static const int interval[] = {4, 8, 16};
  type->unit = (int)random_below(random, 4);
  type->dense = odd_chance(random, 2);
  type->size = (int)random_below(random, 5);
  switch (type->tag) {
    case ODD_INT:
      type->width = 1 << random_below(random, 4);
      type->is_signed = odd_chance(random, 2);
      return;
    case ODD_FLOAT:
      type->unit = (int)random_below(random, 3);
      type->width = 2 << type->unit;
      return;
    case ODD_DECIMAL:
      type->width = 4 << random_below(random, 4);
      return;
    case ODD_DATE:
      type->unit &= 1;
      type->width = type->unit == 0 ? 4 : 8;
      return;
    case ODD_TIME:
      type->width = type->unit < 2 ? 4 : 8;
      return;
    case ODD_INTERVAL:
      type->unit = (int)random_below(random, 3);
      type->width = interval[type->unit];
      return;
    case ODD_FIXED_BINARY:
      type->width = type->size;
      return;
    case ODD_TIMESTAMP:
    case ODD_DURATION:
    case ODD_LARGE_BINARY:
    case ODD_LARGE_UTF8:
    case ODD_LARGE_LIST:
    case ODD_LARGE_LIST_VIEW:
      type->width = 8;
      return;
    default:
      type->width = 4;
  }
}

struct odd_type *odd_type_random(struct test_random *random, int depth, bool late) {
  static const int leaves[] = {
      ODD_NULL,     ODD_INT,          ODD_INT,      ODD_FLOAT,        ODD_BINARY,    ODD_UTF8,
      ODD_UTF8,     ODD_BOOL,         ODD_DECIMAL,  ODD_DATE,         ODD_TIME,      ODD_TIMESTAMP,
      ODD_INTERVAL, ODD_FIXED_BINARY, ODD_DURATION, ODD_LARGE_BINARY, ODD_LARGE_UTF8};
  static const int nested[] = {ODD_LIST, ODD_STRUCT, ODD_FIXED_LIST, ODD_MAP, ODD_LARGE_LIST};
  static const int late_leaves[] = {ODD_BINARY_VIEW, ODD_UTF8_VIEW};
  static const int late_nested[] = {ODD_UNION, ODD_RUN_ENDS, ODD_LIST_VIEW, ODD_LARGE_LIST_VIEW};
  bool is_late = late && odd_chance(random, 3);
  bool is_nested = depth > 0 && odd_chance(random, 3);
  int tag = is_nested ? is_late ? pick(random, late_nested, 4) : pick(random, nested, 5)
            : is_late ? pick(random, late_leaves, 2)
                      : pick(random, leaves, 17);
  struct odd_type *type = new_type(tag);
  set_parameters(random, type);
  if (is_nested) set_children(random, type, depth - 1, late);
  if (odd_chance(random, 8) && tag != ODD_NULL) {
    type->has_dictionary = true;
    type->id = (int64_t)random_next(random);
    type->index_width = 1 << random_below(random, 4);
    type->index_signed = odd_chance(random, 2);
    type->n_values = odd_chance(random, 5) ? 0 : random_below(random, 40);
  }
  return type;
}

bool odd_type_mapped(const struct odd_type *type) {
  if (type->has_dictionary || type->tag == ODD_UNION || type->tag >= ODD_RUN_ENDS) return false;
  for (int i = 0; i < type->n_children; i++)
    if (!odd_type_mapped(type->children[i])) return false;
  return true;
}

/* ---- As FlatBuffers ---------------------------------------------------------------------- */

static struct odd_object *int_table(struct odd_flat *flat, int width, bool is_signed) {
  struct odd_object *table = odd_table(flat);
  odd_scalar(table, 0, 4, 8 * width);
  odd_scalar_or(flat, table, 1, 1, is_signed, 0);
  return table;
}

static void union_table(struct odd_flat *flat, struct odd_object *table,
                        const struct odd_type *type) {
  odd_scalar_or(flat, table, 0, 2, type->dense, 0);
  if (!type->counted_ids || odd_chance(flat->random, 2))
    odd_child(table, 1, odd_raw(flat, type->ids, (size_t)type->n_children, 4, 4));
}

static void decimal_table(struct odd_flat *flat, struct odd_object *table,
                          const struct odd_type *type) {
  int most = type->width == 4 ? 9 : type->width == 8 ? 18 : type->width == 16 ? 38 : 76;
  odd_scalar(table, 0, 4, 1 + random_below(flat->random, most));
  odd_scalar_or(flat, table, 1, 4, random_below(flat->random, 3), 0);
  odd_scalar_or(flat, table, 2, 4, 8 * type->width, 128);
}

static struct odd_object *type_table(struct odd_flat *flat, const struct odd_type *type) {
  if (type->tag == ODD_INT) return int_table(flat, type->width, type->is_signed);
  struct odd_object *table = odd_table(flat);
  switch (type->tag) {
    case ODD_FLOAT:
    case ODD_INTERVAL:
      odd_scalar_or(flat, table, 0, 2, type->unit, 0);
      break;
    case ODD_DATE:
    case ODD_DURATION:
      odd_scalar_or(flat, table, 0, 2, type->unit, 1);
      break;
    case ODD_DECIMAL:
      decimal_table(flat, table, type);
      break;
    case ODD_TIME:
      odd_scalar_or(flat, table, 0, 2, type->unit, 1);
      odd_scalar_or(flat, table, 1, 4, 8 * type->width, 32);
      break;
    case ODD_TIMESTAMP:
      odd_scalar_or(flat, table, 0, 2, type->unit, 0);
      if (odd_chance(flat->random, 2))
        odd_child(table, 1, odd_string(flat, "Europe/Rome", odd_chance(flat->random, 2) ? 11 : 0));
      break;
    case ODD_UNION:
      union_table(flat, table, type);
      break;
    case ODD_FIXED_BINARY:
    case ODD_FIXED_LIST:
      odd_scalar_or(flat, table, 0, 4, type->size, 0);
      break;
    case ODD_MAP:
      odd_scalar_or(flat, table, 0, 1, odd_chance(flat->random, 2), 0);
      break;
    default:
      break;
  }
  return table;
}

/* By chance: pairs, of which some lack a key or a value or come twice. */
static void add_metadata(struct odd_flat *flat, struct odd_object *table, int slot, int chances) {
  if (!odd_chance(flat->random, chances)) return;
  struct odd_object *pairs[3];
  size_t n = (size_t)random_below(flat->random, 4);
  for (size_t i = 0; i < n; i++) {
    pairs[i] = odd_table(flat);
    if (!odd_chance(flat->random, 6)) odd_child(pairs[i], 0, odd_string(flat, "key", 3));
    if (!odd_chance(flat->random, 6)) odd_child(pairs[i], 1, odd_string(flat, "worth", 5));
  }
  odd_child(table, slot, odd_vector(flat, pairs, n));
}

static struct odd_object *dictionary_table(struct odd_flat *flat, const struct odd_type *type) {
  struct odd_object *table = odd_table(flat);
  odd_scalar_or(flat, table, 0, 8, type->id, 0);
  odd_child(table, 1, int_table(flat, type->index_width, type->index_signed));
  odd_scalar_or(flat, table, 2, 1, odd_chance(flat->random, 3), 0);
  odd_scalar_or(flat, table, 3, 2, 0, 0);
  return table;
}

static struct odd_object *field_table(struct odd_flat *flat, const struct odd_type *type) {
  static const char *const names[] = {"a", "b", "item", "entries", "key", "", "caf\xc3\xa9"};
  struct odd_object *children[ODD_MAX_CHILDREN];
  struct odd_object *table = odd_table(flat);
  const char *name = names[random_below(flat->random, 7)];
  for (int i = 0; i < type->n_children; i++) children[i] = field_table(flat, type->children[i]);
  if (!odd_chance(flat->random, 10)) odd_child(table, 0, odd_string(flat, name, strlen(name)));
  odd_scalar_or(flat, table, 1, 1, 1, 0);
  odd_scalar(table, 2, 1, type->tag);
  odd_child(table, 3, type_table(flat, type));
  if (type->has_dictionary) odd_child(table, 4, dictionary_table(flat, type));
  if (type->n_children != 0 || odd_chance(flat->random, 2))
    odd_child(table, 5, odd_vector(flat, children, (size_t)type->n_children));
  add_metadata(flat, table, 6, 6);
  if (odd_chance(flat->random, 12)) odd_scalar(table, 9, 8, -1);
  return table;
}

struct odd_object *odd_schema(struct odd_flat *flat, struct odd_type *const *columns, int n) {
  struct odd_object *fields[16];
  struct odd_object *schema = odd_table(flat);
  for (int i = 0; i < n; i++) fields[i] = field_table(flat, columns[i]);
  odd_scalar_or(flat, schema, 0, 2, 0, 0);
  odd_child(schema, 1, odd_vector(flat, fields, (size_t)n));
  add_metadata(flat, schema, 2, 3);
  if (odd_chance(flat->random, 3)) odd_child(schema, 3, odd_raw(flat, &(int64_t){1}, 1, 8, 8));
  return schema;
}

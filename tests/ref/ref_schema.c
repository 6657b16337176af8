#include "ref/ref_int.h"

static void read_field(struct flat *flat, struct flat_table table, int level,
                       struct ref_field *out);

static int64_t choice(struct flat *flat, struct flat_table table, int slot, int64_t fallback,
                      int64_t last) {
  int64_t value = flat_scalar(flat, table, slot, 2, fallback);
  if (value < 0 || value > last) ref_refuse(flat->ref, "unknown unit or mode");
  return value;
}

static int64_t read_int(struct flat *flat, struct flat_table table, bool *is_signed) {
  int64_t bits = flat_scalar(flat, table, 0, 4, 0);
  *is_signed = flat_scalar(flat, table, 1, 1, 0) != 0;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) ref_refuse(flat->ref, "Int width");
  return bits / 8;
}

static int64_t read_decimal(struct flat *flat, struct flat_table table) {
  int64_t precision = flat_scalar(flat, table, 0, 4, 0);
  int64_t scale = flat_scalar(flat, table, 1, 4, 0);
  int64_t bits = flat_scalar(flat, table, 2, 4, 128);
  int64_t most = bits == 32 ? 9 : bits == 64 ? 18 : bits == 128 ? 38 : bits == 256 ? 76 : 0;
  if (precision < 1 || precision > most || scale < -128 || scale > 127)
    ref_refuse(flat->ref, "Decimal parameters");
  return bits / 8;
}

static int64_t read_time(struct flat *flat, struct flat_table table) {
  int64_t unit = choice(flat, table, 0, 1, 3);
  int64_t bits = flat_scalar(flat, table, 1, 4, 32);
  if (bits != (unit < 2 ? 32 : 64)) ref_refuse(flat->ref, "Time width");
  return bits / 8;
}

static void read_union(struct flat *flat, struct flat_table table, struct ref_field *out) {
  out->dense = choice(flat, table, 0, 0, 1) == 1;
  struct flat_vector ids = flat_vector(flat, table, 1, 4, 4);
  size_t n = out->n_children;
  if ((ids.at != 0 && ids.count != n) || n > 128) ref_refuse(flat->ref, "Union ids");
  bool seen[128] = {false};
  out->type_ids = ref_alloc(flat->ref, n, sizeof *out->type_ids);
  for (size_t i = 0; i < n; i++) {
    int64_t id = ids.at == 0 ? (int64_t)i : ref_load_signed(flat->bytes.data + ids.at + 4 * i, 4);
    if (id < 0 || id > 127 || seen[id]) ref_refuse(flat->ref, "Union id");
    seen[id] = true;
    out->type_ids[i] = id;
  }
}

static int64_t read_size(struct flat *flat, struct flat_table table) {
  int64_t size = flat_scalar(flat, table, 0, 4, 0);
  if (size < 0) ref_refuse(flat->ref, "negative size");
  return size;
}

static void read_parameters(struct flat *flat, struct flat_table table, struct ref_field *out) {
  static const int64_t interval[] = {4, 8, 16};
  switch (out->type) {
    case REF_INT:
      out->width = read_int(flat, table, &out->is_signed);
      return;
    case REF_FLOAT:
      out->width = (int64_t)2 << choice(flat, table, 0, 0, 2);
      return;
    case REF_DECIMAL:
      out->width = read_decimal(flat, table);
      return;
    case REF_DATE:
      out->width = choice(flat, table, 0, 1, 1) == 0 ? 4 : 8;
      return;
    case REF_TIME:
      out->width = read_time(flat, table);
      return;
    case REF_TIMESTAMP:
      choice(flat, table, 0, 0, 3);
      flat_string(flat, table, 1);
      out->width = 8;
      return;
    case REF_INTERVAL:
      out->width = interval[choice(flat, table, 0, 0, 2)];
      return;
    case REF_DURATION:
      choice(flat, table, 0, 1, 3);
      out->width = 8;
      return;
    case REF_FIXED_BINARY:
      out->width = read_size(flat, table);
      return;
    case REF_FIXED_LIST:
      out->list_size = read_size(flat, table);
      return;
    case REF_MAP:
      flat_scalar(flat, table, 0, 1, 0);
      out->width = 4;
      return;
    case REF_UNION:
      read_union(flat, table, out);
      return;
    default:
      out->width = out->type == REF_LARGE_BINARY || out->type == REF_LARGE_UTF8 ||
                           out->type == REF_LARGE_LIST || out->type == REF_LARGE_LIST_VIEW
                       ? 8
                       : 4;
  }
}

static void check_children(struct ref *ref, const struct ref_field *field) {
  const struct ref_field *child = field->children;
  bool is_list = field->type == REF_LIST || field->type == REF_LARGE_LIST ||
                 field->type == REF_FIXED_LIST || field->type == REF_MAP ||
                 field->type == REF_LIST_VIEW || field->type == REF_LARGE_LIST_VIEW;
  bool is_free = field->type == REF_STRUCT || field->type == REF_UNION;
  size_t n = is_list ? 1 : field->type == REF_RUN_ENDS ? 2 : 0;
  if (!is_free && field->n_children != n) ref_refuse(ref, "number of children");
  if (field->type == REF_MAP &&
      (child->type != REF_STRUCT || child->n_children != 2 || child->has_dictionary))
    ref_refuse(ref, "Map without entries");
  if (field->type == REF_RUN_ENDS &&
      (child->type != REF_INT || !child->is_signed || child->width == 1 || child->has_dictionary))
    ref_refuse(ref, "type of run ends");
}

static void read_dictionary(struct flat *flat, struct flat_table table, struct ref_field *out) {
  struct flat_table dictionary = flat_child(flat, table, 4);
  out->has_dictionary = true;
  out->dictionary = flat_scalar(flat, dictionary, 0, 8, 0);
  if (!flat_has(flat, dictionary, 1)) ref_refuse(flat->ref, "index type is missing");
  out->index_width = read_int(flat, flat_child(flat, dictionary, 1), &out->index_signed);
  flat_scalar(flat, dictionary, 2, 1, 0);
  if (flat_scalar(flat, dictionary, 3, 2, 0) != 0) ref_refuse(flat->ref, "dictionary kind");
}

static struct ref_field *read_fields(struct flat *flat, struct flat_table table, int slot,
                                     int level, size_t *n) {
  struct flat_vector vector = flat_vector(flat, table, slot, 4, 4);
  struct ref_field *fields = ref_alloc(flat->ref, vector.count, sizeof *fields);
  *n = vector.count;
  for (size_t i = 0; i < vector.count; i++)
    read_field(flat, flat_element(flat, table, vector, i), level, &fields[i]);
  return fields;
}

static void read_field(struct flat *flat, struct flat_table table, int level,
                       struct ref_field *out) {
  flat_string(flat, table, 0);
  flat_scalar(flat, table, 1, 1, 0);
  flat_check_metadata(flat, table, 6);
  out->type = (uint8_t)flat_scalar(flat, table, 2, 1, 0);
  if (out->type < REF_NULL || out->type > REF_LARGE_LIST_VIEW)
    ref_refuse(flat->ref, "unknown type");
  out->children = read_fields(flat, table, 5, level + 1, &out->n_children);
  read_parameters(flat, flat_child(flat, table, 3), out);
  check_children(flat->ref, out);
  if (flat_has(flat, table, 4)) read_dictionary(flat, table, out);
}

void ref_read_schema(struct flat *flat, struct flat_table message, struct ref_schema *out) {
  struct flat_table schema = flat_child(flat, message, 2);
  if (choice(flat, schema, 0, 0, 1) != 0) ref_refuse(flat->ref, "big-endian");
  if (!flat_has(flat, schema, 1)) ref_refuse(flat->ref, "no fields");
  out->columns = read_fields(flat, schema, 1, 1, &out->n_columns);
  flat_check_metadata(flat, schema, 2);
  flat_vector(flat, schema, 3, 8, 8);
}

bool ref_has_unmapped(const struct ref_field *fields, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (fields[i].has_dictionary || fields[i].type == REF_UNION || fields[i].type >= REF_RUN_ENDS ||
        ref_has_unmapped(fields[i].children, fields[i].n_children))
      return true;
  return false;
}

const struct ref_field *ref_find_dictionary(const struct ref_field *fields, size_t n, int64_t id) {
  for (size_t i = 0; i < n; i++) {
    if (fields[i].has_dictionary && fields[i].dictionary == id) return &fields[i];
    const struct ref_field *below =
        ref_find_dictionary(fields[i].children, fields[i].n_children, id);
    if (below != NULL) return below;
  }
  return NULL;
}

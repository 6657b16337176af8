/*
 * Sealing: every rule a schema has to keep, checked in one walk, so that nothing behind it checks
 * a parameter again. The walk goes no deeper than MAX_FIELD_DEPTH: a field too deep is refused
 * before it is entered. Dictionary values stand at the level of their field.
 */
#include "arrow/schema_int.h"

#include <string.h>

struct sealing {
  ashuf_schema *schema;
  struct ashuf_error *error;
  int64_t next_id;
  int32_t n_fields;
  bool number;
};

/* ---- Rules of one field ------------------------------------------------------------------ */

#define BAD(error, site, ...) error_set(error, ASHUF_BAD_SCHEMA, site, __VA_ARGS__)

static int32_t max_precision(enum arrow_type type) {
  switch (type) {
    case TYPE_DECIMAL32:
      return 9;
    case TYPE_DECIMAL64:
      return 18;
    case TYPE_DECIMAL128:
      return 38;
    default:
      return 76;
  }
}

static ashuf_status check_decimal(const struct field *field, struct ashuf_error *error) {
  int32_t max = max_precision(field->type);
  if (field->precision < 1 || field->precision > max)
    return BAD(error, SITE_SCHEMA_PARAMETER, "%s: precision %d is not in 1 to %d",
               type_info(field->type)->name, field->precision, max);
  if (field->scale < INT8_MIN || field->scale > INT8_MAX)
    return BAD(error, SITE_SCHEMA_PARAMETER, "%s: scale %d is not in -128 to 127",
               type_info(field->type)->name, field->scale);
  return ASHUF_OK;
}

static ashuf_status check_unit(const struct field *field, struct ashuf_error *error) {
  int low = field->type == TYPE_TIME64 ? UNIT_MICRO : UNIT_SECOND;
  int high = field->type == TYPE_TIME32 ? UNIT_MILLI : UNIT_NANO;
  if (field->unit < low || field->unit > high)
    return BAD(error, SITE_SCHEMA_PARAMETER, "%s: time unit %d is not in %d to %d",
               type_info(field->type)->name, field->unit, low, high);
  return ASHUF_OK;
}

static ashuf_status check_union(const struct field *field, struct ashuf_error *error) {
  bool seen[128] = {false};
  if (field->n_children > 0 && field->type_ids == NULL)
    return BAD(error, SITE_SCHEMA_UNION_IDS, "union without type ids");
  for (int32_t i = 0; i < field->n_children; i++) {
    if (field->type_ids[i] < 0)
      return BAD(error, SITE_SCHEMA_UNION_IDS, "union type id %d is below 0", field->type_ids[i]);
    uint8_t id = (uint8_t)field->type_ids[i];
    if (seen[id]) return BAD(error, SITE_SCHEMA_UNION_IDS, "union type id %d occurs twice", id);
    seen[id] = true;
  }
  return ASHUF_OK;
}

static ashuf_status check_map(const struct field *field, struct ashuf_error *error) {
  const struct field *entries = &field->children[0];
  if (entries->type != TYPE_STRUCT || entries->dictionary != NULL || entries->n_children != 2)
    return BAD(error, SITE_SCHEMA_MAP, "the child of a map is not a struct of two fields");
  return ASHUF_OK;
}

static ashuf_status check_run_ends(const struct field *field, struct ashuf_error *error) {
  const struct field *ends = &field->children[0];
  if (ends->type < TYPE_INT16 || ends->type > TYPE_INT64 || ends->dictionary != NULL)
    return BAD(error, SITE_SCHEMA_RUN_ENDS, "run ends are not int16, int32 or int64");
  return ASHUF_OK;
}

static ashuf_status check_size(int32_t size, const char *what, struct ashuf_error *error) {
  if (size < 0) return BAD(error, SITE_SCHEMA_PARAMETER, "%s %d is below 0", what, size);
  return ASHUF_OK;
}

static ashuf_status check_children(const struct field *field, struct ashuf_error *error) {
  int expected = type_info(field->type)->children;
  if (field->n_children < 0 || (expected >= 0 && field->n_children != expected))
    return BAD(error, SITE_SCHEMA_CHILDREN, "%s with %d children, not %d",
               type_info(field->type)->name, field->n_children, expected < 0 ? 0 : expected);
  return ASHUF_OK;
}

static ashuf_status check_parameters(const struct field *field, struct ashuf_error *error) {
  switch (field->type) {
    case TYPE_DECIMAL32:
    case TYPE_DECIMAL64:
    case TYPE_DECIMAL128:
    case TYPE_DECIMAL256:
      return check_decimal(field, error);
    case TYPE_TIME32:
    case TYPE_TIME64:
    case TYPE_TIMESTAMP:
    case TYPE_DURATION:
      return check_unit(field, error);
    case TYPE_FIXED_SIZE_BINARY:
      return check_size(field->byte_width, "byte width", error);
    case TYPE_FIXED_SIZE_LIST:
      return check_size(field->list_size, "list size", error);
    case TYPE_SPARSE_UNION:
    case TYPE_DENSE_UNION:
      return check_union(field, error);
    case TYPE_MAP:
      return check_map(field, error);
    case TYPE_RUN_END_ENCODED:
      return check_run_ends(field, error);
    default:
      return ASHUF_OK;
  }
}

static ashuf_status check_dictionary(const struct field *field, struct ashuf_error *error) {
  if (field->dictionary == NULL) return ASHUF_OK;
  if (!type_is_index(field->type))
    return BAD(error, SITE_SCHEMA_INDEX_TYPE, "dictionary indices of type %s",
               type_info(field->type)->name);
  if (field->dictionary->dictionary != NULL)
    return error_set(error, ASHUF_UNSUPPORTED_TYPE, SITE_SCHEMA_NESTED_DICTIONARY,
                     "dictionary whose values are dictionary-encoded themselves");
  return ASHUF_OK;
}

static ashuf_status check_field(struct sealing *sealing, const struct field *field, int32_t depth) {
  struct ashuf_error *error = sealing->error;
  if (depth > MAX_FIELD_DEPTH)
    return BAD(error, SITE_SCHEMA_DEPTH, "fields are nested deeper than %d levels",
               MAX_FIELD_DEPTH);
  if (++sealing->n_fields > MAX_FIELDS)
    return BAD(error, SITE_SCHEMA_FIELDS, "more than %d fields", MAX_FIELDS);
  if (field->type >= TYPE_COUNT)
    return error_set(error, ASHUF_UNSUPPORTED_TYPE, SITE_SCHEMA_NOT_SUPPORTED, "type number %d",
                     field->type);
  ashuf_status status = check_children(field, error);
  if (status == ASHUF_OK) status = check_parameters(field, error);
  if (status == ASHUF_OK) status = check_dictionary(field, error);
  return status;
}

static void name_field(struct ashuf_error *error, const char *what, const struct field *field) {
  char label[72];
  error_prefix(error, "%s \"%s\": ", what, field_label(field, label, sizeof label));
}

/* ---- Metadata ---------------------------------------------------------------------------- */

static int compare_keys(const struct key_value *a, const struct key_value *b) {
  size_t shorter = (size_t)(a->key_size < b->key_size ? a->key_size : b->key_size);
  int order = shorter != 0 ? memcmp(a->key, b->key, shorter) : 0;
  return order != 0 ? order : (a->key_size > b->key_size) - (a->key_size < b->key_size);
}

static bool keys_ascend(const struct key_value *pairs, int32_t n) {
  for (int32_t i = 1; i < n; i++)
    if (compare_keys(&pairs[i - 1], &pairs[i]) >= 0) return false;
  return true;
}

/* Merges the sorted runs in[first, middle) and in[middle, end) into out; equal keys keep their
 * order. */
static void merge_runs(const struct key_value *in, size_t first, size_t middle, size_t end,
                       struct key_value *out) {
  size_t left = first;
  size_t right = middle;
  for (size_t i = first; i < end; i++) {
    bool take_left = left < middle && (right >= end || compare_keys(&in[left], &in[right]) <= 0);
    out[i] = take_left ? in[left++] : in[right++];
  }
}

/* Bottom-up merge sort of n pairs, between two arrays; returns the one that ends up sorted. */
static struct key_value *sort_pairs(struct key_value *pairs, struct key_value *other, size_t n) {
  for (size_t run = 1; run < n; run *= 2) {
    for (size_t first = 0; first < n; first += 2 * run) {
      size_t middle = n - first < run ? n : first + run;
      size_t end = n - first < 2 * run ? n : first + 2 * run;
      merge_runs(pairs, first, middle, end, other);
    }
    struct key_value *sorted = other;
    other = pairs;
    pairs = sorted;
  }
  return pairs;
}

static int32_t drop_earlier_duplicates(struct key_value *pairs, int32_t n) {
  int32_t kept = 0;
  for (int32_t i = 0; i < n; i++) {
    if (kept > 0 && compare_keys(&pairs[kept - 1], &pairs[i]) == 0) kept--;
    pairs[kept++] = pairs[i];
  }
  return kept;
}

static bool sort_metadata(struct arena *arena, const struct key_value **metadata, int32_t *n) {
  if (keys_ascend(*metadata, *n)) return true;
  size_t count = (size_t)*n;
  struct key_value *pairs = arena_array(arena, 2 * count, sizeof *pairs);
  if (pairs == NULL) return false;
  memcpy(pairs, *metadata, count * sizeof *pairs);
  pairs = sort_pairs(pairs, pairs + count, count);
  *n = drop_earlier_duplicates(pairs, *n);
  *metadata = pairs;
  return true;
}

/* ---- The walk ---------------------------------------------------------------------------- */

static void count_array(ashuf_schema *schema, const struct field *field, bool in_dictionary) {
  const struct type_info *info = type_info(field->type);
  bool views = info->layout == LAYOUT_VIEWS;
  schema->n_arrays++;
  schema->n_pointers += info->buffers + (views ? 1 : 0);
  schema->n_dictionaries += field->dictionary != NULL ? 1 : 0;
  if (in_dictionary) return;
  schema->n_nodes++;
  schema->n_buffers += info->buffers;
  schema->n_variadic += views ? 1 : 0;
}

static ashuf_status seal_field(struct sealing *sealing, struct field *field, int32_t depth,
                               bool in_dictionary) {
  ashuf_schema *schema = sealing->schema;
  ashuf_status status = check_field(sealing, field, depth);
  if (status != ASHUF_OK) {
    if (depth > 1) name_field(sealing->error, "field", field);
    return status;
  }
  if (!sort_metadata(&schema->arena, &field->metadata, &field->n_metadata))
    return schema_no_memory(schema->memory, sealing->error);
  if (field->type != TYPE_FIXED_SIZE_BINARY) field->byte_width = type_info(field->type)->width;
  if (depth > schema->depth) schema->depth = depth;
  count_array(schema, field, in_dictionary);
  for (int32_t i = 0; i < field->n_children && status == ASHUF_OK; i++)
    status = seal_field(sealing, &field->children[i], depth + 1, in_dictionary);
  if (status != ASHUF_OK || field->dictionary == NULL) return status;
  status = seal_field(sealing, field->dictionary, depth, true);
  if (sealing->number) field->dictionary_id = sealing->next_id++;
  return status;
}

static void clear_counters(ashuf_schema *schema) {
  schema->n_nodes = 0;
  schema->n_buffers = 0;
  schema->n_variadic = 0;
  schema->n_arrays = 0;
  schema->n_pointers = 0;
  schema->n_dictionaries = 0;
  schema->depth = 0;
}

ashuf_status schema_seal(ashuf_schema *schema, bool number_dictionaries,
                         struct ashuf_error *error) {
  struct sealing sealing = {schema, error, 0, 0, number_dictionaries};
  clear_counters(schema);
  if (!sort_metadata(&schema->arena, &schema->metadata, &schema->n_metadata))
    return schema_no_memory(schema->memory, error);
  for (int32_t i = 0; i < schema->n_columns; i++) {
    ashuf_status status = seal_field(&sealing, &schema->columns[i], 1, false);
    if (status == ASHUF_OK) continue;
    name_field(error, "column", &schema->columns[i]);
    return status;
  }
  return ASHUF_OK;
}

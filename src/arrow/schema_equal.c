#include "arrow/schema_int.h"

#include <string.h>

static bool text_equal(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Every parameter of the type itself but a time zone; what a type does not use is 0 in both. */
static bool storage_equal(const struct field *a, const struct field *b) {
  if (a->type != b->type || a->n_children != b->n_children) return false;
  if (a->byte_width != b->byte_width || a->list_size != b->list_size) return false;
  if (a->precision != b->precision || a->scale != b->scale || a->unit != b->unit) return false;
  if (a->keys_sorted != b->keys_sorted) return false;
  if (a->type_ids == NULL || b->type_ids == NULL) return a->type_ids == b->type_ids;
  return memcmp(a->type_ids, b->type_ids, (size_t)a->n_children) == 0;
}

static bool name_equal(const struct field *a, const struct field *b) {
  return a->name_size == b->name_size && memcmp(a->name, b->name, a->name_size) == 0;
}

enum labels { LABELS_COUNT, LABELS_ARE_FREE };

static bool fields_match(const struct field *a, const struct field *b, enum labels labels);

static bool types_match(const struct field *a, const struct field *b, enum labels labels) {
  if (!storage_equal(a, b)) return false;
  if (labels == LABELS_COUNT && !text_equal(a->timezone, b->timezone)) return false;
  for (int32_t i = 0; i < a->n_children; i++)
    if (!fields_match(&a->children[i], &b->children[i], labels)) return false;
  if (a->dictionary == NULL || b->dictionary == NULL) return a->dictionary == b->dictionary;
  return a->dictionary_ordered == b->dictionary_ordered &&
         types_match(a->dictionary, b->dictionary, labels);
}

static bool fields_match(const struct field *a, const struct field *b, enum labels labels) {
  return name_equal(a, b) && a->nullable == b->nullable && types_match(a, b, labels);
}

static bool schemas_match(const ashuf_schema *a, const ashuf_schema *b, enum labels labels) {
  if (a == NULL || b == NULL || a == b) return a == b;
  if (a->n_columns != b->n_columns) return false;
  for (int32_t i = 0; i < a->n_columns; i++)
    if (!fields_match(&a->columns[i], &b->columns[i], labels)) return false;
  return true;
}

static bool type_equal(const struct field *a, const struct field *b) {
  return types_match(a, b, LABELS_COUNT);
}

bool field_equal(const struct field *a, const struct field *b) {
  return fields_match(a, b, LABELS_COUNT);
}

int ashuf_schema_equal(const ashuf_schema *a, const ashuf_schema *b) {
  return schemas_match(a, b, LABELS_COUNT);
}

int ashuf_schema_same_arrays(const ashuf_schema *a, const ashuf_schema *b) {
  return schemas_match(a, b, LABELS_ARE_FREE);
}

static ashuf_status name_differs(const struct field *expected, const struct field *found,
                                 int32_t column, struct ashuf_error *error) {
  char a[80];
  char b[80];
  return error_set(error, ASHUF_SCHEMA_MISMATCH, SITE_EQUAL_NAME,
                   "column %d: expected name \"%s\", found \"%s\"", column,
                   field_label(expected, a, sizeof a), field_label(found, b, sizeof b));
}

static ashuf_status type_differs(const struct field *expected, const struct field *found,
                                 struct ashuf_error *error) {
  char label[48];
  char a[76];
  char b[76];
  field_type_text(expected, a, sizeof a);
  field_type_text(found, b, sizeof b);
  bool same = expected->nullable == found->nullable && strcmp(a, b) == 0;
  return error_set(
      error, ASHUF_SCHEMA_MISMATCH, SITE_EQUAL_TYPE, "column \"%s\": expected %s%s, found %s%s%s",
      field_label(expected, label, sizeof label), a, expected->nullable ? "" : " not null", b,
      found->nullable ? "" : " not null", same ? " (nested)" : "");
}

ashuf_status schema_require_equal(const ashuf_schema *expected, const ashuf_schema *found,
                                  struct ashuf_error *error) {
  if (expected == found) return ASHUF_OK;
  int32_t n = expected->n_columns < found->n_columns ? expected->n_columns : found->n_columns;
  for (int32_t i = 0; i < n; i++) {
    const struct field *a = &expected->columns[i];
    const struct field *b = &found->columns[i];
    if (!name_equal(a, b)) return name_differs(a, b, i, error);
    if (a->nullable != b->nullable || !type_equal(a, b)) return type_differs(a, b, error);
  }
  if (expected->n_columns == found->n_columns) return ASHUF_OK;
  bool longer = found->n_columns > n;
  char label[80];
  return error_set(
      error, ASHUF_SCHEMA_MISMATCH, SITE_EQUAL_COLUMNS,
      "expected %d columns, found %d: column \"%s\" is %s", expected->n_columns, found->n_columns,
      field_label(longer ? &found->columns[n] : &expected->columns[n], label, sizeof label),
      longer ? "not expected" : "missing");
}

/* ---- The same values, encoded alike or not ------------------------------------------------ */

static bool holds_values(const struct field *wanted, const struct field *found, bool *alike);

static bool children_hold(const struct field *wanted, const struct field *found, bool *alike) {
  for (int32_t i = 0; i < wanted->n_children; i++) {
    const struct field *a = &wanted->children[i];
    const struct field *b = &found->children[i];
    if (!name_equal(a, b) || (b->nullable && !a->nullable) || !holds_values(a, b, alike))
      return false;
  }
  return true;
}

static bool holds_values(const struct field *wanted, const struct field *found, bool *alike) {
  const struct field *a = wanted->dictionary;
  const struct field *b = found->dictionary;
  if (a == NULL && b == NULL)
    return storage_equal(wanted, found) && children_hold(wanted, found, alike);
  if (a == NULL || b == NULL || wanted->type != found->type) *alike = false;
  if (a != NULL && wanted->dictionary_ordered && (b == NULL || !found->dictionary_ordered))
    return false;
  return holds_values(a != NULL ? a : wanted, b != NULL ? b : found, alike);
}

ashuf_status schema_reconcile(const ashuf_schema *wanted, const ashuf_schema *found, bool *alike,
                              struct ashuf_error *error) {
  bool same = true;
  if (wanted->n_columns != found->n_columns) return schema_require_equal(wanted, found, error);
  for (int32_t i = 0; i < wanted->n_columns; i++) {
    const struct field *a = &wanted->columns[i];
    const struct field *b = &found->columns[i];
    if (!name_equal(a, b)) return name_differs(a, b, i, error);
    if ((b->nullable && !a->nullable) || !holds_values(a, b, &same))
      return type_differs(a, b, error);
  }
  *alike = same;
  return ASHUF_OK;
}

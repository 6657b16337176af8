#include "partition/range.h"

#include <string.h>

struct row_key range_key(const struct ashuf_partitioning *own, int32_t i, bool of_key_schema) {
  unsigned order = own->orders == NULL ? ASHUF_ORDER_ASCENDING : own->orders[i];
  struct row_key key = {.column = of_key_schema ? i : own->keys[i]};
  key.descending = (order & ASHUF_ORDER_DESCENDING) != 0;
  key.nulls_last = key.descending;
  if ((order & ASHUF_ORDER_NULLS_FIRST) != 0) key.nulls_last = false;
  if ((order & ASHUF_ORDER_NULLS_LAST) != 0) key.nulls_last = true;
  return key;
}

static ashuf_status check_order(unsigned order, int32_t i, struct ashuf_error *error) {
  unsigned both = ASHUF_ORDER_NULLS_FIRST | ASHUF_ORDER_NULLS_LAST;
  if (order > (ASHUF_ORDER_DESCENDING | both) || (order & both) == both)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_RANGE_KEY_ORDER,
                     "key %d: no order has the number %u", i, order);
  return ASHUF_OK;
}

ashuf_status range_check_keys(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                              struct ashuf_error *error) {
  ashuf_status status = partition_check_keys(schema, own, error);
  for (int32_t i = 0; status == ASHUF_OK && i < own->n_keys; i++) {
    status = row_compare_check(&schema->columns[own->keys[i]], error);
    if (status == ASHUF_OK && own->orders != NULL) status = check_order(own->orders[i], i, error);
  }
  return status;
}

/* What a bound of a key of this type is. */
static uint8_t bound_type(const struct field *values) {
  return values->type == TYPE_UTF8_VIEW     ? TYPE_UTF8
         : values->type == TYPE_BINARY_VIEW ? TYPE_BINARY
                                            : values->type;
}

/* A key column as its plain values, texts copied; types that have an order have no children. Null
 * values of runs are nulls whatever the column says of itself. */
static bool copy_field(ashuf_schema *schema, const struct field *from, struct field *out) {
  const struct field *values = row_values(from);
  *out = *values;
  out->type = bound_type(values);
  out->nullable = from->nullable || (from->type == TYPE_RUN_END_ENCODED && values->nullable);
  out->metadata = NULL;
  out->n_metadata = 0;
  out->name_size = from->name_size;
  out->name = arena_text(&schema->arena, from->name, from->name_size);
  if (out->timezone != NULL)
    out->timezone = arena_text(&schema->arena, values->timezone, strlen(values->timezone));
  return out->name != NULL && (out->timezone != NULL || values->timezone == NULL);
}

ashuf_status range_key_schema(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                              ashuf_memory *memory, ashuf_schema **out, struct ashuf_error *error) {
  size_t size = (size_t)own->n_keys * sizeof(struct field);
  ashuf_schema *made = schema_new(memory);
  *out = NULL;
  if (made == NULL) return error_memory(error, SITE_RANGE_MEMORY, memory, size);
  made->columns = schema_fields(made, own->n_keys);
  bool copied = made->columns != NULL;
  for (int32_t i = 0; copied && i < own->n_keys; i++)
    copied = copy_field(made, &schema->columns[own->keys[i]], &made->columns[i]);
  made->n_columns = own->n_keys;
  ashuf_status status = copied ? schema_seal(made, true, error)
                               : error_memory(error, SITE_RANGE_MEMORY, memory, size);
  if (status == ASHUF_OK)
    *out = made;
  else
    ashuf_schema_free(made);
  return status;
}

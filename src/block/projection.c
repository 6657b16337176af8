#include "block/projection.h"

#include <string.h>

static int64_t wanted(const ashuf_schema *schema, const struct ashuf_decode_options *options,
                      size_t i) {
  if (options->projection != NULL) return options->projection[i];
  return ashuf_schema_find_column(schema, options->projection_names[i]);
}

static bool matches(const struct projection *entry, const ashuf_schema *schema,
                    const struct ashuf_decode_options *options) {
  if (entry->from != schema || (size_t)entry->n != options->n_projection) return false;
  for (size_t i = 0; i < options->n_projection; i++)
    if (entry->numbers[i] != wanted(schema, options, i)) return false;
  return true;
}

static ashuf_status no_column(const struct ashuf_decode_options *options, size_t i,
                              struct ashuf_error *error) {
  char name[80];
  if (options->projection != NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PROJECTION_COLUMN,
                     "the projection asks for column %d, which is not there",
                     (int)options->projection[i]);
  const char *text = options->projection_names[i];
  return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PROJECTION_COLUMN,
                   "the projection asks for column \"%s\", which is not there",
                   error_escape(name, sizeof name, text, strlen(text)));
}

static size_t lists_size(const struct projection *entry) {
  return ((size_t)entry->n + (size_t)entry->from->n_columns) * sizeof(int32_t);
}

static void entry_free(struct projection *entry) {
  if (entry->from == NULL) return;
  memory_free(entry->from->memory, entry->numbers, lists_size(entry));
  ashuf_schema_free(entry->to);
  ashuf_schema_free(entry->from);
  memset(entry, 0, sizeof *entry);
}

static ashuf_status fill(struct projection *entry, const struct ashuf_decode_options *options,
                         struct ashuf_error *error) {
  const ashuf_schema *from = entry->from;
  entry->numbers = memory_alloc(from->memory, lists_size(entry));
  if (entry->numbers == NULL)
    return error_memory(error, SITE_PROJECTION_MEMORY, from->memory, lists_size(entry));
  entry->places = entry->numbers + entry->n;
  for (int32_t i = 0; i < from->n_columns; i++) entry->places[i] = -1;
  for (int32_t i = 0; i < entry->n; i++) {
    int64_t column = wanted(from, options, (size_t)i);
    char name[80];
    if (column < 0 || column >= from->n_columns) return no_column(options, (size_t)i, error);
    if (entry->places[column] >= 0)
      return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PROJECTION_TWICE,
                       "the projection asks for column \"%s\" twice",
                       field_label(&from->columns[column], name, sizeof name));
    entry->numbers[i] = (int32_t)column;
    entry->places[column] = i;
  }
  return ASHUF_OK;
}

static ashuf_status make(struct projection *entry, const ashuf_schema *schema,
                         const struct ashuf_decode_options *options, struct ashuf_error *error) {
  if (options->n_projection > (size_t)schema->n_columns)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_PROJECTION_COLUMN,
                     "the projection has %zu columns, the schema %d", options->n_projection,
                     schema->n_columns);
  entry->from = ashuf_schema_ref(schema);
  entry->n = (int32_t)options->n_projection;
  ashuf_status status = fill(entry, options, error);
  if (status != ASHUF_OK) return status;
  entry->to = schema_pick(schema, entry->numbers, entry->n, schema->memory);
  if (entry->to != NULL) return ASHUF_OK;
  return error_memory(error, SITE_PROJECTION_MEMORY, schema->memory, sizeof *schema);
}

ashuf_status projections_find(struct projections *projections, const ashuf_schema *schema,
                              const struct ashuf_decode_options *options,
                              const struct projection **out, struct ashuf_error *error) {
  for (int i = 0; i < PROJECTIONS; i++) {
    *out = &projections->entries[i];
    if (matches(*out, schema, options)) return ASHUF_OK;
  }
  struct projection made = {0};
  ashuf_status status = make(&made, schema, options, error);
  if (status != ASHUF_OK) {
    entry_free(&made);
    return status;
  }
  struct projection *entry = &projections->entries[projections->next++ % PROJECTIONS];
  entry_free(entry);
  *entry = made;
  *out = entry;
  return ASHUF_OK;
}

void projections_clear(struct projections *projections) {
  for (int i = 0; i < PROJECTIONS; i++) entry_free(&projections->entries[i]);
}

ashuf_status projection_schema(const ashuf_schema *schema,
                               const struct ashuf_decode_options *options, ashuf_schema **out,
                               struct ashuf_error *error) {
  struct projection made = {0};
  if (options->n_projection == 0) {
    *out = ashuf_schema_ref(schema);
    return ASHUF_OK;
  }
  ashuf_status status = make(&made, schema, options, error);
  if (status == ASHUF_OK) *out = ashuf_schema_ref(made.to);
  entry_free(&made);
  return status;
}

#include "arrow/row_hash.h"

#include "arrow/place.h"
#include "arrow/row_hash_int.h"

/* ---- What Spark hashes -------------------------------------------------------------------- */

/* Spark counts in microseconds. */
static enum hash_kind kind_of_unit(enum time_unit unit) {
  switch (unit) {
    case UNIT_SECOND:
      return HASH_SECONDS;
    case UNIT_MILLI:
      return HASH_MILLIS;
    case UNIT_MICRO:
      return HASH_INT64;
    default:
      return HASH_NANOS;
  }
}

/* The declared precision decides, not the width. */
static enum hash_kind kind_of_decimal(const struct field *field) {
  if (field->precision > 18) return HASH_DIGITS;
  return field->byte_width == 4 ? HASH_DECIMAL32 : HASH_LOW_64;
}

static enum hash_kind kind_of_layout(enum arrow_type type) {
  switch (type_info(type)->layout) {
    case LAYOUT_BYTES:
      return HASH_BYTES;
    case LAYOUT_VIEWS:
      return HASH_VIEWS;
    case LAYOUT_LIST:
      return HASH_LIST;
    case LAYOUT_LIST_VIEW:
      return HASH_LIST_VIEW;
    case LAYOUT_RUN_ENDS:
      return HASH_RUNS;
    case LAYOUT_FIXED_LIST:
      return HASH_FIXED_LIST;
    case LAYOUT_STRUCT:
      return HASH_STRUCT;
    default:
      return HASH_REFUSED;
  }
}

enum hash_kind hash_kind_of(const struct field *field) {
  if (field->dictionary != NULL) return HASH_DICTIONARY;
  switch ((enum arrow_type)field->type) {
    case TYPE_NULL:
      return HASH_NOTHING;
    case TYPE_BOOL:
      return HASH_BOOL;
    case TYPE_INT8:
      return HASH_INT8;
    case TYPE_INT16:
      return HASH_INT16;
    case TYPE_INT32:
    case TYPE_DATE32:
    case TYPE_INTERVAL_MONTHS:
      return HASH_INT32;
    case TYPE_INT64:
      return HASH_INT64;
    case TYPE_FLOAT32:
      return HASH_FLOAT32;
    case TYPE_FLOAT64:
      return HASH_FLOAT64;
    case TYPE_DECIMAL32:
    case TYPE_DECIMAL64:
    case TYPE_DECIMAL128:
    case TYPE_DECIMAL256:
      return kind_of_decimal(field);
    case TYPE_DATE64:
      return HASH_DATE64;
    case TYPE_TIME64:
      return field->unit == UNIT_NANO ? HASH_INT64 : HASH_REFUSED;
    case TYPE_TIMESTAMP:
    case TYPE_DURATION:
      return kind_of_unit(field->unit);
    case TYPE_INTERVAL_MONTH_DAY_NANO:
      return HASH_INTERVAL;
    case TYPE_FIXED_SIZE_BINARY:
      return HASH_FIXED;
    default:
      return kind_of_layout(field->type);
  }
}

static bool can_hash(const struct field *field) {
  if (hash_kind_of(field) == HASH_REFUSED) return false;
  if (field->dictionary != NULL) return can_hash(field->dictionary);
  if (field->type == TYPE_RUN_END_ENCODED) return can_hash(&field->children[1]);
  for (int32_t i = 0; i < field->n_children; i++)
    if (!can_hash(&field->children[i])) return false;
  return true;
}

ashuf_status row_hash_check(const struct field *field, struct ashuf_error *error) {
  if (can_hash(field)) return ASHUF_OK;
  char label[96];
  struct ashuf_buffer type = ASHUF_BUFFER_INIT;
  ashuf_status status = field_format_type(field, &type, NULL, error);
  if (status == ASHUF_OK)
    status = error_set(error, ASHUF_UNSUPPORTED_TYPE, SITE_HASH_TYPE,
                       "column \"%s\": Spark has no hash for %.*s",
                       field_label(field, label, sizeof label),
                       type.size < 128 ? (int)type.size : 128, (const char *)type.data);
  ashuf_buffer_free(&type);
  return status;
}

uint32_t hash_decimal(uint32_t state, const uint8_t *value, int width) {
  uint8_t big[32];
  for (int i = 0; i < width; i++) big[i] = value[width - 1 - i];
  int skip = 0;
  uint8_t sign = (uint8_t)(big[0] >= 0x80 ? 0xff : 0);
  while (skip < width - 1 && big[skip] == sign && ((big[skip + 1] ^ sign) & 0x80) == 0) skip++;
  return murmur3_bytes(state, big + skip, (size_t)(width - skip));
}

/* ---- Many values into one state: what lies below a row ------------------------------------ */

/* Folds rows [first, first + n) one after the other into *state; false for a bad array. */
static bool chain(const struct source *source, size_t batch, int64_t first, int64_t n,
                  uint32_t *state);

static bool bounds(const struct source *source, const struct array_view *view, int64_t row,
                   int64_t *start, int64_t *size) {
  int width = source->field->byte_width;
  *start = load_offset(view->data[0], width, view->offset + row);
  int64_t end = load_offset(view->data[0], width, view->offset + row + 1);
  *size = (int64_t)((uint64_t)end - (uint64_t)*start);
  return *start >= 0 && end >= *start && end <= view->limit;
}

static bool chain_struct(const struct source *source, size_t batch, int64_t row, uint32_t *state) {
  for (int32_t i = 0; i < source->field->n_children; i++)
    if (!chain(&source->children[i], batch, row, 1, state)) return false;
  return true;
}

static bool chain_dictionary(const struct source *source, size_t batch, int64_t row,
                             uint32_t *state) {
  const struct array_view *view = &source->views[batch];
  uint64_t index = load_index(view->data[0], source->field->type, view->offset + row);
  if (index >= (uint64_t)view->limit) return false;
  return chain(source->dictionary, batch, (int64_t)index, 1, state);
}

static bool chain_run(const struct source *source, size_t batch, int64_t row, uint32_t *state) {
  int64_t run = place_run(source, batch, row, NULL);
  return run >= 0 && chain(&source->children[1], batch, run, 1, state);
}

static bool chain_view(const struct array_view *view, int64_t row, uint32_t *state) {
  const uint8_t *data;
  size_t size;
  if (!place_bytes(view, row, &data, &size)) return false;
  *state = murmur3_bytes(*state, data, size);
  return true;
}

static bool chain_list_view(const struct source *source, size_t batch, int64_t row,
                            uint32_t *state) {
  int64_t first;
  int64_t n;
  return place_list(&source->views[batch], source->field->byte_width, row, &first, &n) &&
         chain(&source->children[0], batch, first, n, state);
}

/* One valid row of a kind that is not a slot. */
static bool chain_row(const struct source *source, enum hash_kind kind, size_t batch, int64_t row,
                      uint32_t *state) {
  const struct array_view *view = &source->views[batch];
  int64_t list_size = source->field->list_size;
  int64_t start;
  int64_t size;
  switch (kind) {
    case HASH_STRUCT:
      return chain_struct(source, batch, row, state);
    case HASH_DICTIONARY:
      return chain_dictionary(source, batch, row, state);
    case HASH_RUNS:
      return chain_run(source, batch, row, state);
    case HASH_VIEWS:
      return chain_view(view, row, state);
    case HASH_LIST_VIEW:
      return chain_list_view(source, batch, row, state);
    case HASH_FIXED_LIST:
      return chain(&source->children[0], batch, row * list_size, list_size, state);
    default:
      break;
  }
  if (!bounds(source, view, row, &start, &size)) return false;
  if (kind == HASH_LIST) return chain(&source->children[0], batch, start, size, state);
  *state = murmur3_bytes(*state, view->data[1] + start, (size_t)size);
  return true;
}

static bool chain(const struct source *source, size_t batch, int64_t first, int64_t n,
                  uint32_t *state) {
  enum hash_kind kind = hash_kind_of(source->field);
  const struct array_view *view = &source->views[batch];
  int width = source->field->byte_width;
  if (kind == HASH_NOTHING) return true;
  for (int64_t row = first; row < first + n; row++) {
    if (!view_is_valid(view, row)) continue;
    if (kind < HASH_BYTES)
      *state = hash_slot(kind, *state, view->data[0], view->offset + row, width);
    else if (!chain_row(source, kind, batch, row, state))
      return false;
  }
  return true;
}

/* ---- A state a row ------------------------------------------------------------------------ */

static bool fold_rows(const struct source *source, size_t batch, int64_t first, int64_t n,
                      uint32_t *hashes);

/* Calls fold_rows for the children on every run of rows where the struct itself is not null. */
static bool fold_struct(const struct source *source, size_t batch, int64_t first, int64_t n,
                        uint32_t *hashes) {
  const struct array_view *view = &source->views[batch];
  for (int64_t i = 0; i < n;) {
    int64_t end = view->validity == NULL ? n : i;
    while (end < n && view_is_valid(view, first + end)) end++;
    for (int32_t k = 0; end > i && k < source->field->n_children; k++)
      if (!fold_rows(&source->children[k], batch, first + i, end - i, hashes + i)) return false;
    i = end;
    while (i < n && !view_is_valid(view, first + i)) i++;
  }
  return true;
}

static ALWAYS_INLINE bool fold_bytes(const struct source *source, size_t batch, int64_t first,
                                     int64_t n, int width, uint32_t *hashes) {
  const struct array_view *view = &source->views[batch];
  for (int64_t i = 0; i < n; i++) {
    if (!view_is_valid(view, first + i)) continue;
    int64_t start = load_offset(view->data[0], width, view->offset + first + i);
    int64_t end = load_offset(view->data[0], width, view->offset + first + i + 1);
    if (start < 0 || end < start || end > view->limit) return false;
    hashes[i] = murmur3_bytes(hashes[i], view->data[1] + start, (size_t)(end - start));
  }
  return true;
}

/* The run is looked up once for all of its rows. */
static bool fold_runs(const struct source *source, size_t batch, int64_t first, int64_t n,
                      uint32_t *hashes) {
  for (int64_t i = 0; i < n;) {
    int64_t rows;
    int64_t run = place_run(source, batch, first + i, &rows);
    if (run < 0) return false;
    for (int64_t end = rows < n - i ? i + rows : n; i < end; i++)
      if (!chain(&source->children[1], batch, run, 1, &hashes[i])) return false;
  }
  return true;
}

static bool fold_rows(const struct source *source, size_t batch, int64_t first, int64_t n,
                      uint32_t *hashes) {
  enum hash_kind kind = hash_kind_of(source->field);
  const struct array_view *view = &source->views[batch];
  int width = source->field->byte_width;
  if (kind == HASH_NOTHING) return true;
  if (kind == HASH_STRUCT) return fold_struct(source, batch, first, n, hashes);
  if (kind == HASH_RUNS) return fold_runs(source, batch, first, n, hashes);
  if (kind == HASH_BYTES && width == 4) return fold_bytes(source, batch, first, n, 4, hashes);
  if (kind == HASH_BYTES) return fold_bytes(source, batch, first, n, 8, hashes);
  if (kind < HASH_BYTES) {
    hash_slots(view, kind, width, first, n, hashes);
    return true;
  }
  for (int64_t i = 0; i < n; i++)
    if (view_is_valid(view, first + i) && !chain_row(source, kind, batch, first + i, &hashes[i]))
      return false;
  return true;
}

ashuf_status row_hash_fold(const struct source *column, size_t batch, int64_t first, int64_t n,
                           uint32_t *hashes, struct ashuf_error *error) {
  if (fold_rows(column, batch, first, n, hashes)) return ASHUF_OK;
  char label[96];
  return error_set(error, ASHUF_BAD_ARRAY, SITE_HASH_VALUES,
                   "column \"%s\": an offset or index out of range",
                   field_label(column->field, label, sizeof label));
}

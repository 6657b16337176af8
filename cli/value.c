#include "value.h"

#include "scalar.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A place in an array, physical: offsets of the C Data Interface are added where it is read. */
struct cell {
  const struct column *column;
  const struct ArrowArray *array;
  int64_t row;
};

static bool is_valid(const struct ArrowArray *array, int64_t at) {
  const uint8_t *bits = array->n_buffers > 0 ? array->buffers[0] : NULL;
  return bits == NULL || (bits[at >> 3] >> (at & 7) & 1) != 0;
}

static const char *fixed(const struct ArrowArray *array, int buffer, int64_t at, int64_t width) {
  return (const char *)array->buffers[buffer] + at * width;
}

static void enter_union(struct cell *cell, int64_t at) {
  int8_t id = (int8_t)scalar_signed(fixed(cell->array, 0, at, 1), 1);
  int child = id < 0 ? 0 : cell->column->union_children[id];
  if (child < 0) child = 0;
  bool dense = cell->column->kind == KIND_DENSE_UNION;
  cell->row = dense ? scalar_signed(fixed(cell->array, 1, at, 4), 4) : at;
  cell->array = cell->array->children[child];
  cell->column = &cell->column->children[child];
}

/* The run that holds logical position at: the first whose end is greater. */
static void enter_runs(struct cell *cell, int64_t at) {
  const struct ArrowArray *ends = cell->array->children[0];
  int64_t width = cell->column->children[0].width;
  int64_t low = 0, high = ends->length - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (scalar_signed(fixed(ends, 1, middle + ends->offset, width), width) > at)
      high = middle;
    else
      low = middle + 1;
  }
  cell->row = low;
  cell->array = cell->array->children[1];
  cell->column = &cell->column->children[1];
}

/* Goes through unions, runs and dictionaries to the value; false where it is null. */
static bool resolve(struct cell *cell) {
  for (;;) {
    int64_t at = cell->row + cell->array->offset;
    switch (cell->column->kind) {
      case KIND_NULL:
        return false;
      case KIND_DENSE_UNION:
      case KIND_SPARSE_UNION:
        enter_union(cell, at);
        continue;
      case KIND_RUN_ENDS:
        enter_runs(cell, at);
        continue;
      default:
        break;
    }
    if (!is_valid(cell->array, at)) return false;
    if (cell->column->dictionary == NULL) return true;
    int64_t width = cell->column->width;
    cell->row = (int64_t)scalar_unsigned(fixed(cell->array, 1, at, width), width);
    cell->array = cell->array->dictionary;
    cell->column = cell->column->dictionary;
  }
}

struct span {
  const char *data;
  size_t size;
};

static struct span view_span(const struct ArrowArray *array, int64_t at) {
  const char *view = fixed(array, 1, at, 16);
  size_t size = (size_t)scalar_unsigned(view, 4);
  if (size <= 12) return (struct span){view + 4, size};
  int64_t buffer = scalar_signed(view + 8, 4);
  const char *data = array->buffers[2 + buffer];
  return (struct span){data + scalar_signed(view + 12, 4), size};
}

/* The bytes of a string or binary value. */
static struct span bytes_of(const struct cell *cell, int64_t at) {
  const struct ArrowArray *array = cell->array;
  int64_t width = cell->column->width;
  if (cell->column->kind == KIND_UTF8_VIEW || cell->column->kind == KIND_BINARY_VIEW)
    return view_span(array, at);
  if (cell->column->kind == KIND_FIXED_BINARY)
    return width == 0 ? (struct span){"", 0}
                      : (struct span){fixed(array, 1, at, width), (size_t)width};
  int64_t first = scalar_signed(fixed(array, 1, at, width), width);
  int64_t end = scalar_signed(fixed(array, 1, at + 1, width), width);
  if (end <= first) return (struct span){"", 0};
  return (struct span){(const char *)array->buffers[2] + first, (size_t)(end - first)};
}

static void list_bounds(const struct cell *cell, int64_t at, int64_t *first, int64_t *n) {
  const struct ArrowArray *array = cell->array;
  int64_t width = cell->column->width;
  if (cell->column->kind == KIND_FIXED_LIST) {
    *first = at * width;
    *n = width;
    return;
  }
  *first = scalar_signed(fixed(array, 1, at, width), width);
  if (cell->column->kind == KIND_LIST_VIEW)
    *n = scalar_signed(fixed(array, 2, at, width), width);
  else
    *n = scalar_signed(fixed(array, 1, at + 1, width), width) - *first;
}

static void add_list(struct text *out, const struct cell *cell, int64_t at) {
  int64_t first, n;
  list_bounds(cell, at, &first, &n);
  text_char(out, '[');
  for (int64_t i = 0; i < n; i++) {
    if (i > 0) text_char(out, ',');
    value_json(out, &cell->column->children[0], cell->array->children[0], first + i);
  }
  text_char(out, ']');
}

void value_json_object(struct text *out, const struct column *column,
                       const struct ArrowArray *array, int64_t row) {
  text_char(out, '{');
  for (int64_t i = 0; i < column->n_children; i++) {
    const struct column *child = &column->children[i];
    if (i > 0) text_char(out, ',');
    text_json(out, child->name, strlen(child->name));
    text_char(out, ':');
    value_json(out, child, array->children[i], row + array->offset);
  }
  text_char(out, '}');
}

static void add_bool(struct text *out, const struct ArrowArray *array, int64_t at) {
  const uint8_t *bits = array->buffers[1];
  text_puts(out, (bits[at >> 3] >> (at & 7) & 1) != 0 ? "true" : "false");
}

static void add_number(struct text *out, const struct cell *cell, int64_t at) {
  const struct column *column = cell->column;
  const char *bytes = fixed(cell->array, 1, at, column->width);
  if (column->kind == KIND_SIGNED)
    scalar_integer(out, scalar_signed(bytes, column->width));
  else if (column->kind == KIND_UNSIGNED)
    text_printf(out, "%" PRIu64, scalar_unsigned(bytes, column->width));
  else if (column->kind == KIND_FLOAT)
    scalar_real(out, scalar_float(bytes, column->width), column->width);
  else
    scalar_decimal(out, bytes, column->width, column->scale);
}

static void add_temporal(struct text *out, const struct cell *cell, int64_t at) {
  const struct column *column = cell->column;
  const char *bytes = fixed(cell->array, 1, at, column->width);
  if (column->kind >= KIND_INTERVAL_MONTHS) {
    scalar_interval(out, column->kind, bytes);
    return;
  }
  int64_t value = scalar_signed(bytes, column->width);
  switch (column->kind) {
    case KIND_DATE32:
      scalar_date(out, value);
      return;
    case KIND_DATE64:
      scalar_date64(out, value);
      return;
    case KIND_TIME:
      scalar_time(out, value, column->digits);
      return;
    case KIND_TIMESTAMP:
      scalar_timestamp(out, value, column->digits, column->zone);
      return;
    default:
      scalar_duration(out, value, column->digits);
  }
}

static bool is_string(enum kind kind) { return kind == KIND_UTF8 || kind == KIND_UTF8_VIEW; }

/* A value that resolve has found. */
static void add_plain(struct text *out, const struct cell *cell) {
  enum kind kind = cell->column->kind;
  int64_t at = cell->row + cell->array->offset;
  if (kind == KIND_BOOL) {
    add_bool(out, cell->array, at);
  } else if (kind >= KIND_SIGNED && kind <= KIND_DECIMAL) {
    add_number(out, cell, at);
  } else if (kind >= KIND_DATE32 && kind <= KIND_INTERVAL_MONTH_DAY_NANO) {
    add_temporal(out, cell, at);
  } else if (kind >= KIND_UTF8 && kind <= KIND_FIXED_BINARY) {
    struct span bytes = bytes_of(cell, at);
    if (is_string(kind))
      text_utf8(out, bytes.data, bytes.size);
    else
      scalar_hex(out, bytes.data, bytes.size);
  } else if (kind == KIND_STRUCT) {
    value_json_object(out, cell->column, cell->array, cell->row);
  } else if (kind >= KIND_LIST && kind <= KIND_MAP) {
    add_list(out, cell, at);
  }
}

/* Whether the plain text is a JSON value as it stands. */
static bool is_bare(const struct cell *cell) {
  enum kind kind = cell->column->kind;
  if (kind == KIND_FLOAT) {
    int64_t width = cell->column->width;
    int64_t at = cell->row + cell->array->offset;
    return isfinite(scalar_float(fixed(cell->array, 1, at, width), width)) != 0;
  }
  return kind == KIND_BOOL || kind == KIND_SIGNED || kind == KIND_UNSIGNED ||
         (kind >= KIND_LIST && kind <= KIND_MAP);
}

bool value_is_null(const struct column *column, const struct ArrowArray *array, int64_t row) {
  struct cell cell = {column, array, row};
  return !resolve(&cell);
}

void value_text(struct text *out, const struct column *column, const struct ArrowArray *array,
                int64_t row) {
  struct cell cell = {column, array, row};
  if (resolve(&cell)) add_plain(out, &cell);
}

void value_json(struct text *out, const struct column *column, const struct ArrowArray *array,
                int64_t row) {
  struct cell cell = {column, array, row};
  if (!resolve(&cell)) {
    text_puts(out, "null");
    return;
  }
  if (is_string(cell.column->kind)) {
    struct span bytes = bytes_of(&cell, cell.row + cell.array->offset);
    text_json(out, bytes.data, bytes.size);
    return;
  }
  bool bare = is_bare(&cell);
  if (!bare) text_char(out, '"');
  add_plain(out, &cell);
  if (!bare) text_char(out, '"');
}

#include "arrow/row_compare.h"

#include "arrow/place.h"
#include "base/bits.h"

#define SIGN_64 ((uint64_t)1 << 63)
#define SIGN_32 ((uint32_t)1 << 31)

/* ---- What has an order -------------------------------------------------------------------- */

/* How a word is made of a value. */
enum word_kind { WORD_NONE, WORD_BOOL, WORD_SIGNED, WORD_UNSIGNED, WORD_FLOAT };

static enum word_kind word_kind_of(enum arrow_type type) {
  switch (type) {
    case TYPE_BOOL:
      return WORD_BOOL;
    case TYPE_UINT8:
    case TYPE_UINT16:
    case TYPE_UINT32:
    case TYPE_UINT64:
      return WORD_UNSIGNED;
    case TYPE_FLOAT32:
    case TYPE_FLOAT64:
      return WORD_FLOAT;
    case TYPE_INT8:
    case TYPE_INT16:
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_DECIMAL32:
    case TYPE_DECIMAL64:
    case TYPE_DATE32:
    case TYPE_DATE64:
    case TYPE_TIME32:
    case TYPE_TIME64:
    case TYPE_TIMESTAMP:
    case TYPE_DURATION:
    case TYPE_INTERVAL_MONTHS:
      return WORD_SIGNED;
    default:
      return WORD_NONE;
  }
}

enum row_form row_form_of(const struct field *field) {
  field = row_values(field);
  if (field->dictionary != NULL) return ROW_FORM_REFUSED;
  if (word_kind_of(field->type) != WORD_NONE) return ROW_FORM_WORD;
  switch ((enum arrow_type)field->type) {
    case TYPE_DECIMAL128:
      return ROW_FORM_WIDE;
    case TYPE_DECIMAL256:
      return ROW_FORM_LONG;
    case TYPE_FIXED_SIZE_BINARY:
    case TYPE_BINARY:
    case TYPE_LARGE_BINARY:
    case TYPE_UTF8:
    case TYPE_LARGE_UTF8:
    case TYPE_BINARY_VIEW:
    case TYPE_UTF8_VIEW:
      return ROW_FORM_BYTES;
    default:
      return ROW_FORM_REFUSED;
  }
}

ashuf_status row_compare_check(const struct field *field, struct ashuf_error *error) {
  if (row_form_of(field) != ROW_FORM_REFUSED) return ASHUF_OK;
  char label[96];
  char type[128];
  return error_set(error, ASHUF_UNSUPPORTED_TYPE, SITE_COMPARE_TYPE,
                   "column \"%s\": rows cannot be ordered by %s",
                   field_label(field, label, sizeof label),
                   field_type_text(field, type, sizeof type));
}

/* ---- Where the values of a block of rows lie ----------------------------------------------- */

struct block {
  const struct field *field; /* of the values */
  const struct array_view *view;
  int64_t slots[ROW_BLOCK]; /* in the buffers of the view; of nulls: any that can be read */
};

static bool locate_values(const struct source *column, size_t batch, int64_t first, int64_t n,
                          struct block *out, uint8_t *valid) {
  const struct array_view *indices = &column->views[batch];
  const struct array_view *values = &column->dictionary->views[batch];
  out->view = values;
  out->field = column->dictionary->field;
  for (int64_t i = 0; i < n; i++) {
    out->slots[i] = values->offset;
    valid[i] = view_is_valid(indices, first + i);
    if (!valid[i]) continue;
    uint64_t index = load_index(indices->data[0], column->field->type, indices->offset + first + i);
    if (index >= (uint64_t)indices->limit) return false;
    out->slots[i] += (int64_t)index;
    valid[i] = view_is_valid(values, (int64_t)index);
  }
  return true;
}

/* A run is looked up once for all of its rows. */
static bool locate_runs(const struct source *column, size_t batch, int64_t first, int64_t n,
                        struct block *out, uint8_t *valid) {
  const struct array_view *values = &column->children[1].views[batch];
  out->view = values;
  out->field = column->children[1].field;
  for (int64_t i = 0; i < n;) {
    int64_t rows;
    int64_t run = place_run(column, batch, first + i, &rows);
    if (run < 0) return false;
    for (int64_t end = rows < n - i ? i + rows : n; i < end; i++) {
      out->slots[i] = values->offset + run;
      valid[i] = view_is_valid(values, run);
    }
  }
  return true;
}

/* False for an index out of range, or a row in no run. */
static bool locate(const struct source *column, size_t batch, int64_t first, int64_t n,
                   struct block *out, uint8_t *valid) {
  if (column->dictionary != NULL) return locate_values(column, batch, first, n, out, valid);
  if (column->field->type == TYPE_RUN_END_ENCODED)
    return locate_runs(column, batch, first, n, out, valid);
  const struct array_view *view = &column->views[batch];
  out->view = view;
  out->field = column->field;
  for (int64_t i = 0; i < n; i++) out->slots[i] = view->offset + first + i;
  if (view->validity == NULL)
    memset(valid, 1, (size_t)n);
  else
    for (int64_t i = 0; i < n; i++) valid[i] = view_is_valid(view, first + i);
  return true;
}

static ashuf_status out_of_range(const struct source *column, struct ashuf_error *error) {
  char label[96];
  return error_set(error, ASHUF_BAD_ARRAY, SITE_COMPARE_VALUES,
                   "column \"%s\": an offset or index out of range",
                   field_label(column->field, label, sizeof label));
}

/* ---- Words -------------------------------------------------------------------------------- */

static ALWAYS_INLINE uint64_t sign_bit(int width) { return (uint64_t)1 << (8 * width - 1); }

/* A positive number's bits grow with it, a negative one's fall: those are turned around. */
static ALWAYS_INLINE uint64_t float_word(const uint8_t *at, int width) {
  if (width == 4) {
    uint32_t bits = load_u32(at);
    uint32_t size = bits & ~SIGN_32;
    if (size == 0) bits = 0;
    if (size > 0x7f800000u) bits = 0x7fc00000u;
    return (bits & SIGN_32) != 0 ? ~bits : bits | SIGN_32;
  }
  uint64_t bits = load_u64(at);
  uint64_t size = bits & ~SIGN_64;
  if (size == 0) bits = 0;
  if (size > 0x7ff0000000000000u) bits = 0x7ff8000000000000u;
  return (bits & SIGN_64) != 0 ? ~bits : bits | SIGN_64;
}

static ALWAYS_INLINE void make_words(const struct block *block, enum word_kind kind, int width,
                                     int64_t n, uint64_t *words) {
  const uint8_t *data = block->view->data[0];
  for (int64_t i = 0; i < n; i++) {
    int64_t slot = block->slots[i];
    if (kind == WORD_BOOL)
      words[i] = bit_get(data, slot);
    else if (kind == WORD_SIGNED)
      words[i] = load_unsigned(data + slot * width, width) ^ sign_bit(width);
    else if (kind == WORD_UNSIGNED)
      words[i] = load_unsigned(data + slot * width, width);
    else
      words[i] = float_word(data + slot * width, width);
  }
}

/* The loops that the types need, each with its kind and width known. */
static void words_of(const struct block *block, int64_t n, uint64_t *words) {
  enum word_kind kind = word_kind_of(block->field->type);
  int width = block->field->byte_width;
  if (kind == WORD_BOOL) {
    make_words(block, WORD_BOOL, 0, n, words);
  } else if (kind == WORD_FLOAT) {
    if (width == 4)
      make_words(block, WORD_FLOAT, 4, n, words);
    else
      make_words(block, WORD_FLOAT, 8, n, words);
  } else if (kind == WORD_SIGNED && width == 8) {
    make_words(block, WORD_SIGNED, 8, n, words);
  } else if (kind == WORD_SIGNED && width == 4) {
    make_words(block, WORD_SIGNED, 4, n, words);
  } else {
    make_words(block, kind, width, n, words);
  }
}

ashuf_status row_words(const struct source *column, size_t batch, int64_t first, int64_t n,
                       uint64_t *words, uint8_t *valid, struct ashuf_error *error) {
  struct block block;
  if (!locate(column, batch, first, n, &block, valid)) return out_of_range(column, error);
  words_of(&block, n, words);
  return ASHUF_OK;
}

static uint64_t float_bits(uint64_t word, int width) {
  uint64_t sign = width == 4 ? SIGN_32 : SIGN_64;
  return (word & sign) != 0 ? word & ~sign : ~word;
}

void row_word_value(const struct field *field, uint64_t word, uint8_t *out) {
  enum word_kind kind = word_kind_of(field->type);
  if (kind == WORD_SIGNED) word ^= sign_bit(field->byte_width);
  if (kind == WORD_FLOAT) word = float_bits(word, field->byte_width);
  memcpy(out, &word, kind == WORD_BOOL ? 1 : (size_t)field->byte_width);
}

/* ---- Wides and bytes ---------------------------------------------------------------------- */

ashuf_status row_wides(const struct source *column, size_t batch, int64_t first, int64_t n,
                       row_wide *wides, uint8_t *valid, struct ashuf_error *error) {
  struct block block;
  if (!locate(column, batch, first, n, &block, valid)) return out_of_range(column, error);
  for (int64_t i = 0; i < n; i++) {
    const uint8_t *at = block.view->data[0] + block.slots[i] * 16;
    wides[i] = (row_wide)(load_u64(at + 8) ^ SIGN_64) << 64 | load_u64(at);
  }
  return ASHUF_OK;
}

static bool strings_of(const struct block *block, int64_t n, struct row_bytes *strings,
                       const uint8_t *valid) {
  const struct array_view *view = block->view;
  int width = block->field->byte_width;
  for (int64_t i = 0; i < n; i++) {
    strings[i] = (struct row_bytes){view->data[1], 0};
    if (!valid[i]) continue;
    int64_t start = load_offset(view->data[0], width, block->slots[i]);
    int64_t end = load_offset(view->data[0], width, block->slots[i] + 1);
    if (start < 0 || end < start || end > view->limit) return false;
    strings[i] = (struct row_bytes){view->data[1] + start, (size_t)(end - start)};
  }
  return true;
}

static bool views_of(const struct block *block, int64_t n, struct row_bytes *strings,
                     const uint8_t *valid) {
  const struct array_view *view = block->view;
  for (int64_t i = 0; i < n; i++) {
    strings[i] = (struct row_bytes){view->data[0], 0};
    if (valid[i] &&
        !place_bytes(view, block->slots[i] - view->offset, &strings[i].data, &strings[i].size))
      return false;
  }
  return true;
}

ashuf_status row_strings(const struct source *column, size_t batch, int64_t first, int64_t n,
                         struct row_bytes *strings, uint8_t *valid, struct ashuf_error *error) {
  struct block block;
  if (!locate(column, batch, first, n, &block, valid)) return out_of_range(column, error);
  if (type_info(block.field->type)->layout == LAYOUT_BYTES)
    return strings_of(&block, n, strings, valid) ? ASHUF_OK : out_of_range(column, error);
  if (type_info(block.field->type)->layout == LAYOUT_VIEWS)
    return views_of(&block, n, strings, valid) ? ASHUF_OK : out_of_range(column, error);
  size_t width = (size_t)block.field->byte_width;
  for (int64_t i = 0; i < n; i++) {
    const uint8_t *data = block.view->data[0];
    strings[i] = valid[i] ? (struct row_bytes){data + (size_t)block.slots[i] * width, width}
                          : (struct row_bytes){data, 0};
  }
  return ASHUF_OK;
}

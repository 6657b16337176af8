#include "arrow/row_encode.h"

#include "arrow/values.h"
#include "base/buffer.h"

enum lead { LEAD_NULL_FIRST, LEAD_VALUE, LEAD_NULL_LAST };

/* Bytes of a value; 0 for strings. */
static size_t fixed_size(const struct field *field) {
  if (field->type == TYPE_BOOL) return 1;
  return type_info(field->type)->layout == LAYOUT_FIXED ? (size_t)field->byte_width : 0;
}

static bool is_string(const struct field *field) {
  int layout = type_info(field->type)->layout;
  return layout == LAYOUT_BYTES || layout == LAYOUT_VIEWS;
}

/* ---- Encoding ----------------------------------------------------------------------------- */

static ALWAYS_INLINE uint8_t *put_lead(uint8_t *at, const struct row_key *key, bool valid) {
  *at = valid ? LEAD_VALUE : key->nulls_last ? LEAD_NULL_LAST : LEAD_NULL_FIRST;
  return at + 1;
}

static void invert(uint8_t *from, const uint8_t *to) {
  for (; from < to; from++) *from = (uint8_t) ~*from;
}

/* The low width bytes, highest first; writes 8. */
static ALWAYS_INLINE uint8_t *put_word(uint8_t *at, uint64_t word, size_t width) {
  store_u64_big(at, word << (64 - 8 * width));
  return at + width;
}

static uint8_t *put_long(uint8_t *at, const uint8_t *value, size_t width) {
  for (size_t i = 0; i < width; i++) at[i] = value[width - 1 - i];
  at[0] ^= 0x80;
  return at + width;
}

static uint8_t *put_string(uint8_t *at, struct row_bytes string) {
  const uint8_t *from = string.data;
  const uint8_t *end = from + string.size;
  while (from < end) {
    const uint8_t *zero = memchr(from, 0, (size_t)(end - from));
    size_t run = (size_t)((zero == NULL ? end : zero) - from);
    memcpy(at, from, run);
    at += run;
    from += run;
    if (zero == NULL) break;
    *at++ = 0;
    *at++ = 0xff;
    from++;
  }
  *at++ = 0;
  *at++ = 0;
  return at;
}

/* Where the next byte of each row goes. */
typedef uint8_t *cursors[ROW_BLOCK];

static ashuf_status encode_words(const struct source *column, const struct row_key *key,
                                 size_t batch, int64_t first, int64_t n, cursors at,
                                 struct ashuf_error *error) {
  uint64_t words[ROW_BLOCK];
  uint8_t valid[ROW_BLOCK];
  ashuf_status status = row_words(column, batch, first, n, words, valid, error);
  if (status != ASHUF_OK) return status;
  size_t width = fixed_size(row_values(column->field));
  uint64_t turn = key->descending ? UINT64_MAX : 0;
  for (int64_t i = 0; i < n; i++) {
    at[i] = put_lead(at[i], key, valid[i]);
    if (valid[i]) at[i] = put_word(at[i], words[i] ^ turn, width);
  }
  return ASHUF_OK;
}

static ashuf_status encode_wides(const struct source *column, const struct row_key *key,
                                 size_t batch, int64_t first, int64_t n, cursors at,
                                 struct ashuf_error *error) {
  row_wide wides[ROW_BLOCK];
  uint8_t valid[ROW_BLOCK];
  ashuf_status status = row_wides(column, batch, first, n, wides, valid, error);
  if (status != ASHUF_OK) return status;
  uint64_t turn = key->descending ? UINT64_MAX : 0;
  for (int64_t i = 0; i < n; i++) {
    at[i] = put_lead(at[i], key, valid[i]);
    if (!valid[i]) continue;
    at[i] = put_word(at[i], (uint64_t)(wides[i] >> 64) ^ turn, 8);
    at[i] = put_word(at[i], (uint64_t)wides[i] ^ turn, 8);
  }
  return ASHUF_OK;
}

static uint8_t *put_bytes(uint8_t *at, const struct field *field, struct row_bytes value) {
  if (is_string(field)) return put_string(at, value);
  if (field->type == TYPE_DECIMAL256) return put_long(at, value.data, value.size);
  memcpy(at, value.data, value.size);
  return at + value.size;
}

static ashuf_status encode_strings(const struct source *column, const struct row_key *key,
                                   size_t batch, int64_t first, int64_t n, cursors at,
                                   struct ashuf_error *error) {
  struct row_bytes strings[ROW_BLOCK];
  uint8_t valid[ROW_BLOCK];
  ashuf_status status = row_strings(column, batch, first, n, strings, valid, error);
  if (status != ASHUF_OK) return status;
  const struct field *field = row_values(column->field);
  for (int64_t i = 0; i < n; i++) {
    at[i] = put_lead(at[i], key, valid[i]);
    if (!valid[i]) continue;
    uint8_t *end = put_bytes(at[i], field, strings[i]);
    if (key->descending) invert(at[i], end);
    at[i] = end;
  }
  return ASHUF_OK;
}

/* Adds to sizes[i] what the column may take of row i at most. */
static ashuf_status add_sizes(const struct source *column, size_t batch, int64_t first, int64_t n,
                              size_t *sizes, struct ashuf_error *error) {
  size_t fixed = fixed_size(row_values(column->field));
  if (!is_string(row_values(column->field))) {
    for (int64_t i = 0; i < n; i++) sizes[i] += 1 + fixed;
    return ASHUF_OK;
  }
  struct row_bytes strings[ROW_BLOCK];
  uint8_t valid[ROW_BLOCK];
  ashuf_status status = row_strings(column, batch, first, n, strings, valid, error);
  if (status != ASHUF_OK) return status;
  for (int64_t i = 0; i < n; i++) {
    size_t most;
    if (__builtin_mul_overflow(strings[i].size, (size_t)2, &most) ||
        __builtin_add_overflow(sizes[i], most, &sizes[i]) || sizes[i] > SIZE_MAX / 4 / ROW_BLOCK)
      return error_set(error, ASHUF_SIZE_LIMIT, SITE_ROW_ENCODE_SIZE,
                       "a key is too large to compare");
    sizes[i] += 3;
  }
  return ASHUF_OK;
}

/* A word is stored as 8 bytes, however few of them count. */
#define WORD_SLACK 8

static ashuf_status make_room(const struct source *columns, const struct row_key *keys,
                              int32_t n_keys, size_t batch, int64_t first, int64_t n,
                              ashuf_memory *memory, struct row_encoding *out,
                              struct ashuf_error *error) {
  size_t sizes[ROW_BLOCK];
  size_t total = 0;
  for (int64_t i = 0; i < n; i++) sizes[i] = WORD_SLACK;
  for (int32_t k = 0; k < n_keys; k++) {
    ashuf_status status = add_sizes(&columns[keys[k].column], batch, first, n, sizes, error);
    if (status != ASHUF_OK) return status;
  }
  for (int64_t i = 0; i < n; i++) total += sizes[i];
  out->bytes.size = 0;
  if (!buffer_reserve(&out->bytes, memory, total))
    return error_memory(error, SITE_ROW_ENCODE_MEMORY, memory, total);
  uint8_t *at = out->bytes.data;
  for (int64_t i = 0; i < n; i++) {
    out->rows[i].data = at;
    at += sizes[i];
  }
  return ASHUF_OK;
}

static ashuf_status encode_column(const struct source *column, const struct row_key *key,
                                  size_t batch, int64_t first, int64_t n, cursors at,
                                  struct ashuf_error *error) {
  switch (row_form_of(column->field)) {
    case ROW_FORM_WORD:
      return encode_words(column, key, batch, first, n, at, error);
    case ROW_FORM_WIDE:
      return encode_wides(column, key, batch, first, n, at, error);
    default:
      return encode_strings(column, key, batch, first, n, at, error);
  }
}

ashuf_status row_encode(const struct source *columns, const struct row_key *keys, int32_t n_keys,
                        size_t batch, int64_t first, int64_t n, ashuf_memory *memory,
                        struct row_encoding *out, struct ashuf_error *error) {
  cursors at;
  ashuf_status status = make_room(columns, keys, n_keys, batch, first, n, memory, out, error);
  for (int64_t i = 0; status == ASHUF_OK && i < n; i++)
    at[i] = (uint8_t *)(uintptr_t)out->rows[i].data;
  for (int32_t k = 0; status == ASHUF_OK && k < n_keys; k++)
    status = encode_column(&columns[keys[k].column], &keys[k], batch, first, n, at, error);
  for (int64_t i = 0; status == ASHUF_OK && i < n; i++)
    out->rows[i].size = (size_t)(at[i] - out->rows[i].data);
  return status;
}

void row_encoding_free(struct row_encoding *encoding) { ashuf_buffer_free(&encoding->bytes); }

/* ---- Decoding ----------------------------------------------------------------------------- */

static uint64_t get_word(const uint8_t *at, size_t width, uint8_t turn) {
  uint64_t word = 0;
  for (size_t i = 0; i < width; i++) word = word << 8 | (uint8_t)(at[i] ^ turn);
  return word;
}

/* turn: ff where the bytes are inverted. */
static const uint8_t *get_string(const uint8_t *at, uint8_t turn, uint8_t *bytes, size_t *size) {
  size_t n = 0;
  for (;; n++) {
    uint8_t byte = *at++ ^ turn;
    if (byte == 0 && (uint8_t)(*at++ ^ turn) == 0) break;
    if (bytes != NULL) bytes[n] = byte;
  }
  *size = n;
  return at;
}

static void get_fixed(const struct field *field, const uint8_t *at, uint8_t turn, size_t width,
                      uint8_t *bytes) {
  switch (row_form_of(field)) {
    case ROW_FORM_WORD:
      row_word_value(field, get_word(at, width, turn), bytes);
      break;
    case ROW_FORM_BYTES:
      for (size_t i = 0; i < width; i++) bytes[i] = at[i] ^ turn;
      break;
    default:
      for (size_t i = 0; i < width; i++) bytes[i] = at[width - 1 - i] ^ turn;
      bytes[width - 1] ^= 0x80;
  }
}

bool row_decode(const struct field *field, const struct row_key *key, const uint8_t **at,
                uint8_t *bytes, size_t *size) {
  uint8_t turn = key->descending ? 0xff : 0;
  *size = 0;
  if (*(*at)++ != LEAD_VALUE) return false;
  if (is_string(field)) {
    *at = get_string(*at, turn, bytes, size);
    return true;
  }
  size_t width = fixed_size(field);
  if (bytes != NULL) get_fixed(field, *at, turn, width, bytes);
  *at += width;
  *size = width;
  return true;
}

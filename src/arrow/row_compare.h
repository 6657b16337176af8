/*
 * Spark's order of rows (docs/PARTITIONING.md), as numbers and byte strings that compare the way
 * the values do:
 *
 *   word   up to 8 bytes a value: bool, integers, dates, times, timestamps, durations, months,
 *          floats, decimals of 32 and 64 bits; a smaller value has a smaller number
 *   wide   decimals of 128 bits, the same in 128
 *   bytes  strings and binaries where they lie, compared as unsigned bytes, a prefix first
 *
 * -0.0 is 0.0, and all NaNs are one value above infinity. Nested types and those without an order
 * in Spark are refused. Dictionaries and runs go by their values, views by their bytes. Nulls are
 * marked, not ordered: whether they come first is a property of the key, not of the value.
 *
 * The functions take up to ROW_BLOCK rows at once, so that callers keep them on the stack.
 */
#ifndef ASHUF_ARROW_ROW_COMPARE_H
#define ASHUF_ARROW_ROW_COMPARE_H

#include "arrow/source.h"

#define ROW_BLOCK 256

enum row_compare_site {
  SITE_COMPARE_TYPE = 575,
  SITE_COMPARE_VALUES = 576,
  SITE_ROW_ENCODE_MEMORY = 577,
  SITE_ROW_ENCODE_SIZE = 578
};

enum row_form { ROW_FORM_REFUSED, ROW_FORM_WORD, ROW_FORM_WIDE, ROW_FORM_BYTES, ROW_FORM_LONG };

typedef unsigned __int128 row_wide;

struct row_bytes {
  const uint8_t *data;
  size_t size;
};

/* What the rows of a column are values of: the field behind a dictionary or runs. */
static inline const struct field *row_values(const struct field *field) {
  if (field->dictionary != NULL) return field->dictionary;
  return field->type == TYPE_RUN_END_ENCODED ? &field->children[1] : field;
}

/* LONG: decimals of 256 bits, which only the encoding of row_encode.h orders. */
enum row_form row_form_of(const struct field *field);

/* UNSUPPORTED_TYPE for a field whose values have no order, naming the column. */
ashuf_status row_compare_check(const struct field *field, struct ashuf_error *error);

/*
 * Rows [first, first + n) of one batch of a column, n <= ROW_BLOCK. valid[i] is 0 for null, whose
 * number is any and whose bytes are none. Columns of the form the function is named after;
 * BAD_ARRAY for offsets or indices out of range.
 */
ashuf_status row_words(const struct source *column, size_t batch, int64_t first, int64_t n,
                       uint64_t *words, uint8_t *valid, struct ashuf_error *error);
ashuf_status row_wides(const struct source *column, size_t batch, int64_t first, int64_t n,
                       row_wide *wides, uint8_t *valid, struct ashuf_error *error);
/* BYTES, and LONG as the 32 bytes that lie there. */
ashuf_status row_strings(const struct source *column, size_t batch, int64_t first, int64_t n,
                         struct row_bytes *strings, uint8_t *valid, struct ashuf_error *error);

/* The value of a word again, as the byte_width little-endian bytes (bool: one) it was made of. */
void row_word_value(const struct field *field, uint64_t word, uint8_t *out);

/* The first 16 bytes as a number, zeros behind the end: orders as the bytes do where it differs. */
static inline row_wide row_prefix(const uint8_t *data, size_t size) {
  uint8_t first[16] = {0};
  if (size < 16) {
    if (size != 0) __builtin_memcpy(first, data, size);
    data = first;
  }
  uint64_t high;
  uint64_t low;
  __builtin_memcpy(&high, data, 8);
  __builtin_memcpy(&low, data + 8, 8);
  return (row_wide)__builtin_bswap64(high) << 64 | __builtin_bswap64(low);
}

/* < 0, 0, > 0 as memcmp, a prefix first. */
static inline int row_bytes_compare(struct row_bytes a, struct row_bytes b) {
  size_t size = a.size < b.size ? a.size : b.size;
  int order = size == 0 ? 0 : __builtin_memcmp(a.data, b.data, size);
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

#endif /* ASHUF_ARROW_ROW_COMPARE_H */

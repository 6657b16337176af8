/*
 * Keys of several columns as one byte string a row that memcmp orders as Spark does, a prefix
 * never meeting its longer: no encoding is the start of another.
 *
 *   for each column   00 null, nulls first | 01 not null | 02 null, nulls last
 *     words           byte_width (bool: 1) bytes, highest first        null: none
 *     wides, longs    16 or 32 bytes, highest first, sign turned
 *     fixed binaries  byte_width bytes
 *     strings         the bytes, each 00 as 00 ff, then 00 00
 *
 * The bytes of a value, not the one in front of it, are inverted where the column descends.
 */
#ifndef ASHUF_ARROW_ROW_ENCODE_H
#define ASHUF_ARROW_ROW_ENCODE_H

#include "arrow/row_compare.h"

struct row_key {
  int32_t column; /* of the source set */
  bool descending;
  bool nulls_last;
};

/* The rows of a block; strings point into bytes, which is reused from block to block. Zeroed at
 * first, row_encoding_free at the end. */
struct row_encoding {
  struct ashuf_buffer bytes;
  struct row_bytes rows[ROW_BLOCK];
};

/* Rows [first, first + n) of one batch of a set, n <= ROW_BLOCK. */
ashuf_status row_encode(const struct source *columns, const struct row_key *keys, int32_t n_keys,
                        size_t batch, int64_t first, int64_t n, ashuf_memory *memory,
                        struct row_encoding *out, struct ashuf_error *error);
void row_encoding_free(struct row_encoding *encoding);

/*
 * One value out of an encoding, which is trusted: from *at on, which moves behind it. field is the
 * one of the plain values. Returns false for null. bytes: room for the value as it lies in an
 * array (words, wides, longs, fixed binaries) or for the string, whose size goes to *size; NULL to
 * learn the size alone. A float comes back with its zero positive and its NaN canonical.
 */
bool row_decode(const struct field *field, const struct row_key *key, const uint8_t **at,
                uint8_t *bytes, size_t *size);

#endif /* ASHUF_ARROW_ROW_ENCODE_H */

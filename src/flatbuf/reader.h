/*
 * A FlatBuffers reader that checks every byte it is about to use.
 *
 * Purpose: read a table slot by slot out of untrusted bytes at any address, without a schema
 * compiler and without a separate verification pass. A position counts from the first byte of
 * the buffer. Nothing is copied; texts and vectors point into the buffer.
 *
 * Interface: every function returns false after it filled the reader's error (BAD_METADATA, at
 * the position of the fault). Absent slots succeed: a table at 0, a text or vector of NULL data.
 *
 *   flatbuf_init -> flatbuf_root -> { flatbuf_i64 | flatbuf_text | flatbuf_table | ... }
 *
 * Rules: those of the Rust verifier (ranges, alignment of scalars, offsets and string lengths
 * relative to the buffer, even vtable lengths, UTF-8 and a NUL behind strings, both slots of a
 * union or none) and these, which every known writer satisfies: a vtable has 4 bytes or more and
 * lies inside the buffer, as does the whole inline part of a table; a slot lies inside the inline
 * part; an offset is 4 or more.
 *
 * Budgets: offsets only go forward, so there are no cycles, but tables and strings can be shared
 * and a shared tree can be walked exponentially often. Each visit of a table, and each byte of
 * each visited range, is charged:
 *   tables: size / 4. Every visit goes through an offset of four bytes of its own, so a writer
 *           that shares no table that holds tables stays below, however long its vectors are.
 *   bytes:  4 * size + 256. Without sharing the sum is below 2 * size, as no table is smaller than
 *           half of itself and its vtable; the rest is room for names that a writer shares.
 */
#ifndef ASHUF_FLATBUF_READER_H
#define ASHUF_FLATBUF_READER_H

#include "base/bytes.h"
#include "base/error.h"

enum flatbuf_site {
  SITE_FLATBUF_SIZE = 300,
  SITE_FLATBUF_OFFSET = 302,
  SITE_FLATBUF_TABLE = 303,
  SITE_FLATBUF_VTABLE = 304,
  SITE_FLATBUF_SLOT = 305,
  SITE_FLATBUF_VECTOR = 306,
  SITE_FLATBUF_TEXT = 307,
  SITE_FLATBUF_NUL = 308,
  SITE_FLATBUF_UTF8 = 309,
  SITE_FLATBUF_UNION = 310,
  SITE_FLATBUF_TABLE_BUDGET = 311,
  SITE_FLATBUF_BYTE_BUDGET = 312
};

struct flatbuf {
  const uint8_t *data;
  size_t size;
  uint64_t offset; /* of data[0] in the stream, for errors */
  uint64_t bytes_left;
  size_t tables_left;
  struct ashuf_error *error;
};

struct flatbuf_table {
  size_t at;            /* 0: absent */
  const uint8_t *slots; /* n_slots u16 */
  uint16_t n_slots;
  uint16_t inline_size;
};

struct flatbuf_text {
  const char *data; /* NULL: absent; a NUL follows the size bytes */
  size_t size;
};

struct flatbuf_vector {
  const uint8_t *data; /* NULL: absent */
  size_t at;           /* position of the first element */
  uint32_t count;
};

void flatbuf_init(struct flatbuf *reader, const uint8_t *data, size_t size, uint64_t offset,
                  struct ashuf_error *error);

/* The root table. */
bool flatbuf_root(struct flatbuf *reader, struct flatbuf_table *out);

/* Fills the error at a position; returns false. */
__attribute__((cold, noinline)) bool flatbuf_fail(struct flatbuf *reader, int site, size_t at,
                                                  const char *what);

/*
 * The position of a slot's inline value of size bytes (1, 2, 4, 8: also its alignment), 0 where
 * the slot is absent.
 */
static inline bool flatbuf_slot(struct flatbuf *reader, const struct flatbuf_table *table,
                                unsigned slot, size_t size, size_t *at) {
  size_t field = slot < table->n_slots ? load_u16(table->slots + 2 * (size_t)slot) : 0;
  *at = table->at + field;
  if (field == 0) {
    *at = 0;
    return true;
  }
  if (field < 4 || !range_inside(field, size, table->inline_size) || (*at & (size - 1)) != 0)
    return flatbuf_fail(reader, SITE_FLATBUF_SLOT, table->at, "field outside its table");
  return true;
}

/* A scalar, or fallback where the slot is absent. */
static inline bool flatbuf_u8(struct flatbuf *reader, const struct flatbuf_table *table,
                              unsigned slot, uint8_t fallback, uint8_t *out) {
  size_t at;
  if (!flatbuf_slot(reader, table, slot, 1, &at)) return false;
  *out = at == 0 ? fallback : reader->data[at];
  return true;
}
static inline bool flatbuf_bool(struct flatbuf *reader, const struct flatbuf_table *table,
                                unsigned slot, bool *out) {
  uint8_t value;
  if (!flatbuf_u8(reader, table, slot, 0, &value)) return false;
  *out = value != 0;
  return true;
}
static inline bool flatbuf_i16(struct flatbuf *reader, const struct flatbuf_table *table,
                               unsigned slot, int16_t fallback, int16_t *out) {
  size_t at;
  if (!flatbuf_slot(reader, table, slot, 2, &at)) return false;
  *out = at == 0 ? fallback : (int16_t)load_u16(reader->data + at);
  return true;
}
static inline bool flatbuf_i32(struct flatbuf *reader, const struct flatbuf_table *table,
                               unsigned slot, int32_t fallback, int32_t *out) {
  size_t at;
  if (!flatbuf_slot(reader, table, slot, 4, &at)) return false;
  *out = at == 0 ? fallback : load_i32(reader->data + at);
  return true;
}
static inline bool flatbuf_i64(struct flatbuf *reader, const struct flatbuf_table *table,
                               unsigned slot, int64_t fallback, int64_t *out) {
  size_t at;
  if (!flatbuf_slot(reader, table, slot, 8, &at)) return false;
  *out = at == 0 ? fallback : load_i64(reader->data + at);
  return true;
}

bool flatbuf_table(struct flatbuf *reader, const struct flatbuf_table *table, unsigned slot,
                   struct flatbuf_table *out);
bool flatbuf_text(struct flatbuf *reader, const struct flatbuf_table *table, unsigned slot,
                  struct flatbuf_text *out);
/* alignment: of the elements (4 or 8), or 1 for structs, which are not checked beyond the 4 of
 * the count. */
bool flatbuf_vector(struct flatbuf *reader, const struct flatbuf_table *table, unsigned slot,
                    size_t element_size, size_t alignment, struct flatbuf_vector *out);
/* Element i < count of a vector of offsets to tables. */
bool flatbuf_vector_table(struct flatbuf *reader, const struct flatbuf_vector *vector, uint32_t i,
                          struct flatbuf_table *out);
/*
 * A union: the type in type_slot and the member behind it. Both slots absent: *type 0. Where the
 * type is 0 or above last_type the member is not looked at, and out is absent.
 */
bool flatbuf_union(struct flatbuf *reader, const struct flatbuf_table *table, unsigned type_slot,
                   uint8_t last_type, uint8_t *type, struct flatbuf_table *out);

/* Whether size bytes are UTF-8: no surrogates, no overlong forms, at most U+10FFFF. */
bool flatbuf_is_utf8(const uint8_t *bytes, size_t size);

#endif /* ASHUF_FLATBUF_READER_H */

/*
 * Inside the reference decoder: memory that goes all at once, refusals that jump out, and the
 * steps in order: ref_decompress, ref_schema, ref_column.
 */
#ifndef TESTS_REF_REF_INT_H
#define TESTS_REF_REF_INT_H

#include "ref/ref.h"

#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

struct ref {
  jmp_buf out;
  struct ref_result *result;
  size_t used;
};

struct span {
  const uint8_t *data;
  size_t size;
};

_Noreturn void ref_refuse(struct ref *ref, const char *reason);
/* Zeroed; lives as long as the result. */
void *ref_alloc(struct ref *ref, size_t n, size_t size);
struct span ref_cut(struct ref *ref, struct span from, uint64_t offset, uint64_t size,
                    const char *reason);

static inline uint64_t ref_load(const uint8_t *at, size_t width) {
  uint64_t value = 0;
  memcpy(&value, at, width);
  return value;
}
static inline int64_t ref_load_signed(const uint8_t *at, size_t width) {
  unsigned unused = 64 - (unsigned)width * 8;
  return (int64_t)(ref_load(at, width) << unused) >> unused;
}

/* ---- Codecs ------------------------------------------------------------------------------ */

struct span ref_decompress(struct ref *ref, const char *tag, struct span payload);
/* One frame of Arrow's body compression: 0 LZ4, 1 ZSTD. */
struct span ref_frame(struct ref *ref, int codec, struct span frame);
uint32_t ref_crc32c(const uint8_t *data, size_t size);
uint32_t ref_xxh32(const uint8_t *data, size_t size);

/* ---- FlatBuffers ------------------------------------------------------------------------- */

struct flat {
  struct ref *ref;
  struct span bytes;
  uint64_t apparent;
  uint32_t tables;
};
struct flat_table {
  size_t at;
  size_t vtable;
  size_t vtable_size;
  size_t inline_size;
  int depth;
};
struct flat_vector {
  size_t at; /* of element 0; 0: absent */
  size_t count;
};

struct flat_table flat_root(struct flat *flat);
/* fallback where the slot is absent. */
int64_t flat_scalar(struct flat *flat, struct flat_table table, int slot, size_t width,
                    int64_t fallback);
bool flat_has(struct flat *flat, struct flat_table table, int slot);
struct flat_table flat_child(struct flat *flat, struct flat_table table, int slot);
struct flat_vector flat_vector(struct flat *flat, struct flat_table table, int slot, size_t element,
                               size_t alignment);
struct flat_table flat_element(struct flat *flat, struct flat_table parent,
                               struct flat_vector vector, size_t i);
struct span flat_string(struct flat *flat, struct flat_table table, int slot);
/* Walks a [KeyValue]. */
void flat_check_metadata(struct flat *flat, struct flat_table table, int slot);
bool ref_utf8(struct span text);

/* ---- Schema ------------------------------------------------------------------------------ */

enum ref_type {
  REF_NULL = 1,
  REF_INT,
  REF_FLOAT,
  REF_BINARY,
  REF_UTF8,
  REF_BOOL,
  REF_DECIMAL,
  REF_DATE,
  REF_TIME,
  REF_TIMESTAMP,
  REF_INTERVAL,
  REF_LIST,
  REF_STRUCT,
  REF_UNION,
  REF_FIXED_BINARY,
  REF_FIXED_LIST,
  REF_MAP,
  REF_DURATION,
  REF_LARGE_BINARY,
  REF_LARGE_UTF8,
  REF_LARGE_LIST,
  REF_RUN_ENDS,
  REF_BINARY_VIEW,
  REF_UTF8_VIEW,
  REF_LIST_VIEW,
  REF_LARGE_LIST_VIEW
};

struct ref_field {
  int type;      /* of the values */
  int64_t width; /* of a value in bytes, of an offset in those that have offsets */
  bool is_signed;
  int64_t list_size;
  bool dense;
  int64_t *type_ids;
  struct ref_field *children;
  size_t n_children;
  bool has_dictionary;
  int64_t dictionary;
  int64_t index_width;
  bool index_signed;
};

struct ref_schema {
  struct ref_field *columns;
  size_t n_columns;
};

void ref_read_schema(struct flat *flat, struct flat_table message, struct ref_schema *out);
/* Whether a schema has a field that offsets stored as lengths do not cover. */
bool ref_has_unmapped(const struct ref_field *fields, size_t n);
const struct ref_field *ref_find_dictionary(const struct ref_field *fields, size_t n, int64_t id);

/* ---- Batches ----------------------------------------------------------------------------- */

struct ref_column {
  int64_t n;
  const char **text;
};

struct ref_dictionary {
  int64_t id;
  struct ref_column values;
  struct ref_dictionary *next;
};

struct ref_batch {
  struct ref *ref;
  struct span nodes, buffers, variadic, body;
  int compression; /* -1: none */
  bool is_v4;
  bool lengths; /* offsets are stored as lengths */
  struct ref_dictionary *dictionaries;
};

/* A field of the batch as text; as_values: a dictionary's values, not its indices. */
struct ref_column ref_read_column(struct ref_batch *batch, const struct ref_field *field,
                                  bool as_values);
/* The next node's length and null count, the next buffer, body compression undone. */
int64_t ref_next_node(struct ref_batch *batch, int64_t *null_count);
struct span ref_next_buffer(struct ref_batch *batch);
/* n offsets of width bytes, lengths undone; checked not to fall and to end within limit. */
const int64_t *ref_next_offsets(struct ref_batch *batch, int64_t n, size_t width);

#endif /* TESTS_REF_REF_INT_H */

/*
 * A schema as a tree of fields in one arena. Built by the importer of the C Data Interface
 * (schema_import.c) or by the reader of schema messages (ipc/schema_read.c), in this order:
 *
 *   schema_new -> schema_add_columns, filling each field, children from schema->arena
 *              -> schema_seal (checks every parameter, counts, numbers dictionaries)
 *              -> immutable, shared, counted
 *
 * A dictionary-encoded column is a field of its index type whose dictionary points to the field
 * of the values, as in the C Data Interface.
 */
#ifndef ASHUF_ARROW_SCHEMA_H
#define ASHUF_ARROW_SCHEMA_H

#include "arrow/type.h"
#include "base/arena.h"
#include "base/error.h"

#include <ashuf/block.h>
#include <stdatomic.h>

/* Levels of nested fields a schema may have; columns are level 1. */
#define MAX_FIELD_DEPTH 60

struct key_value {
  const char *key; /* NUL-terminated, may hold NULs inside */
  const char *value;
  int32_t key_size;
  int32_t value_size;
};

struct field {
  const char *name; /* NUL-terminated */
  size_t name_size;
  struct field *children;
  struct field *dictionary; /* the values' field; NULL where not dictionary-encoded */
  const char *timezone;     /* Timestamp: NULL or not empty */
  const int8_t *type_ids;   /* unions: n_children ids */
  const struct key_value *metadata;
  int64_t dictionary_id; /* as read; numbered by schema_seal when number_dictionaries */
  int32_t n_children;
  int32_t n_metadata;
  int32_t byte_width; /* of a value (Fixed layouts, FixedSizeBinary) or an offset; 0 for bits */
  int32_t list_size;  /* FixedSizeList */
  int32_t precision;  /* decimals */
  int32_t scale;
  uint8_t type; /* enum arrow_type; the index type where dictionary-encoded */
  uint8_t unit; /* enum time_unit; times, timestamps, durations */
  bool nullable;
  bool dictionary_ordered;
  bool keys_sorted; /* Map */
};

struct schema_message; /* ipc/schema_write.h: the encoded message */

struct ashuf_schema {
  atomic_uint references;
  ashuf_memory *memory;
  struct arena arena;
  struct field *columns;
  int32_t n_columns;
  const struct key_value *metadata;
  int32_t n_metadata;

  /* Counted by schema_seal over the columns in pre-order, dictionary values left out: */
  int32_t n_nodes;    /* field nodes of a record batch */
  int32_t n_buffers;  /* buffers of a record batch, without variadic data buffers */
  int32_t n_variadic; /* view fields */
  /* The same, dictionary values included: */
  int32_t n_arrays;      /* ArrowArray structs of a batch, the root left out */
  int32_t n_pointers;    /* buffer pointers of those, without variadic data buffers */
  int32_t n_dictionaries;
  int32_t depth;

  /* Made on first use by any thread, published with compare-and-swap: */
  _Atomic(struct schema_message *) message;
  _Atomic(ashuf_schema *) plain; /* the same with dictionaries replaced by their values */
};

/* NULL: out of memory. One reference. */
ashuf_schema *schema_new(ashuf_memory *memory);
/* Zeroed fields (names ""), from the schema's arena; NULL: out of memory. */
struct field *schema_fields(ashuf_schema *schema, int32_t n);

/*
 * Checks every field (parameters, child counts, depth, index types) and fills the counters.
 * number_dictionaries gives ids as arrow-rs does: from 0, in the order of FORMAT.md 6.3 (nested
 * ones before the enclosing one). Errors: BAD_SCHEMA, UNSUPPORTED_TYPE, naming the column.
 */
ashuf_status schema_seal(ashuf_schema *schema, bool number_dictionaries,
                         struct ashuf_error *error);

/*
 * The first column type this version cannot read or write yet is UNSUPPORTED_TYPE, by name.
 * schema_seal calls it; one table in schema.c says what is supported.
 */
ashuf_status schema_check_supported(const ashuf_schema *schema, struct ashuf_error *error);

/* Same type, parameters, children, nullability, names; metadata, dictionary ids left out. */
bool field_equal(const struct field *a, const struct field *b);

/* "decimal128(12, 2)", "timestamp(us, UTC)", "dictionary<int32, utf8>", "list<item: int32>" … */
ashuf_status field_format_type(const struct field *field, struct ashuf_buffer *out,
                               ashuf_memory *memory, struct ashuf_error *error);

/* SCHEMA_MISMATCH naming the first column that differs, and how. */
ashuf_status schema_require_equal(const ashuf_schema *expected, const ashuf_schema *found,
                                  struct ashuf_error *error);

/* The schema with every dictionary replaced by its values; itself (one more reference) where
 * there is none. NULL: out of memory. */
ashuf_schema *schema_plain(const ashuf_schema *schema);

/* A column's name, escaped for a message. */
const char *field_label(const struct field *field, char *out, size_t capacity);

#endif /* ASHUF_ARROW_SCHEMA_H */

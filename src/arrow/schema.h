/*
 * A schema as a tree of fields in one arena. Built by the importer of the C Data Interface
 * (schema_import.c) or by the reader of schema messages (ipc/schema_read.c), in this order:
 *
 *   schema_new -> schema->columns and n_columns from schema_fields, filling each field; children,
 *                 dictionaries, texts and metadata from schema->arena
 *              -> schema_seal (checks every parameter, counts, numbers dictionaries)
 *              -> immutable, shared, counted
 *   ashuf_schema_free at any point
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

/* Levels of nested fields a schema may have; columns are level 1. As many as fit the 64 levels of
 * tables that other readers allow: message and schema above the fields, a type below. */
#define MAX_FIELD_DEPTH 61
/* Fields a schema may have, nested ones and dictionary values included: no counter overflows. */
#define MAX_FIELDS (1 << 20)

enum schema_site {
  SITE_SCHEMA_ARGUMENT = 400,
  SITE_SCHEMA_MEMORY = 401,
  SITE_SCHEMA_DEPTH = 402,
  SITE_SCHEMA_FIELDS = 403,
  SITE_SCHEMA_CHILDREN = 404,
  SITE_SCHEMA_PARAMETER = 405,
  SITE_SCHEMA_UNION_IDS = 406,
  SITE_SCHEMA_MAP = 407,
  SITE_SCHEMA_RUN_ENDS = 408,
  SITE_SCHEMA_INDEX_TYPE = 409,
  SITE_SCHEMA_NESTED_DICTIONARY = 410,
  SITE_SCHEMA_NOT_SUPPORTED = 411,
  SITE_IMPORT_RELEASED = 420,
  SITE_IMPORT_ROOT = 421,
  SITE_IMPORT_FORMAT = 422,
  SITE_IMPORT_UNKNOWN_FORMAT = 423,
  SITE_IMPORT_CHILDREN = 424,
  SITE_IMPORT_METADATA = 425,
  SITE_IMPORT_UTF8 = 426,
  SITE_EQUAL_COLUMNS = 430,
  SITE_EQUAL_NAME = 431,
  SITE_EQUAL_TYPE = 432
};

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

/* An encoded schema message: the flatbuffer alone, without prefix and padding. Made by
 * ipc/metadata.h, published in the schema, freed with it as sizeof(struct schema_message) + size
 * bytes of the schema's memory. */
struct schema_message {
  size_t size;
  uint8_t bytes[];
};

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
  int32_t n_arrays;   /* ArrowArray structs of a batch, the root left out */
  int32_t n_pointers; /* buffer pointers of those, without variadic data buffers (views: 3,
                       * with the buffer of sizes) */
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
 * Checks every field (parameters, child counts, depth, index types), sets byte_width where the
 * type says it, sorts metadata by key (of equal keys the last stays) and fills the counters.
 * number_dictionaries gives ids as arrow-rs does: from 0, in the order of FORMAT.md 6.3 (nested
 * ones before the enclosing one). Errors: BAD_SCHEMA, UNSUPPORTED_TYPE, naming the column.
 */
ashuf_status schema_seal(ashuf_schema *schema, bool number_dictionaries, struct ashuf_error *error);

/* Same type, parameters, children, nullability, names; metadata, dictionary ids, and the name and
 * nullability of dictionary values (a message does not carry those) left out. */
bool field_equal(const struct field *a, const struct field *b);

/*
 * Appends a type as text. Names of types are those of type_info; names of fields are escaped and
 * cut at 100 characters. "not null" stands behind a nested field that is not nullable.
 *   decimal128(12, 2)   timestamp(us)   timestamp(us, UTC)   time32(ms)   duration(ns)
 *   fixed_size_binary(16)   list<item: int32 not null>   fixed_size_list<item: float32>[3]
 *   struct<a: int32, b: utf8>   map<utf8, int64>   map<utf8, int64, keys sorted>
 *   dictionary<int32, utf8>   dictionary<int32, utf8, ordered>
 *   sparse_union<a: int32=0, b: utf8=1>   run_end_encoded<run_ends: int32 not null, values: utf8>
 */
ashuf_status field_format_type(const struct field *field, struct ashuf_buffer *out,
                               ashuf_memory *memory, struct ashuf_error *error);

/* The same into out, cut where it does not fit (capacity >= 1), for messages. Returns out. */
const char *field_type_text(const struct field *field, char *out, size_t capacity);

/* SCHEMA_MISMATCH naming the first column that differs, and how. */
ashuf_status schema_require_equal(const ashuf_schema *expected, const ashuf_schema *found,
                                  struct ashuf_error *error);

/*
 * Whether the values of found can stand where wanted is declared: the same columns, nullable ones
 * only where that is wanted; a time zone is a label, which wanted says, and a dictionary an
 * encoding (but an ordered one that is wanted has to be one). *alike: arrays need no change.
 * SCHEMA_MISMATCH as above.
 */
ashuf_status schema_reconcile(const ashuf_schema *wanted, const ashuf_schema *found, bool *alike,
                              struct ashuf_error *error);

/* The schema with every dictionary replaced by its values; itself (one more reference) where
 * there is none. NULL: out of memory. */
ashuf_schema *schema_plain(const ashuf_schema *schema);

/* A schema of its own with n columns of another, in that order; numbers NULL: all of them, n being
 * their number. Dictionaries are numbered anew. NULL: out of memory. */
ashuf_schema *schema_pick(const ashuf_schema *schema, const int32_t *numbers, int32_t n,
                          ashuf_memory *memory);

/* One field as an ArrowSchema that owns everything it points to and keeps memory referenced. */
ashuf_status field_export(const struct field *field, ashuf_memory *memory, struct ArrowSchema *out,
                          struct ashuf_error *error);

/* A column's name, escaped for a message; capacity >= 8. */
const char *field_label(const struct field *field, char *out, size_t capacity);

#endif /* ASHUF_ARROW_SCHEMA_H */

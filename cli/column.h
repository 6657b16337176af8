/*
 * A column's type, read once from an ArrowSchema so that printing a value is a switch. Schemas
 * reach this point only through the library, which has checked them.
 */
#ifndef ASHUF_CLI_COLUMN_H
#define ASHUF_CLI_COLUMN_H

#include <ashuf/arrow_abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind {
  KIND_NULL,
  KIND_BOOL,
  KIND_SIGNED,   /* width bytes */
  KIND_UNSIGNED, /* width bytes */
  KIND_FLOAT,    /* width bytes: 2, 4, 8 */
  KIND_DECIMAL,  /* width bytes: 4, 8, 16, 32; scale */
  KIND_DATE32,
  KIND_DATE64,
  KIND_TIME,      /* width bytes; unit */
  KIND_TIMESTAMP, /* unit; zone */
  KIND_DURATION,  /* unit */
  KIND_INTERVAL_MONTHS,
  KIND_INTERVAL_DAY_TIME,
  KIND_INTERVAL_MONTH_DAY_NANO,
  KIND_UTF8,   /* offsets of width bytes */
  KIND_BINARY, /* offsets of width bytes */
  KIND_UTF8_VIEW,
  KIND_BINARY_VIEW,
  KIND_FIXED_BINARY, /* width bytes */
  KIND_LIST,         /* offsets of width bytes */
  KIND_LIST_VIEW,    /* offsets and sizes of width bytes */
  KIND_FIXED_LIST,   /* width values */
  KIND_STRUCT,
  KIND_MAP,
  KIND_SPARSE_UNION,
  KIND_DENSE_UNION,
  KIND_RUN_ENDS,
  KIND_UNKNOWN
};

struct column {
  enum kind kind;
  int64_t width;
  int digits;       /* of the fraction of a second: 0, 3, 6, 9 */
  int32_t scale;    /* of a decimal */
  const char *zone; /* of a timestamp; NULL without */
  const char *name; /* the schema's */
  int64_t n_children;
  struct column *children;
  struct column *dictionary; /* of the values; kind is then the index's */
  int8_t *union_children;    /* 128 entries: type id -> child */
};

/* The schema must live as long as the column. */
void column_init(struct column *out, const struct ArrowSchema *schema);
void column_free(struct column *column);
/* Whether people expect the values at the right edge of a table. */
bool column_is_number(const struct column *column);

/*
 * Whether two schemas print alike: the same names and types, a dictionary counting as its
 * values. Returns -1, or the first column that differs.
 */
int64_t columns_differ(const struct ArrowSchema *a, const struct ArrowSchema *b);

#endif /* ASHUF_CLI_COLUMN_H */

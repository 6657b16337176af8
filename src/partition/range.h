/*
 * Rows to partitions by comparing keys with bounds.
 *
 * Keys and bounds are brought into the cheapest form that compares as the rows do (arrow/
 * row_compare.h): one number a row for a single key of fixed width, the bytes where they lie for a
 * single string, and for everything else an encoded byte string. A row is then a branch-free
 * binary search; byte strings are searched by their first 16 bytes and compared in full only among
 * bounds that share those.
 *
 *   a single key's bounds   [null?] values, ascending whatever the order asked for   [null?]
 *   encoded bounds          in the order asked for, nulls included
 *
 * range_new -> range_ids any number of times, from any thread -> range_free
 */
#ifndef ASHUF_PARTITION_RANGE_H
#define ASHUF_PARTITION_RANGE_H

#include "arrow/row_encode.h"
#include "partition/partition.h"

struct range {
  ashuf_memory *memory; /* not a reference */
  enum row_form form;   /* LONG: encoded */
  bool right;           /* a key equal to a bound lies right of it */
  bool turned;          /* a single key that descends */
  bool nulls_last;      /* of a single key */
  int32_t n;            /* bounds that are not null */
  int32_t n_null;       /* and one that is, of a single key */
  uint64_t *words;      /* n, of the form WORD */
  row_wide *wides;      /* n: of the form WIDE, or the prefixes of strings */
  struct row_bytes *strings;
  uint8_t *bytes; /* what strings point to */
  size_t bytes_size;
  int32_t capacity; /* of words, wides and strings */
  int32_t n_keys;
  struct row_key keys[]; /* of the batches that are placed */
};

/*
 * Checks and prepares the bounds of own, whose keys and orders have been checked. key_schema: of
 * the bounds. NULL bounds: none.
 */
ashuf_status range_new(const ashuf_schema *key_schema, const struct ashuf_partitioning *own,
                       ashuf_memory *memory, struct range **out, struct ashuf_error *error);
void range_free(struct range *range);

/* The partition of every row of one batch of the set. */
ashuf_status range_ids(const struct range *range, const struct source_set *set, size_t batch,
                       int32_t *ids, struct ashuf_error *error);

/* ---- Keys --------------------------------------------------------------------------------- */

/* Whether own's keys exist and have an order, and its orders are some. */
ashuf_status range_check_keys(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                              struct ashuf_error *error);
/* The key columns as a schema of their own; *out is NULL on failure. */
ashuf_status range_key_schema(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                              ashuf_memory *memory, ashuf_schema **out, struct ashuf_error *error);
/* Key i of own; column: its own, or that of the key schema. */
struct row_key range_key(const struct ashuf_partitioning *own, int32_t i, bool of_key_schema);

#endif /* ASHUF_PARTITION_RANGE_H */

/*
 * Spark's Murmur3 hash of rows (docs/PARTITIONING.md): the state of a row runs through its key
 * columns, null leaves it alone.
 */
#ifndef ASHUF_ARROW_ROW_HASH_H
#define ASHUF_ARROW_ROW_HASH_H

#include "arrow/source.h"

#define ROW_HASH_SEED 42u

enum row_hash_site { SITE_HASH_TYPE = 570, SITE_HASH_VALUES = 571 };

/* UNSUPPORTED_TYPE where Spark has no hash for the field's type, naming the column. */
ashuf_status row_hash_check(const struct field *field, struct ashuf_error *error);

/*
 * Folds rows [first, first + n) of one batch of a column into hashes[0, n), which hold the states
 * so far (ROW_HASH_SEED at the start). BAD_ARRAY for offsets or indices out of range.
 */
ashuf_status row_hash_fold(const struct source *column, size_t batch, int64_t first, int64_t n,
                           uint32_t *hashes, struct ashuf_error *error);

/* floorMod(hash, n) of each into ids; 1 <= modulus. */
void row_hash_modulo(const uint32_t *hashes, int64_t n, int32_t modulus, int32_t *ids);

#endif /* ASHUF_ARROW_ROW_HASH_H */

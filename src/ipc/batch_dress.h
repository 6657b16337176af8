/*
 * Plain values dictionary-encoded, as a schema wants them.
 *
 *   plain -> dressed: the dictionary of indices 0, 1, 2 ... , no value copied
 *         -> batch_concat, which leaves the distinct values
 *
 * Where the rows are more than an index type can say, the distinct values may still be few enough:
 * then indices are of 32 bits first, and made narrow when the values have been counted.
 */
#ifndef ASHUF_IPC_BATCH_DRESS_H
#define ASHUF_IPC_BATCH_DRESS_H

#include "arrow/schema.h"

enum { SITE_DRESS_MEMORY = 730, SITE_DRESS_INDEX = 722 };

/*
 * A batch of schema_plain(schema) as one of schema, in memory of its own. plain is borrowed; its
 * arrays have offset 0 and are valid.
 * SIZE_LIMIT, naming the column, where an index type is too small for the distinct values.
 */
ashuf_status batch_dress(const ashuf_schema *schema, const struct ArrowArray *plain,
                         ashuf_memory *memory, struct ArrowArray *out, struct ashuf_error *error);

#endif /* ASHUF_IPC_BATCH_DRESS_H */

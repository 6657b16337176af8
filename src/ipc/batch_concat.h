/*
 * Batches put together: any number of them, of every type, become one in memory of its own, each
 * buffer exactly as large as its values and at a multiple of 64.
 *
 *   batches -> source_set -> plan (sizes) -> one body, filled in place -> arrays over it
 *
 * Dictionary columns become their values, or one dictionary of the values that are used. With one
 * batch this is a conversion of the former kind; batch_dress.h is the way back.
 */
#ifndef ASHUF_IPC_BATCH_CONCAT_H
#define ASHUF_IPC_BATCH_CONCAT_H

#include "arrow/schema.h"

enum { SITE_CONCAT_MEMORY = 720, SITE_CONCAT_SIZE = 721 };

/*
 * The rows of n >= 1 batches of one schema, in order. out_schema is that schema, where dictionaries
 * are kept (no two columns may share an id then), or what schema_plain makes of it. The batches are
 * borrowed; their values have been validated.
 * SIZE_LIMIT where an offset or a dictionary index does not fit: take fewer batches.
 */
ashuf_status batch_concat(const ashuf_schema *schema, const struct ArrowArray *batches, size_t n,
                          const ashuf_schema *out_schema, ashuf_memory *memory,
                          struct ArrowArray *out, struct ashuf_error *error);

#endif /* ASHUF_IPC_BATCH_CONCAT_H */

/*
 * Blocks of one shuffle as batches of one schema: dictionaries become values, or values
 * dictionaries; labels of time zones are the schema's. What need not change is passed on as it is.
 */
#ifndef ASHUF_SHUFFLE_UNIFY_H
#define ASHUF_SHUFFLE_UNIFY_H

#include "arrow/schema.h"

#define UNIFY_KNOWN 8

struct unify_known {
  ashuf_schema *found; /* a reference */
  bool alike;
};

struct unifier {
  ashuf_memory *memory;
  ashuf_schema *wanted; /* a reference */
  struct unify_known known[UNIFY_KNOWN];
  unsigned next; /* the entry replaced next */
};

/* Takes a reference to wanted. */
void unify_init(struct unifier *unifier, const ashuf_schema *wanted, ashuf_memory *memory);
void unify_free(struct unifier *unifier);
/* batch, of schema found, becomes one of the wanted schema; on failure it is as it was. Errors:
 * SCHEMA_MISMATCH, SIZE_LIMIT, no memory. */
ashuf_status unify_batch(struct unifier *unifier, const ashuf_schema *found,
                         struct ArrowArray *batch, struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_UNIFY_H */

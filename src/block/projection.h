/*
 * Some columns of a schema: which, where they go, and the schema of what comes out. Kept from block
 * to block, as the schema cache keeps schemas, so that the same pointer means the same schema.
 */
#ifndef ASHUF_BLOCK_PROJECTION_H
#define ASHUF_BLOCK_PROJECTION_H

#include "arrow/schema.h"

#define PROJECTIONS 4

enum { SITE_PROJECTION_MEMORY = 880, SITE_PROJECTION_COLUMN = 881, SITE_PROJECTION_TWICE = 882 };

struct projection {
  ashuf_schema *from; /* references */
  ashuf_schema *to;
  int32_t n;
  int32_t *numbers; /* n columns of from, in the order of to */
  int32_t *places;  /* for each column of from its place in to, or -1; same allocation */
};

/* Zero-initialised: empty. */
struct projections {
  struct projection entries[PROJECTIONS];
  unsigned next; /* the entry replaced next */
};

/* The projection that options ask for, which has columns. It stays until as many others were
 * asked for. INVALID_ARGUMENT, OUT_OF_MEMORY. */
ashuf_status projections_find(struct projections *projections, const ashuf_schema *schema,
                              const struct ashuf_decode_options *options,
                              const struct projection **out, struct ashuf_error *error);
void projections_clear(struct projections *projections);

/* The columns options name, all of them without a projection: a reference. */
ashuf_status projection_schema(const ashuf_schema *schema,
                               const struct ashuf_decode_options *options, ashuf_schema **out,
                               struct ashuf_error *error);

#endif /* ASHUF_BLOCK_PROJECTION_H */

/*
 * Some columns of Arrow batches, in an order of one's own: for inputs whose reader gives all of
 * them. Nothing is copied; a projected batch keeps the whole one alive.
 *
 * Order: project_open -> project_batch any number of times -> project_close, which takes a zeroed
 * one too.
 */
#ifndef ASHUF_CLI_PROJECT_H
#define ASHUF_CLI_PROJECT_H

#include "keys.h"

struct projection {
  struct keys keys; /* n 0: all columns */
};

/*
 * Finds the names in *schema, which becomes the schema of what comes out. Says what is wrong and
 * returns an exit status; *schema is then as it was. path: of the input, for messages.
 */
int project_open(struct projection *out, const char *const *names, size_t n, const char *path,
                 ashuf_schema **schema);
/* Moves a batch of the whole schema into one of the columns. */
void project_batch(const struct projection *projection, struct ArrowArray *batch);
void project_close(struct projection *projection);

#endif /* ASHUF_CLI_PROJECT_H */

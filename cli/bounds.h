/*
 * The bounds of ranges from an Arrow IPC file. Its batches go through one block without codec,
 * which puts them together and makes dictionaries their values: what a partitioner takes.
 */
#ifndef ASHUF_CLI_BOUNDS_H
#define ASHUF_CLI_BOUNDS_H

#include "cli.h"

/*
 * All rows of the file at path, whose columns have to be of the types of key_schema, in its order,
 * whatever their names. *out is left alone where there are no rows. Returns an exit status.
 */
int bounds_read(const char *path, const ashuf_schema *key_schema, struct ArrowArray *out);

#endif /* ASHUF_CLI_BOUNDS_H */

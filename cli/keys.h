/* Columns by name, and what to say where a schema does not have them. */
#ifndef ASHUF_CLI_KEYS_H
#define ASHUF_CLI_KEYS_H

#include "cli.h"

struct keys {
  int32_t *columns;
  int32_t n;
};

/*
 * The columns that a list of names, separated by commas, means. Where one is missing, says so
 * with the nearest that exists, and returns EXIT_USAGE. A name that has a comma or begins with a
 * quotation mark stands in quotation marks, in which two are one, as in CSV; a list that as a
 * whole is a column's name needs none.
 */
int keys_find(struct keys *out, const char *list, const ashuf_schema *schema, const char *path);
void keys_free(struct keys *keys);

/*
 * Says in which column, from column first on, the schema of path differs from that of the other;
 * EXIT_BAD_DATA.
 */
int schema_tell_difference(const char *path, const ashuf_schema *schema, const char *other_path,
                           const ashuf_schema *other, int64_t first);

#endif /* ASHUF_CLI_KEYS_H */

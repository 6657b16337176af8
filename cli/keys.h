/* Columns by name, and what to say where a schema does not have them. */
#ifndef ASHUF_CLI_KEYS_H
#define ASHUF_CLI_KEYS_H

#include "cli.h"

struct keys {
  int32_t *columns;
  int32_t n;
};

/*
 * Takes the first name off *rest, a list that is changed: *rest then is behind the comma, or NULL
 * at the end. What stands between the closing mark of a name in quotation marks and the comma is
 * *behind; for other names that is NULL. Returns NULL where the marks are not closed.
 */
const char *keys_take_name(char **rest, char **behind);

/*
 * The columns that a list of names, separated by commas, means. Where one is missing, says so
 * with the nearest that exists, and returns EXIT_USAGE. A name that has a comma or begins with a
 * quotation mark stands in quotation marks, in which two are one, as in CSV; a list that as a
 * whole is a column's name needs none.
 */
int keys_find(struct keys *out, const char *list, const ashuf_schema *schema, const char *path);
/* One more column; its name is not empty. */
int keys_add(struct keys *out, const char *name, const ashuf_schema *schema, const char *path);
void keys_free(struct keys *keys);

/*
 * Says in which column, from column first on, the schema of path differs from that of the other;
 * EXIT_BAD_DATA.
 */
int schema_tell_difference(const char *path, const ashuf_schema *schema, const char *other_path,
                           const ashuf_schema *other, int64_t first);

#endif /* ASHUF_CLI_KEYS_H */

#include "keys.h"

#include "failure.h"
#include "nearest.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int tell_missing(const char *name, const ashuf_schema *schema, const char *path) {
  size_t n = (size_t)ashuf_schema_n_columns(schema);
  const char **names = must_allocate(n, sizeof *names);
  for (size_t i = 0; i < n; i++) names[i] = ashuf_schema_column_name(schema, (int64_t)i);
  const char *meant = nearest_word(name, names, n);
  (void)(meant != NULL ? fail_data(path, "no column '%s'; did you mean '%s'?", name, meant)
                       : fail_data(path, "no column '%s' among its %zu columns", name, n));
  free(names);
  return EXIT_USAGE;
}

int keys_add(struct keys *out, const char *name, const ashuf_schema *schema, const char *path) {
  int64_t column = ashuf_schema_find_column(schema, name);
  if (column < 0) return tell_missing(name, schema, path);
  out->columns = must_grow(out->columns, (size_t)out->n + 1, sizeof *out->columns);
  out->columns[out->n++] = (int32_t)column;
  return EXIT_GOOD;
}

/* The name in quotation marks at the start of *rest, its marks undone in place. */
static const char *take_quoted(char **rest, char **behind) {
  char *name = *rest + 1;
  char *to = name;
  char *from = name;
  while (from[0] != '\0' && (from[0] != '"' || from[1] == '"')) {
    from += from[0] == '"';
    *to++ = *from++;
  }
  if (from[0] == '\0') return NULL;
  *to = '\0';
  *rest = from + 1;
  *behind = strsep(rest, ",");
  return name;
}

const char *keys_take_name(char **rest, char **behind) {
  *behind = NULL;
  return (*rest)[0] == '"' ? take_quoted(rest, behind) : strsep(rest, ",");
}

static int add_name(struct keys *out, const char *name, const char *behind,
                    const ashuf_schema *schema, const char *path) {
  if (name == NULL || (behind != NULL && behind[0] != '\0'))
    return fail_usage("write",
                      "--hash: a quoted name is not closed in front of a comma or the end");
  if (name[0] == '\0' && ashuf_schema_find_column(schema, name) < 0)
    return fail_usage("write", "--hash: a column name is empty");
  return keys_add(out, name, schema, path);
}

int keys_find(struct keys *out, const char *list, const ashuf_schema *schema, const char *path) {
  int status = EXIT_GOOD;
  if (ashuf_schema_find_column(schema, list) >= 0) return keys_add(out, list, schema, path);
  char *names = must_copy(list);
  char *rest = names;
  while (rest != NULL && status == EXIT_GOOD) {
    char *behind;
    const char *name = keys_take_name(&rest, &behind);
    status = add_name(out, name, behind, schema, path);
  }
  free(names);
  if (status != EXIT_GOOD) keys_free(out);
  return status;
}

void keys_free(struct keys *keys) {
  free(keys->columns);
  keys->columns = NULL;
  keys->n = 0;
}

/* "'id' int64 not null", or "missing". */
static void add_column(struct text *out, const ashuf_schema *schema, int64_t column) {
  struct ashuf_buffer type = ASHUF_BUFFER_INIT;
  struct ArrowSchema arrow;
  const char *name = ashuf_schema_column_name(schema, column);
  if (name == NULL) {
    text_puts(out, "missing");
    return;
  }
  text_printf(out, "'%s' ", name);
  if (ashuf_schema_format_type(schema, column, &type, NULL) == ASHUF_OK)
    text_add(out, type.data, type.size);
  ashuf_buffer_free(&type);
  if (ashuf_schema_export(schema, &arrow, NULL) != ASHUF_OK) return;
  if ((arrow.children[column]->flags & ARROW_FLAG_NULLABLE) == 0) text_puts(out, " not null");
  arrow.release(&arrow);
}

int schema_tell_difference(const char *path, const ashuf_schema *schema, const char *other_path,
                           const ashuf_schema *other, int64_t first) {
  struct text here = TEXT_INIT;
  struct text there = TEXT_INIT;
  int64_t n = ashuf_schema_n_columns(schema);
  int64_t n_other = ashuf_schema_n_columns(other);
  int status = EXIT_BAD_DATA;
  bool told = false;
  for (int64_t i = first; !told && i < (n > n_other ? n : n_other); i++) {
    here.size = there.size = 0;
    add_column(&here, schema, i);
    add_column(&there, other, i);
    told = strcmp(text_terminated(&here), text_terminated(&there)) != 0;
    if (told)
      status = fail_data(path, "another schema: column %" PRId64 " is %s here and %s in %s", i,
                         text_terminated(&here), text_terminated(&there), shown_path(other_path));
  }
  if (!told) status = fail_data(path, "another schema than that of %s", shown_path(other_path));
  text_free(&here);
  text_free(&there);
  return status;
}

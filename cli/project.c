#include "project.h"

#include "failure.h"
#include "limit.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static int find_columns(struct keys *out, const char *const *names, size_t n,
                        const ashuf_schema *schema, const char *path) {
  for (size_t i = 0; i < n; i++) {
    int status = keys_add(out, names[i], schema, path);
    if (status != EXIT_GOOD) return status;
    for (int32_t k = 0; k < out->n - 1; k++)
      if (out->columns[k] == out->columns[out->n - 1])
        return fail_usage("cat", "--columns: '%s' is asked for twice", names[i]);
  }
  return EXIT_GOOD;
}

/* The schema of the columns; whole is what it was exported as. */
static ashuf_status pick(const struct keys *keys, const struct ArrowSchema *whole,
                         ashuf_schema **schema, struct ashuf_error *error) {
  ashuf_schema *picked = NULL;
  struct ArrowSchema view = *whole;
  view.children = must_allocate((size_t)keys->n, sizeof(struct ArrowSchema *));
  view.n_children = keys->n;
  for (int32_t i = 0; i < keys->n; i++) view.children[i] = whole->children[keys->columns[i]];
  ashuf_status status = ashuf_schema_import(&view, limit_memory(), &picked, error);
  free(view.children);
  if (status != ASHUF_OK) return status;
  ashuf_schema_free(*schema);
  *schema = picked;
  return ASHUF_OK;
}

int project_open(struct projection *out, const char *const *names, size_t n, const char *path,
                 ashuf_schema **schema) {
  struct ArrowSchema whole;
  struct ashuf_error error;
  memset(out, 0, sizeof *out);
  int status = find_columns(&out->keys, names, n, *schema, path);
  if (status == EXIT_GOOD && ashuf_schema_export(*schema, &whole, &error) != ASHUF_OK)
    return fail_error(path, &error);
  if (status != EXIT_GOOD) return status;
  if (pick(&out->keys, &whole, schema, &error) != ASHUF_OK) status = fail_error(path, &error);
  whole.release(&whole);
  return status;
}

/* ---- Batches ------------------------------------------------------------------------------ */

static void release_view(struct ArrowArray *view) {
  struct ArrowArray *whole = view->private_data;
  whole->release(whole);
  free(whole);
  free(view->children);
  view->release = NULL;
}

void project_batch(const struct projection *projection, struct ArrowArray *batch) {
  const struct keys *keys = &projection->keys;
  if (keys->n == 0 || batch->release == NULL) return;
  struct ArrowArray *whole = must_allocate(1, sizeof *whole);
  *whole = *batch;
  batch->children = must_allocate((size_t)keys->n, sizeof(struct ArrowArray *));
  batch->n_children = keys->n;
  for (int32_t i = 0; i < keys->n; i++) batch->children[i] = whole->children[keys->columns[i]];
  batch->private_data = whole;
  batch->release = release_view;
}

void project_close(struct projection *projection) { keys_free(&projection->keys); }

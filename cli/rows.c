#include "rows.h"

#include "failure.h"
#include "keys.h"
#include "output.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static void encoding_free(struct encoding *encoding) {
  if (encoding->arrow.release != NULL) {
    column_free(&encoding->root);
    encoding->arrow.release(&encoding->arrow);
  }
  ashuf_schema_free(encoding->schema);
  memset(encoding, 0, sizeof *encoding);
}

static ashuf_status encoding_init(struct encoding *out, const ashuf_schema *schema,
                                  struct ashuf_error *error) {
  encoding_free(out);
  ashuf_status status = ashuf_schema_export(schema, &out->arrow, error);
  if (status != ASHUF_OK) {
    out->arrow.release = NULL;
    return status;
  }
  out->schema = ashuf_schema_ref(schema);
  column_init(&out->root, &out->arrow);
  return ASHUF_OK;
}

static int tell_encoding(const struct rows *rows, const char *path) {
  return fail_data(path,
                   "columns are encoded in another way than in %s, which one Arrow stream cannot "
                   "hold; use --format csv or jsonl",
                   shown_path(rows->first_path));
}

static int begin(struct rows *rows, const char *path) {
  struct ashuf_error error;
  if (encoding_init(&rows->first, rows->now.schema, &error) != ASHUF_OK)
    return fail_error(path, &error);
  rows->first_path = must_copy(path);
  return rows->sink->class->begin(rows->sink, &rows->first.root, rows->first.schema);
}

void rows_init(struct rows *rows, struct sink *sink, int64_t limit) {
  memset(rows, 0, sizeof *rows);
  rows->sink = sink;
  rows->limit = limit;
}

int rows_schema(struct rows *rows, const char *path, const ashuf_schema *schema) {
  struct ashuf_error error;
  if (schema == rows->now.schema) return EXIT_GOOD;
  if (encoding_init(&rows->now, schema, &error) != ASHUF_OK) return fail_error(path, &error);
  if (rows->first.schema == NULL) return begin(rows, path);
  int64_t column = columns_differ(&rows->now.arrow, &rows->first.arrow);
  if (column >= 0)
    return schema_tell_difference(path, rows->now.schema, rows->first_path, rows->first.schema,
                                  column);
  if (rows->sink->class->exact && !ashuf_schema_equal(rows->now.schema, rows->first.schema))
    return tell_encoding(rows, path);
  return EXIT_GOOD;
}

bool rows_full(const struct rows *rows) { return rows->limit >= 0 && rows->n >= rows->limit; }

bool rows_begun(const struct rows *rows) { return rows->first.schema != NULL; }

int rows_put(struct rows *rows, struct ArrowArray *batch) {
  int64_t n = batch->length;
  int64_t left = rows->limit >= 0 ? rows->limit - rows->n : n;
  int status = EXIT_GOOD;
  if (n > left) n = left;
  if (n > 0)
    status = rows->sink->class->rows(rows->sink, &rows->now.root, rows->now.schema, batch, n);
  rows->n += n;
  batch->release(batch);
  return status != EXIT_GOOD ? status : output_failed() ? EXIT_IO : EXIT_GOOD;
}

int rows_end(struct rows *rows) { return rows->sink->class->end(rows->sink); }

void rows_free(struct rows *rows) {
  if (rows->sink != NULL) rows->sink->class->release(rows->sink);
  encoding_free(&rows->first);
  encoding_free(&rows->now);
  free(rows->first_path);
}

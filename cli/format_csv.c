/*
 * Comma-separated values as RFC 4180 has them, with line feeds: a header, then a line a row. A
 * null is an empty field, an empty string is "".
 */
#include "output.h"
#include "sink.h"
#include "text.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>

struct csv_sink {
  struct sink base;
  struct text line;
};

static bool wants_quotes(const char *bytes, size_t size) {
  if (size == 0) return true;
  for (size_t i = 0; i < size; i++)
    if (bytes[i] == ',' || bytes[i] == '"' || bytes[i] == '\n' || bytes[i] == '\r') return true;
  return false;
}

/* Quotes the field that starts at start, where it wants quotes. */
static void quote(struct text *line, size_t start) {
  size_t size = line->size - start;
  if (!wants_quotes(line->data + start, size)) return;
  struct text plain = TEXT_INIT;
  text_add(&plain, line->data + start, size);
  line->size = start;
  text_char(line, '"');
  for (size_t i = 0; i < size; i++) {
    if (plain.data[i] == '"') text_char(line, '"');
    text_char(line, plain.data[i]);
  }
  text_char(line, '"');
  text_free(&plain);
}

static int csv_begin(struct sink *sink, const struct column *root, const ashuf_schema *schema) {
  struct csv_sink *self = (struct csv_sink *)sink;
  (void)schema;
  for (int64_t i = 0; i < root->n_children; i++) {
    if (i > 0) text_char(&self->line, ',');
    size_t start = self->line.size;
    text_utf8(&self->line, root->children[i].name, strlen(root->children[i].name));
    (void)text_terminated(&self->line);
    quote(&self->line, start);
  }
  text_char(&self->line, '\n');
  output_text(&self->line);
  return EXIT_GOOD;
}

static void add_row(struct text *line, const struct column *root, const struct ArrowArray *batch,
                    int64_t row) {
  for (int64_t i = 0; i < root->n_children; i++) {
    const struct column *column = &root->children[i];
    if (i > 0) text_char(line, ',');
    if (value_is_null(column, batch->children[i], row)) continue;
    size_t start = line->size;
    value_text(line, column, batch->children[i], row);
    (void)text_terminated(line);
    quote(line, start);
  }
  text_char(line, '\n');
}

static int csv_rows(struct sink *sink, const struct column *root, const ashuf_schema *schema,
                    const struct ArrowArray *batch, int64_t n) {
  struct csv_sink *self = (struct csv_sink *)sink;
  (void)schema;
  for (int64_t row = 0; row < n && !output_failed(); row++) {
    add_row(&self->line, root, batch, row + batch->offset);
    output_text(&self->line);
  }
  return EXIT_GOOD;
}

static int csv_end(struct sink *sink) {
  (void)sink;
  return EXIT_GOOD;
}

static void csv_release(struct sink *sink) {
  text_free(&((struct csv_sink *)sink)->line);
  free(sink);
}

struct sink *sink_new_csv(void) {
  static const struct sink_class class = {csv_begin, csv_rows, csv_end, csv_release, false};
  struct csv_sink *self = must_allocate(1, sizeof *self);
  self->base.class = &class;
  return &self->base;
}

/* JSON lines: one object a row, in the order of the columns. */
#include "output.h"
#include "sink.h"
#include "text.h"
#include "value.h"

#include <stdlib.h>

struct jsonl_sink {
  struct sink base;
  struct text line;
};

static int jsonl_begin(struct sink *sink, const struct column *root, const ashuf_schema *schema) {
  (void)sink;
  (void)root;
  (void)schema;
  return EXIT_GOOD;
}

static int jsonl_rows(struct sink *sink, const struct column *root, const ashuf_schema *schema,
                      const struct ArrowArray *batch, int64_t n) {
  struct jsonl_sink *self = (struct jsonl_sink *)sink;
  (void)schema;
  for (int64_t row = 0; row < n && !output_failed(); row++) {
    value_json_object(&self->line, root, batch, row);
    text_char(&self->line, '\n');
    output_text(&self->line);
  }
  return EXIT_GOOD;
}

static int jsonl_end(struct sink *sink) {
  (void)sink;
  return EXIT_GOOD;
}

static void jsonl_release(struct sink *sink) {
  text_free(&((struct jsonl_sink *)sink)->line);
  free(sink);
}

struct sink *sink_new_jsonl(void) {
  static const struct sink_class class = {jsonl_begin, jsonl_rows, jsonl_end, jsonl_release, false};
  struct jsonl_sink *self = must_allocate(1, sizeof *self);
  self->base.class = &class;
  return &self->base;
}

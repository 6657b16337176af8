/* An Arrow IPC stream, which pyarrow, DuckDB, polars and `ashuf` itself read. */
#include "failure.h"
#include "limit.h"
#include "output.h"
#include "sink.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>

struct arrow_sink {
  struct sink base;
  ashuf_ipc_writer *writer;
};

/* Failures stick in output.c; the errno only ends the writing. */
static int write_bytes(void *unused, const void *data, size_t size) {
  (void)unused;
  output_write(data, size);
  return output_failed() ? EIO : 0;
}

/* A failed standard output is told once, by output_finish. */
static int told(ashuf_status status, const struct ashuf_error *error) {
  if (status == ASHUF_OK) return EXIT_GOOD;
  if (output_failed()) return EXIT_IO;
  return fail_error("standard output", error);
}

static int arrow_begin(struct sink *sink, const struct column *root, const ashuf_schema *schema) {
  struct arrow_sink *self = (struct arrow_sink *)sink;
  struct ashuf_error error;
  (void)root;
  return told(
      ashuf_ipc_writer_new(schema, limit_memory(), write_bytes, NULL, &self->writer, &error),
      &error);
}

static void keep(struct ArrowArray *array) { array->release = NULL; }

/* A batch cut to its first n rows: a view of it that borrows everything. */
static struct ArrowArray first_rows(const struct ArrowArray *batch, int64_t n) {
  struct ArrowArray view = *batch;
  view.length = n;
  view.null_count = batch->null_count == 0 ? 0 : -1;
  view.release = keep; /* only says that the view is alive */
  return view;
}

static int arrow_rows(struct sink *sink, const struct column *root, const ashuf_schema *schema,
                      const struct ArrowArray *batch, int64_t n) {
  struct arrow_sink *self = (struct arrow_sink *)sink;
  struct ashuf_error error;
  struct ArrowArray view = first_rows(batch, n);
  (void)root;
  (void)schema;
  return told(ashuf_ipc_writer_write(self->writer, n == batch->length ? batch : &view, &error),
              &error);
}

static int arrow_end(struct sink *sink) {
  struct arrow_sink *self = (struct arrow_sink *)sink;
  struct ashuf_error error;
  return told(ashuf_ipc_writer_finish(self->writer, &error), &error);
}

static void arrow_release(struct sink *sink) {
  ashuf_ipc_writer_free(((struct arrow_sink *)sink)->writer);
  free(sink);
}

struct sink *sink_new_arrow(void) {
  static const struct sink_class class = {arrow_begin, arrow_rows, arrow_end, arrow_release, true};
  struct arrow_sink *self = must_allocate(1, sizeof *self);
  self->base.class = &class;
  return &self->base;
}

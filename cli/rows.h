/*
 * Rows of one or several inputs on their way to a sink (sink.h), which sees one schema.
 *
 * Order: rows_schema for the first batch of an input and wherever its schema changes, rows_put
 * for each batch, rows_end once; rows_free in any case. The functions return exit statuses.
 */
#ifndef ASHUF_CLI_ROWS_H
#define ASHUF_CLI_ROWS_H

#include "sink.h"

/* How batches are encoded. */
struct encoding {
  ashuf_schema *schema;
  struct ArrowSchema arrow;
  struct column root;
};

struct rows {
  struct sink *sink;
  int64_t limit; /* -1: none */
  int64_t n;     /* put so far */
  struct encoding first;
  struct encoding now;
  char *first_path;
};

/* Takes the sink. */
void rows_init(struct rows *rows, struct sink *sink, int64_t limit);
/* The schema of what follows; the first one begins the output. */
int rows_schema(struct rows *rows, const char *path, const ashuf_schema *schema);
/* Prints a batch, up to the limit, and releases it. */
int rows_put(struct rows *rows, struct ArrowArray *batch);
bool rows_full(const struct rows *rows);
/* Whether there was a schema. */
bool rows_begun(const struct rows *rows);
int rows_end(struct rows *rows);
void rows_free(struct rows *rows);

#endif /* ASHUF_CLI_ROWS_H */

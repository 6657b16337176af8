/*
 * Where the rows of cat go: one sink a format. Order: begin once, rows any number of times, end
 * once; release in any case. begin does not come where no schema was found.
 */
#ifndef ASHUF_CLI_SINK_H
#define ASHUF_CLI_SINK_H

#include "cli.h"
#include "column.h"

struct sink;

struct sink_class {
  /* root is the struct of all columns; schema the library's view of the same. */
  int (*begin)(struct sink *sink, const struct column *root, const ashuf_schema *schema);
  /* The first n rows of batch, whose encoding root tells (it may differ from begin's). */
  int (*rows)(struct sink *sink, const struct column *root, const ashuf_schema *schema,
              const struct ArrowArray *batch, int64_t n);
  int (*end)(struct sink *sink);
  void (*release)(struct sink *sink);
  bool exact; /* schemas must be equal in encoding too */
};

struct sink {
  const struct sink_class *class;
};

/* Each returns an allocated sink, which its release frees. The functions return exit statuses. */
struct sink *sink_new_csv(void);
struct sink *sink_new_jsonl(void);
struct sink *sink_new_arrow(void);
/* columns: of the terminal; 0: as wide as need be. */
struct sink *sink_new_box(size_t columns);

#endif /* ASHUF_CLI_SINK_H */

/*
 * What cat reads of its inputs: partitions, map outputs, parts, columns.
 *
 * selection_read takes the options; the inputs are then asked about one by one in their order.
 * The functions return exit statuses.
 */
#ifndef ASHUF_CLI_SELECTION_H
#define ASHUF_CLI_SELECTION_H

#include "inputs.h"
#include "range.h"

struct selection_options {
  const char *partitions;
  const char *maps;
  const char *part;
  const char *columns;
};

struct selection {
  const struct selection_options *options;
  struct range partitions;
  struct range maps;
  struct part part;
  const char **columns; /* their names; none: all */
  size_t n_columns;
  char *column_texts;
};

int selection_read(struct selection *out, const struct selection_options *options);
/* Whether the inputs have what was asked for: map outputs, and no Arrow file where only those
 * have it. */
int selection_check(const struct selection *selection, const struct inputs *inputs);
/* Whether a map output, the n-th of all from 0, is wanted. */
bool selection_has_map(const struct selection *selection, int64_t n);
/* Whether it has the partitions that are wanted. compares: checksums would be, if they can. */
int selection_check_partitions(const struct selection *selection, const char *path, bool compares);
/* Sets what the library's reader has to know of it. */
void selection_apply(const struct selection *selection, struct ashuf_read_options *out);
void selection_free(struct selection *selection);

#endif /* ASHUF_CLI_SELECTION_H */

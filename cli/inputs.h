/*
 * What the arguments of cat, info and verify name: Arrow IPC files and streams, data files, and
 * directories of data files. A directory stands for the shuffle_*.data in it, an .index without
 * its .data included (an empty map output), ordered by the numbers in the names.
 *
 * A file is Arrow IPC when it starts with ARROW1 or the continuation marker; it is a data file
 * when it starts with a block or its name ends in .data or .index; any other is taken for IPC.
 */
#ifndef ASHUF_CLI_INPUTS_H
#define ASHUF_CLI_INPUTS_H

#include "options.h"

enum input_kind { INPUT_IPC, INPUT_SHUFFLE };

struct input {
  char *path; /* of the data file, where it is a shuffle's; "-" is standard input */
  enum input_kind kind;
  uint64_t size; /* bytes of that file; 0 where not known */
  bool listed;   /* found in a directory, where only what has an index is finished */
};

struct inputs {
  struct input *list;
  size_t n;
  uint64_t size; /* of all; 0 where one is not known */
};

/*
 * Appends the inputs behind the arguments. Says what is wrong with the others and returns the
 * worst exit status; with stop, returns at the first.
 */
int inputs_find(struct inputs *out, const struct arguments *arguments, bool stop);
void inputs_free(struct inputs *inputs);

#endif /* ASHUF_CLI_INPUTS_H */

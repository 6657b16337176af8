/*
 * The options of a command as a table that drives both the reading and the help.
 *
 * Each command has a struct of its own for the values; the table names the field of each
 * option. Long options are --name VALUE or --name=VALUE; one letter options -o VALUE or
 * -oVALUE; -- ends the options; options and arguments may be mixed.
 */
#ifndef ASHUF_CLI_OPTIONS_H
#define ASHUF_CLI_OPTIONS_H

#include "cli.h"

enum option_kind {
  OPTION_FLAG,    /* bool */
  OPTION_TEXT,    /* const char * */
  OPTION_INTEGER, /* struct option_integer */
  OPTION_CHOICE,  /* int: the position of the choice, from 0 */
  OPTION_MAYBE,   /* int: 0 not given; alone, or =CHOICE in the same word: 1 + its position */
  OPTION_SIZE,    /* struct option_integer: bytes, as in 4096, 64KiB, 512MiB, 2GiB */
  OPTION_LIST     /* struct option_list: every value given, in order */
};

#define OPTION_MOST_VALUES 32

struct option_list {
  const char *values[OPTION_MOST_VALUES];
  size_t n;
};

struct option_integer {
  bool given;
  int64_t value;
};

struct option_spec {
  const char *name;     /* without the dashes */
  char letter;          /* or 0 */
  const char *argument; /* what the help calls the value; NULL for a flag */
  enum option_kind kind;
  size_t field;               /* offsetof in the command's struct */
  const char *const *choices; /* ends with NULL */
  int64_t least, most;        /* of an integer */
  const char *help;           /* lines; a line break is kept */
};

struct arguments {
  const char **list;
  size_t n;
};

/*
 * Reads argv into fields and out; the texts stay argv's. Returns -1 to go on, or the exit status
 * where there is nothing left to do: help or version was asked for, or something is wrong.
 */
int options_read(const struct command *command, int argc, char **argv, void *fields,
                 struct arguments *out);
void arguments_free(struct arguments *arguments);

#endif /* ASHUF_CLI_OPTIONS_H */

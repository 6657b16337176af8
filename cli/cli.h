/*
 * What every part of the command line shares: exit statuses and the table of commands.
 *
 * main.c picks a command by its name; options.c reads its options by the table in its struct
 * command; help.c prints the same table. A command's run gets argv behind its name and returns
 * the exit status.
 */
#ifndef ASHUF_CLI_CLI_H
#define ASHUF_CLI_CLI_H

#include <ashuf/ashuf.h>
#include <stdbool.h>

enum exit_status { EXIT_GOOD = 0, EXIT_BAD_DATA = 1, EXIT_USAGE = 2, EXIT_IO = 3 };

struct option_spec;

struct command {
  const char *name;
  const char *summary;               /* one line, for the list of commands */
  const char *usage;                 /* what follows "ashuf " in the usage line */
  const char *description;           /* paragraphs, each line ended */
  const struct option_spec *options; /* ends with a NULL name */
  const char *examples;              /* lines, each ended */
  int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command command_write;
extern const struct command command_cat;
extern const struct command command_info;
extern const struct command command_verify;

/* All commands, in the order of the help; ends with NULL. */
extern const struct command *const commands[];

/* The worse of two exit statuses: the larger. */
static inline int worse(int a, int b) { return a > b ? a : b; }

#endif /* ASHUF_CLI_CLI_H */

/* The manual that the program carries. Each function returns the exit status. */
#ifndef ASHUF_CLI_HELP_H
#define ASHUF_CLI_HELP_H

#include "cli.h"

int help_program(void);
int help_command(const struct command *command);
int help_version(void);

#endif /* ASHUF_CLI_HELP_H */

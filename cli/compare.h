/* verify --compare: whether two outputs have the same rows in each partition. */
#ifndef ASHUF_CLI_COMPARE_H
#define ASHUF_CLI_COMPARE_H

#include "options.h"

/* Two arguments, each a data file or a directory of them. format: of the report. */
int compare_outputs(const struct arguments *arguments, int format);

#endif /* ASHUF_CLI_COMPARE_H */

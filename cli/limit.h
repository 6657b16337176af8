/*
 * How much memory the program allows itself: half of the machine's, or of what its control group
 * and the groups around that one (version 1 or 2) may have.
 *
 * limit_spill, where it is called at all, comes before the first limit_memory.
 */
#ifndef ASHUF_CLI_LIMIT_H
#define ASHUF_CLI_LIMIT_H

#include "cli.h"

#include <stdint.h>

/* That half, in bytes. */
uint64_t limit_default(void);
/*
 * Rows will be moved to files beyond so many bytes: what cannot be moved (the batch being read,
 * blocks being encoded) gets room on top, a quarter and another quarter or 64 MiB.
 */
void limit_spill(uint64_t bytes);
/* The one domain that all memory of the library is taken from. */
ashuf_memory *limit_memory(void);

#endif /* ASHUF_CLI_LIMIT_H */

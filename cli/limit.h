/* The memory that the program allows itself: half of the machine's or its control group's. */
#ifndef ASHUF_CLI_LIMIT_H
#define ASHUF_CLI_LIMIT_H

#include <ashuf/ashuf.h>

/* The one domain of the process; NULL where it cannot be made, which means without a limit. */
ashuf_memory *limit_memory(void);

#endif /* ASHUF_CLI_LIMIT_H */

/* A clock that never goes back, for statistics. */
#ifndef ASHUF_OS_CLOCK_H
#define ASHUF_OS_CLOCK_H

#include <stdint.h>

/* Nanoseconds since some moment. */
uint64_t clock_now(void);

#endif /* ASHUF_OS_CLOCK_H */

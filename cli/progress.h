/*
 * How far a long command is: one line on standard error, drawn only where that is a terminal,
 * only after a second, ten times a second at most, and erased at the end.
 *
 * ASHUF_PROGRESS=always in the environment draws it at once and whatever standard error is; so does
 * --progress, and --no-progress never draws it.
 *
 * Order: progress_choose, or not; progress_start, progress_update any number of times,
 * progress_stop.
 */
#ifndef ASHUF_CLI_PROGRESS_H
#define ASHUF_CLI_PROGRESS_H

#include <stdint.h>

enum progress_choice { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* What --progress and --no-progress say, which count more than the environment. */
void progress_choose(enum progress_choice choice);
void progress_start(void);
/* rows so far; part of the work done in [0, 1], or negative where the whole is not known. */
void progress_update(int64_t rows, double part);
/* Takes the line away until the next update. */
void progress_hide(void);
void progress_stop(void);

#endif /* ASHUF_CLI_PROGRESS_H */

/*
 * SIGINT, SIGTERM and SIGHUP while files are being made.
 *
 * interrupt_watch starts one thread that waits for them. It raises a flag that the work looks
 * at; where the work does not notice within a second (it may sit in a read of standard input),
 * the thread removes the staging directory itself and ends the process by the signal.
 * interrupt_hold keeps it from doing so while finished files are being named.
 */
#ifndef ASHUF_CLI_INTERRUPT_H
#define ASHUF_CLI_INTERRUPT_H

#include <stdbool.h>

/*
 * directory is what has to go; around, which may be NULL, goes too where it is empty then. Both
 * stay the caller's and must live until interrupt_end.
 */
void interrupt_watch(const char *directory, const char *around);
bool interrupt_seen(void);
/* From here to interrupt_end no signal interferes. */
void interrupt_hold(void);
/* After interrupt_hold: the directory is gone, there is nothing left to guard. */
void interrupt_end(void);
/* Removes the directory now; for when memory runs out. */
void interrupt_cleanup(void);
/* Ends the process by the signal that was seen. */
_Noreturn void interrupt_die(void);

/* Removes a directory and the files in it. */
void remove_directory(const char *path);

#endif /* ASHUF_CLI_INTERRUPT_H */

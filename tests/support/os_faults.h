/*
 * The system's calls with faults: the Nth call of a run fails, or is interrupted, or moves fewer
 * bytes than asked. Counts calls and open descriptors.
 *
 *   os_faults_start(FAULT_NONE, 0, 0); run; n = os_faults_calls();
 *   for (i = 1; i <= n; i++) { os_faults_start(kind, i, ENOSPC); run; os_faults_stop(); }
 */
#ifndef TESTS_SUPPORT_OS_FAULTS_H
#define TESTS_SUPPORT_OS_FAULTS_H

#include <stdbool.h>

enum os_fault {
  FAULT_NONE,
  FAULT_ERROR,    /* call number n fails with code */
  FAULT_ERROR_ON, /* and every call after it but close, unlink and rename, which undo */
  FAULT_EINTR,    /* call number n is interrupted once, before it did anything */
  FAULT_SHORT     /* read, pread and write from call number n on move one byte at a time at first,
                   * then halves */
};

/* Whether files without a name can be opened (O_TMPFILE), in this run and later ones; at first, as
 * the system does. */
void os_faults_nameless(bool allowed);
void os_faults_start(enum os_fault kind, int n, int code);
void os_faults_stop(void);
/* Calls since the start. */
int os_faults_calls(void);
/* Whether the fault has happened. */
bool os_faults_hit(void);
/* Descriptors opened and not closed since the start. */
int os_faults_open(void);
/* The name of the call that failed. */
const char *os_faults_name(void);

#endif /* TESTS_SUPPORT_OS_FAULTS_H */

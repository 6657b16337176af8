/*
 * Loaded in front of the C library (LD_PRELOAD) by test_commit.py: counts the calls of renameat
 * and linkat, by which the program names files, and at the one that FAULT_AT says, from 1
 *   FAULT_HOW=error   fails it with EIO, as
 *   FAULT_HOW=errors  does with all that follow too, or
 *   FAULT_HOW=kill    ends the process before it.
 * FAULT_LINKS=none fails every linkat with EPERM, as a file system without links does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls;

static int is(const char *variable, const char *value) {
  const char *given = getenv(variable);
  return given != NULL && strcmp(given, value) == 0;
}

static int fails(void) {
  const char *at = getenv("FAULT_AT");
  int number = at == NULL ? 0 : atoi(at);
  calls++;
  if (calls != number && !(is("FAULT_HOW", "errors") && number > 0 && calls > number)) return 0;
  if (is("FAULT_HOW", "kill")) (void)raise(SIGKILL);
  errno = EIO;
  return 1;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
  int (*next)(int, const char *, int, const char *);
  void *symbol = dlsym(RTLD_NEXT, "renameat");
  memcpy(&next, &symbol, sizeof next);
  return fails() ? -1 : next(from_fd, from, to_fd, to);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
  int (*next)(int, const char *, int, const char *, int);
  void *symbol = dlsym(RTLD_NEXT, "linkat");
  memcpy(&next, &symbol, sizeof next);
  if (fails()) return -1;
  if (!is("FAULT_LINKS", "none")) return next(from_fd, from, to_fd, to, flags);
  errno = EPERM;
  return -1;
}

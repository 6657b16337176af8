/*
 * Loaded in front of the C library (LD_PRELOAD) by test_limits.py: files under /proc/self/cgroup
 * and /sys/fs/cgroup are opened below the directory that FAKE_ROOT names.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *place(const char *path, char *made, size_t size) {
  const char *root = getenv("FAKE_ROOT");
  int fake = strncmp(path, "/sys/fs/cgroup", 14) == 0 || strcmp(path, "/proc/self/cgroup") == 0;
  if (root == NULL || !fake) return path;
  (void)snprintf(made, size, "%s%s", root, path);
  return made;
}

FILE *fopen(const char *path, const char *mode) {
  FILE *(*next)(const char *, const char *);
  char made[4096];
  void *symbol = dlsym(RTLD_NEXT, "fopen");
  memcpy(&next, &symbol, sizeof next);
  return next(place(path, made, sizeof made), mode);
}

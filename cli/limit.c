#include "limit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SPARE_MOST ((uint64_t)64 << 20)

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The number in a file of one; UINT64_MAX where there is none ("max"). */
static uint64_t read_number(const char *path) {
  uint64_t value = UINT64_MAX;
  FILE *file = fopen(path, "re");
  if (file == NULL) return value;
  if (fscanf(file, "%" SCNu64, &value) != 1) value = UINT64_MAX;
  (void)fclose(file);
  return value;
}

static uint64_t machine_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES);
  long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
}

/* ---- Control groups ----------------------------------------------------------------------- */

/*
 * The least of a group and those around it, up to the mount's root. In a container the path may be
 * one of the host's, of which only the root can be seen.
 */
static uint64_t group_limit(const char *mount, const char *group, const char *name) {
  char path[PATH_MAX];
  uint64_t least = UINT64_MAX;
  for (size_t size = strlen(group);; size--) {
    if (size == 0 || group[size] == '/' || group[size] == '\0') {
      int used = snprintf(path, sizeof path, "%s%.*s/%s", mount, (int)size, group, name);
      if (used > 0 && (size_t)used < sizeof path) least = smaller(least, read_number(path));
    }
    if (size == 0) return least;
  }
}

static bool has_memory(const char *controllers) {
  const char *found = strstr(controllers, "memory");
  if (found == NULL) return false;
  char before = found == controllers ? ',' : found[-1];
  char behind = found[strlen("memory")];
  return before == ',' && (behind == ',' || behind == '\0');
}

/* A line of /proc/self/cgroup: "0::/group" of version 2, "N:memory:/group" of version 1. */
static uint64_t line_limit(char *line) {
  char *controllers = strchr(line, ':');
  char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
  if (group == NULL) return UINT64_MAX;
  *group++ = '\0';
  controllers++;
  group[strcspn(group, "\n")] = '\0';
  if (has_memory(controllers))
    return group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
  if (controllers[0] != '\0') return UINT64_MAX;
  uint64_t most = group_limit("/sys/fs/cgroup", group, "memory.max");
  return smaller(most, group_limit("/sys/fs/cgroup", group, "memory.high"));
}

static uint64_t groups_limit(void) {
  char line[PATH_MAX + 128];
  uint64_t least = UINT64_MAX;
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (file == NULL) return least;
  while (fgets(line, sizeof line, file) != NULL) least = smaller(least, line_limit(line));
  (void)fclose(file);
  return least;
}

/* ---- The limit ---------------------------------------------------------------------------- */

uint64_t limit_default(void) {
  static uint64_t half;
  if (half == 0) half = smaller(machine_memory(), groups_limit()) / 2;
  return half;
}

static uint64_t hard; /* what limit_spill asked for; 0: the default */

void limit_spill(uint64_t bytes) {
  uint64_t quarter = bytes / 4;
  uint64_t spare = quarter + smaller(quarter, SPARE_MOST);
  uint64_t sum = bytes > UINT64_MAX - spare ? UINT64_MAX : bytes + spare;
  hard = sum > limit_default() ? sum : limit_default();
}

ashuf_memory *limit_memory(void) {
  static ashuf_memory *memory;
  if (memory != NULL) return memory;
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  options.limit = hard != 0 ? hard : limit_default();
  if (ashuf_memory_new(&options, &memory, NULL) != ASHUF_OK) return NULL;
  return memory;
}

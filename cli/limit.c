#include "limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

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

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

ashuf_memory *limit_memory(void) {
  static ashuf_memory *memory;
  if (memory != NULL) return memory;
  uint64_t most = smaller(machine_memory(), read_number("/sys/fs/cgroup/memory.max"));
  most = smaller(most, read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  options.limit = most == UINT64_MAX ? 0 : most / 2;
  if (ashuf_memory_new(&options, &memory, NULL) != ASHUF_OK) return NULL;
  return memory;
}

/*
 * A file for what does not fit into memory: appended to, read back at any place, never named
 * where the system allows that (O_TMPFILE), else unlinked as soon as it is open. Nothing is left
 * of it when the process ends, however it ends.
 *
 * spill_file_open -> spill_file_append, spill_file_read_at in any order -> spill_file_close.
 * Appending is one thread's; reading may go on beside it.
 */
#ifndef ASHUF_OS_SPILL_FILE_H
#define ASHUF_OS_SPILL_FILE_H

#include "base/error.h"
#include "base/memory.h"

enum {
  SITE_SPILL_OPEN = 120,
  SITE_SPILL_MEMORY = 121,
  SITE_SPILL_WRITE = 122,
  SITE_SPILL_READ = 123,
  SITE_SPILL_SHORT = 124,
  SITE_SPILL_CLOSE = 125
};

struct spill_file {
  int fd;        /* -1: not open */
  uint64_t size; /* appended so far */
};
#define SPILL_FILE_INIT \
  { -1, 0 }

ashuf_status spill_file_open(struct spill_file *file, const char *directory, ashuf_memory *memory,
                             struct ashuf_error *error);
ashuf_status spill_file_append(struct spill_file *file, const void *bytes, size_t size,
                               struct ashuf_error *error);
/* All size bytes, which have been appended: fewer means that somebody cut the file, TRUNCATED. */
ashuf_status spill_file_read_at(const struct spill_file *file, uint64_t offset, void *out,
                                size_t size, struct ashuf_error *error);
/* Takes one that is not open. */
void spill_file_close(struct spill_file *file);

#endif /* ASHUF_OS_SPILL_FILE_H */

/*
 * Map outputs that appear together or not at all.
 *
 * Files are made in a directory of their own inside the output directory (.ashuf-XXXXXX, on the
 * same file system) under their final names, and named in the output directory when all are
 * finished (commit.h). Until then what stood there is untouched; a run that fails or is
 * interrupted leaves nothing, and one that is killed at most its hidden directory, which the next
 * run into the same output directory settles and removes.
 *
 * Locks, both by flock on directories: a run holds its hidden directory from open to close, so
 * that others can tell whether its owner lives; and the output directory while it settles or
 * names files. A file system without such locks has leftovers that stay.
 *
 * Order: staging_open -> staging_path ... -> staging_commit, or staging_close, which is always
 * last and removes what was not committed. Signals are watched from open to close (interrupt.h).
 */
#ifndef ASHUF_CLI_STAGING_H
#define ASHUF_CLI_STAGING_H

#include "map_names.h"

#include <stdbool.h>

struct staging {
  const char *directory; /* the caller's */
  struct map_names names;
  int directory_fd;
  char *hidden;
  int hidden_fd;
  bool made; /* directory did not exist before */
  bool open;
};

/* Makes the directory where it does not exist; its parent must. Returns an exit status. */
int staging_open(struct staging *out, const char *directory, const struct map_names *names);
/* Allocated: where the file of output i is made, or where it will stand. */
char *staging_path(const struct staging *staging, size_t i, const char *ending);
char *final_path(const struct staging *staging, size_t i, const char *ending);
/* Names the outputs. After a failure the older ones stand as they did. */
int staging_commit(struct staging *staging, bool sync);
void staging_close(struct staging *staging);

#endif /* ASHUF_CLI_STAGING_H */

/*
 * Rows moved out of memory: spill files and the runs in them.
 *
 * One file for each spill directory, opened when the first run goes there; runs go to the file
 * that has the fewest bytes. A run is the rows that were in memory, sorted by partition:
 *
 *   run:        [ block ][ block ] ... [ directory ]
 *   directory:  for each partition that has rows, in order: two varints (7 bits a byte, low ones
 *               first, the top bit says that more follow), how much its number is above the last
 *               one's (the first: above -1), and how many rows
 *
 * Blocks are cut where they are full, not where partitions end, so that a run of few rows in many
 * partitions has few blocks. What memory a run takes does not depend on the partitions.
 */
#ifndef ASHUF_SHUFFLE_SPILL_H
#define ASHUF_SHUFFLE_SPILL_H

#include "block/block_write.h"
#include "os/spill_file.h"
#include "shuffle/batch_store.h"

enum { SITE_SPILLS_MEMORY = 1110, SITE_SPILLS_DIRECTORY = 1111, SITE_SPILLS_BLOCK = 1112 };

struct spill_run {
  size_t file;
  uint64_t blocks;    /* where the run begins */
  uint64_t directory; /* where its blocks end */
  uint64_t end;
};

struct spill_set {
  ashuf_memory *memory; /* not a reference */
  char **directories;   /* n_files */
  struct spill_file *files;
  size_t n_files;
  struct spill_run *runs;
  size_t n_runs;
  size_t capacity;
  uint64_t bytes; /* in all files */
};

/* Copies the names; default_directory where there are none. */
ashuf_status spill_set_init(struct spill_set *set, const char *const *directories, size_t n,
                            const char *default_directory, ashuf_memory *memory,
                            struct ashuf_error *error);
/* Takes one zero-initialised, and one twice. */
void spill_set_free(struct spill_set *set);

/* How a run is written. */
struct spill_options {
  int codec;
  uint64_t block_bytes; /* about what a block holds before the codec */
};

/*
 * Appends a run of the rows of partitions from first on; the store is scattered. scratch is
 * emptied. Does nothing where there are no rows.
 */
ashuf_status spill_write(struct spill_set *set, const struct batch_store *store, int32_t first,
                         const struct spill_options *options, struct block_encoder *encoder,
                         struct ashuf_buffer *scratch, struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_SPILL_H */

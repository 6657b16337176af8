/*
 * Finished map outputs get their names, all of them or none.
 *
 * The new files stand in a directory of their own (staged) on the file system of the output
 * directory (final), both under their final names. In this order, each step over all outputs:
 *   1. which outputs these are is written into staged, then a mark is made there: from here on
 *      names are changing;
 *   2. the old .index files move to staged, as old_<name>, then the old checksum files, of
 *      whatever algorithm;
 *   3. the old .data files are linked to there, or moved where links cannot be had;
 *   4. the new .data files are named, then the new checksum files, then the new .index files, the
 *      last output's last;
 *   5. the mark goes. What is in staged then, the old files, is the caller's to remove.
 * A failure takes every step back, in the opposite order, and every step back is a rename: no
 * new and no old file is removed here.
 *
 * So a process that is killed leaves the old outputs, the new ones, or at least one data file
 * without an index (none at all only where links cannot be had), which readers of the directory
 * refuse; and with the mark there, commit_settle can take back what it did. After the last
 * index nothing is taken back: the new outputs are whole.
 *
 * Who calls these holds the locks that staging.h tells of. Signals are held off.
 */
#ifndef ASHUF_CLI_COMMIT_H
#define ASHUF_CLI_COMMIT_H

#include "map_names.h"

#include <stdbool.h>

struct commit {
  const char *directory; /* for messages */
  int final_fd;
  int staged_fd;
  struct map_names names;
};

/*
 * Names the outputs; returns an exit status. *settled is false where what was done could
 * not be taken back, which has been told: staged then holds older outputs and must stay.
 */
int commit_run(const struct commit *commit, bool sync, bool *settled);
/*
 * Takes back what a killed process did; which outputs it was at is read in staged. EXIT_GOOD:
 * staged may go. Else what is wrong has been told, and staged must stay.
 */
int commit_settle(struct commit *commit);

#endif /* ASHUF_CLI_COMMIT_H */

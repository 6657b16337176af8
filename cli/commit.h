/*
 * Finished map outputs get their names, all of them or none.
 *
 * The new files stand in a directory of their own (staged) on the file system of the output
 * directory (final), both under their final names. In this order, each step over all outputs:
 *   1. a mark is made in staged: from here on names are changing;
 *   2. the old .index files move to staged, as old_<name>;
 *   3. the old .data files are linked to there, or moved where links cannot be had;
 *   4. the new .data files are named, then the new .index files, the last output's last;
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

#include <stdbool.h>
#include <stddef.h>

struct commit {
  const char *directory; /* for messages */
  int final_fd;
  int staged_fd;
  size_t n; /* outputs */
};

/*
 * Names the outputs [0, n); returns an exit status. *settled is false where what was done could
 * not be taken back, which has been told: staged then holds older outputs and must stay.
 */
int commit_run(const struct commit *commit, bool sync, bool *settled);
/*
 * Takes back what a killed process did; n is found out. EXIT_GOOD: staged may go. Else what is
 * wrong has been told, and staged must stay.
 */
int commit_settle(struct commit *commit);

#endif /* ASHUF_CLI_COMMIT_H */

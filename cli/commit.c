#include "commit.h"

#include "cli.h"
#include "failure.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_SIZE 64
#define MARK "committing"

enum place { STAGED, FINAL, ASIDE };

/* Names are made on the stack: nothing may run out of memory between two steps. */
static const char *name_of(enum place place, size_t map, const char *ending, char out[NAME_SIZE]) {
  const char *before = place == ASIDE ? "old_" : "";
  (void)snprintf(out, NAME_SIZE, "%sshuffle_0_%zu_0%s", before, map, ending);
  return out;
}

static int fd_of(const struct commit *commit, enum place place) {
  return place == FINAL ? commit->final_fd : commit->staged_fd;
}

/* Returns 0 or an errno, as the next ones do. */
static int move(const struct commit *commit, size_t map, const char *ending, enum place from,
                enum place to) {
  char old[NAME_SIZE];
  char new[NAME_SIZE];
  int failed = renameat(fd_of(commit, from), name_of(from, map, ending, old), fd_of(commit, to),
                        name_of(to, map, ending, new));
  return failed == 0 ? 0 : errno;
}

static int link_aside(const struct commit *commit, size_t map, const char *ending) {
  char old[NAME_SIZE];
  char new[NAME_SIZE];
  int failed = linkat(commit->final_fd, name_of(FINAL, map, ending, old), commit->staged_fd,
                      name_of(ASIDE, map, ending, new), 0);
  return failed == 0 ? 0 : errno;
}

static int look(const struct commit *commit, enum place place, size_t map, const char *ending,
                struct stat *out) {
  char name[NAME_SIZE];
  int failed =
      fstatat(fd_of(commit, place), name_of(place, map, ending, name), out, AT_SYMLINK_NOFOLLOW);
  return failed == 0 ? 0 : errno;
}

static int tell(const struct commit *commit, size_t map, const char *ending, int failure,
                const char *what) {
  char name[NAME_SIZE];
  char *path = must_print("%s/%s", commit->directory, name_of(FINAL, map, ending, name));
  int status = fail_os(path, failure, what);
  free(path);
  return status;
}

/* ---- Forward ------------------------------------------------------------------------------ */

/* Before anything changes: what stands at a final name must be a file, or a link to one. */
static int check_places(const struct commit *commit, const char *ending) {
  for (size_t map = 0; map < commit->n; map++) {
    struct stat info;
    int failure = look(commit, FINAL, map, ending, &info);
    if (failure == ENOENT) continue;
    if (failure == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
      failure = S_ISDIR(info.st_mode) ? EISDIR : EEXIST;
    if (failure != 0) return tell(commit, map, ending, failure, "cannot replace");
  }
  return EXIT_GOOD;
}

static int set_mark(const struct commit *commit, bool sync) {
  int fd = openat(commit->staged_fd, MARK, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail_os(commit->directory, errno, "cannot write into directory");
  (void)close(fd);
  if (sync) (void)fsync(commit->staged_fd);
  return EXIT_GOOD;
}

static bool remove_mark(const struct commit *commit) {
  return unlinkat(commit->staged_fd, MARK, 0) == 0 || errno == ENOENT;
}

static int move_aside(const struct commit *commit) {
  for (size_t map = commit->n; map-- > 0;) {
    int failure = move(commit, map, ".index", FINAL, ASIDE);
    if (failure != 0 && failure != ENOENT)
      return tell(commit, map, ".index", failure, "cannot move file aside");
  }
  for (size_t map = commit->n; map-- > 0;) {
    int failure = link_aside(commit, map, ".data");
    if (failure != 0 && failure != ENOENT) failure = move(commit, map, ".data", FINAL, ASIDE);
    if (failure != 0 && failure != ENOENT)
      return tell(commit, map, ".data", failure, "cannot move file aside");
  }
  return EXIT_GOOD;
}

static int name_files(const struct commit *commit, const char *ending) {
  for (size_t map = 0; map < commit->n; map++) {
    int failure = move(commit, map, ending, STAGED, FINAL);
    if (failure != 0) return tell(commit, map, ending, failure, "cannot name file");
  }
  return EXIT_GOOD;
}

static int sync_names(const struct commit *commit) {
  /* EINVAL: a file system whose directories need no sync. */
  if (fsync(commit->final_fd) == 0 || errno == EINVAL) return EXIT_GOOD;
  return fail_os(commit->directory, errno, "cannot sync directory");
}

/* ---- Back --------------------------------------------------------------------------------- */

/* What is named is known by its absence from staged. False: a failure, which has been told. */
static bool take_names_back(const struct commit *commit, const char *ending) {
  bool good = true;
  for (size_t map = commit->n; map-- > 0;) {
    struct stat info;
    int failure = look(commit, STAGED, map, ending, &info);
    if (failure == ENOENT) failure = move(commit, map, ending, FINAL, STAGED);
    if (failure == 0 || failure == ENOENT) continue;
    (void)tell(commit, map, ending, failure, "cannot take the new file back");
    good = false;
  }
  return good;
}

static bool put_back(const struct commit *commit, const char *ending) {
  bool good = true;
  for (size_t map = 0; map < commit->n; map++) {
    int failure = move(commit, map, ending, ASIDE, FINAL);
    if (failure == 0 || failure == ENOENT) continue;
    (void)tell(commit, map, ending, failure, "cannot put the older file back");
    good = false;
  }
  return good;
}

/* Goes no further behind a failure: an older file must not come to stand beside a new one. */
static bool take_back(const struct commit *commit) {
  return take_names_back(commit, ".index") && take_names_back(commit, ".data") &&
         put_back(commit, ".data") && put_back(commit, ".index");
}

/* ---- Both --------------------------------------------------------------------------------- */

int commit_run(const struct commit *commit, bool sync, bool *settled) {
  *settled = true;
  int status = check_places(commit, ".index");
  if (status == EXIT_GOOD) status = check_places(commit, ".data");
  if (status == EXIT_GOOD) status = set_mark(commit, sync);
  if (status != EXIT_GOOD) return status;
  status = move_aside(commit);
  if (status == EXIT_GOOD) status = name_files(commit, ".data");
  if (status == EXIT_GOOD) status = name_files(commit, ".index");
  if (status == EXIT_GOOD && sync) status = sync_names(commit);
  if (status != EXIT_GOOD) *settled = take_back(commit);
  if (*settled) *settled = remove_mark(commit) || status == EXIT_GOOD;
  return status;
}

/* The number of the output whose index a name is, plus 1; 0 where it is another file. */
static size_t number_behind(const char *name) {
  static const char start[] = "shuffle_0_";
  char made[NAME_SIZE];
  if (strncmp(name, start, sizeof start - 1) != 0) return 0;
  size_t map = strtoul(name + sizeof start - 1, NULL, 10);
  return strcmp(name, name_of(STAGED, map, ".index", made)) == 0 ? map + 1 : 0;
}

/* One more than the last output whose index is still staged; 0: all are named. */
static int count_staged(struct commit *commit) {
  commit->n = 0;
  int fd = openat(commit->staged_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = fd < 0 ? NULL : fdopendir(fd);
  if (directory == NULL) {
    int status = fail_os(commit->directory, errno, "cannot read what a killed write left");
    if (fd >= 0) (void)close(fd);
    return status;
  }
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    size_t n = number_behind(entry->d_name);
    if (n > commit->n) commit->n = n;
  }
  (void)closedir(directory);
  return EXIT_GOOD;
}

int commit_settle(struct commit *commit) {
  if (faccessat(commit->staged_fd, MARK, F_OK, 0) != 0) return EXIT_GOOD;
  int status = count_staged(commit);
  if (status != EXIT_GOOD) return status;
  if (!take_back(commit)) return EXIT_IO;
  if (!remove_mark(commit)) return fail_os(commit->directory, errno, "cannot remove a mark");
  if (commit->n > 0) remark(commit->directory, "took back what a killed write had begun to name");
  return EXIT_GOOD;
}

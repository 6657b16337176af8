#include "commit.h"

#include "cli.h"
#include "failure.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "committing"
#define NAMES "names" /* the outputs of the run, in front of the mark */

enum place { STAGED, FINAL, ASIDE };

/* Names are made on the stack: nothing may run out of memory between two steps. */
static const char *name_of(const struct commit *commit, enum place place, size_t map,
                           const char *ending, char out[MAP_NAME_SIZE]) {
  return map_name(out, place == ASIDE ? "old_" : "", &commit->names, map, ending);
}

static int fd_of(const struct commit *commit, enum place place) {
  return place == FINAL ? commit->final_fd : commit->staged_fd;
}

/* Returns 0 or an errno, as the next ones do. */
static int move(const struct commit *commit, size_t map, const char *ending, enum place from,
                enum place to) {
  char old[MAP_NAME_SIZE];
  char new[MAP_NAME_SIZE];
  int failed = renameat(fd_of(commit, from), name_of(commit, from, map, ending, old),
                        fd_of(commit, to), name_of(commit, to, map, ending, new));
  return failed == 0 ? 0 : errno;
}

static int link_aside(const struct commit *commit, size_t map, const char *ending) {
  char old[MAP_NAME_SIZE];
  char new[MAP_NAME_SIZE];
  int failed = linkat(commit->final_fd, name_of(commit, FINAL, map, ending, old), commit->staged_fd,
                      name_of(commit, ASIDE, map, ending, new), 0);
  return failed == 0 ? 0 : errno;
}

static int look(const struct commit *commit, enum place place, size_t map, const char *ending,
                struct stat *out) {
  char name[MAP_NAME_SIZE];
  int failed = fstatat(fd_of(commit, place), name_of(commit, place, map, ending, name), out,
                       AT_SYMLINK_NOFOLLOW);
  return failed == 0 ? 0 : errno;
}

static int tell(const struct commit *commit, size_t map, const char *ending, int failure,
                const char *what) {
  char name[MAP_NAME_SIZE];
  char *path = must_print("%s/%s", commit->directory, name_of(commit, FINAL, map, ending, name));
  int status = fail_os(path, failure, what);
  free(path);
  return status;
}

/* ---- Forward ------------------------------------------------------------------------------ */

/* Before anything changes: what stands at a final name must be a file, or a link to one. */
static int check_places(const struct commit *commit, const char *ending) {
  for (size_t map = 0; map < commit->names.n; map++) {
    struct stat info;
    int failure = look(commit, FINAL, map, ending, &info);
    if (failure == ENOENT) continue;
    if (failure == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
      failure = S_ISDIR(info.st_mode) ? EISDIR : EEXIST;
    if (failure != 0) return tell(commit, map, ending, failure, "cannot replace");
  }
  return EXIT_GOOD;
}

static bool write_file(const struct commit *commit, const char *name, const char *text, size_t size,
                       bool sync) {
  int fd = openat(commit->staged_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  bool good = write(fd, text, size) == (ssize_t)size && (!sync || fsync(fd) == 0);
  return close(fd) == 0 && good;
}

/* The mark stands only behind the names, which say what may have to be taken back. */
static int set_mark(const struct commit *commit, bool sync) {
  char text[96];
  const struct map_names *names = &commit->names;
  int size = snprintf(text, sizeof text, "%" PRId32 " %" PRId64 " %zu %d\n", names->shuffle,
                      names->first, names->n, names->checksum);
  errno = 0;
  if (size < 0 || !write_file(commit, NAMES, text, (size_t)size, sync) ||
      !write_file(commit, MARK, "", 0, sync))
    return fail_os(commit->directory, errno != 0 ? errno : ENOSPC, "cannot write into directory");
  if (sync) (void)fsync(commit->staged_fd);
  return EXIT_GOOD;
}

static bool remove_mark(const struct commit *commit) {
  return unlinkat(commit->staged_fd, MARK, 0) == 0 || errno == ENOENT;
}

static int move_ending_aside(const struct commit *commit, const char *ending) {
  for (size_t map = commit->names.n; map-- > 0;) {
    int failure = move(commit, map, ending, FINAL, ASIDE);
    if (failure != 0 && failure != ENOENT)
      return tell(commit, map, ending, failure, "cannot move file aside");
  }
  return EXIT_GOOD;
}

/* Of whatever algorithm: one that stays would be compared with bytes that it is not of. */
static int move_checksums_aside(const struct commit *commit) {
  for (int checksum = 1; checksum < MAP_CHECKSUMS; checksum++) {
    int status = move_ending_aside(commit, map_checksum_ending(checksum));
    if (status != EXIT_GOOD) return status;
  }
  return EXIT_GOOD;
}

static int move_aside(const struct commit *commit) {
  int status = move_ending_aside(commit, ".index");
  if (status == EXIT_GOOD) status = move_checksums_aside(commit);
  for (size_t map = commit->names.n; status == EXIT_GOOD && map-- > 0;) {
    int failure = link_aside(commit, map, ".data");
    if (failure != 0 && failure != ENOENT) failure = move(commit, map, ".data", FINAL, ASIDE);
    if (failure != 0 && failure != ENOENT)
      status = tell(commit, map, ".data", failure, "cannot move file aside");
  }
  return status;
}

static int name_files(const struct commit *commit, const char *ending) {
  for (size_t map = 0; map < commit->names.n; map++) {
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
  for (size_t map = commit->names.n; map-- > 0;) {
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
  for (size_t map = 0; map < commit->names.n; map++) {
    int failure = move(commit, map, ending, ASIDE, FINAL);
    if (failure == 0 || failure == ENOENT) continue;
    (void)tell(commit, map, ending, failure, "cannot put the older file back");
    good = false;
  }
  return good;
}

static bool put_checksums_back(const struct commit *commit) {
  for (int checksum = 1; checksum < MAP_CHECKSUMS; checksum++)
    if (!put_back(commit, map_checksum_ending(checksum))) return false;
  return true;
}

/* Goes no further behind a failure: an older file must not come to stand beside a new one. */
static bool take_back(const struct commit *commit) {
  const char *checksum = map_checksum_ending(commit->names.checksum);
  return take_names_back(commit, ".index") &&
         (checksum == NULL || take_names_back(commit, checksum)) &&
         take_names_back(commit, ".data") && put_back(commit, ".data") &&
         put_checksums_back(commit) && put_back(commit, ".index");
}

/* ---- Both --------------------------------------------------------------------------------- */

static int check_all_places(const struct commit *commit) {
  int status = check_places(commit, ".index");
  if (status == EXIT_GOOD) status = check_places(commit, ".data");
  for (int checksum = 1; checksum < MAP_CHECKSUMS && status == EXIT_GOOD; checksum++)
    status = check_places(commit, map_checksum_ending(checksum));
  return status;
}

static int name_all(const struct commit *commit) {
  const char *checksum = map_checksum_ending(commit->names.checksum);
  int status = name_files(commit, ".data");
  if (status == EXIT_GOOD && checksum != NULL) status = name_files(commit, checksum);
  return status == EXIT_GOOD ? name_files(commit, ".index") : status;
}

int commit_run(const struct commit *commit, bool sync, bool *settled) {
  *settled = true;
  int status = check_all_places(commit);
  if (status == EXIT_GOOD) status = set_mark(commit, sync);
  if (status != EXIT_GOOD) return status;
  status = move_aside(commit);
  if (status == EXIT_GOOD) status = name_all(commit);
  if (status == EXIT_GOOD && sync) status = sync_names(commit);
  if (status != EXIT_GOOD) *settled = take_back(commit);
  if (*settled) *settled = remove_mark(commit) || status == EXIT_GOOD;
  return status;
}

/* What the killed run was at; false where that cannot be told. */
static bool read_names(struct commit *commit) {
  char text[96];
  struct map_names *names = &commit->names;
  int fd = openat(commit->staged_fd, NAMES, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t size = read(fd, text, sizeof text - 1);
  (void)close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  int found = sscanf(text, "%" SCNd32 " %" SCNd64 " %zu %d", &names->shuffle, &names->first,
                     &names->n, &names->checksum);
  return found == 4 && names->shuffle >= 0 && names->first >= 0 && names->checksum >= 0 &&
         names->checksum < MAP_CHECKSUMS;
}

/* The last output's index is named last and taken back first. */
static bool is_named(const struct commit *commit) {
  struct stat info;
  return commit->names.n == 0 ||
         look(commit, STAGED, commit->names.n - 1, ".index", &info) == ENOENT;
}

int commit_settle(struct commit *commit) {
  if (faccessat(commit->staged_fd, MARK, F_OK, 0) != 0) return EXIT_GOOD;
  if (!read_names(commit)) {
    (void)fail_data(commit->directory,
                    "a killed write left a hidden directory that does not say "
                    "which outputs it was naming");
    return EXIT_IO;
  }
  bool named = is_named(commit);
  if (!named && !take_back(commit)) return EXIT_IO;
  if (!remove_mark(commit)) return fail_os(commit->directory, errno, "cannot remove a mark");
  if (!named) remark(commit->directory, "took back what a killed write had begun to name");
  return EXIT_GOOD;
}

#include "staging.h"

#include "cli.h"
#include "commit.h"
#include "failure.h"
#include "interrupt.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIDDEN ".ashuf-"
#define HIDDEN_ENDING "XXXXXX"
#define MOST_TRIES 100

static char *output_name(const struct staging *staging, const char *directory, size_t i,
                         const char *ending) {
  char name[MAP_NAME_SIZE];
  return must_print("%s/%s", directory, map_name(name, "", &staging->names, i, ending));
}

char *staging_path(const struct staging *staging, size_t i, const char *ending) {
  return output_name(staging, staging->hidden, i, ending);
}

char *final_path(const struct staging *staging, size_t i, const char *ending) {
  return output_name(staging, staging->directory, i, ending);
}

/* ---- What killed runs left ---------------------------------------------------------------- */

static bool is_hidden(const char *name) {
  return strncmp(name, HIDDEN, strlen(HIDDEN)) == 0 &&
         strlen(name) == strlen(HIDDEN) + strlen(HIDDEN_ENDING);
}

/* Where the lock can be had its owner is dead, and nobody else is at it. */
static int settle_one(const struct staging *staging, const char *name) {
  int status = EXIT_GOOD;
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(staging->directory_fd, name, flags);
  if (fd < 0) return EXIT_GOOD;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
    struct commit commit = {staging->directory, staging->directory_fd, fd, {0, 0, 0, 0}};
    char *path = must_print("%s/%s", staging->directory, name);
    status = commit_settle(&commit);
    if (status == EXIT_GOOD) remove_directory(path);
    free(path);
  }
  (void)close(fd);
  return status;
}

static int settle_all(const struct staging *staging) {
  int status = EXIT_GOOD;
  DIR *directory = opendir(staging->directory);
  if (directory == NULL) return EXIT_GOOD;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
    if (is_hidden(entry->d_name)) status = worse(status, settle_one(staging, entry->d_name));
  (void)closedir(directory);
  return status;
}

/* At the start only where nobody is naming files just now; a commit settles once more. */
static int settle_early(const struct staging *staging) {
  if (flock(staging->directory_fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return EXIT_GOOD;
  int status = settle_all(staging);
  (void)flock(staging->directory_fd, LOCK_UN);
  return status;
}

/* ---- Open --------------------------------------------------------------------------------- */

/* A directory that may be written to but not read can be used, though not locked. */
static int open_directory(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd >= 0 || errno != EACCES ? fd : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Locked, and still there: before the lock another run could take it for a leftover. */
static bool is_ours(int fd, const char *path) {
  struct stat opened;
  struct stat named;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino;
}

/* Returns 0 or an errno. */
static int make_hidden(struct staging *staging) {
  for (int i = 0; i < MOST_TRIES; i++) {
    staging->hidden = must_print("%s/" HIDDEN HIDDEN_ENDING, staging->directory);
    int failure = mkdtemp(staging->hidden) == NULL ? errno : 0;
    if (failure == 0) {
      staging->hidden_fd = open(staging->hidden, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (staging->hidden_fd < 0 && errno != ENOENT) failure = errno;
      if (staging->hidden_fd >= 0 && is_ours(staging->hidden_fd, staging->hidden)) return 0;
      if (staging->hidden_fd >= 0) (void)close(staging->hidden_fd);
    }
    free(staging->hidden);
    staging->hidden = NULL;
    staging->hidden_fd = -1;
    if (failure != 0) return failure;
  }
  return EAGAIN;
}

static int open_all(struct staging *out) {
  out->directory_fd = open_directory(out->directory);
  if (out->directory_fd < 0) return fail_os(out->directory, errno, "cannot write into directory");
  int status = settle_early(out);
  if (status != EXIT_GOOD) return status;
  int failure = make_hidden(out);
  return failure == 0 ? EXIT_GOOD : fail_os(out->directory, failure, "cannot write into directory");
}

int staging_open(struct staging *out, const char *directory, const struct map_names *names) {
  memset(out, 0, sizeof *out);
  out->names = *names;
  out->directory = directory;
  out->directory_fd = out->hidden_fd = -1;
  out->made = mkdir(directory, 0777) == 0;
  if (!out->made && errno != EEXIST) return fail_os(directory, errno, "cannot make directory");
  int status = open_all(out);
  if (status != EXIT_GOOD) {
    staging_close(out);
    return status;
  }
  out->open = true;
  interrupt_watch(out->hidden, out->made ? out->directory : NULL);
  return EXIT_GOOD;
}

/* ---- End ---------------------------------------------------------------------------------- */

/* The hidden directory has what is given up, or keeps what could not be put back. */
static void end_guard(struct staging *staging, bool settled) {
  if (settled)
    remove_directory(staging->hidden);
  else
    remark(staging->hidden, "holds the older files; the next write tries to put them back");
  staging->open = false;
  interrupt_end();
}

int staging_commit(struct staging *staging, bool sync) {
  const struct commit commit = {staging->directory, staging->directory_fd, staging->hidden_fd,
                                staging->names};
  bool settled = true;
  (void)flock(staging->directory_fd, LOCK_EX);
  interrupt_hold();
  int status = settle_all(staging);
  if (status == EXIT_GOOD) status = commit_run(&commit, sync, &settled);
  end_guard(staging, settled);
  (void)flock(staging->directory_fd, LOCK_UN);
  if (status == EXIT_GOOD) staging->made = false; /* it stays */
  return status;
}

void staging_close(struct staging *staging) {
  if (staging->open) {
    interrupt_hold();
    end_guard(staging, true);
  }
  if (staging->hidden_fd >= 0) (void)close(staging->hidden_fd);
  if (staging->directory_fd >= 0) (void)close(staging->directory_fd);
  if (staging->made) (void)rmdir(staging->directory);
  free(staging->hidden);
  staging->hidden = NULL;
  staging->hidden_fd = staging->directory_fd = -1;
}

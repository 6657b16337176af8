#include "os/file.h"

#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* How far a commit has come: what has to be taken back. */
struct commit {
  struct file_writer *const *writers;
  size_t n;
  bool moved[FILE_MAX_COMMIT]; /* the old file is aside */
  size_t named;                /* new files that bear their names */
};

static ashuf_status commit_error(const char *path, int site, int failure, const char *what,
                                 struct ashuf_error *error) {
  char label[FILE_LABEL_SIZE];
  return error_os(error, site, failure, "cannot %s %s", what, file_label(path, label));
}

static ashuf_status move_aside(struct commit *commit, struct ashuf_error *error) {
  for (size_t i = commit->n; i-- > 0;) {
    const struct file_writer *writer = commit->writers[i];
    int failure = os_rename(writer->path, writer->aside);
    if (failure != 0 && failure != ENOENT)
      return commit_error(writer->path, SITE_FILE_ASIDE, failure, "move aside", error);
    commit->moved[i] = failure == 0;
  }
  return ASHUF_OK;
}

static ashuf_status name_files(struct commit *commit, struct ashuf_error *error) {
  for (; commit->named < commit->n; commit->named++) {
    const struct file_writer *writer = commit->writers[commit->named];
    int failure = writer->standing ? os_rename(writer->temporary, writer->path) : 0;
    if (failure != 0)
      return commit_error(writer->path, SITE_FILE_RENAME, failure, "rename the new file to", error);
  }
  return ASHUF_OK;
}

/* The directory part of a path, in the memory of the temporary's name, whose use is over. */
static const char *directory_of(struct file_writer *writer) {
  const char *slash = strrchr(writer->path, '/');
  if (slash == NULL) return ".";
  if (slash == writer->path) return "/";
  size_t size = (size_t)(slash - writer->path);
  memcpy(writer->temporary, writer->path, size);
  writer->temporary[size] = '\0';
  return writer->temporary;
}

static int sync_directory(const char *path) {
  int fd;
  int failure = os_open(path, O_RDONLY | O_DIRECTORY, 0, &fd);
  if (failure != 0) return failure;
  failure = os_fsync(fd);
  (void)os_close(fd);
  /* EINVAL: a file system whose directories need no sync. */
  return failure == EINVAL ? 0 : failure;
}

static ashuf_status sync_directories(const struct commit *commit, struct ashuf_error *error) {
  for (size_t i = 0; i < commit->n; i++) {
    int failure = sync_directory(directory_of(commit->writers[i]));
    if (failure != 0)
      return commit_error(commit->writers[i]->path, SITE_FILE_SYNC_DIRECTORY, failure,
                          "sync the directory of", error);
  }
  return ASHUF_OK;
}

static void take_back(const struct commit *commit) {
  for (size_t i = commit->named; i-- > 0;) (void)os_unlink(commit->writers[i]->path);
  for (size_t i = 0; i < commit->n; i++)
    if (commit->moved[i]) (void)os_rename(commit->writers[i]->aside, commit->writers[i]->path);
}

ashuf_status files_commit(struct file_writer *const *writers, size_t n, bool sync,
                          struct ashuf_error *error) {
  struct commit commit = {writers, n, {false}, 0};
  ashuf_status status = move_aside(&commit, error);
  if (status == ASHUF_OK) status = name_files(&commit, error);
  for (size_t i = 0; i < commit.named; i++) writers[i]->standing = false;
  if (status == ASHUF_OK && sync) status = sync_directories(&commit, error);
  if (status != ASHUF_OK) {
    take_back(&commit);
    return status;
  }
  for (size_t i = 0; i < n; i++)
    if (commit.moved[i]) (void)os_unlink(writers[i]->aside);
  return ASHUF_OK;
}

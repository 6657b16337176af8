#include "staging.h"

#include "cli.h"
#include "failure.h"
#include "interrupt.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *output_name(const char *directory, size_t map, const char *ending) {
  return must_print("%s/shuffle_0_%zu_0%s", directory, map, ending);
}

char *staging_path(const struct staging *staging, size_t map, const char *ending) {
  return output_name(staging->hidden, map, ending);
}

char *final_path(const struct staging *staging, size_t map, const char *ending) {
  return output_name(staging->directory, map, ending);
}

int staging_open(struct staging *out, const char *directory) {
  memset(out, 0, sizeof *out);
  out->directory = directory;
  out->made = mkdir(directory, 0777) == 0;
  if (!out->made && errno != EEXIST) return fail_os(directory, errno, "cannot make directory");
  out->hidden = must_print("%s/.ashuf-XXXXXX", directory);
  if (mkdtemp(out->hidden) == NULL) {
    int failure = errno;
    if (out->made) (void)rmdir(directory);
    free(out->hidden);
    out->hidden = NULL;
    return fail_os(directory, failure, "cannot write into directory");
  }
  out->open = true;
  interrupt_watch(out->hidden);
  return EXIT_GOOD;
}

/* The old index goes first: it must not stand beside a new data file. */
static int name_output(const struct staging *staging, size_t map) {
  char *old_index = final_path(staging, map, ".index");
  char *data = final_path(staging, map, ".data");
  char *made_data = staging_path(staging, map, ".data");
  char *made_index = staging_path(staging, map, ".index");
  int failure = 0;
  if (unlink(old_index) != 0 && errno != ENOENT) failure = errno;
  if (failure == 0 && rename(made_data, data) != 0) failure = errno;
  if (failure == 0 && rename(made_index, old_index) != 0) failure = errno;
  int status = failure == 0 ? EXIT_GOOD : fail_os(data, failure, "cannot name file");
  free(old_index);
  free(data);
  free(made_data);
  free(made_index);
  return status;
}

static void remove_output(const struct staging *staging, size_t map) {
  char *index = final_path(staging, map, ".index");
  char *data = final_path(staging, map, ".data");
  (void)unlink(index);
  (void)unlink(data);
  free(index);
  free(data);
}

static int sync_directory(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail_os(path, errno, "cannot sync directory");
  int status = EXIT_GOOD;
  if (fsync(fd) != 0) status = fail_os(path, errno, "cannot sync directory");
  (void)close(fd);
  return status;
}

/* The hidden directory is empty or given up: it goes, and signals are ours no longer. */
static void end_guard(struct staging *staging) {
  remove_directory(staging->hidden);
  staging->open = false;
  interrupt_end();
}

int staging_commit(struct staging *staging, size_t n, bool sync) {
  int status = EXIT_GOOD;
  interrupt_hold();
  for (size_t map = 0; map < n && status == EXIT_GOOD; map++) {
    status = name_output(staging, map);
    if (status == EXIT_GOOD) continue;
    for (size_t i = 0; i < map; i++) remove_output(staging, i);
  }
  if (status == EXIT_GOOD && sync) status = sync_directory(staging->directory);
  end_guard(staging);
  if (status == EXIT_GOOD) staging->made = false; /* it stays */
  return status;
}

void staging_close(struct staging *staging) {
  if (staging->open) {
    interrupt_hold();
    end_guard(staging);
  }
  if (staging->made) (void)rmdir(staging->directory);
  free(staging->hidden);
  staging->hidden = NULL;
}

#include "inputs.h"

#include "failure.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_in(const char *name, const char *ending) {
  size_t size = strlen(name);
  size_t end = strlen(ending);
  return size > end && strcmp(name + size - end, ending) == 0;
}

/* A name with .index is that of its data file. */
static char *data_path(const char *path) {
  if (!ends_in(path, ".index")) return must_copy(path);
  return must_print("%.*s.data", (int)(strlen(path) - strlen(".index")), path);
}

static void add(struct inputs *out, char *path, enum input_kind kind, uint64_t size) {
  out->list = must_grow(out->list, out->n + 1, sizeof *out->list);
  out->list[out->n++] = (struct input){path, kind, size, false};
}

static enum input_kind kind_of(const char *path, const unsigned char *head, size_t size) {
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  static const unsigned char marker[4] = {0xff, 0xff, 0xff, 0xff};
  if (size >= 6 && memcmp(head, "ARROW1", 6) == 0) return INPUT_IPC;
  if (size >= 4 && memcmp(head, marker, 4) == 0) return INPUT_IPC;
  if (size >= ASHUF_BLOCK_HEADER_SIZE && ashuf_block_peek(head, size, &info, NULL) == ASHUF_OK)
    return INPUT_SHUFFLE;
  return ends_in(path, ".data") ? INPUT_SHUFFLE : INPUT_IPC;
}

static ssize_t read_head(int fd, unsigned char *head, size_t size) {
  size_t used = 0;
  while (used < size) {
    ssize_t n = read(fd, head + used, size - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    used += (size_t)n;
  }
  return (ssize_t)used;
}

static int add_file(struct inputs *out, const char *path, uint64_t size) {
  unsigned char head[ASHUF_BLOCK_HEADER_SIZE];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_os(path, errno, "cannot open");
  ssize_t n = read_head(fd, head, sizeof head);
  int failure = errno;
  (void)close(fd);
  if (n < 0) return fail_os(path, failure, "cannot read");
  add(out, must_copy(path), kind_of(path, head, (size_t)n), size);
  return EXIT_GOOD;
}

static bool is_map_output(const char *name) {
  return strncmp(name, "shuffle_", 8) == 0 && (ends_in(name, ".data") || ends_in(name, ".index"));
}

static int by_numbers(const void *a, const void *b) {
  return strverscmp(*(char *const *)a, *(char *const *)b);
}

static char **list_names(DIR *directory, const char *path, size_t *n) {
  char **names = NULL;
  *n = 0;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (!is_map_output(entry->d_name)) continue;
    char *whole = must_print("%s%s%s", path, ends_in(path, "/") ? "" : "/", entry->d_name);
    names = must_grow(names, *n + 1, sizeof *names);
    names[(*n)++] = data_path(whole);
    free(whole);
  }
  if (*n > 0) qsort(names, *n, sizeof *names, by_numbers);
  return names;
}

static uint64_t size_of(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static void add_listed(struct inputs *out, char *path) {
  add(out, path, INPUT_SHUFFLE, size_of(path));
  out->list[out->n - 1].listed = true;
}

static int add_directory(struct inputs *out, const char *path) {
  DIR *directory = opendir(path);
  if (directory == NULL) return fail_os(path, errno, "cannot open directory");
  size_t n;
  char **names = list_names(directory, path, &n);
  (void)closedir(directory);
  for (size_t i = 0; i < n; i++) {
    if (i + 1 < n && strcmp(names[i], names[i + 1]) == 0)
      free(names[i]); /* the .data and the .index of one output */
    else
      add_listed(out, names[i]);
  }
  free(names);
  if (n > 0) return EXIT_GOOD;
  (void)fail_data(path, "no shuffle_*.data file in this directory");
  return EXIT_IO;
}

static void add_index(struct inputs *out, const char *argument) {
  char *path = data_path(argument);
  add(out, path, INPUT_SHUFFLE, size_of(path));
}

/* What is no regular file can only be IPC, and is not opened here: a pipe is read once. */
static int add_argument(struct inputs *out, const char *argument) {
  struct stat info;
  bool standard = strcmp(argument, "-") == 0;
  if (!standard && stat(argument, &info) != 0) return fail_os(argument, errno, "cannot open");
  if (!standard && S_ISDIR(info.st_mode)) return add_directory(out, argument);
  if (standard || !S_ISREG(info.st_mode))
    add(out, must_copy(argument), INPUT_IPC, 0);
  else if (ends_in(argument, ".index"))
    add_index(out, argument);
  else
    return add_file(out, argument, (uint64_t)info.st_size);
  return EXIT_GOOD;
}

int inputs_find(struct inputs *out, const struct arguments *arguments, bool stop) {
  int status = EXIT_GOOD;
  for (size_t i = 0; i < arguments->n; i++) {
    status = worse(status, add_argument(out, arguments->list[i]));
    if (status != EXIT_GOOD && stop) break;
  }
  for (size_t i = 0; i < out->n; i++) out->size += out->list[i].size;
  return status;
}

void inputs_free(struct inputs *inputs) {
  for (size_t i = 0; i < inputs->n; i++) free(inputs->list[i].path);
  free(inputs->list);
  inputs->list = NULL;
  inputs->n = 0;
}

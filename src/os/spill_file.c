#include "os/spill_file.h"

#include "os/file.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_SIZE 64
#define MAX_NAME_ATTEMPTS 1000

/* A file with a name, and the name taken away again. */
static int open_named(const char *directory, char *path, size_t size, int *fd) {
  static atomic_uint counter;
  int failure = EEXIST;
  for (int attempt = 0; attempt < MAX_NAME_ATTEMPTS && failure == EEXIST; attempt++) {
    (void)snprintf(path, size, "%s/ashuf-spill-%ld-%u", directory, (long)getpid(),
                   atomic_fetch_add(&counter, 1));
    failure = os_open(path, O_RDWR | O_CREAT | O_EXCL, 0600, fd);
  }
  if (failure != 0) return failure;
  failure = os_unlink(path);
  if (failure == 0) return 0;
  (void)os_close(*fd);
  (void)os_unlink(path); /* once more: nothing is to be left */
  return failure;
}

/* What open says where the kernel or the file system has no nameless files. */
static bool lacks_nameless(int failure) {
  return failure == EOPNOTSUPP || failure == EISDIR || failure == ENOENT || failure == EINVAL;
}

ashuf_status spill_file_open(struct spill_file *file, const char *directory, ashuf_memory *memory,
                             struct ashuf_error *error) {
  char label[FILE_LABEL_SIZE];
  int fd = -1;
  int failure = EOPNOTSUPP;
#ifdef O_TMPFILE
  failure = os_open(directory, O_RDWR | O_TMPFILE, 0600, &fd);
#endif
  if (failure != 0 && lacks_nameless(failure)) {
    size_t size = strlen(directory) + NAME_SIZE;
    char *path = memory_alloc(memory, size);
    if (path == NULL) return error_memory(error, SITE_SPILL_MEMORY, memory, size);
    failure = open_named(directory, path, size, &fd);
    memory_free(memory, path, size);
  }
  if (failure != 0)
    return error_os(error, SITE_SPILL_OPEN, failure, "cannot create a spill file in %s",
                    file_label(directory, label));
  *file = (struct spill_file){fd, 0};
  return ASHUF_OK;
}

ashuf_status spill_file_append(struct spill_file *file, const void *bytes, size_t size,
                               struct ashuf_error *error) {
  int failure = os_write(file->fd, bytes, size);
  if (failure != 0) return error_os(error, SITE_SPILL_WRITE, failure, "cannot write a spill file");
  file->size += size;
  return ASHUF_OK;
}

ashuf_status spill_file_read_at(const struct spill_file *file, uint64_t offset, void *out,
                                size_t size, struct ashuf_error *error) {
  size_t got = 0;
  int failure = os_read_at(file->fd, offset, out, size, &got);
  if (failure != 0) return error_os(error, SITE_SPILL_READ, failure, "cannot read a spill file");
  if (got < size)
    return error_in(error, ASHUF_TRUNCATED, SITE_SPILL_SHORT, ASHUF_SPACE_FILE, offset + got,
                    "a spill file ends %zu bytes too early", size - got);
  return ASHUF_OK;
}

void spill_file_close(struct spill_file *file) {
  if (file->fd >= 0) (void)os_close(file->fd);
  *file = (struct spill_file)SPILL_FILE_INIT;
}

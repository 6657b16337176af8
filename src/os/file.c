#include "os/file.h"

#include "base/bytes.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

const char *file_label(const char *path, char out[FILE_LABEL_SIZE]) {
  enum { SHOWN = 64 };
  size_t size = strlen(path);
  if (size <= SHOWN) return error_escape(out, FILE_LABEL_SIZE, path, size);
  for (int i = 0; i < 3; i++) out[i] = '.';
  (void)error_escape(out + 3, FILE_LABEL_SIZE - 3, path + size - SHOWN, SHOWN);
  return out;
}

ashuf_status file_open(struct file *out, const char *path, struct ashuf_error *error) {
  struct file opened = FILE_INIT;
  struct os_info info;
  (void)file_label(path, opened.label);
  int failure = os_open(path, O_RDONLY, 0, &opened.fd);
  if (failure != 0) return error_os(error, SITE_FILE_OPEN, failure, "cannot open %s", opened.label);
  failure = os_fstat(opened.fd, &info);
  if (failure == 0 && info.kind == OS_DIRECTORY) failure = EISDIR;
  if (failure != 0) {
    (void)os_close(opened.fd);
    return error_os(error, failure == EISDIR ? SITE_FILE_DIRECTORY : SITE_FILE_STAT, failure,
                    "cannot read %s", opened.label);
  }
  opened.regular = info.kind == OS_REGULAR;
  opened.size = info.size;
  *out = opened;
  return ASHUF_OK;
}

void file_open_standard_input(struct file *out) {
  static const struct file input = {0, true, false, 0, "standard input"};
  *out = input;
}

ashuf_status file_read_at(const struct file *file, uint64_t offset, void *out, size_t size,
                          struct ashuf_error *error) {
  size_t got = 0;
  int failure = os_read_at(file->fd, offset, out, size, &got);
  if (failure != 0) {
    (void)error_os(error, SITE_FILE_READ, failure, "cannot read %s", file->label);
    if (error != NULL) {
      error->space = ASHUF_SPACE_FILE;
      error->offset = offset;
    }
    return ASHUF_IO;
  }
  if (got < size)
    return error_in(error, ASHUF_TRUNCATED, SITE_FILE_SHORT, ASHUF_SPACE_FILE, offset + got,
                    "%s ends %zu bytes too early", file->label, size - got);
  return ASHUF_OK;
}

ashuf_status file_read(struct file *file, void *out, size_t size, size_t *got,
                       struct ashuf_error *error) {
  int failure = os_read(file->fd, out, size, got);
  if (failure == 0) return ASHUF_OK;
  return error_os(error, SITE_FILE_READ, failure, "cannot read %s", file->label);
}

void file_close(struct file *file) {
  if (file->fd >= 0 && !file->keep) (void)os_close(file->fd);
  file->fd = -1;
}

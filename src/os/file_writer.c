#include "os/file.h"

#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BUFFER ((size_t)256 * 1024)

/* Room for the longest of the suffixes below. */
#define SUFFIX_SIZE 64

/* Names left behind by a killed process of the same id are stepped over. */
#define MAX_NAME_ATTEMPTS 1000

static ashuf_status writer_error(const struct file_writer *writer, int site, int failure,
                                 const char *what, struct ashuf_error *error) {
  char label[FILE_LABEL_SIZE];
  return error_os(error, site, failure, "cannot %s %s", what, file_label(writer->path, label));
}

static bool copy_names(struct file_writer *writer, const char *path) {
  size_t size = strlen(path) + 1;
  writer->name_size = size + SUFFIX_SIZE;
  writer->path = memory_alloc(writer->memory, size);
  writer->temporary = memory_alloc(writer->memory, writer->name_size);
  writer->aside = memory_alloc(writer->memory, writer->name_size);
  if (writer->path == NULL || writer->temporary == NULL || writer->aside == NULL) return false;
  memcpy(writer->path, path, size);
  return true;
}

static void next_names(struct file_writer *writer) {
  static atomic_uint counter;
  unsigned number = atomic_fetch_add(&counter, 1);
  (void)snprintf(writer->temporary, writer->name_size, "%s.tmp-%ld-%u", writer->path,
                 (long)getpid(), number);
  (void)snprintf(writer->aside, writer->name_size, "%s.tmp-%ld-%u-old", writer->path,
                 (long)getpid(), number);
}

static int create_temporary(struct file_writer *writer) {
  int failure = EEXIST;
  for (int attempt = 0; attempt < MAX_NAME_ATTEMPTS && failure == EEXIST; attempt++) {
    next_names(writer);
    /* Readable by nobody else until the mode asked for is set. */
    failure = os_open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL, 0600, &writer->fd);
  }
  writer->standing = failure == 0;
  return failure;
}

static ashuf_status create(struct file_writer *writer, const char *path, unsigned mode,
                           struct ashuf_error *error) {
  struct os_info info;
  if (!copy_names(writer, path))
    return error_memory(error, SITE_FILE_MEMORY, writer->memory, strlen(path) + SUFFIX_SIZE);
  int failure = os_lstat(path, &info);
  if (failure != 0 && failure != ENOENT)
    return writer_error(writer, SITE_FILE_STAT, failure, "create", error);
  if (failure == 0 && info.kind != OS_REGULAR && info.kind != OS_LINK)
    return writer_error(writer, SITE_FILE_NOT_REGULAR, EEXIST, "replace what is no regular file,",
                        error);
  failure = create_temporary(writer);
  if (failure != 0) return writer_error(writer, SITE_FILE_CREATE, failure, "create", error);
  failure = os_fchmod(writer->fd, mode);
  if (failure != 0) return writer_error(writer, SITE_FILE_MODE, failure, "set the mode of", error);
  return ASHUF_OK;
}

ashuf_status file_writer_open(struct file_writer *writer, const char *path, unsigned mode,
                              ashuf_memory *memory, struct ashuf_error *error) {
  *writer = (struct file_writer)FILE_WRITER_INIT;
  writer->memory = memory;
  ashuf_status status = create(writer, path, mode, error);
  if (status != ASHUF_OK) file_writer_discard(writer);
  return status;
}

ashuf_status file_writer_removal(struct file_writer *writer, const char *path, ashuf_memory *memory,
                                 bool *there, struct ashuf_error *error) {
  struct os_info info;
  int failure = os_lstat(path, &info);
  *writer = (struct file_writer)FILE_WRITER_INIT;
  *there = failure == 0;
  if (failure == ENOENT) return ASHUF_OK;
  writer->memory = memory;
  if (!copy_names(writer, path)) {
    file_writer_discard(writer);
    return error_memory(error, SITE_FILE_MEMORY, memory, strlen(path) + SUFFIX_SIZE);
  }
  next_names(writer);
  if (failure == 0) return ASHUF_OK;
  ashuf_status status = writer_error(writer, SITE_FILE_STAT, failure, "replace", error);
  file_writer_discard(writer);
  return status;
}

static ashuf_status write_out(struct file_writer *writer, const void *bytes, size_t size,
                              struct ashuf_error *error) {
  int failure = os_write(writer->fd, bytes, size);
  if (failure == 0) return ASHUF_OK;
  return writer_error(writer, SITE_FILE_WRITE, failure, "write", error);
}

static ashuf_status flush(struct file_writer *writer, struct ashuf_error *error) {
  size_t used = writer->used;
  writer->used = 0;
  return used == 0 ? ASHUF_OK : write_out(writer, writer->buffer, used, error);
}

ashuf_status file_writer_append(struct file_writer *writer, const void *bytes, size_t size,
                                struct ashuf_error *error) {
  ashuf_status status = ASHUF_OK;
  if (size > FILE_BUFFER - writer->used) status = flush(writer, error);
  if (status == ASHUF_OK && size >= FILE_BUFFER) {
    status = write_out(writer, bytes, size, error);
  } else if (status == ASHUF_OK && size != 0) {
    if (writer->buffer == NULL) writer->buffer = memory_alloc(writer->memory, FILE_BUFFER);
    if (writer->buffer == NULL)
      return error_memory(error, SITE_FILE_MEMORY, writer->memory, FILE_BUFFER);
    memcpy(writer->buffer + writer->used, bytes, size);
    writer->used += size;
  }
  if (status == ASHUF_OK) writer->size += size;
  return status;
}

ashuf_status file_writer_complete(struct file_writer *writer, bool sync,
                                  struct ashuf_error *error) {
  ashuf_status status = flush(writer, error);
  if (status != ASHUF_OK) return status;
  int failure = sync ? os_fsync(writer->fd) : 0;
  if (failure != 0) return writer_error(writer, SITE_FILE_SYNC, failure, "sync", error);
  /* A file system may report a failed write only here. */
  failure = os_close(writer->fd);
  writer->fd = -1;
  if (failure != 0) return writer_error(writer, SITE_FILE_CLOSE, failure, "close", error);
  return ASHUF_OK;
}

void file_writer_discard(struct file_writer *writer) {
  if (writer->fd >= 0) (void)os_close(writer->fd);
  if (writer->standing) (void)os_unlink(writer->temporary);
  memory_free(writer->memory, writer->buffer, FILE_BUFFER);
  memory_free(writer->memory, writer->path, writer->name_size - SUFFIX_SIZE);
  memory_free(writer->memory, writer->temporary, writer->name_size);
  memory_free(writer->memory, writer->aside, writer->name_size);
  *writer = (struct file_writer)FILE_WRITER_INIT;
}

/*
 * System calls. Every one the library makes goes through one table, which a test may replace;
 * beside it, once: EINTR is retried, short reads and writes are continued.
 *
 * Functions return 0 or an errno; who calls knows the name of the file and makes the error.
 * os_replace is for tests that run alone: the table is not guarded against other threads.
 */
#ifndef ASHUF_OS_OS_H
#define ASHUF_OS_OS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The calls as POSIX has them: -1 and errno on failure. */
struct os_calls {
  int (*open)(const char *path, int flags, mode_t mode);
  int (*close)(int fd);
  ssize_t (*read)(int fd, void *out, size_t size);
  ssize_t (*pread)(int fd, void *out, size_t size, off_t offset);
  ssize_t (*write)(int fd, const void *bytes, size_t size);
  int (*fstat)(int fd, struct stat *out);
  int (*lstat)(const char *path, struct stat *out);
  int (*fchmod)(int fd, mode_t mode);
  int (*fsync)(int fd);
  int (*rename)(const char *from, const char *to);
  int (*unlink)(const char *path);
};

/* The system's own table. */
const struct os_calls *os_system(void);
/* Every later call goes through calls, which must stay; NULL: the system's again. */
void os_replace(const struct os_calls *calls);

enum os_kind { OS_REGULAR, OS_DIRECTORY, OS_LINK, OS_OTHER };

struct os_info {
  enum os_kind kind;
  uint64_t size; /* of regular files */
};

/* flags as for open(2); O_CLOEXEC is added. */
int os_open(const char *path, int flags, unsigned mode, int *fd);
/* The descriptor is gone whatever is returned; EINTR is not an error. */
int os_close(int fd);
/* Up to size bytes; *got < size only at the end of the data. */
int os_read(int fd, void *out, size_t size, size_t *got);
int os_read_at(int fd, uint64_t offset, void *out, size_t size, size_t *got);
/* All of the bytes, or an errno. */
int os_write(int fd, const void *bytes, size_t size);
int os_fstat(int fd, struct os_info *out);
/* Of the path itself, symbolic links not followed. */
int os_lstat(const char *path, struct os_info *out);
int os_fchmod(int fd, unsigned mode);
int os_fsync(int fd);
int os_rename(const char *from, const char *to);
int os_unlink(const char *path);

/* Asks for large pages where size bytes at memory have room for them. A wish: nothing depends on
 * it. */
void os_use_large_pages(void *memory, size_t size);

#endif /* ASHUF_OS_OS_H */

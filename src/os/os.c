#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Linux moves at most this many bytes a call; elsewhere more is an error. */
#define MAX_TRANSFER ((size_t)0x7ffff000)

/* open(2) is variadic, so the table cannot hold it. */
static int system_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }
static int system_fstat(int fd, struct stat *out) { return fstat(fd, out); }
static int system_lstat(const char *path, struct stat *out) { return lstat(path, out); }

static const struct os_calls system_calls = {
    .open = system_open,
    .close = close,
    .read = read,
    .pread = pread,
    .write = write,
    .fstat = system_fstat,
    .lstat = system_lstat,
    .fchmod = fchmod,
    .fsync = fsync,
    .rename = rename,
    .unlink = unlink,
};

static const struct os_calls *calls = &system_calls;

const struct os_calls *os_system(void) { return &system_calls; }

void os_replace(const struct os_calls *replacement) {
  calls = replacement != NULL ? replacement : &system_calls;
}

/* Repeats a call that a signal interrupted; its value is result's. */
#define RETRY(result, call) \
  do {                      \
    (result) = (call);      \
  } while ((result) == -1 && errno == EINTR)

int os_open(const char *path, int flags, unsigned mode, int *fd) {
  int opened;
  RETRY(opened, calls->open(path, flags | O_CLOEXEC, (mode_t)mode));
  if (opened == -1) return errno;
  *fd = opened;
  return 0;
}

int os_close(int fd) {
  /* Linux frees the descriptor before it can be interrupted: a retry would close another's. */
  return calls->close(fd) == 0 || errno == EINTR ? 0 : errno;
}

static size_t piece(size_t left) { return left < MAX_TRANSFER ? left : MAX_TRANSFER; }

int os_read(int fd, void *out, size_t size, size_t *got) {
  size_t done = 0;
  while (done < size) {
    ssize_t n;
    RETRY(n, calls->read(fd, (char *)out + done, piece(size - done)));
    if (n < 0) return errno;
    if (n == 0) break;
    done += (size_t)n;
  }
  *got = done;
  return 0;
}

int os_read_at(int fd, uint64_t offset, void *out, size_t size, size_t *got) {
  if (offset > INT64_MAX || size > INT64_MAX - offset) return EOVERFLOW;
  size_t done = 0;
  while (done < size) {
    ssize_t n;
    RETRY(n, calls->pread(fd, (char *)out + done, piece(size - done), (off_t)(offset + done)));
    if (n < 0) return errno;
    if (n == 0) break;
    done += (size_t)n;
  }
  *got = done;
  return 0;
}

int os_write(int fd, const void *bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t n;
    RETRY(n, calls->write(fd, (const char *)bytes + done, piece(size - done)));
    if (n < 0) return errno;
    if (n == 0) return EIO; /* a device that takes nothing would keep us here for ever */
    done += (size_t)n;
  }
  return 0;
}

static void info_from(const struct stat *from, struct os_info *out) {
  out->kind = S_ISREG(from->st_mode)   ? OS_REGULAR
              : S_ISDIR(from->st_mode) ? OS_DIRECTORY
              : S_ISLNK(from->st_mode) ? OS_LINK
                                       : OS_OTHER;
  out->size = out->kind == OS_REGULAR && from->st_size > 0 ? (uint64_t)from->st_size : 0;
}

int os_fstat(int fd, struct os_info *out) {
  struct stat found;
  int result;
  RETRY(result, calls->fstat(fd, &found));
  if (result != 0) return errno;
  info_from(&found, out);
  return 0;
}

int os_lstat(const char *path, struct os_info *out) {
  struct stat found;
  int result;
  RETRY(result, calls->lstat(path, &found));
  if (result != 0) return errno;
  info_from(&found, out);
  return 0;
}

int os_fchmod(int fd, unsigned mode) {
  int result;
  RETRY(result, calls->fchmod(fd, (mode_t)mode));
  return result == 0 ? 0 : errno;
}

int os_fsync(int fd) {
  int result;
  RETRY(result, calls->fsync(fd));
  return result == 0 ? 0 : errno;
}

int os_rename(const char *from, const char *to) {
  int result;
  RETRY(result, calls->rename(from, to));
  return result == 0 ? 0 : errno;
}

int os_unlink(const char *path) {
  int result;
  RETRY(result, calls->unlink(path));
  return result == 0 ? 0 : errno;
}

#define LARGE_PAGE ((uintptr_t)2 << 20)

void os_use_large_pages(void *memory, size_t size) {
#ifdef MADV_HUGEPAGE
  uintptr_t start = ((uintptr_t)memory + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
  uintptr_t end = ((uintptr_t)memory + size) & ~(LARGE_PAGE - 1);
  if (start < end) (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)size;
#endif
}

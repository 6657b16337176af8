#include "support/os_faults.h"

#include "os/os.h"

#include <errno.h>
#include <fcntl.h>

static enum os_fault fault;
static int fault_at;
static int fault_code;
static int calls;
static int open_files;
static bool hit;
static bool nameless = true;
static const char *hit_name;

/* Whether this call fails; errno is set then. */
static bool fails(const char *name, bool undoes) {
  calls++;
  bool now = (fault == FAULT_ERROR && calls == fault_at) ||
             (fault == FAULT_ERROR_ON && calls >= fault_at && (calls == fault_at || !undoes)) ||
             (fault == FAULT_EINTR && calls == fault_at);
  if (!now) return false;
  if (!hit) hit_name = name;
  hit = true;
  errno = fault == FAULT_EINTR ? EINTR : fault_code;
  return true;
}

static size_t shortened(size_t size) {
  if (fault != FAULT_SHORT || calls < fault_at || size < 2) return size;
  hit = true;
  return calls - fault_at < 4 ? 1 : (size + 1) / 2;
}

static int fault_open(const char *path, int flags, mode_t mode) {
  if (!nameless && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  if (fails("open", false)) return -1;
  int fd = os_system()->open(path, flags, mode);
  if (fd >= 0) open_files++;
  return fd;
}
/* A close that fails has closed all the same, as on Linux. */
static int fault_close(int fd) {
  open_files--;
  int result = os_system()->close(fd);
  return fails("close", true) ? -1 : result;
}
static ssize_t fault_read(int fd, void *out, size_t size) {
  return fails("read", false) ? -1 : os_system()->read(fd, out, shortened(size));
}
static ssize_t fault_pread(int fd, void *out, size_t size, off_t offset) {
  return fails("pread", false) ? -1 : os_system()->pread(fd, out, shortened(size), offset);
}
static ssize_t fault_write(int fd, const void *bytes, size_t size) {
  return fails("write", false) ? -1 : os_system()->write(fd, bytes, shortened(size));
}
static int fault_fstat(int fd, struct stat *out) {
  return fails("fstat", false) ? -1 : os_system()->fstat(fd, out);
}
static int fault_lstat(const char *path, struct stat *out) {
  return fails("lstat", false) ? -1 : os_system()->lstat(path, out);
}
static int fault_fchmod(int fd, mode_t mode) {
  return fails("fchmod", false) ? -1 : os_system()->fchmod(fd, mode);
}
static int fault_fsync(int fd) { return fails("fsync", false) ? -1 : os_system()->fsync(fd); }
static int fault_rename(const char *from, const char *to) {
  return fails("rename", true) ? -1 : os_system()->rename(from, to);
}
static int fault_unlink(const char *path) {
  return fails("unlink", true) ? -1 : os_system()->unlink(path);
}

void os_faults_start(enum os_fault kind, int n, int code) {
  static const struct os_calls table = {
      .open = fault_open,
      .close = fault_close,
      .read = fault_read,
      .pread = fault_pread,
      .write = fault_write,
      .fstat = fault_fstat,
      .lstat = fault_lstat,
      .fchmod = fault_fchmod,
      .fsync = fault_fsync,
      .rename = fault_rename,
      .unlink = fault_unlink,
  };
  fault = kind;
  fault_at = n;
  fault_code = code;
  calls = 0;
  open_files = 0;
  hit = false;
  hit_name = "";
  os_replace(&table);
}

void os_faults_nameless(bool allowed) { nameless = allowed; }
void os_faults_stop(void) { os_replace(NULL); }
int os_faults_calls(void) { return calls; }
bool os_faults_hit(void) { return hit; }
int os_faults_open(void) { return open_files; }
const char *os_faults_name(void) { return hit_name; }

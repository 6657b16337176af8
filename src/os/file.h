/*
 * Files: read at any place or in order, and written so that nothing half-done ever bears its
 * final name.
 *
 * Reading: file_open -> file_read_at (any thread) or file_read (one thread) -> file_close.
 *
 * Writing: file_writer_open (a temporary beside the final path: "<path>.tmp-<pid>-<counter>")
 *   -> file_writer_append ... -> file_writer_complete (flushed, synced if asked, closed, still
 *   temporary) -> files_commit, which names one or several complete files as one step
 *   -> file_writer_discard, always last: closes and removes what was not committed.
 *
 * files_commit, all or nothing as far as a file system allows:
 *   1. what stands at the final paths is moved aside, last file first;
 *   2. the new files are named in order;
 *   3. their directories are synced, if asked;
 *   4. what was moved aside is removed.
 * A failure in 1 to 3 takes the steps back: the new files go, the old ones return. So a failed
 * commit changes nothing, and a crash at any moment leaves no old file beside a new one: an old
 * index is gone before a new data file can stand beside it, and a new index comes last. The price
 * is that for a moment neither the old nor the new stands there. Two commits to the same paths at
 * the same time can mix: who may do that takes a lock.
 */
#ifndef ASHUF_OS_FILE_H
#define ASHUF_OS_FILE_H

#include "base/error.h"
#include "base/memory.h"

enum {
  SITE_FILE_OPEN = 100,
  SITE_FILE_STAT = 101,
  SITE_FILE_DIRECTORY = 102,
  SITE_FILE_READ = 103,
  SITE_FILE_SHORT = 104,
  SITE_FILE_MEMORY = 105,
  SITE_FILE_CREATE = 110,
  SITE_FILE_MODE = 111,
  SITE_FILE_WRITE = 112,
  SITE_FILE_SYNC = 113,
  SITE_FILE_CLOSE = 114,
  SITE_FILE_NOT_REGULAR = 115,
  SITE_FILE_ASIDE = 116,
  SITE_FILE_RENAME = 117,
  SITE_FILE_SYNC_DIRECTORY = 118
};

/* ---- Names -------------------------------------------------------------------------------- */

#define FILE_LABEL_SIZE 96

/* The end of a path, escaped, "..." in front where cut: what messages call a file. Returns out. */
const char *file_label(const char *path, char out[FILE_LABEL_SIZE]);

/* ---- Reading ------------------------------------------------------------------------------ */

struct file {
  int fd;    /* -1: closed */
  bool keep; /* a standard stream: not ours to close */
  bool regular;
  uint64_t size; /* when opened; 0 where not regular */
  char label[FILE_LABEL_SIZE];
};
#define FILE_INIT \
  { -1, false, false, 0, "" }

/* A directory is an error. os_errno is ENOENT where there is no such file. */
ashuf_status file_open(struct file *out, const char *path, struct ashuf_error *error);
/* Descriptor 0. */
void file_open_standard_input(struct file *out);
/* Exactly size bytes at an offset of a regular file; fewer is TRUNCATED at the byte it ends. */
ashuf_status file_read_at(const struct file *file, uint64_t offset, void *out, size_t size,
                          struct ashuf_error *error);
/* The next bytes in order, of a pipe too; *got < size only at the end. */
ashuf_status file_read(struct file *file, void *out, size_t size, size_t *got,
                       struct ashuf_error *error);
void file_close(struct file *file);

/* ---- Writing ------------------------------------------------------------------------------ */

#define FILE_MAX_COMMIT 5

struct file_writer {
  ashuf_memory *memory; /* not a reference: the owner of the writer holds one */
  int fd;               /* -1: not open */
  bool standing;        /* the temporary file exists */
  char *path;           /* final */
  char *temporary;
  char *aside;      /* where a file that stands at path is kept during a commit */
  size_t name_size; /* allocated for each of temporary and aside */
  uint8_t *buffer;
  size_t used;
  uint64_t size; /* appended so far */
};
#define FILE_WRITER_INIT \
  { 0, -1, false, 0, 0, 0, 0, 0, 0, 0 }

/*
 * Creates the temporary file, with exactly the permission bits of mode whatever the umask. Fails
 * where something other than a regular file or a link stands at path.
 */
ashuf_status file_writer_open(struct file_writer *writer, const char *path, unsigned mode,
                              ashuf_memory *memory, struct ashuf_error *error);
/* A part of a commit that names nothing: what stands at path is moved aside, and then removed.
 * *there: something does; otherwise there is nothing to commit. */
ashuf_status file_writer_removal(struct file_writer *writer, const char *path, ashuf_memory *memory,
                                 bool *there, struct ashuf_error *error);
ashuf_status file_writer_append(struct file_writer *writer, const void *bytes, size_t size,
                                struct ashuf_error *error);
ashuf_status file_writer_complete(struct file_writer *writer, bool sync, struct ashuf_error *error);
ashuf_status files_commit(struct file_writer *const *writers, size_t n, bool sync,
                          struct ashuf_error *error);
/* Takes one that was never opened (FILE_WRITER_INIT), and one twice. */
void file_writer_discard(struct file_writer *writer);

#endif /* ASHUF_OS_FILE_H */

/* A directory of the test's own, under TMPDIR, and small files in it. */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* Makes a directory; a failure ends the program. The path lives until scratch_end. */
const char *scratch_begin(void);
/* "<directory>/<name>" in one of eight rotating buffers. */
const char *scratch_path(const char *name);
void scratch_write(const char *name, const void *bytes, size_t size);
/* Malloced, one NUL behind; NULL where there is no such file. */
uint8_t *scratch_read(const char *name, size_t *size);
/* Entries in the directory. */
int scratch_count(void);
/* Removes all files in the directory. */
void scratch_clear(void);
/* Removes it with all its files. */
void scratch_end(void);

/* Both as cmocka calls them, around a test or a group; the latter ends faults of system calls, too.
 */
int scratch_setup(void **state);
int scratch_teardown(void **state);

#endif /* TESTS_SUPPORT_SCRATCH_H */

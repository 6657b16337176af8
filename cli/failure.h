/*
 * What went wrong, as one line on standard error:
 *   ashuf: FILE: partition P, block B, byte X: message
 * with as much of the place as is known. Control characters never reach the terminal. Each
 * function returns the exit status that belongs to the failure.
 */
#ifndef ASHUF_CLI_FAILURE_H
#define ASHUF_CLI_FAILURE_H

#include "text.h"

#include <ashuf/ashuf.h>

/* A failure of the library that concerns path ("-": standard input). */
int fail_error(const char *path, const struct ashuf_error *error);
/* A failed system call: "ashuf: path: what: text of errno". */
int fail_os(const char *path, int os_errno, const char *what);
/* What the user asked for cannot be; command may be NULL. */
int fail_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Data that is not as it should be. */
int fail_data(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A remark that changes no exit status. */
void remark(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The place of an error, as in "partition 1, block 0, byte 512"; empty where it has none. */
void failure_place(struct text *out, const struct ashuf_error *error);
/*
 * The file that an error is about, path or index or checksums beside it, and the message without
 * the file and the place that it may repeat. Both are overwritten.
 */
void failure_split(const char *path, const struct ashuf_error *error, struct text *file,
                   struct text *message);
/* path, or what "-" stands for. */
const char *shown_path(const char *path);

#endif /* ASHUF_CLI_FAILURE_H */

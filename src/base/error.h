/*
 * Filling struct ashuf_error, and the names of statuses.
 *
 * Every check that can fail has a site: a stable number, unique in the project, defined in the
 * enum of its module's header. Ranges: base 1-99, os 100-199, codec 200-299, flatbuf 300-399,
 * arrow 400-599, ipc 600-799, block 800-899, partition 900-999, shuffle 1000-1199, api 1200-1299.
 * scripts/check_sites.py keeps them unique and in range.
 *
 * Functions return the status they were given, so that a check reads
 *     if (bad) return error_at(error, ASHUF_BAD_FRAMING, SITE_X, offset, "…");
 */
#ifndef ASHUF_BASE_ERROR_H
#define ASHUF_BASE_ERROR_H

#include <ashuf/base.h>
#include <stdarg.h>
#include <stdbool.h>

#if defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

/* An error without a place in bytes. error may be NULL. */
ashuf_status error_set(struct ashuf_error *error, ashuf_status status, int site, const char *format,
                       ...) PRINTF_LIKE(4, 5);

/* An error at an offset of the decoded IPC stream (ASHUF_SPACE_STREAM). */
ashuf_status error_at(struct ashuf_error *error, ashuf_status status, int site, uint64_t offset,
                      const char *format, ...) PRINTF_LIKE(5, 6);

/* An error at an offset of any space. */
ashuf_status error_in(struct ashuf_error *error, ashuf_status status, int site,
                      enum ashuf_space space, uint64_t offset, const char *format, ...)
    PRINTF_LIKE(6, 7);

/* ASHUF_IO with an errno, whose text is appended. */
ashuf_status error_os(struct ashuf_error *error, int site, int os_errno, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* After a failed allocation of about size bytes: OUT_OF_MEMORY, or MEMORY_LIMIT where the domain's
 * limit or host refused them. */
ashuf_status error_memory(struct ashuf_error *error, int site, const ashuf_memory *memory,
                          size_t size);

/* Puts text in front of the message of an error that is already set. */
void error_prefix(struct ashuf_error *error, const char *format, ...) PRINTF_LIKE(2, 3);

/*
 * Input bytes as printable text: control bytes, quotes, backslashes and bytes above 0x7e become
 * \xNN, what does not fit ends in "...". Returns out, which holds capacity >= 8 bytes.
 */
const char *error_escape(char *out, size_t capacity, const void *bytes, size_t size);

/* The static analyzer looks at one file at a time and would think that a failing check may return
 * success: it is told what these return. */
#if defined(__clang_analyzer__) && !defined(ERROR_IMPLEMENTATION)
#define error_set(error, status, ...) ((void)(error_set)(error, status, __VA_ARGS__), (status))
#define error_at(error, status, ...) ((void)(error_at)(error, status, __VA_ARGS__), (status))
#define error_in(error, status, ...) ((void)(error_in)(error, status, __VA_ARGS__), (status))
#define error_os(...) ((void)(error_os)(__VA_ARGS__), ASHUF_IO)
#define error_memory(...) ((void)(error_memory)(__VA_ARGS__), ASHUF_OUT_OF_MEMORY)
#endif

#endif /* ASHUF_BASE_ERROR_H */

/*
 * Standard output, buffered. The first failure sticks: later writes do nothing, and
 * output_finish says what it was, so that callers check once. output_failed lets a long loop
 * stop early.
 */
#ifndef ASHUF_CLI_OUTPUT_H
#define ASHUF_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct text;

void output_write(const void *bytes, size_t size);
void output_puts(const char *string);
void output_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes a text and empties it. */
void output_text(struct text *text);
bool output_failed(void);
/* What is buffered goes out; returns 0 or the errno of the first failure. */
int output_flush(void);
/* Flushes and returns status, or says what failed and returns EXIT_IO. */
int output_finish(int status);

bool output_is_terminal(void);
/* Columns of the terminal; 0 where standard output is none. */
size_t output_columns(void);

#endif /* ASHUF_CLI_OUTPUT_H */

/*
 * Text that grows, and the few allocations of the command line. They do not return without
 * memory: the process says so, removes what it staged and exits.
 */
#ifndef ASHUF_CLI_TEXT_H
#define ASHUF_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
  char *data; /* not terminated; see text_terminated */
  size_t size;
  size_t capacity;
};
#define TEXT_INIT \
  { 0, 0, 0 }

void text_free(struct text *text);
void text_add(struct text *text, const void *bytes, size_t size);
void text_char(struct text *text, char c);
void text_puts(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull));
/* Bytes that should be UTF-8; what is not becomes U+FFFD. */
void text_utf8(struct text *text, const void *bytes, size_t size);
/* The same as a JSON string, quotes included. */
void text_json(struct text *text, const void *bytes, size_t size);
/* The same for people: control characters become \n, \t or \xNN. */
void text_shown(struct text *text, const void *bytes, size_t size);
/* The text, terminated; valid until it grows. */
const char *text_terminated(struct text *text);

/* Length of the well-formed UTF-8 sequence at bytes, size >= 1; 0 where there is none. */
size_t utf8_length(const unsigned char *bytes, size_t size);
/* Columns that size bytes of well-formed UTF-8 take on a terminal. */
size_t utf8_columns(const char *bytes, size_t size);
/* How many bytes of the text fit into columns. */
size_t utf8_fit(const char *bytes, size_t size, size_t columns);

void *must_allocate(size_t count, size_t size); /* zeroed */
void *must_grow(void *pointer, size_t count, size_t size);
char *must_copy(const char *string);
char *must_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* ASHUF_CLI_TEXT_H */

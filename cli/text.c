#include "text.h"

#include "interrupt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPLACEMENT "\xef\xbf\xbd"

_Noreturn static void no_memory(void) {
  static const char line[] = "ashuf: out of memory\n";
  interrupt_cleanup();
  if (write(STDERR_FILENO, line, sizeof line - 1) < 0) _exit(3);
  _exit(3);
}

void *must_allocate(size_t count, size_t size) {
  void *pointer = calloc(count == 0 ? 1 : count, size);
  if (pointer == NULL) no_memory();
  return pointer;
}

void *must_grow(void *pointer, size_t count, size_t size) {
  void *grown = reallocarray(pointer, count == 0 ? 1 : count, size);
  if (grown == NULL) no_memory();
  return grown;
}

char *must_copy(const char *string) {
  char *copy = strdup(string);
  if (copy == NULL) no_memory();
  return copy;
}

char *must_print(const char *format, ...) {
  char *out = NULL;
  va_list arguments;
  va_start(arguments, format);
  int size = vasprintf(&out, format, arguments);
  va_end(arguments);
  if (size < 0) no_memory();
  return out;
}

static void reserve(struct text *text, size_t more) {
  if (text->capacity - text->size >= more) return;
  size_t capacity = text->capacity < 64 ? 64 : text->capacity;
  while (capacity - text->size < more) {
    if (capacity > SIZE_MAX / 2) no_memory();
    capacity *= 2;
  }
  text->data = must_grow(text->data, capacity, 1);
  text->capacity = capacity;
}

void text_free(struct text *text) {
  free(text->data);
  memset(text, 0, sizeof *text);
}

void text_add(struct text *text, const void *bytes, size_t size) {
  if (size == 0) return;
  reserve(text, size);
  memcpy(text->data + text->size, bytes, size);
  text->size += size;
}

void text_char(struct text *text, char c) { text_add(text, &c, 1); }

void text_puts(struct text *text, const char *string) { text_add(text, string, strlen(string)); }

void text_printf(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  int size = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (size > 0) {
    reserve(text, (size_t)size + 1);
    (void)vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
    text->size += (size_t)size;
  }
  va_end(again);
}

const char *text_terminated(struct text *text) {
  reserve(text, 1);
  text->data[text->size] = '\0';
  return text->data;
}

static bool continues(unsigned char byte) { return (byte & 0xc0) == 0x80; }

size_t utf8_length(const unsigned char *bytes, size_t size) {
  unsigned char first = bytes[0];
  if (first < 0x80) return 1;
  size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || size < length) return 0;
  for (size_t i = 1; i < length; i++)
    if (!continues(bytes[i])) return 0;
  unsigned char second = bytes[1];
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f))
    return 0; /* surrogates */
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return length;
}

void text_utf8(struct text *text, const void *bytes, size_t size) {
  const unsigned char *in = bytes;
  size_t start = 0;
  for (size_t at = 0; at < size;) {
    size_t length = utf8_length(in + at, size - at);
    if (length != 0) {
      at += length;
      continue;
    }
    text_add(text, in + start, at - start);
    text_puts(text, REPLACEMENT);
    start = ++at;
  }
  if (size > start) text_add(text, in + start, size - start);
}

static void add_json_byte(struct text *text, unsigned char c) {
  static const char letters[] = "btn\0fr"; /* 8 to 13, without 11 */
  if (c == '"' || c == '\\') {
    text_char(text, '\\');
    text_char(text, (char)c);
  } else if (c >= 8 && c <= 13 && c != 11) {
    text_char(text, '\\');
    text_char(text, letters[c - 8]);
  } else {
    text_printf(text, "\\u%04x", c);
  }
}

void text_json(struct text *text, const void *bytes, size_t size) {
  const unsigned char *in = bytes;
  text_char(text, '"');
  size_t start = 0;
  for (size_t at = 0; at < size; at++) {
    if (in[at] >= 0x20 && in[at] != '"' && in[at] != '\\' && in[at] != 0x7f) continue;
    if (at > start) text_utf8(text, in + start, at - start);
    add_json_byte(text, in[at]);
    start = at + 1;
  }
  if (size > start) text_utf8(text, in + start, size - start);
  text_char(text, '"');
}

/* C1 control characters are two bytes in UTF-8, the first being c2. */
static bool is_c1(const unsigned char *in, size_t left) {
  return left >= 2 && in[0] == 0xc2 && in[1] >= 0x80 && in[1] < 0xa0;
}

void text_shown(struct text *text, const void *bytes, size_t size) {
  const unsigned char *in = bytes;
  for (size_t at = 0; at < size;) {
    unsigned char c = in[at];
    size_t length = utf8_length(in + at, size - at);
    if (c == '\n' || c == '\t' || c == '\r')
      text_puts(text, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
    else if (c < 0x20 || c == 0x7f || is_c1(in + at, size - at))
      text_printf(text, "\\x%02x", c < 0x80 ? c : in[at + 1]);
    else if (length == 0)
      text_puts(text, REPLACEMENT);
    else
      text_add(text, in + at, length);
    at += length == 0 ? 1 : length;
  }
}

static uint32_t code_point(const unsigned char *in, size_t length) {
  if (length == 1) return in[0];
  uint32_t code = in[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) code = code << 6 | (in[i] & 0x3fu);
  return code;
}

/* Ranges that a terminal draws two columns wide (East Asian Wide, emoji) or not at all. */
static size_t columns_of(uint32_t code) {
  static const struct {
    uint32_t first, last;
    unsigned columns;
  } ranges[] = {
      {0x300, 0x36f, 0},     {0x483, 0x489, 0},     {0x591, 0x5bd, 0},     {0x610, 0x61a, 0},
      {0x64b, 0x65f, 0},     {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},
      {0x200b, 0x200f, 0},   {0x202a, 0x202e, 0},   {0x2060, 0x2064, 0},   {0x20d0, 0x20ff, 0},
      {0x2e80, 0x303e, 2},   {0x3041, 0x33ff, 2},   {0x3400, 0x4dbf, 2},   {0x4e00, 0x9fff, 2},
      {0xa000, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},
      {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},   {0xfeff, 0xfeff, 0},   {0xff00, 0xff60, 2},
      {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1faff, 2},
      {0x20000, 0x3fffd, 2}, {0xe0100, 0xe01ef, 0}};
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0] && code >= ranges[i].first; i++)
    if (code <= ranges[i].last) return ranges[i].columns;
  return 1;
}

size_t utf8_fit(const char *bytes, size_t size, size_t columns) {
  const unsigned char *in = (const unsigned char *)bytes;
  size_t at = 0;
  for (size_t used = 0; at < size;) {
    size_t length = utf8_length(in + at, size - at);
    if (length == 0) length = 1;
    size_t wide = columns_of(code_point(in + at, length));
    if (wide > columns - used) break;
    used += wide;
    at += length;
  }
  return at;
}

size_t utf8_columns(const char *bytes, size_t size) {
  const unsigned char *in = (const unsigned char *)bytes;
  size_t columns = 0;
  for (size_t at = 0; at < size;) {
    size_t length = utf8_length(in + at, size - at);
    if (length == 0) length = 1;
    columns += columns_of(code_point(in + at, length));
    at += length;
  }
  return columns;
}

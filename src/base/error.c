#define ERROR_IMPLEMENTATION
#include "base/error.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static void fill(struct ashuf_error *error, ashuf_status status, int site, enum ashuf_space space,
                 uint64_t offset, const char *format, va_list arguments) {
  if (error == NULL) return;
  memset(error, 0, sizeof *error);
  error->status = status;
  error->site = site;
  error->space = (int)space;
  error->offset = offset;
  error->block_offset = UINT64_MAX;
  error->map = -1;
  error->partition = -1;
  error->block = -1;
  (void)vsnprintf(error->message, sizeof error->message, format, arguments);
}

ashuf_status error_set(struct ashuf_error *error, ashuf_status status, int site, const char *format,
                       ...) {
  va_list arguments;
  va_start(arguments, format);
  fill(error, status, site, ASHUF_SPACE_NONE, 0, format, arguments);
  va_end(arguments);
  return status;
}

ashuf_status error_at(struct ashuf_error *error, ashuf_status status, int site, uint64_t offset,
                      const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fill(error, status, site, ASHUF_SPACE_STREAM, offset, format, arguments);
  va_end(arguments);
  return status;
}

ashuf_status error_in(struct ashuf_error *error, ashuf_status status, int site,
                      enum ashuf_space space, uint64_t offset, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fill(error, status, site, space, offset, format, arguments);
  va_end(arguments);
  return status;
}

ashuf_status error_os(struct ashuf_error *error, int site, int os_errno, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fill(error, ASHUF_IO, site, ASHUF_SPACE_NONE, 0, format, arguments);
  va_end(arguments);
  if (error != NULL) {
    size_t used = strlen(error->message);
    error->os_errno = os_errno;
    (void)snprintf(error->message + used, sizeof error->message - used, ": %s", strerror(os_errno));
  }
  return ASHUF_IO;
}

ashuf_status error_memory(struct ashuf_error *error, int site, const ashuf_memory *memory,
                          size_t size) {
  if (memory_was_limited(memory))
    return error_set(error, ASHUF_MEMORY_LIMIT, site, "memory limit reached: %zu more bytes asked",
                     size);
  return error_set(error, ASHUF_OUT_OF_MEMORY, site, "out of memory: %zu bytes asked", size);
}

void error_prefix(struct ashuf_error *error, const char *format, ...) {
  if (error == NULL) return;
  char text[sizeof error->message];
  va_list arguments;
  va_start(arguments, format);
  int used = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (used < 0) return;
  size_t at = (size_t)used < sizeof text ? (size_t)used : sizeof text - 1;
  size_t room = sizeof text - 1 - at;
  size_t length = strlen(error->message);
  if (length > room) length = room;
  memcpy(text + at, error->message, length);
  text[at + length] = '\0';
  memcpy(error->message, text, at + length + 1);
}

const char *error_escape(char *out, size_t capacity, const void *bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *in = bytes;
  size_t used = 0;
  for (size_t i = 0; i < size; i++) {
    bool plain = in[i] >= 0x20 && in[i] < 0x7f && in[i] != '"' && in[i] != '\\';
    size_t need = plain ? 1 : 4;
    if (used + need + 4 > capacity) {
      memcpy(out + used, "...", 3);
      used += 3;
      break;
    }
    if (plain) {
      out[used] = (char)in[i];
    } else {
      out[used] = '\\';
      out[used + 1] = 'x';
      out[used + 2] = digits[in[i] >> 4];
      out[used + 3] = digits[in[i] & 15];
    }
    used += need;
  }
  out[used] = '\0';
  return out;
}

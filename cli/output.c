#include "output.h"

#include "cli.h"
#include "failure.h"
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BUFFER_SIZE 65536

static struct {
  char buffer[BUFFER_SIZE];
  size_t used;
  int failure; /* errno of the first failed write */
} out;

static void write_all(const char *bytes, size_t size) {
  while (size > 0 && out.failure == 0) {
    ssize_t n = write(STDOUT_FILENO, bytes, size);
    if (n < 0) {
      if (errno != EINTR) out.failure = errno;
      continue;
    }
    bytes += n;
    size -= (size_t)n;
  }
}

int output_flush(void) {
  write_all(out.buffer, out.used);
  out.used = 0;
  return out.failure;
}

void output_write(const void *bytes, size_t size) {
  if (size == 0) return;
  if (size > BUFFER_SIZE - out.used) (void)output_flush();
  if (size >= BUFFER_SIZE) {
    write_all(bytes, size);
    return;
  }
  memcpy(out.buffer + out.used, bytes, size);
  out.used += size;
}

void output_puts(const char *string) { output_write(string, strlen(string)); }

void output_text(struct text *text) {
  output_write(text->data, text->size);
  text->size = 0;
}

void output_printf(const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (size > 0) output_write(line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

bool output_failed(void) { return out.failure != 0; }

int output_finish(int status) {
  int failure = output_flush();
  return failure == 0 ? status : fail_os("standard output", failure, "cannot write");
}

bool output_is_terminal(void) { return isatty(STDOUT_FILENO) == 1; }

size_t output_columns(void) {
  struct winsize size;
  if (!output_is_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

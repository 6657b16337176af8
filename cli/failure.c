#include "failure.h"

#include "cli.h"
#include "map_names.h"
#include "output.h"
#include "progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPILL " a spill file"

static int status_of(const struct ashuf_error *error) {
  switch (error->status) {
    case ASHUF_INVALID_ARGUMENT:
      return EXIT_USAGE;
    case ASHUF_IO:
    case ASHUF_OUT_OF_MEMORY:
    case ASHUF_MEMORY_LIMIT:
    case ASHUF_CANCELLED:
    case ASHUF_INVALID_STATE:
      return EXIT_IO;
    default:
      return EXIT_BAD_DATA;
  }
}

/* One write a line, so that lines of several processes do not mix. */
static void print_line(struct text *line) {
  struct text shown = TEXT_INIT;
  text_shown(&shown, line->data, line->size);
  text_char(&shown, '\n');
  progress_hide();
  (void)output_flush();
  if (write(STDERR_FILENO, shown.data, shown.size) < 0) { /* there is nowhere left to say it */
  }
  text_free(&shown);
  text_free(line);
}

static void add_formatted(struct text *line, const char *format, va_list arguments) {
  char *message = NULL;
  if (vasprintf(&message, format, arguments) < 0) return;
  text_puts(line, message);
  free(message);
}

const char *shown_path(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

static void separate(struct text *out) {
  if (out->size > 0) text_puts(out, ", ");
}

/* An offset in a block is told as one in the file where the block's own place is known. */
static void add_offset(struct text *out, const struct ashuf_error *error) {
  bool placed = error->block_offset != UINT64_MAX;
  if (error->space == ASHUF_SPACE_FILE || (error->space == ASHUF_SPACE_BLOCK && !placed)) {
    separate(out);
    text_printf(out, "byte %" PRIu64, error->offset);
  } else if (error->space == ASHUF_SPACE_BLOCK) {
    separate(out);
    text_printf(out, "byte %" PRIu64, error->block_offset + error->offset);
  } else if (placed) {
    separate(out);
    text_printf(out, "byte %" PRIu64, error->block_offset);
  }
  if (error->space != ASHUF_SPACE_STREAM) return;
  separate(out);
  text_printf(out, placed ? "stream byte %" PRIu64 : "byte %" PRIu64, error->offset);
}

void failure_place(struct text *out, const struct ashuf_error *error) {
  if (error->partition >= 0) text_printf(out, "partition %" PRId64, error->partition);
  if (error->block >= 0) {
    separate(out);
    text_printf(out, "block %" PRId64, error->block);
  }
  add_offset(out, error);
}

/*
 * Behind "FILE: " at the start of a message, where FILE is path or its end ("...end"); NULL where
 * the message does not start so.
 */
static const char *behind_file(const char *message, const char *path) {
  const char *colon = strstr(message, ": ");
  if (colon == NULL) return NULL;
  const char *label = strncmp(message, "...", 3) == 0 ? message + 3 : message;
  size_t size = (size_t)(colon - label);
  size_t length = strlen(path);
  if (colon < label || size == 0 || size > length) return NULL;
  return memcmp(path + length - size, label, size) == 0 ? colon + 2 : NULL;
}

static const char *behind_place(const char *message, const struct ashuf_error *error) {
  char place[80];
  size_t used = 0;
  if (error->partition < 0) return message;
  used = (size_t)snprintf(place, sizeof place, "partition %" PRId64, error->partition);
  if (strncmp(message, place, used) != 0) return message;
  if (strncmp(message + used, ": ", 2) == 0) return message + used + 2;
  used +=
      (size_t)snprintf(place + used, sizeof place - used, ", block %" PRId64 ": ", error->block);
  return strncmp(message, place, used) == 0 ? message + used : message;
}

static void set(struct text *text, const char *bytes, size_t size) {
  text->size = 0;
  text_add(text, bytes, size);
}

/* What stands beside a data file: its index, then checksum files, CRC32C in front of CRC32. */
static const char *ending_of(size_t i) {
  if (i == 0) return ".index";
  return i < MAP_CHECKSUMS ? map_checksum_ending(MAP_CHECKSUMS - (int)i) : NULL;
}

/* The file with that ending beside a data file, or an empty text. */
static void set_beside(struct text *out, const char *path, const char *ending) {
  size_t size = strlen(path);
  out->size = 0;
  if (size <= 5 || strcmp(path + size - 5, ".data") != 0) return;
  text_add(out, path, size - 5);
  text_puts(out, ending);
}

/* The file that stands beside path and occurs in words, or path. */
static void set_meant(struct text *out, const char *path, const char *words) {
  for (size_t i = 0; ending_of(i) != NULL; i++) {
    set_beside(out, path, ending_of(i));
    if (out->size > 0 && strstr(words, ending_of(i)) != NULL) return;
  }
  set(out, path, strlen(path));
}

/* The file that message begins with, path or one beside it; returns what is behind, or NULL. */
static const char *set_named(struct text *out, const char *path, const char *message) {
  for (size_t i = 0; ending_of(i) != NULL; i++) {
    set_beside(out, path, ending_of(i));
    const char *rest = out->size == 0 ? NULL : behind_file(message, text_terminated(out));
    if (rest != NULL) return rest;
  }
  set(out, path, strlen(path));
  return behind_file(message, shown_path(path));
}

/*
 * "cannot VERB FILE: why" of a system call. The file is left out, since it may be a staged one, a
 * spill file is told as such;
 * false where the message is of another kind.
 */
static bool split_system(const char *path, const struct ashuf_error *error, struct text *file,
                         struct text *message) {
  static const char start[] = "cannot ";
  const size_t skip = sizeof start - 1;
  const char *words = behind_place(error->message, error);
  if (error->os_errno == 0 || strncmp(words, start, skip) != 0) return false;
  set_meant(file, path, words);
  set(message, words, skip + strcspn(words + skip, " :"));
  if (strstr(words, SPILL) != NULL) text_puts(message, SPILL);
  text_printf(message, ": %s", strerror(error->os_errno));
  return true;
}

void failure_split(const char *path, const struct ashuf_error *error, struct text *file,
                   struct text *message) {
  if (split_system(path, error, file, message)) return;
  const char *rest = set_named(file, path, error->message);
  rest = behind_place(rest == NULL ? error->message : rest, error);
  if (rest[0] == '\0') rest = ashuf_status_text(error->status);
  set(message, rest, strlen(rest));
}

int fail_error(const char *path, const struct ashuf_error *error) {
  struct text line = TEXT_INIT;
  struct text file = TEXT_INIT;
  struct text place = TEXT_INIT;
  struct text message = TEXT_INIT;
  failure_split(path, error, &file, &message);
  failure_place(&place, error);
  text_printf(&line, "ashuf: %s: ", shown_path(text_terminated(&file)));
  if (place.size > 0) text_printf(&line, "%s: ", text_terminated(&place));
  text_add(&line, message.data, message.size);
  print_line(&line);
  text_free(&file);
  text_free(&place);
  text_free(&message);
  return status_of(error);
}

int fail_os(const char *path, int os_errno, const char *what) {
  struct text line = TEXT_INIT;
  text_printf(&line, "ashuf: %s: %s: %s", shown_path(path), what, strerror(os_errno));
  print_line(&line);
  return EXIT_IO;
}

int fail_usage(const char *command, const char *format, ...) {
  struct text line = TEXT_INIT;
  text_puts(&line, "ashuf: ");
  if (command != NULL) text_printf(&line, "%s: ", command);
  va_list arguments;
  va_start(arguments, format);
  add_formatted(&line, format, arguments);
  va_end(arguments);
  print_line(&line);
  return EXIT_USAGE;
}

int fail_data(const char *path, const char *format, ...) {
  struct text line = TEXT_INIT;
  text_printf(&line, "ashuf: %s: ", shown_path(path));
  va_list arguments;
  va_start(arguments, format);
  add_formatted(&line, format, arguments);
  va_end(arguments);
  print_line(&line);
  return EXIT_BAD_DATA;
}

void remark(const char *path, const char *format, ...) {
  struct text line = TEXT_INIT;
  text_printf(&line, "ashuf: %s: note: ", shown_path(path));
  va_list arguments;
  va_start(arguments, format);
  add_formatted(&line, format, arguments);
  va_end(arguments);
  print_line(&line);
}

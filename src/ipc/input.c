#include "ipc/input.h"

#include <string.h>

ashuf_status input_open(struct input *out, const char *path, struct ashuf_error *error) {
  struct input opened;
  memset(&opened, 0, sizeof opened);
  if (strcmp(path, "-") == 0) {
    file_open_standard_input(&opened.file);
  } else {
    ashuf_status status = file_open(&opened.file, path, error);
    if (status != ASHUF_OK) return status;
  }
  /* Some files of the system say that they are empty and are not. */
  opened.sized = opened.file.regular && opened.file.size != 0;
  opened.end = opened.file.size;
  *out = opened;
  return ASHUF_OK;
}

void input_close(struct input *input) { file_close(&input->file); }

static ashuf_status read_more(struct input *input, void *out, size_t size, size_t *got,
                              struct ashuf_error *error) {
  if (!input->sized) return file_read(&input->file, out, size, got, error);
  uint64_t left = input->end - input->position;
  *got = size < left ? size : (size_t)left;
  return file_read_at(&input->file, input->position, out, *got, error);
}

ashuf_status input_peek(struct input *input, uint8_t out[INPUT_PEEK], size_t *got,
                        struct ashuf_error *error) {
  ashuf_status status = read_more(input, out, INPUT_PEEK, got, error);
  if (status != ASHUF_OK || input->sized) return status;
  memcpy(input->peeked, out, *got);
  input->n_peeked = *got;
  return ASHUF_OK;
}

ashuf_status input_read(struct input *input, void *out, size_t size, size_t *got,
                        struct ashuf_error *error) {
  size_t given = size < input->n_peeked ? size : input->n_peeked;
  if (given != 0) {
    memcpy(out, input->peeked, given);
    input->n_peeked -= given;
    memmove(input->peeked, input->peeked + given, input->n_peeked);
  }
  *got = 0;
  if (given < size) {
    ashuf_status status = read_more(input, (uint8_t *)out + given, size - given, got, error);
    if (status != ASHUF_OK) return status;
  }
  *got += given;
  input->position += *got;
  return ASHUF_OK;
}

void input_seek(struct input *input, uint64_t offset, uint64_t end) {
  input->position = offset;
  input->end = end;
}

uint64_t input_bound(const struct input *input) {
  return input->sized ? input->end - input->position : UINT64_MAX;
}

static ashuf_status source_read(void *self, void *out, size_t size, size_t *got,
                                struct ashuf_error *error) {
  return input_read(self, out, size, got, error);
}

static uint64_t source_bound(const void *self) { return input_bound(self); }

struct byte_source input_source(struct input *input) {
  return (struct byte_source){.self = input, .read = source_read, .bound = source_bound};
}

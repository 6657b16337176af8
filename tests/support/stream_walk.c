#include "support/stream_walk.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>

bool stream_walk_next(struct stream_walk *walk, const uint8_t **metadata, size_t *size) {
  size_t left = walk->size - walk->at;
  if (left < 8) return false;
  uint32_t length = load_u32(walk->data + walk->at);
  walk->at += 4;
  if (length == UINT32_MAX) {
    length = load_u32(walk->data + walk->at);
    walk->at += 4;
  }
  if (length == 0 || !range_inside(walk->at, length, walk->size)) return false;
  *metadata = walk->data + walk->at;
  *size = length;
  walk->at += length;
  return true;
}

void stream_walk_skip(struct stream_walk *walk, int64_t body_length) {
  uint64_t left = walk->size - walk->at;
  walk->at += (uint64_t)body_length < left ? (size_t)body_length : (size_t)left;
}

uint8_t *stream_walk_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  uint8_t *data = NULL;
  long length = -1;
  if (fseek(file, 0, SEEK_END) == 0) length = ftell(file);
  if (length >= 0 && fseek(file, 0, SEEK_SET) == 0) data = malloc((size_t)length + 1);
  if (data != NULL && fread(data, 1, (size_t)length, file) != (size_t)length) {
    free(data);
    data = NULL;
  }
  (void)fclose(file);
  if (data != NULL) *size = (size_t)length;
  return data;
}

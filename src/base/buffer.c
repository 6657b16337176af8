#include "base/buffer.h"

bool buffer_reserve(struct ashuf_buffer *buffer, ashuf_memory *memory, size_t extra) {
  if (extra <= buffer->capacity - buffer->size) return true;
  if (extra > SIZE_MAX / 2 - buffer->size) return false;
  size_t need = buffer->size + extra;
  size_t capacity = buffer->capacity < 512 ? 512 : buffer->capacity;
  while (capacity < need) capacity *= 2;
  if (buffer->data == NULL) buffer->memory = ashuf_memory_ref(memory);
  uint8_t *data = memory_grow(buffer->memory, buffer->data, buffer->capacity, capacity);
  if (data == NULL) {
    if (buffer->data == NULL) {
      ashuf_memory_free(buffer->memory);
      buffer->memory = NULL;
    }
    return false;
  }
  buffer->data = data;
  buffer->capacity = capacity;
  return true;
}

bool buffer_reserve_exact(struct ashuf_buffer *buffer, ashuf_memory *memory, size_t extra) {
  if (extra <= buffer->capacity - buffer->size) return true;
  if (extra > SIZE_MAX / 2 - buffer->size) return false;
  size_t capacity = buffer->size + extra;
  if (buffer->size == 0) ashuf_buffer_free(buffer);
  ashuf_memory *owner = buffer->data == NULL ? memory : buffer->memory;
  uint8_t *data =
      memory_grow(owner, buffer->data, buffer->size == 0 ? 0 : buffer->capacity, capacity);
  if (data == NULL) return false;
  if (buffer->data == NULL) buffer->memory = ashuf_memory_ref(memory);
  buffer->data = data;
  buffer->capacity = capacity;
  return true;
}

void ashuf_buffer_free(struct ashuf_buffer *buffer) {
  if (buffer == NULL || buffer->data == NULL) return;
  ashuf_memory *memory = buffer->memory;
  memory_free(memory, buffer->data, buffer->capacity);
  ashuf_memory_free(memory);
  memset(buffer, 0, sizeof *buffer);
}

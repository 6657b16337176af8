#include "shuffle/read_ahead.h"

#include "base/bytes.h"
#include "shuffle/block_memory.h"

#include <stdatomic.h>
#include <string.h>

struct read_piece {
  ashuf_memory *memory; /* a reference */
  atomic_uint references;
  uint64_t offset; /* in the file */
  size_t size;     /* bytes held */
  size_t capacity;
  uint8_t bytes[];
};

static void piece_drop(struct read_piece *piece) {
  if (piece == NULL) return;
  if (atomic_fetch_sub_explicit(&piece->references, 1, memory_order_acq_rel) != 1) return;
  ashuf_memory *memory = piece->memory;
  memory_free(memory, piece, sizeof *piece + piece->capacity);
  ashuf_memory_free(memory);
}

static void piece_release(struct ashuf_bytes *bytes) {
  piece_drop(bytes->private_data);
  bytes->release = NULL;
}

void read_ahead_begin(struct read_ahead *ahead, const struct file *file, uint64_t end) {
  ahead->file = file;
  ahead->end = end;
  if (ahead->piece != NULL && atomic_load(&ahead->piece->references) > 1) {
    piece_drop(ahead->piece);
    ahead->piece = NULL;
  }
  if (ahead->piece != NULL) ahead->piece->size = 0;
}

void read_ahead_free(struct read_ahead *ahead) {
  piece_drop(ahead->piece);
  ahead->piece = NULL;
}

/* A piece nobody else reads from, with room for size bytes; the old one stays where there is none.
 */
static ashuf_status take_piece(struct read_ahead *ahead, size_t size, struct ashuf_error *error) {
  struct read_piece *old = ahead->piece;
  if (old != NULL && old->capacity >= size &&
      atomic_load_explicit(&old->references, memory_order_acquire) == 1)
    return ASHUF_OK;
  struct read_piece *piece = memory_alloc(ahead->memory, sizeof *piece + size);
  if (piece == NULL) return error_memory(error, SITE_AHEAD_MEMORY, ahead->memory, size);
  piece->memory = ashuf_memory_ref(ahead->memory);
  atomic_init(&piece->references, 1);
  piece->size = 0;
  piece->capacity = size;
  piece_drop(old);
  ahead->piece = piece;
  return ASHUF_OK;
}

static ashuf_status read_at(struct read_ahead *ahead, uint64_t offset, uint8_t *out, size_t size,
                            struct ashuf_error *error) {
  ahead->calls++;
  ahead->bytes += size;
  return file_read_at(ahead->file, offset, out, size, error);
}

static ashuf_status fill(struct read_ahead *ahead, uint64_t offset, struct ashuf_error *error) {
  uint64_t left = ahead->end - offset;
  size_t size = left < READ_AHEAD_SIZE ? (size_t)left : READ_AHEAD_SIZE;
  ashuf_status status = take_piece(ahead, size, error);
  if (status != ASHUF_OK) return status;
  struct read_piece *piece = ahead->piece;
  piece->size = 0;
  piece->offset = offset;
  status = read_at(ahead, offset, piece->bytes, size, error);
  if (status == ASHUF_OK) piece->size = size;
  return status;
}

/* Bytes held from offset on. */
static size_t held_at(const struct read_ahead *ahead, uint64_t offset) {
  const struct read_piece *piece = ahead->piece;
  if (piece == NULL || offset < piece->offset || offset - piece->offset >= piece->size) return 0;
  return piece->size - (size_t)(offset - piece->offset);
}

ashuf_status read_ahead_peek(struct read_ahead *ahead, uint64_t offset, size_t size,
                             const uint8_t **out, struct ashuf_error *error) {
  if (held_at(ahead, offset) < size) {
    ashuf_status status = fill(ahead, offset, error);
    if (status != ASHUF_OK) return status;
  }
  *out = ahead->piece->bytes + (offset - ahead->piece->offset);
  return ASHUF_OK;
}

ashuf_status read_ahead_copy(struct read_ahead *ahead, uint64_t offset, size_t size, uint8_t *out,
                             struct ashuf_error *error) {
  if (held_at(ahead, offset) < size) return read_at(ahead, offset, out, size, error);
  memcpy(out, ahead->piece->bytes + (offset - ahead->piece->offset), size);
  return ASHUF_OK;
}

/* What is held is copied, the rest read to its place. */
static ashuf_status own_block(struct read_ahead *ahead, uint64_t offset, size_t size,
                              struct ashuf_bytes *out, struct ashuf_error *error) {
  uint8_t *bytes = block_memory_new(ahead->memory, size, out);
  if (bytes == NULL) return error_memory(error, SITE_MAP_BLOCK_MEMORY, ahead->memory, size);
  size_t held = held_at(ahead, offset);
  if (held > size) held = size;
  if (held != 0) memcpy(bytes, ahead->piece->bytes + (offset - ahead->piece->offset), held);
  if (held == size) return ASHUF_OK;
  ashuf_status status = read_at(ahead, offset + held, bytes + held, size - held, error);
  if (status != ASHUF_OK) out->release(out);
  return status;
}

ashuf_status read_ahead_block(struct read_ahead *ahead, uint64_t offset,
                              const struct ashuf_block_info *info, struct ashuf_bytes *out,
                              struct ashuf_error *error) {
  size_t size = (size_t)info->size;
  bool large = size > READ_AHEAD_SIZE / 2 && held_at(ahead, offset) < size;
  if (large) return own_block(ahead, offset, size, out, error);
  const uint8_t *bytes = NULL;
  ashuf_status status = read_ahead_peek(ahead, offset, size, &bytes, error);
  if (status != ASHUF_OK) return status;
  if (info->codec == ASHUF_CODEC_NONE) return own_block(ahead, offset, size, out, error);
  atomic_fetch_add_explicit(&ahead->piece->references, 1, memory_order_relaxed);
  *out = (struct ashuf_bytes){bytes, size, piece_release, ahead->piece};
  return ASHUF_OK;
}

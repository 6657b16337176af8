#include "shuffle/map_file.h"

#include "shuffle/block_memory.h"

#include <inttypes.h>
#include <string.h>

/* Steps over finished and empty partitions; false at the end. */
static bool find_block(const ashuf_map_file *file, struct ashuf_block_cursor *cursor) {
  while (cursor->partition < cursor->end_partition &&
         cursor->offset == file->offsets[cursor->partition + 1]) {
    cursor->partition++;
    cursor->block = 0;
  }
  return cursor->partition < cursor->end_partition;
}

/* A cursor is the caller's memory: nothing it says may lead outside a partition. */
static bool cursor_is_sound(const ashuf_map_file *file, const struct ashuf_block_cursor *cursor) {
  if (cursor->end_partition < 0 || cursor->end_partition > file->partitions) return false;
  if (cursor->partition < 0 || cursor->partition > cursor->end_partition) return false;
  if (cursor->partition == cursor->end_partition) return true;
  return cursor->offset >= file->offsets[cursor->partition] &&
         cursor->offset <= file->offsets[cursor->partition + 1];
}

/* The block at offset, whole; left: bytes from there to the end of its partition. */
static ashuf_status read_block(const ashuf_map_file *file, uint64_t offset, uint64_t left,
                               struct ashuf_bytes *out, struct ashuf_error *error) {
  uint8_t header[ASHUF_BLOCK_HEADER_SIZE];
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  if (left < sizeof header)
    return block_cut(SITE_MAP_HEADER_CUT, offset, "a block header", sizeof header, left, error);
  ashuf_status status = file_read_at(&file->data, offset, header, sizeof header, error);
  if (status == ASHUF_OK) status = ashuf_block_peek(header, sizeof header, &info, error);
  if (status != ASHUF_OK) return status;
  if (info.size > left)
    return block_cut(SITE_MAP_BLOCK_CUT, offset, "the block", info.size, left, error);
  uint8_t *bytes = block_memory_new(file->memory, (size_t)info.size, out);
  if (bytes == NULL)
    return error_memory(error, SITE_MAP_BLOCK_MEMORY, file->memory, (size_t)info.size);
  memcpy(bytes, header, sizeof header);
  status = file_read_at(&file->data, offset + sizeof header, bytes + sizeof header,
                        out->size - sizeof header, error);
  if (status != ASHUF_OK) out->release(out);
  return status;
}

static void skip_partition(const ashuf_map_file *file, struct ashuf_block_cursor *cursor) {
  cursor->partition++;
  cursor->block = 0;
  cursor->offset = file->offsets[cursor->partition];
}

ashuf_status map_file_next(const ashuf_map_file *file, ashuf_ctx *ctx,
                           struct ashuf_block_cursor *cursor,
                           const struct ashuf_decode_options *options, int *found,
                           struct ashuf_block_cursor *at, const ashuf_schema **schema,
                           struct ArrowArray *batch, struct ashuf_block_info *info,
                           struct ashuf_error *error) {
  if (!cursor_is_sound(file, cursor))
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_MAP_CURSOR,
                     "the cursor does not stand in this file");
  if (!find_block(file, cursor)) {
    *found = 0;
    return ASHUF_OK;
  }
  struct ashuf_bytes block;
  struct ashuf_block_cursor here = *cursor;
  uint64_t left = file->offsets[here.partition + 1] - here.offset;
  ashuf_status status = read_block(file, here.offset, left, &block, error);
  uint64_t size = status == ASHUF_OK ? block.size : 0;
  if (status == ASHUF_OK) {
    status = ashuf_block_decode(ctx, &block, options, schema, batch, info, error);
    if (status != ASHUF_OK && block.release != NULL) block.release(&block);
  }
  if (status != ASHUF_OK) {
    struct block_place place;
    block_place_set(&place, file, &here);
    block_place_tell(&place, error);
    skip_partition(file, cursor);
    return status;
  }
  cursor->offset += size;
  cursor->block++;
  if (at != NULL) *at = here;
  *found = 1;
  return ASHUF_OK;
}

#include "shuffle/map_file.h"

#include <inttypes.h>
#include <string.h>

/* The block starts here in its allocation, so that its stream is at a multiple of 64. */
#define BLOCK_START (BODY_ALIGNMENT - ASHUF_BLOCK_HEADER_SIZE)

/* In front of every block in memory: what its release needs. */
struct block_memory {
  ashuf_memory *memory; /* a reference */
  size_t size;          /* of the whole allocation */
};
_Static_assert(sizeof(struct block_memory) <= BLOCK_START, "the block stands behind this");

static void block_release(struct ashuf_bytes *bytes) {
  struct block_memory *block = bytes->private_data;
  ashuf_memory *memory = block->memory;
  memory_free_aligned(memory, block, block->size);
  ashuf_memory_free(memory);
  bytes->release = NULL;
}

static bool block_allocate(ashuf_memory *memory, size_t size, struct ashuf_bytes *out) {
  if (size > SIZE_MAX - BLOCK_START) return false;
  struct block_memory *block = memory_aligned(memory, BLOCK_START + size);
  if (block == NULL) return false;
  block->memory = ashuf_memory_ref(memory);
  block->size = BLOCK_START + size;
  *out = (struct ashuf_bytes){(uint8_t *)block + BLOCK_START, size, block_release, block};
  return true;
}

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

static ashuf_status cut(int site, uint64_t offset, const char *what, uint64_t need, uint64_t left,
                        struct ashuf_error *error) {
  return error_in(error, ASHUF_TRUNCATED, site, ASHUF_SPACE_FILE, offset,
                  "%s takes %" PRIu64 " bytes, but the partition has %" PRIu64 " left", what, need,
                  left);
}

/* The block at offset, whole; left: bytes from there to the end of its partition. */
static ashuf_status read_block(const ashuf_map_file *file, uint64_t offset, uint64_t left,
                               struct ashuf_bytes *out, struct ashuf_error *error) {
  uint8_t header[ASHUF_BLOCK_HEADER_SIZE];
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  if (left < sizeof header)
    return cut(SITE_MAP_HEADER_CUT, offset, "a block header", sizeof header, left, error);
  ashuf_status status = file_read_at(&file->data, offset, header, sizeof header, error);
  if (status == ASHUF_OK) status = ashuf_block_peek(header, sizeof header, &info, error);
  if (status != ASHUF_OK) return status;
  if (info.size > left) return cut(SITE_MAP_BLOCK_CUT, offset, "the block", info.size, left, error);
  if (!block_allocate(file->memory, (size_t)info.size, out))
    return error_memory(error, SITE_MAP_BLOCK_MEMORY, file->memory,
                        BLOCK_START + (size_t)info.size);
  uint8_t *bytes = (uint8_t *)out->private_data + BLOCK_START;
  memcpy(bytes, header, sizeof header);
  status = file_read_at(&file->data, offset + sizeof header, bytes + sizeof header,
                        out->size - sizeof header, error);
  if (status != ASHUF_OK) block_release(out);
  return status;
}

static void locate_error(const ashuf_map_file *file, const struct ashuf_block_cursor *at,
                         struct ashuf_error *error) {
  if (error == NULL) return;
  error_prefix(error, "%s: partition %" PRId64 ", block %" PRId64 ": ", file->data.label,
               at->partition, at->block);
  error->map = file->map;
  error->partition = at->partition;
  error->block = at->block;
  error->block_offset = at->offset;
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
    locate_error(file, &here, error);
    skip_partition(file, cursor);
    return status;
  }
  cursor->offset += size;
  cursor->block++;
  if (at != NULL) *at = here;
  *found = 1;
  return ASHUF_OK;
}

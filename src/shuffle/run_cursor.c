#include "shuffle/run_cursor.h"

#include "shuffle/block_memory.h"

#include <string.h>

/* ---- The directory ------------------------------------------------------------------------ */

static ashuf_status damaged(int site, const char *what, struct ashuf_error *error) {
  return error_set(error, ASHUF_TRUNCATED, site, "a spill file was changed: %s", what);
}

static ashuf_status next_byte(struct run_cursor *cursor, uint8_t *out, struct ashuf_error *error) {
  if (cursor->piece_at == cursor->piece_size) {
    uint64_t left = cursor->directory_end - cursor->directory;
    uint16_t n = left < RUN_DIRECTORY_PIECE ? (uint16_t)left : RUN_DIRECTORY_PIECE;
    if (n == 0) return damaged(SITE_SPILLS_DIRECTORY, "the directory ends too early", error);
    ashuf_status status =
        spill_file_read_at(cursor->file, cursor->directory, cursor->piece, n, error);
    if (status != ASHUF_OK) return status;
    cursor->directory += n;
    cursor->piece_at = 0;
    cursor->piece_size = n;
  }
  *out = cursor->piece[cursor->piece_at++];
  return ASHUF_OK;
}

static ashuf_status next_varint(struct run_cursor *cursor, uint64_t *out,
                                struct ashuf_error *error) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    uint8_t byte = 0;
    ashuf_status status = next_byte(cursor, &byte, error);
    if (status != ASHUF_OK) return status;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *out = value;
      return ASHUF_OK;
    }
  }
  return damaged(SITE_SPILLS_DIRECTORY, "a number does not end", error);
}

static ashuf_status next_entry(struct run_cursor *cursor, struct ashuf_error *error) {
  uint64_t step = 0;
  uint64_t rows = 0;
  if (cursor->directory == cursor->directory_end && cursor->piece_at == cursor->piece_size) {
    cursor->partition = RUN_END;
    return ASHUF_OK;
  }
  ashuf_status status = next_varint(cursor, &step, error);
  if (status == ASHUF_OK) status = next_varint(cursor, &rows, error);
  if (status != ASHUF_OK) return status;
  if (step == 0 || step >= (uint64_t)(RUN_END - (int64_t)cursor->partition) || rows == 0 ||
      rows > INT64_MAX)
    return damaged(SITE_SPILLS_DIRECTORY, "an entry is out of range", error);
  cursor->partition += (int32_t)step;
  cursor->rows = (int64_t)rows;
  return ASHUF_OK;
}

ashuf_status run_cursor_open(struct run_cursor *cursor, const struct spill_set *set, size_t run,
                             struct ashuf_error *error) {
  const struct spill_run *found = &set->runs[run];
  memset(cursor, 0, sizeof *cursor);
  cursor->file = &set->files[found->file];
  cursor->block = found->blocks;
  cursor->blocks_end = cursor->directory = found->directory;
  cursor->directory_end = found->end;
  cursor->partition = -1;
  return next_entry(cursor, error);
}

ashuf_status run_cursor_take(struct run_cursor *cursor, int64_t n, struct ashuf_error *error) {
  cursor->rows -= n;
  cursor->loaded -= n;
  return cursor->rows == 0 ? next_entry(cursor, error) : ASHUF_OK;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static ashuf_status read_header(struct run_cursor *cursor, struct ashuf_block_info *info,
                                struct ashuf_error *error) {
  uint64_t left = cursor->blocks_end - cursor->block;
  if (left < ASHUF_BLOCK_HEADER_SIZE)
    return damaged(SITE_SPILLS_BLOCK, "a block is missing", error);
  ashuf_status status = ASHUF_OK;
  if (!cursor->has_header)
    status = spill_file_read_at(cursor->file, cursor->block, cursor->header,
                                ASHUF_BLOCK_HEADER_SIZE, error);
  if (status == ASHUF_OK)
    status = block_header_read(cursor->header, ASHUF_BLOCK_HEADER_SIZE, info, error);
  if (status == ASHUF_OK && info->size > left)
    return damaged(SITE_SPILLS_BLOCK, "a block is longer than its run", error);
  return status;
}

/* Reads the block, and the header of the one behind it. */
static ashuf_status read_block(struct run_cursor *cursor, uint64_t block_size, ashuf_memory *memory,
                               struct ashuf_bytes *out, struct ashuf_error *error) {
  uint64_t left = cursor->blocks_end - cursor->block - block_size;
  size_t more = left < ASHUF_BLOCK_HEADER_SIZE ? 0 : ASHUF_BLOCK_HEADER_SIZE;
  size_t size = (size_t)block_size + more;
  uint8_t *bytes = block_memory_new(memory, size, out);
  if (bytes == NULL) return error_memory(error, SITE_SPILLS_MEMORY, memory, size);
  ashuf_status status = spill_file_read_at(cursor->file, cursor->block, bytes, size, error);
  if (status != ASHUF_OK) {
    out->release(out);
    return status;
  }
  out->size = (size_t)block_size;
  memcpy(cursor->header, bytes + block_size, more);
  cursor->has_header = more != 0;
  cursor->block += block_size;
  cursor->loaded_bytes = size;
  return ASHUF_OK;
}

ashuf_status run_cursor_load(struct run_cursor *cursor, ashuf_ctx *ctx, ashuf_memory *memory,
                             struct ArrowArray *out, struct ashuf_error *error) {
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  struct ashuf_bytes bytes;
  const ashuf_schema *schema;
  options.validate = ASHUF_VALIDATE_TRUSTED;
  ashuf_status status = read_header(cursor, &info, error);
  if (status == ASHUF_OK) status = read_block(cursor, info.size, memory, &bytes, error);
  if (status != ASHUF_OK) return status;
  status = context_decode_block(ctx, &bytes, &options, &schema, out, &info, error);
  if (status != ASHUF_OK) {
    if (bytes.release != NULL) bytes.release(&bytes);
    return status;
  }
  if (out->length != 0) {
    cursor->loaded = out->length;
    cursor->loaded_bytes += batch_holder_retained(out);
    return ASHUF_OK;
  }
  out->release(out);
  return damaged(SITE_SPILLS_BLOCK, "a block is empty", error);
}

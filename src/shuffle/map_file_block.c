/* What blocks of map outputs need wherever they are read: places and checksums. */
#include "shuffle/map_file.h"

#include <inttypes.h>
#include <string.h>

ashuf_status block_cut(int site, uint64_t offset, const char *what, uint64_t need, uint64_t left,
                       struct ashuf_error *error) {
  return error_in(error, ASHUF_TRUNCATED, site, ASHUF_SPACE_FILE, offset,
                  "%s takes %" PRIu64 " bytes, but the partition has %" PRIu64 " left", what, need,
                  left);
}

void block_place_set(struct block_place *place, const ashuf_map_file *file,
                     const struct ashuf_block_cursor *at) {
  memcpy(place->label, file->data.label, sizeof place->label);
  place->map = file->map;
  place->partition = at->partition;
  place->block = at->block;
  place->offset = at->offset;
}

void block_place_tell(const struct block_place *place, struct ashuf_error *error) {
  if (error == NULL) return;
  if (place->block < 0)
    error_prefix(error, "%s: partition %" PRId64 ": ", place->label, place->partition);
  else
    error_prefix(error, "%s: partition %" PRId64 ", block %" PRId64 ": ", place->label,
                 place->partition, place->block);
  error->map = place->map;
  error->partition = place->partition;
  error->block = place->block;
  error->block_offset = place->block < 0 ? UINT64_MAX : place->offset;
}

/* ---- Checksums ---------------------------------------------------------------------------- */

ashuf_status map_file_load_checksums(ashuf_map_file *file, struct ashuf_error *error) {
  if (file->checksums_known) return ASHUF_OK;
  if (file->has_index) {
    ashuf_status status =
        checksum_file_load(file->path, file->partitions, file->memory, &file->checksums, error);
    if (status != ASHUF_OK) {
      if (error != NULL) error->map = file->map;
      return status;
    }
  }
  file->checksums_known = true;
  return ASHUF_OK;
}

#define VERIFY_STEP ((size_t)256 << 10)

static ashuf_status sum_bytes(const ashuf_map_file *file, uint64_t offset, uint64_t end,
                              uint32_t *value, struct ashuf_error *error) {
  uint64_t left = end - offset;
  size_t size = left < VERIFY_STEP ? (size_t)left : VERIFY_STEP;
  uint8_t *bytes = memory_alloc(file->memory, size);
  if (bytes == NULL) return error_memory(error, SITE_MAP_MEMORY, file->memory, size);
  ashuf_status status = ASHUF_OK;
  *value = checksum_begin(file->checksums.kind);
  while (offset < end && status == ASHUF_OK) {
    size_t n = end - offset < size ? (size_t)(end - offset) : size;
    status = file_read_at(&file->data, offset, bytes, n, error);
    if (status == ASHUF_OK) *value = checksum_update(file->checksums.kind, *value, bytes, n);
    offset += n;
  }
  memory_free(file->memory, bytes, size);
  return status;
}

ashuf_status map_file_verify(const ashuf_map_file *file, int64_t partition, int *compared,
                             struct ashuf_error *error) {
  if (partition < 0 || partition >= file->partitions)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_MAP_SEEK,
                     "partition %" PRId64 " is not in [0, %" PRId64 ")", partition,
                     file->partitions);
  uint64_t offset = file->offsets[partition];
  uint64_t end = file->offsets[partition + 1];
  *compared = checksum_file_has(&file->checksums, partition, end - offset);
  if (!*compared) return ASHUF_OK;
  uint32_t value = 0;
  ashuf_status status = sum_bytes(file, offset, end, &value, error);
  if (status == ASHUF_OK)
    status = checksum_file_compare(&file->checksums, partition, offset, value, error);
  if (status == ASHUF_OK) return ASHUF_OK;
  struct ashuf_block_cursor at = {.partition = partition, .block = -1, .offset = offset};
  struct block_place place;
  block_place_set(&place, file, &at);
  block_place_tell(&place, error);
  return status;
}

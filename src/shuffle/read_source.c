#include "shuffle/read_source.h"

#include <inttypes.h>
#include <string.h>

/* ---- What was asked for -------------------------------------------------------------------- */

static ashuf_status no_memory(const struct read_source *source, size_t size,
                              struct ashuf_error *error) {
  return error_memory(error, SITE_SOURCE_PATHS, source->memory, size);
}

static ashuf_status copy_paths(struct read_source *source, const char *const *paths, size_t n,
                               struct ashuf_error *error) {
  if (n == 0) return ASHUF_OK;
  if (n > SIZE_MAX / sizeof *source->paths) return no_memory(source, SIZE_MAX, error);
  source->paths = memory_zeroed(source->memory, n * sizeof *source->paths);
  if (source->paths == NULL) return no_memory(source, n * sizeof *source->paths, error);
  source->n_paths = n;
  for (size_t i = 0; i < n; i++) {
    size_t size = strlen(paths[i]) + 1;
    source->paths[i] = memory_alloc(source->memory, size);
    if (source->paths[i] == NULL) return no_memory(source, size, error);
    memcpy(source->paths[i], paths[i], size);
  }
  return ASHUF_OK;
}

static ashuf_status check_parts(const struct ashuf_read_options *options,
                                struct ashuf_error *error) {
  if (options->parts == 0 && options->part == 0) return ASHUF_OK;
  if (options->parts >= 1 && options->part >= 0 && options->part < options->parts) return ASHUF_OK;
  return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_SOURCE_PART, "there is no part %d of %d",
                   (int)options->part, (int)options->parts);
}

ashuf_status read_source_init(struct read_source *source, const char *const *paths, size_t n_paths,
                              const struct ashuf_read_options *options, ashuf_memory *memory,
                              struct ashuf_error *error) {
  source->memory = source->ahead.memory = memory;
  source->options = *options;
  int64_t n = (int64_t)n_paths;
  int64_t first = options->first_map;
  int64_t end = options->end_map == 0 ? n : options->end_map;
  if (first < 0 || end < first || end > n)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_SOURCE_MAPS,
                     "maps %" PRId64 " to %" PRId64 " are not in [0, %" PRId64 ")", first, end, n);
  ashuf_status status = check_parts(options, error);
  if (status != ASHUF_OK || first == end) return status;
  return copy_paths(source, paths + first, (size_t)(end - first), error);
}

void read_source_free(struct read_source *source) {
  map_file_close(source->file);
  read_ahead_free(&source->ahead);
  for (size_t i = 0; source->paths != NULL && i < source->n_paths; i++)
    if (source->paths[i] != NULL)
      memory_free(source->memory, source->paths[i], strlen(source->paths[i]) + 1);
  memory_free(source->memory, source->paths, source->n_paths * sizeof *source->paths);
}

/* ---- Files --------------------------------------------------------------------------------- */

/* The file at path, and the cursor at its first partition asked for. */
static ashuf_status open_file(const struct read_source *source, const char *path,
                              ashuf_map_file **file, struct ashuf_block_cursor *cursor,
                              struct ashuf_error *error) {
  const struct ashuf_read_options *options = &source->options;
  int64_t end = options->end_partition == 0 ? -1 : options->end_partition;
  ashuf_map_file *opened;
  ashuf_status status =
      map_file_open(path, NULL, !options->index_optional, source->memory, &opened, error);
  if (status != ASHUF_OK) return status;
  status = map_file_seek(opened, options->first_partition, end, cursor, error);
  if (status != ASHUF_OK) error_prefix(error, "%s: ", opened->data.label);
  if (status == ASHUF_OK && options->verify != ASHUF_VERIFY_OFF)
    status = map_file_load_checksums(opened, error);
  if (status != ASHUF_OK) {
    map_file_close(opened);
    return status;
  }
  *file = opened;
  return ASHUF_OK;
}

ashuf_status read_source_check(const struct read_source *source, struct ashuf_error *error) {
  for (size_t i = 0; i < source->n_paths; i++) {
    ashuf_map_file *file;
    struct ashuf_block_cursor cursor;
    ashuf_status status = open_file(source, source->paths[i], &file, &cursor, error);
    if (status != ASHUF_OK) return status;
    map_file_close(file);
  }
  return ASHUF_OK;
}

static ashuf_status next_file(struct read_source *source, struct ashuf_error *error) {
  ashuf_status status =
      open_file(source, source->paths[source->next_path], &source->file, &source->cursor, error);
  if (status != ASHUF_OK) return status;
  source->next_path++;
  read_ahead_begin(&source->ahead, &source->file->data,
                   source->file->offsets[source->cursor.end_partition]);
  return ASHUF_OK;
}

/* ---- Partitions ---------------------------------------------------------------------------- */

static uint64_t partition_start(const struct read_source *source) {
  return source->file->offsets[source->cursor.partition];
}
static uint64_t partition_end(const struct read_source *source) {
  return source->file->offsets[source->cursor.partition + 1];
}

static ashuf_status at_partition(const struct read_source *source, ashuf_status status,
                                 struct ashuf_error *error) {
  struct ashuf_block_cursor at = source->cursor;
  struct block_place place;
  if (status == ASHUF_OK) return status;
  at.block = -1;
  block_place_set(&place, source->file, &at);
  block_place_tell(&place, error);
  return status;
}

/* All bytes of the partition, in steps of what read_ahead holds. */
static ashuf_status verify_before(struct read_source *source, struct ashuf_error *error) {
  const struct checksum_file *checksums = &source->file->checksums;
  uint64_t offset = partition_start(source);
  uint64_t end = partition_end(source);
  uint32_t value = checksum_begin(checksums->kind);
  while (offset < end) {
    size_t size = end - offset < READ_AHEAD_SIZE ? (size_t)(end - offset) : READ_AHEAD_SIZE;
    const uint8_t *bytes = NULL;
    ashuf_status status = read_ahead_peek(&source->ahead, offset, size, &bytes, error);
    if (status != ASHUF_OK) return status;
    value = checksum_update(checksums->kind, value, bytes, size);
    offset += size;
  }
  return checksum_file_compare(checksums, source->cursor.partition, partition_start(source), value,
                               error);
}

/* size * numerator / denominator, which does not overflow. */
static uint64_t part_of(uint64_t size, int32_t numerator, int32_t denominator) {
  uint64_t n = (uint64_t)numerator;
  uint64_t d = (uint64_t)denominator;
  return size / d * n + size % d * n / d;
}

/* Steps over blocks of at least so many bytes do not read what lies between. */
#define LARGE_STEP ((uint64_t)16 << 10)

/* info of the block at the cursor; before is the size of the one in front of it where that was
 * stepped over, else 0. */
static ashuf_status peek_block(struct read_source *source, uint64_t before,
                               struct ashuf_block_info *info, struct ashuf_error *error) {
  uint64_t offset = source->cursor.offset;
  uint64_t left = partition_end(source) - offset;
  uint8_t few[ASHUF_BLOCK_HEADER_SIZE];
  const uint8_t *header = few;
  if (left < ASHUF_BLOCK_HEADER_SIZE)
    return block_cut(SITE_MAP_HEADER_CUT, offset, "a block header", ASHUF_BLOCK_HEADER_SIZE, left,
                     error);
  ashuf_status status =
      before >= LARGE_STEP
          ? read_ahead_copy(&source->ahead, offset, ASHUF_BLOCK_HEADER_SIZE, few, error)
          : read_ahead_peek(&source->ahead, offset, ASHUF_BLOCK_HEADER_SIZE, &header, error);
  if (status == ASHUF_OK) status = ashuf_block_peek(header, ASHUF_BLOCK_HEADER_SIZE, info, error);
  if (status == ASHUF_OK && info->size > left)
    status = block_cut(SITE_MAP_BLOCK_CUT, offset, "the block", info->size, left, error);
  return status;
}

static ashuf_status at_block(const struct read_source *source, ashuf_status status,
                             struct ashuf_error *error) {
  struct block_place place;
  if (status == ASHUF_OK) return status;
  block_place_set(&place, source->file, &source->cursor);
  block_place_tell(&place, error);
  return status;
}

/* To the first block of the part. After a failure it goes on where the cursor stands. */
static ashuf_status enter_part(struct read_source *source, struct ashuf_error *error) {
  const struct ashuf_read_options *options = &source->options;
  uint64_t start = partition_start(source);
  uint64_t size = partition_end(source) - start;
  uint64_t first = start + part_of(size, options->part, options->parts);
  source->stop = start + part_of(size, options->part + 1, options->parts);
  uint64_t before = 0;
  while (source->cursor.offset < first) {
    struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
    ashuf_status status = at_block(source, peek_block(source, before, &info, error), error);
    if (status != ASHUF_OK) return status;
    before = info.size;
    source->cursor.offset += before;
    source->cursor.block++;
  }
  source->unverified++;
  source->inside = true;
  return ASHUF_OK;
}

static ashuf_status enter_whole(struct read_source *source, struct ashuf_error *error) {
  bool compare = checksum_file_has(&source->file->checksums, source->cursor.partition,
                                   partition_end(source) - partition_start(source));
  bool before = compare && source->options.verify == ASHUF_VERIFY_BEFORE;
  if (before) {
    ashuf_status status = at_partition(source, verify_before(source, error), error);
    if (status != ASHUF_OK) return status;
    source->verified++;
  }
  source->summing = compare && !before;
  if (source->summing) source->checksum = checksum_begin(source->file->checksums.kind);
  if (!compare) source->unverified++;
  source->stop = partition_end(source);
  source->inside = true;
  return ASHUF_OK;
}

static ashuf_status leave(struct read_source *source, struct ashuf_error *error) {
  if (source->summing) {
    ashuf_status status =
        at_partition(source,
                     checksum_file_compare(&source->file->checksums, source->cursor.partition,
                                           partition_start(source), source->checksum, error),
                     error);
    if (status != ASHUF_OK) return status;
    source->verified++;
  }
  source->summing = source->inside = false;
  source->cursor.partition++;
  source->cursor.block = 0;
  source->cursor.offset = partition_start(source);
  return ASHUF_OK;
}

/* ---- Blocks -------------------------------------------------------------------------------- */

static ashuf_status take_block(struct read_source *source, struct ashuf_bytes *block,
                               struct block_place *place, struct ashuf_error *error) {
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  ashuf_status status = peek_block(source, 0, &info, error);
  if (status == ASHUF_OK)
    status = read_ahead_block(&source->ahead, source->cursor.offset, &info, block, error);
  status = at_block(source, status, error);
  if (status != ASHUF_OK) return status;
  if (source->summing)
    source->checksum =
        checksum_update(source->file->checksums.kind, source->checksum, block->data, block->size);
  block_place_set(place, source->file, &source->cursor);
  source->cursor.offset += info.size;
  source->cursor.block++;
  return ASHUF_OK;
}

/* One step towards the next block; *there: the cursor stands at it. */
static ashuf_status step(struct read_source *source, bool *there, struct ashuf_error *error) {
  if (source->file == NULL) return next_file(source, error);
  if (source->inside) {
    *there = source->cursor.offset < source->stop;
    return *there ? ASHUF_OK : leave(source, error);
  }
  if (source->cursor.partition == source->cursor.end_partition) {
    map_file_close(source->file);
    source->file = NULL;
    return ASHUF_OK;
  }
  if (partition_start(source) == partition_end(source)) return leave(source, error);
  return source->options.parts > 1 ? enter_part(source, error) : enter_whole(source, error);
}

ashuf_status read_source_next(struct read_source *source, int *found, struct ashuf_bytes *block,
                              struct block_place *place, struct ashuf_error *error) {
  bool there = false;
  while (!there) {
    if (source->file == NULL && source->next_path == source->n_paths) {
      *found = 0;
      return ASHUF_OK;
    }
    ashuf_status status = step(source, &there, error);
    if (status != ASHUF_OK) return status;
  }
  ashuf_status status = take_block(source, block, place, error);
  if (status == ASHUF_OK) *found = 1;
  return status;
}

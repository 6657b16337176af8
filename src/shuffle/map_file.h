/*
 * One map output, open for reading: what stands behind ashuf_map_file_* of the public header.
 *
 * Legal order: map_file_open -> map_file_seek, map_file_next ... -> map_file_close. Once open
 * nothing in it changes, so that threads may share it, each with a cursor and a context.
 *
 * A block is read whole, into memory of its own (block_memory.h) that the decoder is given.
 */
#ifndef ASHUF_SHUFFLE_MAP_FILE_H
#define ASHUF_SHUFFLE_MAP_FILE_H

#include "base/error.h"
#include "os/file.h"
#include "shuffle/checksum_file.h"

#include <ashuf/shuffle.h>

enum {
  SITE_MAP_MEMORY = 1020,
  SITE_MAP_NOT_REGULAR = 1021,
  SITE_MAP_SEEK = 1022,
  SITE_MAP_CURSOR = 1023,
  SITE_MAP_HEADER_CUT = 1024,
  SITE_MAP_BLOCK_CUT = 1025,
  SITE_MAP_BLOCK_MEMORY = 1026
};

struct ashuf_map_file {
  ashuf_memory *memory; /* a reference */
  struct file data;     /* closed where the data file is missing and empty */
  bool has_index;
  uint64_t *offsets; /* partitions + 1 */
  size_t offsets_size;
  int64_t partitions;
  int64_t map;                    /* map id, or -1 */
  char *path;                     /* of the data file, a copy */
  struct checksum_file checksums; /* once asked for */
  bool checksums_known;
};

ashuf_status map_file_open(const char *data_path, const char *index_path, bool require_index,
                           ashuf_memory *memory, ashuf_map_file **out, struct ashuf_error *error);
void map_file_close(ashuf_map_file *file);

/* end -1: to the last partition. */
ashuf_status map_file_seek(const ashuf_map_file *file, int64_t first, int64_t end,
                           struct ashuf_block_cursor *out, struct ashuf_error *error);

/* Looks for the checksum file, once; not while other threads use the file. */
ashuf_status map_file_load_checksums(ashuf_map_file *file, struct ashuf_error *error);
/* As ashuf_map_file_verify. */
ashuf_status map_file_verify(const ashuf_map_file *file, int64_t partition, int *compared,
                             struct ashuf_error *error);

/* Where a block stands, for errors that are told when its file may be closed. */
struct block_place {
  char label[FILE_LABEL_SIZE];
  int64_t map;
  int64_t partition;
  int64_t block; /* -1: the partition as a whole */
  uint64_t offset;
};
void block_place_set(struct block_place *place, const ashuf_map_file *file,
                     const struct ashuf_block_cursor *at);
/* Puts the place in front of the message and into the error. */
void block_place_tell(const struct block_place *place, struct ashuf_error *error);

/* TRUNCATED: what takes need bytes at offset, and left are there. */
ashuf_status block_cut(int site, uint64_t offset, const char *what, uint64_t need, uint64_t left,
                       struct ashuf_error *error);

/* As ashuf_map_file_next; at, schema, info may be NULL. */
ashuf_status map_file_next(const ashuf_map_file *file, ashuf_ctx *ctx,
                           struct ashuf_block_cursor *cursor,
                           const struct ashuf_decode_options *options, int *found,
                           struct ashuf_block_cursor *at, const ashuf_schema **schema,
                           struct ArrowArray *batch, struct ashuf_block_info *info,
                           struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_MAP_FILE_H */

/*
 * The blocks that a reader was asked for, undecoded, in order: map outputs as listed, partitions,
 * blocks. One data file is open at a time. Checksums are compared here:
 *
 *   before     when a partition is entered, all its bytes are read and compared, then read again
 *              (a partition that fits into one piece of read_ahead is read once)
 *   trailing   bytes are summed up as their blocks go out, and compared behind the last one
 *
 * A partition is divided into parts by bytes: part k has the blocks that start in
 * [size * k / parts, size * (k + 1) / parts). The headers in front of it are walked over. Of parts
 * nothing is compared.
 *
 * Legal order: read_source_init -> read_source_check (all indexes) -> read_source_next ... ->
 * read_source_free. A next that failed for want of memory may be called again, with the same result
 * as if it had not been; after any other failure it may not.
 */
#ifndef ASHUF_SHUFFLE_READ_SOURCE_H
#define ASHUF_SHUFFLE_READ_SOURCE_H

#include "shuffle/read_ahead.h"

enum { SITE_SOURCE_PATHS = 1055, SITE_SOURCE_MAPS = 1056, SITE_SOURCE_PART = 1057 };

struct read_source {
  ashuf_memory *memory; /* not a reference */
  struct ashuf_read_options options;
  char **paths; /* those of the maps asked for; NULL behind the last that could be copied */
  size_t n_paths;
  size_t next_path;
  ashuf_map_file *file; /* the one being read, or NULL */
  struct read_ahead ahead;
  struct ashuf_block_cursor cursor;
  bool inside;   /* a partition has been entered, and not yet left */
  uint64_t stop; /* inside: blocks that start here or behind are not wanted */
  bool summing;  /* inside: checksum is that of the blocks so far */
  uint32_t checksum;
  uint64_t verified;   /* partitions whose checksum was compared */
  uint64_t unverified; /* partitions with bytes, of which it was not */
};

/* options are complete. source is zeroed. */
ashuf_status read_source_init(struct read_source *source, const char *const *paths, size_t n_paths,
                              const struct ashuf_read_options *options, ashuf_memory *memory,
                              struct ashuf_error *error);
ashuf_status read_source_check(const struct read_source *source, struct ashuf_error *error);
/* *found 0 at the end; nothing else is written then. */
ashuf_status read_source_next(struct read_source *source, int *found, struct ashuf_bytes *block,
                              struct block_place *place, struct ashuf_error *error);
void read_source_free(struct read_source *source);

#endif /* ASHUF_SHUFFLE_READ_SOURCE_H */

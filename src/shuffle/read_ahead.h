/*
 * Bytes of a data file in pieces larger than blocks: one call of the system for many blocks.
 *
 * A piece is counted memory. A compressed block is lent out of it and keeps it until it is decoded.
 * A block of codec NONE, in whose memory the arrays are going to live, gets an allocation of its
 * own at 44 mod 64, as does one that is larger than half a piece.
 */
#ifndef ASHUF_SHUFFLE_READ_AHEAD_H
#define ASHUF_SHUFFLE_READ_AHEAD_H

#include "shuffle/map_file.h"

#define READ_AHEAD_SIZE ((size_t)256 << 10)

enum { SITE_AHEAD_MEMORY = 1067 };

struct read_piece;

struct read_ahead {
  ashuf_memory *memory;
  const struct file *file;
  struct read_piece *piece; /* NULL: none yet */
  uint64_t end;             /* nothing behind it is wanted */
  uint64_t calls;           /* of the system */
  uint64_t bytes;           /* read by them */
};

/* Nothing of an earlier file is known any more; its memory is used again. */
void read_ahead_begin(struct read_ahead *ahead, const struct file *file, uint64_t end);
void read_ahead_free(struct read_ahead *ahead);

/* size <= READ_AHEAD_SIZE bytes at offset, before the end; until the next call. */
ashuf_status read_ahead_peek(struct read_ahead *ahead, uint64_t offset, size_t size,
                             const uint8_t **out, struct ashuf_error *error);
/* A few bytes at offset, without reading ahead: for steps over large blocks. */
ashuf_status read_ahead_copy(struct read_ahead *ahead, uint64_t offset, size_t size, uint8_t *out,
                             struct ashuf_error *error);
/* The block of info at offset, whole, given with its release. */
ashuf_status read_ahead_block(struct read_ahead *ahead, uint64_t offset,
                              const struct ashuf_block_info *info, struct ashuf_bytes *out,
                              struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_READ_AHEAD_H */

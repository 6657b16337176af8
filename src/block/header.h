/*
 * The 20 bytes in front of a block (docs/FORMAT.md, "The block"):
 *
 *   0  u64  length of what follows this field
 *   8  u64  field count
 *  16  4    codec tag; bit 7 of its first byte: offsets are stored as lengths
 */
#ifndef ASHUF_BLOCK_HEADER_H
#define ASHUF_BLOCK_HEADER_H

#include "base/error.h"

#include <ashuf/block.h>

/* What follows the length field, at the least and at the most. */
#define BLOCK_MIN_LENGTH 13u
#define BLOCK_MAX_LENGTH 2147483647u
#define BLOCK_LENGTH_SIZE 8u
#define BLOCK_TAG_OFFSET 16u

enum {
  SITE_HEADER_TRUNCATED = 800,
  SITE_HEADER_SHORT = 801,
  SITE_HEADER_LONG = 802,
  SITE_HEADER_CODEC = 803,
  SITE_HEADER_FIELDS = 804,
  SITE_BLOCK_TRUNCATED = 805,
  SITE_BLOCK_TRAILING = 806,
  SITE_FIRST_MESSAGE = 808,
  SITE_NO_BATCH = 809,
  SITE_MESSAGE_TYPE = 810,
  SITE_SECOND_SCHEMA = 811,
  SITE_AFTER_BATCH = 812,
  SITE_CTX_MEMORY = 813,
  SITE_ENCODE_OPTIONS = 815,
  SITE_ENCODE_MEMORY = 816,
  SITE_ENCODE_SIZE = 817,
  SITE_ENCODE_ROWS = 818,
  SITE_SCHEMA_BODY = 819,
  SITE_DECODE_OPTIONS = 820,
  SITE_CTX_BUSY = 821,
  SITE_ENCODE_SEGMENTS = 822
};

/* Reads a whole header; size is what there is from its first byte on. */
ashuf_status block_header_read(const uint8_t *data, size_t size, struct ashuf_block_info *out,
                               struct ashuf_error *error);
/* The codec and flag of a tag alone. */
ashuf_status block_tag_read(const uint8_t *tag, struct ashuf_block_info *out,
                            struct ashuf_error *error);
/* Writes a header; length is that of the whole block, this header included. */
void block_header_write(uint8_t *out, uint64_t length, uint64_t columns, int codec,
                        int offsets_as_lengths);

#endif /* ASHUF_BLOCK_HEADER_H */

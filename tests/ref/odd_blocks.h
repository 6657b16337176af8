/*
 * Blocks that are valid and that no writer of ours makes: tables with fields, vtables and objects
 * in any order, shared and padded; metadata of any size; buffers with gaps, in any order, longer
 * than needed, overlapping; garbage under nulls; every end of stream, legacy prefixes, V4
 * metadata; dictionaries sent again or in pieces; body compression; codecs cut in odd places.
 * The same seed makes the same block.
 */
#ifndef TESTS_REF_ODD_BLOCKS_H
#define TESTS_REF_ODD_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct odd_block {
  uint8_t *data; /* malloced */
  size_t size;
};

struct odd_options {
  uint64_t seed;
  bool late_types;     /* also views, list views, unions and run ends */
  bool plain_codec;    /* NONE only */
  bool large;          /* some thousand rows */
  bool no_replacement; /* every dictionary that is sent is used */
};

void odd_block_make(const struct odd_options *options, struct odd_block *out);

#endif /* TESTS_REF_ODD_BLOCKS_H */

/*
 * One data file, block by block, as cat, info and verify all walk it.
 *
 * Order: map_input_open, map_input_next until *found is 0, map_input_close. After an error next
 * may be called again: it goes on with the next partition.
 */
#ifndef ASHUF_CLI_MAP_INPUT_H
#define ASHUF_CLI_MAP_INPUT_H

#include "cli.h"

struct map_input {
  const char *path; /* the caller's */
  ashuf_map_file *file;
  ashuf_ctx *ctx;
  struct ashuf_block_cursor cursor;
  struct ashuf_decode_options options;
  bool unfinished; /* the index that is required is not there */
};

struct map_block {
  struct ashuf_block_cursor at;
  struct ashuf_block_info info;
  const ashuf_schema *schema; /* until the next call */
  struct ArrowArray batch;    /* the caller releases it */
};

/*
 * validate is an enum ashuf_validate. Without an index the whole file counts as one partition; with
 * require_index that is BAD_INDEX: what stands in a directory without its index is no finished
 * output.
 */
ashuf_status map_input_open(struct map_input *out, const char *path, bool require_index,
                            int validate, struct ashuf_error *error);
/* Goes to one partition, which exists. */
ashuf_status map_input_seek(struct map_input *input, int64_t partition, struct ashuf_error *error);
ashuf_status map_input_next(struct map_input *input, struct map_block *out, int *found,
                            struct ashuf_error *error);
/* Whether an error of next is about that block alone, so that there is use in going on. */
bool map_input_goes_on(const struct ashuf_error *error);
int64_t map_input_partitions(const struct map_input *input);
/* Bytes of the data file. */
uint64_t map_input_bytes(const struct map_input *input);
/* Takes one that never opened. */
void map_input_close(struct map_input *input);

#endif /* ASHUF_CLI_MAP_INPUT_H */

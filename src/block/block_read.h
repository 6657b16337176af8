/*
 * One block to one batch: the walk over its messages (docs/FORMAT.md, "Reading a block").
 *
 *   start --schema--> body --dictionary--> body --record batch--> done --end--> tail
 *
 * Exactly one record batch, an end mark or a clean boundary, nothing after it; the codec must end
 * there too. Only the schema message is ever looked up instead of parsed.
 */
#ifndef ASHUF_BLOCK_BLOCK_READ_H
#define ASHUF_BLOCK_BLOCK_READ_H

#include "block/header.h"
#include "block/projection.h"
#include "block/schema_cache.h"
#include "codec/codec.h"
#include "ipc/body_compression.h"
#include "ipc/dictionary_table.h"
#include "ipc/message_stream.h"

struct block_decoder {
  ashuf_memory *memory; /* not a reference */
  struct decoder *codec;
  struct schema_cache cache;
  struct message_stream stream;
  struct dictionary_table dictionaries;
  struct body_unpacker unpacker;
  struct ashuf_buffer scratch; /* offsets being rebuilt */
  ashuf_schema *bypassed;      /* the last schema the cache did not keep: a reference */
  ashuf_schema *expected; /* the last one compared, and what it was found equal to: references */
  ashuf_schema *matched;
  struct projections projections;
  size_t scratch_cap;
  uint64_t messages_parsed;
};

bool block_decoder_init(struct block_decoder *decoder, ashuf_memory *memory,
                        const struct ashuf_ctx_options *options);
void block_decoder_free(struct block_decoder *decoder);
void block_decoder_reset(struct block_decoder *decoder);

/*
 * The payload behind the codec tag. info holds what the header said and gets rows and sizes.
 * owner: the given-away bytes the payload lies in, or NULL; where they are not moved into the
 * batch, they are left alone. schema is borrowed: the cache's, or the decoder's until its next
 * call.
 */
ashuf_status block_decode_payload(struct block_decoder *decoder, const uint8_t *payload,
                                  size_t size, const struct ashuf_decode_options *options,
                                  struct ashuf_bytes *owner, struct ashuf_block_info *info,
                                  const ashuf_schema **schema, struct ArrowArray *batch,
                                  struct ashuf_error *error);

#endif /* ASHUF_BLOCK_BLOCK_READ_H */

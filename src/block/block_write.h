/*
 * Selected rows to blocks: cut by rows and by bytes, gathered straight into the codec.
 *
 *   selection -> cut -> plan (sizes) -> header, schema message, dictionaries, batch metadata,
 *   body piece by piece -> codec -> out
 *
 * One encoder, one thread. Its codec contexts and scratch live on from block to block.
 */
#ifndef ASHUF_BLOCK_BLOCK_WRITE_H
#define ASHUF_BLOCK_BLOCK_WRITE_H

#include "arrow/selection.h"

#include <ashuf/block.h>

struct block_encoder;

struct block_encode_stats {
  uint64_t blocks;
  int64_t rows;
  uint64_t raw_bytes; /* of the IPC streams */
  uint64_t bytes;     /* of the blocks */
};

/* Takes whole blocks away while a large selection is being encoded, or bounds what is encoded. */
struct block_sink {
  /* out holds whole blocks; the encoder empties it afterwards. NULL: encoding ends with the block
   * by which out comes to hold most bytes, and stats say how many rows were taken. */
  ashuf_status (*write)(void *self, const struct ashuf_buffer *out, struct ashuf_error *error);
  void *self;
  size_t most; /* what out may hold, in bytes, before it is called; BLOCK_SINK_BYTES or less */
};

/* The largest 32-bit offset a block may have; lowered by tests that cannot hold 2 GiB. */
extern int64_t block_offset_limit;

/* More at once makes writing no faster. */
#define BLOCK_SINK_BYTES ((size_t)1 << 20)

struct block_encoder *block_encoder_new(ashuf_memory *memory); /* NULL: out of memory */
void block_encoder_free(struct block_encoder *encoder);
/* Drops contexts and scratch above cap. */
void block_encoder_trim(struct block_encoder *encoder, size_t cap);

/*
 * From now on blocks of codec NONE lend what they need not copy (encoder_lend): out then holds the
 * rest, and loans says what stands where in between. Only codec NONE may be used until loans are
 * NULL again. A failed call leaves entries behind in loans.
 */
void block_encoder_lend(struct block_encoder *encoder, struct ashuf_buffer *loans);

/* given over the defaults; own is then complete: no field means "default" any more. */
void encode_options_resolve(struct ashuf_encode_options *own,
                            const struct ashuf_encode_options *given);
/* INVALID_ARGUMENT, or UNSUPPORTED for a codec that this build lacks. own is resolved. */
ashuf_status encode_options_check(const struct ashuf_encode_options *own,
                                  struct ashuf_error *error);

/*
 * Appends the selected rows to out as whole blocks, in order. sink may be NULL: then everything
 * stays in out. Where no sink takes blocks away out is as it was on failure. options are resolved
 * and checked. stats are added to.
 */
ashuf_status block_encode_selection(struct block_encoder *encoder, const struct source_set *set,
                                    const struct selection *selection,
                                    const struct ashuf_encode_options *options,
                                    struct ashuf_buffer *out, const struct block_sink *sink,
                                    struct block_encode_stats *stats, struct ashuf_error *error);

/*
 * The same where more rows may follow: writes the blocks that no further row could change, and
 * says in *taken how many rows those hold. The rest has to be given again, in front of what
 * follows; so the blocks do not depend on how the rows were divided over calls.
 */
ashuf_status block_encode_full(struct block_encoder *encoder, const struct source_set *set,
                               const struct selection *selection,
                               const struct ashuf_encode_options *options, struct ashuf_buffer *out,
                               const struct block_sink *sink, struct block_encode_stats *stats,
                               int64_t *taken, struct ashuf_error *error);

#endif /* ASHUF_BLOCK_BLOCK_WRITE_H */

/*
 * The four codecs as byte streams, both ways, with contexts that live on.
 *
 * A decoder or encoder belongs to one thread and serves one stream at a time: open, read or
 * write, close. It may be opened again for any codec, also after a failure; codec contexts are
 * made on first use and kept. decoder_trim / encoder_trim drop what is larger than a cap.
 *
 * Which library serves which codec: lz4.c liblz4 frames, zstd.c libzstd, snappy.c the framing
 * format over libsnappy's raw blocks with ISA-L's CRC-32C. A codec left out of the build is
 * ASHUF_UNSUPPORTED.
 *
 * Formats: docs/FORMAT.md, "Codecs".
 */
#ifndef ASHUF_CODEC_CODEC_H
#define ASHUF_CODEC_CODEC_H

#include "base/error.h"
#include "base/memory.h"

#include <ashuf/block.h>

/* ---- Reading ----------------------------------------------------------------------------- */

struct decoder;

struct decoder *decoder_new(ashuf_memory *memory); /* NULL: out of memory */
void decoder_free(struct decoder *decoder);
/* Drops contexts and work buffers that hold more than cap bytes each; 0 drops all. */
void decoder_trim(struct decoder *decoder, size_t cap);

/*
 * Starts on a payload, which stays the caller's and must live until decoder_close. At most
 * max_output bytes are ever handed out; one more is SIZE_LIMIT.
 */
ashuf_status decoder_open(struct decoder *decoder, int codec, const uint8_t *payload, size_t size,
                          uint64_t max_output, struct ashuf_error *error);

/*
 * Up to size bytes into out; *got < size only at the end of the data. Where size covers whole
 * codec blocks they are decoded straight into out. Errors: BAD_COMPRESSION, TRUNCATED, with the
 * offset in the decoded stream at which the codec stopped.
 */
ashuf_status decoder_read(struct decoder *decoder, void *out, size_t size, size_t *got,
                          struct ashuf_error *error);

/*
 * As decoder_read for a caller who wants size bytes, but least of them first: *got is at least
 * that, but at the end of the data, and at most size. There is room for capacity >= size bytes at
 * out: what lies behind *got may be overwritten. A codec block that reaches past size but not past
 * capacity is decoded straight to its place, and its surplus waits for the next read.
 */
ashuf_status decoder_read_part(struct decoder *decoder, void *out, size_t least, size_t size,
                               size_t capacity, size_t *got, struct ashuf_error *error);

/* The next size bytes where they lie, moving past them: in the payload for NONE, else decoded ones
 * once all have been decoded. They stay there until decoder_close. NULL where they cannot be lent
 * (nothing moves then). */
const uint8_t *decoder_borrow(struct decoder *decoder, size_t size);

/* Bytes handed out so far: the offset in the decoded stream. */
uint64_t decoder_position(const struct decoder *decoder);

/*
 * An upper bound of the bytes still to come, from the compressed bytes left and the codec's
 * largest expansion, and from max_output: what an allocation may be sized by.
 */
uint64_t decoder_bound(const struct decoder *decoder);
/* What max_output leaves. */
uint64_t decoder_allowed(const struct decoder *decoder);

/*
 * Requires that the data has ended, and properly: no byte left to decode (TRAILING_DATA), LZ4's
 * end mark and checksum read, the zstd frame complete (TRUNCATED), no unread compressed byte
 * (TRAILING_DATA).
 */
ashuf_status decoder_close(struct decoder *decoder, struct ashuf_error *error);

/*
 * One buffer of Arrow body compression: exactly one LZ4 or ZSTD frame that gives exactly
 * out_size bytes. Error offsets are 0; the caller knows the place.
 */
ashuf_status decoder_frame(struct decoder *decoder, int codec, const uint8_t *frame, size_t size,
                           uint8_t *out, size_t out_size, struct ashuf_error *error);

/* ---- Writing ----------------------------------------------------------------------------- */

struct encoder;

/* What encoder_reserve can give at once. */
#define ENCODER_PIECE ((size_t)16384)

struct encoder *encoder_new(ashuf_memory *memory);
void encoder_free(struct encoder *encoder);
void encoder_trim(struct encoder *encoder, size_t cap);

/*
 * Starts a stream whose compressed bytes are appended to out. Every codec is fed in steps of
 * 64 KiB of the stream, whatever the sizes of the writes, so the bytes depend on the content
 * alone. Work memory is bounded by the step and the codec's context.
 */
ashuf_status encoder_open(struct encoder *encoder, int codec, int has_level, int level,
                          struct ashuf_buffer *out, ashuf_memory *memory,
                          struct ashuf_error *error);

/*
 * Writes return nothing: a failure sticks, later writes do nothing, encoder_close reports it.
 * encoder_reserve gives space for size <= ENCODER_PIECE bytes, never NULL; encoder_commit says
 * how many of them were filled. A large encoder_write goes to the codec without a copy where it
 * covers whole steps.
 */
uint8_t *encoder_reserve(struct encoder *encoder, size_t size);
void encoder_commit(struct encoder *encoder, size_t size);
void encoder_write(struct encoder *encoder, const void *bytes, size_t size);
void encoder_zeros(struct encoder *encoder, size_t size);
/* Bytes written so far. */
uint64_t encoder_position(const struct encoder *encoder);

/*
 * Codec NONE without copying: once a stream has been opened, encoder_lend_to gives it a list for
 * what it need not copy, an array of struct encoder_loan that is appended to. encoder_lend is
 * encoder_write for bytes that outlive the list: they are put there where there is such a list and
 * they are many, and written else. Bytes lent count for encoder_position as others do.
 */
struct encoder_loan {
  size_t at; /* the size of out when they were lent: what stands in front of them */
  const void *bytes;
  size_t size;
};
void encoder_lend_to(struct encoder *encoder, struct ashuf_buffer *loans);
void encoder_lend(struct encoder *encoder, const void *bytes, size_t size);

/* Ends the stream. On failure out has grown by garbage: the caller cuts it back. */
ashuf_status encoder_close(struct encoder *encoder, struct ashuf_error *error);

#endif /* ASHUF_CODEC_CODEC_H */

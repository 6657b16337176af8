/*
 * Streams for the codec tests: bytes that compress like real ones, encoding and decoding in one
 * call, a frame of the LZ4 frame format put together by hand.
 */
#ifndef TESTS_SUPPORT_CODEC_STREAMS_H
#define TESTS_SUPPORT_CODEC_STREAMS_H

#include "codec/codec.h"

/* size bytes: runs, counters and noise, each a third; the same for the same seed. free() them. */
uint8_t *codec_sample(size_t size, uint32_t seed);
/* A number below n; moves *state. */
uint32_t codec_random(uint32_t *state, uint32_t n);

/* The codecs of this build, NONE first; returns how many. */
int codec_list(int codecs[4]);

/* Appends one stream to out, written with one call. */
ashuf_status codec_encode(struct encoder *encoder, int codec, const uint8_t *bytes, size_t size,
                          struct ashuf_buffer *out);

/*
 * open, reads of at most piece bytes each until max bytes or the end, close. *got counts the
 * bytes read. The status is the first that is not OK.
 */
ashuf_status codec_decode(struct decoder *decoder, int codec, const uint8_t *payload, size_t size,
                          uint8_t *out, size_t max, size_t piece, size_t *got,
                          struct ashuf_error *error);

#endif /* TESTS_SUPPORT_CODEC_STREAMS_H */

#include "support/codec_streams.h"

#include <stdlib.h>
#include <string.h>

uint32_t codec_random(uint32_t *state, uint32_t n) {
  *state = *state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)(*state ^ (*state >> 15)) * n) >> 32);
}

uint8_t *codec_sample(size_t size, uint32_t seed) {
  uint8_t *bytes = malloc(size + 1);
  if (bytes == NULL) abort();
  uint32_t state = seed * 2654435761u + 1;
  size_t at = 0;
  while (at < size) {
    size_t n = 1 + codec_random(&state, 900);
    uint32_t kind = codec_random(&state, 3);
    for (size_t i = 0; i < n && at < size; i++, at++)
      bytes[at] = kind == 0   ? (uint8_t)n
                  : kind == 1 ? (uint8_t)((i & 7) == 0 ? i / 8 : 0)
                              : (uint8_t)codec_random(&state, 256);
  }
  return bytes;
}

int codec_list(int codecs[4]) {
  int n = 0;
  for (int codec = ASHUF_CODEC_NONE; codec <= ASHUF_CODEC_SNAPPY; codec++)
    if (ashuf_codec_available(codec)) codecs[n++] = codec;
  return n;
}

ashuf_status codec_encode(struct encoder *encoder, int codec, const uint8_t *bytes, size_t size,
                          struct ashuf_buffer *out) {
  ashuf_status status = encoder_open(encoder, codec, 0, 0, out, NULL, NULL);
  if (status != ASHUF_OK) return status;
  encoder_write(encoder, bytes, size);
  return encoder_close(encoder, NULL);
}

ashuf_status codec_decode(struct decoder *decoder, int codec, const uint8_t *payload, size_t size,
                          uint8_t *out, size_t max, size_t piece, size_t *got,
                          struct ashuf_error *error) {
  *got = 0;
  ashuf_status status = decoder_open(decoder, codec, payload, size, max, error);
  if (status != ASHUF_OK) return status;
  for (;;) {
    size_t want = max - *got < piece ? max - *got : piece;
    size_t n = 0;
    if (want == 0) break;
    status = decoder_read(decoder, out + *got, want, &n, error);
    if (status != ASHUF_OK) return status;
    *got += n;
    if (n < want) break;
  }
  return decoder_close(decoder, error);
}

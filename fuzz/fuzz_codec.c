/*
 * A codec's payload behind one byte: its low two bits say which codec, the next ones how much is
 * read at a time. LZ4 and ZSTD also as one buffer of body compression, of a size given by two
 * more bytes.
 */
#include "codec/codec.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>

static uint8_t out[70000];

static void read_stream(struct decoder *decoder, int codec, const uint8_t *payload, size_t size,
                        size_t step) {
  struct ashuf_error error;
  ashuf_status status = decoder_open(decoder, codec, payload, size, FUZZ_MOST_OUTPUT, &error);
  uint64_t bound = status == ASHUF_OK ? decoder_bound(decoder) : 0;
  for (size_t got = step; status == ASHUF_OK && got == step;)
    status = decoder_read(decoder, out, step, &got, &error);
  if (decoder_position(decoder) > FUZZ_MOST_OUTPUT) fuzz_fail("more output than allowed");
  if (status != ASHUF_OK) return;
  if (decoder_position(decoder) > bound) fuzz_fail("more output than the bound");
  fuzz_decoded += decoder_position(decoder);
  decoder_close(decoder, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct decoder *kept;
  if (size < 3) return 0;
  const uint8_t *payload = fuzz_guard(data + 3, size - 3);
  if (payload == NULL) return 0;
  if (kept == NULL) kept = decoder_new(NULL);
  struct decoder *fresh = decoder_new(NULL);
  if (kept == NULL || fresh == NULL) abort();
  int codec = ASHUF_CODEC_NONE + (data[0] & 3);
  size_t step = (data[0] & 4) != 0 ? sizeof out : (size_t)1 + (data[0] >> 3) * 97u;
  read_stream(kept, codec, payload, size - 3, step);
  read_stream(fresh, codec, payload, size - 3, step);
  struct ashuf_error error;
  size_t frame = data[1] | (size_t)data[2] << 8;
  if (codec == ASHUF_CODEC_LZ4 || codec == ASHUF_CODEC_ZSTD)
    decoder_frame(kept, codec, payload, size - 3, out, frame, &error);
  fuzz_decoded += frame;
  decoder_free(fresh);
  return 0;
}

/* What the decoders refuse: cut, lengthened, doubled and flipped streams, hostile sizes; and that
 * a decoder works on after each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "codec/checksum.h"
#include "codec/codec.h"
#include "support/codec_streams.h"

#define SMALL ((size_t)900)
#define LARGE ((size_t)300000)

static uint8_t scratch[400000];

static struct decoder *decoder;
static struct encoder *encoder;

static int set_up(void **state) {
  (void)state;
  decoder = decoder_new(NULL);
  encoder = encoder_new(NULL);
  return decoder == NULL || encoder == NULL;
}

static int tear_down(void **state) {
  (void)state;
  decoder_free(decoder);
  encoder_free(encoder);
  return 0;
}

/* A copy of exactly size bytes, so that AddressSanitizer sees one byte too far. */
static uint8_t *exact(const uint8_t *bytes, size_t size) {
  uint8_t *copy = malloc(size != 0 ? size : 1);
  if (size != 0) memcpy(copy, bytes, size);
  return copy;
}

static ashuf_status decode_all(int codec, const uint8_t *payload, size_t size, size_t piece,
                               struct ashuf_error *error) {
  size_t got = 0;
  uint8_t *copy = exact(payload, size);
  ashuf_status status =
      codec_decode(decoder, codec, copy, size, scratch, sizeof scratch, piece, &got, error);
  free(copy);
  if (status != ASHUF_OK && error != NULL) assert_int_equal(error->status, status);
  return status;
}

/* A decoder that has just failed decodes a good stream. */
static void works_on(int codec) {
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  uint8_t *bytes = codec_sample(5000, 77);
  assert_int_equal(codec_encode(encoder, codec, bytes, 5000, &out), ASHUF_OK);
  assert_int_equal(decode_all(codec, out.data, out.size, 1000, NULL), ASHUF_OK);
  assert_memory_equal(scratch, bytes, 5000);
  ashuf_buffer_free(&out);
  free(bytes);
}

static struct ashuf_buffer encoded(int codec, size_t size) {
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  uint8_t *bytes = codec_sample(size, 21);
  assert_int_equal(codec_encode(encoder, codec, bytes, size, &out), ASHUF_OK);
  free(bytes);
  return out;
}

static void every_truncation_is_an_error(void **state) {
  (void)state;
  int codecs[4];
  int n = codec_list(codecs);
  for (int c = 1; c < n; c++) {
    struct ashuf_buffer out = encoded(codecs[c], SMALL);
    for (size_t cut = 0; cut < out.size; cut++) {
      struct ashuf_error error = {0};
      ashuf_status status = decode_all(codecs[c], out.data, cut, 100, &error);
      /* Snappy has no end mark: its bare identifier is an empty stream. */
      if (codecs[c] == ASHUF_CODEC_SNAPPY && cut == 10)
        assert_int_equal(status, ASHUF_OK);
      else
        assert_int_equal(status, ASHUF_TRUNCATED);
    }
    works_on(codecs[c]);
    ashuf_buffer_free(&out);
  }
}

static void a_large_stream_without_its_last_byte_is_truncated(void **state) {
  (void)state;
  int codecs[4];
  int n = codec_list(codecs);
  for (int c = 1; c < n; c++) {
    struct ashuf_buffer out = encoded(codecs[c], LARGE);
    struct ashuf_error error = {0};
    assert_int_equal(decode_all(codecs[c], out.data, out.size - 1, 50000, &error), ASHUF_TRUNCATED);
    assert_int_equal(error.space, ASHUF_SPACE_STREAM);
    assert_true(error.offset <= LARGE);
    works_on(codecs[c]);
    ashuf_buffer_free(&out);
  }
}

static void bytes_after_the_end_are_an_error(void **state) {
  (void)state;
  static const uint8_t zeros[4] = {0};
  static const size_t sizes[] = {SMALL, LARGE};
  for (int codec = ASHUF_CODEC_LZ4; codec <= ASHUF_CODEC_ZSTD; codec++)
    for (size_t i = 0; i < 2 && ashuf_codec_available(codec); i++) {
      struct ashuf_error error = {0};
      struct ashuf_buffer out = encoded(codec, sizes[i]);
      struct ashuf_buffer twice = encoded(codec, sizes[i]);
      size_t once = out.size;
      assert_int_equal(codec_encode(encoder, codec, zeros, 1, &twice), ASHUF_OK);
      assert_int_equal(decode_all(codec, twice.data, twice.size, 999, &error), ASHUF_TRAILING_DATA);
      assert_int_equal(error.offset, sizes[i]);
      uint8_t *longer = malloc(once + 1);
      memcpy(longer, out.data, once);
      longer[once] = 0;
      assert_int_equal(decode_all(codec, longer, once + 1, 70000, &error), ASHUF_TRAILING_DATA);
      works_on(codec);
      free(longer);
      ashuf_buffer_free(&out);
      ashuf_buffer_free(&twice);
    }
}

static void data_that_was_not_read_is_trailing(void **state) {
  (void)state;
  int codecs[4];
  int n = codec_list(codecs);
  for (int c = 0; c < n; c++) {
    struct ashuf_buffer out = encoded(codecs[c], SMALL);
    struct ashuf_error error = {0};
    size_t got = 0;
    assert_int_equal(decoder_open(decoder, codecs[c], out.data, out.size, 5000, NULL), ASHUF_OK);
    assert_int_equal(decoder_read(decoder, scratch, SMALL - 1, &got, NULL), ASHUF_OK);
    assert_int_equal(decoder_close(decoder, &error), ASHUF_TRAILING_DATA);
    assert_int_equal(error.offset, SMALL - 1);
    assert_int_equal(decoder_close(decoder, NULL), ASHUF_INVALID_STATE);
    assert_int_equal(decoder_read(decoder, scratch, 1, &got, NULL), ASHUF_INVALID_STATE);
    ashuf_buffer_free(&out);
  }
}

static void one_byte_over_the_limit_is_refused(void **state) {
  (void)state;
  static const size_t sizes[] = {SMALL, LARGE};
  int codecs[4];
  int n = codec_list(codecs);
  for (int c = 0; c < n; c++)
    for (size_t i = 0; i < 2; i++) {
      struct ashuf_buffer out = encoded(codecs[c], sizes[i]);
      struct ashuf_error error = {0};
      size_t got = 0;
      assert_int_equal(decoder_open(decoder, codecs[c], out.data, out.size, sizes[i] - 1, NULL), 0);
      assert_true(decoder_bound(decoder) <= sizes[i] - 1);
      assert_int_equal(decoder_read(decoder, scratch, sizeof scratch, &got, &error),
                       ASHUF_SIZE_LIMIT);
      assert_int_equal(decoder_open(decoder, codecs[c], out.data, out.size, sizes[i], NULL), 0);
      assert_int_equal(decoder_read(decoder, scratch, sizeof scratch, &got, &error), ASHUF_OK);
      assert_int_equal(got, sizes[i]);
      assert_int_equal(decoder_bound(decoder), 0);
      assert_int_equal(decoder_close(decoder, &error), ASHUF_OK);
      ashuf_buffer_free(&out);
    }
}

static void the_bound_covers_what_is_to_come(void **state) {
  (void)state;
  int codecs[4];
  int n = codec_list(codecs);
  static const size_t sizes[] = {0, 1, SMALL, LARGE};
  for (int zero = 0; zero < 2; zero++)
    for (int c = 0; c < n; c++)
      for (size_t i = 0; i < 4; i++) {
        struct ashuf_buffer out = ASHUF_BUFFER_INIT;
        uint8_t *bytes = codec_sample(sizes[i], 3);
        if (zero != 0) memset(bytes, 0, sizes[i]);
        assert_int_equal(codec_encode(encoder, codecs[c], bytes, sizes[i], &out), ASHUF_OK);
        assert_int_equal(decoder_open(decoder, codecs[c], out.data, out.size, UINT64_MAX, NULL), 0);
        size_t left = sizes[i];
        for (size_t got = 1; got != 0;) {
          assert_true(decoder_bound(decoder) >= left);
          assert_int_equal(decoder_read(decoder, scratch, 33333, &got, NULL), ASHUF_OK);
          left -= got;
        }
        assert_int_equal(left, 0);
        ashuf_buffer_free(&out);
        free(bytes);
      }
}

static void flipped_bits_never_do_harm(void **state) {
  (void)state;
  int codecs[4];
  int n = codec_list(codecs);
  uint32_t random = 7;
  for (int c = 1; c < n; c++) {
    struct ashuf_buffer out = encoded(codecs[c], SMALL);
    struct ashuf_buffer large = encoded(codecs[c], LARGE);
    for (size_t bit = 0; bit < out.size * 8; bit++) {
      out.data[bit / 8] ^= (uint8_t)(1u << (bit & 7));
      (void)decode_all(codecs[c], out.data, out.size, bit & 1 ? 100 : 400000, NULL);
      out.data[bit / 8] ^= (uint8_t)(1u << (bit & 7));
    }
    for (int i = 0; i < 100; i++) {
      uint32_t at = codec_random(&random, (uint32_t)large.size);
      uint8_t flip = (uint8_t)(1 + codec_random(&random, 255));
      large.data[at] ^= flip;
      (void)decode_all(codecs[c], large.data, large.size, 60000, NULL);
      large.data[at] ^= flip;
    }
    works_on(codecs[c]);
    ashuf_buffer_free(&out);
    ashuf_buffer_free(&large);
  }
}

static void expect(int codec, const void *bytes, size_t size, ashuf_status expected) {
  struct ashuf_error error = {0};
  if (!ashuf_codec_available(codec)) return;
  ashuf_status status = decode_all(codec, bytes, size, 100000, &error);
  if (status != expected) print_error("%s\n", error.message);
  assert_int_equal(status, expected);
  if (expected != ASHUF_OK) assert_true(error.site >= 200 && error.site < 300);
  works_on(codec);
}
#define EXPECT(codec, status, ...)                 \
  do {                                             \
    static const uint8_t bytes_[] = {__VA_ARGS__}; \
    expect(codec, bytes_, sizeof bytes_, status);  \
  } while (0)

static void odd_lz4_frames(void **state) {
  (void)state;
  int lz4 = ASHUF_CODEC_LZ4;
  EXPECT(lz4, ASHUF_OK, 4, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82, 0, 0, 0, 0);
  /* An empty stored block. */
  EXPECT(lz4, ASHUF_OK, 4, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82, 0, 0, 0, 0x80, 0, 0, 0, 0);
  EXPECT(lz4, ASHUF_OK, 4, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82, 1, 0, 0, 0x80, 'x', 0, 0, 0, 0);
  /* No end mark. */
  EXPECT(lz4, ASHUF_TRUNCATED, 4, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82, 1, 0, 0, 0x80, 'x');
  /* Header checksum, version, reserved bits, block size 3. */
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 4, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x83, 0, 0, 0, 0);
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 4, 0x22, 0x4D, 0x18, 0xA0, 0x40, 0x82, 0, 0, 0, 0);
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 4, 0x22, 0x4D, 0x18, 0x62, 0x40, 0x82, 0, 0, 0, 0);
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 4, 0x22, 0x4D, 0x18, 0x60, 0x41, 0x82, 0, 0, 0, 0);
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 4, 0x22, 0x4D, 0x18, 0x60, 0xC0, 0x82, 0, 0, 0, 0);
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 4, 0x22, 0x4D, 0x18, 0x60, 0x30, 0x82, 0, 0, 0, 0);
  /* A dictionary, the legacy magic, a skippable frame, another magic. */
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 4, 0x22, 0x4D, 0x18, 0x61, 0x40, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 2, 0x21, 0x4C, 0x18, 1, 0, 0, 0, 0x10, 'x', 0, 0, 0, 0);
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 0x5A, 0x2A, 0x4D, 0x18, 0, 0, 0, 0);
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 'h', 'e', 'l', 'l', 'o');
  EXPECT(lz4, ASHUF_TRUNCATED, 4, 0x22);
  /* A block above the frame's maximum; a match that points before the start. */
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 4, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82, 1, 0, 1, 0, 0, 0, 0);
  EXPECT(lz4, ASHUF_BAD_COMPRESSION, 4, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82, 9, 0, 0, 0, 0x10, 'x',
         9, 0, 0x50, 'a', 'a', 'a', 'a', 0, 0, 0, 0);
}

/* RFC 8878: a block, also one that repeats a byte, is at most min(window, 128 KiB); what
 * allocations are sized by rests on it. */
static void zstd_blocks_larger_than_the_window_are_refused(void **state) {
  (void)state;
  int zstd = ASHUF_CODEC_ZSTD;
  /* A window of 1 KiB: a run of 1,024 bytes, one of 1,025; then one behind another block. */
  EXPECT(zstd, ASHUF_OK, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x00, 0x03, 0x20, 0, 'x');
  EXPECT(zstd, ASHUF_BAD_COMPRESSION, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x00, 0x0B, 0x20, 0, 'x');
  EXPECT(zstd, ASHUF_BAD_COMPRESSION, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x00, 0x08, 0, 0, 'x', 0x0B,
         0x20, 0, 'x');
  /* A window of 8 MiB allows blocks of 128 KiB and none larger. */
  EXPECT(zstd, ASHUF_OK, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x68, 0x03, 0, 0x10, 'x');
  EXPECT(zstd, ASHUF_BAD_COMPRESSION, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x68, 0x0B, 0, 0x10, 'x');
}

static void odd_zstd_frames(void **state) {
  (void)state;
  int zstd = ASHUF_CODEC_ZSTD;
  EXPECT(zstd, ASHUF_OK, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x48, 1, 0, 0);
  EXPECT(zstd, ASHUF_OK, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x48, 0x09, 0, 0, 'x');
  EXPECT(zstd, ASHUF_OK, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x48, 0x08, 0, 0, 'x', 1, 0, 0);
  EXPECT(zstd, ASHUF_TRUNCATED, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x48, 0x08, 0, 0, 'x');
  /* Reserved bit, reserved block type, dictionary id, skippable frame before and after. */
  EXPECT(zstd, ASHUF_BAD_COMPRESSION, 0x28, 0xB5, 0x2F, 0xFD, 0x08, 0x48, 1, 0, 0);
  EXPECT(zstd, ASHUF_BAD_COMPRESSION, 0x28, 0xB5, 0x2F, 0xFD, 0x01, 0x48, 7, 1, 0, 0);
  EXPECT(zstd, ASHUF_BAD_COMPRESSION, 0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0, 0x28, 0xB5, 0x2F, 0xFD,
         0x00, 0x48, 1, 0, 0);
  EXPECT(zstd, ASHUF_TRAILING_DATA, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x48, 1, 0, 0, 0x50, 0x2A, 0x4D,
         0x18, 0, 0, 0, 0);
  EXPECT(zstd, ASHUF_TRUNCATED, 0x28, 0xB5);
  EXPECT(zstd, ASHUF_BAD_COMPRESSION, 'h', 'e', 'l', 'l', 'o');
  /* A content size that the data does not have. */
  EXPECT(zstd, ASHUF_BAD_COMPRESSION, 0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x02, 0x09, 0, 0, 'x');
  EXPECT(zstd, ASHUF_BAD_COMPRESSION, 0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x00, 0x09, 0, 0, 'x');
}

#define ID 0xFF, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'
#define A_CHUNK 1, 5, 0, 0, 0x61, 0xE9, 0x22, 0x3A, 'x' /* the CRC is put right below */

static void odd_snappy_streams(void **state) {
  (void)state;
  int snappy = ASHUF_CODEC_SNAPPY;
  uint32_t crc = crc32c_update(0, "x", 1);
  crc = ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
  uint8_t stream[] = {ID, 0xFE, 3, 0, 0, 1, 2, 3, ID, 0x80, 0, 0, 0, A_CHUNK, 0xFD, 1, 0, 0, 9};
  store_u32(stream + 10 + 7 + 10 + 4 + 4, crc);
  expect(snappy, stream, sizeof stream, ASHUF_OK);
  assert_true(!ashuf_codec_available(snappy) || decoder_position(decoder) == 5000);
  stream[10 + 7 + 10 + 4 + 4] ^= 1;
  expect(snappy, stream, sizeof stream, ASHUF_BAD_COMPRESSION);
  expect(snappy, "", 0, ASHUF_TRUNCATED);
  EXPECT(snappy, ASHUF_TRUNCATED, 0xFF, 6);
  EXPECT(snappy, ASHUF_OK, ID);
  EXPECT(snappy, ASHUF_BAD_COMPRESSION, 1, 5, 0, 0, 0, 0, 0, 0, 'x', ID);
  EXPECT(snappy, ASHUF_BAD_COMPRESSION, 0xFF, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Z');
  EXPECT(snappy, ASHUF_BAD_COMPRESSION, ID, 0xFF, 5, 0, 0, 's', 'N', 'a', 'P', 'p');
  EXPECT(snappy, ASHUF_BAD_COMPRESSION, ID, 0x02, 0, 0, 0);
  EXPECT(snappy, ASHUF_BAD_COMPRESSION, ID, 0x7F, 0, 0, 0);
  EXPECT(snappy, ASHUF_BAD_COMPRESSION, ID, 0x00, 3, 0, 0, 1, 2, 3);
  EXPECT(snappy, ASHUF_BAD_COMPRESSION, ID, 0x01, 0, 0, 0);
  EXPECT(snappy, ASHUF_BAD_COMPRESSION, ID, 0x00, 4, 0, 0, 1, 2, 3, 4);
  EXPECT(snappy, ASHUF_TRUNCATED, ID, 0x01, 9, 0, 0, 1, 2, 3, 4);
  EXPECT(snappy, ASHUF_TRUNCATED, ID, 0x01, 9);
  /* Declares 2^32 - 1 decoded bytes, and 65537. */
  EXPECT(snappy, ASHUF_BAD_COMPRESSION, ID, 0, 9, 0, 0, 1, 2, 3, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0xF);
  EXPECT(snappy, ASHUF_BAD_COMPRESSION, ID, 0, 7, 0, 0, 1, 2, 3, 4, 0x81, 0x80, 0x04);
}

static void unknown_codecs_are_refused(void **state) {
  (void)state;
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  static const int codecs[] = {0, -1, 5, 1000};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(decoder_open(decoder, codecs[i], scratch, 4, 10, NULL),
                     ASHUF_INVALID_ARGUMENT);
    assert_int_equal(encoder_open(encoder, codecs[i], 0, 0, &out, NULL, NULL),
                     ASHUF_INVALID_ARGUMENT);
    assert_int_equal(encoder_close(encoder, NULL), ASHUF_INVALID_STATE);
  }
  assert_int_equal(decoder_frame(decoder, ASHUF_CODEC_NONE, scratch, 4, scratch, 4, NULL),
                   ASHUF_INVALID_ARGUMENT);
  assert_int_equal(decoder_frame(decoder, ASHUF_CODEC_SNAPPY, scratch, 4, scratch, 4, NULL),
                   ASHUF_INVALID_ARGUMENT);
}

static void a_frame_gives_exactly_its_size(void **state) {
  (void)state;
  static const size_t sizes[] = {1, SMALL, LARGE};
  for (int codec = ASHUF_CODEC_LZ4; codec <= ASHUF_CODEC_ZSTD; codec++)
    for (size_t i = 0; i < 3 && ashuf_codec_available(codec); i++) {
      struct ashuf_error error = {0};
      size_t size = sizes[i];
      struct ashuf_buffer out = encoded(codec, size);
      uint8_t *bytes = codec_sample(size, 21);
      uint8_t *back = malloc(size + 1);
      uint8_t *frame = exact(out.data, out.size);
      assert_int_equal(decoder_frame(decoder, codec, frame, out.size, back, size, &error),
                       ASHUF_OK);
      assert_memory_equal(back, bytes, size);
      assert_int_equal(decoder_frame(decoder, codec, frame, out.size, back, size + 1, &error),
                       ASHUF_TRUNCATED);
      assert_int_equal(error.offset, 0);
      assert_int_equal(decoder_frame(decoder, codec, frame, out.size, back, size - 1, &error),
                       ASHUF_TRAILING_DATA);
      assert_int_equal(error.offset, 0);
      assert_int_equal(decoder_frame(decoder, codec, frame, out.size - 1, back, size, &error),
                       ASHUF_TRUNCATED);
      assert_int_equal(codec_encode(encoder, codec, bytes, 1, &out), ASHUF_OK);
      assert_int_equal(decoder_frame(decoder, codec, out.data, out.size, back, size, &error),
                       ASHUF_TRAILING_DATA);
      ashuf_buffer_free(&out);
      free(frame);
      free(bytes);
      free(back);
    }
}

static void a_frame_leaves_the_open_stream_alone(void **state) {
  (void)state;
  for (int codec = ASHUF_CODEC_LZ4; codec <= ASHUF_CODEC_ZSTD; codec++) {
    if (!ashuf_codec_available(codec)) continue;
    struct ashuf_buffer out = encoded(codec, LARGE);
    struct ashuf_buffer frame = encoded(codec, SMALL);
    uint8_t *bytes = codec_sample(LARGE, 21);
    uint8_t small[SMALL];
    size_t got = 0;
    assert_int_equal(decoder_open(decoder, codec, out.data, out.size, LARGE, NULL), ASHUF_OK);
    assert_int_equal(decoder_read(decoder, scratch, 1000, &got, NULL), ASHUF_OK);
    assert_int_equal(decoder_frame(decoder, codec, frame.data, frame.size, small, SMALL, NULL), 0);
    assert_int_equal(decoder_read(decoder, scratch + 1000, LARGE - 1000, &got, NULL), ASHUF_OK);
    assert_int_equal(decoder_close(decoder, NULL), ASHUF_OK);
    assert_memory_equal(scratch, bytes, LARGE);
    ashuf_buffer_free(&out);
    ashuf_buffer_free(&frame);
    free(bytes);
  }
}

static void borrowing_is_for_none_alone(void **state) {
  (void)state;
  static const uint8_t bytes[8] = "abcdefgh";
  size_t got = 0;
  uint8_t out[8];
  assert_int_equal(decoder_open(decoder, ASHUF_CODEC_NONE, bytes, 8, 100, NULL), ASHUF_OK);
  assert_ptr_equal(decoder_borrow(decoder, 3), bytes);
  assert_null(decoder_borrow(decoder, 6));
  assert_int_equal(decoder_position(decoder), 3);
  assert_int_equal(decoder_read(decoder, out, 2, &got, NULL), ASHUF_OK);
  assert_ptr_equal(decoder_borrow(decoder, 3), bytes + 5);
  assert_int_equal(decoder_close(decoder, NULL), ASHUF_OK);
  assert_int_equal(decoder_open(decoder, ASHUF_CODEC_NONE, bytes, 8, 4, NULL), ASHUF_OK);
  assert_null(decoder_borrow(decoder, 5));
  assert_ptr_equal(decoder_borrow(decoder, 4), bytes);
  assert_int_equal(decoder_close(decoder, NULL), ASHUF_TRAILING_DATA);
  if (!ashuf_codec_available(ASHUF_CODEC_LZ4)) return;
  struct ashuf_buffer frame = encoded(ASHUF_CODEC_LZ4, SMALL);
  assert_int_equal(decoder_open(decoder, ASHUF_CODEC_LZ4, frame.data, frame.size, 900, NULL), 0);
  assert_null(decoder_borrow(decoder, 1));
  ashuf_buffer_free(&frame);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_truncation_is_an_error),
      cmocka_unit_test(a_large_stream_without_its_last_byte_is_truncated),
      cmocka_unit_test(bytes_after_the_end_are_an_error),
      cmocka_unit_test(data_that_was_not_read_is_trailing),
      cmocka_unit_test(one_byte_over_the_limit_is_refused),
      cmocka_unit_test(the_bound_covers_what_is_to_come),
      cmocka_unit_test(flipped_bits_never_do_harm),
      cmocka_unit_test(odd_lz4_frames),
      cmocka_unit_test(odd_zstd_frames),
      cmocka_unit_test(zstd_blocks_larger_than_the_window_are_refused),
      cmocka_unit_test(odd_snappy_streams),
      cmocka_unit_test(unknown_codecs_are_refused),
      cmocka_unit_test(a_frame_gives_exactly_its_size),
      cmocka_unit_test(a_frame_leaves_the_open_stream_alone),
      cmocka_unit_test(borrowing_is_for_none_alone),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

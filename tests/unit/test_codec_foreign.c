/* Frames that other writers make, and what a frame may make the decoder allocate. */
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

#ifndef ASHUF_WITH_LZ4
#define ASHUF_WITH_LZ4 1
#endif
#ifndef ASHUF_WITH_ZSTD
#define ASHUF_WITH_ZSTD 1
#endif

#if ASHUF_WITH_LZ4 || ASHUF_WITH_ZSTD

static struct ashuf_memory_stats stats_of(const ashuf_memory *memory) {
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &stats);
  return stats;
}

struct reading {
  ashuf_status status;
  size_t got;
  uint64_t peak; /* bytes of the domain, the codec library's own included */
};

/* Decodes with a fresh decoder in a domain of its own, in reads of piece bytes. */
static struct reading read_fresh(int codec, const uint8_t *frame, size_t size, uint8_t *out,
                                 size_t max, size_t piece) {
  struct reading reading = {0};
  struct ashuf_error error = {0};
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  struct decoder *d = decoder_new(memory);
  reading.status = codec_decode(d, codec, frame, size, out, max, piece, &reading.got, &error);
  reading.peak = stats_of(memory).peak;
  decoder_free(d);
  assert_int_equal(stats_of(memory).now, 0);
  ashuf_memory_free(memory);
  return reading;
}

static void expect_bytes(int codec, const uint8_t *frame, size_t size, const uint8_t *bytes,
                         size_t bytes_size) {
  static const size_t pieces[] = {1000, 65536, 100000, SIZE_MAX};
  uint8_t *back = malloc(bytes_size + 1);
  for (size_t i = 0; i < 4; i++) {
    struct reading reading = read_fresh(codec, frame, size, back, bytes_size + 1, pieces[i]);
    assert_int_equal(reading.status, ASHUF_OK);
    assert_int_equal(reading.got, bytes_size);
    assert_memory_equal(back, bytes, bytes_size);
  }
  free(back);
}

#endif

#if ASHUF_WITH_LZ4

#include <lz4frame.h>

static uint8_t *lz4_frame(const LZ4F_preferences_t *preferences, const uint8_t *bytes, size_t size,
                          size_t *frame_size) {
  size_t room = LZ4F_compressFrameBound(size, preferences);
  uint8_t *frame = malloc(room);
  *frame_size = LZ4F_compressFrame(frame, room, bytes, size, preferences);
  assert_false(LZ4F_isError(*frame_size));
  return frame;
}

static void every_kind_of_lz4_frame_is_read(void **state) {
  (void)state;
  static const LZ4F_blockSizeID_t block_sizes[] = {LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB,
                                                   LZ4F_max4MB};
  uint8_t *bytes = codec_sample(700000, 8);
  for (unsigned kind = 0; kind < 64; kind++) {
    LZ4F_preferences_t preferences;
    size_t size = kind & 32 ? 700000 : 70;
    size_t frame_size = 0;
    memset(&preferences, 0, sizeof preferences);
    preferences.frameInfo.blockSizeID = block_sizes[(kind / 7) & 3];
    preferences.frameInfo.blockMode = kind & 1 ? LZ4F_blockLinked : LZ4F_blockIndependent;
    preferences.frameInfo.contentChecksumFlag =
        kind & 2 ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
    preferences.frameInfo.blockChecksumFlag =
        kind & 4 ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
    preferences.frameInfo.contentSize = kind & 8 ? size : 0;
    preferences.compressionLevel = kind & 16 ? 9 : 0;
    uint8_t *frame = lz4_frame(&preferences, bytes, size, &frame_size);
    expect_bytes(ASHUF_CODEC_LZ4, frame, frame_size, bytes, size);
    free(frame);
  }
  free(bytes);
}

/* Small linked blocks, each pointing far back over several others. */
static void linked_lz4_blocks_reach_back_64_kib(void **state) {
  (void)state;
  LZ4F_preferences_t preferences;
  memset(&preferences, 0, sizeof preferences);
  preferences.autoFlush = 1;
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  LZ4F_cctx *context = NULL;
  uint8_t *unit = codec_sample(60000, 3);
  uint8_t *bytes = malloc(600000);
  uint8_t *frame = malloc(1200000);
  for (size_t i = 0; i < 10; i++) memcpy(bytes + i * 60000, unit, 60000);
  assert_false(LZ4F_isError(LZ4F_createCompressionContext(&context, LZ4F_VERSION)));
  size_t at = LZ4F_compressBegin(context, frame, 1200000, &preferences);
  for (size_t done = 0; done < 600000; done += 1500)
    at += LZ4F_compressUpdate(context, frame + at, 1200000 - at, bytes + done, 1500, NULL);
  at += LZ4F_compressEnd(context, frame + at, 1200000 - at, NULL);
  assert_true(at < 600000 / 2);
  expect_bytes(ASHUF_CODEC_LZ4, frame, at, bytes, 600000);
  (void)LZ4F_freeCompressionContext(context);
  free(unit);
  free(bytes);
  free(frame);
}

static struct ashuf_buffer written(int codec, int level, const uint8_t *bytes, size_t size) {
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct encoder *e = encoder_new(NULL);
  assert_int_equal(encoder_open(e, codec, 1, level, &out, NULL, NULL), ASHUF_OK);
  encoder_write(e, bytes, size);
  assert_int_equal(encoder_close(e, NULL), ASHUF_OK);
  encoder_free(e);
  return out;
}

static void the_lz4_frame_library_reads_our_frames(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 900, 65536, 300000};
  uint8_t *bytes = codec_sample(300000, 8);
  uint8_t *back = malloc(300001);
  for (size_t i = 0; i < 10; i++) {
    LZ4F_dctx *context = NULL;
    struct ashuf_buffer out = written(ASHUF_CODEC_LZ4, i < 5 ? 0 : 9, bytes, sizes[i % 5]);
    size_t in = out.size;
    size_t got = 300001;
    assert_false(LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)));
    assert_int_equal(LZ4F_decompress(context, back, &got, out.data, &in, NULL), 0);
    assert_int_equal(in, out.size);
    assert_int_equal(got, sizes[i % 5]);
    assert_memory_equal(back, bytes, got);
    (void)LZ4F_freeDecompressionContext(context);
    ashuf_buffer_free(&out);
  }
  free(bytes);
  free(back);
}

static void wrong_lz4_checksums_and_sizes_are_errors(void **state) {
  (void)state;
  LZ4F_preferences_t preferences;
  size_t size = 0;
  uint8_t back[2000];
  uint8_t *bytes = codec_sample(1000, 8);
  memset(&preferences, 0, sizeof preferences);
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  preferences.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled;
  uint8_t *frame = lz4_frame(&preferences, bytes, 1000, &size);
  for (size_t back_by = 1; back_by <= 12; back_by++) {
    frame[size - back_by] ^= 0x10;
    struct reading reading = read_fresh(ASHUF_CODEC_LZ4, frame, size, back, 2000, 2000);
    assert_int_equal(reading.status, ASHUF_BAD_COMPRESSION);
    frame[size - back_by] ^= 0x10;
    if (back_by == 4) back_by = 8; /* over the end mark */
  }
  free(frame);
  memset(&preferences, 0, sizeof preferences);
  preferences.frameInfo.contentSize = 1000;
  frame = lz4_frame(&preferences, bytes, 1000, &size);
  for (int change = -1; change <= 1; change += 2) {
    store_u64(frame + 6, (uint64_t)(1000 + change));
    frame[14] = (uint8_t)(xxh32_of(frame + 4, 10) >> 8);
    assert_int_equal(read_fresh(ASHUF_CODEC_LZ4, frame, size, back, 2000, 2000).status,
                     ASHUF_BAD_COMPRESSION);
  }
  free(frame);
  free(bytes);
}

static void a_4_mib_lz4_block_size_allocates_by_what_is_there(void **state) {
  (void)state;
  static const char ten[] = "0123456789";
  LZ4F_preferences_t preferences;
  size_t size = 0;
  uint8_t back[100];
  memset(&preferences, 0, sizeof preferences);
  preferences.frameInfo.blockSizeID = LZ4F_max4MB;
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  uint8_t *frame = lz4_frame(&preferences, (const uint8_t *)ten, 10, &size);
  frame[5] = 0x70; /* LZ4F lowers it to 64 KiB */
  frame[6] = (uint8_t)(xxh32_of(frame + 4, 2) >> 8);
  struct reading reading = read_fresh(ASHUF_CODEC_LZ4, frame, size, back, 100, 5);
  assert_int_equal(reading.status, ASHUF_OK);
  assert_int_equal(reading.got, 10);
  assert_true(reading.peak < 100000);
  free(frame);
}

#endif

#if ASHUF_WITH_ZSTD

#include <zstd.h>

/* One frame, streamed without a known size unless sized. */
static uint8_t *zstd_frame(int level, int window_log, bool checksum, bool sized,
                           const uint8_t *bytes, size_t size, size_t *frame_size) {
  size_t room = ZSTD_compressBound(size);
  uint8_t *frame = malloc(room);
  ZSTD_CCtx *context = ZSTD_createCCtx();
  ZSTD_inBuffer in = {bytes, size, 0};
  ZSTD_outBuffer out = {frame, room, 0};
  (void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  (void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum);
  if (window_log != 0) (void)ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  if (sized) (void)ZSTD_CCtx_setPledgedSrcSize(context, size);
  if (!sized) assert_false(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
  assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
  (void)ZSTD_freeCCtx(context);
  *frame_size = out.pos;
  return frame;
}

static void every_kind_of_zstd_frame_is_read(void **state) {
  (void)state;
  static const int levels[] = {-5, 1, 3, 19, 22};
  static const size_t sizes[] = {0, 1, 300, 100000, 300000, 1500000};
  uint8_t *bytes = codec_sample(1500000, 8);
  for (size_t l = 0; l < 5; l++)
    for (size_t s = 0; s < 6; s++)
      for (int sized = 0; sized < 2; sized++) {
        size_t frame_size = 0;
        if (levels[l] > 3 && s != 2 && s != 4) continue;
        uint8_t *frame = zstd_frame(levels[l], 0, s & 1, sized != 0, bytes, sizes[s], &frame_size);
        expect_bytes(ASHUF_CODEC_ZSTD, frame, frame_size, bytes, sizes[s]);
        free(frame);
      }
  free(bytes);
}

/* Larger than the largest window that is granted unasked, with windows below and above it. */
static void large_windows_are_read_where_the_data_fills_them(void **state) {
  (void)state;
  static const struct {
    int window_log;
    bool sized;
  } cases[] = {{23, false}, {24, false}, {27, false}, {27, true}};
  size_t size = 20u << 20;
  uint8_t *bytes = malloc(size);
  uint8_t *noise = malloc(1u << 20);
  uint8_t *back = malloc(size + 1);
  uint32_t random = 1;
  for (size_t i = 0; i < 1u << 20; i++) noise[i] = (uint8_t)codec_random(&random, 256);
  for (size_t i = 0; i < 20; i++) {
    memcpy(bytes + (i << 20), noise, 1u << 20);
    bytes[i << 20] = (uint8_t)i;
  }
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    size_t frame_size = 0;
    uint8_t *frame =
        zstd_frame(1, cases[c].window_log, false, cases[c].sized, bytes, size, &frame_size);
    struct reading reading =
        read_fresh(ASHUF_CODEC_ZSTD, frame, frame_size, back, size + 1, 1000000);
    assert_int_equal(reading.status, ASHUF_OK);
    assert_int_equal(reading.got, size);
    assert_memory_equal(back, bytes, size);
    assert_true(reading.peak < (34u << 20));
    free(frame);
  }
  free(bytes);
  free(noise);
  free(back);
}

static void a_128_mib_zstd_window_allocates_by_what_is_there(void **state) {
  (void)state;
  /* Window log 27, then 41: a raw block of 10 bytes, an RLE block of 100. */
  uint8_t frame[] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x88, 0x50, 0,    0,    '0', '1', '2',
                     '3',  '4',  '5',  '6',  '7',  '8',  '9',  0x23, 0x03, 0,   'x'};
  uint8_t back[200];
  for (int i = 0; i < 2; i++) {
    struct reading reading =
        read_fresh(ASHUF_CODEC_ZSTD, frame, sizeof frame, back, sizeof back, 50);
    if (reading.status == ASHUF_OK) {
      assert_int_equal(reading.got, 110);
      assert_memory_equal(back, "0123456789xxx", 13);
    }
    assert_true(reading.status == ASHUF_OK || reading.status == ASHUF_BAD_COMPRESSION ||
                reading.status == ASHUF_SIZE_LIMIT);
    assert_true(reading.peak < 400000);
    if (i == 0) assert_int_equal(reading.status, ASHUF_OK);
    frame[5] = 0xF8;
  }
}

/* Twenty RLE blocks of 128 KiB in a frame with a window of 128 MiB: 90 bytes. */
static void a_frame_of_runs_allocates_by_its_blocks_and_the_limit(void **state) {
  (void)state;
  uint8_t frame[6 + 20 * 4] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x88};
  for (size_t i = 0; i < 20; i++) {
    uint32_t word = (131072u << 3) | 2u | (i == 19);
    memcpy(frame + 6 + 4 * i, &word, 3);
    frame[9 + 4 * i] = 'r';
  }
  uint8_t *back = malloc(20 * 131072 + 1);
  struct reading reading =
      read_fresh(ASHUF_CODEC_ZSTD, frame, sizeof frame, back, 20 * 131072 + 1, 9999);
  assert_int_equal(reading.status, ASHUF_OK);
  assert_int_equal(reading.got, 20 * 131072);
  assert_true(reading.peak < 5u << 20);
  reading = read_fresh(ASHUF_CODEC_ZSTD, frame, sizeof frame, back, 300000, 9999);
  assert_int_equal(reading.status, ASHUF_SIZE_LIMIT);
  assert_true(reading.peak < 1u << 20);
  free(back);
}

static void a_limit_refuses_the_window_before_it_is_allocated(void **state) {
  (void)state;
  size_t size = 0;
  uint8_t *bytes = codec_sample(3000000, 4);
  uint8_t *frame = zstd_frame(1, 22, false, false, bytes, 3000000, &size);
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  struct ashuf_error error = {0};
  ashuf_memory *memory = NULL;
  options.limit = 2u << 20;
  assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
  struct decoder *d = decoder_new(memory);
  assert_int_equal(decoder_open(d, ASHUF_CODEC_ZSTD, frame, size, 4000000, &error),
                   ASHUF_MEMORY_LIMIT);
  decoder_free(d);
  assert_int_equal(stats_of(memory).now, 0);
  ashuf_memory_free(memory);
  free(bytes);
  free(frame);
}

#endif

static void nothing_foreign(void **state) { (void)state; }

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_foreign),
#if ASHUF_WITH_LZ4
    cmocka_unit_test(every_kind_of_lz4_frame_is_read),
    cmocka_unit_test(linked_lz4_blocks_reach_back_64_kib),
    cmocka_unit_test(the_lz4_frame_library_reads_our_frames),
    cmocka_unit_test(wrong_lz4_checksums_and_sizes_are_errors),
    cmocka_unit_test(a_4_mib_lz4_block_size_allocates_by_what_is_there),
#endif
#if ASHUF_WITH_ZSTD
    cmocka_unit_test(every_kind_of_zstd_frame_is_read),
    cmocka_unit_test(large_windows_are_read_where_the_data_fills_them),
    cmocka_unit_test(a_128_mib_zstd_window_allocates_by_what_is_there),
    cmocka_unit_test(a_frame_of_runs_allocates_by_its_blocks_and_the_limit),
    cmocka_unit_test(a_limit_refuses_the_window_before_it_is_allocated),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

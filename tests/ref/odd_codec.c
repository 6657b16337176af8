#include "ref/odd_int.h"
#include "ref/ref_int.h"

#include <lz4.h>
#include <lz4frame.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <zstd.h>

/* Every codec, cut where no writer of ours cuts. Only the checksums are the reference decoder's. */

static size_t piece(struct test_random *random, size_t left, size_t most) {
  size_t size = odd_chance(random, 2) ? most : 1 + (size_t)random_below(random, (int64_t)most);
  return size < left ? size : left;
}

/* ---- LZ4 --------------------------------------------------------------------------------- */

static void put_u32(struct odd_bytes *out, uint32_t value) { odd_put(out, &value, 4); }

/* By liblz4: linked blocks, checksums, content size, short blocks. */
static void lz4_library(struct test_random *random, const uint8_t *data, size_t size,
                        struct odd_bytes *out) {
  LZ4F_preferences_t how = {0};
  how.frameInfo.blockMode = odd_chance(random, 2) ? LZ4F_blockLinked : LZ4F_blockIndependent;
  how.frameInfo.blockChecksumFlag = odd_chance(random, 2) ? LZ4F_blockChecksumEnabled : 0;
  how.frameInfo.contentChecksumFlag = odd_chance(random, 2) ? LZ4F_contentChecksumEnabled : 0;
  how.frameInfo.contentSize = odd_chance(random, 2) ? size : 0;
  how.frameInfo.blockSizeID = (LZ4F_blockSizeID_t)(4 + random_below(random, 4));
  how.compressionLevel = (int)random_below(random, 4) * 3;
  how.autoFlush = 1;
  LZ4F_cctx *context;
  if (LZ4F_isError(LZ4F_createCompressionContext(&context, LZ4F_VERSION))) abort();
  size_t capacity = LZ4F_compressBound(65536, &how) + 64;
  uint8_t *to = malloc(capacity);
  if (to == NULL) abort();
  odd_put(out, to, LZ4F_compressBegin(context, to, capacity, &how));
  for (size_t at = 0; at < size;) {
    size_t n = piece(random, size - at, 65536);
    odd_put(out, to, LZ4F_compressUpdate(context, to, capacity, data + at, n, NULL));
    at += n;
  }
  odd_put(out, to, LZ4F_compressEnd(context, to, capacity, NULL));
  LZ4F_freeCompressionContext(context);
  free(to);
}

/* By hand: stored and empty blocks between compressed ones. */
static void lz4_by_hand(struct test_random *random, const uint8_t *data, size_t size,
                        struct odd_bytes *out) {
  char to[LZ4_COMPRESSBOUND(4096)];
  put_u32(out, 0x184D2204);
  uint8_t header[] = {0x60, 0x40};
  odd_put(out, header, 2);
  odd_put(out, &(uint8_t){(uint8_t)(ref_xxh32(header, 2) >> 8)}, 1);
  for (size_t at = 0; at < size;) {
    size_t n = piece(random, size - at, 4096);
    if (odd_chance(random, 5)) put_u32(out, 0x80000000);
    if (odd_chance(random, 3)) {
      put_u32(out, 0x80000000 | (uint32_t)n);
      odd_put(out, data + at, n);
    } else {
      int got = LZ4_compress_default((const char *)data + at, to, (int)n, (int)sizeof to);
      if (got <= 0) abort();
      put_u32(out, (uint32_t)got);
      odd_put(out, to, (size_t)got);
    }
    at += n;
  }
  put_u32(out, 0);
}

/* ---- ZSTD -------------------------------------------------------------------------------- */

static void zstd_step(ZSTD_CCtx *context, ZSTD_inBuffer *in, ZSTD_EndDirective end,
                      struct odd_bytes *out) {
  uint8_t to[4096];
  size_t left = 0;
  do {
    ZSTD_outBuffer piece_out = {to, sizeof to, 0};
    left = ZSTD_compressStream2(context, &piece_out, in, end);
    if (ZSTD_isError(left)) abort();
    odd_put(out, to, piece_out.pos);
  } while (left != 0 || in->pos != in->size);
}

static void zstd_frame(struct test_random *random, const uint8_t *data, size_t size,
                       struct odd_bytes *out) {
  ZSTD_CCtx *context = ZSTD_createCCtx();
  if (context == NULL) abort();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, odd_chance(random, 2));
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, (int)random_below(random, 12) - 5);
  if (odd_chance(random, 3))
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 10 + (int)random_below(random, 10));
  if (odd_chance(random, 2)) ZSTD_CCtx_setPledgedSrcSize(context, size);
  for (size_t at = 0; at < size && !odd_chance(random, 4);) {
    size_t n = piece(random, size - at, 20000);
    ZSTD_inBuffer in = {data + at, n, 0};
    zstd_step(context, &in, ZSTD_e_flush, out);
    at += n;
    data += at;
    size -= at;
    at = 0;
  }
  ZSTD_inBuffer in = {data, size, 0};
  zstd_step(context, &in, ZSTD_e_end, out);
  ZSTD_freeCCtx(context);
}

/* ---- Snappy ------------------------------------------------------------------------------ */

static void chunk_header(struct odd_bytes *out, uint8_t type, size_t size) {
  put_u32(out, (uint32_t)size << 8 | type);
}

static void snappy_chunk(bool stored, const uint8_t *data, size_t size, struct odd_bytes *out) {
  size_t got = snappy_max_compressed_length(size);
  char *to = malloc(got);
  if (to == NULL) abort();
  if (stored) {
    got = size;
    memcpy(to, data, size);
  } else if (snappy_compress((const char *)data, size, to, &got) != SNAPPY_OK) {
    abort();
  }
  uint32_t crc = ref_crc32c(data, size);
  chunk_header(out, stored, got + 4);
  put_u32(out, (crc >> 15 | crc << 17) + 0xA282EAD8);
  odd_put(out, to, got);
  free(to);
}

static void snappy_skipped(struct test_random *random, struct odd_bytes *out) {
  size_t size = (size_t)random_below(random, 30);
  int kind = (int)random_below(random, 3);
  if (kind == 0) {
    odd_put(out, "\xff\x06\0\0sNaPpY", 10);
    return;
  }
  chunk_header(out, kind == 1 ? 0xFE : (uint8_t)(0x80 + random_below(random, 0x7E)), size);
  odd_put_random(out, random, size);
}

static void snappy_stream(struct test_random *random, const uint8_t *data, size_t size,
                          struct odd_bytes *out) {
  odd_put(out, "\xff\x06\0\0sNaPpY", 10);
  for (size_t at = 0; at < size;) {
    size_t n = piece(random, size - at, 65536);
    if (odd_chance(random, 4)) snappy_skipped(random, out);
    snappy_chunk(odd_chance(random, 3), data + at, n, out);
    at += n;
  }
  if (odd_chance(random, 4)) snappy_skipped(random, out);
}

void odd_compress_buffer(struct test_random *random, int codec, const struct odd_bytes *buffer,
                         struct odd_bytes *out) {
  if (codec == 1)
    zstd_frame(random, buffer->data, buffer->size, out);
  else if (odd_chance(random, 2))
    lz4_library(random, buffer->data, buffer->size, out);
  else
    lz4_by_hand(random, buffer->data, buffer->size, out);
}

void odd_compress(struct test_random *random, int codec, const struct odd_bytes *stream,
                  struct odd_bytes *out) {
  if (codec == 0)
    odd_put(out, stream->data, stream->size);
  else if (codec == 3)
    snappy_stream(random, stream->data, stream->size, out);
  else
    odd_compress_buffer(random, codec - 1, stream, out);
}

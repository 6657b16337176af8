#include "support_codecs.h"

#include "codec/checksum.h"
#include "support_harness.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if ASHUF_WITH_LZ4
#include <lz4.h>
#include <lz4frame.h>
#endif
#if ASHUF_WITH_SNAPPY
#include <snappy-c.h>
#endif
#if ASHUF_WITH_ZSTD
#include <zstd.h>
#endif

#define STEP ((size_t)65536)

typedef size_t (*raw_work)(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                           size_t room);

struct raw_codec {
  void *reader;
  void *writer;
  raw_work decompress;
  raw_work whole;
  raw_work steps;
  size_t (*bound)(size_t size);
  void (*end)(struct raw_codec *raw);
};

static size_t step_at(size_t at, size_t size) { return size - at < STEP ? size - at : STEP; }

/* ---- LZ4 ----------------------------------------------------------------------------------- */

#if ASHUF_WITH_LZ4

/* The block size of ours; autoFlush, so that a block is compressed where it lies. */
static const LZ4F_preferences_t lz4_preferences = {
    .frameInfo = {.blockSizeID = LZ4F_max64KB, .blockMode = LZ4F_blockIndependent}, .autoFlush = 1};

static size_t lz4_decompress(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                             size_t room) {
  size_t done = 0;
  size_t hint = 1;
  for (size_t at = 0; hint != 0 && at < size;) {
    size_t made = room - done;
    size_t taken = size - at;
    hint = LZ4F_decompress(raw->reader, out + done, &made, in + at, &taken, NULL);
    bench_require(!LZ4F_isError(hint), "LZ4F_decompress failed");
    done += made;
    at += taken;
  }
  return done;
}

static size_t lz4_bound(size_t size) {
  return LZ4F_compressFrameBound(size, &lz4_preferences) + 64;
}

static size_t lz4_compress(struct raw_codec *raw, const uint8_t *in, size_t size, size_t step,
                           uint8_t *out, size_t room) {
  size_t made = LZ4F_compressBegin(raw->writer, out, room, &lz4_preferences);
  for (size_t at = 0; at < size; at += step) {
    size_t n = size - at < step ? size - at : step;
    made += LZ4F_compressUpdate(raw->writer, out + made, room - made, in + at, n, NULL);
  }
  made += LZ4F_compressEnd(raw->writer, out + made, room - made, NULL);
  bench_require(made <= room, "LZ4F_compress failed");
  return made;
}

static size_t lz4_whole(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                        size_t room) {
  return lz4_compress(raw, in, size, size, out, room);
}

static size_t lz4_steps(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                        size_t room) {
  return lz4_compress(raw, in, size, STEP, out, room);
}

static void lz4_end(struct raw_codec *raw) {
  LZ4F_freeDecompressionContext(raw->reader);
  LZ4F_freeCompressionContext(raw->writer);
}

static void lz4_begin(struct raw_codec *raw) {
  LZ4F_dctx *reader = NULL;
  LZ4F_cctx *writer = NULL;
  bench_require(!LZ4F_isError(LZ4F_createDecompressionContext(&reader, LZ4F_VERSION)) &&
                    !LZ4F_isError(LZ4F_createCompressionContext(&writer, LZ4F_VERSION)),
                "no LZ4 context");
  *raw =
      (struct raw_codec){reader, writer, lz4_decompress, lz4_whole, lz4_steps, lz4_bound, lz4_end};
}

#endif

/* ---- ZSTD ---------------------------------------------------------------------------------- */

#if ASHUF_WITH_ZSTD

static size_t zstd_decompress(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                              size_t room) {
  size_t made = ZSTD_decompressDCtx(raw->reader, out, room, in, size);
  bench_require(!ZSTD_isError(made), "ZSTD_decompressDCtx failed");
  return made;
}

static size_t zstd_bound(size_t size) { return ZSTD_compressBound(size) + STEP; }

static size_t zstd_whole(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                         size_t room) {
  size_t made = ZSTD_compress2(raw->writer, out, room, in, size);
  bench_require(!ZSTD_isError(made), "ZSTD_compress2 failed");
  return made;
}

static size_t zstd_steps(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                         size_t room) {
  ZSTD_outBuffer to = {out, room, 0};
  size_t at = 0;
  do {
    ZSTD_inBuffer from = {in + at, step_at(at, size), 0};
    at += from.size;
    size_t more =
        ZSTD_compressStream2(raw->writer, &to, &from, at == size ? ZSTD_e_end : ZSTD_e_continue);
    bench_require(!ZSTD_isError(more) && from.pos == from.size && (at < size || more == 0),
                  "ZSTD_compressStream2 failed");
  } while (at < size);
  return to.pos;
}

static void zstd_end(struct raw_codec *raw) {
  ZSTD_freeDCtx(raw->reader);
  ZSTD_freeCCtx(raw->writer);
}

static void zstd_begin(struct raw_codec *raw) {
  *raw = (struct raw_codec){ZSTD_createDCtx(), ZSTD_createCCtx(), zstd_decompress, zstd_whole,
                            zstd_steps,        zstd_bound,        zstd_end};
  bench_require(raw->reader != NULL && raw->writer != NULL, "no ZSTD context");
  (void)ZSTD_CCtx_setParameter(raw->writer, ZSTD_c_compressionLevel, 1);
}

#endif

/* ---- Snappy -------------------------------------------------------------------------------- */

#if ASHUF_WITH_SNAPPY

static uint32_t masked_crc(const uint8_t *bytes, size_t size) {
  uint32_t crc = crc32c_update(0, bytes, size);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

static size_t snappy_chunk(const uint8_t *in, size_t size, uint8_t *out, size_t room) {
  size_t made = room;
  if (in[0] == 1)
    memcpy(out, in + 8, made = size - 8);
  else
    bench_require(
        snappy_uncompress((const char *)in + 8, size - 8, (char *)out, &made) == SNAPPY_OK,
        "snappy_uncompress failed");
  uint32_t crc;
  memcpy(&crc, in + 4, sizeof crc);
  bench_require(crc == masked_crc(out, made), "a Snappy chunk's checksum is wrong");
  return made;
}

static size_t snappy_decompress(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                                size_t room) {
  (void)raw;
  size_t done = 0;
  for (size_t at = 10; at < size;) {
    size_t n = 4 + ((size_t)in[at + 1] | (size_t)in[at + 2] << 8 | (size_t)in[at + 3] << 16);
    done += snappy_chunk(in + at, n, out + done, room - done);
    at += n;
  }
  return done;
}

static size_t snappy_bound(size_t size) { return 64 + size + size / 4 + (size / STEP + 1) * 64; }

static size_t snappy_steps(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                           size_t room) {
  (void)raw;
  memcpy(out, "\xff\x06\x00\x00sNaPpY", 10);
  size_t done = 10;
  for (size_t at = 0; at < size; at += STEP) {
    size_t n = step_at(at, size);
    size_t made = room - done - 8;
    bench_require(
        snappy_compress((const char *)in + at, n, (char *)out + done + 8, &made) == SNAPPY_OK,
        "snappy_compress failed");
    uint32_t head[2] = {(uint32_t)(made + 4) << 8, masked_crc(in + at, n)};
    memcpy(out + done, head, sizeof head);
    done += 8 + made;
  }
  return done;
}

static void snappy_end(struct raw_codec *raw) { (void)raw; }

static void snappy_begin(struct raw_codec *raw) {
  *raw = (struct raw_codec){NULL,         NULL,         snappy_decompress, snappy_steps,
                            snappy_steps, snappy_bound, snappy_end};
}

#endif

/* ---- All of them --------------------------------------------------------------------------- */

struct raw_codec *raw_codec_new(int codec) {
  struct raw_codec *raw = calloc(1, sizeof *raw);
  bench_require(raw != NULL, "out of memory");
#if ASHUF_WITH_LZ4
  if (codec == ASHUF_CODEC_LZ4) lz4_begin(raw);
#endif
#if ASHUF_WITH_ZSTD
  if (codec == ASHUF_CODEC_ZSTD) zstd_begin(raw);
#endif
#if ASHUF_WITH_SNAPPY
  if (codec == ASHUF_CODEC_SNAPPY) snappy_begin(raw);
#endif
  bench_require(raw->end != NULL, "this build lacks the codec");
  return raw;
}

void raw_codec_free(struct raw_codec *raw) {
  if (raw == NULL) return;
  raw->end(raw);
  free(raw);
}

size_t raw_decompress(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                      size_t room) {
  return raw->decompress(raw, in, size, out, room);
}

size_t raw_bound(const struct raw_codec *raw, size_t size) { return raw->bound(size); }

size_t raw_compress_whole(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                          size_t room) {
  return raw->whole(raw, in, size, out, room);
}

size_t raw_compress_steps(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                          size_t room) {
  return raw->steps(raw, in, size, out, room);
}

#if ASHUF_WITH_SNAPPY
/* libsnappy does not tell its version to C; its file's name does. */
static void snappy_version(char *out, size_t size) {
  Dl_info info;
  char path[4096];
  out[0] = '\0';
  if (dladdr((void *)(uintptr_t)snappy_compress, &info) == 0 || info.dli_fname == NULL ||
      realpath(info.dli_fname, path) == NULL)
    return;
  const char *version = strstr(path, ".so.");
  snprintf(out, size, ", snappy %.20s", version != NULL ? version + 4 : "of a static library");
}
#endif

const char *raw_versions(void) {
  static char text[128];
  char snappy[64] = "";
  const char *lz4 = "none";
  const char *zstd = "none";
#if ASHUF_WITH_LZ4
  lz4 = LZ4_versionString();
#endif
#if ASHUF_WITH_ZSTD
  zstd = ZSTD_versionString();
#endif
#if ASHUF_WITH_SNAPPY
  snappy_version(snappy, sizeof snappy);
#endif
  snprintf(text, sizeof text, "lz4 %s, zstd %s%s", lz4, zstd, snappy);
  return text;
}

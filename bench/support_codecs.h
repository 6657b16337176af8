/*
 * The codec libraries called as directly as their interfaces allow, with contexts that are kept:
 * what the library's own times are held against. Frames are those of a block's payload.
 */
#ifndef BENCH_SUPPORT_CODECS_H
#define BENCH_SUPPORT_CODECS_H

#include <ashuf/block.h>

struct raw_codec; /* of one codec; not for NONE */

struct raw_codec *raw_codec_new(int codec);
void raw_codec_free(struct raw_codec *raw);

/* A whole payload; returns the decoded size. */
size_t raw_decompress(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                      size_t room);
/* What raw_compress_* may need for size bytes. */
size_t raw_bound(const struct raw_codec *raw, size_t size);
/* In one call (Snappy: chunks of 64 KiB, its format has no larger ones); lz4 level 0, zstd 1. */
size_t raw_compress_whole(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                          size_t room);
/* Fed in steps of 64 KiB, size not told. */
size_t raw_compress_steps(struct raw_codec *raw, const uint8_t *in, size_t size, uint8_t *out,
                          size_t room);

/* "lz4 1.9.4, zstd 1.5.4, snappy"; static storage. */
const char *raw_versions(void);

#endif /* BENCH_SUPPORT_CODECS_H */

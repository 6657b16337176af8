/*
 * The two checksums of the codec frames: CRC-32C (Snappy chunks) by ISA-L, or by tables where
 * the build has no ISA-L, and XXH32 (LZ4 frames).
 */
#ifndef ASHUF_CODEC_CHECKSUM_H
#define ASHUF_CODEC_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The CRC-32C of bytes that follow bytes whose CRC-32C is crc; 0 to begin. */
uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t size);

/* XXH32 with seed 0 over bytes that come in pieces. */
struct xxh32 {
  uint32_t lane[4];
  uint64_t total;
  uint8_t tail[16]; /* total % 16 bytes that fill no stripe yet */
};

void xxh32_begin(struct xxh32 *x);
void xxh32_update(struct xxh32 *x, const void *bytes, size_t size);
uint32_t xxh32_end(const struct xxh32 *x);
uint32_t xxh32_of(const void *bytes, size_t size);

#endif /* ASHUF_CODEC_CHECKSUM_H */

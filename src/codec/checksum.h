/*
 * Checksums: those of shuffle files (ADLER32, CRC-32, CRC-32C) and of Snappy chunks (CRC-32C) by
 * ISA-L, or by tables where the build has no ISA-L; XXH32 of LZ4 frames.
 */
#ifndef ASHUF_CODEC_CHECKSUM_H
#define ASHUF_CODEC_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Numbered as enum ashuf_checksum. */
enum checksum_kind { CHECKSUM_NONE, CHECKSUM_ADLER32, CHECKSUM_CRC32, CHECKSUM_CRC32C };

/* "ADLER32", "CRC32", "CRC32C", as file names have it; NULL for anything else. */
const char *checksum_name(int kind);
/* The checksum of no bytes. kind is not NONE. */
uint32_t checksum_begin(int kind);
/* The checksum of bytes that follow bytes whose checksum is value. */
uint32_t checksum_update(int kind, uint32_t value, const void *bytes, size_t size);

uint32_t adler32_update(uint32_t adler, const void *bytes, size_t size); /* 1 to begin */
uint32_t crc32_update(uint32_t crc, const void *bytes, size_t size);     /* 0 to begin */
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

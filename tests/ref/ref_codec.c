#include "ref/ref_int.h"

#include <lz4.h>
#include <snappy-c.h>
#include <zstd.h>
#include <zstd_errors.h>

struct output {
  uint8_t *data;
  size_t size;
  size_t capacity;
};

static uint8_t *room(struct ref *ref, struct output *out, size_t more) {
  if (out->capacity - out->size < more) {
    size_t capacity = out->capacity * 2 + more;
    uint8_t *data = ref_alloc(ref, capacity, 1);
    if (out->size != 0) memcpy(data, out->data, out->size);
    out->data = data;
    out->capacity = capacity;
  }
  return out->data + out->size;
}

static void append(struct ref *ref, struct output *out, struct span bytes) {
  uint8_t *to = room(ref, out, bytes.size);
  if (bytes.size != 0) memcpy(to, bytes.data, bytes.size);
  out->size += bytes.size;
}

/* The next n bytes of in. */
static struct span take(struct ref *ref, struct span *in, size_t n) {
  struct span piece = ref_cut(ref, *in, 0, n, "compressed data is cut");
  in->data += n;
  in->size -= n;
  return piece;
}

static uint32_t take_u32(struct ref *ref, struct span *in) {
  return (uint32_t)ref_load(take(ref, in, 4).data, 4);
}

/* ---- Checksums --------------------------------------------------------------------------- */

uint32_t ref_crc32c(const uint8_t *data, size_t size) {
  uint32_t crc = 0xFFFFFFFF;
  for (size_t i = 0; i < size; i++) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78 : 0);
  }
  return ~crc;
}

static uint32_t rotl(uint32_t value, int by) { return value << by | value >> (32 - by); }

#define P1 2654435761U
#define P2 2246822519U
#define P3 3266489917U
#define P4 668265263U
#define P5 374761393U

/* XXH32 with seed 0. */
uint32_t ref_xxh32(const uint8_t *data, size_t size) {
  uint32_t lanes[4] = {P1 + P2, P2, 0, 0U - P1};
  size_t i = 0;
  for (; size - i >= 16; i += 16)
    for (size_t lane = 0; lane < 4; lane++)
      lanes[lane] = rotl(lanes[lane] + (uint32_t)ref_load(data + i + 4 * lane, 4) * P2, 13) * P1;
  uint32_t hash =
      size < 16 ? P5
                : rotl(lanes[0], 1) + rotl(lanes[1], 7) + rotl(lanes[2], 12) + rotl(lanes[3], 18);
  hash += (uint32_t)size;
  for (; size - i >= 4; i += 4) hash = rotl(hash + (uint32_t)ref_load(data + i, 4) * P3, 17) * P4;
  for (; i < size; i++) hash = rotl(hash + data[i] * P5, 11) * P1;
  hash = (hash ^ hash >> 15) * P2;
  hash = (hash ^ hash >> 13) * P3;
  return hash ^ hash >> 16;
}

/* ---- LZ4 --------------------------------------------------------------------------------- */

struct lz4_header {
  uint8_t flags;
  size_t block_max;
  uint64_t content_size;
};

#define LZ4_LINKED(flags) (((flags)&0x20) == 0)
#define LZ4_BLOCK_CHECKSUM 0x10
#define LZ4_CONTENT_SIZE 0x08
#define LZ4_CONTENT_CHECKSUM 0x04

static struct lz4_header lz4_read_header(struct ref *ref, struct span *in) {
  if (take_u32(ref, in) != 0x184D2204) ref_refuse(ref, "no LZ4 frame");
  struct span start = *in;
  struct span flags = take(ref, in, 2);
  struct lz4_header header = {.flags = flags.data[0]};
  if (header.flags >> 6 != 1 || (header.flags & 3) != 0) ref_refuse(ref, "LZ4 flags");
  unsigned code = flags.data[1] >> 4;
  if ((flags.data[1] & 0x8F) != 0 || code < 4) ref_refuse(ref, "LZ4 block size");
  header.block_max = (size_t)1 << (8 + 2 * code);
  if ((header.flags & LZ4_CONTENT_SIZE) != 0)
    header.content_size = ref_load(take(ref, in, 8).data, 8);
  uint8_t check = (uint8_t)(ref_xxh32(start.data, start.size - in->size) >> 8);
  if (take(ref, in, 1).data[0] != check) ref_refuse(ref, "LZ4 header checksum");
  return header;
}

static void lz4_block(struct ref *ref, const struct lz4_header *header, struct span block,
                      bool stored, struct output *out) {
  if (block.size > header->block_max) ref_refuse(ref, "LZ4 block too long");
  if (stored) {
    append(ref, out, block);
    return;
  }
  char *to = (char *)room(ref, out, header->block_max);
  size_t history = !LZ4_LINKED(header->flags) ? 0 : out->size < 65536 ? out->size : 65536;
  int got = LZ4_decompress_safe_usingDict((const char *)block.data, to, (int)block.size,
                                          (int)header->block_max, to - history, (int)history);
  if (got < 0) ref_refuse(ref, "LZ4 block");
  out->size += (size_t)got;
}

static struct span lz4_frame(struct ref *ref, struct span in) {
  struct lz4_header header = lz4_read_header(ref, &in);
  struct output out = {0};
  for (;;) {
    uint32_t word = take_u32(ref, &in);
    if (word == 0) break;
    struct span block = take(ref, &in, word & 0x7FFFFFFF);
    if ((header.flags & LZ4_BLOCK_CHECKSUM) != 0 &&
        take_u32(ref, &in) != ref_xxh32(block.data, block.size))
      ref_refuse(ref, "LZ4 block checksum");
    lz4_block(ref, &header, block, word >> 31 != 0, &out);
  }
  if ((header.flags & LZ4_CONTENT_CHECKSUM) != 0 &&
      take_u32(ref, &in) != ref_xxh32(out.data, out.size))
    ref_refuse(ref, "LZ4 content checksum");
  if ((header.flags & LZ4_CONTENT_SIZE) != 0 && header.content_size != out.size)
    ref_refuse(ref, "LZ4 content size");
  if (in.size != 0) ref_refuse(ref, "bytes after the LZ4 frame");
  return (struct span){out.data, out.size};
}

/* ---- ZSTD -------------------------------------------------------------------------------- */

static struct span zstd_frame(struct ref *ref, struct span in) {
  if (in.size < 4 || ref_load(in.data, 4) != ZSTD_MAGICNUMBER) ref_refuse(ref, "no ZSTD frame");
  if (ZSTD_findFrameCompressedSize(in.data, in.size) != in.size)
    ref_refuse(ref, "not exactly one ZSTD frame");
  for (size_t capacity = in.size * 8 + 4096;; capacity *= 4) {
    uint8_t *out = ref_alloc(ref, capacity, 1);
    size_t got = ZSTD_decompress(out, capacity, in.data, in.size);
    if (!ZSTD_isError(got)) return (struct span){out, got};
    if (ZSTD_getErrorCode(got) != ZSTD_error_dstSize_tooSmall) ref_refuse(ref, "ZSTD frame");
  }
}

/* ---- Snappy ------------------------------------------------------------------------------ */

#define SNAPPY_CHUNK 65536

static void snappy_data(struct ref *ref, bool compressed, struct span data, struct output *out) {
  uint32_t expected = take_u32(ref, &data);
  size_t size = data.size;
  if (compressed &&
      snappy_uncompressed_length((const char *)data.data, data.size, &size) != SNAPPY_OK)
    ref_refuse(ref, "Snappy length");
  if (size > SNAPPY_CHUNK) ref_refuse(ref, "Snappy chunk too long");
  uint8_t *to = room(ref, out, size);
  if (!compressed) {
    if (size != 0) memcpy(to, data.data, size);
  } else if (snappy_uncompress((const char *)data.data, data.size, (char *)to, &size) !=
             SNAPPY_OK) {
    ref_refuse(ref, "Snappy chunk");
  }
  uint32_t crc = ref_crc32c(to, size);
  if ((crc >> 15 | crc << 17) + 0xA282EAD8 != expected) ref_refuse(ref, "Snappy checksum");
  out->size += size;
}

static struct span snappy_stream(struct ref *ref, struct span in) {
  struct output out = {0};
  for (bool first = true; first || in.size != 0; first = false) {
    uint32_t word = take_u32(ref, &in);
    uint8_t type = (uint8_t)word;
    struct span data = take(ref, &in, word >> 8);
    if (type == 0xFF) {
      if (data.size != 6 || memcmp(data.data, "sNaPpY", 6) != 0)
        ref_refuse(ref, "Snappy identifier");
    } else if (first) {
      ref_refuse(ref, "no Snappy identifier");
    } else if (type < 2) {
      snappy_data(ref, type == 0, data, &out);
    } else if (type < 0x80) {
      ref_refuse(ref, "Snappy chunk type");
    }
  }
  return (struct span){out.data, out.size};
}

struct span ref_frame(struct ref *ref, int codec, struct span frame) {
  return codec == 0 ? lz4_frame(ref, frame) : zstd_frame(ref, frame);
}

struct span ref_decompress(struct ref *ref, const char *tag, struct span payload) {
  if (memcmp(tag, "NONE", 4) == 0) return payload;
  if (memcmp(tag, "LZ4_", 4) == 0) return lz4_frame(ref, payload);
  if (memcmp(tag, "ZSTD", 4) == 0) return zstd_frame(ref, payload);
  if (memcmp(tag, "SNAP", 4) == 0) return snappy_stream(ref, payload);
  ref_refuse(ref, "codec tag");
}

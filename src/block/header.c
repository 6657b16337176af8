#include "block/header.h"

#include "base/bytes.h"

#define LENGTHS_FLAG 0x80u

static const char tags[][5] = {[ASHUF_CODEC_NONE] = "NONE",
                               [ASHUF_CODEC_LZ4] = "LZ4_",
                               [ASHUF_CODEC_ZSTD] = "ZSTD",
                               [ASHUF_CODEC_SNAPPY] = "SNAP"};

ashuf_status block_tag_read(const uint8_t *tag, struct ashuf_block_info *out,
                            struct ashuf_error *error) {
  uint8_t plain[4] = {(uint8_t)(tag[0] & ~LENGTHS_FLAG), tag[1], tag[2], tag[3]};
  for (int codec = ASHUF_CODEC_NONE; codec <= ASHUF_CODEC_SNAPPY; codec++) {
    if (memcmp(tags[codec], plain, sizeof plain) != 0) continue;
    out->codec = codec;
    out->offsets_as_lengths = (tag[0] & LENGTHS_FLAG) != 0;
    return ASHUF_OK;
  }
  char text[24];
  return error_in(error, ASHUF_UNKNOWN_CODEC, SITE_HEADER_CODEC, ASHUF_SPACE_BLOCK,
                  BLOCK_TAG_OFFSET, "unknown codec tag \"%s\"",
                  error_escape(text, sizeof text, tag, 4));
}

ashuf_status block_header_read(const uint8_t *data, size_t size, struct ashuf_block_info *out,
                               struct ashuf_error *error) {
  if (size < ASHUF_BLOCK_HEADER_SIZE)
    return error_in(error, ASHUF_TRUNCATED, SITE_HEADER_TRUNCATED, ASHUF_SPACE_BLOCK, size,
                    "ends inside a block header, after %zu of %d bytes", size,
                    ASHUF_BLOCK_HEADER_SIZE);
  uint64_t length = load_u64(data);
  if (length < BLOCK_MIN_LENGTH)
    return error_in(error, ASHUF_BAD_HEADER, SITE_HEADER_SHORT, ASHUF_SPACE_BLOCK, 0,
                    "block length %llu is too small", (unsigned long long)length);
  if (length > BLOCK_MAX_LENGTH)
    return error_in(error, ASHUF_BAD_HEADER, SITE_HEADER_LONG, ASHUF_SPACE_BLOCK, 0,
                    "block length %llu is too large", (unsigned long long)length);
  out->size = length + BLOCK_LENGTH_SIZE;
  out->columns = load_u64(data + 8);
  return block_tag_read(data + BLOCK_TAG_OFFSET, out, error);
}

void block_header_write(uint8_t *out, uint64_t length, uint64_t columns, int codec,
                        int offsets_as_lengths) {
  store_u64(out, length - BLOCK_LENGTH_SIZE);
  store_u64(out + 8, columns);
  memcpy(out + BLOCK_TAG_OFFSET, tags[codec], 4);
  if (offsets_as_lengths) out[BLOCK_TAG_OFFSET] |= LENGTHS_FLAG;
}

/*
 * The Snappy framing format over libsnappy's raw blocks.
 *
 *   FF 06 00 00 "sNaPpY" | { type u8 | length u24 | data } ...
 *   type 00: masked CRC-32C of the decoded bytes, raw Snappy     01: the CRC, the bytes themselves
 *
 * The end of the bytes is the end of the stream. There is no state but the work buffer.
 */
#include "base/bytes.h"
#include "codec/checksum.h"
#include "codec/codec_int.h"

#include <string.h>

#if ASHUF_WITH_SNAPPY

#include <snappy-c.h>

#define CHUNK_MAX ((size_t)65536)      /* decoded */
#define COMPRESSED_MAX ((size_t)76490) /* what CHUNK_MAX bytes compress to at the most */
/* A 3-byte copy gives 64 bytes, the densest element. */
#define EXPANSION ((uint64_t)22)
_Static_assert(CODEC_STEP == CHUNK_MAX, "a step is a chunk");

enum { CHUNK_COMPRESSED = 0x00, CHUNK_STORED = 0x01, CHUNK_SKIPPABLE = 0x80, CHUNK_ID = 0xFF };

static const uint8_t identifier[10] = {0xFF, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'};

static uint32_t masked_crc(const uint8_t *bytes, size_t size) {
  uint32_t crc = crc32c_update(0, bytes, size);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

/* ---- Reading ----------------------------------------------------------------------------- */

static ashuf_status check_identifier(const struct decoder *d, const uint8_t *data, size_t size,
                                     struct ashuf_error *error) {
  if (size == 6 && memcmp(data, identifier + 4, 6) == 0) return ASHUF_OK;
  return error_at(error, ASHUF_BAD_COMPRESSION, SITE_SNAPPY_IDENTIFIER, d->position,
                  "snappy: the stream identifier is damaged");
}

static ashuf_status snappy_open(struct decoder *d, struct ashuf_error *error) {
  if (d->left != 0 && d->in[0] != CHUNK_ID)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_SNAPPY_NO_IDENTIFIER, 0,
                    "snappy: the stream begins with %02x, not with its identifier", d->in[0]);
  if (d->left < sizeof identifier)
    return error_at(error, ASHUF_TRUNCATED, SITE_SNAPPY_CUT, 0,
                    "snappy: the stream identifier is cut off");
  ashuf_status status = check_identifier(d, d->in + 4, load_u32(d->in) >> 8, error);
  if (status != ASHUF_OK) return status;
  decoder_consume(d, sizeof identifier);
  d->ended = d->left == 0;
  return ASHUF_OK;
}

static ashuf_status check_crc(const struct decoder *d, const uint8_t *bytes, size_t size,
                              uint32_t crc, struct ashuf_error *error) {
  if (masked_crc(bytes, size) == crc) return ASHUF_OK;
  return error_at(error, ASHUF_BAD_COMPRESSION, SITE_SNAPPY_CHECKSUM, d->position,
                  "snappy: a chunk's checksum is wrong");
}

static bool decode_chunk(bool stored, const uint8_t *data, size_t size, uint8_t *out,
                         size_t out_size) {
  if (stored) {
    memcpy(out, data, out_size);
    return true;
  }
  return snappy_uncompress((const char *)data, size, (char *)out, &out_size) == SNAPPY_OK;
}

/* Bytes the chunk decodes to, or more than CHUNK_MAX where it is bad. */
static size_t chunk_size(bool stored, const uint8_t *data, size_t size) {
  size_t made = 0;
  if (stored) return size;
  if (size > COMPRESSED_MAX) return SIZE_MAX;
  bool known = snappy_uncompressed_length((const char *)data, size, &made) == SNAPPY_OK;
  return known ? made : SIZE_MAX;
}

static ashuf_status data_chunk(struct decoder *d, bool stored, const uint8_t *data, size_t size,
                               uint8_t *out, size_t room, size_t *got, struct ashuf_error *error) {
  if (size < 4)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_SNAPPY_CHUNK_SIZE, d->position,
                    "snappy: a data chunk of %zu bytes", size);
  uint32_t crc = load_u32(data);
  data += 4;
  size -= 4;
  size_t made = chunk_size(stored, data, size);
  if (made > CHUNK_MAX)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_SNAPPY_CHUNK_SIZE, d->position,
                    "snappy: a chunk is larger than 64 KiB, or damaged");
  bool direct = made <= room;
  ashuf_status status = direct ? ASHUF_OK : decoder_work(d, made, error);
  if (status != ASHUF_OK) return status;
  uint8_t *target = direct ? out : d->work;
  if (!decode_chunk(stored, data, size, target, made))
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_SNAPPY_CHUNK_DATA, d->position,
                    "snappy: a chunk is damaged");
  status = check_crc(d, target, made, crc, error);
  if (status != ASHUF_OK) return status;
  if (direct)
    *got = made;
  else
    d->work_end = made;
  return ASHUF_OK;
}

static ashuf_status snappy_next(struct decoder *d, uint8_t *out, size_t size, size_t capacity,
                                size_t *got, struct ashuf_error *error) {
  (void)size;
  size_t length = d->left < 4 ? 0 : load_u32(d->in) >> 8;
  if (d->left < 4 || length > d->left - 4)
    return error_at(error, ASHUF_TRUNCATED, SITE_SNAPPY_CUT, d->position,
                    "snappy: a chunk is cut off");
  uint8_t type = d->in[0];
  const uint8_t *data = d->in + 4;
  ashuf_status status = ASHUF_OK;
  if (type == CHUNK_COMPRESSED || type == CHUNK_STORED)
    status = data_chunk(d, type == CHUNK_STORED, data, length, out, capacity, got, error);
  else if (type == CHUNK_ID)
    status = check_identifier(d, data, length, error);
  else if (type < CHUNK_SKIPPABLE)
    status = error_at(error, ASHUF_BAD_COMPRESSION, SITE_SNAPPY_CHUNK_TYPE, d->position,
                      "snappy: a chunk of the reserved type %02x", type);
  if (status != ASHUF_OK) return status;
  decoder_consume(d, 4 + length);
  d->ended = d->left == 0;
  return ASHUF_OK;
}

static uint64_t snappy_bound(const struct decoder *d) {
  uint64_t bound = 0;
  return mul_u64(d->left, EXPANSION, &bound) ? bound : UINT64_MAX;
}

const struct decode_codec snappy_decode = {snappy_open, snappy_next, snappy_bound, NULL, NULL};

/* ---- Writing ----------------------------------------------------------------------------- */

static ashuf_status snappy_open_writer(struct encoder *e, int level, struct ashuf_error *error) {
  (void)level;
  uint8_t *room = NULL;
  ashuf_status status = encoder_room(e, sizeof identifier, &room, error);
  if (status != ASHUF_OK) return status;
  memcpy(room, identifier, sizeof identifier);
  e->out->size += sizeof identifier;
  return ASHUF_OK;
}

/* Compressed in place; stored instead where that saves less than an eighth. */
static ashuf_status put_chunk(struct encoder *e, const uint8_t *data, size_t size, uint8_t *room,
                              struct ashuf_error *error) {
  size_t made = snappy_max_compressed_length(size);
  if (snappy_compress((const char *)data, size, (char *)room + 8, &made) != SNAPPY_OK)
    return error_set(error, ASHUF_UNSUPPORTED, SITE_SNAPPY_COMPRESS, "snappy: compression failed");
  bool stored = made >= size - size / 8;
  if (stored) {
    memcpy(room + 8, data, size);
    made = size;
  }
  store_u32(room, (uint32_t)(made + 4) << 8 | (stored ? CHUNK_STORED : CHUNK_COMPRESSED));
  store_u32(room + 4, masked_crc(data, size));
  e->out->size += 8 + made;
  return ASHUF_OK;
}

static ashuf_status snappy_step(struct encoder *e, const uint8_t *data, size_t size, bool last,
                                struct ashuf_error *error) {
  (void)last;
  if (size == 0) return ASHUF_OK;
  uint8_t *room = NULL;
  ashuf_status status = encoder_room(e, 8 + snappy_max_compressed_length(size), &room, error);
  return status == ASHUF_OK ? put_chunk(e, data, size, room, error) : status;
}

/* Snappy has no levels: whatever is asked for is the only one. */
const struct encode_codec snappy_encode = {snappy_open_writer, snappy_step, NULL,
                                           INT32_MIN,          INT32_MAX,   0};

#endif /* ASHUF_WITH_SNAPPY */

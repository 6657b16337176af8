#include "ipc/body_compression.h"

#include "base/bytes.h"
#include "codec/codec.h"

#define PREFIX 8
#define BUFFER_ALIGNMENT 64
/* The most that one compressed byte can become: an LZ4 length byte stands for 255, a zstd block
 * of 4 bytes for 128 KiB. */
#define LZ4_EXPANSION 255u
#define ZSTD_EXPANSION 32768u

struct packed {
  const uint8_t *data; /* behind the prefix */
  size_t size;
  int64_t plain; /* -1: stored as it is */
};

static ashuf_status read_packed(const struct body *body, const struct message *message, uint32_t i,
                                struct packed *out, struct ashuf_error *error) {
  struct ipc_buffer place;
  memcpy(&place, message->batch.buffers + (size_t)i * sizeof place, sizeof place);
  if (place.offset < 0 || place.length < 0 ||
      !range_inside((uint64_t)place.offset, (uint64_t)place.length, body->size))
    return error_at(error, ASHUF_BAD_BATCH, SITE_UNPACK_RANGE, message->offset,
                    "compressed buffer %u lies outside the body", i);
  uint64_t offset = body->offset + (uint64_t)place.offset;
  *out = (struct packed){NULL, 0, 0};
  if (place.length == 0) return ASHUF_OK;
  if (place.length < PREFIX)
    return error_at(error, ASHUF_BAD_BATCH, SITE_UNPACK_PREFIX, offset,
                    "compressed buffer %u has no room for its size", i);
  out->data = body->data + place.offset + PREFIX;
  out->size = (size_t)place.length - PREFIX;
  out->plain = load_i64(body->data + place.offset);
  uint64_t expansion = message->batch.compression == BODY_LZ4 ? LZ4_EXPANSION : ZSTD_EXPANSION;
  uint64_t most = 0;
  if (!mul_u64(out->size, expansion, &most)) most = UINT64_MAX;
  if (out->plain < -1 || (out->plain > 0 && (uint64_t)out->plain > most))
    return error_at(error, ASHUF_BAD_BATCH, SITE_UNPACK_SIZE, offset,
                    "compressed buffer %u of %zu bytes claims to hold %lld", i, out->size,
                    (long long)out->plain);
  return ASHUF_OK;
}

static uint64_t plain_size(const struct packed *packed) {
  return packed->plain < 0 ? packed->size : (uint64_t)packed->plain;
}

/* Fills the plain buffer list; *total is the size of the plain body. */
static ashuf_status plan(struct body_unpacker *unpacker, const struct body *body,
                         const struct message *message, uint64_t *total,
                         struct ashuf_error *error) {
  uint32_t n = message->batch.n_buffers;
  unpacker->lists.size = 0;
  *total = 0;
  if (!buffer_reserve(&unpacker->lists, unpacker->memory, n * sizeof(struct ipc_buffer)))
    return error_memory(error, SITE_UNPACK_MEMORY, unpacker->memory, n);
  for (uint32_t i = 0; i < n; i++) {
    struct packed packed = {NULL, 0, 0};
    ashuf_status status = read_packed(body, message, i, &packed, error);
    if (status != ASHUF_OK) return status;
    struct ipc_buffer place = {(int64_t)*total, (int64_t)plain_size(&packed)};
    buffer_append(&unpacker->lists, unpacker->memory, &place, sizeof place);
    if (!add_u64(*total, plain_size(&packed), total) || *total > INT64_MAX - BUFFER_ALIGNMENT ||
        (unpacker->max_size != 0 && *total > unpacker->max_size))
      return error_at(error, ASHUF_SIZE_LIMIT, SITE_UNPACK_LIMIT, message->offset,
                      "the body takes more than %llu bytes without its compression",
                      (unsigned long long)unpacker->max_size);
    *total = round_up(*total, BUFFER_ALIGNMENT);
  }
  return ASHUF_OK;
}

static ashuf_status fill(struct body_unpacker *unpacker, const struct body *body,
                         const struct message *message, struct body *plain,
                         struct ashuf_error *error) {
  int codec = message->batch.compression == BODY_LZ4 ? ASHUF_CODEC_LZ4 : ASHUF_CODEC_ZSTD;
  for (uint32_t i = 0; i < message->batch.n_buffers; i++) {
    struct packed packed = {NULL, 0, 0};
    ashuf_status status = read_packed(body, message, i, &packed, error);
    if (status != ASHUF_OK) return status;
    struct ipc_buffer place;
    memcpy(&place, unpacker->lists.data + (size_t)i * sizeof place, sizeof place);
    if (packed.plain < 0) {
      memcpy(body_writable(plain) + place.offset, packed.data, packed.size);
    } else if (packed.plain > 0) {
      status = decoder_frame(unpacker->frames, codec, packed.data, packed.size,
                             body_writable(plain) + place.offset, (size_t)packed.plain, error);
      if (status == ASHUF_OK) continue;
      if (error != NULL) {
        error->space = ASHUF_SPACE_STREAM;
        error->offset = body->offset + (uint64_t)(packed.data - body->data);
      }
      return status;
    }
  }
  return ASHUF_OK;
}

ashuf_status body_unpack(struct body_unpacker *unpacker, struct message *message,
                         struct body **body, struct ashuf_error *error) {
  if (message->batch.compression == BODY_PLAIN) return ASHUF_OK;
  if (unpacker->frames == NULL) unpacker->frames = decoder_new(unpacker->memory);
  if (unpacker->frames == NULL)
    return error_memory(error, SITE_UNPACK_MEMORY, unpacker->memory, sizeof *message);
  uint64_t total = 0;
  ashuf_status status = plan(unpacker, *body, message, &total, error);
  if (status != ASHUF_OK) return status;
  struct body *plain = body_new(unpacker->memory, (size_t)total);
  if (plain == NULL)
    return error_memory(error, SITE_UNPACK_MEMORY, unpacker->memory, (size_t)total);
  plain->offset = (*body)->offset;
  status = fill(unpacker, *body, message, plain, error);
  if (status != ASHUF_OK) {
    body_free(plain);
    return status;
  }
  body_free(*body);
  *body = plain;
  message->batch.buffers = unpacker->lists.data;
  message->batch.compression = BODY_PLAIN;
  return ASHUF_OK;
}

void body_unpacker_free(struct body_unpacker *unpacker) {
  decoder_free(unpacker->frames);
  unpacker->frames = NULL;
  ashuf_buffer_free(&unpacker->lists);
}

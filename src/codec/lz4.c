/*
 * LZ4 frames over liblz4's raw blocks.
 *
 * Not LZ4F: it allocates by the block size that a header declares, keeps a copy of each small
 * write, and resets its match tables lazily, so that the bytes it writes may depend on what it
 * compressed before. Here a block is decoded straight to the caller where it fits, memory is
 * bounded by the bytes that are there, and each block is compressed from a clean state.
 *
 *   magic 04 22 4D 18 | FLG | BD | content size u64? | dictionary id u32? | HC |
 *   { size u32, bit 31 = stored | data | XXH32 u32? } ... | 00 00 00 00 | XXH32 of all u32?
 */
#include "base/bytes.h"
#include "codec/checksum.h"
#include "codec/codec_int.h"

#include <string.h>

#if ASHUF_WITH_LZ4

#include <lz4.h>
#include <lz4hc.h>

#define MAGIC 0x184D2204u
#define MAGIC_LEGACY 0x184C2102u
#define HISTORY ((size_t)65536) /* how far back a linked block may point */
#define STORED 0x80000000u
#define EXPANSION ((size_t)255) /* one byte of LZ4 gives at most 255 */

enum {
  FLG_VERSION = 0xC0,
  FLG_VERSION_1 = 0x40,
  FLG_INDEPENDENT = 0x20,
  FLG_BLOCK_CHECKSUM = 0x10,
  FLG_CONTENT_SIZE = 0x08,
  FLG_CONTENT_CHECKSUM = 0x04,
  FLG_RESERVED = 0x02,
  FLG_DICTIONARY = 0x01,
  BD_RESERVED = 0x8F
};

/* ---- Reading ----------------------------------------------------------------------------- */

struct lz4_reader {
  uint8_t flags;
  size_t block_max;
  uint64_t content_left; /* where FLG_CONTENT_SIZE is set */
  struct xxh32 content;
  uint8_t *history; /* the newest decoded bytes, where blocks are linked; NULL until needed */
  size_t history_size;
};

static ashuf_status check_magic(const struct decoder *d, struct ashuf_error *error) {
  uint32_t magic = d->left >= 4 ? load_u32(d->in) : MAGIC;
  if (magic == MAGIC_LEGACY)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_MAGIC, 0, "lz4: a legacy frame");
  if ((magic & 0xFFFFFFF0u) == 0x184D2A50u)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_MAGIC, 0, "lz4: a skippable frame");
  if (magic != MAGIC)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_MAGIC, 0,
                    "lz4: the frame begins with %08x", magic);
  if (d->left < 7)
    return error_at(error, ASHUF_TRUNCATED, SITE_LZ4_HEADER_CUT, 0,
                    "lz4: %zu bytes hold no frame header", d->left);
  return ASHUF_OK;
}

static ashuf_status check_descriptor(uint8_t flags, uint8_t bd, struct ashuf_error *error) {
  if ((flags & FLG_VERSION) != FLG_VERSION_1 || (flags & FLG_RESERVED) != 0 ||
      (bd & BD_RESERVED) != 0 || bd < 0x40)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_DESCRIPTOR, 0,
                    "lz4: bad frame descriptor %02x %02x", flags, bd);
  if ((flags & FLG_DICTIONARY) != 0)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_DICTIONARY, 0,
                    "lz4: the frame needs a dictionary");
  return ASHUF_OK;
}

static ashuf_status read_header(struct decoder *d, struct lz4_reader *r,
                                struct ashuf_error *error) {
  ashuf_status status = check_magic(d, error);
  if (status != ASHUF_OK) return status;
  uint8_t bd = d->in[5];
  r->flags = d->in[4];
  status = check_descriptor(r->flags, bd, error);
  if (status != ASHUF_OK) return status;
  bool sized = (r->flags & FLG_CONTENT_SIZE) != 0;
  size_t size = sized ? 15 : 7;
  if (d->left < size)
    return error_at(error, ASHUF_TRUNCATED, SITE_LZ4_HEADER_CUT, 0,
                    "lz4: the frame header is cut off");
  if (((xxh32_of(d->in + 4, size - 5) >> 8) & 0xFF) != d->in[size - 1])
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_HEADER_CHECKSUM, 0,
                    "lz4: the frame header's checksum is wrong");
  r->block_max = (size_t)1 << (8 + 2 * (bd >> 4));
  r->content_left = sized ? load_u64(d->in + 6) : 0;
  decoder_consume(d, size);
  return ASHUF_OK;
}

static ashuf_status lz4_open(struct decoder *d, struct ashuf_error *error) {
  struct lz4_reader *r = d->state[ASHUF_CODEC_LZ4];
  if (r == NULL) r = d->state[ASHUF_CODEC_LZ4] = memory_zeroed(d->memory, sizeof *r);
  if (r == NULL) return error_memory(error, SITE_LZ4_STATE, d->memory, sizeof *r);
  r->history_size = 0;
  xxh32_begin(&r->content);
  return read_header(d, r, error);
}

static ashuf_status end_mark(struct decoder *d, struct lz4_reader *r, struct ashuf_error *error) {
  decoder_consume(d, 4);
  if ((r->flags & FLG_CONTENT_SIZE) != 0 && r->content_left != 0)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_CONTENT_SIZE, d->position,
                    "lz4: the frame ends %llu bytes before the size it declares",
                    (unsigned long long)r->content_left);
  if ((r->flags & FLG_CONTENT_CHECKSUM) != 0) {
    if (d->left < 4)
      return error_at(error, ASHUF_TRUNCATED, SITE_LZ4_CHECKSUM_CUT, d->position,
                      "lz4: the content checksum is cut off");
    if (load_u32(d->in) != xxh32_end(&r->content))
      return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_CONTENT_CHECKSUM, d->position,
                      "lz4: the content checksum is wrong");
    decoder_consume(d, 4);
  }
  d->ended = true;
  return ASHUF_OK;
}

/* The size word, whether all of the block is there, and its checksum. */
static ashuf_status check_block(const struct decoder *d, const struct lz4_reader *r, uint32_t word,
                                size_t *stored, struct ashuf_error *error) {
  size_t size = word & ~STORED;
  bool checked = (r->flags & FLG_BLOCK_CHECKSUM) != 0;
  if (size > r->block_max)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_BLOCK_SIZE, d->position,
                    "lz4: a block of %zu bytes where %zu are the most", size, r->block_max);
  *stored = 4 + size + (checked ? 4 : 0);
  if (d->left < *stored)
    return error_at(error, ASHUF_TRUNCATED, SITE_LZ4_BLOCK_CUT, d->position,
                    "lz4: a block of %zu bytes is cut off", size);
  if (checked && load_u32(d->in + 4 + size) != xxh32_of(d->in + 4, size))
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_BLOCK_CHECKSUM, d->position,
                    "lz4: a block's checksum is wrong");
  return ASHUF_OK;
}

/* Keeps the newest 64 KiB of linked blocks: the caller's memory may be gone at the next one. */
static ashuf_status keep_history(struct decoder *d, struct lz4_reader *r, const uint8_t *bytes,
                                 size_t size, struct ashuf_error *error) {
  if (r->history == NULL) r->history = memory_alloc(d->memory, HISTORY);
  if (r->history == NULL) return error_memory(error, SITE_LZ4_STATE, d->memory, HISTORY);
  size_t fresh = size < HISTORY ? size : HISTORY;
  size_t old = r->history_size < HISTORY - fresh ? r->history_size : HISTORY - fresh;
  memmove(r->history, r->history + r->history_size - old, old);
  if (fresh != 0) memcpy(r->history + old, bytes + size - fresh, fresh);
  r->history_size = old + fresh;
  return ASHUF_OK;
}

static ashuf_status note_content(struct decoder *d, struct lz4_reader *r, const uint8_t *bytes,
                                 size_t size, struct ashuf_error *error) {
  if ((r->flags & FLG_CONTENT_SIZE) != 0) {
    if (size > r->content_left)
      return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_CONTENT_SIZE, d->position,
                      "lz4: more data than the frame declares");
    r->content_left -= size;
  }
  if ((r->flags & FLG_CONTENT_CHECKSUM) != 0) xxh32_update(&r->content, bytes, size);
  if ((r->flags & FLG_INDEPENDENT) != 0) return ASHUF_OK;
  return keep_history(d, r, bytes, size, error);
}

/* The decoded size, or -1. */
static int decode_block(const struct lz4_reader *r, const uint8_t *data, uint32_t word,
                        uint8_t *out, size_t room) {
  size_t size = word & ~STORED;
  if ((word & STORED) != 0) {
    memcpy(out, data, size);
    return (int)size;
  }
  if (r->history_size != 0)
    return LZ4_decompress_safe_usingDict((const char *)data, (char *)out, (int)size, (int)room,
                                         (const char *)r->history, (int)r->history_size);
  return LZ4_decompress_safe((const char *)data, (char *)out, (int)size, (int)room);
}

/* The most that the block can decode to. */
static size_t block_room(const struct lz4_reader *r, uint32_t word) {
  size_t size = word & ~STORED;
  if ((word & STORED) != 0) return size;
  return size < r->block_max / EXPANSION ? size * EXPANSION : r->block_max;
}

/* Whether the end mark follows the block. */
static bool is_last_block(const struct decoder *d, size_t stored) {
  return d->left - stored >= 4 && load_u32(d->in + stored) == 0;
}

/* The last block of a stream is seldom full: where the caller's memory ends behind what is wanted,
 * it is taken to hold the rest, and decoded again by way of the work buffer if it holds more. */
static ashuf_status next_block(struct decoder *d, struct lz4_reader *r, uint32_t word, uint8_t *out,
                               size_t size, size_t capacity, size_t *got,
                               struct ashuf_error *error) {
  size_t stored = 0;
  ashuf_status status = check_block(d, r, word, &stored, error);
  if (status != ASHUF_OK) return status;
  size_t room = block_room(r, word);
  bool direct = room <= capacity;
  uint8_t *target = out;
  int made = -1;
  if (direct) {
    made = decode_block(r, d->in + 4, word, out, room);
  } else if (capacity > size && (word & STORED) == 0 && is_last_block(d, stored)) {
    made = decode_block(r, d->in + 4, word, out, capacity);
    direct = made >= 0;
  }
  if (!direct) {
    status = decoder_work(d, room, error);
    if (status != ASHUF_OK) return status;
    target = d->work;
    made = decode_block(r, d->in + 4, word, target, room);
  }
  if (made < 0)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_LZ4_BLOCK_DATA, d->position,
                    "lz4: a block is damaged");
  decoder_consume(d, stored);
  status = note_content(d, r, target, (size_t)made, error);
  bool plain_end = (r->flags & (FLG_CONTENT_SIZE | FLG_CONTENT_CHECKSUM)) == 0;
  if (status == ASHUF_OK && plain_end && is_last_block(d, 0)) status = end_mark(d, r, error);
  if (direct)
    *got = (size_t)made;
  else
    d->work_end = (size_t)made;
  return status;
}

static ashuf_status lz4_next(struct decoder *d, uint8_t *out, size_t size, size_t capacity,
                             size_t *got, struct ashuf_error *error) {
  struct lz4_reader *r = d->state[ASHUF_CODEC_LZ4];
  if (d->left < 4)
    return error_at(error, ASHUF_TRUNCATED, SITE_LZ4_NO_END_MARK, d->position,
                    "lz4: the frame has no end mark");
  uint32_t word = load_u32(d->in);
  if (word == 0) return end_mark(d, r, error);
  return next_block(d, r, word, out, size, capacity, got, error);
}

static uint64_t lz4_bound(const struct decoder *d) {
  const struct lz4_reader *r = d->state[ASHUF_CODEC_LZ4];
  uint64_t bound = 0;
  if (!mul_u64(d->left, EXPANSION, &bound)) bound = UINT64_MAX;
  if ((r->flags & FLG_CONTENT_SIZE) != 0 && r->content_left < bound) bound = r->content_left;
  return bound;
}

static void drop_history(struct decoder *d, struct lz4_reader *r) {
  memory_free(d->memory, r->history, HISTORY);
  r->history = NULL;
  r->history_size = 0;
}

static void lz4_trim_reader(struct decoder *d, size_t cap) {
  struct lz4_reader *r = d->state[ASHUF_CODEC_LZ4];
  if (r == NULL) return;
  if (HISTORY > cap) drop_history(d, r);
  if (cap != 0) return;
  memory_free(d->memory, r, sizeof *r);
  d->state[ASHUF_CODEC_LZ4] = NULL;
}

const struct decode_codec lz4_decode = {lz4_open, lz4_next, lz4_bound, NULL, lz4_trim_reader};

/* ---- Writing ----------------------------------------------------------------------------- */

/* Version 1, independent blocks of 64 KiB, no sizes, no checksums: what Comet writes. */
static const uint8_t frame_header[7] = {0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82};
#define LEVEL_HC 3

struct lz4_writer {
  int level;
  void *fast; /* LZ4_sizeofState() bytes */
  void *high; /* LZ4_sizeofStateHC() bytes */
};

static void **writer_state(struct lz4_writer *w, int level, size_t *size) {
  bool high = level >= LEVEL_HC;
  *size = (size_t)(high ? LZ4_sizeofStateHC() : LZ4_sizeofState());
  return high ? &w->high : &w->fast;
}

static ashuf_status lz4_open_writer(struct encoder *e, int level, struct ashuf_error *error) {
  struct lz4_writer *w = e->state[ASHUF_CODEC_LZ4];
  if (w == NULL) w = e->state[ASHUF_CODEC_LZ4] = memory_zeroed(e->memory, sizeof *w);
  if (w == NULL) return error_memory(error, SITE_LZ4_STATE, e->memory, sizeof *w);
  size_t size = 0;
  void **state = writer_state(w, level, &size);
  if (*state == NULL) *state = memory_alloc(e->memory, size);
  if (*state == NULL) return error_memory(error, SITE_LZ4_STATE, e->memory, size);
  w->level = level;
  uint8_t *room = NULL;
  ashuf_status status = encoder_room(e, sizeof frame_header, &room, error);
  if (status != ASHUF_OK) return status;
  memcpy(room, frame_header, sizeof frame_header);
  e->out->size += sizeof frame_header;
  return ASHUF_OK;
}

/* The compressed size, or 0 where the block would not shrink. */
static size_t compress_block(struct lz4_writer *w, const uint8_t *data, size_t size, uint8_t *out) {
  const char *in = (const char *)data;
  int most = (int)size - 1;
  if (w->level >= LEVEL_HC)
    return (size_t)LZ4_compress_HC_extStateHC(w->high, in, (char *)out, (int)size, most, w->level);
  return (size_t)LZ4_compress_fast_extState(w->fast, in, (char *)out, (int)size, most, 1);
}

static size_t put_block(struct lz4_writer *w, const uint8_t *data, size_t size, uint8_t *out) {
  size_t made = compress_block(w, data, size, out + 4);
  if (made != 0) {
    store_u32(out, (uint32_t)made);
    return 4 + made;
  }
  store_u32(out, (uint32_t)size | STORED);
  memcpy(out + 4, data, size);
  return 4 + size;
}

static ashuf_status lz4_step(struct encoder *e, const uint8_t *data, size_t size, bool last,
                             struct ashuf_error *error) {
  struct lz4_writer *w = e->state[ASHUF_CODEC_LZ4];
  uint8_t *room = NULL;
  ashuf_status status = encoder_room(e, 4 + size + 4, &room, error);
  if (status != ASHUF_OK) return status;
  size_t made = size != 0 ? put_block(w, data, size, room) : 0;
  if (last) {
    store_u32(room + made, 0);
    made += 4;
  }
  e->out->size += made;
  return ASHUF_OK;
}

static void drop_state(struct encoder *e, void **state, size_t size, size_t cap) {
  if (size <= cap) return;
  memory_free(e->memory, *state, size);
  *state = NULL;
}

static void lz4_trim_writer(struct encoder *e, size_t cap) {
  struct lz4_writer *w = e->state[ASHUF_CODEC_LZ4];
  if (w == NULL) return;
  drop_state(e, &w->fast, (size_t)LZ4_sizeofState(), cap);
  drop_state(e, &w->high, (size_t)LZ4_sizeofStateHC(), cap);
  if (cap != 0) return;
  memory_free(e->memory, w, sizeof *w);
  e->state[ASHUF_CODEC_LZ4] = NULL;
}

const struct encode_codec lz4_encode = {lz4_open_writer, lz4_step, lz4_trim_writer, 0, 12, 0};

#endif /* ASHUF_WITH_LZ4 */

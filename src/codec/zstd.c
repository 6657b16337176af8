/*
 * Zstandard frames over libzstd.
 *
 *   magic 28 B5 2F FD | descriptor | window u8? | dictionary id 0-4? | content size 0-8? |
 *   { last : 1, type : 2, size : 21 | data } ... | XXH64 u32?
 *
 * Opening walks the block headers (3 bytes a block), which tells where the frame ends and how
 * much it can decode to: raw and RLE blocks say it, a compressed block gives at most
 * min(window, 128 KiB). No block may be larger than that (RFC 8878, 3.1.1.2.4); libzstd lets runs
 * be, so it is checked here. With that bound,
 *   - a frame of at most WHOLE_MAX is decoded in one call: no window, no ring buffer, whatever
 *     window it declares;
 *   - a larger frame is streamed where its window is at most WINDOW_FREE, which is that of level
 *     19, or at most what the frame can hold, but never above WINDOW_MAX;
 *   - a frame with a larger window than it can fill is decoded in one call into a buffer of its
 *     bound.
 * So memory follows the blocks that are there, never the declared window beyond WINDOW_FREE.
 */
#include "base/bytes.h"
#include "codec/codec_int.h"

#include <string.h>

#if ASHUF_WITH_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

#define MAGIC 0xFD2FB528u
#define BLOCK_MAX ((uint64_t)128 << 10)
#define WHOLE_MAX ((uint64_t)256 << 10)
#define WINDOW_FREE ((uint64_t)8 << 20)
#define WINDOW_LOG_MAX 27
#define WINDOW_MAX ((uint64_t)1 << WINDOW_LOG_MAX)

/* ---- Reading: the frame's shape ---------------------------------------------------------- */

struct frame {
  uint64_t window;
  uint64_t content; /* UINT64_MAX where the header does not say */
  bool checksum;
  size_t header;  /* bytes */
  size_t size;    /* of the frame; what there is where it is cut off */
  bool cut;       /* the frame's end is missing */
  uint64_t bound; /* of what it decodes to */
};

static uint64_t load_size(const uint8_t *p, unsigned code) {
  switch (code) {
    case 0:
      return p[0];
    case 1:
      return (uint64_t)load_u16(p) + 256;
    case 2:
      return load_u32(p);
    default:
      return load_u64(p);
  }
}

static uint64_t load_window(uint8_t byte) {
  uint64_t base = (uint64_t)1 << (10 + (byte >> 3));
  return base + base / 8 * (byte & 7);
}

static ashuf_status check_magic(const uint8_t *in, size_t size, struct ashuf_error *error) {
  uint32_t magic = size >= 4 ? load_u32(in) : MAGIC;
  if ((magic & 0xFFFFFFF0u) == 0x184D2A50u)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_ZSTD_MAGIC, 0, "zstd: a skippable frame");
  if (magic != MAGIC)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_ZSTD_MAGIC, 0,
                    "zstd: the frame begins with %08x", magic);
  if (size < 5)
    return error_at(error, ASHUF_TRUNCATED, SITE_ZSTD_HEADER_CUT, 0,
                    "zstd: %zu bytes hold no frame header", size);
  return ASHUF_OK;
}

static ashuf_status read_header(struct frame *f, const uint8_t *in, size_t size,
                                struct ashuf_error *error) {
  static const uint8_t id_sizes[4] = {0, 1, 2, 4};
  static const uint8_t content_sizes[4] = {0, 2, 4, 8};
  ashuf_status status = check_magic(in, size, error);
  if (status != ASHUF_OK) return status;
  uint8_t descriptor = in[4];
  unsigned code = descriptor >> 6;
  bool single = (descriptor & 0x20) != 0;
  size_t id_at = single ? 5 : 6;
  size_t content_at = id_at + id_sizes[descriptor & 3];
  size_t content_size = single && code == 0 ? 1 : content_sizes[code];
  if ((descriptor & 0x08) != 0)
    return error_at(error, ASHUF_BAD_COMPRESSION, SITE_ZSTD_DESCRIPTOR, 0,
                    "zstd: bad frame descriptor %02x", descriptor);
  f->header = content_at + content_size;
  if (size < f->header)
    return error_at(error, ASHUF_TRUNCATED, SITE_ZSTD_HEADER_CUT, 0,
                    "zstd: the frame header is cut off");
  for (size_t i = id_at; i < content_at; i++)
    if (in[i] != 0)
      return error_at(error, ASHUF_BAD_COMPRESSION, SITE_ZSTD_DICTIONARY, 0,
                      "zstd: the frame needs a dictionary");
  f->checksum = (descriptor & 0x04) != 0;
  f->content = content_size != 0 ? load_size(in + content_at, code) : UINT64_MAX;
  f->window = single ? f->content : load_window(in[5]);
  return ASHUF_OK;
}

/* Fills size, cut and bound. A block of the reserved type ends the walk: libzstd refuses it. */
static ashuf_status walk_blocks(struct frame *f, const uint8_t *in, size_t size,
                                struct ashuf_error *error) {
  uint64_t most = f->window < BLOCK_MAX ? f->window : BLOCK_MAX;
  size_t at = f->header;
  bool last = false;
  f->bound = 0;
  while (!last && size - at >= 3) {
    uint32_t word = (uint32_t)in[at] | (uint32_t)in[at + 1] << 8 | (uint32_t)in[at + 2] << 16;
    unsigned type = (word >> 1) & 3;
    uint64_t n = word >> 3;
    size_t stored = type == 1 ? 1 : (size_t)n;
    last = (word & 1) != 0;
    at += 3;
    if (n > most)
      return error_at(error, ASHUF_BAD_COMPRESSION, SITE_ZSTD_BLOCK_SIZE, 0,
                      "zstd: a block of %llu bytes where %llu are the most", (unsigned long long)n,
                      (unsigned long long)most);
    f->bound += type < 2 ? n : most;
    if (type == 3 || stored > size - at) break;
    at += stored;
    if (last) {
      f->cut = f->checksum && size - at < 4;
      f->size = f->checksum && !f->cut ? at + 4 : at;
      if (f->content < f->bound) f->bound = f->content;
      return ASHUF_OK;
    }
  }
  f->size = size;
  f->cut = true;
  if (f->content < f->bound) f->bound = f->content;
  return ASHUF_OK;
}

static ashuf_status measure_frame(struct frame *f, const uint8_t *in, size_t size,
                                  struct ashuf_error *error) {
  memset(f, 0, sizeof *f);
  ashuf_status status = read_header(f, in, size, error);
  return status == ASHUF_OK ? walk_blocks(f, in, size, error) : status;
}

/* ---- Reading ----------------------------------------------------------------------------- */

struct zstd_reader {
  ZSTD_DCtx *context;
  size_t charged; /* of the memory domain, for context */
  struct frame frame;
  bool whole;
  uint64_t made; /* bytes that came out of the stream so far */
};

static void drop_context(struct decoder *d, struct zstd_reader *r) {
  (void)ZSTD_freeDCtx(r->context);
  memory_discharge(d->memory, r->charged);
  r->context = NULL;
  r->charged = 0;
}

/* Makes the charge what the context holds; where the limit refuses, the context goes. */
static ashuf_status settle(struct decoder *d, struct zstd_reader *r, struct ashuf_error *error) {
  size_t size = ZSTD_sizeof_DCtx(r->context);
  if (size < r->charged) {
    memory_discharge(d->memory, r->charged - size);
  } else if (!memory_charge(d->memory, size - r->charged)) {
    ashuf_status status = error_memory(error, SITE_ZSTD_CONTEXT, d->memory, size - r->charged);
    drop_context(d, r);
    return status;
  }
  r->charged = size;
  return ASHUF_OK;
}

static ashuf_status need_context(struct decoder *d, struct zstd_reader **out,
                                 struct ashuf_error *error) {
  struct zstd_reader *r = d->state[ASHUF_CODEC_ZSTD];
  if (r == NULL) r = d->state[ASHUF_CODEC_ZSTD] = memory_zeroed(d->memory, sizeof *r);
  if (r == NULL) return error_memory(error, SITE_ZSTD_STATE, d->memory, sizeof *r);
  *out = r;
  if (r->context != NULL) return ASHUF_OK;
  r->context = ZSTD_createDCtx();
  if (r->context == NULL)
    return error_set(error, ASHUF_OUT_OF_MEMORY, SITE_ZSTD_CONTEXT, "zstd: out of memory");
  (void)ZSTD_DCtx_setParameter(r->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
  return settle(d, r, error);
}

static ashuf_status choose_way(const struct decoder *d, struct zstd_reader *r,
                               struct ashuf_error *error) {
  uint64_t bound = r->frame.bound < d->max_output ? r->frame.bound : d->max_output;
  r->whole = r->frame.bound <= WHOLE_MAX;
  if (r->whole || r->frame.window <= WINDOW_FREE) return ASHUF_OK;
  r->whole = bound <= r->frame.window && bound <= WINDOW_MAX;
  if (r->whole || r->frame.window <= WINDOW_MAX) return ASHUF_OK;
  return error_at(error, ASHUF_SIZE_LIMIT, SITE_ZSTD_WINDOW, 0,
                  "zstd: the frame asks for a window of %llu bytes",
                  (unsigned long long)r->frame.window);
}

/* The ring buffer and the input buffer that libzstd makes on a stream's first bytes, refused
 * here if the limit refuses them. */
static ashuf_status check_ring(const struct decoder *d, const struct zstd_reader *r,
                               struct ashuf_error *error) {
  uint64_t ring = r->frame.window + 2 * BLOCK_MAX;
  if (r->frame.content < ring) ring = r->frame.content;
  uint64_t size = ring + BLOCK_MAX + ((size_t)128 << 10);
  if (size <= r->charged) return ASHUF_OK;
  size_t more = (size_t)(size - r->charged);
  if (!memory_charge(d->memory, more))
    return error_memory(error, SITE_ZSTD_CONTEXT, d->memory, more);
  memory_discharge(d->memory, more); /* libzstd's own allocation is charged once it is made */
  return ASHUF_OK;
}

static ashuf_status zstd_open(struct decoder *d, struct ashuf_error *error) {
  struct zstd_reader *r = NULL;
  ashuf_status status = need_context(d, &r, error);
  if (status != ASHUF_OK) return status;
  r->made = 0;
  status = measure_frame(&r->frame, d->in, d->left, error);
  if (status == ASHUF_OK) status = choose_way(d, r, error);
  if (status != ASHUF_OK || r->whole) return status;
  (void)ZSTD_DCtx_reset(r->context, ZSTD_reset_session_only);
  return check_ring(d, r, error);
}

static ashuf_status cut_off(const struct decoder *d, struct ashuf_error *error) {
  return error_at(error, ASHUF_TRUNCATED, SITE_ZSTD_CUT, d->position, "zstd: the frame is cut off");
}

static ashuf_status damaged(struct decoder *d, struct zstd_reader *r, size_t result,
                            struct ashuf_error *error) {
  switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
      drop_context(d, r);
      return error_set(error, ASHUF_OUT_OF_MEMORY, SITE_ZSTD_CONTEXT, "zstd: out of memory");
    case ZSTD_error_srcSize_wrong:
      return cut_off(d, error);
    case ZSTD_error_frameParameter_windowTooLarge:
      return error_at(error, ASHUF_SIZE_LIMIT, SITE_ZSTD_WINDOW, d->position,
                      "zstd: the frame asks for too large a window");
    default:
      return error_at(error, ASHUF_BAD_COMPRESSION, SITE_ZSTD_DATA, d->position, "zstd: %s",
                      ZSTD_getErrorName(result));
  }
}

static ashuf_status too_long(const struct decoder *d, ashuf_status status, size_t room,
                             struct ashuf_error *error) {
  return error_at(error, status, SITE_ZSTD_TOO_LONG, d->position,
                  "zstd: the frame decodes to more than %zu bytes", room);
}

/* The frame in one call, into room bytes of out; status_long is what more than that is. */
static ashuf_status decode_whole(struct decoder *d, struct zstd_reader *r, uint8_t *out,
                                 size_t room, ashuf_status status_long, size_t *made,
                                 struct ashuf_error *error) {
  if (r->frame.cut) return cut_off(d, error);
  size_t result = ZSTD_decompressDCtx(r->context, out, room, d->in, r->frame.size);
  if (ZSTD_isError(result) && ZSTD_getErrorCode(result) == ZSTD_error_dstSize_tooSmall &&
      room < r->frame.bound)
    return too_long(d, status_long, room, error);
  if (ZSTD_isError(result)) return damaged(d, r, result, error);
  decoder_consume(d, r->frame.size);
  d->ended = true;
  *made = result;
  return ASHUF_OK;
}

static ashuf_status next_whole(struct decoder *d, struct zstd_reader *r, uint8_t *out, size_t size,
                               size_t *got, struct ashuf_error *error) {
  uint64_t bound = r->frame.bound;
  if (bound <= size) return decode_whole(d, r, out, size, ASHUF_SIZE_LIMIT, got, error);
  if (bound > WHOLE_MAX && bound > d->max_output) bound = d->max_output;
  ashuf_status status = decoder_work(d, (size_t)bound, error);
  size_t made = 0;
  if (status == ASHUF_OK)
    status = decode_whole(d, r, d->work, (size_t)bound, ASHUF_SIZE_LIMIT, &made, error);
  d->work_end = made;
  return status;
}

static ashuf_status next_stream(struct decoder *d, struct zstd_reader *r, uint8_t *out, size_t size,
                                size_t *got, struct ashuf_error *error) {
  ZSTD_inBuffer in = {d->in, d->left, 0};
  ZSTD_outBuffer to = {out, size, 0};
  bool first = r->made == 0;
  size_t result = ZSTD_decompressStream(r->context, &to, &in);
  if (ZSTD_isError(result)) return damaged(d, r, result, error);
  decoder_consume(d, in.pos);
  d->ended = result == 0;
  r->made += to.pos;
  *got = to.pos;
  if (to.pos == 0 && in.pos == 0 && !d->ended) return cut_off(d, error);
  return first ? settle(d, r, error) : ASHUF_OK;
}

static ashuf_status zstd_next(struct decoder *d, uint8_t *out, size_t size, size_t capacity,
                              size_t *got, struct ashuf_error *error) {
  (void)capacity;
  struct zstd_reader *r = d->state[ASHUF_CODEC_ZSTD];
  return r->whole ? next_whole(d, r, out, size, got, error)
                  : next_stream(d, r, out, size, got, error);
}

static uint64_t zstd_bound(const struct decoder *d) {
  const struct zstd_reader *r = d->state[ASHUF_CODEC_ZSTD];
  return r->frame.bound > r->made ? r->frame.bound - r->made : 0;
}

static ashuf_status zstd_whole(struct decoder *d, uint8_t *out, size_t size, size_t *got,
                               struct ashuf_error *error) {
  struct zstd_reader *r = NULL;
  ashuf_status status = need_context(d, &r, error);
  if (status == ASHUF_OK) status = measure_frame(&r->frame, d->in, d->left, error);
  if (status != ASHUF_OK) return status;
  return decode_whole(d, r, out, size, ASHUF_TRAILING_DATA, got, error);
}

static void zstd_trim_reader(struct decoder *d, size_t cap) {
  struct zstd_reader *r = d->state[ASHUF_CODEC_ZSTD];
  if (r == NULL) return;
  if (r->charged > cap || cap == 0) drop_context(d, r);
  if (cap != 0) return;
  memory_free(d->memory, r, sizeof *r);
  d->state[ASHUF_CODEC_ZSTD] = NULL;
}

const struct decode_codec zstd_decode = {zstd_open, zstd_next, zstd_bound, zstd_whole,
                                         zstd_trim_reader};

/* ---- Writing ----------------------------------------------------------------------------- */

struct zstd_writer {
  ZSTD_CCtx *context;
  size_t charged;
  bool begun; /* a step of the open stream has been taken */
};

static void drop_writer(struct encoder *e, struct zstd_writer *w) {
  (void)ZSTD_freeCCtx(w->context);
  memory_discharge(e->memory, w->charged);
  w->context = NULL;
  w->charged = 0;
}

static ashuf_status settle_writer(struct encoder *e, struct zstd_writer *w,
                                  struct ashuf_error *error) {
  size_t size = ZSTD_sizeof_CCtx(w->context);
  if (size < w->charged) {
    memory_discharge(e->memory, w->charged - size);
  } else if (!memory_charge(e->memory, size - w->charged)) {
    ashuf_status status = error_memory(error, SITE_ZSTD_CONTEXT, e->memory, size - w->charged);
    drop_writer(e, w);
    return status;
  }
  w->charged = size;
  return ASHUF_OK;
}

static ashuf_status zstd_open_writer(struct encoder *e, int level, struct ashuf_error *error) {
  struct zstd_writer *w = e->state[ASHUF_CODEC_ZSTD];
  if (w == NULL) w = e->state[ASHUF_CODEC_ZSTD] = memory_zeroed(e->memory, sizeof *w);
  if (w == NULL) return error_memory(error, SITE_ZSTD_STATE, e->memory, sizeof *w);
  if (w->context == NULL) w->context = ZSTD_createCCtx();
  if (w->context == NULL)
    return error_set(error, ASHUF_OUT_OF_MEMORY, SITE_ZSTD_CONTEXT, "zstd: out of memory");
  (void)ZSTD_CCtx_reset(w->context, ZSTD_reset_session_only);
  (void)ZSTD_CCtx_setParameter(w->context, ZSTD_c_contentSizeFlag, 0);
  (void)ZSTD_CCtx_setParameter(w->context, ZSTD_c_compressionLevel, level);
  w->begun = false;
  return settle_writer(e, w, error);
}

static ashuf_status compress_failed(struct encoder *e, struct zstd_writer *w, size_t result,
                                    struct ashuf_error *error) {
  bool memory = ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation;
  ashuf_status status = memory ? ASHUF_OUT_OF_MEMORY : ASHUF_UNSUPPORTED;
  drop_writer(e, w);
  return error_set(error, status, SITE_ZSTD_COMPRESS, "zstd: %s", ZSTD_getErrorName(result));
}

/*
 * Room for a whole block before each call, so that libzstd writes it straight to out and cuts
 * blocks alike whatever out's capacity. A stream that is one step long ends in its first call,
 * where libzstd learns the size and takes smaller tables.
 */
static ashuf_status zstd_step(struct encoder *e, const uint8_t *data, size_t size, bool last,
                              struct ashuf_error *error) {
  struct zstd_writer *w = e->state[ASHUF_CODEC_ZSTD];
  ZSTD_inBuffer in = {data, size, 0};
  bool first = !w->begun;
  size_t room = ZSTD_compressBound(first && last ? size : (size_t)BLOCK_MAX);
  size_t more = 0;
  w->begun = true;
  do {
    uint8_t *to = NULL;
    ashuf_status status = encoder_room(e, room, &to, error);
    if (status != ASHUF_OK) return status;
    ZSTD_outBuffer out = {to, e->out->capacity - e->out->size, 0};
    more = ZSTD_compressStream2(w->context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(more)) return compress_failed(e, w, more, error);
    e->out->size += out.pos;
  } while (in.pos < in.size || (last && more != 0));
  return first ? settle_writer(e, w, error) : ASHUF_OK;
}

static void zstd_trim_writer(struct encoder *e, size_t cap) {
  struct zstd_writer *w = e->state[ASHUF_CODEC_ZSTD];
  if (w == NULL) return;
  if (w->charged > cap || cap == 0) drop_writer(e, w);
  if (cap != 0) return;
  memory_free(e->memory, w, sizeof *w);
  e->state[ASHUF_CODEC_ZSTD] = NULL;
}

const struct encode_codec zstd_encode = {zstd_open_writer, zstd_step, zstd_trim_writer,
                                         -131072,          22,        1};

#endif /* ASHUF_WITH_ZSTD */

#include "codec/codec.h"

#include "codec/codec_int.h"

#include <string.h>

const char *ashuf_codec_name(int codec) {
  static const char *const names[CODEC_COUNT] = {NULL, "none", "lz4", "zstd", "snappy"};
  return codec > 0 && codec < CODEC_COUNT ? names[codec] : NULL;
}

int ashuf_codec_available(int codec) {
  switch (codec) {
    case ASHUF_CODEC_NONE:
      return 1;
    case ASHUF_CODEC_LZ4:
      return ASHUF_WITH_LZ4;
    case ASHUF_CODEC_ZSTD:
      return ASHUF_WITH_ZSTD;
    case ASHUF_CODEC_SNAPPY:
      return ASHUF_WITH_SNAPPY;
    default:
      return 0;
  }
}

ashuf_status codec_check(int codec, struct ashuf_error *error) {
  if (ashuf_codec_name(codec) == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_CODEC_UNKNOWN, "no codec has number %d",
                     codec);
  if (!ashuf_codec_available(codec))
    return error_set(error, ASHUF_UNSUPPORTED, SITE_CODEC_LEFT_OUT,
                     "codec %s was left out of this build", ashuf_codec_name(codec));
  return ASHUF_OK;
}

/* ---- Reading: codec NONE ----------------------------------------------------------------- */

static ashuf_status none_open(struct decoder *d, struct ashuf_error *error) {
  (void)error;
  d->ended = d->left == 0;
  return ASHUF_OK;
}

static ashuf_status none_next(struct decoder *d, uint8_t *out, size_t size, size_t capacity,
                              size_t *got, struct ashuf_error *error) {
  (void)capacity;
  (void)error;
  size_t n = size < d->left ? size : d->left;
  memcpy(out, d->in, n);
  decoder_consume(d, n);
  d->ended = d->left == 0;
  *got = n;
  return ASHUF_OK;
}

static uint64_t none_bound(const struct decoder *d) { return d->left; }

static const struct decode_codec none_decode = {none_open, none_next, none_bound, NULL, NULL};

static const struct decode_codec *const decode_codecs[CODEC_COUNT] = {
    [ASHUF_CODEC_NONE] = &none_decode,
#if ASHUF_WITH_LZ4
    [ASHUF_CODEC_LZ4] = &lz4_decode,
#endif
#if ASHUF_WITH_ZSTD
    [ASHUF_CODEC_ZSTD] = &zstd_decode,
#endif
#if ASHUF_WITH_SNAPPY
    [ASHUF_CODEC_SNAPPY] = &snappy_decode,
#endif
};

/* ---- Reading ----------------------------------------------------------------------------- */

struct decoder *decoder_new(ashuf_memory *memory) {
  struct decoder *d = memory_zeroed(memory, sizeof *d);
  if (d != NULL) d->memory = ashuf_memory_ref(memory);
  return d;
}

static void drop_work(struct decoder *d) {
  memory_free(d->memory, d->work, d->work_capacity);
  d->work = NULL;
  d->work_capacity = 0;
  d->work_start = 0;
  d->work_end = 0;
}

void decoder_trim(struct decoder *d, size_t cap) {
  d->codec = NULL;
  if (d->work_capacity > cap) drop_work(d);
  unsigned used = trim_begin(&d->trim, cap);
  for (int i = 0; used >> i != 0; i++)
    if ((used >> i & 1) != 0 && decode_codecs[i] != NULL && decode_codecs[i]->trim != NULL)
      decode_codecs[i]->trim(d, cap);
  if (d->inner == NULL) return;
  if (cap != 0) {
    decoder_trim(d->inner, cap);
  } else {
    decoder_free(d->inner);
    d->inner = NULL;
  }
}

void decoder_free(struct decoder *d) {
  if (d == NULL) return;
  ashuf_memory *memory = d->memory;
  decoder_trim(d, 0);
  memory_free(memory, d, sizeof *d);
  ashuf_memory_free(memory);
}

#define WORK_DOUBLING ((size_t)1 << 20)

/* Sizes double from 64 KiB to 1 MiB, so that slowly growing units do not allocate each time. */
ashuf_status decoder_work(struct decoder *d, size_t size, struct ashuf_error *error) {
  d->work_start = 0;
  d->work_end = 0;
  if (size <= d->work_capacity) return ASHUF_OK;
  drop_work(d);
  size_t capacity = CODEC_STEP;
  while (capacity < size && capacity < WORK_DOUBLING) capacity *= 2;
  if (capacity < size) capacity = size;
  d->work = memory_alloc(d->memory, capacity);
  if (d->work == NULL) return error_memory(error, SITE_CODEC_WORK, d->memory, capacity);
  d->work_capacity = capacity;
  return ASHUF_OK;
}

static void start(struct decoder *d, const uint8_t *payload, size_t size, uint64_t max_output) {
  d->codec = NULL;
  d->in = payload;
  d->left = size;
  d->ended = false;
  d->position = 0;
  d->max_output = max_output;
  d->work_start = 0;
  d->work_end = 0;
}

ashuf_status decoder_open(struct decoder *d, int codec, const uint8_t *payload, size_t size,
                          uint64_t max_output, struct ashuf_error *error) {
  start(d, payload, size, max_output);
  ashuf_status status = codec_check(codec, error);
  if (status != ASHUF_OK) return status;
  d->trim.used |= 1u << codec;
  status = decode_codecs[codec]->open(d, error);
  if (status == ASHUF_OK) d->codec = decode_codecs[codec];
  return status;
}

static size_t take_waiting(struct decoder *d, uint8_t *out, size_t size) {
  size_t n = d->work_end - d->work_start;
  if (n > size) n = size;
  if (n != 0) memcpy(out, d->work + d->work_start, n);
  d->work_start += n;
  return n;
}

/* Decoded bytes that went past what was wanted wait like others. */
static ashuf_status keep_surplus(struct decoder *d, const uint8_t *bytes, size_t size,
                                 struct ashuf_error *error) {
  ashuf_status status = decoder_work(d, size, error);
  if (status != ASHUF_OK) return status;
  memcpy(d->work, bytes, size);
  d->work_end = size;
  return ASHUF_OK;
}

struct pull_room {
  size_t least;    /* bytes to be there, */
  size_t size;     /* that are wanted, */
  size_t capacity; /* that may be written */
};

/* Fills out as far as the data goes, without regard to max_output. */
static ashuf_status pull(struct decoder *d, uint8_t *out, struct pull_room room, size_t *got,
                         struct ashuf_error *error) {
  size_t done = 0;
  size_t size = room.size;
  ashuf_status status = ASHUF_OK;
  while (done < room.least && status == ASHUF_OK) {
    size_t n = take_waiting(d, out + done, room.least - done);
    if (n == 0) {
      if (d->ended) break;
      status = d->codec->next(d, out + done, room.least - done, room.capacity - done, &n, error);
      if (n > size - done) {
        status = keep_surplus(d, out + size, n - (size - done), error);
        n = size - done;
      }
    }
    done += n;
    d->position += n;
  }
  *got = done;
  return status;
}

static ashuf_status check_limit(struct decoder *d, struct ashuf_error *error) {
  uint8_t byte;
  size_t got = 0;
  uint64_t position = d->position;
  ashuf_status status = pull(d, &byte, (struct pull_room){1, 1, 1}, &got, error);
  if (status == ASHUF_OK && got != 0)
    return error_at(error, ASHUF_SIZE_LIMIT, SITE_CODEC_MAX_OUTPUT, position,
                    "the data decodes to more than the allowed %llu bytes",
                    (unsigned long long)d->max_output);
  return status;
}

ashuf_status decoder_read_part(struct decoder *d, void *out, size_t least, size_t size,
                               size_t capacity, size_t *got, struct ashuf_error *error) {
  *got = 0;
  if (d->codec == NULL)
    return error_set(error, ASHUF_INVALID_STATE, SITE_CODEC_NOT_OPEN, "no stream is open");
  uint64_t allowed = d->max_output - d->position;
  if (least <= d->work_end - d->work_start && least <= allowed) {
    *got = take_waiting(d, out, least); /* the small reads of framing and metadata */
    d->position += least;
    return ASHUF_OK;
  }
  bool cut = size > allowed; /* more may be there than may come */
  struct pull_room room = {least, size, capacity};
  if (cut) room = (struct pull_room){least < allowed ? least : allowed, allowed, allowed};
  ashuf_status status = pull(d, out, room, got, error);
  if (status == ASHUF_OK && cut && *got == allowed && *got < least) status = check_limit(d, error);
  if (status != ASHUF_OK) d->codec = NULL;
  return status;
}

ashuf_status decoder_read(struct decoder *d, void *out, size_t size, size_t *got,
                          struct ashuf_error *error) {
  return decoder_read_part(d, out, size, size, size, got, error);
}

const uint8_t *decoder_borrow(struct decoder *d, size_t size) {
  if (d->codec == NULL || size > d->max_output - d->position) return NULL;
  const uint8_t *bytes = NULL;
  if (d->codec == &none_decode && size <= d->left) {
    bytes = d->in;
    decoder_consume(d, size);
    d->ended = d->left == 0;
  } else if (d->ended && size <= d->work_end - d->work_start) {
    bytes = d->work + d->work_start; /* which nothing will be decoded into any more */
    d->work_start += size;
  }
  if (bytes != NULL) d->position += size;
  return bytes;
}

uint64_t decoder_position(const struct decoder *d) { return d->position; }

uint64_t decoder_allowed(const struct decoder *d) { return d->max_output - d->position; }

uint64_t decoder_bound(const struct decoder *d) {
  if (d->codec == NULL) return 0;
  uint64_t allowed = d->max_output - d->position;
  uint64_t waiting = d->work_end - d->work_start;
  uint64_t more = d->ended ? 0 : d->codec->bound(d);
  uint64_t bound = more > UINT64_MAX - waiting ? UINT64_MAX : more + waiting;
  return bound < allowed ? bound : allowed;
}

static ashuf_status check_end(struct decoder *d, struct ashuf_error *error) {
  uint8_t byte;
  size_t got = 0;
  uint64_t position = d->position;
  ashuf_status status = pull(d, &byte, (struct pull_room){1, 1, 1}, &got, error);
  if (status != ASHUF_OK) return status;
  if (got != 0)
    return error_at(error, ASHUF_TRAILING_DATA, SITE_CODEC_MORE_DATA, position,
                    "data goes on after the end");
  if (d->left != 0)
    return error_at(error, ASHUF_TRAILING_DATA, SITE_CODEC_UNREAD_BYTES, position,
                    "%zu compressed bytes follow the end of the compressed data", d->left);
  return ASHUF_OK;
}

ashuf_status decoder_close(struct decoder *d, struct ashuf_error *error) {
  if (d->codec == NULL)
    return error_set(error, ASHUF_INVALID_STATE, SITE_CODEC_NOT_OPEN, "no stream is open");
  ashuf_status status = check_end(d, error);
  d->codec = NULL;
  return status;
}

/* ---- Reading: one frame of a known size -------------------------------------------------- */

static ashuf_status read_frame(struct decoder *d, int codec, uint8_t *out, size_t size,
                               struct ashuf_error *error) {
  size_t got = 0;
  d->codec = decode_codecs[codec];
  ashuf_status status = d->codec->whole != NULL ? d->codec->whole(d, out, size, &got, error)
                                                : d->codec->open(d, error);
  if (status == ASHUF_OK && d->codec->whole == NULL)
    status = pull(d, out, (struct pull_room){size, size, size}, &got, error);
  if (status == ASHUF_OK && got < size)
    status = error_at(error, ASHUF_TRUNCATED, SITE_CODEC_FRAME_SHORT, 0,
                      "a compressed buffer gives %zu bytes where %zu were announced", got, size);
  if (status == ASHUF_OK) status = check_end(d, error);
  if (status == ASHUF_TRAILING_DATA && error != NULL) error->site = SITE_CODEC_FRAME_LONG;
  d->codec = NULL;
  return status;
}

ashuf_status decoder_frame(struct decoder *d, int codec, const uint8_t *frame, size_t size,
                           uint8_t *out, size_t out_size, struct ashuf_error *error) {
  if (codec != ASHUF_CODEC_LZ4 && codec != ASHUF_CODEC_ZSTD)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_CODEC_FRAME_CODEC,
                     "buffers are compressed with LZ4 or ZSTD only");
  ashuf_status status = codec_check(codec, error);
  if (status != ASHUF_OK) return status;
  if (d->inner == NULL) d->inner = decoder_new(d->memory);
  if (d->inner == NULL) return error_memory(error, SITE_CODEC_WORK, d->memory, sizeof *d);
  start(d->inner, frame, size, out_size);
  d->inner->trim.used |= 1u << codec;
  status = read_frame(d->inner, codec, out, out_size, error);
  if (status != ASHUF_OK && error != NULL && error->space == ASHUF_SPACE_STREAM) error->offset = 0;
  return status;
}

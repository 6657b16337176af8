/*
 * What codec.c and the codecs share: the two structs, one table of functions a codec and
 * direction, and the site numbers.
 *
 * codec.c owns positions, limits, the decoded bytes that wait for the caller, the steps and the
 * sticky error; a codec owns its state and knows its format. A table's functions are called in
 * the order open, then next (or step) until the end; open may come at any time again.
 */
#ifndef ASHUF_CODEC_CODEC_INT_H
#define ASHUF_CODEC_CODEC_INT_H

#include "codec/codec.h"

#ifndef ASHUF_WITH_LZ4
#define ASHUF_WITH_LZ4 1
#endif
#ifndef ASHUF_WITH_ZSTD
#define ASHUF_WITH_ZSTD 1
#endif
#ifndef ASHUF_WITH_SNAPPY
#define ASHUF_WITH_SNAPPY 1
#endif

enum {
  SITE_CODEC_UNKNOWN = 200,
  SITE_CODEC_LEFT_OUT = 201,
  SITE_CODEC_NOT_OPEN = 202,
  SITE_CODEC_MAX_OUTPUT = 203,
  SITE_CODEC_MORE_DATA = 204,
  SITE_CODEC_UNREAD_BYTES = 205,
  SITE_CODEC_WORK = 206,
  SITE_CODEC_FRAME_CODEC = 207,
  SITE_CODEC_FRAME_SHORT = 208,
  SITE_CODEC_FRAME_LONG = 209,
  SITE_CODEC_STEP = 210,
  SITE_CODEC_OUT = 211,
  SITE_CODEC_LEVEL = 212,

  SITE_LZ4_HEADER_CUT = 220,
  SITE_LZ4_MAGIC = 221,
  SITE_LZ4_DESCRIPTOR = 222,
  SITE_LZ4_DICTIONARY = 223,
  SITE_LZ4_HEADER_CHECKSUM = 224,
  SITE_LZ4_NO_END_MARK = 225,
  SITE_LZ4_BLOCK_SIZE = 226,
  SITE_LZ4_BLOCK_CUT = 227,
  SITE_LZ4_BLOCK_CHECKSUM = 228,
  SITE_LZ4_BLOCK_DATA = 229,
  SITE_LZ4_CONTENT_SIZE = 230,
  SITE_LZ4_CHECKSUM_CUT = 231,
  SITE_LZ4_CONTENT_CHECKSUM = 232,
  SITE_LZ4_STATE = 233,

  SITE_ZSTD_HEADER_CUT = 240,
  SITE_ZSTD_MAGIC = 241,
  SITE_ZSTD_DESCRIPTOR = 242,
  SITE_ZSTD_DICTIONARY = 243,
  SITE_ZSTD_WINDOW = 244,
  SITE_ZSTD_CUT = 245,
  SITE_ZSTD_DATA = 246,
  SITE_ZSTD_STATE = 247,
  SITE_ZSTD_CONTEXT = 248,
  SITE_ZSTD_TOO_LONG = 249,
  SITE_ZSTD_COMPRESS = 250,
  SITE_ZSTD_BLOCK_SIZE = 251,

  SITE_SNAPPY_CUT = 260,
  SITE_SNAPPY_NO_IDENTIFIER = 261,
  SITE_SNAPPY_IDENTIFIER = 262,
  SITE_SNAPPY_CHUNK_TYPE = 263,
  SITE_SNAPPY_CHUNK_SIZE = 264,
  SITE_SNAPPY_CHUNK_DATA = 265,
  SITE_SNAPPY_CHECKSUM = 266,
  SITE_SNAPPY_COMPRESS = 267
};

#define CODEC_COUNT (ASHUF_CODEC_SNAPPY + 1)
#define CODEC_STEP ((size_t)65536)

/* Whether the number names a codec (INVALID_ARGUMENT) and this build has it (UNSUPPORTED). */
ashuf_status codec_check(int codec, struct ashuf_error *error);

/* Which codecs have been opened since the last trim: the others are as it left them. */
struct trim_state {
  unsigned used; /* bit i: codec i */
  size_t cap;    /* of the last trim */
};

/* The codecs to look at, now that what is larger than cap has to go. */
static inline unsigned trim_begin(struct trim_state *state, size_t cap) {
  unsigned used = cap < state->cap ? (1u << CODEC_COUNT) - 1 : state->used;
  *state = (struct trim_state){0, cap};
  return used;
}

/* ---- Reading ----------------------------------------------------------------------------- */

struct decode_codec {
  /* Reads the head of what d->in holds; the state is made where it is missing. */
  ashuf_status (*open)(struct decoder *d, struct ashuf_error *error);
  /* Decodes some more: straight into out (*got says how much), or into the work buffer where a
   * unit may not fit, or nothing, or sets d->ended. size bytes are wanted now; a unit may reach
   * past them, up to capacity. Called with size > 0, an empty work buffer and d->ended false;
   * advances d->in and d->left. */
  ashuf_status (*next)(struct decoder *d, uint8_t *out, size_t size, size_t capacity, size_t *got,
                       struct ashuf_error *error);
  /* No more than this many bytes come out of what has not been decoded yet. */
  uint64_t (*bound)(const struct decoder *d);
  /* A whole frame of a known size in one go, or NULL: through open and next. */
  ashuf_status (*whole)(struct decoder *d, uint8_t *out, size_t size, size_t *got,
                        struct ashuf_error *error);
  /* Drops state of more than cap bytes; all of it for 0. */
  void (*trim)(struct decoder *d, size_t cap);
};

struct decoder {
  ashuf_memory *memory;
  const struct decode_codec *codec; /* NULL while no stream is open */
  void *state[CODEC_COUNT];
  struct trim_state trim;
  struct decoder *inner; /* of decoder_frame, which may be called while a stream is open */
  const uint8_t *in;     /* compressed bytes not read yet */
  size_t left;
  bool ended;
  uint64_t position; /* decoded bytes handed out */
  uint64_t max_output;
  /* Decoded bytes that wait: work[work_start, work_end). */
  uint8_t *work;
  size_t work_capacity;
  size_t work_start;
  size_t work_end;
};

/* An empty work buffer of at least size bytes. */
ashuf_status decoder_work(struct decoder *d, size_t size, struct ashuf_error *error);

static inline void decoder_consume(struct decoder *d, size_t size) {
  d->in += size;
  d->left -= size;
}

extern const struct decode_codec lz4_decode;
extern const struct decode_codec zstd_decode;
extern const struct decode_codec snappy_decode;

/* ---- Writing ----------------------------------------------------------------------------- */

struct encode_codec {
  ashuf_status (*open)(struct encoder *e, int level, struct ashuf_error *error);
  /* The next CODEC_STEP bytes; with last set the end of the stream, 0 to CODEC_STEP bytes. */
  ashuf_status (*step)(struct encoder *e, const uint8_t *data, size_t size, bool last,
                       struct ashuf_error *error);
  void (*trim)(struct encoder *e, size_t cap);
  int level_min;
  int level_max;
  int level_default;
};

/*
 *   step: [ up to CODEC_STEP waiting ][ ENCODER_PIECE of room for encoder_reserve ]
 *
 * A full step waits until one more byte comes, so that the last step is known to be the last.
 */
struct encoder {
  ashuf_memory *memory;
  const struct encode_codec *codec; /* NULL while closed, and for codec NONE */
  bool open;
  void *state[CODEC_COUNT];
  struct trim_state trim;
  struct ashuf_buffer *out;
  ashuf_memory *out_memory;
  struct ashuf_buffer *loans; /* NULL: everything is copied */
  uint8_t *step;
  size_t used;
  uint64_t position;
  ashuf_status failed;
  struct ashuf_error error;
  uint8_t sink[ENCODER_PIECE]; /* what encoder_reserve gives once the stream has failed */
};

/* Room for size bytes behind out; the caller adds what it used to out->size. */
ashuf_status encoder_room(struct encoder *e, size_t size, uint8_t **room,
                          struct ashuf_error *error);

extern const struct encode_codec lz4_encode;
extern const struct encode_codec zstd_encode;
extern const struct encode_codec snappy_encode;

#endif /* ASHUF_CODEC_CODEC_INT_H */

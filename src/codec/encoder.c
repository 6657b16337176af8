#include "base/buffer.h"
#include "codec/codec.h"
#include "codec/codec_int.h"

#include <string.h>

static const struct encode_codec *const encode_codecs[CODEC_COUNT] = {
#if ASHUF_WITH_LZ4
    [ASHUF_CODEC_LZ4] = &lz4_encode,
#endif
#if ASHUF_WITH_ZSTD
    [ASHUF_CODEC_ZSTD] = &zstd_encode,
#endif
#if ASHUF_WITH_SNAPPY
    [ASHUF_CODEC_SNAPPY] = &snappy_encode,
#endif
};

#define STEP_CAPACITY (CODEC_STEP + ENCODER_PIECE)

struct encoder *encoder_new(ashuf_memory *memory) {
  struct encoder *e = memory_alloc(memory, sizeof *e);
  if (e == NULL) return NULL;
  memset(e, 0, offsetof(struct encoder, sink));
  e->memory = ashuf_memory_ref(memory);
  return e;
}

void encoder_trim(struct encoder *e, size_t cap) {
  e->open = false;
  if (e->step != NULL && STEP_CAPACITY > cap) {
    memory_free(e->memory, e->step, STEP_CAPACITY);
    e->step = NULL;
  }
  unsigned used = trim_begin(&e->trim, cap);
  for (int i = 0; used >> i != 0; i++)
    if ((used >> i & 1) != 0 && encode_codecs[i] != NULL && encode_codecs[i]->trim != NULL)
      encode_codecs[i]->trim(e, cap);
}

void encoder_free(struct encoder *e) {
  if (e == NULL) return;
  ashuf_memory *memory = e->memory;
  encoder_trim(e, 0);
  memory_free(memory, e, sizeof *e);
  ashuf_memory_free(memory);
}

ashuf_status encoder_room(struct encoder *e, size_t size, uint8_t **room,
                          struct ashuf_error *error) {
  if (!buffer_reserve(e->out, e->out_memory, size)) {
    const ashuf_memory *memory = e->out->data != NULL ? e->out->memory : e->out_memory;
    return error_memory(error, SITE_CODEC_OUT, memory, size);
  }
  *room = e->out->data + e->out->size;
  return ASHUF_OK;
}

static ashuf_status choose_level(const struct encode_codec *codec, int has_level, int *level,
                                 struct ashuf_error *error) {
  if (!has_level) *level = codec->level_default;
  if (*level >= codec->level_min && *level <= codec->level_max) return ASHUF_OK;
  return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_CODEC_LEVEL,
                   "compression level %d is not between %d and %d", *level, codec->level_min,
                   codec->level_max);
}

static ashuf_status open_codec(struct encoder *e, int has_level, int level,
                               struct ashuf_error *error) {
  if (e->step == NULL) e->step = memory_alloc(e->memory, STEP_CAPACITY);
  if (e->step == NULL) return error_memory(error, SITE_CODEC_STEP, e->memory, STEP_CAPACITY);
  ashuf_status status = choose_level(e->codec, has_level, &level, error);
  return status == ASHUF_OK ? e->codec->open(e, level, error) : status;
}

ashuf_status encoder_open(struct encoder *e, int codec, int has_level, int level,
                          struct ashuf_buffer *out, ashuf_memory *memory,
                          struct ashuf_error *error) {
  e->open = false;
  ashuf_status status = codec_check(codec, error);
  if (status != ASHUF_OK) return status;
  e->codec = encode_codecs[codec];
  e->trim.used |= 1u << codec;
  e->out = out;
  e->out_memory = memory;
  e->loans = NULL;
  e->used = 0;
  e->position = 0;
  e->failed = ASHUF_OK;
  if (e->codec != NULL) status = open_codec(e, has_level, level, error);
  e->open = status == ASHUF_OK;
  return status;
}

static void take_step(struct encoder *e, const uint8_t *data) {
  if (e->failed == ASHUF_OK) e->failed = e->codec->step(e, data, CODEC_STEP, false, &e->error);
}

uint8_t *encoder_reserve(struct encoder *e, size_t size) {
  if (e->codec != NULL) return e->step + e->used;
  if (e->failed != ASHUF_OK) return e->sink;
  uint8_t *room = e->sink;
  e->failed = encoder_room(e, size, &room, &e->error);
  return room;
}

void encoder_commit(struct encoder *e, size_t size) {
  if (e->failed != ASHUF_OK) return;
  e->position += size;
  if (e->codec == NULL) {
    e->out->size += size;
    return;
  }
  e->used += size;
  if (e->used <= CODEC_STEP) return;
  take_step(e, e->step);
  e->used -= CODEC_STEP;
  memcpy(e->step, e->step + CODEC_STEP, e->used);
}

/* Completes the step that waits, hands over whole steps where they lie, keeps the rest; the rest
 * is never empty, so that a full step is only passed on once it is known not to be the last. */
static void write_steps(struct encoder *e, const uint8_t *bytes, size_t size) {
  if (e->used != 0) {
    size_t n = CODEC_STEP - e->used;
    memcpy(e->step + e->used, bytes, n);
    bytes += n;
    size -= n;
    take_step(e, e->step);
  }
  for (; size > CODEC_STEP; size -= CODEC_STEP, bytes += CODEC_STEP) take_step(e, bytes);
  memcpy(e->step, bytes, size);
  e->used = size;
}

static void write_none(struct encoder *e, const void *bytes, size_t size) {
  uint8_t *room = NULL;
  e->failed = encoder_room(e, size, &room, &e->error);
  if (e->failed != ASHUF_OK) return;
  if (bytes != NULL)
    memcpy(room, bytes, size);
  else
    memset(room, 0, size);
  e->out->size += size;
}

void encoder_write(struct encoder *e, const void *bytes, size_t size) {
  if (e->failed != ASHUF_OK || size == 0) return;
  e->position += size;
  if (e->codec == NULL) {
    write_none(e, bytes, size);
  } else if (size <= CODEC_STEP - e->used) {
    memcpy(e->step + e->used, bytes, size);
    e->used += size;
  } else {
    write_steps(e, bytes, size);
  }
}

/* Fewer bytes than this are cheaper to copy than to list. */
#define LOAN_LEAST 256

void encoder_lend_to(struct encoder *e, struct ashuf_buffer *loans) {
  if (e->codec == NULL) e->loans = loans;
}

void encoder_lend(struct encoder *e, const void *bytes, size_t size) {
  if (e->loans == NULL || size < LOAN_LEAST || e->failed != ASHUF_OK) {
    encoder_write(e, bytes, size);
    return;
  }
  const struct encoder_loan loan = {e->out->size, bytes, size};
  if (buffer_append(e->loans, e->out_memory, &loan, sizeof loan))
    e->position += size;
  else
    e->failed = error_memory(&e->error, SITE_CODEC_OUT, e->out_memory, sizeof loan);
}

void encoder_zeros(struct encoder *e, size_t size) {
  if (e->codec == NULL && e->failed == ASHUF_OK && size != 0) {
    e->position += size;
    write_none(e, NULL, size);
    return;
  }
  while (size != 0 && e->failed == ASHUF_OK) {
    size_t n = size < ENCODER_PIECE ? size : ENCODER_PIECE;
    memset(encoder_reserve(e, n), 0, n);
    encoder_commit(e, n);
    size -= n;
  }
}

uint64_t encoder_position(const struct encoder *e) { return e->position; }

ashuf_status encoder_close(struct encoder *e, struct ashuf_error *error) {
  if (!e->open)
    return error_set(error, ASHUF_INVALID_STATE, SITE_CODEC_NOT_OPEN, "no stream is open");
  e->open = false;
  if (e->failed == ASHUF_OK && e->codec != NULL)
    e->failed = e->codec->step(e, e->step, e->used, true, &e->error);
  if (e->failed != ASHUF_OK && error != NULL) *error = e->error;
  return e->failed;
}

#include "ipc/message_stream.h"

#include "base/bytes.h"

#define CONTINUATION 0xFFFFFFFFu
/* Metadata from a source that cannot say how much it holds is read in steps of this size, so
 * that a length nobody stands behind allocates no more than twice what came. */
#define GROWTH_STEP ((size_t)1 << 20)

void message_stream_open(struct message_stream *stream, const struct byte_source *source,
                         ashuf_memory *memory) {
  stream->source = source;
  stream->memory = memory;
  stream->position = 0;
  stream->legacy_end = false;
}

void message_stream_free(struct message_stream *stream) { ashuf_buffer_free(&stream->scratch); }

void message_stream_trim(struct message_stream *stream, size_t cap) {
  if (stream->scratch.capacity > cap) ashuf_buffer_free(&stream->scratch);
}

static ashuf_status read_some(struct message_stream *stream, void *out, size_t size, size_t *got,
                              struct ashuf_error *error) {
  ashuf_status status = stream->source->read(stream->source->self, out, size, got, error);
  if (status == ASHUF_OK) stream->position += *got;
  return status;
}

static ashuf_status check_allowed(const struct message_stream *stream, uint64_t size,
                                  struct ashuf_error *error) {
  const struct byte_source *source = stream->source;
  if (source->allowed == NULL || size <= source->allowed(source->self)) return ASHUF_OK;
  return error_at(error, ASHUF_SIZE_LIMIT, SITE_MESSAGE_LIMIT, stream->position,
                  "message announces %llu bytes, the limit leaves %llu", (unsigned long long)size,
                  (unsigned long long)source->allowed(source->self));
}

ashuf_status message_stream_expect(const struct message_stream *stream, uint64_t size,
                                   struct ashuf_error *error) {
  uint64_t bound = stream->source->bound(stream->source->self);
  if (size <= bound) return ASHUF_OK;
  ashuf_status status = check_allowed(stream, size, error);
  if (status != ASHUF_OK) return status;
  return error_at(error, ASHUF_TRUNCATED, SITE_BODY_TRUNCATED, stream->position,
                  "message announces %llu bytes, at most %llu are left", (unsigned long long)size,
                  (unsigned long long)bound);
}

ashuf_status message_stream_read_part(struct message_stream *stream, void *out, size_t least,
                                      size_t size, size_t capacity, size_t *got,
                                      struct ashuf_error *error) {
  const struct byte_source *source = stream->source;
  ashuf_status status =
      source->read_part != NULL
          ? source->read_part(source->self, out, least, size, capacity, got, error)
          : source->read(source->self, out, least, got, error);
  if (status == ASHUF_OK) stream->position += *got;
  if (status != ASHUF_OK || *got >= least) return status;
  return error_at(error, ASHUF_TRUNCATED, SITE_BODY_TRUNCATED, stream->position,
                  "message body ends %zu bytes early", size - *got);
}

ashuf_status message_stream_read(struct message_stream *stream, void *out, size_t size,
                                 struct ashuf_error *error) {
  size_t got = 0;
  return message_stream_read_part(stream, out, size, size, size, &got, error);
}

const uint8_t *message_stream_borrow(struct message_stream *stream, size_t size) {
  if (stream->source->borrow == NULL) return NULL;
  const uint8_t *bytes = stream->source->borrow(stream->source->self, size);
  if (bytes != NULL) stream->position += size;
  return bytes;
}

/* Four bytes, where they lie if the source lends them; got < 4 at the end of the data. */
static ashuf_status read_word(struct message_stream *stream, uint32_t *word, size_t *got,
                              struct ashuf_error *error) {
  const uint8_t *lent = message_stream_borrow(stream, sizeof *word);
  if (lent != NULL) {
    *word = load_u32(lent);
    *got = sizeof *word;
    return ASHUF_OK;
  }
  return read_some(stream, word, sizeof *word, got, error);
}

/* The metadata length behind the prefix; 0 is the end mark. */
static ashuf_status read_prefix(struct message_stream *stream, int32_t *length, bool *at_end,
                                struct ashuf_error *error) {
  uint32_t word = 0;
  size_t got = 0;
  ashuf_status status = read_word(stream, &word, &got, error);
  if (status != ASHUF_OK) return status;
  *at_end = got == 0;
  if (got == 0) return ASHUF_OK;
  if (got < 4)
    return error_at(error, ASHUF_TRUNCATED, SITE_PREFIX_TRUNCATED, stream->position,
                    "ends inside a message prefix");
  stream->legacy_end = word != CONTINUATION;
  if (!stream->legacy_end) {
    status = read_word(stream, &word, &got, error);
    if (status != ASHUF_OK) return status;
    if (got < 4)
      return error_at(error, ASHUF_TRUNCATED, SITE_LENGTH_TRUNCATED, stream->position,
                      "ends inside a message length");
  }
  *length = (int32_t)word;
  if (*length < 0)
    return error_at(error, ASHUF_BAD_FRAMING, SITE_LENGTH_NEGATIVE, stream->position - 4,
                    "negative metadata length %d", *length);
  return ASHUF_OK;
}

static ashuf_status read_metadata(struct message_stream *stream, size_t size,
                                  struct message_bytes *out, struct ashuf_error *error) {
  uint64_t bound = stream->source->bound(stream->source->self);
  ashuf_status limited = size > bound ? check_allowed(stream, size, error) : ASHUF_OK;
  if (limited != ASHUF_OK) return limited;
  if (size > bound)
    return error_at(error, ASHUF_TRUNCATED, SITE_METADATA_TRUNCATED, stream->position,
                    "metadata of %zu bytes is cut short", size);
  out->offset = stream->position;
  out->size = size;
  out->data = message_stream_borrow(stream, size);
  if (out->data != NULL) return ASHUF_OK;
  struct ashuf_buffer *scratch = &stream->scratch;
  scratch->size = 0;
  while (scratch->size < size) {
    size_t step = size - scratch->size;
    if (step > GROWTH_STEP) step = GROWTH_STEP;
    if (!buffer_reserve(scratch, stream->memory, step))
      return error_memory(error, SITE_METADATA_MEMORY, stream->memory, step);
    size_t got = 0;
    ashuf_status status = read_some(stream, scratch->data + scratch->size, step, &got, error);
    if (status != ASHUF_OK) return status;
    if (got < step)
      return error_at(error, ASHUF_TRUNCATED, SITE_METADATA_TRUNCATED, stream->position,
                      "metadata of %zu bytes is cut short", size);
    scratch->size += step;
  }
  out->data = scratch->data;
  return ASHUF_OK;
}

ashuf_status message_stream_next(struct message_stream *stream, struct message_bytes *out,
                                 enum stream_event *event, struct ashuf_error *error) {
  int32_t length = 0;
  bool at_end = false;
  ashuf_status status = read_prefix(stream, &length, &at_end, error);
  if (status != ASHUF_OK) return status;
  if (at_end || length == 0) {
    *event = at_end ? STREAM_END_OF_DATA : STREAM_END_MARK;
    return ASHUF_OK;
  }
  *event = STREAM_MESSAGE;
  return read_metadata(stream, (size_t)length, out, error);
}

ashuf_status message_stream_tail(struct message_stream *stream, struct ashuf_error *error) {
  uint8_t word[4];
  uint64_t start = stream->position;
  size_t got = 0;
  ashuf_status status = read_some(stream, word, stream->legacy_end ? 4 : 1, &got, error);
  if (status != ASHUF_OK || got == 0) return status;
  if (stream->legacy_end && got == 4 && load_u32(word) == 0) {
    start = stream->position;
    status = read_some(stream, word, 1, &got, error);
    if (status != ASHUF_OK || got == 0) return status;
  }
  return error_at(error, ASHUF_TRAILING_DATA, SITE_TRAILING, start, "bytes after the end mark");
}

#include "block/block_read.h"

#include "base/bytes.h"
#include "ipc/batch_read.h"

bool block_decoder_init(struct block_decoder *decoder, ashuf_memory *memory,
                        const struct ashuf_ctx_options *options) {
  memset(decoder, 0, sizeof *decoder);
  decoder->memory = memory;
  decoder->dictionaries.memory = memory;
  decoder->unpacker.memory = memory;
  decoder->scratch_cap = options->scratch_cap;
  uint32_t entries =
      options->schema_cache_entries == UINT32_MAX ? 0 : options->schema_cache_entries;
  if (!schema_cache_init(&decoder->cache, memory, entries, options->schema_cache_max_size))
    return false;
  decoder->codec = decoder_new(memory);
  return decoder->codec != NULL;
}

static void forget_match(struct block_decoder *decoder) {
  ashuf_schema_free(decoder->expected);
  ashuf_schema_free(decoder->matched);
  decoder->expected = decoder->matched = NULL;
}

void block_decoder_reset(struct block_decoder *decoder) {
  schema_cache_clear(&decoder->cache);
  decoder_trim(decoder->codec, 0);
  message_stream_free(&decoder->stream);
  dictionary_table_free(&decoder->dictionaries);
  body_unpacker_free(&decoder->unpacker);
  ashuf_buffer_free(&decoder->scratch);
  ashuf_schema_free(decoder->bypassed);
  decoder->bypassed = NULL;
  forget_match(decoder);
  projections_clear(&decoder->projections);
  decoder->messages_parsed = 0;
}

void block_decoder_free(struct block_decoder *decoder) {
  if (decoder->codec != NULL) block_decoder_reset(decoder);
  schema_cache_free(&decoder->cache);
  decoder_free(decoder->codec);
}

/* ---- The codec as a source of bytes ------------------------------------------------------ */

static ashuf_status source_read(void *self, void *out, size_t size, size_t *got,
                                struct ashuf_error *error) {
  return decoder_read(self, out, size, got, error);
}
static const uint8_t *source_borrow(void *self, size_t size) { return decoder_borrow(self, size); }
static ashuf_status source_read_part(void *self, void *out, size_t least, size_t size,
                                     size_t capacity, size_t *got, struct ashuf_error *error) {
  return decoder_read_part(self, out, least, size, capacity, got, error);
}
static uint64_t source_bound(const void *self) { return decoder_bound(self); }
static uint64_t source_allowed(const void *self) { return decoder_allowed(self); }

/* ---- One decode --------------------------------------------------------------------------- */

struct decode {
  struct block_decoder *decoder;
  const struct ashuf_decode_options *options;
  struct ashuf_block_info *info;
  struct ashuf_bytes *owner; /* NULL where the block stays the caller's */
  struct body *lent;         /* the first body that lies in it: a reference */
  const ashuf_schema *schema;
  const struct projection *projection; /* NULL: all columns */
  struct ArrowArray batch;
  struct ashuf_error *error;
};

static ashuf_status parse(struct decode *decode, const struct message_bytes *bytes,
                          struct message *message) {
  ashuf_status status =
      message_read(bytes->data, bytes->size, bytes->offset, message, decode->error);
  if (status == ASHUF_OK) decode->decoder->messages_parsed++;
  return status;
}

/* In the cache, or beside it until the next one. Takes the schema over. */
static ashuf_status keep_schema(struct decode *decode, const struct message_bytes *bytes,
                                ashuf_schema *schema) {
  struct block_decoder *decoder = decode->decoder;
  bool kept = false;
  if (!schema_cache_insert(&decoder->cache, bytes->data, bytes->size, schema, &kept)) {
    ashuf_schema_free(schema);
    return error_memory(decode->error, SITE_CTX_MEMORY, decoder->memory, bytes->size);
  }
  if (kept) {
    ashuf_schema_free(schema); /* the cache's reference keeps it */
  } else {
    ashuf_schema_free(decoder->bypassed);
    decoder->bypassed = schema;
  }
  decode->schema = schema;
  return ASHUF_OK;
}

static ashuf_status parse_schema(struct decode *decode, const struct message_bytes *bytes) {
  struct block_decoder *decoder = decode->decoder;
  struct message message;
  ashuf_status status = parse(decode, bytes, &message);
  if (status != ASHUF_OK) return status;
  if (message.type != MESSAGE_SCHEMA)
    return error_at(decode->error, ASHUF_BAD_SEQUENCE, SITE_FIRST_MESSAGE, bytes->offset,
                    "the first message is not a schema");
  if (message.body_length != 0)
    return error_at(decode->error, ASHUF_BAD_FRAMING, SITE_SCHEMA_BODY, bytes->offset,
                    "a schema message with a body");
  ashuf_schema *schema = NULL;
  status = schema_read(&message, decoder->memory, &schema, decode->error);
  if (status != ASHUF_OK) return status;
  forget_match(decoder);
  return keep_schema(decode, bytes, schema);
}

/* The pair found equal last is remembered, both kept alive, so that neither address can come to
 * mean another schema. */
static ashuf_status check_expected(struct decode *decode) {
  const ashuf_schema *expected = decode->options->expected;
  struct block_decoder *decoder = decode->decoder;
  if (expected == NULL || expected == decode->schema) return ASHUF_OK;
  if (decoder->expected == expected && decoder->matched == decode->schema) return ASHUF_OK;
  ashuf_status status = schema_require_equal(expected, decode->schema, decode->error);
  if (status != ASHUF_OK) return status;
  forget_match(decoder);
  decoder->expected = ashuf_schema_ref(expected);
  decoder->matched = ashuf_schema_ref(decode->schema);
  return ASHUF_OK;
}

static ashuf_status check_schema(struct decode *decode) {
  const struct ashuf_block_info *info = decode->info;
  if (info->columns != (uint64_t)decode->schema->n_columns)
    return error_in(decode->error, ASHUF_BAD_HEADER, SITE_HEADER_FIELDS, ASHUF_SPACE_BLOCK, 8,
                    "the header says %llu columns, the schema has %d",
                    (unsigned long long)info->columns, decode->schema->n_columns);
  if (info->offsets_as_lengths) {
    ashuf_status status = batch_check_lengths(decode->schema, decode->error);
    if (status != ASHUF_OK) return status;
  }
  ashuf_status status = check_expected(decode);
  if (status != ASHUF_OK || decode->options->n_projection == 0) return status;
  return projections_find(&decode->decoder->projections, decode->schema, decode->options,
                          &decode->projection, decode->error);
}

static ashuf_status read_schema(struct decode *decode) {
  struct message_bytes bytes;
  enum stream_event event;
  ashuf_status status =
      message_stream_next(&decode->decoder->stream, &bytes, &event, decode->error);
  if (status != ASHUF_OK) return status;
  if (event != STREAM_MESSAGE)
    return error_at(decode->error, ASHUF_BAD_SEQUENCE, SITE_FIRST_MESSAGE,
                    decode->decoder->stream.position, "the stream ends before its schema");
  decode->schema = schema_cache_find(&decode->decoder->cache, bytes.data, bytes.size);
  if (decode->schema == NULL) status = parse_schema(decode, &bytes);
  return status == ASHUF_OK ? check_schema(decode) : status;
}

/* A body inside the block may stay there where the block was given away and nothing has to be
 * changed in it. */
static bool may_lend(const struct decode *decode, const struct message *message) {
  return decode->owner != NULL && decode->info->codec == ASHUF_CODEC_NONE &&
         message->batch.compression == BODY_PLAIN && !decode->info->offsets_as_lengths;
}

/* The body where it lies, or in memory of its own where no type could be read from its address. */
static ashuf_status lend_body(struct decode *decode, size_t size, struct body **out) {
  struct block_decoder *decoder = decode->decoder;
  uint64_t offset = decoder->stream.position;
  const uint8_t *data = message_stream_borrow(&decoder->stream, size);
  if (((uintptr_t)data & 7) == 0) {
    *out = body_lend(decoder->memory, data, size, offset, decode->lent);
    if (*out != NULL && decode->lent == NULL) decode->lent = body_ref(*out);
  } else {
    *out = body_new(decoder->memory, size);
    if (*out != NULL) {
      memcpy(body_writable(*out), data, size);
      (*out)->offset = offset;
    }
  }
  if (*out != NULL) return ASHUF_OK;
  return error_memory(decode->error, SITE_BODY_MEMORY, decoder->memory, size);
}

static ashuf_status read_body(struct decode *decode, struct message *message, struct body **out) {
  struct block_decoder *decoder = decode->decoder;
  uint64_t size = (uint64_t)message->body_length;
  ashuf_status status = message_stream_expect(&decoder->stream, size, decode->error);
  if (status != ASHUF_OK) return status;
  if (may_lend(decode, message)) return lend_body(decode, (size_t)size, out);
  if (message->type == MESSAGE_BATCH && message->batch.compression == BODY_PLAIN &&
      decode->options->validate == ASHUF_VALIDATE_FULL)
    return body_begin(&decoder->stream, decoder->memory, size, out, decode->error);
  status = body_read(&decoder->stream, decoder->memory, size, out, decode->error);
  if (status != ASHUF_OK || message->batch.compression == BODY_PLAIN) return status;
  status = body_unpack(&decoder->unpacker, message, out, decode->error);
  if (status != ASHUF_OK) body_free(*out);
  return status;
}

static ashuf_status check_plain(struct decode *decode, const struct message *message) {
  if (message->batch.compression == BODY_PLAIN || !decode->info->offsets_as_lengths)
    return ASHUF_OK;
  return error_at(decode->error, ASHUF_UNSUPPORTED, SITE_COMPRESSED_LENGTHS, message->offset,
                  "offsets stored as lengths beside Arrow body compression");
}

static ashuf_status take_batch(struct decode *decode, const struct message *message,
                               struct body *body) {
  struct block_decoder *decoder = decode->decoder;
  struct batch_read_options options = {.validate = decode->options->validate == ASHUF_VALIDATE_FULL,
                                       .offsets_as_lengths = decode->info->offsets_as_lengths != 0,
                                       .scratch = &decoder->scratch};
  if (decode->projection != NULL) {
    options.places = decode->projection->places;
    options.n_places = decode->projection->n;
  }
  ashuf_status status = batch_read(decode->schema, message, body, &decoder->dictionaries, &options,
                                   decoder->memory, &decode->batch, decode->error);
  if (status != ASHUF_OK) return status;
  status = dictionary_table_check_ids(&decoder->dictionaries, decode->schema, decode->error);
  if (status != ASHUF_OK) decode->batch.release(&decode->batch);
  return status;
}

/* One message behind the schema. *done: it was the record batch. */
static ashuf_status read_message(struct decode *decode, const struct message_bytes *bytes,
                                 bool *done) {
  struct message message;
  ashuf_status status = parse(decode, bytes, &message);
  if (status != ASHUF_OK) return status;
  if (message.type == MESSAGE_SCHEMA)
    return error_at(decode->error, ASHUF_BAD_SEQUENCE, SITE_SECOND_SCHEMA, bytes->offset,
                    "a second schema");
  if (message.type != MESSAGE_DICTIONARY && message.type != MESSAGE_BATCH)
    return error_at(decode->error, ASHUF_BAD_SEQUENCE, SITE_MESSAGE_TYPE, bytes->offset,
                    "a message of type %d", (int)message.type);
  status = check_plain(decode, &message);
  struct body *body = NULL;
  if (status == ASHUF_OK) status = read_body(decode, &message, &body);
  if (status != ASHUF_OK) return status;
  if (message.type == MESSAGE_DICTIONARY) {
    status = dictionary_table_put(&decode->decoder->dictionaries, &message, body, decode->error);
    if (status != ASHUF_OK) body_free(body);
    return status;
  }
  decode->info->body_size = (uint64_t)message.body_length;
  status = take_batch(decode, &message, body);
  body_free(body); /* the batch holds it now, or nobody */
  *done = status == ASHUF_OK;
  return status;
}

/* Dictionaries, then the batch. */
static ashuf_status read_messages(struct decode *decode) {
  bool done = false;
  ashuf_status status = ASHUF_OK;
  while (status == ASHUF_OK && !done) {
    struct message_bytes bytes;
    enum stream_event event;
    status = message_stream_next(&decode->decoder->stream, &bytes, &event, decode->error);
    if (status != ASHUF_OK) return status;
    if (event != STREAM_MESSAGE)
      return error_at(decode->error, ASHUF_BAD_SEQUENCE, SITE_NO_BATCH,
                      decode->decoder->stream.position, "the stream ends before its record batch");
    status = read_message(decode, &bytes, &done);
  }
  return status;
}

/* The end of the stream, of the codec's data and of the payload. */
static ashuf_status read_end(struct decode *decode) {
  struct message_stream *stream = &decode->decoder->stream;
  struct message_bytes bytes;
  enum stream_event event;
  uint64_t start = stream->position;
  ashuf_status status = message_stream_next(stream, &bytes, &event, decode->error);
  if (status == ASHUF_OK && event == STREAM_MESSAGE)
    return error_at(decode->error, ASHUF_BAD_SEQUENCE, SITE_AFTER_BATCH, start,
                    "a message after the record batch");
  if (status == ASHUF_OK && event == STREAM_END_MARK)
    status = message_stream_tail(stream, decode->error);
  if (status == ASHUF_OK) status = decoder_close(decode->decoder->codec, decode->error);
  return status;
}

static ashuf_status decode_stream(struct decode *decode) {
  ashuf_status status = read_schema(decode);
  if (status == ASHUF_OK) status = read_messages(decode);
  if (status != ASHUF_OK) return status;
  status = read_end(decode);
  if (status == ASHUF_OK) return status;
  decode->batch.release(&decode->batch);
  return status;
}

/* Metadata and offsets being rebuilt are small but in odd blocks. */
#define SCRATCH_KEEP ((size_t)1 << 20)

static void trim(struct block_decoder *decoder) {
  dictionary_table_clear(&decoder->dictionaries);
  message_stream_trim(&decoder->stream, SCRATCH_KEEP);
  if (decoder->scratch.capacity > SCRATCH_KEEP) ashuf_buffer_free(&decoder->scratch);
  decoder_trim(decoder->codec, decoder->scratch_cap);
}

ashuf_status block_decode_payload(struct block_decoder *decoder, const uint8_t *payload,
                                  size_t size, const struct ashuf_decode_options *options,
                                  struct ashuf_bytes *owner, struct ashuf_block_info *info,
                                  const ashuf_schema **schema, struct ArrowArray *batch,
                                  struct ashuf_error *error) {
  struct decode decode = {.decoder = decoder, .options = options, .info = info, .error = error};
  if (owner != NULL && owner->release != NULL) decode.owner = owner;
  const struct byte_source source = {decoder->codec, source_read,    source_borrow,
                                     source_bound,   source_allowed, source_read_part};
  ashuf_status status =
      decoder_open(decoder->codec, info->codec, payload, size, options->max_decoded_bytes, error);
  if (status == ASHUF_OK) {
    decoder->unpacker.max_size = options->max_decoded_bytes;
    message_stream_open(&decoder->stream, &source, decoder->memory);
    status = decode_stream(&decode);
    info->stream_size = decoder->stream.position;
  }
  if (status == ASHUF_OK && decode.lent != NULL) body_adopt(decode.lent, owner);
  trim(decoder);
  body_free(decode.lent);
  if (status != ASHUF_OK) return status;
  info->rows = decode.batch.length;
  *schema = decode.projection != NULL ? decode.projection->to : decode.schema;
  *batch = decode.batch;
  return ASHUF_OK;
}

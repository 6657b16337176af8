#include "ipc/stream_reader.h"

#include "arrow/stream.h"
#include "base/bytes.h"
#include "ipc/batch_read.h"
#include "ipc/body_compression.h"
#include "ipc/file_footer.h"

#define CONTINUATION 0xFFFFFFFFu
/* The smallest length that the first four characters of a text can be taken for. */
#define TEXT_LENGTH 0x20000000u

struct stream_reader {
  struct stream_state state; /* first: arrow/stream.h */
  ashuf_memory *memory;      /* a reference */
  struct input input;
  struct byte_source source; /* of the input */
  struct message_stream messages;
  struct dictionary_table dictionaries;
  struct body_unpacker unpacker;
  ashuf_schema *schema;
  struct file_footer footer; /* files; its schema is the reader's */
  size_t next_block;         /* of the footer */
  bool by_footer;
  bool validate;
  bool unpacked; /* some body was compressed: offsets in bodies are not those of the file */
  bool ended;
};

static void reader_free(struct stream_reader *reader) {
  ashuf_memory *memory = reader->memory;
  input_close(&reader->input);
  message_stream_free(&reader->messages);
  dictionary_table_free(&reader->dictionaries);
  body_unpacker_free(&reader->unpacker);
  file_footer_free(&reader->footer);
  ashuf_schema_free(reader->schema);
  memory_free(memory, reader, sizeof *reader);
  ashuf_memory_free(memory);
}

/* Errors of the file say its name already. */
static bool is_named(const struct ashuf_error *error) {
  return error->site >= SITE_FILE_OPEN && error->site <= SITE_FILE_SYNC_DIRECTORY;
}

/* The position of a message stream that starts at byte 0 of the file is the place in the file. */
static void tell(const struct stream_reader *reader, struct ashuf_error *error) {
  if (error->space == ASHUF_SPACE_STREAM) error->space = ASHUF_SPACE_FILE;
  if (!is_named(error)) error_prefix(error, "%s: ", reader->input.file.label);
}

/* ---- What the input is -------------------------------------------------------------------- */

enum form { FORM_NONE, FORM_STREAM, FORM_FILE };

/* A length word without continuation, and a FlatBuffer whose root lies inside it. */
static bool is_old_stream(const uint8_t *bytes) {
  uint32_t length = load_u32(bytes);
  uint32_t root = load_u32(bytes + 4);
  return length < TEXT_LENGTH && root >= 4 && root < length && root % 4 == 0;
}

static enum form find_form(const uint8_t *bytes, size_t size) {
  static const uint8_t magic[FILE_START_SIZE] = FILE_MAGIC;
  if (size == FILE_START_SIZE && memcmp(bytes, magic, FILE_START_SIZE) == 0) return FORM_FILE;
  if (size >= 4 && load_u32(bytes) == CONTINUATION) return FORM_STREAM;
  return size == INPUT_PEEK && is_old_stream(bytes) ? FORM_STREAM : FORM_NONE;
}
_Static_assert(INPUT_PEEK == FILE_START_SIZE, "the form is told by the bytes of the magic");

static ashuf_status look(struct stream_reader *reader, enum form *form, struct ashuf_error *error) {
  uint8_t bytes[INPUT_PEEK];
  size_t got = 0;
  ashuf_status status = input_peek(&reader->input, bytes, &got, error);
  if (status != ASHUF_OK) return status;
  *form = find_form(bytes, got);
  if (*form != FORM_NONE) return ASHUF_OK;
  if (got == 0)
    return error_at(error, ASHUF_NOT_ARROW, SITE_READER_EMPTY, 0,
                    "is empty; an Arrow stream begins with a schema");
  return error_at(error, ASHUF_NOT_ARROW, SITE_READER_FORM, 0,
                  "is neither an Arrow IPC file nor an Arrow IPC stream");
}

/* ---- The schema --------------------------------------------------------------------------- */

static ashuf_status read_schema(struct stream_reader *reader, struct ashuf_error *error) {
  struct message_bytes bytes;
  struct message message;
  enum stream_event event;
  ashuf_status status = message_stream_next(&reader->messages, &bytes, &event, error);
  if (status != ASHUF_OK) return status;
  if (event != STREAM_MESSAGE)
    return error_at(error, ASHUF_BAD_SEQUENCE, SITE_READER_FIRST, reader->messages.position,
                    "the stream ends before its schema");
  status = message_read(bytes.data, bytes.size, bytes.offset, &message, error);
  if (status != ASHUF_OK) return status;
  if (message.type != MESSAGE_SCHEMA)
    return error_at(error, ASHUF_BAD_SEQUENCE, SITE_READER_FIRST, bytes.offset,
                    "the first message is not a schema");
  if (message.body_length != 0)
    return error_at(error, ASHUF_BAD_FRAMING, SITE_READER_SCHEMA_BODY, bytes.offset,
                    "a schema message with a body");
  return schema_read(&message, reader->memory, &reader->schema, error);
}

/* The magic in front of the stream that a file from a pipe holds. */
static ashuf_status skip_magic(struct stream_reader *reader, struct ashuf_error *error) {
  uint8_t magic[FILE_START_SIZE];
  return message_stream_read(&reader->messages, magic, sizeof magic, error);
}

static ashuf_status start(struct stream_reader *reader, struct ashuf_error *error) {
  enum form form = FORM_NONE;
  ashuf_status status = look(reader, &form, error);
  if (status != ASHUF_OK) return status;
  reader->source = input_source(&reader->input);
  message_stream_open(&reader->messages, &reader->source, reader->memory);
  if (form == FORM_FILE && reader->input.sized) {
    reader->by_footer = true;
    status = file_footer_read(&reader->input, reader->memory, &reader->footer, error);
    if (status == ASHUF_OK) reader->schema = ashuf_schema_ref(reader->footer.schema);
    return status;
  }
  if (form == FORM_FILE) status = skip_magic(reader, error);
  return status == ASHUF_OK ? read_schema(reader, error) : status;
}

/* ---- Messages ----------------------------------------------------------------------------- */

static ashuf_status read_body(struct stream_reader *reader, struct message *message,
                              struct body **out, struct ashuf_error *error) {
  uint64_t size = (uint64_t)message->body_length;
  if (size > reader->unpacker.max_size)
    return error_at(error, ASHUF_SIZE_LIMIT, SITE_READER_BODY_LIMIT, message->offset,
                    "a message body of %llu bytes, more than the limit of %llu",
                    (unsigned long long)size, (unsigned long long)reader->unpacker.max_size);
  ashuf_status status = body_read(&reader->messages, reader->memory, size, out, error);
  if (status != ASHUF_OK || message->batch.compression == BODY_PLAIN) return status;
  reader->unpacked = true;
  status = body_unpack(&reader->unpacker, message, out, error);
  if (status != ASHUF_OK) body_free(*out);
  return status;
}

/* Recursion ends at the depth a schema may have. */
static bool uses_dictionary(const struct field *fields, int32_t n, int64_t id) {
  for (int32_t i = 0; i < n; i++) {
    const struct field *field = &fields[i];
    if (field->dictionary != NULL &&
        (field->dictionary_id == id || uses_dictionary(field->dictionary, 1, id)))
      return true;
    if (uses_dictionary(field->children, field->n_children, id)) return true;
  }
  return false;
}

static ashuf_status check_dictionary(struct stream_reader *reader, const struct message *message,
                                     struct ashuf_error *error) {
  int64_t id = message->batch.dictionary_id;
  if (!uses_dictionary(reader->schema->columns, reader->schema->n_columns, id))
    return error_at(error, ASHUF_BAD_SEQUENCE, SITE_READER_DICTIONARY_ID, message->offset,
                    "no column uses dictionary %lld", (long long)id);
  /* A footer does not say which batches come before a replacement and which behind it. */
  if (reader->by_footer && !message->batch.is_delta &&
      dictionary_table_find(&reader->dictionaries, id) != NULL)
    return error_at(error, ASHUF_BAD_SEQUENCE, SITE_READER_DICTIONARY_TWICE, message->offset,
                    "a second dictionary %lld in one file", (long long)id);
  return ASHUF_OK;
}

static ashuf_status take_dictionary(struct stream_reader *reader, struct message *message,
                                    struct ashuf_error *error) {
  struct body *body = NULL;
  ashuf_status status = check_dictionary(reader, message, error);
  if (status == ASHUF_OK) status = read_body(reader, message, &body, error);
  if (status != ASHUF_OK) return status;
  status = dictionary_table_put(&reader->dictionaries, message, body, error);
  if (status != ASHUF_OK) body_free(body);
  return status;
}

static ashuf_status take_batch(struct stream_reader *reader, struct message *message,
                               struct ArrowArray *out, struct ashuf_error *error) {
  struct body *body = NULL;
  struct batch_read_options options = {.validate = reader->validate};
  ashuf_status status = read_body(reader, message, &body, error);
  if (status != ASHUF_OK) return status;
  status = batch_read(reader->schema, message, body, &reader->dictionaries, &options,
                      reader->memory, out, error);
  body_free(body);
  if (status != ASHUF_OK && reader->unpacked && error->space == ASHUF_SPACE_STREAM)
    error->offset = message->offset;
  return status;
}

/* The next message of the stream; *found false at its end. */
static ashuf_status next_in_stream(struct stream_reader *reader, struct message *message,
                                   bool *found, struct ashuf_error *error) {
  struct message_bytes bytes;
  enum stream_event event;
  ashuf_status status = message_stream_next(&reader->messages, &bytes, &event, error);
  if (status != ASHUF_OK) return status;
  *found = event == STREAM_MESSAGE;
  if (!*found) return ASHUF_OK;
  return message_read(bytes.data, bytes.size, bytes.offset, message, error);
}

/* The next message that the footer names. */
static ashuf_status next_in_file(struct stream_reader *reader, struct message *message, bool *found,
                                 struct ashuf_error *error) {
  const struct file_footer *footer = &reader->footer;
  *found = reader->next_block < footer->n_dictionaries + footer->n_batches;
  if (!*found) return ASHUF_OK;
  bool is_dictionary = reader->next_block < footer->n_dictionaries;
  const struct file_block *block = &footer->blocks[reader->next_block++];
  uint64_t body = block->offset + block->metadata_size;
  input_seek(&reader->input, block->offset, body + block->body_size);
  reader->messages.position = block->offset;
  ashuf_status status = next_in_stream(reader, message, found, error);
  if (status != ASHUF_OK) return status;
  if (!*found || reader->messages.position != body ||
      (uint64_t)message->body_length != block->body_size ||
      message->type != (is_dictionary ? MESSAGE_DICTIONARY : MESSAGE_BATCH))
    return error_at(error, ASHUF_BAD_FRAMING, SITE_READER_BLOCK, block->offset,
                    "not the %s message that the footer says is there",
                    is_dictionary ? "dictionary" : "record batch");
  return ASHUF_OK;
}

/* The next batch; out->release is NULL at the end. */
static ashuf_status next_batch(struct stream_reader *reader, struct ArrowArray *out,
                               struct ashuf_error *error) {
  memset(out, 0, sizeof *out);
  while (!reader->ended && out->release == NULL) {
    struct message message;
    bool found = false;
    ashuf_status status = reader->by_footer ? next_in_file(reader, &message, &found, error)
                                            : next_in_stream(reader, &message, &found, error);
    if (status != ASHUF_OK) return status;
    if (!found) {
      reader->ended = true;
    } else if (message.type == MESSAGE_DICTIONARY) {
      status = take_dictionary(reader, &message, error);
    } else if (message.type == MESSAGE_BATCH) {
      status = take_batch(reader, &message, out, error);
    } else {
      return error_at(error, ASHUF_BAD_SEQUENCE,
                      message.type == MESSAGE_SCHEMA ? SITE_READER_SECOND_SCHEMA : SITE_READER_TYPE,
                      message.offset, "a message of type %d behind the schema", (int)message.type);
    }
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

/* ---- The stream --------------------------------------------------------------------------- */

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  struct stream_reader *reader = stream->private_data;
  struct ashuf_error *error = &reader->state.error;
  if (stream_has_failed(&reader->state)) return stream_errno(error);
  if (ashuf_schema_export(reader->schema, out, error) == ASHUF_OK) return 0;
  tell(reader, error);
  return stream_errno(error);
}

static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  struct stream_reader *reader = stream->private_data;
  struct ashuf_error *error = &reader->state.error;
  struct ArrowArray batch;
  if (stream_has_failed(&reader->state)) return stream_errno(error);
  if (next_batch(reader, &batch, error) == ASHUF_OK) {
    *out = batch;
    return 0;
  }
  tell(reader, error);
  return stream_errno(error);
}

static void stream_release(struct ArrowArrayStream *stream) {
  reader_free(stream->private_data);
  stream->private_data = NULL;
  stream->release = NULL;
}

ashuf_status stream_reader_open(const char *path, const struct ashuf_ipc_read_options *options,
                                struct ArrowArrayStream *out, struct ashuf_error *error) {
  ashuf_memory *memory = options->memory;
  struct ashuf_error own;
  struct stream_reader *reader = memory_zeroed(memory, sizeof *reader);
  if (reader == NULL) return error_memory(error, SITE_READER_OPEN, memory, sizeof *reader);
  reader->memory = ashuf_memory_ref(memory);
  reader->input.file.fd = -1;
  reader->dictionaries.memory = memory;
  reader->unpacker.memory = memory;
  reader->unpacker.max_size = options->max_decoded_bytes;
  reader->validate = options->validate == ASHUF_VALIDATE_FULL;
  ashuf_status status = input_open(&reader->input, path, &own);
  if (status == ASHUF_OK) status = start(reader, &own);
  if (status != ASHUF_OK) {
    tell(reader, &own);
    if (error != NULL) *error = own;
    reader_free(reader);
    return status;
  }
  *out = (struct ArrowArrayStream){stream_get_schema, stream_get_next, stream_last_error,
                                   stream_release, reader};
  return ASHUF_OK;
}

#include "ipc/stream_writer.h"

#include "base/buffer.h"
#include "base/bytes.h"
#include "codec/codec.h"
#include "ipc/batch_plan.h"

#define CONTINUATION 0xFFFFFFFFu
#define PREFIX_SIZE 8u
#define MESSAGE_ALIGNMENT 64u
/* What the planning arena keeps between messages. */
#define SCRATCH_KEEP ((size_t)8 << 20)

enum writer_state { WRITER_OPEN, WRITER_FINISHED, WRITER_FAILED };

struct ashuf_ipc_writer {
  ashuf_memory *memory; /* a reference */
  struct stream_sink sink;
  ashuf_schema *output; /* without dictionaries: a reference */
  struct source_set batch;
  struct arena arena; /* plans and what they gathered; emptied after each message */
  struct encoder *encoder;
  struct ashuf_buffer bytes; /* one message */
  enum writer_state state;
};

void stream_writer_free(ashuf_ipc_writer *writer) {
  if (writer == NULL) return;
  ashuf_memory *memory = writer->memory;
  if (writer->batch.schema != NULL) source_set_free(&writer->batch);
  encoder_free(writer->encoder);
  arena_free(&writer->arena);
  ashuf_buffer_free(&writer->bytes);
  ashuf_schema_free(writer->output);
  memory_free(memory, writer, sizeof *writer);
  ashuf_memory_free(memory);
}

/* ---- Messages ----------------------------------------------------------------------------- */

static ashuf_status send(ashuf_ipc_writer *writer, const void *bytes, size_t size,
                         struct ashuf_error *error) {
  int failure = writer->sink.write(writer->sink.user_data, bytes, size);
  if (failure == 0) return ASHUF_OK;
  return error_os(error, SITE_IPC_WRITER_OUTPUT, failure, "cannot write the Arrow stream");
}

/* Prefix, flatbuffer, padding; failures stick in the encoder. */
static void put_metadata(ashuf_ipc_writer *writer, const uint8_t *metadata, size_t size) {
  size_t padded = round_up(PREFIX_SIZE + size, MESSAGE_ALIGNMENT) - PREFIX_SIZE;
  uint8_t prefix[PREFIX_SIZE];
  store_u32(prefix, CONTINUATION);
  store_u32(prefix + 4, (uint32_t)padded);
  encoder_write(writer->encoder, prefix, sizeof prefix);
  encoder_write(writer->encoder, metadata, size);
  encoder_zeros(writer->encoder, padded - size);
}

/* One message; plan NULL: without body. */
static ashuf_status write_message(ashuf_ipc_writer *writer, const uint8_t *metadata, size_t size,
                                  const struct batch_plan *plan, struct ashuf_error *error) {
  writer->bytes.size = 0;
  ashuf_status status =
      encoder_open(writer->encoder, ASHUF_CODEC_NONE, 1, 0, &writer->bytes, writer->memory, error);
  if (status != ASHUF_OK) return status;
  put_metadata(writer, metadata, size);
  if (plan != NULL) batch_plan_emit(plan, writer->encoder);
  status = encoder_close(writer->encoder, error);
  if (status != ASHUF_OK) return status;
  return send(writer, writer->bytes.data, writer->bytes.size, error);
}

static ashuf_status write_schema(ashuf_ipc_writer *writer, struct ashuf_error *error) {
  const struct schema_message *message = NULL;
  ashuf_status status = schema_message_get(writer->output, &message, error);
  if (status != ASHUF_OK) return status;
  return write_message(writer, message->bytes, message->size, NULL, error);
}

static ashuf_status write_batch(ashuf_ipc_writer *writer, const struct batch_plan *plan,
                                struct ashuf_error *error) {
  struct batch_metadata batch;
  batch_plan_metadata(plan, false, &batch);
  size_t size = batch_metadata_size(&batch);
  uint8_t *metadata = arena_alloc(&writer->arena, size, 8);
  if (metadata == NULL) return error_memory(error, SITE_IPC_WRITER_MEMORY, writer->memory, size);
  batch_metadata_write(&batch, metadata);
  return write_message(writer, metadata, size, plan, error);
}

/* ---- Cutting ------------------------------------------------------------------------------ */

static ashuf_status plan_rows(ashuf_ipc_writer *writer, int64_t first, int64_t n,
                              struct batch_plans *plans, struct ashuf_error *error) {
  const struct batch_layout layout = {.padding = MESSAGE_ALIGNMENT, .offset_limit = INT32_MAX};
  struct row_range *range = arena_alloc(&writer->arena, sizeof *range, 8);
  struct selection *rows = arena_alloc(&writer->arena, sizeof *rows, 8);
  if (range == NULL || rows == NULL)
    return error_memory(error, SITE_IPC_WRITER_MEMORY, writer->memory, sizeof *rows);
  *range = (struct row_range){row_id_of(0, first), n};
  *rows = (struct selection){.n_rows = n, .ranges = range, .n_ranges = n == 0 ? 0 : 1};
  return batch_plan_make(&writer->batch, rows, &layout, &writer->arena, plans, error);
}

/* Plans up to *n rows and lowers *n to as many as one message should hold. */
static ashuf_status plan_message(ashuf_ipc_writer *writer, int64_t first, int64_t *n,
                                 struct batch_plans *plans, struct ashuf_error *error) {
  for (;;) {
    ashuf_status status = plan_rows(writer, first, *n, plans, error);
    if (status != ASHUF_OK) return status;
    bool fits = !plans->too_large && plans->body_length <= WRITER_MAX_BODY;
    if (fits || (*n <= 1 && !plans->too_large)) return ASHUF_OK;
    if (*n <= 1)
      return error_set(error, ASHUF_SIZE_LIMIT, SITE_IPC_WRITER_ROW,
                       "row %lld holds more than a 32-bit offset can say", (long long)first);
    arena_reset(&writer->arena, SCRATCH_KEEP);
    *n /= 2;
  }
}

static ashuf_status write_rows(ashuf_ipc_writer *writer, int64_t length,
                               struct ashuf_error *error) {
  int64_t first = 0;
  int64_t most = WRITER_MAX_ROWS; /* rows of one size are cut alike, without planning twice */
  do {
    int64_t left = length - first;
    int64_t n = left < most ? left : most;
    int64_t asked = n;
    struct batch_plans plans;
    ashuf_status status = plan_message(writer, first, &n, &plans, error);
    if (status == ASHUF_OK) status = write_batch(writer, &plans.batch, error);
    arena_reset(&writer->arena, SCRATCH_KEEP);
    if (status != ASHUF_OK) return status;
    if (n < asked) most = n;
    first += n;
  } while (first < length);
  return ASHUF_OK;
}

/* ---- The writer --------------------------------------------------------------------------- */

static ashuf_status start(ashuf_ipc_writer *writer, const ashuf_schema *schema,
                          struct ashuf_error *error) {
  ashuf_memory *memory = writer->memory;
  writer->encoder = encoder_new(memory);
  writer->output = schema_plain(schema);
  if (writer->encoder == NULL || writer->output == NULL)
    return error_memory(error, SITE_IPC_WRITER_MEMORY, memory, sizeof *writer);
  ashuf_status status = source_set_init(&writer->batch, schema, memory, error);
  return status == ASHUF_OK ? write_schema(writer, error) : status;
}

ashuf_status stream_writer_open(const ashuf_schema *schema, ashuf_memory *memory,
                                const struct stream_sink *sink, ashuf_ipc_writer **out,
                                struct ashuf_error *error) {
  ashuf_ipc_writer *writer = memory_zeroed(memory, sizeof *writer);
  if (writer == NULL) return error_memory(error, SITE_IPC_WRITER_MEMORY, memory, sizeof *writer);
  writer->memory = ashuf_memory_ref(memory);
  writer->sink = *sink;
  arena_init(&writer->arena, memory);
  ashuf_status status = start(writer, schema, error);
  if (status == ASHUF_OK)
    *out = writer;
  else
    stream_writer_free(writer);
  return status;
}

static ashuf_status check_open(const ashuf_ipc_writer *writer, struct ashuf_error *error) {
  if (writer->state == WRITER_OPEN) return ASHUF_OK;
  return error_set(error, ASHUF_INVALID_STATE, SITE_IPC_WRITER_STATE,
                   writer->state == WRITER_FINISHED ? "the stream has been finished"
                                                    : "an earlier write has failed");
}

ashuf_status stream_writer_write(ashuf_ipc_writer *writer, const struct ArrowArray *batch,
                                 struct ashuf_error *error) {
  ashuf_status status = check_open(writer, error);
  if (status != ASHUF_OK) return status;
  status = source_set_push(&writer->batch, batch, error);
  if (status != ASHUF_OK) return status; /* nothing was written: another batch may follow */
  status = write_rows(writer, batch->length, error);
  source_set_clear(&writer->batch);
  if (status != ASHUF_OK) writer->state = WRITER_FAILED;
  return status;
}

ashuf_status stream_writer_finish(ashuf_ipc_writer *writer, struct ashuf_error *error) {
  ashuf_status status = check_open(writer, error);
  if (status != ASHUF_OK) return status;
  uint8_t end[PREFIX_SIZE];
  store_u32(end, CONTINUATION);
  store_u32(end + 4, 0);
  status = send(writer, end, sizeof end, error);
  writer->state = status == ASHUF_OK ? WRITER_FINISHED : WRITER_FAILED;
  return status;
}

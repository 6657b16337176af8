#include "shuffle/reader.h"

#include "arrow/stream.h"
#include "base/options.h"
#include "block/projection.h"
#include "ipc/batch_concat.h"
#include "shuffle/read_queue.h"
#include "shuffle/unify.h"

#include <string.h>

#define DEFAULT_TARGET_BYTES ((uint64_t)16 << 20)
#define DEFAULT_AHEAD_BYTES ((uint64_t)64 << 20)
/* Blocks that become one batch, whatever the targets say. */
#define PENDING_MOST ((size_t)1 << 16)

struct reader {
  struct stream_state state; /* first: arrow/stream.h */
  ashuf_memory *memory;      /* a reference */
  int64_t target_rows;       /* 0: one batch a block */
  uint64_t target_bytes;
  ashuf_schema *schema; /* of the stream; dictionaries numbered by us */
  struct read_source source;
  struct read_queue queue;
  struct unifier unifier;

  struct read_block block;    /* the next one, unified; batch.release NULL: none was read yet */
  bool ended;                 /* there is no next one */
  struct ashuf_error failure; /* or this is what comes in its place; status OK: not */

  struct ArrowArray *pending; /* blocks to be put together */
  size_t n_pending;
  size_t capacity;
  int64_t pending_rows;
  uint64_t pending_bytes;
  uint64_t blocks, rows, batches; /* given out */
};

static void reader_free(struct reader *reader) {
  ashuf_memory *memory = reader->memory;
  read_queue_close(&reader->queue);
  read_source_free(&reader->source);
  if (reader->block.batch.release != NULL) reader->block.batch.release(&reader->block.batch);
  for (size_t i = 0; i < reader->n_pending; i++) reader->pending[i].release(&reader->pending[i]);
  memory_free(memory, reader->pending, reader->capacity * sizeof *reader->pending);
  unify_free(&reader->unifier);
  ashuf_schema_free(reader->schema);
  memory_free(memory, reader, sizeof *reader);
  ashuf_memory_free(memory);
}

static ashuf_status no_memory(const struct reader *reader, size_t size, struct ashuf_error *error) {
  return error_memory(error, SITE_READER_MEMORY, reader->memory, size);
}

/* ---- Blocks -------------------------------------------------------------------------------- */

/* The stream's schema from the expected one, or from that of the first block without
 * dictionaries; its dictionary ids are its own. */
static ashuf_status set_schema(struct reader *reader, const ashuf_schema *schema,
                               struct ashuf_error *error) {
  reader->schema = schema_pick(schema, NULL, schema->n_columns, reader->memory);
  if (reader->schema == NULL) return no_memory(reader, sizeof *schema, error);
  unify_init(&reader->unifier, reader->schema, reader->memory);
  return ASHUF_OK;
}

static ashuf_status learn_schema(struct reader *reader, const ashuf_schema *first,
                                 struct ashuf_error *error) {
  ashuf_schema *plain = schema_plain(first);
  if (plain == NULL) return no_memory(reader, sizeof *first, error);
  ashuf_status status = set_schema(reader, plain, error);
  ashuf_schema_free(plain);
  return status;
}

static ashuf_status unify(struct reader *reader, struct read_block *block,
                          struct ashuf_error *error) {
  ashuf_status status = ASHUF_OK;
  if (reader->schema == NULL) status = learn_schema(reader, block->schema, error);
  if (status == ASHUF_OK)
    status = unify_batch(&reader->unifier, block->schema, &block->batch, error);
  return status;
}

/* Reads the next block, unless it is there already. What goes wrong waits its turn. */
static void look_ahead(struct reader *reader) {
  struct read_block *block = &reader->block;
  int found = 0;
  if (block->batch.release != NULL || reader->ended) return;
  ashuf_status status = read_queue_next(&reader->queue, &found, block, &reader->failure);
  if (status == ASHUF_OK && found) {
    status = unify(reader, block, &reader->failure);
    if (status != ASHUF_OK) {
      block->batch.release(&block->batch);
      block_place_tell(&block->place, &reader->failure);
    }
    ashuf_schema_free(block->schema);
    block->schema = NULL;
  }
  reader->ended = status != ASHUF_OK || !found;
  if (reader->ended) memset(block, 0, sizeof *block);
}

static ashuf_status read_first(struct reader *reader, struct ashuf_error *error) {
  look_ahead(reader);
  if (reader->failure.status != ASHUF_OK) {
    if (error != NULL) *error = reader->failure;
    return reader->failure.status;
  }
  if (reader->schema != NULL) return ASHUF_OK;
  return error_set(error, ASHUF_NO_SCHEMA, SITE_READER_NO_SCHEMA,
                   "there is no block to read, and no schema was given");
}

/* ---- Batches ------------------------------------------------------------------------------- */

static ashuf_status reserve(struct reader *reader, struct ashuf_error *error) {
  if (reader->n_pending < reader->capacity) return ASHUF_OK;
  size_t size = sizeof *reader->pending;
  size_t capacity = reader->capacity == 0 ? 16 : 2 * reader->capacity;
  void *grown =
      memory_grow(reader->memory, reader->pending, reader->capacity * size, capacity * size);
  if (grown == NULL) return no_memory(reader, capacity * size, error);
  reader->pending = grown;
  reader->capacity = capacity;
  return ASHUF_OK;
}

/* Whether the next block goes into the batch that is being gathered. */
static bool belongs(const struct reader *reader) {
  const struct read_block *block = &reader->block;
  if (reader->n_pending == 0) return true;
  if (reader->n_pending == PENDING_MOST) return false;
  return block->rows <= reader->target_rows - reader->pending_rows &&
         reader->pending_bytes < reader->target_bytes &&
         block->stream_size <= reader->target_bytes - reader->pending_bytes;
}

static ashuf_status take_block(struct reader *reader, struct ashuf_error *error) {
  ashuf_status status = reserve(reader, error);
  if (status != ASHUF_OK) return status;
  reader->pending[reader->n_pending++] = reader->block.batch;
  reader->pending_rows += reader->block.rows;
  reader->pending_bytes += reader->block.stream_size;
  memset(&reader->block, 0, sizeof reader->block);
  return ASHUF_OK;
}

/* Blocks until one does not belong, or there is none. */
static ashuf_status gather(struct reader *reader, struct ashuf_error *error) {
  for (;;) {
    look_ahead(reader);
    if (reader->block.batch.release == NULL || !belongs(reader)) return ASHUF_OK;
    ashuf_status status = take_block(reader, error);
    if (status != ASHUF_OK) return status;
    /* A full batch waits for nothing. */
    if (reader->pending_rows >= reader->target_rows ||
        reader->pending_bytes >= reader->target_bytes)
      return ASHUF_OK;
  }
}

static void drop_pending(struct reader *reader, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (reader->pending[i].release != NULL) reader->pending[i].release(&reader->pending[i]);
  reader->n_pending -= n;
  memmove(reader->pending, reader->pending + n, reader->n_pending * sizeof *reader->pending);
  reader->blocks += n;
  if (reader->n_pending == 0) {
    reader->pending_rows = 0;
    reader->pending_bytes = 0;
  }
}

/* The pending blocks as one batch; fewer where offsets or dictionary indices would not fit. What
 * such a try says is not the stream's error. */
static ashuf_status put_together(struct reader *reader, struct ArrowArray *out,
                                 struct ashuf_error *error) {
  size_t n = reader->n_pending;
  struct ashuf_error failure;
  ashuf_status status = ASHUF_SIZE_LIMIT;
  while (n > 1 && status == ASHUF_SIZE_LIMIT) {
    status = batch_concat(reader->schema, reader->pending, n, reader->schema, reader->memory, out,
                          &failure);
    if (status == ASHUF_SIZE_LIMIT) n /= 2;
  }
  if (n > 1 && status != ASHUF_OK) {
    *error = failure;
    return status;
  }
  if (n == 1) {
    *out = reader->pending[0];
    reader->pending[0].release = NULL;
  }
  drop_pending(reader, n);
  return ASHUF_OK;
}

static ashuf_status next_batch(struct reader *reader, struct ArrowArray *out,
                               struct ashuf_error *error) {
  ashuf_status status = reader->n_pending == 0 ? gather(reader, error) : ASHUF_OK;
  if (status != ASHUF_OK) return status;
  if (reader->n_pending != 0) {
    status = put_together(reader, out, error);
  } else if (reader->failure.status != ASHUF_OK) {
    *error = reader->failure;
    return reader->failure.status;
  } else {
    memset(out, 0, sizeof *out);
    return ASHUF_OK;
  }
  if (status != ASHUF_OK) return status;
  reader->rows += (uint64_t)out->length;
  reader->batches++;
  return ASHUF_OK;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static ashuf_status expect(struct reader *reader, const struct ashuf_decode_options *decode,
                           struct ashuf_error *error) {
  ashuf_schema *wanted = NULL;
  if (decode->expected == NULL) return ASHUF_OK;
  ashuf_status status = projection_schema(decode->expected, decode, &wanted, error);
  if (status == ASHUF_OK) status = set_schema(reader, wanted, error);
  ashuf_schema_free(wanted);
  return status;
}

static ashuf_status start(struct reader *reader, const char *const *paths, size_t n_paths,
                          const struct ashuf_read_options *options, struct ashuf_error *error) {
  struct ashuf_decode_options decode = options->decode;
  decode.expected = NULL; /* it is unify that compares */
  reader->target_rows = options->target_rows;
  reader->target_bytes = options->target_bytes == 0 ? DEFAULT_TARGET_BYTES : options->target_bytes;
  uint64_t ahead = options->ahead_bytes == 0 ? DEFAULT_AHEAD_BYTES : options->ahead_bytes;
  int threads = options->threads == 0 ? 1 : options->threads;
  ashuf_status status = expect(reader, &options->decode, error);
  if (status == ASHUF_OK)
    status = read_source_init(&reader->source, paths, n_paths, options, reader->memory, error);
  if (status == ASHUF_OK) status = read_source_check(&reader->source, error);
  if (status == ASHUF_OK)
    status = read_queue_open(&reader->queue, &reader->source, &decode, threads, ahead,
                             reader->memory, error);
  if (status == ASHUF_OK) status = read_first(reader, error);
  return status;
}

/* ---- The stream --------------------------------------------------------------------------- */

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  struct reader *reader = stream->private_data;
  if (stream_has_failed(&reader->state)) return stream_errno(&reader->state.error);
  ashuf_status status = ashuf_schema_export(reader->schema, out, &reader->state.error);
  return status == ASHUF_OK ? 0 : stream_errno(&reader->state.error);
}

static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  struct reader *reader = stream->private_data;
  if (stream_has_failed(&reader->state)) return stream_errno(&reader->state.error);
  ashuf_status status = next_batch(reader, out, &reader->state.error);
  return status == ASHUF_OK ? 0 : stream_errno(&reader->state.error);
}

static void stream_release(struct ArrowArrayStream *stream) {
  reader_free(stream->private_data);
  stream->private_data = NULL;
  stream->release = NULL;
}

ashuf_status reader_open(const char *const *paths, size_t n_paths,
                         const struct ashuf_read_options *options, struct ArrowArrayStream *out,
                         struct ashuf_error *error) {
  struct reader *reader = memory_zeroed(options->memory, sizeof *reader);
  if (reader == NULL)
    return error_memory(error, SITE_READER_MEMORY, options->memory, sizeof *reader);
  reader->memory = ashuf_memory_ref(options->memory);
  ashuf_status status = start(reader, paths, n_paths, options, error);
  if (status != ASHUF_OK) {
    reader_free(reader);
    return status;
  }
  *out = (struct ArrowArrayStream){stream_get_schema, stream_get_next, stream_last_error,
                                   stream_release, reader};
  return ASHUF_OK;
}

int reader_get_stats(struct ArrowArrayStream *stream, struct ashuf_read_stats *out) {
  if (stream == NULL || stream->release != stream_release) return 0;
  const struct reader *reader = stream->private_data;
  const struct read_source *source = &reader->source;
  struct ashuf_read_stats stats = ASHUF_READ_STATS_INIT;
  stats.blocks = reader->blocks;
  stats.rows = reader->rows;
  stats.batches = reader->batches;
  stats.bytes_read = source->ahead.bytes;
  stats.read_calls = source->ahead.calls;
  stats.partitions_verified = source->verified;
  stats.partitions_unverified = source->unverified;
  options_write(out, &stats, sizeof stats);
  return 1;
}

#include "shuffle/writer.h"

#include "base/options.h"
#include "codec/checksum.h"
#include "os/clock.h"

#include <stdlib.h>
#include <string.h>

/* What of a domain's limit is left to others. */
#define DOMAIN_SHARE 8
/* Copies are worth their while where rows are scattered over much memory. */
#define SLAB_BYTES ((size_t)16 << 20)
#define SLAB_SHARE 16
#define COPY_LIMIT ((uint64_t)64 << 20)

size_t writer_slab_bytes;

/* Drops everything but what the caller may still look at: the arrays of a finished writer. */
static void drop_work(ashuf_writer *writer) {
  struct encode_round *round = &writer->round;
  output_close(&writer->output);
  writer_drop_reserve(writer);
  batch_store_free(&writer->store);
  batch_copier_free(&writer->copier);
  spill_set_free(&writer->spills);
  encode_pool_free(&writer->pool);
  memory_free(writer->memory, round->parts, round->parts_capacity * sizeof *round->parts);
  memory_free(writer->memory, round->tasks, round->tasks_capacity * sizeof *round->tasks);
  *round = (struct encode_round){0};
  ashuf_buffer_free(&writer->blocks);
}

void writer_close(ashuf_writer *writer) {
  if (writer == NULL) return;
  ashuf_memory *memory = writer->memory;
  drop_work(writer);
  memory_free(memory, writer->offsets, ((size_t)writer->partitions + 1) * sizeof *writer->offsets);
  memory_free(memory, writer->rows, (size_t)writer->partitions * sizeof *writer->rows);
  memory_free(memory, writer->checksums, (size_t)writer->partitions * sizeof *writer->checksums);
  partition_unref(writer->partitioner);
  memory_free(memory, writer, sizeof *writer);
  ashuf_memory_free(memory);
}

static ashuf_status allocate_checksums(ashuf_writer *writer, struct ashuf_error *error) {
  size_t size = (size_t)writer->partitions * sizeof *writer->checksums;
  int kind = writer->options.checksum;
  if (kind == ASHUF_CHECKSUM_NONE) return ASHUF_OK;
  writer->checksums = memory_alloc(writer->memory, size);
  if (writer->checksums == NULL)
    return error_memory(error, SITE_WRITER_MEMORY, writer->memory, size);
  for (int32_t i = 0; i < writer->partitions; i++) writer->checksums[i] = checksum_begin(kind);
  return ASHUF_OK;
}

static ashuf_status allocate(ashuf_writer *writer, struct ashuf_error *error) {
  size_t n = (size_t)writer->partitions;
  writer->offsets = memory_zeroed(writer->memory, (n + 1) * sizeof *writer->offsets);
  writer->rows = memory_zeroed(writer->memory, n * sizeof *writer->rows);
  if (writer->offsets == NULL || writer->rows == NULL)
    return error_memory(error, SITE_WRITER_MEMORY, writer->memory,
                        n * (sizeof *writer->offsets + sizeof *writer->rows));
  return allocate_checksums(writer, error);
}

static ashuf_status check_options(const struct ashuf_writer_options *options,
                                  struct ashuf_error *error) {
  int checksum = options->checksum;
  if (checksum != ASHUF_CHECKSUM_NONE && checksum_name(checksum) == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_WRITER_OPTION, "unknown checksum %d",
                     checksum);
  if (options->threads < 1 || options->threads > POOL_MAX_THREADS)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_WRITER_OPTION, "%d threads: from 1 to %d",
                     options->threads, POOL_MAX_THREADS);
  if (options->n_spill_dirs != 0 && options->spill_dirs == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_WRITER_OPTION, "spill_dirs is missing");
  struct ashuf_encode_options spill = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_encode_options resolved;
  spill.codec = options->spill_codec;
  encode_options_resolve(&resolved, &spill);
  ashuf_status status = encode_options_check(&resolved, error);
  return status == ASHUF_OK ? encode_options_check(&options->encode, error) : status;
}

static void set_limits(ashuf_writer *writer) {
  uint64_t own = writer->options.memory_limit;
  uint64_t domain = memory_limit_of(writer->memory);
  uint64_t limit = own == 0 || (domain != 0 && domain < own) ? domain : own;
  writer->limit = limit;
  writer->row_bytes = 1;
  writer->least_held = UINT64_MAX;
  writer_set_sizes(writer, limit == 0 ? UINT64_MAX : limit);
}

static size_t slab_bytes(const ashuf_writer *writer) {
  uint64_t limit = writer->limit;
  if (writer_slab_bytes != 0) return writer_slab_bytes;
  if (writer->partitions == 1 || (limit != 0 && limit < COPY_LIMIT)) return 0;
  uint64_t most = limit / SLAB_SHARE / (uint64_t)writer->options.threads;
  return limit != 0 && most < SLAB_BYTES ? (size_t)most : SLAB_BYTES;
}

/* Whether the schema, and the one without dictionaries, have their message. */
static void look_at_messages(const ashuf_writer *writer, bool have[2]) {
  const ashuf_schema *schema = writer->partitioner->schema;
  const ashuf_schema *plain = atomic_load(&schema->plain);
  have[0] = atomic_load(&schema->message) != NULL;
  have[1] = plain != NULL && plain != schema && atomic_load(&plain->message) != NULL;
}

static const char *temporary_directory(void) {
  const char *set = getenv("TMPDIR");
  return set != NULL && set[0] != '\0' ? set : "/tmp";
}

/* Spill files stand beside the data file where nothing else is said. */
static ashuf_status init_spills(ashuf_writer *writer, const char *data_path,
                                struct ashuf_error *error) {
  const struct ashuf_writer_options *options = &writer->options;
  const char *slash = data_path == NULL ? NULL : strrchr(data_path, '/');
  if (slash == NULL || options->n_spill_dirs != 0)
    return spill_set_init(&writer->spills, options->spill_dirs, options->n_spill_dirs,
                          data_path == NULL ? temporary_directory() : ".", writer->memory, error);
  size_t size = (size_t)(slash - data_path) + 2; /* "/" keeps its slash */
  char *directory = memory_alloc(writer->memory, size);
  if (directory == NULL) return error_memory(error, SITE_WRITER_MEMORY, writer->memory, size);
  memcpy(directory, data_path, size - 1);
  directory[size - 1] = '\0';
  ashuf_status status = spill_set_init(&writer->spills, NULL, 0, directory, writer->memory, error);
  memory_free(writer->memory, directory, size);
  return status;
}

/* Everything but the output, which comes last: a sink is not aborted that was never begun. */
static ashuf_status open_inside(ashuf_partitioner *partitioner,
                                const struct ashuf_writer_options *options, const char *data_path,
                                ashuf_writer **out, struct ashuf_error *error) {
  ashuf_writer *writer = memory_zeroed(options->memory, sizeof *writer);
  if (writer == NULL)
    return error_memory(error, SITE_WRITER_MEMORY, options->memory, sizeof *writer);
  writer->memory = ashuf_memory_ref(options->memory);
  writer->partitioner = partition_ref(partitioner);
  writer->partitions = partitioner->n;
  writer->options = *options;
  writer->round.begun = -1;
  set_limits(writer);
  look_at_messages(writer, writer->had_messages);
  ashuf_status status = check_options(options, error);
  if (status == ASHUF_OK) status = allocate(writer, error);
  if (status == ASHUF_OK) status = init_spills(writer, data_path, error);
  writer->options.spill_dirs = NULL; /* the caller's */
  if (status == ASHUF_OK)
    status = encode_pool_init(&writer->pool, options->threads, &writer->cancelled, writer->memory,
                              error);
  if (status == ASHUF_OK)
    status = batch_copier_init(&writer->copier, slab_bytes(writer), options->threads,
                               writer->memory, error);
  if (status == ASHUF_OK)
    status = batch_store_init(&writer->store, writer->partitioner, writer->memory, error);
  if (status == ASHUF_OK)
    *out = writer;
  else
    writer_close(writer);
  return status;
}

ashuf_status writer_open_files(ashuf_partitioner *partitioner,
                               const struct ashuf_writer_options *options, const char *data_path,
                               const char *index_path, ashuf_writer **out,
                               struct ashuf_error *error) {
  ashuf_writer *writer = NULL;
  ashuf_status status = open_inside(partitioner, options, data_path, &writer, error);
  if (status != ASHUF_OK) return status;
  status = output_files_open(&writer->output, &writer->options, data_path, index_path, error);
  if (status == ASHUF_OK)
    *out = writer;
  else
    writer_close(writer);
  return status;
}

ashuf_status writer_open_sink(ashuf_partitioner *partitioner,
                              const struct ashuf_writer_options *options,
                              const struct ashuf_sink *sink, ashuf_writer **out,
                              struct ashuf_error *error) {
  ashuf_status status = open_inside(partitioner, options, NULL, out, error);
  if (status == ASHUF_OK) output_sink_open(&(*out)->output, sink);
  return status;
}

static ashuf_status require_open(const ashuf_writer *writer, struct ashuf_error *error) {
  if (writer->state == WRITER_OPEN) return ASHUF_OK;
  return error_set(
      error, ASHUF_INVALID_STATE, SITE_WRITER_STATE,
      writer->state == WRITER_FINISHED ? "the writer is finished" : "the writer failed before");
}

static ashuf_status broken(ashuf_writer *writer, ashuf_status status) {
  writer->state = WRITER_BROKEN;
  drop_work(writer);
  return status;
}

ashuf_status writer_report(const ashuf_writer *writer, int64_t rows_pushed, int64_t rows_written,
                           struct ashuf_error *error) {
  const struct ashuf_writer_options *options = &writer->options;
  if (atomic_load_explicit(&writer->cancelled, memory_order_relaxed))
    return error_set(error, ASHUF_CANCELLED, SITE_WRITER_CANCELLED, "the writing was cancelled");
  if (options->progress == NULL ||
      options->progress(options->progress_data, rows_pushed, rows_written) == 0)
    return ASHUF_OK;
  return error_set(error, ASHUF_CANCELLED, SITE_WRITER_CANCELLED,
                   "the progress callback cancelled the writing");
}

/* Whether a failed push says that the batch is bad, and nothing about the writer. */
static bool is_about_batch(ashuf_status status) {
  return status == ASHUF_BAD_ARRAY || status == ASHUF_SCHEMA_MISMATCH ||
         status == ASHUF_INVALID_ARGUMENT;
}

/* ---- When to spill ------------------------------------------------------------------------ */

/* What encoding takes beside the rows: a block a thread, and the codec's, or a group of small
 * partitions. Where rows are wide that is more than comes on top of the limit. */
uint64_t writer_work_bytes(const ashuf_writer *writer) {
  const struct ashuf_encode_options *encode = &writer->options.encode;
  int64_t row = writer->store.n_rows == 0
                    ? writer->row_bytes
                    : (int64_t)(writer->store.buffers.bytes / (uint64_t)writer->store.n_rows);
  uint64_t block = (uint64_t)encode->max_rows * (uint64_t)(row + 1);
  if (block > encode->max_body) block = encode->max_body;
  if (block < (uint64_t)writer->store.widest_row) block = (uint64_t)writer->store.widest_row;
  if (block < writer->group_bytes) block = writer->group_bytes;
  return (uint64_t)writer->options.threads * (block + block / 4);
}

bool writer_wants_spill(ashuf_writer *writer, uint64_t extra) {
  if (atomic_exchange(&writer->spill_requested, false)) return true;
  if (writer->limit == 0) return false;
  uint64_t work = writer_work_bytes(writer);
  uint64_t need = (work < writer->limit / 2 ? work : writer->limit / 2) + extra;
  uint64_t limit = writer->options.memory_limit;
  uint64_t held = batch_store_held(&writer->store);
  if (limit != 0 && (held > limit || need > limit - held)) return true;
  /* Others who share the domain need room too. */
  uint64_t domain = memory_limit_of(writer->memory);
  return domain != 0 && memory_would_exceed(writer->memory, (size_t)(need + domain / DOMAIN_SHARE));
}

ashuf_status writer_spill(ashuf_writer *writer, int32_t first, struct ashuf_error *error) {
  if (writer->store.n_rows == 0) return ASHUF_OK;
  uint64_t start = clock_now();
  uint64_t written = writer->spills.bytes;
  uint64_t held = batch_store_held(&writer->store);
  int64_t row_bytes = (int64_t)(writer->store.buffers.bytes / (uint64_t)writer->store.n_rows);
  writer->row_bytes = row_bytes > 1 ? row_bytes : 1;
  writer_learn_limit(writer, held);
  writer_drop_reserve(writer);
  const struct spill_options options = {writer->options.spill_codec, writer->block_bytes};
  ashuf_status status = batch_store_scatter(&writer->store, error);
  if (status == ASHUF_OK)
    status = spill_write(&writer->spills, &writer->store, first, &options,
                         writer->pool.workers[0].encoder.encoder, &writer->blocks, error);
  if (status != ASHUF_OK) return status;
  batch_store_clear(&writer->store);
  if (memory_limit_of(writer->memory) != 0 || memory_has_host(writer->memory))
    batch_copier_trim(&writer->copier);
  if (writer->spills.bytes != written) {
    writer->counters.spills++;
    writer->counters.memory_spilled += held;
    writer->counters.disk_spilled = writer->spills.bytes;
  }
  writer->counters.spill_ns += clock_now() - start;
  return ASHUF_OK;
}

/* ---- Push --------------------------------------------------------------------------------- */

/* MEMORY_LIMIT, with or without a text, also where the batch has room but brings us too near. */
static ashuf_status try_batch(ashuf_writer *writer, const struct ArrowArray *batch, bool uncharged,
                              struct ashuf_error *error) {
  ashuf_status status = batch_store_admit(&writer->store, batch, uncharged, error);
  if (status != ASHUF_OK) return status;
  if (writer->store.n_rows != 0 && writer_wants_spill(writer, 0)) {
    batch_store_withdraw(&writer->store);
    return ASHUF_MEMORY_LIMIT;
  }
  return batch_store_join(&writer->store, batch, error);
}

/* Rows in memory go where there is no room for the batch otherwise; one that is larger than the
 * limit is taken uncharged, and goes with the next. */
static ashuf_status make_room(ashuf_writer *writer, const struct ArrowArray *batch,
                              struct ashuf_error *error) {
  ashuf_status status = try_batch(writer, batch, false, error);
  if (status == ASHUF_MEMORY_LIMIT && writer->store.n_rows != 0) {
    status = writer_spill(writer, 0, error);
    if (status == ASHUF_OK) status = try_batch(writer, batch, false, error);
  }
  if (status != ASHUF_MEMORY_LIMIT || writer->store.n_rows != 0) return status;
  batch_store_clear(&writer->store);
  return try_batch(writer, batch, true, error);
}

/* Takes the n copies of rows from first on of a batch of batch_rows. */
static ashuf_status take_copies(ashuf_writer *writer, int64_t first, int64_t batch_rows, int n,
                                struct ashuf_error *error) {
  struct copy_share *shares = writer->copier.shares;
  for (int i = 0; i < n; i++) {
    int64_t rows = shares[i].copy.length;
    ashuf_status status = make_room(writer, &shares[i].copy, error);
    if (status != ASHUF_OK) {
      for (; i < n; i++) shares[i].copy.release(&shares[i].copy);
      return status;
    }
    batch_store_keep(&writer->store, &shares[i].copy, first, batch_rows);
    first += rows;
  }
  return ASHUF_OK;
}

/* Copies the batch piece by piece; *taken: rows that are in the store, fewer where the rest is
 * better left where it is. */
static ashuf_status copy_batch(ashuf_writer *writer, int64_t batch_rows, int64_t *taken,
                               struct ashuf_error *error) {
  for (*taken = 0; *taken < batch_rows;) {
    int64_t n = batch_copy_rows(batch_rows, *taken);
    int copies = 0;
    ashuf_status status =
        batch_copy(&writer->copier, &writer->pool, &writer->store.probe, *taken, n,
                   writer->partitions, writer->store.incoming + *taken, &copies, error);
    if (status == ASHUF_MEMORY_LIMIT || (status == ASHUF_OK && copies == 0)) return ASHUF_OK;
    if (status == ASHUF_OK) status = take_copies(writer, *taken, batch_rows, copies, error);
    if (status != ASHUF_OK) return status;
    *taken += n;
  }
  return ASHUF_OK;
}

/* Keeps the rows from first on, which were not copied; releases the batch where there are none. */
static ashuf_status take_rest(ashuf_writer *writer, struct ArrowArray *batch, int64_t first,
                              struct ashuf_error *error) {
  struct ArrowArray rest = *batch;
  rest.offset += first;
  rest.length -= first;
  if (first != 0 && rest.length == 0) {
    batch->release(batch);
    batch->release = NULL;
    return ASHUF_OK;
  }
  ashuf_status status = make_room(writer, &rest, error);
  if (status != ASHUF_OK) return status;
  batch_store_keep(&writer->store, &rest, first, batch->length);
  batch->release = NULL;
  return ASHUF_OK;
}

/* *begun: some of the batch's rows are in the store; a failure is one of the writer then. */
static ashuf_status take_batch(ashuf_writer *writer, struct ArrowArray *batch, bool *begun,
                               struct ashuf_error *error) {
  int64_t rows = batch->length;
  int64_t taken = 0;
  int64_t before = writer->store.rows_before + writer->store.n_rows;
  uint64_t start = clock_now() - writer->counters.spill_ns;
  ashuf_status status = writer_report(writer, writer->rows_pushed + rows, 0, error);
  if (status == ASHUF_OK) status = copy_batch(writer, rows, &taken, error);
  writer->counters.partition_ns += clock_now() - writer->counters.spill_ns - start;
  *begun = writer->store.rows_before + writer->store.n_rows != before;
  if (status == ASHUF_OK) status = take_rest(writer, batch, taken, error);
  if (status == ASHUF_OK)
    writer->rows_pushed += rows;
  else
    batch_store_drop(&writer->store, rows);
  return status;
}

ashuf_status writer_push(ashuf_writer *writer, struct ArrowArray *batch,
                         struct ashuf_error *error) {
  uint64_t start = clock_now();
  ashuf_status status = require_open(writer, error);
  if (status != ASHUF_OK) return status;
  writer_take_reserve(writer);
  status = batch_store_check(&writer->store, batch, error);
  if (status == ASHUF_MEMORY_LIMIT && writer->store.n_rows != 0) {
    status = writer_spill(writer, 0, error);
    if (status != ASHUF_OK) return broken(writer, status);
    status = batch_store_check(&writer->store, batch, error);
  }
  writer->counters.partition_ns += clock_now() - start;
  if (is_about_batch(status)) return status;
  bool begun = false;
  if (status == ASHUF_OK) status = take_batch(writer, batch, &begun, error);
  if (status == ASHUF_OK || (is_about_batch(status) && !begun)) return status;
  return broken(writer, status);
}

/* ---- Finish ------------------------------------------------------------------------------- */

void writer_describe(const ashuf_writer *writer, struct ashuf_map_output *out) {
  struct ashuf_map_output own = writer->counters;
  bool have[2];
  look_at_messages(writer, have);
  own.schema_encodes = (uint64_t)(have[0] && !writer->had_messages[0]) +
                       (uint64_t)(have[1] && !writer->had_messages[1]);
  own.struct_size = sizeof own;
  own.partitions = writer->partitions;
  own.offsets = writer->offsets;
  own.rows = writer->rows;
  own.checksums = writer->checksums;
  own.total_rows = writer->stats.rows;
  own.total_blocks = writer->stats.blocks;
  own.raw_bytes = writer->stats.raw_bytes;
  *out = own;
}

ashuf_status writer_finish(ashuf_writer *writer, struct ashuf_map_output *out,
                           struct ashuf_error *error) {
  ashuf_status status = require_open(writer, error);
  if (status != ASHUF_OK) return status;
  status = writer_write_output(writer, error);
  if (status != ASHUF_OK) return broken(writer, status);
  writer->state = WRITER_FINISHED;
  drop_work(writer);
  struct ashuf_map_output own;
  writer_describe(writer, &own);
  options_write(out, &own, sizeof own);
  return ASHUF_OK;
}

#include "base/buffer.h"
#include "codec/checksum.h"
#include "os/clock.h"
#include "shuffle/writer.h"

#include <inttypes.h>

/* Partitions of a round at most: what a round costs beside its rows stays small. */
#define MAX_PARTS 8192

uint64_t writer_round_bytes;

/* ---- To the output ------------------------------------------------------------------------ */

/* The partition being written. */
struct writing {
  ashuf_writer *writer;
  int32_t partition;
};

static ashuf_status put(const struct writing *writing, const uint8_t *bytes, size_t size,
                        struct ashuf_error *error) {
  ashuf_writer *writer = writing->writer;
  int32_t p = writing->partition;
  uint64_t start = clock_now();
  ashuf_status status = ASHUF_OK;
  if (atomic_load_explicit(&writer->cancelled, memory_order_relaxed))
    return writer_report(writer, 0, 0, error);
  if (writer->round.begun != p) status = output_begin(&writer->output, p, error);
  writer->round.begun = p;
  if (writer->checksums != NULL)
    writer->checksums[p] =
        checksum_update(writer->options.checksum, writer->checksums[p], bytes, size);
  writer->offsets[p + 1] += size;
  if (status == ASHUF_OK) status = output_bytes(&writer->output, bytes, size, error);
  writer->counters.write_ns += clock_now() - start;
  return status;
}

static ashuf_status put_blocks(void *self, const struct ashuf_buffer *out,
                               struct ashuf_error *error) {
  return out->size == 0 ? ASHUF_OK : put(self, out->data, out->size, error);
}

static ashuf_status end_partition(ashuf_writer *writer, int32_t p, struct ashuf_error *error) {
  if (writer->round.begun != p) return ASHUF_OK;
  writer->round.begun = -1;
  return output_end(&writer->output, p, writer->offsets[p + 1],
                    writer->checksums != NULL ? writer->checksums[p] : 0, error);
}

static void add_stats(struct block_encode_stats *sum, const struct block_encode_stats *one) {
  sum->blocks += one->blocks;
  sum->rows += one->rows;
  sum->raw_bytes += one->raw_bytes;
  sum->bytes += one->bytes;
}

/* ---- Parts, one thread -------------------------------------------------------------------- */

/* Encodes rows of a partition on this thread, blocks leaving as they are made. */
static ashuf_status encode_here(ashuf_writer *writer, int32_t partition, const row_id *ids,
                                int64_t n_rows, bool more_follows, int64_t *taken,
                                struct ashuf_error *error) {
  struct writing writing = {writer, partition};
  struct block_sink sink = {put_blocks, &writing};
  struct selection rows = {.n_rows = n_rows, .ids = ids};
  struct block_encoder *encoder = writer->pool.workers[0].encoder;
  const struct ashuf_encode_options *options = &writer->options.encode;
  ashuf_status status;
  writer->blocks.size = 0;
  *taken = n_rows;
  if (more_follows)
    status = block_encode_full(encoder, &writer->store.set, &rows, options, &writer->blocks, &sink,
                               &writer->stats, taken, error);
  else
    status = block_encode_selection(encoder, &writer->store.set, &rows, options, &writer->blocks,
                                    &sink, &writer->stats, error);
  if (status == ASHUF_OK) status = put_blocks(&writing, &writer->blocks, error);
  return status;
}

static ashuf_status part_error(const struct round_part *part, ashuf_status status,
                               struct ashuf_error *error) {
  error_prefix(error, "partition %" PRId32 ": ", part->partition);
  if (error != NULL) error->partition = part->partition;
  return status;
}

static ashuf_status end_part(ashuf_writer *writer, const struct round_part *part, int64_t taken,
                             struct ashuf_error *error) {
  writer->rows[part->partition] += taken;
  return part->more_follows ? ASHUF_OK : end_partition(writer, part->partition, error);
}

static ashuf_status run_alone(ashuf_writer *writer, const row_id *ids, int64_t *taken,
                              struct ashuf_error *error) {
  ashuf_status status = ASHUF_OK;
  for (size_t i = 0; i < writer->round.n_parts && status == ASHUF_OK; i++) {
    const struct round_part *part = &writer->round.parts[i];
    status = encode_here(writer, part->partition, ids + part->first, part->n_rows,
                         part->more_follows, taken, error);
    if (status == ASHUF_OK) status = end_part(writer, part, *taken, error);
    if (status != ASHUF_OK) return part_error(part, status, error);
  }
  return status;
}

/* ---- Parts, several threads --------------------------------------------------------------- */

static size_t tasks_of(const ashuf_writer *writer, const struct round_part *part) {
  int64_t most = writer->options.encode.max_rows;
  if (part->n_rows == 0) return 0;
  return writer->round.whole_parts ? 1 : (size_t)((part->n_rows - 1) / most) + 1;
}

/* A part is cut where its blocks end, if no block is cut short by its bytes. */
static size_t cut_part(const ashuf_writer *writer, const struct round_part *part, const row_id *ids,
                       struct encode_task *tasks) {
  size_t n = tasks_of(writer, part);
  int64_t most = n == 1 ? part->n_rows : writer->options.encode.max_rows;
  int64_t first = 0;
  for (size_t i = 0; i < n; i++, first += most) {
    int64_t left = part->n_rows - first;
    tasks[i] = (struct encode_task){
        .rows = {.n_rows = left < most ? left : most, .ids = ids + part->first + first},
        .more_follows = part->more_follows || i + 1 < n};
  }
  return n;
}

static ashuf_status cut_parts(ashuf_writer *writer, const row_id *ids, size_t *n_tasks,
                              struct ashuf_error *error) {
  struct encode_round *round = &writer->round;
  size_t n = 0;
  for (size_t i = 0; i < round->n_parts; i++) n += tasks_of(writer, &round->parts[i]);
  if (n > round->tasks_capacity) {
    size_t size = n * sizeof *round->tasks;
    struct encode_task *tasks = memory_alloc(writer->memory, size);
    if (tasks == NULL) return error_memory(error, SITE_WRITER_MEMORY, writer->memory, size);
    memory_free(writer->memory, round->tasks, round->tasks_capacity * sizeof *tasks);
    round->tasks = tasks;
    round->tasks_capacity = n;
  }
  *n_tasks = 0;
  for (size_t i = 0; i < round->n_parts; i++)
    *n_tasks += cut_part(writer, &round->parts[i], ids, round->tasks + *n_tasks);
  return ASHUF_OK;
}

/* Writes what the tasks of one part made, up to where one block ended early; what follows is
 * encoded again from there. */
static ashuf_status put_part(ashuf_writer *writer, const struct round_part *part, const row_id *ids,
                             const struct encode_task *tasks, size_t n, int64_t *taken,
                             struct ashuf_error *error) {
  struct writing writing = {writer, part->partition};
  ashuf_status status = ASHUF_OK;
  int64_t rows = 0;
  bool whole = true;
  for (size_t i = 0; i < n && status == ASHUF_OK && whole; i++) {
    const struct encode_task *task = &tasks[i];
    if (task->size != 0)
      status = put(&writing, writer->pool.workers[task->worker].out.data + task->start, task->size,
                   error);
    add_stats(&writer->stats, &task->stats);
    rows += task->taken;
    whole = task->taken == task->rows.n_rows || i + 1 == n;
  }
  *taken = rows;
  if (status != ASHUF_OK || whole) return status;
  writer->round.whole_parts = true;
  status = encode_here(writer, part->partition, ids + part->first + rows, part->n_rows - rows,
                       part->more_follows, taken, error);
  *taken += rows;
  return status;
}

static ashuf_status run_together(ashuf_writer *writer, const row_id *ids, int64_t *taken,
                                 struct ashuf_error *error) {
  struct encode_round *round = &writer->round;
  size_t n = 0;
  bool cut = !round->whole_parts;
  ashuf_status status = cut_parts(writer, ids, &n, error);
  if (status == ASHUF_OK)
    status = encode_pool_run(&writer->pool, &writer->store.set, &writer->options.encode,
                             round->tasks, n, error);
  if (status == ASHUF_OK && atomic_load(&writer->cancelled))
    return writer_report(writer, 0, 0, error);
  const struct encode_task *tasks = round->tasks;
  for (size_t i = 0; i < round->n_parts && status == ASHUF_OK; i++) {
    const struct round_part *part = &round->parts[i];
    int64_t most = writer->options.encode.max_rows;
    size_t own = part->n_rows == 0 ? 0 : cut ? (size_t)((part->n_rows - 1) / most) + 1 : 1;
    status = put_part(writer, part, ids, tasks, own, taken, error);
    if (status == ASHUF_OK) status = end_part(writer, part, *taken, error);
    if (status != ASHUF_OK) return part_error(part, status, error);
    tasks += own;
  }
  return status;
}

/* ---- The round ---------------------------------------------------------------------------- */

ashuf_status round_add(ashuf_writer *writer, const struct round_part *part,
                       struct ashuf_error *error) {
  struct encode_round *round = &writer->round;
  if (round->n_parts == round->parts_capacity) {
    size_t capacity = round->parts_capacity == 0 ? 64 : round->parts_capacity * 2;
    struct round_part *parts =
        memory_grow(writer->memory, round->parts, round->parts_capacity * sizeof *parts,
                    capacity * sizeof *parts);
    if (parts == NULL)
      return error_memory(error, SITE_WRITER_MEMORY, writer->memory, capacity * sizeof *parts);
    round->parts = parts;
    round->parts_capacity = capacity;
  }
  round->parts[round->n_parts++] = *part;
  round->n_rows += part->n_rows;
  return ASHUF_OK;
}

bool round_is_full(const ashuf_writer *writer) {
  uint64_t bytes = (uint64_t)writer->round.n_rows * (uint64_t)writer->row_bytes;
  return bytes >= writer->round_bytes || writer->round.n_parts >= MAX_PARTS;
}

ashuf_status round_run(ashuf_writer *writer, const row_id *ids, int64_t *taken,
                       struct ashuf_error *error) {
  uint64_t start = clock_now();
  uint64_t written = writer->counters.write_ns;
  *taken = 0;
  ashuf_status status = writer->pool.n_workers == 1 ? run_alone(writer, ids, taken, error)
                                                    : run_together(writer, ids, taken, error);
  writer->counters.encode_ns += clock_now() - start - (writer->counters.write_ns - written);
  writer->round.n_parts = 0;
  writer->round.n_rows = 0;
  if (status != ASHUF_OK) return status;
  return writer_report(writer, writer->rows_pushed, writer->stats.rows, error);
}

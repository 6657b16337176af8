#include "base/buffer.h"
#include "codec/checksum.h"
#include "os/clock.h"
#include "shuffle/writer.h"

/* What a round counts for a partition beside its rows: about what a block has more than they. */
#define PART_BYTES 2048
/* Partitions of at most so many rows are encoded together, about so many rows at a time: what they
 * take as one batch stays in the cache (part_encoder.h). */
#define GROUP_PART_ROWS 4096
#define GROUP_ROWS 16384

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

/* ---- Tasks -------------------------------------------------------------------------------- */

/* How many parts from the first on make up one task; 0: the first is one of its own, or several. */
static size_t group_size(const ashuf_writer *writer, const struct round_part *parts, size_t n) {
  uint64_t row = (uint64_t)writer->row_bytes;
  if (row < (uint64_t)writer->store.widest_row) row = (uint64_t)writer->store.widest_row;
  uint64_t rows = 0;
  size_t i = 0;
  while (i < n && !parts[i].more_follows && parts[i].n_rows <= GROUP_PART_ROWS) {
    uint64_t with = rows + (uint64_t)parts[i].n_rows;
    if (with > GROUP_ROWS || with > writer->group_bytes / row) break;
    rows = with;
    i++;
  }
  return i < 2 ? 0 : i;
}

/* How many tasks a part is that is not small: it is cut where its blocks end, if no block is cut
 * short by its bytes. */
static size_t pieces_of(const ashuf_writer *writer, const struct round_part *part) {
  int64_t most = writer->options.encode.max_rows;
  if (writer->pool.n_workers == 1 || writer->round.whole_parts || part->n_rows == 0) return 1;
  return (size_t)((part->n_rows - 1) / most) + 1;
}

static void cut_part(const ashuf_writer *writer, struct round_part *part, const row_id *ids,
                     struct encode_task *tasks, size_t n) {
  int64_t most = n == 1 ? part->n_rows : writer->options.encode.max_rows;
  int64_t first = 0;
  for (size_t i = 0; i < n; i++, first += most) {
    int64_t left = part->n_rows - first;
    tasks[i] = (struct encode_task){
        .parts = part,
        .rows = {.n_rows = left < most ? left : most, .ids = ids + part->first + first},
        .more_follows = part->more_follows || i + 1 < n};
  }
}

static ashuf_status reserve_tasks(ashuf_writer *writer, size_t n, struct ashuf_error *error) {
  struct encode_round *round = &writer->round;
  if (n <= round->tasks_capacity) return ASHUF_OK;
  size_t size = n * sizeof *round->tasks;
  struct encode_task *tasks = memory_alloc(writer->memory, size);
  if (tasks == NULL) return error_memory(error, SITE_WRITER_MEMORY, writer->memory, size);
  memory_free(writer->memory, round->tasks, round->tasks_capacity * sizeof *tasks);
  round->tasks = tasks;
  round->tasks_capacity = n;
  return ASHUF_OK;
}

/* Every part becomes a task, or several, or one with its neighbours. */
static ashuf_status cut_parts(ashuf_writer *writer, const row_id *ids, size_t *n_tasks,
                              struct ashuf_error *error) {
  struct encode_round *round = &writer->round;
  size_t n = 0;
  *n_tasks = 0;
  for (size_t i = 0; i < round->n_parts; i++) n += pieces_of(writer, &round->parts[i]);
  ashuf_status status = reserve_tasks(writer, n, error);
  for (size_t i = 0; i < round->n_parts && status == ASHUF_OK;) {
    struct encode_task *tasks = round->tasks + *n_tasks;
    size_t group = group_size(writer, round->parts + i, round->n_parts - i);
    n = group != 0 ? 1 : pieces_of(writer, &round->parts[i]);
    if (group != 0)
      tasks[0] = (struct encode_task){.parts = round->parts + i, .n_parts = group};
    else
      cut_part(writer, &round->parts[i], ids, tasks, n);
    *n_tasks += n;
    i += group != 0 ? group : 1;
  }
  return status;
}

static ashuf_status end_part(ashuf_writer *writer, const struct round_part *part, int64_t taken,
                             struct ashuf_error *error) {
  writer->rows[part->partition] += taken;
  return part->more_follows ? ASHUF_OK : end_partition(writer, part->partition, error);
}

/* What may wait in a buffer to be written. Blocks of a round take about what its rows do, unless
 * rows share values that each block gets of its own. */
static size_t most_waiting(const ashuf_writer *writer) {
  return (size_t)(writer->round_bytes + writer->round_bytes / 2);
}

/* ---- Whichever thread encodes -------------------------------------------------------------- */

/* Encodes rows of a partition on this thread, blocks leaving as they are made. */
static ashuf_status encode_here(ashuf_writer *writer, int32_t partition,
                                const struct selection *rows, bool more_follows, int64_t *taken,
                                struct ashuf_error *error) {
  struct writing writing = {writer, partition};
  struct block_sink sink = {put_blocks, &writing, writer_sink_bytes(writer)};
  struct part_job job = {&writer->store.set, &writer->options.encode, &writer->blocks, &sink,
                         &writer->stats};
  writer->blocks.size = 0;
  ashuf_status status =
      part_encode_rows(&writer->pool.workers[0].encoder, &job, rows, more_follows, taken, error);
  return status == ASHUF_OK ? put_blocks(&writing, &writer->blocks, error) : status;
}

/* Writes the blocks of whole partitions. Where encoding stopped, what follows is encoded here. */
static ashuf_status put_parts(ashuf_writer *writer, const struct encode_task *task,
                              const row_id *ids, const uint8_t *bytes, int64_t *taken,
                              struct ashuf_error *error) {
  for (size_t i = 0; i < task->n_parts; i++) {
    const struct round_part *part = &task->parts[i];
    struct writing writing = {writer, part->partition};
    ashuf_status status = ASHUF_OK;
    if (part->size != 0) {
      status = put(&writing, bytes, part->size, error);
      bytes += part->size;
    }
    struct selection rest = {.n_rows = part->n_rows - part->taken,
                             .ids = ids + part->first + part->taken};
    if (status == ASHUF_OK && rest.n_rows != 0)
      status = encode_here(writer, part->partition, &rest, false, taken, error);
    if (status == ASHUF_OK) status = end_part(writer, part, part->n_rows, error);
    if (status != ASHUF_OK) return part_error(part->partition, status, error);
    *taken = part->n_rows;
  }
  return ASHUF_OK;
}

/* ---- One thread --------------------------------------------------------------------------- */

static ashuf_status encode_parts_here(ashuf_writer *writer, const row_id *ids,
                                      const struct encode_task *task, int64_t *taken,
                                      struct ashuf_error *error) {
  struct block_sink bound = {.most = most_waiting(writer)};
  struct part_job job = {&writer->store.set, &writer->options.encode, &writer->blocks, &bound,
                         &writer->stats};
  writer->blocks.size = 0;
  ashuf_status status = part_encode_whole(&writer->pool.workers[0].encoder, &job, ids, task->parts,
                                          task->n_parts, error);
  if (status != ASHUF_OK) return status;
  return put_parts(writer, task, ids, writer->blocks.data, taken, error);
}

static ashuf_status run_alone(ashuf_writer *writer, const row_id *ids, size_t n, int64_t *taken,
                              struct ashuf_error *error) {
  ashuf_status status = ASHUF_OK;
  for (size_t i = 0; i < n && status == ASHUF_OK; i++) {
    const struct encode_task *task = &writer->round.tasks[i];
    if (task->n_parts != 0) {
      status = encode_parts_here(writer, ids, task, taken, error);
      continue;
    }
    int32_t partition = task->parts->partition;
    status = encode_here(writer, partition, &task->rows, task->more_follows, taken, error);
    if (status == ASHUF_OK) status = end_part(writer, task->parts, *taken, error);
    if (status != ASHUF_OK) return part_error(partition, status, error);
  }
  return status;
}

/* ---- Several threads ---------------------------------------------------------------------- */

static const uint8_t *blocks_of(const ashuf_writer *writer, const struct encode_task *task) {
  return task->size == 0 ? NULL : writer->pool.workers[task->worker].out.data + task->start;
}

/* Writes what the tasks of one part made, up to where one block ended early or encoding stopped;
 * what follows is encoded again from there. */
static ashuf_status put_pieces(ashuf_writer *writer, const struct encode_task *tasks, size_t n,
                               const row_id *ids, int64_t *taken, struct ashuf_error *error) {
  const struct round_part *part = tasks->parts;
  struct writing writing = {writer, part->partition};
  ashuf_status status = ASHUF_OK;
  int64_t rows = 0;
  bool whole = true;
  for (size_t i = 0; i < n && status == ASHUF_OK && whole; i++) {
    const struct encode_task *task = &tasks[i];
    if (task->size != 0) status = put(&writing, blocks_of(writer, task), task->size, error);
    add_stats(&writer->stats, &task->stats);
    rows += task->taken;
    whole = !task->stopped && (task->taken == task->rows.n_rows || i + 1 == n);
  }
  *taken = rows;
  if (status != ASHUF_OK || whole) return status;
  writer->round.whole_parts = true;
  struct selection rest = {.n_rows = part->n_rows - rows, .ids = ids + part->first + rows};
  status = encode_here(writer, part->partition, &rest, part->more_follows, taken, error);
  *taken += rows;
  return status;
}

/* The first of tasks, and those that are pieces of the same part; *used: how many they are. */
static ashuf_status put_next(ashuf_writer *writer, const struct encode_task *tasks, size_t n,
                             const row_id *ids, size_t *used, int64_t *taken,
                             struct ashuf_error *error) {
  *used = 1;
  if (tasks->n_parts != 0) {
    add_stats(&writer->stats, &tasks->stats);
    return put_parts(writer, tasks, ids, blocks_of(writer, tasks), taken, error);
  }
  while (*used < n && tasks[*used].parts == tasks->parts) (*used)++;
  ashuf_status status = put_pieces(writer, tasks, *used, ids, taken, error);
  if (status == ASHUF_OK) status = end_part(writer, tasks->parts, *taken, error);
  return status == ASHUF_OK ? status : part_error(tasks->parts->partition, status, error);
}

static ashuf_status run_together(ashuf_writer *writer, const row_id *ids, size_t n, int64_t *taken,
                                 struct ashuf_error *error) {
  const struct encode_task *tasks = writer->round.tasks;
  ashuf_status status = encode_pool_run(&writer->pool, &writer->store.set, &writer->options.encode,
                                        ids, most_waiting(writer), writer->round.tasks, n, error);
  if (status == ASHUF_OK && atomic_load(&writer->cancelled))
    return writer_report(writer, 0, 0, error);
  for (size_t i = 0, used; i < n && status == ASHUF_OK; i += used)
    status = put_next(writer, tasks + i, n - i, ids, &used, taken, error);
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
  uint64_t more = (uint64_t)writer->round.n_parts * PART_BYTES;
  return bytes >= writer->round_bytes || more >= writer->round_bytes;
}

ashuf_status round_run(ashuf_writer *writer, const row_id *ids, int64_t *taken,
                       struct ashuf_error *error) {
  uint64_t start = clock_now();
  uint64_t written = writer->counters.write_ns;
  *taken = 0;
  size_t n = 0;
  ashuf_status status = cut_parts(writer, ids, &n, error);
  if (status == ASHUF_OK)
    status = writer->pool.n_workers == 1 ? run_alone(writer, ids, n, taken, error)
                                         : run_together(writer, ids, n, taken, error);
  writer->counters.encode_ns += clock_now() - start - (writer->counters.write_ns - written);
  writer->round.n_parts = 0;
  writer->round.n_rows = 0;
  if (status != ASHUF_OK) return status;
  return writer_report(writer, writer->rows_pushed, writer->stats.rows, error);
}

#include "os/clock.h"
#include "shuffle/run_cursor.h"
#include "shuffle/writer.h"

#include <string.h>

#define NO_SLOT SIZE_MAX

/* A block of a run in memory: one batch of the writer's source set. */
struct slot {
  struct ArrowArray array; /* release NULL: vacant */
  size_t number;           /* of the batch in the set */
  bool in_use;             /* by a run, or by a row that waits for the next round */
};

struct merge_run {
  struct run_cursor cursor;
  size_t slot;
  int64_t row; /* the next one of the block */
};

struct merge {
  ashuf_writer *writer;
  struct ashuf_error *error;
  ashuf_ctx *ctx;
  struct merge_run *runs; /* oldest first */
  size_t n_runs;
  size_t runs_capacity;
  struct slot *slots;
  size_t n_slots;
  size_t slots_capacity;
  row_id *ids; /* of the round's parts, in order, and of the partition being collected */
  size_t n_ids;
  size_t ids_capacity;
  size_t part;    /* where the latter begins */
  uint64_t fresh; /* bytes brought together since the last round */
};

static ashuf_status no_memory(const struct merge *merge, size_t size) {
  return error_memory(merge->error, SITE_WRITER_MEMORY, merge->writer->memory, size);
}

/* ---- Runs and slots ----------------------------------------------------------------------- */

/* Opens the runs that were written since the last time. */
static ashuf_status open_runs(struct merge *merge) {
  const struct spill_set *set = &merge->writer->spills;
  if (set->n_runs > merge->runs_capacity) {
    size_t size = set->capacity * sizeof *merge->runs;
    struct merge_run *runs = memory_grow(merge->writer->memory, merge->runs,
                                         merge->runs_capacity * sizeof *merge->runs, size);
    if (runs == NULL) return no_memory(merge, size);
    merge->runs = runs;
    merge->runs_capacity = set->capacity;
  }
  for (; merge->n_runs < set->n_runs; merge->n_runs++) {
    struct merge_run *run = &merge->runs[merge->n_runs];
    run->slot = NO_SLOT;
    run->row = 0;
    ashuf_status status = run_cursor_open(&run->cursor, set, merge->n_runs, merge->error);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

/* A vacant slot; a new one has no batch in the set yet (number SIZE_MAX). */
static ashuf_status find_slot(struct merge *merge, size_t *out) {
  for (*out = 0; *out < merge->n_slots; (*out)++)
    if (merge->slots[*out].array.release == NULL) return ASHUF_OK;
  if (merge->n_slots == merge->slots_capacity) {
    size_t capacity = merge->slots_capacity == 0 ? 16 : merge->slots_capacity * 2;
    struct slot *slots =
        memory_grow(merge->writer->memory, merge->slots, merge->slots_capacity * sizeof *slots,
                    capacity * sizeof *slots);
    if (slots == NULL) return no_memory(merge, capacity * sizeof *slots);
    merge->slots = slots;
    merge->slots_capacity = capacity;
  }
  merge->slots[merge->n_slots++] = (struct slot){.number = SIZE_MAX};
  return ASHUF_OK;
}

static ashuf_status fill_slot(struct merge *merge, struct slot *slot) {
  struct source_set *set = &merge->writer->store.set;
  if (slot->number != SIZE_MAX)
    return source_set_replace(set, slot->number, &slot->array, merge->error);
  ashuf_status status = source_set_push(set, &slot->array, merge->error);
  if (status == ASHUF_OK) slot->number = set->n_batches - 1;
  return status;
}

static ashuf_status load_block(struct merge *merge, struct merge_run *run) {
  uint64_t start = clock_now();
  size_t at = 0;
  ashuf_status status = find_slot(merge, &at);
  if (status != ASHUF_OK) return status;
  struct slot *slot = &merge->slots[at];
  status =
      run_cursor_load(&run->cursor, merge->ctx, merge->writer->memory, &slot->array, merge->error);
  if (status != ASHUF_OK) {
    slot->array.release = NULL;
    return status;
  }
  status = fill_slot(merge, slot);
  merge->fresh += run->cursor.loaded_bytes;
  run->slot = at;
  run->row = 0;
  merge->writer->counters.read_ns += clock_now() - start;
  return status;
}

/* Lets go of blocks that no run and no waiting row needs. */
static void release_slots(struct merge *merge) {
  struct source_set *set = &merge->writer->store.set;
  size_t by_number = set->n_batches;
  for (size_t i = 0; i < merge->n_slots; i++) {
    struct slot *slot = &merge->slots[i];
    slot->in_use = false;
    if (slot->number < by_number) by_number = slot->number;
  }
  for (size_t i = 0; i < merge->n_runs; i++)
    if (merge->runs[i].slot != NO_SLOT && merge->runs[i].cursor.loaded != 0)
      merge->slots[merge->runs[i].slot].in_use = true;
  /* Slots were given consecutive numbers. */
  for (size_t i = 0; i < merge->n_ids; i++)
    if (row_batch(merge->ids[i]) >= by_number)
      merge->slots[row_batch(merge->ids[i]) - by_number].in_use = true;
  for (size_t i = 0; i < merge->n_slots; i++) {
    struct slot *slot = &merge->slots[i];
    if (slot->in_use || slot->array.release == NULL) continue;
    source_set_vacate(set, slot->number);
    slot->array.release(&slot->array);
  }
}

/* ---- Rows --------------------------------------------------------------------------------- */

static ashuf_status reserve_ids(struct merge *merge, size_t more) {
  if (more <= merge->ids_capacity - merge->n_ids) return ASHUF_OK;
  size_t capacity = merge->ids_capacity == 0 ? 4096 : merge->ids_capacity * 2;
  if (capacity < merge->n_ids + more) capacity = merge->n_ids + more;
  row_id *ids = memory_grow(merge->writer->memory, merge->ids, merge->ids_capacity * sizeof *ids,
                            capacity * sizeof *ids);
  if (ids == NULL) return no_memory(merge, capacity * sizeof *ids);
  merge->ids = ids;
  merge->ids_capacity = capacity;
  return ASHUF_OK;
}

/* Encodes the round; rows that wait for more of their partition move to the front. */
static ashuf_status run_round(struct merge *merge) {
  int64_t taken = 0;
  ashuf_status status = round_run(merge->writer, merge->ids, &taken, merge->error);
  if (status != ASHUF_OK) return status;
  size_t from = merge->part + (size_t)taken;
  merge->n_ids -= from;
  if (merge->n_ids != 0) memmove(merge->ids, merge->ids + from, merge->n_ids * sizeof *merge->ids);
  merge->part = 0;
  merge->fresh = 0;
  release_slots(merge);
  return ASHUF_OK;
}

static ashuf_status add_part(struct merge *merge, int32_t partition, bool more_follows) {
  struct round_part part = {.partition = partition,
                            .more_follows = more_follows,
                            .first = merge->part,
                            .n_rows = (int64_t)(merge->n_ids - merge->part)};
  return round_add(merge->writer, &part, merge->error);
}

static ashuf_status relieve(struct merge *merge, int32_t partition) {
  if (merge->fresh < merge->writer->round_bytes) return ASHUF_OK;
  ashuf_status status = add_part(merge, partition, true);
  return status == ASHUF_OK ? run_round(merge) : status;
}

/* The run's rows of the partition; the round is encoded whenever enough have come together. */
static ashuf_status collect_run(struct merge *merge, struct merge_run *run, int32_t partition) {
  while (run->cursor.partition == partition) {
    ashuf_status status = ASHUF_OK;
    if (run->cursor.loaded == 0) status = load_block(merge, run);
    if (status != ASHUF_OK) return status;
    int64_t n = run->cursor.rows < run->cursor.loaded ? run->cursor.rows : run->cursor.loaded;
    status = reserve_ids(merge, (size_t)n);
    if (status != ASHUF_OK) return status;
    row_id id = row_id_of(merge->slots[run->slot].number, run->row);
    for (int64_t i = 0; i < n; i++) merge->ids[merge->n_ids++] = id++;
    run->row += n;
    status = run_cursor_take(&run->cursor, n, merge->error);
    if (status == ASHUF_OK) status = relieve(merge, partition);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

/* What of the partition is in memory, a piece at a time. */
static ashuf_status collect_memory(struct merge *merge, int32_t partition) {
  ashuf_writer *writer = merge->writer;
  struct selection rows = batch_store_selection(&writer->store, partition);
  int64_t most = (int64_t)(writer->round_bytes / (uint64_t)writer->row_bytes) + 1;
  for (int64_t at = 0; at < rows.n_rows;) {
    int64_t n = rows.n_rows - at < most ? rows.n_rows - at : most;
    ashuf_status status = reserve_ids(merge, (size_t)n);
    if (status != ASHUF_OK) return status;
    memcpy(merge->ids + merge->n_ids, rows.ids + at, (size_t)n * sizeof *rows.ids);
    merge->n_ids += (size_t)n;
    merge->fresh += (uint64_t)n * (uint64_t)writer->row_bytes;
    at += n;
    status = relieve(merge, partition);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

static ashuf_status write_partition(struct merge *merge, int32_t partition) {
  ashuf_status status = ASHUF_OK;
  for (size_t i = 0; i < merge->n_runs && status == ASHUF_OK; i++)
    if (merge->runs[i].cursor.partition == partition)
      status = collect_run(merge, &merge->runs[i], partition);
  if (status == ASHUF_OK) status = collect_memory(merge, partition);
  if (status != ASHUF_OK) return status;
  if (merge->n_ids == merge->part && merge->writer->round.begun != partition) return ASHUF_OK;
  status = add_part(merge, partition, false);
  merge->part = merge->n_ids;
  return status;
}

/* ---- All ---------------------------------------------------------------------------------- */

/* The partition of the last part is done: what waits is nothing. */
static ashuf_status finish_round(struct merge *merge, int32_t next) {
  ashuf_writer *writer = merge->writer;
  merge->part = merge->n_ids;
  int64_t taken = 0;
  ashuf_status status = round_run(writer, merge->ids, &taken, merge->error);
  merge->n_ids = merge->part = 0;
  merge->fresh = 0;
  release_slots(merge);
  if (status != ASHUF_OK || next == writer->partitions || !writer_wants_spill(writer, 0))
    return status;
  status = writer_spill(writer, next, merge->error);
  return status == ASHUF_OK ? open_runs(merge) : status;
}

static ashuf_status write_all(struct merge *merge, int32_t first) {
  ashuf_writer *writer = merge->writer;
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.memory = writer->memory;
  ashuf_status status = context_new(&options, &merge->ctx, merge->error);
  if (status == ASHUF_OK) status = open_runs(merge);
  for (int32_t p = first; p < writer->partitions && status == ASHUF_OK; p++) {
    status = write_partition(merge, p);
    bool full = merge->fresh >= writer->round_bytes || round_is_full(writer);
    if (status == ASHUF_OK && (full || p + 1 == writer->partitions))
      status = finish_round(merge, p + 1);
  }
  return status;
}

ashuf_status writer_write_merged(ashuf_writer *writer, int32_t first, struct ashuf_error *error) {
  struct merge merge = {.writer = writer, .error = error};
  ashuf_memory *memory = writer->memory;
  ashuf_status status = write_all(&merge, first);
  for (size_t i = 0; i < merge.n_slots; i++)
    if (merge.slots[i].array.release != NULL) merge.slots[i].array.release(&merge.slots[i].array);
  memory_free(memory, merge.slots, merge.slots_capacity * sizeof *merge.slots);
  memory_free(memory, merge.runs, merge.runs_capacity * sizeof *merge.runs);
  memory_free(memory, merge.ids, merge.ids_capacity * sizeof *merge.ids);
  context_free(merge.ctx);
  return status;
}

/*
 * Views: each distinct value that does not stand in its view is taken once, found by its content,
 * so that the bytes depend on the rows and not on how the input shares its buffers.
 */
#include "arrow/gather.h"

#include "arrow/gather_int.h"
#include "arrow/place.h"
#include "arrow/value_bytes.h"

#define FREE UINT32_MAX

/* A value that was taken, and where it goes. */
struct taken {
  struct value_bytes bytes;
  uint64_t hash;
  uint64_t offset;
};

/* Open addressing over a power of two of slots, at least twice the number of values. */
struct views_job {
  const struct source *source;
  struct gathered_views *out;
  struct taken *taken;
  uint32_t n_taken;
  uint32_t *slots; /* number of the value taken, or FREE */
  uint64_t mask;
};

static inline bool is_long(const struct source *source, row_id id) {
  const struct array_view *view = &source->views[row_batch(id)];
  int64_t row = row_number(id);
  return row < view->length &&
         load_i32(view->data[0] + (view->offset + row) * VIEW_SIZE) > VIEW_INLINE;
}

/* How many selected values do not stand in their views, at most. */
static int64_t count_long(const struct source *source, const struct selection *selection) {
  struct selection_cursor cursor = {0};
  row_id room[CHUNK_ROWS];
  int64_t count = 0;
  for (int64_t i = 0; i < selection->n_rows; i += CHUNK_ROWS) {
    int64_t n = min_rows(CHUNK_ROWS, selection->n_rows - i);
    if (selection->ids != NULL)
      fetch_slots(source, selection->ids + i + n, min_rows(CHUNK_ROWS, selection->n_rows - i - n),
                  VIEW_SIZE);
    const row_id *ids = cursor_ids(selection, &cursor, n, room);
    for (int64_t k = 0; k < n; k++) count += is_long(source, ids[k]);
  }
  return count;
}

static bool init(struct views_job *job, const struct selection *selection, struct arena *arena) {
  size_t values = (size_t)count_long(job->source, selection);
  uint64_t slots = 16;
  while (slots < (uint64_t)values * 2) slots *= 2;
  job->mask = slots - 1;
  job->taken = arena_array(arena, values, sizeof *job->taken);
  job->slots = arena_array(arena, values == 0 ? 0 : slots, sizeof *job->slots);
  job->out->runs = arena_array(arena, values, sizeof *job->out->runs);
  job->out->views = arena_array(arena, (size_t)selection->n_rows, VIEW_SIZE);
  if (job->taken == NULL || job->slots == NULL || job->out->runs == NULL ||
      job->out->views == NULL || values >= FREE)
    return false;
  if (values != 0) memset(job->slots, 0xff, slots * sizeof *job->slots);
  return true;
}

/* Values that lie side by side in the input as well are one run. */
static void add_run(struct gathered_views *out, const struct value_bytes *value) {
  struct value_bytes *last = out->n_runs == 0 ? NULL : &out->runs[out->n_runs - 1];
  if (last != NULL && last->data + last->size == value->data)
    last->size += value->size;
  else
    out->runs[out->n_runs++] = *value;
  out->total += value->size;
}

/* The offset of a value that may have been taken before. */
static uint64_t place_value(struct views_job *job, const struct value_bytes *value) {
  uint64_t hash = value_bytes_hash(value);
  uint64_t slot = hash & job->mask;
  for (; job->slots[slot] != FREE; slot = (slot + 1) & job->mask) {
    const struct taken *seen = &job->taken[job->slots[slot]];
    if (seen->hash == hash && seen->bytes.size == value->size &&
        memcmp(seen->bytes.data, value->data, value->size) == 0)
      return seen->offset;
  }
  job->taken[job->n_taken] = (struct taken){*value, hash, job->out->total};
  job->slots[slot] = job->n_taken++;
  add_run(job->out, value);
  return job->taken[job->n_taken - 1].offset;
}

static void put_view(struct views_job *job, const struct value_bytes *value, uint8_t *view) {
  memset(view, 0, VIEW_SIZE);
  store_u32(view, (uint32_t)value->size);
  if (value->size <= VIEW_INLINE) {
    memcpy(view + 4, value->data, value->size);
    return;
  }
  memcpy(view + 4, value->data, 4);
  store_u32(view + 12, (uint32_t)place_value(job, value));
}

/* Up to a word of rows: all are looked up before the first is read, so that memory is asked for
 * early. */
static bool put_chunk(struct views_job *job, const row_id *ids, int64_t n, uint64_t valid,
                      uint8_t *views) {
  struct value_bytes values[CHUNK_ROWS];
  bool good = true;
  for (int64_t i = 0; i < n; i++) {
    values[i] = (struct value_bytes){views, 0};
    if (((valid >> i) & 1) == 0) continue;
    good &= place_bytes(&job->source->views[row_batch(ids[i])], row_number(ids[i]), &values[i].data,
                        &values[i].size);
    if (!good) return false;
    __builtin_prefetch(values[i].data);
  }
  for (int64_t i = 0; i < n; i++) put_view(job, &values[i], views + i * VIEW_SIZE);
  return true;
}

static ashuf_status refuse(const struct source *source, int site, struct ashuf_error *error) {
  char label[96];
  return error_set(error, ASHUF_BAD_ARRAY, site, "field \"%s\": a view of bytes that are not there",
                   field_label(source->field, label, sizeof label));
}

ashuf_status gather_views(const struct source *source, const struct selection *selection,
                          const uint8_t *validity, struct arena *arena, struct gathered_views *out,
                          struct ashuf_error *error) {
  *out = (struct gathered_views){0};
  struct views_job job = {.source = source, .out = out};
  if (!init(&job, selection, arena))
    return error_memory(error, SITE_GATHER_MEMORY, arena->memory,
                        (size_t)selection->n_rows * VIEW_SIZE);
  struct selection_cursor cursor = {0};
  row_id room[CHUNK_ROWS];
  for (int64_t i = 0; i < selection->n_rows; i += CHUNK_ROWS) {
    int64_t n = min_rows(CHUNK_ROWS, selection->n_rows - i);
    const row_id *ids = cursor_ids(selection, &cursor, n, room);
    uint64_t valid = validity == NULL ? ones(n) : load_bits(validity, i, n);
    if (!put_chunk(&job, ids, n, valid, out->views + i * VIEW_SIZE))
      return refuse(source, SITE_GATHER_VIEWS, error);
  }
  return ASHUF_OK;
}

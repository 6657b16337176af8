/*
 * Run ends: the runs of the selected rows, neighbours of equal value merged, so that the bytes do
 * not depend on how the input was cut into runs and batches.
 */
#include "arrow/gather.h"

#include "arrow/gather_int.h"
#include "arrow/place.h"
#include "arrow/value_bytes.h"
#include "base/bits.h"

struct runs_job {
  const struct source *source;
  const uint8_t *mask;
  struct arena *arena;
  struct gathered_runs *out;
  struct ashuf_error *error;
  /* The last run: */
  row_id id; /* of its value */
  bool valid;
  bool known; /* bytes are there */
  struct value_bytes bytes;
};

/* Whether the value is null, and its bytes where it is not. */
static ashuf_status look_up(const struct runs_job *job, row_id id, bool *valid,
                            struct value_bytes *bytes) {
  const struct source *values = &job->source->children[1];
  int64_t row = row_number(id);
  *valid = row < values->views[row_batch(id)].length;
  if (!*valid) return ASHUF_OK;
  ashuf_status status = value_resolve(&values, row_batch(id), &row, valid, job->error);
  if (status != ASHUF_OK || !*valid) return status;
  return value_bytes_get(values, row_id_of(row_batch(id), row), job->arena, bytes, job->error);
}

static bool same_bytes(const struct value_bytes *a, const struct value_bytes *b) {
  return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static void start_run(struct runs_job *job, row_id id, bool masked) {
  struct gathered_runs *out = job->out;
  out->ids[out->n_runs] = id;
  if (out->validity != NULL) {
    if ((out->n_runs & 7) == 0) out->validity[out->n_runs >> 3] = 0;
    if (!masked) bit_set(out->validity, out->n_runs);
  }
  out->n_runs++;
}

/* rows more of one value. */
static ashuf_status put_rows(struct runs_job *job, row_id id, bool masked, int64_t rows) {
  struct gathered_runs *out = job->out;
  int width = job->source->children[0].field->byte_width;
  bool valid = false;
  struct value_bytes bytes = {NULL, 0};
  bool first = out->n_runs == 0;
  out->n_rows += rows;
  if (first || masked || !job->valid || id != job->id) {
    ashuf_status status = masked ? ASHUF_OK : look_up(job, id, &valid, &bytes);
    if (status != ASHUF_OK) return status;
    if (first || valid != job->valid || (valid && !same_bytes(&bytes, &job->bytes)))
      start_run(job, id, masked);
    job->id = id;
    job->valid = valid;
    job->bytes = bytes;
  }
  uint64_t end = (uint64_t)out->n_rows;
  memcpy((uint8_t *)out->ends + (out->n_runs - 1) * width, &end, (size_t)width);
  return ASHUF_OK;
}

/* Up to n rows from row on that stand in one run and are all masked or all not. */
static ashuf_status put_run(struct runs_job *job, size_t batch, int64_t row, int64_t position,
                            int64_t n, int64_t *taken) {
  *taken = 1;
  if (job->mask != NULL && !bit_get(job->mask, position))
    return put_rows(job, row_id_of(batch, 0), true, 1);
  int64_t run = place_run(job->source, batch, row, taken);
  if (run < 0) {
    char label[96];
    return error_set(job->error, ASHUF_BAD_ARRAY, SITE_GATHER_RUNS,
                     "field \"%s\": a row behind the last run",
                     field_label(job->source->field, label, sizeof label));
  }
  *taken = job->mask != NULL ? 1 : min_rows(*taken, n);
  return put_rows(job, row_id_of(batch, run), false, *taken);
}

static bool init(struct runs_job *job, int64_t rows) {
  struct gathered_runs *out = job->out;
  size_t width = (size_t)job->source->children[0].field->byte_width;
  out->ids = arena_array(job->arena, (size_t)rows, sizeof *out->ids);
  out->ends = arena_array(job->arena, (size_t)rows, width);
  if (job->mask != NULL) out->validity = arena_array(job->arena, bits_size(rows), 1);
  return out->ids != NULL && out->ends != NULL && (job->mask == NULL || out->validity != NULL);
}

ashuf_status gather_runs(const struct source *source, const struct selection *selection,
                         const uint8_t *mask, struct arena *arena, struct gathered_runs *out,
                         struct ashuf_error *error) {
  *out = (struct gathered_runs){0};
  struct runs_job job = {
      .source = source, .mask = mask, .arena = arena, .out = out, .error = error};
  if (!init(&job, selection->n_rows))
    return error_memory(error, SITE_GATHER_MEMORY, arena->memory,
                        (size_t)selection->n_rows * sizeof *out->ids);
  struct selection_cursor cursor = {0};
  for (int64_t done = 0; done < selection->n_rows;) {
    int64_t n = 1;
    row_id id = selection->ids != NULL ? selection->ids[done]
                                       : cursor_take(selection, &cursor, selection->n_rows, &n);
    for (int64_t taken = 0; n > 0; n -= taken, done += taken, id += (row_id)taken) {
      ashuf_status status = put_run(&job, row_batch(id), row_number(id), done, n, &taken);
      if (status != ASHUF_OK) return status;
    }
  }
  out->values = (struct selection){.n_rows = out->n_runs, .ids = out->ids};
  return ASHUF_OK;
}

/* Dictionary-encoded rows as rows of the dictionary's values. */
#include "arrow/gather.h"

#include "arrow/gather_int.h"
#include "base/bits.h"

struct decode_job {
  const struct source *source;
  row_id *ids;     /* where the next ones go */
  row_id fallback; /* what a null row names: the last valid one, so that reading it is harmless */
  uint64_t bad;
};

/* Up to a word of rows. Returns the bits of those whose value is not null either. */
static ALWAYS_INLINE uint64_t decode_chunk(struct decode_job *job, const row_id *ids, int64_t n,
                                           uint64_t valid, bool null_values, enum arrow_type type) {
  const struct source *dictionary = job->source->dictionary;
  uint64_t result = valid;
  for (int64_t i = 0; i < n; i++) {
    size_t batch = row_batch(ids[i]);
    const struct array_view *view = &job->source->views[batch];
    int64_t row = row_number(ids[i]);
    if (((valid >> i) & 1) == 0 || row >= view->length) {
      result &= ~((uint64_t)1 << i);
      job->ids[i] = job->fallback;
      continue;
    }
    uint64_t index = load_index(view->data[0], type, view->offset + row);
    if (index >= (uint64_t)view->limit) {
      job->bad = 1;
      index = 0;
    } else if (null_values && !view_is_valid(&dictionary->views[batch], (int64_t)index)) {
      result &= ~((uint64_t)1 << i);
    }
    job->ids[i] = job->fallback = row_id_of(batch, (int64_t)index);
  }
  job->ids += n;
  return dictionary->field->type == TYPE_NULL ? 0 : result;
}

/* One loop for each type of index. */
static uint64_t decode_typed(struct decode_job *job, const row_id *ids, int64_t n, uint64_t valid,
                             bool nulls) {
  switch (job->source->field->type) {
    case TYPE_INT8:
      return decode_chunk(job, ids, n, valid, nulls, TYPE_INT8);
    case TYPE_UINT8:
      return decode_chunk(job, ids, n, valid, nulls, TYPE_UINT8);
    case TYPE_INT16:
      return decode_chunk(job, ids, n, valid, nulls, TYPE_INT16);
    case TYPE_UINT16:
      return decode_chunk(job, ids, n, valid, nulls, TYPE_UINT16);
    case TYPE_INT32:
      return decode_chunk(job, ids, n, valid, nulls, TYPE_INT32);
    case TYPE_UINT32:
      return decode_chunk(job, ids, n, valid, nulls, TYPE_UINT32);
    default:
      return decode_chunk(job, ids, n, valid, nulls, TYPE_UINT64);
  }
}

ashuf_status gather_decode(const struct source *source, const struct selection *selection,
                           uint8_t *validity, int64_t *nulls, row_id *ids, struct selection *values,
                           struct ashuf_error *error) {
  struct decode_job job = {.source = source, .ids = ids};
  struct selection_cursor cursor = {0};
  row_id room[CHUNK_ROWS];
  bool null_values = source->dictionary->n_with_nulls != 0;
  gather_validity(source, selection, validity);
  for (int64_t i = 0; i < selection->n_rows; i += CHUNK_ROWS) {
    int64_t n = min_rows(CHUNK_ROWS, selection->n_rows - i);
    const row_id *rows = cursor_ids(selection, &cursor, n, room);
    uint64_t valid = decode_typed(&job, rows, n, load_bits(validity, i, n), null_values);
    memcpy(validity + (i >> 3), &valid, bits_size(n));
  }
  if (job.bad != 0) {
    char label[96];
    return error_set(error, ASHUF_BAD_ARRAY, SITE_GATHER_INDEX,
                     "field \"%s\": an index outside the dictionary",
                     field_label(source->field, label, sizeof label));
  }
  *nulls = selection->n_rows - bits_count(validity, 0, selection->n_rows);
  *values = (struct selection){.n_rows = selection->n_rows, .ids = ids};
  return ASHUF_OK;
}

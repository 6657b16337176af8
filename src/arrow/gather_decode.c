/* Dictionary-encoded rows as rows of the dictionary's values. */
#include "arrow/gather.h"

#include "arrow/gather_int.h"
#include "base/bits.h"
#include "base/cpu.h"

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

/* Indices of one type as row ids; not 0 where one is limit or more. */
static ALWAYS_INLINE uint64_t ids_of_indices(const uint8_t *indices, enum arrow_type type,
                                             int64_t slot, int64_t n, row_id base, uint64_t limit,
                                             row_id *restrict ids) {
  uint64_t bad = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t index = load_index(indices, type, slot + i);
    bad |= (uint64_t)(index >= limit);
    ids[i] = base | index;
  }
  return bad;
}

CPU_KERNEL(uint64_t, ids_of_int32,
           (const uint8_t *indices, int64_t slot, int64_t n, row_id base, uint64_t limit,
            row_id *ids),
           (indices, slot, n, base, limit, ids)) {
  return ids_of_indices(indices, TYPE_INT32, slot, n, base, limit, ids);
}

static uint64_t ids_of_range(const uint8_t *indices, enum arrow_type type, int64_t slot, int64_t n,
                             row_id base, uint64_t limit, row_id *ids) {
  switch (type) {
    case TYPE_INT8:
      return ids_of_indices(indices, TYPE_INT8, slot, n, base, limit, ids);
    case TYPE_UINT8:
      return ids_of_indices(indices, TYPE_UINT8, slot, n, base, limit, ids);
    case TYPE_INT16:
      return ids_of_indices(indices, TYPE_INT16, slot, n, base, limit, ids);
    case TYPE_UINT16:
      return ids_of_indices(indices, TYPE_UINT16, slot, n, base, limit, ids);
    case TYPE_INT32:
      return ids_of_int32(indices, slot, n, base, limit, ids);
    case TYPE_UINT32:
      return ids_of_indices(indices, TYPE_UINT32, slot, n, base, limit, ids);
    default:
      return ids_of_indices(indices, TYPE_UINT64, slot, n, base, limit, ids);
  }
}

/* Ranges without a null in indices or values. Where false, nothing is said of them. */
static bool decode_ranges(struct decode_job *job, const struct selection *selection) {
  row_id *ids = job->ids;
  for (size_t i = 0; i < selection->n_ranges; i++) {
    const struct row_range *range = &selection->ranges[i];
    if (range->length == 0) continue;
    size_t batch = row_batch(range->first);
    const struct array_view *view = &job->source->views[batch];
    int64_t row = row_number(range->first);
    if (!range_in_view(view, row, range->length)) return false;
    job->bad |= ids_of_range(view->data[0], job->source->field->type, view->offset + row,
                             range->length, row_id_of(batch, 0), (uint64_t)view->limit, ids);
    ids += range->length;
  }
  return true;
}

/* Up to a word of rows at a time, whatever is null. */
static void decode_chunks(struct decode_job *job, const struct selection *selection,
                          uint8_t *validity, bool null_values) {
  struct selection_cursor cursor = {0};
  row_id room[CHUNK_ROWS];
  for (int64_t i = 0; i < selection->n_rows; i += CHUNK_ROWS) {
    int64_t n = min_rows(CHUNK_ROWS, selection->n_rows - i);
    const row_id *rows = cursor_ids(selection, &cursor, n, room);
    uint64_t valid = decode_typed(job, rows, n, load_bits(validity, i, n), null_values);
    memcpy(validity + (i >> 3), &valid, bits_size(n));
  }
}

ashuf_status gather_decode(const struct source *source, const struct selection *selection,
                           uint8_t *validity, int64_t *nulls, row_id *ids, struct selection *values,
                           struct ashuf_error *error) {
  struct decode_job job = {.source = source, .ids = ids};
  bool null_values = source->dictionary->n_with_nulls != 0;
  bool plain = selection->ids == NULL && !null_values &&
               source->dictionary->field->type != TYPE_NULL &&
               gather_has_no_nulls(source, selection);
  gather_validity(source, selection, validity);
  if (!plain || !decode_ranges(&job, selection))
    decode_chunks(&job, selection, validity, null_values);
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

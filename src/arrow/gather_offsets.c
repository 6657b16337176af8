/*
 * Offsets of strings and lists, rebased to what is selected. Every start and end of a valid row
 * is held against the limit of its view; violations are collected and looked at once.
 */
#include "arrow/gather.h"

#include "arrow/gather_int.h"
#include "base/cpu.h"
#include "base/running_sum.h"

/* Where the offsets go and how far they have come. */
struct offsets_job {
  const struct source *source;
  uint8_t *out;            /* the entry behind the last one written */
  uint64_t sum;            /* bytes or child rows so far */
  struct range_list *list; /* child rows, or NULL for strings */
  uint64_t bad;            /* not 0: an offset was out of order or range */
};

static ALWAYS_INLINE void put_offset(struct offsets_job *job, int width) {
  store_offset(job->out, width, 0, job->sum);
  job->out += width;
}

/* Rows by id; bit k of valid is row k's. A row of a view without rows reads two zeros. */
static ALWAYS_INLINE void offsets_of_ids(struct offsets_job *job, const row_id *ids, int64_t n,
                                         uint64_t valid, int width, bool lists) {
  struct offsets_job at = *job;
  for (int64_t i = 0; i < n;) {
    size_t batch = row_batch(ids[i]);
    const struct array_view *view = &at.source->views[batch];
    const uint8_t *offsets = view->data[0] + view->offset * width;
    uint64_t limit = (uint64_t)view->limit;
    do {
      int64_t row = row_number(ids[i]);
      uint64_t mask = (uint64_t)0 - ((valid >> i) & 1);
      uint64_t start = (uint64_t)load_offset(offsets, width, row) & mask;
      uint64_t end = (uint64_t)load_offset(offsets, width, row + 1) & mask;
      at.bad |= (uint64_t)(start > end) | (uint64_t)(end > limit);
      at.sum += end - start;
      put_offset(&at, width);
      if (lists && at.bad == 0)
        range_list_add(at.list, row_id_of(batch, (int64_t)start), (int64_t)(end - start));
      i++;
    } while (i < n && row_batch(ids[i]) == batch);
  }
  *job = at;
}

/* n old 32-bit offsets moved by a constant, from the second on; not 0 where one falls. */
CPU_KERNEL(uint32_t, move_offsets,
           (const uint8_t *restrict in, int64_t n, uint32_t move, uint8_t *restrict out),
           (in, n, move, out)) {
  uint32_t falls = 0;
  for (int64_t i = 0; i < n; i++) {
    int32_t next = load_i32(in + 4 * i + 4);
    falls |= (uint32_t)(next < load_i32(in + 4 * i));
    store_u32(out + 4 * i, (uint32_t)next + move);
  }
  return falls;
}

static uint64_t move_wide_offsets(const uint8_t *in, int64_t n, uint64_t move, uint8_t *out) {
  uint64_t falls = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t next = load_i64(in + 8 * i + 8);
    falls |= (uint64_t)(next < load_i64(in + 8 * i));
    store_u64(out + 8 * i, (uint64_t)next + move);
  }
  return falls;
}

/* Neighbouring rows, all valid: the old offsets moved by a constant. */
static ALWAYS_INLINE void offsets_of_rows(struct offsets_job *job, row_id first, int64_t n,
                                          int width, bool lists) {
  const struct array_view *view = &job->source->views[row_batch(first)];
  const uint8_t *offsets = view->data[0] + (view->offset + row_number(first)) * width;
  if (!range_in_view(view, row_number(first), n)) {
    for (int64_t i = 0; i < n; i++) put_offset(job, width);
    return;
  }
  int64_t start = load_offset(offsets, width, 0);
  int64_t end = load_offset(offsets, width, n);
  uint64_t move = job->sum - (uint64_t)start;
  job->bad |= width == 4 ? move_offsets(offsets, n, (uint32_t)move, job->out)
                         : move_wide_offsets(offsets, n, move, job->out);
  job->bad |= (uint64_t)(start < 0) | (uint64_t)(end > view->limit);
  job->out += n * width;
  job->sum += (uint64_t)(end - start);
  if (lists && job->bad == 0)
    range_list_add(job->list, row_id_of(row_batch(first), start), end - start);
}

/*
 * The lengths of n <= HALF_ROWS neighbours, 0 for a null; returns all their bits. The top bit is
 * set where a valid row's offsets are negative, fall, or pass limit.
 */
#define HALF_ROWS 32
CPU_KERNEL(uint32_t, take_lengths,
           (const uint8_t *restrict offsets, int64_t n, uint32_t valid, uint32_t limit,
            uint32_t *restrict lengths),
           (offsets, n, valid, limit, lengths)) {
  uint32_t bits = 0;
  uint32_t bad = 0;
  for (int i = 0; i < (int)n; i++) {
    uint32_t mask = 0u - ((valid >> i) & 1);
    uint32_t start = load_u32(offsets + 4 * i) & mask;
    uint32_t end = load_u32(offsets + 4 * i + 4) & mask;
    lengths[i] = end - start;
    bits |= lengths[i];
    bad |= start | end | (limit - end);
  }
  return bits | (bad & 0x80000000u);
}

/* The offsets of lengths; in 32 bits where those that are summed cannot leave them. */
static inline uint64_t store_sums(const uint32_t *lengths, int64_t n, uint32_t bits, uint64_t sum,
                                  uint8_t *out) {
  if (bits < (1u << 26)) {
    uint32_t from = (uint32_t)sum;
    return sum + (uint32_t)(running_sum(lengths, (size_t)n, from, out) - from);
  }
  for (int64_t i = 0; i < n; i++) store_u32(out + 4 * i, (uint32_t)(sum += lengths[i]));
  return sum;
}

/* Neighbouring strings with 32-bit offsets, some of them null: bit k of valid is row k's. */
static void offsets_of_some(struct offsets_job *job, row_id first, int64_t n, uint64_t valid) {
  const struct array_view *view = &job->source->views[row_batch(first)];
  const uint8_t *offsets = view->data[0] + (view->offset + row_number(first)) * 4;
  uint32_t limit = (uint32_t)(view->limit < INT32_MAX ? view->limit : INT32_MAX);
  if (!range_in_view(view, row_number(first), n)) valid = 0;
  for (int64_t done = 0; done < n; done += HALF_ROWS) {
    uint32_t lengths[HALF_ROWS];
    int64_t count = min_rows(HALF_ROWS, n - done);
    uint32_t half = (uint32_t)(valid >> done);
    uint32_t bits = 0;
    if (half == 0)
      memset(lengths, 0, sizeof lengths);
    else
      bits = take_lengths(offsets + 4 * done, count, half, limit, lengths);
    job->bad |= bits >> 31;
    job->sum = store_sums(lengths, count, bits, job->sum, job->out);
    job->out += 4 * count;
  }
}

/*
 * Nulls are mostly written as empty: then the offsets of rows with nulls move like those of rows
 * without. Half words of them until one whose nulls hide bytes; returns how many rows that is. *bad
 * is set where a valid row's offsets are negative, fall, or pass limit: neighbours share an offset,
 * so that it takes one valid row to hold all of them to it.
 */
CPU_KERNEL(int64_t, move_while_empty,
           (const uint8_t *restrict in, int64_t n, const uint8_t *validity, int64_t position,
            uint32_t move, int64_t limit, uint8_t *restrict out, bool *bad),
           (in, n, validity, position, move, limit, out, bad)) {
  uint32_t signs = 0;
  uint32_t any = 0;
  int64_t i = 0;
  for (; n - i >= HALF_ROWS; i += HALF_ROWS) {
    uint32_t nulls = ~(uint32_t)load_bits(validity, position + i, HALF_ROWS);
    uint32_t hidden = 0;
    uint32_t bits = 0;
    for (uint32_t k = 0; k < HALF_ROWS; k++) {
      uint32_t start = load_u32(in + 4 * k);
      uint32_t end = load_u32(in + 4 * k + 4);
      hidden |= (end - start) & (0u - ((nulls >> k) & 1));
      bits |= start | end | (end - start);
      store_u32(out + 4 * k, end + move);
    }
    if (hidden != 0) break;
    signs |= bits;
    any |= ~nulls;
    in += HALF_ROWS * 4;
    out += HALF_ROWS * 4;
  }
  *bad = any != 0 && (signs >> 31 != 0 || load_i32(in) > limit);
  return i;
}

/* Neighbouring strings with 32-bit offsets and nulls; position: of the first one's bit. */
static void offsets_of_nullable(struct offsets_job *job, row_id first, int64_t n,
                                const uint8_t *validity, int64_t position) {
  const struct array_view *view = &job->source->views[row_batch(first)];
  const uint8_t *offsets = view->data[0] + (view->offset + row_number(first)) * 4;
  bool there = range_in_view(view, row_number(first), n);
  for (int64_t i = 0; i < n;) {
    if (there) {
      uint32_t start = load_u32(offsets + 4 * i);
      bool bad = false;
      int64_t moved = move_while_empty(offsets + 4 * i, n - i, validity, position + i,
                                       (uint32_t)job->sum - start, view->limit, job->out, &bad);
      job->bad |= bad;
      job->out += 4 * moved;
      job->sum += load_u32(offsets + 4 * (i + moved)) - start;
      i += moved;
    }
    int64_t rest = min_rows(n - i, CHUNK_ROWS);
    if (rest != 0)
      offsets_of_some(job, first + (uint64_t)i, rest, load_bits(validity, position + i, rest));
    i += rest;
  }
}

/* Up to a word of rows of which some may be null. */
static ALWAYS_INLINE void offsets_of_chunk(struct offsets_job *job,
                                           const struct selection *selection,
                                           struct selection_cursor *cursor, int64_t n,
                                           uint64_t valid, int width, bool lists) {
  row_id room[CHUNK_ROWS];
  if (selection->ids == NULL && valid == ones(n)) {
    for (int64_t taken; n > 0; n -= taken) {
      row_id first = cursor_take(selection, cursor, n, &taken);
      offsets_of_rows(job, first, taken, width, lists);
    }
    return;
  }
  const row_id *ids = cursor_ids(selection, cursor, n, room);
  if (valid != 0) {
    offsets_of_ids(job, ids, n, valid, width, lists);
    return;
  }
  for (int64_t i = 0; i < n; i++) put_offset(job, width);
}

static ALWAYS_INLINE void offsets_all(struct offsets_job *job, const struct selection *selection,
                                      const uint8_t *validity, int width, bool lists) {
  struct selection_cursor cursor = {0};
  put_offset(job, width);
  if (selection->ids == NULL && validity == NULL) {
    for (size_t i = 0; i < selection->n_ranges; i++)
      if (selection->ranges[i].length != 0)
        offsets_of_rows(job, selection->ranges[i].first, selection->ranges[i].length, width, lists);
    return;
  }
  if (selection->ids == NULL && width == 4 && !lists) {
    for (int64_t i = 0, taken; i < selection->n_rows; i += taken) {
      row_id first = cursor_take(selection, &cursor, selection->n_rows - i, &taken);
      offsets_of_nullable(job, first, taken, validity, i);
    }
    return;
  }
  for (int64_t i = 0; i < selection->n_rows; i += CHUNK_ROWS) {
    int64_t n = min_rows(CHUNK_ROWS, selection->n_rows - i);
    uint64_t valid = validity == NULL ? ones(n) : load_bits(validity, i, n);
    if (selection->ids != NULL)
      fetch_slots(job->source, selection->ids + i + n,
                  min_rows(CHUNK_ROWS, selection->n_rows - i - n), (size_t)width);
    offsets_of_chunk(job, selection, &cursor, n, valid, width, lists);
  }
}

static ashuf_status refuse(const struct source *source, int site, struct ashuf_error *error) {
  char label[96];
  return error_set(error, ASHUF_BAD_ARRAY, site, "field \"%s\": offsets out of order or range",
                   field_label(source->field, label, sizeof label));
}

ashuf_status gather_offsets(const struct source *source, const struct selection *selection,
                            const uint8_t *validity, void *out, uint64_t *total,
                            struct ashuf_error *error) {
  struct offsets_job job = {.source = source, .out = out};
  if (source->field->byte_width == 4)
    offsets_all(&job, selection, validity, 4, false);
  else
    offsets_all(&job, selection, validity, 8, false);
  if (job.bad != 0) return refuse(source, SITE_GATHER_OFFSETS, error);
  *total = job.sum;
  return ASHUF_OK;
}

ashuf_status gather_lists(const struct source *source, const struct selection *selection,
                          const uint8_t *validity, void *out, uint64_t *total,
                          struct row_range *ranges, struct selection *child,
                          struct ashuf_error *error) {
  struct range_list list = {.ranges = ranges};
  struct offsets_job job = {.source = source, .out = out, .list = &list};
  if (source->field->byte_width == 4)
    offsets_all(&job, selection, validity, 4, true);
  else
    offsets_all(&job, selection, validity, 8, true);
  if (job.bad != 0) return refuse(source, SITE_GATHER_LISTS, error);
  *total = job.sum;
  *child = range_list_selection(&list);
  return ASHUF_OK;
}

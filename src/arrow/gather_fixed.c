/* Values of fixed width, and the child rows of fixed-size lists. */
#include "arrow/gather.h"

#include "arrow/gather_int.h"
#include "base/cpu.h"

#include <string.h>

static void fetch_bits(const struct source *source, const row_id *ids, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const struct array_view *view = &source->views[row_batch(ids[i])];
    int64_t slot = view->offset + row_number(ids[i]);
    if (view->validity != NULL) __builtin_prefetch(view->validity + (slot >> 3));
  }
}

static void fetch_rows(const struct source *source, const row_id *ids, int64_t n) {
  enum arrow_layout layout = type_info(source->field->type)->layout;
  if (source->n_with_nulls != 0) fetch_bits(source, ids, n);
  if (layout == LAYOUT_FIXED || layout == LAYOUT_BYTES || layout == LAYOUT_LIST)
    fetch_slots(source, ids, n, (size_t)source->field->byte_width);
  if (layout == LAYOUT_STRUCT)
    for (int32_t i = 0; i < source->field->n_children; i++)
      fetch_rows(&source->children[i], ids, n);
}

void gather_fetch(const struct source *source, const struct selection *selection) {
  int64_t n = min_rows(CHUNK_ROWS, selection->n_rows);
  if (selection->ids == NULL || n == 0 || ids_are_near(selection->ids, n)) return;
  fetch_rows(source, selection->ids, n);
}

/* Values of rows by id. Called with a constant width, the copies become single moves. */
static ALWAYS_INLINE void copy_ids(const struct source *source, const row_id *ids, int64_t n,
                                   size_t width, uint8_t *out) {
  for (int64_t i = 0; i < n;) {
    size_t batch = row_batch(ids[i]);
    const struct array_view *view = &source->views[batch];
    const uint8_t *values = view->data[0] + (size_t)view->offset * width;
    do {
      memcpy(out, values + (size_t)row_number(ids[i]) * width, width);
      out += width;
      i++;
    } while (i < n && row_batch(ids[i]) == batch);
  }
}

static ALWAYS_INLINE void zero_nulls(uint64_t nulls, size_t width, uint8_t *out) {
  for (; nulls != 0; nulls &= nulls - 1)
    memset(out + (size_t)__builtin_ctzll(nulls) * width, 0, width);
}

/* Rows of a chunk without a valid one are not looked at: their ids may name nothing. */
static ALWAYS_INLINE void copy_chunk(const struct source *source, const row_id *ids, int64_t n,
                                     uint64_t valid, size_t width, uint8_t *out) {
  if (valid == 0) {
    memset(out, 0, (size_t)n * width);
    return;
  }
  copy_ids(source, ids, n, width, out);
  zero_nulls(~valid & ones(n), width, out);
}

static ALWAYS_INLINE void gather_ids(const struct source *source, const row_id *ids, int64_t n,
                                     const uint8_t *validity, int64_t first, size_t width,
                                     uint8_t *out) {
  for (int64_t i = 0; i < n; i += CHUNK_ROWS) {
    int64_t count = min_rows(CHUNK_ROWS, n - i);
    fetch_slots(source, ids + i + count, min_rows(CHUNK_ROWS, n - i - count), width);
    uint64_t valid = validity == NULL ? ones(count) : load_bits(validity, first + i, count);
    copy_chunk(source, ids + i, count, valid, width, out + (size_t)i * width);
  }
}

/* Wide values of rows by id; a row that an empty view does not have is zeros. */
static void gather_wide_ids(const struct source *source, const row_id *ids, int64_t n,
                            const uint8_t *validity, int64_t first, size_t width, uint8_t *out) {
  for (int64_t i = 0; i < n; i++, out += width) {
    const struct array_view *view = &source->views[row_batch(ids[i])];
    int64_t row = row_number(ids[i]);
    bool valid = validity == NULL || load_bits(validity, first + i, 1) != 0;
    if (valid && row < view->length)
      memcpy(out, view->data[0] + (size_t)(view->offset + row) * width, width);
    else
      memset(out, 0, width);
  }
}

/* Called with a constant width, a null is one store. */
static ALWAYS_INLINE void zero_null_rows(const uint8_t *validity, int64_t first, int64_t n,
                                         size_t width, uint8_t *out) {
  for (int64_t i = 0; i < n; i += CHUNK_ROWS) {
    int64_t count = min_rows(CHUNK_ROWS, n - i);
    zero_nulls(~load_bits(validity, first + i, count) & ones(count), width,
               out + (size_t)i * width);
  }
}

/* Neighbours of the widths that most numbers have: copied by a mask, which costs less than finding
 * the nulls. Whole chunks; a bit is shifted in a lane as wide as the value. */
CPU_KERNEL(void, copy_valid_32,
           (const uint8_t *restrict in, int64_t n, const uint8_t *validity, int64_t first,
            uint8_t *restrict out),
           (in, n, validity, first, out)) {
  for (int64_t i = 0; i < n; i += CHUNK_ROWS) {
    uint64_t valid = load_bits(validity, first + i, CHUNK_ROWS);
    for (int half = 0; half < 2; half++, valid >>= 32, in += 128, out += 128) {
      uint32_t bits = (uint32_t)valid;
      for (uint32_t k = 0; k < 32; k++)
        store_u32(out + 4 * k, load_u32(in + 4 * k) & (0u - ((bits >> k) & 1)));
    }
  }
}

CPU_KERNEL(void, copy_valid_64,
           (const uint8_t *restrict in, int64_t n, const uint8_t *validity, int64_t first,
            uint8_t *restrict out),
           (in, n, validity, first, out)) {
  for (int64_t i = 0; i < n; i += CHUNK_ROWS, in += 512, out += 512) {
    uint64_t valid = load_bits(validity, first + i, CHUNK_ROWS);
    for (uint64_t k = 0; k < 64; k++)
      store_u64(out + 8 * k, load_u64(in + 8 * k) & (0u - ((valid >> k) & 1)));
  }
}

static void copy_valid_rows(const uint8_t *in, int64_t n, size_t width, const uint8_t *validity,
                            int64_t first, uint8_t *out) {
  int64_t whole = n & ~(int64_t)(CHUNK_ROWS - 1);
  size_t done = (size_t)whole * width;
  if (width == 4)
    copy_valid_32(in, whole, validity, first, out);
  else
    copy_valid_64(in, whole, validity, first, out);
  if (whole == n) return;
  memcpy(out + done, in + done, (size_t)(n - whole) * width);
  if (width == 4)
    zero_null_rows(validity, first + whole, n - whole, 4, out + done);
  else
    zero_null_rows(validity, first + whole, n - whole, 8, out + done);
}

/* Returns false where rows that are null are not zero yet. */
static bool gather_ranges(const struct source *source, const struct selection *selection,
                          struct selection_cursor *cursor, int64_t n, const uint8_t *validity,
                          int64_t first, size_t width, uint8_t *out) {
  bool masked = validity == NULL || width == 4 || width == 8;
  while (n > 0) {
    int64_t taken;
    row_id id = cursor_take(selection, cursor, n, &taken);
    const struct array_view *view = &source->views[row_batch(id)];
    const uint8_t *in = view->data[0] + (size_t)(view->offset + row_number(id)) * width;
    size_t size = (size_t)taken * width;
    if (!range_in_view(view, row_number(id), taken))
      memset(out, 0, size);
    else if (validity != NULL && masked)
      copy_valid_rows(in, taken, width, validity, first, out);
    else
      memcpy(out, in, size);
    out += size;
    first += taken;
    n -= taken;
  }
  return masked;
}

static void zero_ranges(const uint8_t *validity, int64_t first, int64_t n, size_t width,
                        uint8_t *out) {
  switch (width) {
    case 1:
      zero_null_rows(validity, first, n, 1, out);
      break;
    case 2:
      zero_null_rows(validity, first, n, 2, out);
      break;
    case 16:
      zero_null_rows(validity, first, n, 16, out);
      break;
    default:
      zero_null_rows(validity, first, n, width, out);
  }
}

void gather_fixed(const struct source *source, const struct selection *selection,
                  struct selection_cursor *cursor, int64_t n, const uint8_t *validity,
                  int64_t first, uint8_t *out) {
  size_t width = (size_t)source->field->byte_width;
  if (width == 0 || n == 0) {
    row_id room[CHUNK_ROWS];
    for (; n > 0; n -= CHUNK_ROWS) cursor_ids(selection, cursor, min_rows(n, CHUNK_ROWS), room);
    return;
  }
  if (selection->ids == NULL) {
    if (!gather_ranges(source, selection, cursor, n, validity, first, width, out))
      zero_ranges(validity, first, n, width, out);
    return;
  }
  const row_id *ids = selection->ids + cursor->item;
  cursor->item += n;
  switch (width) {
    case 1:
      gather_ids(source, ids, n, validity, first, 1, out);
      break;
    case 2:
      gather_ids(source, ids, n, validity, first, 2, out);
      break;
    case 4:
      gather_ids(source, ids, n, validity, first, 4, out);
      break;
    case 8:
      gather_ids(source, ids, n, validity, first, 8, out);
      break;
    case 16:
      gather_ids(source, ids, n, validity, first, 16, out);
      break;
    case 32:
      gather_ids(source, ids, n, validity, first, 32, out);
      break;
    default:
      gather_wide_ids(source, ids, n, validity, first, width, out);
  }
}

void gather_fixed_list(const struct source *source, const struct selection *selection,
                       struct row_range *ranges, struct selection *child) {
  struct range_list list = {.ranges = ranges};
  int64_t size = source->field->list_size;
  if (selection->ids != NULL) {
    for (int64_t i = 0; i < selection->n_rows; i++) {
      row_id id = selection->ids[i];
      range_list_add(&list, row_id_of(row_batch(id), row_number(id) * size), size);
    }
  } else {
    for (size_t i = 0; i < selection->n_ranges; i++) {
      const struct row_range *range = &selection->ranges[i];
      range_list_add(&list, row_id_of(row_batch(range->first), row_number(range->first) * size),
                     range->length * size);
    }
  }
  *child = range_list_selection(&list);
}

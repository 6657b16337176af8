/*
 * The bytes of strings. Short ones are copied as whole 16 bytes where input and output have as
 * many, which is three times as fast as a memcpy of the exact size.
 */
#include "arrow/gather.h"

#include "arrow/gather_int.h"

#include <string.h>

#define STEP 16
#define STEPS_MAX 64 /* longer strings go to memcpy */

/* How many of the rows from first on fit, by their gathered offsets. */
static int64_t rows_that_fit(const void *offsets, int width, int64_t first, int64_t n_rows,
                             size_t capacity) {
  uint64_t base = (uint64_t)load_offset(offsets, width, first);
  if ((uint64_t)load_offset(offsets, width, n_rows) - base <= capacity) return n_rows - first;
  int64_t low = first;
  int64_t high = n_rows; /* low fits, high does not */
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if ((uint64_t)load_offset(offsets, width, middle) - base <= capacity)
      low = middle;
    else
      high = middle;
  }
  return low - first;
}

/* in_room, out_room: bytes up to the end of the value's buffer and of the output. */
static ALWAYS_INLINE void copy_value(uint8_t *out, size_t out_room, const uint8_t *in,
                                     size_t in_room, size_t size) {
  if (size <= STEP && in_room >= STEP && out_room >= STEP) {
    memcpy(out, in, STEP);
    return;
  }
  size_t whole = (size + STEP - 1) / STEP * STEP;
  if (size > STEPS_MAX || in_room < whole || out_room < whole) {
    memcpy(out, in, size);
    return;
  }
  for (size_t i = 0; i < whole; i += STEP) memcpy(out + i, in + i, STEP);
}

static ALWAYS_INLINE size_t gathered_size(const uint8_t *gathered, int width, int64_t i) {
  return (size_t)(load_offset(gathered, width, i + 1) - load_offset(gathered, width, i));
}

/* Fetches the bytes of n <= CHUNK_ROWS rows to come. */
static ALWAYS_INLINE void fetch_bytes(const struct source *source, const row_id *ids, int64_t n,
                                      const uint8_t *gathered, int width) {
  if (n <= 0 || ids_are_near(ids, n)) return;
  for (int64_t i = 0; i < n; i++) {
    if (gathered_size(gathered, width, i) == 0) continue;
    const struct array_view *view = &source->views[row_batch(ids[i])];
    __builtin_prefetch(view->data[1] +
                       load_offset(view->data[0], width, view->offset + row_number(ids[i])));
  }
}

void gather_fetch_bytes(const struct source *source, const struct selection *selection,
                        const void *offsets) {
  int width = source->field->byte_width;
  if (selection->ids == NULL || selection->n_rows == 0) return;
  fetch_bytes(source, selection->ids, min_rows(CHUNK_ROWS, selection->n_rows), offsets, width);
}

/* gathered: the offset entries of these rows. Empty values are not looked up: they may be null. */
static ALWAYS_INLINE size_t bytes_of_chunk(const struct source *source, const row_id *ids,
                                           int64_t n, const uint8_t *gathered, int width,
                                           uint8_t *out, size_t room) {
  size_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    size_t size = gathered_size(gathered, width, i);
    if (size == 0) continue;
    const struct array_view *view = &source->views[row_batch(ids[i])];
    int64_t start = load_offset(view->data[0], width, view->offset + row_number(ids[i]));
    copy_value(out + at, room - at, view->data[1] + start, (size_t)(view->limit - start), size);
    at += size;
  }
  return at;
}

static ALWAYS_INLINE void bytes_of_ids(const struct source *source, const row_id *ids, int64_t n,
                                       const uint8_t *gathered, int width, uint8_t *out,
                                       size_t room) {
  for (int64_t i = 0; i < n; i += CHUNK_ROWS) {
    int64_t count = min_rows(CHUNK_ROWS, n - i);
    const uint8_t *entries = gathered + i * width;
    fetch_bytes(source, ids + i + count, min_rows(CHUNK_ROWS, n - i - count),
                entries + count * width, width);
    size_t copied = bytes_of_chunk(source, ids + i, count, entries, width, out, room);
    out += copied;
    room -= copied;
  }
}

/* Neighbouring rows: one copy, unless bytes lie under nulls between them. */
static ALWAYS_INLINE void bytes_of_rows(const struct source *source, row_id first, int64_t n,
                                        const uint8_t *gathered, int width, uint8_t *out,
                                        size_t room) {
  size_t size = (size_t)(load_offset(gathered, width, n) - load_offset(gathered, width, 0));
  if (size == 0) return;
  const struct array_view *view = &source->views[row_batch(first)];
  const uint8_t *offsets = view->data[0] + (view->offset + row_number(first)) * width;
  int64_t start = load_offset(offsets, width, 0);
  if (start >= 0 && load_offset(offsets, width, n) - start == (int64_t)size &&
      (uint64_t)start + size <= (uint64_t)view->limit) {
    memcpy(out, view->data[1] + start, size);
    return;
  }
  row_id ids[CHUNK_ROWS];
  for (int64_t i = 0; i < n; i += CHUNK_ROWS) {
    int64_t count = min_rows(CHUNK_ROWS, n - i);
    const uint8_t *entries = gathered + i * width;
    for (int64_t k = 0; k < count; k++) ids[k] = first + (uint64_t)(i + k);
    size_t copied = bytes_of_chunk(source, ids, count, entries, width, out, room);
    out += copied;
    room -= copied;
  }
}

static ALWAYS_INLINE size_t bytes_all(const struct source *source,
                                      const struct selection *selection,
                                      struct selection_cursor *cursor, const uint8_t *gathered,
                                      int64_t n, int width, size_t capacity, uint8_t *out) {
  int64_t base = load_offset(gathered, width, 0);
  size_t size = (size_t)(load_offset(gathered, width, n) - base);
  if (selection->ids != NULL) {
    bytes_of_ids(source, selection->ids + cursor->item, n, gathered, width, out, capacity);
    cursor->item += n;
    return size;
  }
  for (int64_t done = 0, taken; done < n; done += taken) {
    row_id first = cursor_take(selection, cursor, n - done, &taken);
    size_t at = (size_t)(load_offset(gathered, width, done) - base);
    bytes_of_rows(source, first, taken, gathered + done * width, width, out + at, capacity - at);
  }
  return size;
}

size_t gather_bytes(const struct source *source, const struct selection *selection,
                    struct selection_cursor *cursor, const void *offsets, int64_t first,
                    size_t capacity, uint8_t *out, int64_t *rows) {
  int width = source->field->byte_width;
  *rows = rows_that_fit(offsets, width, first, selection->n_rows, capacity);
  if (*rows == 0) return 0;
  const uint8_t *gathered = (const uint8_t *)offsets + first * width;
  if (width == 4) return bytes_all(source, selection, cursor, gathered, *rows, 4, capacity, out);
  return bytes_all(source, selection, cursor, gathered, *rows, 8, capacity, out);
}

const uint8_t *gather_value(const struct source *source, const struct selection *selection,
                            struct selection_cursor *cursor, size_t *size) {
  row_id room[1] = {0};
  row_id id = *cursor_ids(selection, cursor, 1, room);
  int width = source->field->byte_width;
  const struct array_view *view = &source->views[row_batch(id)];
  *size = 0;
  if (!view_is_valid(view, row_number(id)) || !range_in_view(view, row_number(id), 1))
    return view->data[1];
  int64_t slot = view->offset + row_number(id);
  int64_t start = load_offset(view->data[0], width, slot);
  *size = (size_t)(load_offset(view->data[0], width, slot + 1) - start);
  return view->data[1] + start;
}

/* Layouts in which every row names where its value lies. */
#include "arrow/place.h"
#include "arrow/validate.h"
#include "base/bits.h"

/* ---- Views -------------------------------------------------------------------------------- */

/* Whether the bytes behind a value of size bytes are 0. */
static bool is_padded(const uint8_t *view, int32_t size) {
  uint64_t low = load_u64(view + 4);
  uint64_t high = load_u32(view + 12);
  if (size == VIEW_INLINE) return true;
  if (size >= 8) return high >> (8 * (size - 8)) == 0;
  return low >> (8 * size) == 0 && high == 0;
}

static bool text_fails(const struct view_scan *scan, const uint8_t *bytes, int32_t size,
                       enum view_fault *fault) {
  *fault = VIEW_FAULT_UTF8;
  return scan->is_text && !validate_utf8_bytes(bytes, (size_t)size);
}

static bool view_fails(const struct view_scan *scan, const uint8_t *view, enum view_fault *fault) {
  int32_t size = load_i32(view);
  *fault = VIEW_FAULT_SIZE;
  if (size < 0) return true;
  if (size <= VIEW_INLINE) {
    *fault = VIEW_FAULT_PADDING;
    return !is_padded(view, size) || text_fails(scan, view + 4, size, fault);
  }
  int32_t buffer = load_i32(view + 8);
  int32_t offset = load_i32(view + 12);
  *fault = VIEW_FAULT_BUFFER;
  if (buffer < 0 || buffer >= scan->n_buffers) return true;
  *fault = VIEW_FAULT_RANGE;
  if (offset < 0 || !range_inside((uint64_t)offset, (uint64_t)size, (uint64_t)scan->sizes[buffer]))
    return true;
  const uint8_t *bytes = (const uint8_t *)scan->buffers[buffer] + offset;
  *fault = VIEW_FAULT_PREFIX;
  return load_u32(view + 4) != load_u32(bytes) || text_fails(scan, bytes, size, fault);
}

int64_t validate_views(const struct view_scan *scan, enum view_fault *fault) {
  for (int64_t i = 0; i < scan->length; i++) {
    if (scan->validity != NULL && !bit_get(scan->validity, i)) continue;
    if (view_fails(scan, scan->views + i * VIEW_SIZE, fault)) return i;
  }
  return -1;
}

int64_t validate_list_views(const void *offsets, const void *sizes, int width, int64_t length,
                            int64_t limit) {
  for (int64_t i = 0; i < length; i++) {
    int64_t offset = load_offset(offsets, width, i);
    int64_t size = load_offset(sizes, width, i);
    if (offset < 0 || size < 0 || !range_inside((uint64_t)offset, (uint64_t)size, (uint64_t)limit))
      return i;
  }
  return -1;
}

/* ---- Unions ------------------------------------------------------------------------------- */

int64_t validate_type_ids(const uint8_t *ids, int64_t length, const int8_t *known,
                          int32_t n_known) {
  bool is_known[256] = {false};
  for (int32_t i = 0; i < n_known; i++) is_known[(uint8_t)known[i]] = true;
  bool good = true;
  for (int64_t i = 0; i < length; i++) good &= is_known[ids[i]];
  if (good) return -1;
  int64_t bad = 0;
  while (is_known[ids[bad]]) bad++;
  return bad;
}

int64_t validate_dense_offsets(const uint8_t *ids, const void *offsets, int64_t length,
                               const int64_t limits[128]) {
  for (int64_t i = 0; i < length; i++) {
    int64_t offset = load_offset(offsets, 4, i);
    if (offset < 0 || offset >= limits[ids[i]]) return i;
  }
  return -1;
}

/* ---- Run ends ----------------------------------------------------------------------------- */

int64_t validate_run_ends(const void *ends, int width, int64_t n) {
  int64_t before = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t end = load_run_end(ends, width, i);
    if (end <= before) return i;
    before = end;
  }
  return -1;
}

bool run_ends_cover(const void *ends, int width, int64_t n, int64_t length) {
  return length == 0 || (n > 0 && load_run_end(ends, width, n - 1) >= length);
}

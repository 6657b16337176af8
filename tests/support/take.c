#include "support/take.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "support/arrays.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void *exactly(size_t size) {
  void *pointer = malloc(size == 0 ? 1 : size);
  assert_non_null(pointer);
  if (size != 0) memset(pointer, 0xcd, size);
  return pointer;
}

static void taken_release(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    array->children[i]->release(array->children[i]);
    free(array->children[i]);
  }
  for (int64_t i = 0; i < array->n_buffers; i++) free((void *)(uintptr_t)array->buffers[i]);
  free(array->buffers);
  free(array->children);
  array->release = NULL;
}

static struct ArrowArray taken_new(int64_t n, int64_t n_buffers, int64_t n_children) {
  struct ArrowArray array = {
      .length = n, .n_buffers = n_buffers, .n_children = n_children, .release = taken_release};
  array.buffers = calloc((size_t)n_buffers + 1, sizeof(void *));
  array.children = calloc((size_t)n_children + 1, sizeof(void *));
  return array;
}

static struct test_random dice = {7};

static void take_fixed(const struct source *source, const struct selection *selection,
                       const uint8_t *validity, struct ArrowArray *out) {
  size_t width = (size_t)source->field->byte_width;
  uint8_t *values = exactly((size_t)selection->n_rows * width);
  struct selection_cursor cursor = {0};
  for (int64_t done = 0; done < selection->n_rows;) {
    int64_t n = 1 + random_below(&dice, selection->n_rows - done);
    uint8_t *piece = exactly((size_t)n * width);
    gather_fixed(source, selection, &cursor, n, validity, done, piece);
    memcpy(values + (size_t)done * width, piece, (size_t)n * width);
    free(piece);
    done += n;
  }
  out->buffers[1] = values;
}

static void take_bytes(const struct source *source, const struct selection *selection,
                       const uint8_t *validity, struct ArrowArray *out) {
  int width = source->field->byte_width;
  uint64_t total = 0;
  uint8_t *offsets = exactly(((size_t)selection->n_rows + 1) * (size_t)width);
  assert_int_equal(gather_offsets(source, selection, validity, offsets, &total, NULL), ASHUF_OK);
  uint8_t *bytes = exactly((size_t)total);
  size_t at = 0;
  struct selection_cursor cursor = {0};
  for (int64_t done = 0; done < selection->n_rows;) {
    size_t capacity = (size_t)random_below(&dice, 200);
    uint8_t *piece = exactly(capacity);
    int64_t rows = -1;
    size_t size = gather_bytes(source, selection, &cursor, offsets, done, capacity, piece, &rows);
    assert_true(size <= capacity);
    if (size != 0) memcpy(bytes + at, piece, size);
    if (rows == 0) {
      const uint8_t *value = gather_value(source, selection, &cursor, &size);
      assert_true(size > capacity);
      memcpy(bytes + at, value, size);
      rows = 1;
    }
    at += size;
    done += rows;
    free(piece);
  }
  assert_int_equal(at, total);
  out->buffers[1] = offsets;
  out->buffers[2] = bytes;
}

static void take_child(const struct source *source, int32_t number,
                       const struct selection *selection, struct ArrowArray *out) {
  out->children[number] = exactly(sizeof(struct ArrowArray));
  *out->children[number] = take_rows(&source->children[number], selection);
}

static void take_list(const struct source *source, const struct selection *selection,
                      const uint8_t *validity, struct ArrowArray *out) {
  uint64_t total = 0;
  struct selection child;
  size_t room =
      selection->ids == NULL && validity == NULL ? selection->n_ranges : (size_t)selection->n_rows;
  struct row_range *ranges = exactly(room * sizeof *ranges);
  uint8_t *offsets = exactly(((size_t)selection->n_rows + 1) * (size_t)source->field->byte_width);
  assert_int_equal(gather_lists(source, selection, validity, offsets, &total, ranges, &child, NULL),
                   ASHUF_OK);
  assert_int_equal(child.n_rows, total);
  out->buffers[1] = offsets;
  take_child(source, 0, &child, out);
  free(ranges);
}

static void take_fixed_list(const struct source *source, const struct selection *selection,
                            struct ArrowArray *out) {
  struct selection child;
  size_t room = selection->ids == NULL ? selection->n_ranges : (size_t)selection->n_rows;
  struct row_range *ranges = exactly(room * sizeof *ranges);
  gather_fixed_list(source, selection, ranges, &child);
  assert_int_equal(child.n_rows, selection->n_rows * source->field->list_size);
  take_child(source, 0, &child, out);
  free(ranges);
}

static void take_bits(const struct source *source, const struct selection *selection,
                      const uint8_t *validity, struct ArrowArray *out) {
  uint8_t *bits = exactly(bits_size(selection->n_rows));
  gather_bits(source, selection, validity, bits);
  out->buffers[1] = bits;
}

/* Data buffer and sizes behind the views. */
static void take_views(const struct source *source, const struct selection *selection,
                       const uint8_t *validity, struct arena *arena, struct ArrowArray *out) {
  struct gathered_views views;
  assert_int_equal(gather_views(source, selection, validity, arena, &views, NULL), ASHUF_OK);
  uint8_t *copy = exactly((size_t)selection->n_rows * 16);
  if (selection->n_rows != 0) memcpy(copy, views.views, (size_t)selection->n_rows * 16);
  uint8_t *bytes = exactly((size_t)views.total);
  size_t at = 0;
  for (size_t i = 0; i < views.n_runs; at += views.runs[i++].size)
    memcpy(bytes + at, views.runs[i].data, views.runs[i].size);
  assert_int_equal(at, views.total);
  int64_t *size = exactly(sizeof *size);
  *size = (int64_t)at;
  out->buffers[1] = copy;
  out->buffers[2] = bytes;
  out->buffers[3] = size;
  out->n_buffers = 4;
}

static void take_list_views(const struct source *source, const struct selection *selection,
                            const uint8_t *validity, struct ArrowArray *out) {
  size_t width = (size_t)source->field->byte_width;
  size_t n = (size_t)selection->n_rows;
  uint64_t total = 0;
  struct selection child;
  struct row_range *ranges = exactly(n * sizeof *ranges);
  uint8_t *offsets = exactly(n * width);
  uint8_t *sizes = exactly(n * width);
  assert_int_equal(
      gather_list_views(source, selection, validity, offsets, sizes, &total, ranges, &child, NULL),
      ASHUF_OK);
  assert_int_equal(child.n_rows, total);
  out->buffers[1] = offsets;
  out->buffers[2] = sizes;
  take_child(source, 0, &child, out);
  free(ranges);
}

static void take_masked(const struct source *source, int32_t number,
                        const struct selection *selection, const uint8_t *mask,
                        struct ArrowArray *out);

static void take_union(const struct source *source, const struct selection *selection,
                       const uint8_t *validity, struct arena *arena, struct ArrowArray *out) {
  struct gathered_union taken;
  size_t n = (size_t)selection->n_rows;
  bool dense = source->field->type == TYPE_DENSE_UNION;
  assert_int_equal(gather_union(source, selection, validity, arena, &taken, NULL), ASHUF_OK);
  uint8_t *ids = exactly(n);
  if (n != 0) memcpy(ids, taken.type_ids, n);
  out->buffers[0] = ids;
  out->n_buffers = dense ? 2 : 1;
  if (dense) {
    int32_t *offsets = exactly(n * 4);
    if (n != 0) memcpy(offsets, taken.offsets, n * 4);
    out->buffers[1] = offsets;
  }
  for (int32_t i = 0; i < source->field->n_children; i++)
    take_masked(source, i, dense ? &taken.children[i] : selection,
                i != taken.null_child ? NULL
                : dense               ? taken.mask
                                      : validity,
                out);
}

static void take_runs(const struct source *source, const struct selection *selection,
                      const uint8_t *validity, struct arena *arena, struct ArrowArray *out) {
  struct gathered_runs runs;
  assert_int_equal(gather_runs(source, selection, validity, arena, &runs, NULL), ASHUF_OK);
  assert_int_equal(runs.n_rows, selection->n_rows);
  size_t size = (size_t)runs.n_runs * (size_t)source->children[0].field->byte_width;
  uint8_t *ends = exactly(size);
  if (size != 0) memcpy(ends, runs.ends, size);
  out->children[0] = exactly(sizeof(struct ArrowArray));
  *out->children[0] = taken_new(runs.n_runs, 2, 0);
  out->children[0]->buffers[1] = ends;
  out->n_buffers = 0;
  take_masked(source, 1, &runs.values, runs.validity, out);
}

static void check_canonical(const struct source *source, const struct ArrowArray *array) {
  const uint8_t *validity = array->buffers[0];
  size_t width = (size_t)source->field->byte_width;
  int layout = type_info(source->field->type)->layout;
  int64_t n = array->length;
  for (int64_t i = n; i < (int64_t)bits_size(n) * 8; i++) {
    if (validity != NULL) assert_false(bit_get(validity, i));
    if (layout == LAYOUT_BITS) assert_false(bit_get(array->buffers[1], i));
  }
  for (int64_t i = 0; validity != NULL && i < n; i++) {
    if (bit_get(validity, i)) continue;
    const uint8_t *values = array->n_buffers > 1 ? array->buffers[1] : NULL;
    if (layout == LAYOUT_BITS) assert_false(bit_get(values, i));
    for (size_t k = 0; layout == LAYOUT_FIXED && k < width; k++)
      assert_int_equal(values[(size_t)i * width + k], 0);
    for (size_t k = 0; layout == LAYOUT_VIEWS && k < 16; k++)
      assert_int_equal(values[(size_t)i * 16 + k], 0);
    if (layout == LAYOUT_BYTES || layout == LAYOUT_LIST)
      assert_memory_equal(values + (size_t)i * width, values + ((size_t)i + 1) * width, width);
  }
}

/* validity: bits of the selected rows, moved into the result. */
static struct ArrowArray take_valid(const struct source *source, const struct selection *selection,
                                    uint8_t *bits, int64_t nulls);

static void take_masked(const struct source *source, int32_t number,
                        const struct selection *selection, const uint8_t *mask,
                        struct ArrowArray *out) {
  const struct source *child = &source->children[number];
  uint8_t *bits = exactly(bits_size(selection->n_rows));
  gather_validity(child, selection, bits);
  for (size_t i = 0; mask != NULL && i < bits_size(selection->n_rows); i++) bits[i] &= mask[i];
  int64_t nulls = selection->n_rows - bits_count(bits, 0, selection->n_rows);
  out->children[number] = exactly(sizeof(struct ArrowArray));
  *out->children[number] = take_valid(child, selection, bits, nulls);
}

static struct ArrowArray take_decoded(const struct source *source,
                                      const struct selection *selection, const uint8_t *outer) {
  struct selection values;
  int64_t nulls = 0;
  row_id *ids = exactly((size_t)selection->n_rows * sizeof *ids);
  uint8_t *bits = exactly(bits_size(selection->n_rows));
  assert_int_equal(gather_decode(source, selection, bits, &nulls, ids, &values, NULL), ASHUF_OK);
  for (size_t i = 0; outer != NULL && i < bits_size(selection->n_rows); i++) bits[i] &= outer[i];
  nulls = selection->n_rows - bits_count(bits, 0, selection->n_rows);
  struct ArrowArray out = take_valid(source->dictionary, &values, bits, nulls);
  free(ids);
  return out;
}

static struct ArrowArray take_valid(const struct source *source, const struct selection *selection,
                                    uint8_t *bits, int64_t nulls) {
  const struct field *field = source->field;
  if (field->dictionary != NULL) {
    struct ArrowArray out = take_decoded(source, selection, bits);
    free(bits);
    return out;
  }
  int layout = type_info(field->type)->layout;
  struct ArrowArray out = taken_new(selection->n_rows, 4, field->n_children);
  out.null_count = layout == LAYOUT_NULL ? selection->n_rows : nulls;
  const uint8_t *validity = nulls == 0 ? NULL : bits;
  bool unions = layout == LAYOUT_SPARSE || layout == LAYOUT_DENSE;
  struct arena arena;
  arena_init(&arena, NULL);
  if (unions) take_union(source, selection, validity, &arena, &out);
  if (layout == LAYOUT_RUN_ENDS) take_runs(source, selection, validity, &arena, &out);
  if (unions || layout == LAYOUT_RUN_ENDS) out.null_count = 0;
  if (unions || layout == LAYOUT_RUN_ENDS) validity = NULL;
  if (validity == NULL) free(bits);
  if (!unions) out.buffers[0] = validity;
  if (layout == LAYOUT_FIXED) take_fixed(source, selection, validity, &out);
  if (layout == LAYOUT_BITS) take_bits(source, selection, validity, &out);
  if (layout == LAYOUT_BYTES) take_bytes(source, selection, validity, &out);
  if (layout == LAYOUT_LIST) take_list(source, selection, validity, &out);
  if (layout == LAYOUT_FIXED_LIST) take_fixed_list(source, selection, &out);
  if (layout == LAYOUT_VIEWS) take_views(source, selection, validity, &arena, &out);
  if (layout == LAYOUT_LIST_VIEW) take_list_views(source, selection, validity, &out);
  for (int32_t i = 0; layout == LAYOUT_STRUCT && i < field->n_children; i++)
    take_child(source, i, selection, &out);
  if (layout < LAYOUT_SPARSE) check_canonical(source, &out);
  arena_free(&arena);
  return out;
}

struct ArrowArray take_rows(const struct source *source, const struct selection *selection) {
  uint8_t *bits = exactly(bits_size(selection->n_rows));
  int64_t nulls = gather_validity(source, selection, bits);
  assert_int_equal(nulls, selection->n_rows - bits_count(bits, 0, selection->n_rows));
  if (gather_has_no_nulls(source, selection)) assert_int_equal(nulls, 0);
  return take_valid(source, selection, bits, nulls);
}

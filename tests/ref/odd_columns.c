#include "ref/odd_int.h"

#include <stdlib.h>
#include <string.h>

/* Columns as buffers: random values, garbage under nulls, more children than needed. */

static struct odd_bytes *new_buffer(struct odd_batch *batch) {
  if (batch->n_buffers == (int)(sizeof batch->buffers / sizeof *batch->buffers)) abort();
  return &batch->buffers[batch->n_buffers++];
}

static void put_node(struct odd_batch *batch, int64_t n, int64_t null_count) {
  odd_put(&batch->nodes, &n, 8);
  odd_put(&batch->nodes, &null_count, 8);
}

static int64_t extra(struct odd_batch *batch) {
  return odd_chance(batch->random, 3) ? random_below(batch->random, 4) : 0;
}

/* The validity of n rows as malloced bytes, one a row; writes the node and the buffer. */
static uint8_t *put_validity(struct odd_batch *batch, int64_t n, bool all_null, bool never_null) {
  struct test_random *random = batch->random;
  uint8_t *valid = malloc((size_t)n + 1);
  if (valid == NULL) abort();
  int nulls = never_null || odd_chance(random, 3) ? 0 : (int)random_below(random, 101);
  int64_t null_count = 0;
  for (int64_t i = 0; i < n; i++) {
    valid[i] = !all_null && random_below(random, 100) >= nulls;
    null_count += !valid[i];
  }
  struct odd_bytes *buffer = new_buffer(batch);
  if (null_count == 0 && odd_chance(random, 3)) { /* anything: the buffer is to be ignored */
    odd_put_random(buffer, random, (size_t)random_below(random, 20));
  } else if (null_count != 0 || odd_chance(random, 2)) {
    odd_put_random(buffer, random, (size_t)(n / 8 + (n % 8 != 0)));
    for (int64_t i = 0; i < n; i++) {
      uint8_t bit = (uint8_t)(1 << i % 8);
      buffer->data[i / 8] = (uint8_t)((buffer->data[i / 8] & ~bit) | (valid[i] ? bit : 0));
    }
    if (odd_chance(random, 3)) odd_put_random(buffer, random, (size_t)random_below(random, 9));
    put_node(batch, n, odd_chance(random, 8) ? -1 : null_count);
    return valid;
  }
  put_node(batch, n, null_count);
  return valid;
}

/* Node before buffer: put_validity writes both, so the order of the lists holds. */

static void put_fixed(struct odd_batch *batch, int64_t n, int width) {
  struct odd_bytes *buffer = new_buffer(batch);
  odd_put_random(buffer, batch->random, (size_t)n * (size_t)width);
  if (odd_chance(batch->random, 4)) odd_put_random(buffer, batch->random, 5);
}

/* n + 1 rising offsets from a first one; the last is what comes back. */
static int64_t put_offsets(struct odd_batch *batch, int64_t n, int width, int longest,
                           int64_t *offsets) {
  struct odd_bytes *buffer = new_buffer(batch);
  int64_t at = odd_chance(batch->random, 3) ? random_below(batch->random, 9) : 0;
  if (n == 0 && odd_chance(batch->random, 2)) {
    offsets[0] = 0;
    return 0;
  }
  odd_put_zeros(buffer, (size_t)(n + 1) * (size_t)width);
  int64_t before = 0;
  for (int64_t i = 0; i <= n; i++) {
    if (i != 0) at += random_below(batch->random, longest);
    offsets[i] = at;
    int64_t stored = batch->lengths ? at - before : at;
    before = at;
    for (int k = 0; k < width; k++)
      buffer->data[batch->lengths ? k * (n + 1) + i : i * width + k] = (uint8_t)(stored >> 8 * k);
  }
  if (!batch->lengths && odd_chance(batch->random, 4))
    odd_put_random(buffer, batch->random, (size_t)random_below(batch->random, 12));
  return at;
}

/* size bytes of text: ASCII, or whole two-byte characters. */
static void put_text(struct odd_bytes *buffer, struct test_random *random, int64_t size) {
  while (size >= 2 && odd_chance(random, 4)) {
    odd_put(buffer, "\xc3\xa9", 2);
    size -= 2;
  }
  for (; size > 0; size--) odd_put(buffer, &(char){(char)('a' + random_below(random, 6))}, 1);
}

static void put_bytes_column(struct odd_batch *batch, const struct odd_type *type, int64_t n) {
  int64_t *offsets = malloc((size_t)(n + 1) * sizeof *offsets);
  if (offsets == NULL) abort();
  bool is_text = type->tag == ODD_UTF8 || type->tag == ODD_LARGE_UTF8;
  put_offsets(batch, n, type->width, 12, offsets);
  struct odd_bytes *data = new_buffer(batch);
  odd_put_random(data, batch->random, is_text ? 0 : (size_t)offsets[0]);
  if (is_text) put_text(data, batch->random, offsets[0]);
  for (int64_t i = 0; i < n; i++) {
    int64_t size = offsets[i + 1] - offsets[i];
    if (is_text)
      put_text(data, batch->random, size);
    else
      odd_put_random(data, batch->random, (size_t)size);
  }
  if (odd_chance(batch->random, 3)) put_text(data, batch->random, extra(batch) * 3);
  free(offsets);
}

static void put_view(struct odd_batch *batch, struct odd_bytes *views, struct odd_bytes *data,
                     int n_data) {
  struct test_random *random = batch->random;
  struct odd_bytes value = {0};
  uint8_t view[16] = {0};
  put_text(&value, random, n_data == 0 ? random_below(random, 13) : random_below(random, 40));
  int32_t size = (int32_t)value.size;
  memcpy(view, &size, 4);
  if (size <= 12) {
    if (size != 0) memcpy(view + 4, value.data, value.size);
  } else {
    int32_t k = (int32_t)random_below(random, n_data);
    int32_t offset = (int32_t)data[k].size;
    memcpy(view + 4, value.data, 4);
    memcpy(view + 8, &k, 4);
    memcpy(view + 12, &offset, 4);
    odd_put(&data[k], value.data, value.size);
  }
  odd_put(views, view, 16);
  odd_bytes_free(&value);
}

static void put_views(struct odd_batch *batch, const uint8_t *valid, int64_t n) {
  int64_t n_data = random_below(batch->random, 4);
  struct odd_bytes *views = new_buffer(batch);
  struct odd_bytes *data = &batch->buffers[batch->n_buffers];
  for (int64_t i = 0; i < n_data; i++) new_buffer(batch);
  for (int64_t i = 0; i < n; i++) {
    if (valid[i])
      put_view(batch, views, data, (int)n_data);
    else
      odd_put_random(views, batch->random, 16);
  }
  odd_put(&batch->variadic, &n_data, 8);
}

/* ---- Nested ------------------------------------------------------------------------------ */

static void put_list(struct odd_batch *batch, const struct odd_type *type, int64_t n) {
  int64_t *offsets = malloc((size_t)(n + 1) * sizeof *offsets);
  if (offsets == NULL) abort();
  int64_t end = put_offsets(batch, n, type->width, 4, offsets);
  odd_column(batch, type->children[0], end + extra(batch), false);
  free(offsets);
}

static void put_list_view(struct odd_batch *batch, const struct odd_type *type, int64_t n) {
  int64_t child = random_below(batch->random, 2 * n + 2);
  struct odd_bytes *offsets = new_buffer(batch), *sizes = new_buffer(batch);
  for (int64_t i = 0; i < n; i++) {
    int64_t first = random_below(batch->random, child + 1);
    int64_t most = child - first < 5 ? child - first : 5;
    odd_put(offsets, &first, (size_t)type->width);
    odd_put(sizes, &(int64_t){random_below(batch->random, most + 1)}, (size_t)type->width);
  }
  odd_column(batch, type->children[0], child, false);
}

static void put_union(struct odd_batch *batch, const struct odd_type *type, int64_t n) {
  put_node(batch, n, 0);
  if (batch->is_v4) {
    struct odd_bytes *validity = new_buffer(batch);
    if (odd_chance(batch->random, 2)) odd_put_random(validity, batch->random, (size_t)(n / 8 + 1));
  }
  struct odd_bytes *ids = new_buffer(batch);
  struct odd_bytes *offsets = type->dense ? new_buffer(batch) : NULL;
  int64_t child = 1 + random_below(batch->random, n + 3);
  for (int64_t i = 0; i < n; i++) {
    int k = (int)random_below(batch->random, type->n_children);
    odd_put(ids, &(int8_t){(int8_t)type->ids[k]}, 1);
    if (offsets == NULL) continue;
    odd_put(offsets, &(int32_t){(int32_t)random_below(batch->random, child)}, 4);
  }
  for (int k = 0; k < type->n_children; k++)
    odd_column(batch, type->children[k], type->dense ? child : n + extra(batch), false);
}

static void put_runs(struct odd_batch *batch, const struct odd_type *type, int64_t n) {
  int width = type->children[0]->width;
  put_node(batch, n, 0);
  int64_t runs = 0, end = 0;
  struct odd_bytes ends = {0};
  while (end < n) {
    end += 1 + random_below(batch->random, 5);
    if (end > n && odd_chance(batch->random, 2)) end = n;
    odd_put(&ends, &end, (size_t)width);
    runs++;
  }
  put_node(batch, runs, 0);
  new_buffer(batch);
  *new_buffer(batch) = ends;
  odd_column(batch, type->children[1], runs, false);
}

static void put_indices(struct odd_batch *batch, const struct odd_type *type, const uint8_t *valid,
                        int64_t n) {
  struct odd_bytes *indices = new_buffer(batch);
  for (int64_t i = 0; i < n; i++) {
    int64_t index = (int64_t)random_next(batch->random); /* wild under a null */
    if (valid[i]) index = random_below(batch->random, type->n_values);
    odd_put(indices, &index, (size_t)type->index_width);
  }
}

static void put_values(struct odd_batch *batch, const struct odd_type *type, const uint8_t *valid,
                       int64_t n) {
  switch (type->tag) {
    case ODD_BOOL:
      put_fixed(batch, n / 8 + 1, 1);
      return;
    case ODD_BINARY:
    case ODD_UTF8:
    case ODD_LARGE_BINARY:
    case ODD_LARGE_UTF8:
      put_bytes_column(batch, type, n);
      return;
    case ODD_BINARY_VIEW:
    case ODD_UTF8_VIEW:
      put_views(batch, valid, n);
      return;
    case ODD_LIST:
    case ODD_LARGE_LIST:
    case ODD_MAP:
      put_list(batch, type, n);
      return;
    case ODD_LIST_VIEW:
    case ODD_LARGE_LIST_VIEW:
      put_list_view(batch, type, n);
      return;
    case ODD_FIXED_LIST:
      odd_column(batch, type->children[0], n * type->size + extra(batch), false);
      return;
    case ODD_STRUCT: {
      for (int k = 0; k < type->n_children; k++)
        odd_column(batch, type->children[k], n + extra(batch), false);
      return;
    }
    default:
      put_fixed(batch, n, type->width);
  }
}

void odd_column(struct odd_batch *batch, const struct odd_type *type, int64_t n, bool as_values) {
  bool is_indices = type->has_dictionary && !as_values;
  if (!is_indices && type->tag == ODD_NULL) {
    put_node(batch, n, n);
  } else if (!is_indices && type->tag == ODD_UNION) {
    put_union(batch, type, n);
  } else if (!is_indices && type->tag == ODD_RUN_ENDS) {
    put_runs(batch, type, n);
  } else {
    uint8_t *valid = put_validity(batch, n, is_indices && type->n_values == 0, type->never_null);
    if (is_indices)
      put_indices(batch, type, valid, n);
    else
      put_values(batch, type, valid, n);
    free(valid);
  }
}

/* ---- The body ---------------------------------------------------------------------------- */

static void compress_one(struct odd_batch *batch, struct odd_bytes *buffer) {
  if (buffer->size == 0 && odd_chance(batch->random, 2)) return;
  struct odd_bytes out = {0};
  bool raw = buffer->size != 0 && odd_chance(batch->random, 3);
  int64_t size = raw ? -1 : (int64_t)buffer->size;
  odd_put(&out, &size, 8);
  if (raw)
    odd_put(&out, buffer->data, buffer->size);
  else if (size != 0)
    odd_compress_buffer(batch->random, batch->compression, buffer, &out);
  odd_bytes_free(buffer);
  *buffer = out;
}

/* Where bytes lie in the body already, 8-aligned; SIZE_MAX: nowhere. */
static size_t find_in(const struct odd_bytes *body, const struct odd_bytes *buffer) {
  for (size_t at = 0; buffer->size <= body->size && at <= body->size - buffer->size; at += 8)
    if (memcmp(body->data + at, buffer->data, buffer->size) == 0) return at;
  return SIZE_MAX;
}

static void place_buffer(struct odd_batch *batch, struct odd_bytes *body,
                         const struct odd_bytes *buffer, int64_t *entry) {
  if (odd_chance(batch->random, 6)) odd_put_random(body, batch->random, 8);
  entry[1] = (int64_t)buffer->size;
  size_t same = buffer->size != 0 && !batch->lengths && odd_chance(batch->random, 2)
                    ? find_in(body, buffer)
                    : SIZE_MAX;
  if (same != SIZE_MAX) { /* overlaps what is there */
    entry[0] = (int64_t)same;
    return;
  }
  entry[0] = (int64_t)body->size;
  odd_put(body, buffer->data, buffer->size);
  while (body->size % (odd_chance(batch->random, 4) ? 64 : 8) != 0) odd_put_zeros(body, 1);
}

static void place_buffers(struct odd_batch *batch, struct odd_bytes *body, int64_t *entries) {
  size_t n = (size_t)batch->n_buffers;
  bool turned = !batch->lengths && odd_chance(batch->random, 5);
  size_t start = turned ? (size_t)random_below(batch->random, (int64_t)n + 1) : 0;
  for (size_t k = 0; k < n; k++) {
    size_t i = (k + start) % n; /* the last ones may come first */
    if (batch->compression >= 0) compress_one(batch, &batch->buffers[i]);
    place_buffer(batch, body, &batch->buffers[i], entries + 2 * i);
  }
}

static struct odd_object *compression_table(struct odd_batch *batch, struct odd_flat *flat) {
  struct odd_object *table = odd_table(flat);
  odd_scalar_or(flat, table, 0, 1, batch->compression, 0);
  odd_scalar_or(flat, table, 1, 1, 0, 0);
  return table;
}

struct odd_object *odd_batch_finish(struct odd_batch *batch, struct odd_flat *flat, int64_t length,
                                    struct odd_bytes *body) {
  int64_t *entries = calloc(2 * (size_t)batch->n_buffers + 1, sizeof *entries);
  if (entries == NULL) abort();
  place_buffers(batch, body, entries);
  struct odd_object *table = odd_table(flat);
  size_t alignment = odd_chance(flat->random, 2) ? 8 : 4;
  odd_scalar_or(flat, table, 0, 8, length, 0);
  if (batch->nodes.size != 0 || odd_chance(flat->random, 2))
    odd_child(table, 1, odd_raw(flat, batch->nodes.data, batch->nodes.size / 16, 16, alignment));
  if (batch->n_buffers != 0 || odd_chance(flat->random, 2))
    odd_child(table, 2, odd_raw(flat, entries, (size_t)batch->n_buffers, 16, alignment));
  if (batch->compression >= 0) odd_child(table, 3, compression_table(batch, flat));
  if (batch->variadic.size != 0 || odd_chance(flat->random, 4))
    odd_child(table, 4, odd_raw(flat, batch->variadic.data, batch->variadic.size / 8, 8, 8));
  for (int i = 0; i < batch->n_buffers; i++) odd_bytes_free(&batch->buffers[i]);
  odd_bytes_free(&batch->nodes);
  odd_bytes_free(&batch->variadic);
  free(entries);
  return table;
}

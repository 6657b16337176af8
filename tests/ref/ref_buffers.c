#include "ref/ref_int.h"

/* The lists of a batch and the buffers behind them. */

static const uint8_t *next(struct ref *ref, struct span *list, size_t size, const char *reason) {
  const uint8_t *at = ref_cut(ref, *list, 0, size, reason).data;
  list->data += size;
  list->size -= size;
  return at;
}

int64_t ref_next_node(struct ref_batch *batch, int64_t *null_count) {
  const uint8_t *node = next(batch->ref, &batch->nodes, 16, "too few nodes");
  int64_t length = ref_load_signed(node, 8);
  *null_count = ref_load_signed(node + 8, 8);
  if (length < 0 || *null_count < -1 || *null_count > length)
    ref_refuse(batch->ref, "node out of range");
  return length;
}

/* Arrow's body compression of one buffer, undone. */
static struct span undo(struct ref_batch *batch, struct span stored) {
  if (stored.size == 0) return stored;
  if (stored.size < 8) ref_refuse(batch->ref, "compressed buffer without a length");
  int64_t size = ref_load_signed(stored.data, 8);
  struct span data = {stored.data + 8, stored.size - 8};
  if (size == 0) return (struct span){0};
  if (size == -1) return data;
  if (size < -1) ref_refuse(batch->ref, "compressed buffer of negative length");
  data = ref_frame(batch->ref, batch->compression, data);
  if (data.size != (uint64_t)size) ref_refuse(batch->ref, "length of a compressed buffer");
  return data;
}

struct span ref_next_buffer(struct ref_batch *batch) {
  const uint8_t *entry = next(batch->ref, &batch->buffers, 16, "too few buffers");
  struct span buffer = ref_cut(batch->ref, batch->body, ref_load(entry, 8), ref_load(entry + 8, 8),
                               "buffer outside the body");
  return batch->compression < 0 ? buffer : undo(batch, buffer);
}

static int64_t stored_value(struct ref_batch *batch, struct span buffer, int64_t i, int64_t n,
                            size_t width) {
  if (!batch->lengths) return ref_load_signed(buffer.data + (size_t)i * width, width);
  uint64_t value = 0;
  for (size_t plane = 0; plane < width; plane++)
    value |= (uint64_t)buffer.data[(size_t)i + plane * (size_t)(n + 1)] << 8 * plane;
  unsigned unused = 64 - (unsigned)width * 8;
  return (int64_t)(value << unused) >> unused;
}

const int64_t *ref_next_offsets(struct ref_batch *batch, int64_t n, size_t width) {
  struct ref *ref = batch->ref;
  struct span buffer = ref_next_buffer(batch);
  int64_t *offsets = ref_alloc(ref, (size_t)n + 1, sizeof *offsets);
  if (n == 0 && buffer.size == 0) return offsets;
  if (buffer.size / width < (uint64_t)n + 1) ref_refuse(ref, "too few offsets");
  if (batch->lengths && buffer.size != width * ((uint64_t)n + 1))
    ref_refuse(ref, "offsets stored as lengths are not of their length");
  int64_t most = width == 4 ? INT32_MAX : INT64_MAX;
  for (int64_t i = 0; i <= n; i++) {
    int64_t value = stored_value(batch, buffer, i, n, width);
    int64_t before = i == 0 ? 0 : offsets[i - 1];
    if (batch->lengths) {
      if (value < 0 || value > most - before) ref_refuse(ref, "length out of range");
      value += before;
    }
    if (value < before) ref_refuse(ref, "offsets fall");
    offsets[i] = value;
  }
  return offsets;
}

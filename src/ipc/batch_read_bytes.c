/*
 * Layouts with offsets: text and bytes, lists and maps.
 *
 * Offsets and text that are still to be copied from memory are looked at by the copy.
 */
#include "arrow/validate.h"
#include "arrow/values.h"
#include "ipc/batch_lengths.h"
#include "ipc/batch_read_int.h"

/* The offsets buffer, of which nothing may have arrived yet; an empty array's may be missing. */
static ashuf_status next_offsets(struct batch_walk *walk, const struct field *field,
                                 struct ArrowArray *out, struct span *span) {
  ashuf_status status = batch_next_place(walk, span);
  if (status != ASHUF_OK) return status;
  if (out->length == 0 && span->size == 0) {
    out->buffers[1] = &walk->holder->zero;
    return ASHUF_OK;
  }
  status = batch_require_size(walk, span, out->length + 1, (uint64_t)field->byte_width);
  if (status == ASHUF_OK && walk->options->offsets_as_lengths) {
    struct lengths_place place = {walk->body, span->data, span->size, span->offset};
    status = batch_span_arrive(walk, span, span->size);
    if (status != ASHUF_OK) return status;
    status = batch_undo_lengths(&place, field->byte_width, out->length + 1, walk->options->scratch,
                                walk->holder->memory, walk->error);
  }
  if (status == ASHUF_OK) status = batch_align_buffer(walk, field, span);
  out->buffers[1] = span->data;
  return status;
}

static ashuf_status bad_offset(struct batch_walk *walk, const struct field *field,
                               const struct span *span, int64_t bad, int64_t limit) {
  return batch_fail(walk, ASHUF_BAD_VALUES, SITE_OFFSETS,
                    span->offset + (uint64_t)bad * (uint64_t)field->byte_width,
                    "offset decreases or leaves its data: entry, data size", bad, limit);
}

/* Where the first size bytes of the span have to be copied from, or NULL. */
static const uint8_t *take_span(struct batch_walk *walk, const struct span *span, uint64_t size) {
  size_t at = (size_t)(span->offset - walk->body->offset);
  if (walk->body->source == NULL || size == 0 || span->data != walk->body->data + at) return NULL;
  return body_take(walk->body, at, at + (size_t)size);
}

/* Offsets into a child or the bytes behind them, limit values long. Those that were lengths do not
 * decrease, whatever the lengths are: the last one says it all. */
static ashuf_status check_offsets(struct batch_walk *walk, const struct field *field,
                                  const struct ArrowArray *out, const struct span *span,
                                  int64_t limit) {
  const uint8_t *offsets = out->buffers[1];
  int width = field->byte_width;
  int64_t n = out->length + 1;
  const uint8_t *from = NULL;
  bool good = walk->options->offsets_as_lengths;
  if (walk->options->validate && !good)
    from = take_span(walk, span, span->size == 0 ? 0 : (uint64_t)n * (uint64_t)width);
  if (from != NULL) good = copy_offsets((uint8_t *)(uintptr_t)offsets, from, width, n);
  ashuf_status status = batch_span_arrive(walk, span, span->size);
  if (status != ASHUF_OK) return status;
  if (good && load_offset(offsets, width, out->length) <= limit) return ASHUF_OK;
  if (!walk->options->validate && !walk->options->offsets_as_lengths) return ASHUF_OK;
  int64_t bad = validate_offsets(offsets, width, n, limit);
  return bad < 0 ? ASHUF_OK : bad_offset(walk, field, span, bad, limit);
}

static ashuf_status check_text(struct batch_walk *walk, const struct field *field,
                               const struct ArrowArray *out, const struct span *bytes) {
  const void *offsets = out->buffers[1];
  int width = field->byte_width;
  const uint8_t *from = take_span(walk, bytes, bytes->size);
  if (from != NULL && copy_ascii((uint8_t *)(uintptr_t)bytes->data, from, (size_t)bytes->size))
    return ASHUF_OK;
  ashuf_status status = batch_span_arrive(walk, bytes, bytes->size);
  if (status != ASHUF_OK) return status;
  int64_t bad = validate_utf8(offsets, width, out->length, bytes->data, out->buffers[0]);
  if (bad < 0) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_VALUES, SITE_UTF8, bytes->offset, "string is not UTF-8: row",
                    bad, 0);
}

ashuf_status batch_read_bytes(struct batch_walk *walk, const struct field *field,
                              struct ArrowArray *out) {
  struct span offsets;
  struct span bytes;
  ashuf_status status = next_offsets(walk, field, out, &offsets);
  if (status == ASHUF_OK) status = batch_next_place(walk, &bytes);
  if (status == ASHUF_OK) status = check_offsets(walk, field, out, &offsets, (int64_t)bytes.size);
  if (status != ASHUF_OK) return status;
  out->buffers[2] = bytes.data;
  bool is_text = field->type == TYPE_UTF8 || field->type == TYPE_LARGE_UTF8;
  if (is_text && walk->options->validate) return check_text(walk, field, out, &bytes);
  return batch_span_arrive(walk, &bytes, bytes.size);
}

/* Entries and keys are there for every row. */
static ashuf_status check_map(struct batch_walk *walk, const struct ArrowArray *out) {
  const struct ArrowArray *entries = out->children[0];
  if (!walk->options->validate) return ASHUF_OK;
  if (entries->null_count == 0 && entries->children[0]->null_count == 0) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_VALUES, SITE_MAP_NULLS, walk->metadata_offset,
                    "a map has null entries or keys: how many", entries->null_count,
                    entries->children[0]->null_count);
}

ashuf_status batch_read_list(struct batch_walk *walk, const struct field *field,
                             struct ArrowArray *out) {
  struct span offsets;
  ashuf_status status = next_offsets(walk, field, out, &offsets);
  if (status == ASHUF_OK) status = batch_span_arrive(walk, &offsets, offsets.size);
  if (status == ASHUF_OK) status = batch_read_children(walk, field, out);
  if (status != ASHUF_OK) return status;
  status = check_offsets(walk, field, out, &offsets, out->children[0]->length);
  return status == ASHUF_OK && field->type == TYPE_MAP ? check_map(walk, out) : status;
}

#include "arrow/gather.h"
#include "codec/codec.h"
#include "ipc/batch_plan.h"

/* Runs of rows at least this long on average go out of the input's memory as they stand. */
#define LONG_RUN 256

static bool has_long_runs(const struct plan_piece *piece) {
  const struct selection *selection = piece->selection;
  return selection->ids == NULL && piece->validity == NULL &&
         selection->n_rows / LONG_RUN >= (int64_t)selection->n_ranges;
}

static const struct array_view *range_view(const struct plan_piece *piece,
                                           const struct row_range *range, int64_t *slot) {
  const struct array_view *view = &piece->source->views[row_batch(range->first)];
  *slot = view->offset + row_number(range->first);
  return view;
}

static void emit_fixed_runs(const struct plan_piece *piece, struct encoder *encoder) {
  size_t width = (size_t)piece->source->field->byte_width;
  for (size_t i = 0; i < piece->selection->n_ranges; i++) {
    const struct row_range *range = &piece->selection->ranges[i];
    if (range->length == 0) continue;
    int64_t slot = 0;
    const struct array_view *view = range_view(piece, range, &slot);
    encoder_lend(encoder, view->data[0] + (size_t)slot * width, (size_t)range->length * width);
  }
}

static row_id next_row(const struct selection *selection, struct selection_cursor *cursor) {
  if (selection->ids != NULL) return selection->ids[cursor->item++];
  while (cursor->within == selection->ranges[cursor->item].length) {
    cursor->item++;
    cursor->within = 0;
  }
  return selection->ranges[cursor->item].first + (row_id)cursor->within++;
}

/* Values wider than a piece, one by one. */
static void emit_wide(const struct plan_piece *piece, struct encoder *encoder) {
  const struct selection *selection = piece->selection;
  size_t width = (size_t)piece->source->field->byte_width;
  struct selection_cursor cursor = {0, 0};
  for (int64_t i = 0; i < selection->n_rows; i++) {
    row_id row = next_row(selection, &cursor);
    const struct array_view *view = &piece->source->views[row_batch(row)];
    const uint8_t *value = view->data[0] + (size_t)(view->offset + row_number(row)) * width;
    bool valid = piece->validity == NULL || ((piece->validity[i >> 3] >> (i & 7)) & 1) != 0;
    if (valid)
      encoder_write(encoder, value, width);
    else
      encoder_zeros(encoder, width);
  }
}

static void emit_fixed(const struct plan_piece *piece, struct encoder *encoder) {
  size_t width = (size_t)piece->source->field->byte_width;
  int64_t n = piece->selection->n_rows;
  if (width == 0) return;
  if (has_long_runs(piece)) {
    emit_fixed_runs(piece, encoder);
    return;
  }
  if (width > ENCODER_PIECE) {
    emit_wide(piece, encoder);
    return;
  }
  int64_t most = (int64_t)(ENCODER_PIECE / width);
  struct selection_cursor cursor = {0, 0};
  for (int64_t first = 0; first < n; first += most) {
    int64_t rows = n - first < most ? n - first : most;
    size_t size = (size_t)rows * width;
    uint8_t *out = encoder_reserve(encoder, size);
    gather_fixed(piece->source, piece->selection, &cursor, rows, piece->validity, first, out);
    encoder_commit(encoder, size);
  }
}

static uint64_t offset_at(const struct array_view *view, int width, int64_t slot) {
  return width == 4 ? (uint64_t)((const int32_t *)(const void *)view->data[0])[slot]
                    : (uint64_t)((const int64_t *)(const void *)view->data[0])[slot];
}

static void emit_byte_runs(const struct plan_piece *piece, struct encoder *encoder) {
  int width = piece->source->field->byte_width;
  for (size_t i = 0; i < piece->selection->n_ranges; i++) {
    const struct row_range *range = &piece->selection->ranges[i];
    if (range->length == 0) continue;
    int64_t slot = 0;
    const struct array_view *view = range_view(piece, range, &slot);
    uint64_t from = offset_at(view, width, slot);
    uint64_t to = offset_at(view, width, slot + range->length);
    encoder_lend(encoder, view->data[1] + from, (size_t)(to - from));
  }
}

static void emit_bytes(const struct plan_piece *piece, struct encoder *encoder) {
  int64_t n = piece->selection->n_rows;
  if (has_long_runs(piece)) {
    emit_byte_runs(piece, encoder);
    return;
  }
  struct selection_cursor cursor = {0, 0};
  for (int64_t first = 0; first < n;) {
    uint8_t *out = encoder_reserve(encoder, ENCODER_PIECE);
    int64_t rows = 0;
    size_t size = gather_bytes(piece->source, piece->selection, &cursor, piece->memory, first,
                               ENCODER_PIECE, out, &rows);
    encoder_commit(encoder, size);
    first += rows;
    if (rows != 0) continue;
    const uint8_t *value = gather_value(piece->source, piece->selection, &cursor, &size);
    encoder_write(encoder, value, size);
    first++;
  }
}

/* Runs that fit into a piece together are written as one. */
static void emit_runs(const struct plan_piece *piece, struct encoder *encoder) {
  const struct gathered_views *views = piece->memory;
  for (size_t i = 0; i < views->n_runs;) {
    const struct value_bytes *run = &views->runs[i];
    if (run->size > ENCODER_PIECE) {
      encoder_lend(encoder, run->data, run->size);
      i++;
      continue;
    }
    uint8_t *out = encoder_reserve(encoder, ENCODER_PIECE);
    size_t size = 0;
    for (; i < views->n_runs && run->size <= ENCODER_PIECE - size; run++, i++) {
      memcpy(out + size, run->data, run->size);
      size += run->size;
    }
    encoder_commit(encoder, size);
  }
}

void batch_plan_emit(const struct batch_plan *plan, struct encoder *encoder) {
  uint64_t position = 0;
  for (uint32_t i = 0; i < plan->n_buffers; i++) {
    const struct ipc_buffer *buffer = &plan->buffers[i];
    const struct plan_piece *piece = &plan->pieces[i];
    encoder_zeros(encoder, (size_t)((uint64_t)buffer->offset - position));
    if (piece->kind == PIECE_MEMORY)
      encoder_write(encoder, piece->memory, (size_t)buffer->length);
    else if (piece->kind == PIECE_FIXED)
      emit_fixed(piece, encoder);
    else if (piece->kind == PIECE_RUNS)
      emit_runs(piece, encoder);
    else
      emit_bytes(piece, encoder);
    position = (uint64_t)(buffer->offset + buffer->length);
  }
  encoder_zeros(encoder, (size_t)(plan->body_length - position));
}

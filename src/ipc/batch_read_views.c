#include "arrow/validate.h"
#include "base/bytes.h"
#include "ipc/batch_read_int.h"

/* ---- Views -------------------------------------------------------------------------------- */

/* The variadic count bounds nothing but the list of buffers, which is there. */
ashuf_status batch_next_variadic(struct batch_walk *walk, int64_t *count) {
  const struct batch_header *header = walk->header;
  if (walk->variadic >= header->n_variadic)
    return batch_fail(walk, ASHUF_BAD_BATCH, SITE_VARIADIC_FEW, walk->metadata_offset,
                      "the batch has too few variadic counts", header->n_variadic, 0);
  *count = load_i64(header->variadic + (size_t)walk->variadic * sizeof *count);
  walk->variadic++;
  if (*count >= 0 && *count <= (int64_t)header->n_buffers - (int64_t)walk->buffer) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_BATCH, SITE_VARIADIC_RANGE, walk->metadata_offset,
                    "impossible number of data buffers: count, buffers left", *count,
                    (int64_t)header->n_buffers - (int64_t)walk->buffer);
}

/*
 * In an allocation of their own where there are data buffers:
 *
 *   [ validity, views, data buffers, sizes pointer ][ sizes of the data buffers ]
 */
ashuf_status batch_take_view_pointers(struct batch_walk *walk, struct ArrowArray *out) {
  int64_t count = 0;
  ashuf_status status = batch_next_variadic(walk, &count);
  if (status != ASHUF_OK) return status;
  out->n_buffers = count + 3;
  if (count == 0) {
    out->buffers = batch_holder_pointers(walk->holder, 3);
    memset(out->buffers, 0, 3 * sizeof *out->buffers);
    return ASHUF_OK;
  }
  size_t pointers = (size_t)out->n_buffers * sizeof(void *);
  size_t size = pointers + (size_t)count * sizeof(int64_t);
  char *room = batch_holder_extra(walk->holder, size);
  if (room == NULL) return error_memory(walk->error, SITE_BATCH_MEMORY, walk->holder->memory, size);
  memset(room, 0, size);
  out->buffers = (const void **)(void *)room;
  out->buffers[count + 2] = room + pointers;
  return ASHUF_OK;
}

static ashuf_status read_data_buffers(struct batch_walk *walk, struct ArrowArray *out) {
  int64_t *sizes = (int64_t *)(uintptr_t)out->buffers[out->n_buffers - 1];
  for (int64_t i = 0; i < out->n_buffers - 3; i++) {
    struct span span;
    ashuf_status status = batch_next_buffer(walk, &span);
    if (status != ASHUF_OK) return status;
    out->buffers[2 + i] = span.data;
    sizes[i] = (int64_t)span.size;
  }
  return ASHUF_OK;
}

static const char *const view_faults[] = {
    [VIEW_FAULT_SIZE] = "a view of negative size: row",
    [VIEW_FAULT_PADDING] = "a view with something behind its value: row",
    [VIEW_FAULT_BUFFER] = "a view of a data buffer that is not there: row",
    [VIEW_FAULT_RANGE] = "a view that leaves its data buffer: row",
    [VIEW_FAULT_PREFIX] = "a view whose prefix differs from its value: row",
    [VIEW_FAULT_UTF8] = "string is not UTF-8: row",
};

ashuf_status batch_read_views(struct batch_walk *walk, const struct field *field,
                              struct ArrowArray *out) {
  struct span views;
  ashuf_status status = batch_next_values(walk, field, out->length, 16, &views);
  if (status == ASHUF_OK) status = read_data_buffers(walk, out);
  if (status != ASHUF_OK) return status;
  out->buffers[1] = views.data;
  if (!walk->options->validate) return ASHUF_OK;
  const struct view_scan scan = {.views = views.data,
                                 .validity = out->buffers[0],
                                 .length = out->length,
                                 .buffers = out->buffers + 2,
                                 .sizes = out->buffers[out->n_buffers - 1],
                                 .n_buffers = out->n_buffers - 3,
                                 .is_text = field->type == TYPE_UTF8_VIEW};
  enum view_fault fault = VIEW_FAULT_SIZE;
  int64_t bad = validate_views(&scan, &fault);
  if (bad < 0) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_VALUES, fault == VIEW_FAULT_UTF8 ? SITE_UTF8 : SITE_VIEWS,
                    views.offset + (uint64_t)bad * (uint64_t)field->byte_width, view_faults[fault],
                    bad, out->n_buffers - 3);
}

/* ---- List views --------------------------------------------------------------------------- */

ashuf_status batch_read_list_views(struct batch_walk *walk, const struct field *field,
                                   struct ArrowArray *out) {
  struct span offsets;
  struct span sizes;
  uint64_t width = (uint64_t)field->byte_width;
  ashuf_status status = batch_next_values(walk, field, out->length, width, &offsets);
  if (status == ASHUF_OK) status = batch_next_values(walk, field, out->length, width, &sizes);
  if (status != ASHUF_OK) return status;
  out->buffers[1] = offsets.data;
  out->buffers[2] = sizes.data;
  status = batch_read_children(walk, field, out);
  if (status != ASHUF_OK || !walk->options->validate) return status;
  int64_t limit = out->children[0]->length;
  int64_t bad =
      validate_list_views(offsets.data, sizes.data, field->byte_width, out->length, limit);
  if (bad < 0) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_VALUES, SITE_LIST_VIEWS, offsets.offset + (uint64_t)bad * width,
                    "a list view leaves its child: row, child length", bad, limit);
}

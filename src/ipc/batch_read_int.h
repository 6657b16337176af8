/* What the files that read a batch share: the walk through a message's lists. */
#ifndef ASHUF_IPC_BATCH_READ_INT_H
#define ASHUF_IPC_BATCH_READ_INT_H

#include "base/bytes.h"
#include "ipc/batch_read.h"

/* What the fields of one batch share, and where the walk through one message's lists stands.
 * A dictionary is a walk of its own, over its own message, into the same holder. */
struct batch_walk {
  const struct batch_header *header;
  struct body *body;
  const struct batch_read_options *options;
  struct dictionary_table *dictionaries;
  struct batch_holder *holder;
  const struct field *column; /* top-level, for messages */
  struct ashuf_error *error;
  uint64_t metadata_offset;
  uint64_t buffers_end; /* in the body, of the last buffer: kept where offsets are lengths */
  uint32_t node;
  uint32_t buffer;
  uint32_t variadic;
  int version;
  bool runs_have_validity; /* by batch_has_run_validity */
};

struct span {
  const uint8_t *data;
  uint64_t size;
  uint64_t offset; /* in the stream */
};

/* An error that names the column and two numbers. */
ashuf_status batch_fail(struct batch_walk *walk, ashuf_status status, int site, uint64_t offset,
                        const char *text, int64_t a, int64_t b);
/* Where the next buffer lies; how much of it is there is another matter. Most are in order: then
 * one comparison says it. */
ashuf_status batch_check_place(struct batch_walk *walk, struct span *span);
static inline ashuf_status batch_next_place(struct batch_walk *walk, struct span *span) {
  const struct batch_header *header = walk->header;
  struct ipc_buffer place;
  if (walk->buffer >= header->n_buffers || walk->options->offsets_as_lengths)
    return batch_check_place(walk, span);
  memcpy(&place, header->buffers + (size_t)walk->buffer * sizeof place, sizeof place);
  if ((place.offset | place.length) < 0 ||
      !range_inside((uint64_t)place.offset, (uint64_t)place.length, walk->body->size))
    return batch_check_place(walk, span);
  walk->buffer++;
  span->data = walk->body->data + place.offset;
  span->size = (uint64_t)place.length;
  span->offset = walk->body->offset + (uint64_t)place.offset;
  return ASHUF_OK;
}
/* Makes sure that the first bytes of the span are there, end <= span->size. */
static inline ashuf_status batch_span_arrive(struct batch_walk *walk, const struct span *span,
                                             uint64_t end) {
  return body_arrive(walk->body, (size_t)(span->offset - walk->body->offset + end), walk->error);
}
/* The next buffer, all of it there. */
static inline ashuf_status batch_next_buffer(struct batch_walk *walk, struct span *span) {
  ashuf_status status = batch_next_place(walk, span);
  return status == ASHUF_OK ? batch_span_arrive(walk, span, span->size) : status;
}
/* The buffer must hold count elements of width bytes. */
ashuf_status batch_require_size(struct batch_walk *walk, const struct span *span, int64_t count,
                                uint64_t width);
/* The span's data, or a copy at an address the type can be read from: 16 is enough for all. */
ashuf_status batch_align_copy(struct batch_walk *walk, const struct field *field,
                              struct span *span);
static inline ashuf_status batch_align_buffer(struct batch_walk *walk, const struct field *field,
                                              struct span *span) {
  return ((uintptr_t)span->data & 15) == 0 ? ASHUF_OK : batch_align_copy(walk, field, span);
}
/* The next buffer of count values of width bytes, at an address that the field's type needs. */
ashuf_status batch_next_values(struct batch_walk *walk, const struct field *field, int64_t count,
                               uint64_t width, struct span *span);
/* A field with all that hangs below it, and whether all of the message's lists have been used. */
ashuf_status batch_read_field(struct batch_walk *walk, const struct field *field,
                              struct ArrowArray *out);
ashuf_status batch_check_used_up(struct batch_walk *walk);
/* Without data buffers of views, whose sizes have a buffer too. */
int64_t batch_array_buffers(const struct field *field);
ashuf_status batch_read_children(struct batch_walk *walk, const struct field *field,
                                 struct ArrowArray *out);
/* Every child must hold at least need values. */
ashuf_status batch_check_children(struct batch_walk *walk, const struct ArrowArray *out,
                                  int64_t need);

/* How many data buffers the next view array has. */
ashuf_status batch_next_variadic(struct batch_walk *walk, int64_t *count);
/* Gives a view array its buffer pointers, as many as the next variadic count says. */
ashuf_status batch_take_view_pointers(struct batch_walk *walk, struct ArrowArray *out);
/* The dictionary of an array whose indices have been read; checks those. */
ashuf_status batch_read_dictionary(struct batch_walk *walk, const struct field *field,
                                   struct ArrowArray *out);
/* The layouts of batch_read_bytes.c, batch_read_views.c and batch_read_unions.c. The validity of
 * those that have one is read; node is the array's. */
ashuf_status batch_read_bytes(struct batch_walk *walk, const struct field *field,
                              struct ArrowArray *out);
ashuf_status batch_read_list(struct batch_walk *walk, const struct field *field,
                             struct ArrowArray *out);
ashuf_status batch_read_views(struct batch_walk *walk, const struct field *field,
                              struct ArrowArray *out);
ashuf_status batch_read_list_views(struct batch_walk *walk, const struct field *field,
                                   struct ArrowArray *out);
ashuf_status batch_read_union(struct batch_walk *walk, const struct field *field,
                              const struct ipc_node *node, struct ArrowArray *out);
/* Whether run ends of this message, whose columns are fields, have a validity buffer. */
bool batch_has_run_validity(const struct batch_header *header, int version,
                            const struct field *fields, int32_t n_fields);
ashuf_status batch_read_runs(struct batch_walk *walk, const struct field *field,
                             const struct ipc_node *node, struct ArrowArray *out);

#endif /* ASHUF_IPC_BATCH_READ_INT_H */

/*
 * Selected rows to a record batch message, in two passes over the columns.
 *
 *   batch_plan_make   sizes: null counts, offsets, child selections, dictionaries; everything a
 *                     message's metadata says. What had to be gathered for that (validity bits,
 *                     offsets, indices) stays in the arena until it is written.
 *   batch_plan_emit   values: gathered piece by piece straight into the encoder.
 *
 * A plan is made of nodes, buffers and pieces: piece i produces the bytes of buffer i.
 *
 * What is written is canonical, a function of the rows: views have one data buffer at most, in
 * which each distinct value stands once; list views lie one behind the other; the children of a
 * dense union hold the rows named, in order; neighbouring runs of equal value are one.
 */
#ifndef ASHUF_IPC_BATCH_PLAN_H
#define ASHUF_IPC_BATCH_PLAN_H

#include "arrow/selection.h"
#include "ipc/metadata.h"

struct encoder;

/* How a batch is to be laid out. */
struct batch_layout {
  uint32_t padding;           /* of every buffer: 8 or 64 */
  uint32_t message_alignment; /* of every message, where that is more than the padding */
  bool validity_always;       /* also where nothing is null: all bits set */
  bool offsets_as_lengths;    /* 32-bit and 64-bit offsets go out as length planes */
  bool keep_dictionaries;     /* else dictionary columns are written as their values */
  bool whole_dictionaries;    /* kept ones as they are, where the rows are a slice of one batch;
                               * also views, list views, dense unions and runs, all rows of an array */
  int64_t offset_limit;       /* the largest 32-bit offset: INT32_MAX but in tests */
};

enum piece_kind { PIECE_MEMORY, PIECE_FIXED, PIECE_BYTES, PIECE_RUNS };

struct plan_piece {
  enum piece_kind kind;
  const void *memory; /* MEMORY; BYTES: the gathered offsets; RUNS: struct gathered_views */
  const struct source *source;
  const struct selection *selection;
  const uint8_t *validity; /* the gathered bits, NULL without nulls */
};

struct batch_plan {
  struct ipc_node *nodes;
  struct ipc_buffer *buffers; /* offsets and lengths as the metadata says them */
  struct plan_piece *pieces;  /* one a buffer */
  int64_t *variadic;          /* data buffers of each view field */
  uint32_t n_nodes;
  uint32_t n_buffers;
  uint32_t n_variadic;
  int64_t length;
  uint64_t body_length;
  int64_t dictionary_id;
  struct batch_plan *next; /* dictionaries: in the order they are written */
};

/* A record batch with the dictionaries in front of it. */
struct batch_plans {
  struct batch_plan batch;
  struct batch_plan *dictionaries;
  uint64_t body_length; /* of all of them */
  bool too_large;       /* an offset or dictionary index does not fit: take fewer rows */
};

enum { SITE_PLAN_MEMORY = 660, SITE_PLAN_LAYOUT = 661, SITE_PLAN_INDEX = 669 };

/*
 * Plans the selected rows of all columns of set. Everything the plans point to is in the arena,
 * in set, or in *selection, and has to outlive them.
 */
ashuf_status batch_plan_make(const struct source_set *set, const struct selection *selection,
                             const struct batch_layout *layout, struct arena *arena,
                             struct batch_plans *out, struct ashuf_error *error);

/* Whether readers load the type's values whole, 16 bytes at a time: buffers of it, and the bodies
 * they are in, start at multiples of 16. */
bool batch_is_wide(const struct field *field);

/* What the message says; the flatbuffer's body_length is the plan's. */
void batch_plan_metadata(const struct batch_plan *plan, bool is_dictionary,
                         struct batch_metadata *out);

/* Writes the body; failures stick in the encoder. */
void batch_plan_emit(const struct batch_plan *plan, struct encoder *encoder);

#endif /* ASHUF_IPC_BATCH_PLAN_H */

/*
 * From a record batch message and its body to arrays of the C Data Interface (docs/FORMAT.md,
 * "Body layout").
 *
 * The walk is the pre-order of the schema: each field takes its node and its buffers. Buffer
 * bounds, sizes against lengths and list counts are checked always; values when validate is set:
 * null counts, offsets, UTF-8, dictionary indices, nulls among the keys of maps, views, list views,
 * type ids, run ends. Nothing is copied out of the body, except buffers that lie at an address
 * their type cannot have.
 */
#ifndef ASHUF_IPC_BATCH_READ_H
#define ASHUF_IPC_BATCH_READ_H

#include "ipc/batch_holder.h"
#include "ipc/dictionary_table.h"

struct batch_read_options {
  bool validate;
  bool offsets_as_lengths;      /* the body holds lengths: it must be an own one, they are undone */
  struct ashuf_buffer *scratch; /* for that */
  /* NULL: all columns. Else, for each column of the schema, its place among the n_places children
   * of the batch, or -1: its nodes and buffers are walked over, its values not looked at. */
  const int32_t *places;
  int32_t n_places;
};

enum {
  SITE_BATCH_MEMORY = 620,
  SITE_NODES_FEW = 621,
  SITE_NODES_MANY = 622,
  SITE_BUFFERS_FEW = 623,
  SITE_BUFFERS_MANY = 624,
  SITE_VARIADIC_FEW = 625,
  SITE_VARIADIC_MANY = 626,
  SITE_NODE_LENGTH = 627,
  SITE_NULL_COUNT_RANGE = 628,
  SITE_COLUMN_LENGTH = 629,
  SITE_BUFFER_RANGE = 630,
  SITE_BUFFER_SIZE = 631,
  SITE_VALIDITY_SIZE = 632,
  SITE_NULL_COUNT = 633,
  SITE_OFFSETS = 634,
  SITE_UTF8 = 635,
  SITE_INDICES = 636,
  SITE_CHILD_LENGTH = 637,
  SITE_DICTIONARY_MISSING = 638,
  SITE_DICTIONARY_LENGTH = 639,
  SITE_LENGTHS_LAYOUT = 640,
  SITE_LENGTHS_SIZE = 641,
  SITE_LENGTHS_VALUES = 642,
  SITE_LENGTHS_ORDER = 643,
  SITE_COMPRESSED_LENGTHS = 644,
  SITE_TYPE_LAYOUT = 646,
  SITE_MAP_NULLS = 647,
  SITE_VARIADIC_RANGE = 662,
  SITE_VIEWS = 663,
  SITE_LIST_VIEWS = 664,
  SITE_OWN_NULLS = 665,
  SITE_TYPE_IDS = 666,
  SITE_DENSE_OFFSETS = 667,
  SITE_RUN_ENDS = 668
};

/*
 * The batch of message, whose body is plain (body compression undone). out gets a struct array,
 * one child a column. dictionaries may be NULL where the schema has none; entries that a field
 * uses are marked. The body is referenced, not taken.
 */
ashuf_status batch_read(const ashuf_schema *schema, const struct message *message,
                        struct body *body, struct dictionary_table *dictionaries,
                        const struct batch_read_options *options, ashuf_memory *memory,
                        struct ArrowArray *out, struct ashuf_error *error);

/* UNSUPPORTED where offsets of this schema cannot be stored as lengths: it has dictionaries,
 * views, list views, unions or run ends. */
ashuf_status batch_check_lengths(const ashuf_schema *schema, struct ashuf_error *error);

/* Whether the schema has 32-bit offsets and batch_check_lengths passes: whether a writer may and
 * would gain from it. */
bool batch_has_lengths(const ashuf_schema *schema);

#endif /* ASHUF_IPC_BATCH_READ_H */

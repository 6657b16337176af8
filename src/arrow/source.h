/*
 * Arrays of many batches as the columns they form: where rows are gathered, hashed and compared
 * from.
 *
 *   source (a column)          views[0]  views[1] ...  one view a batch
 *     children[k]              views[0]  views[1] ...
 *     dictionary               views[0]  views[1] ...
 *
 * A view is one ArrowArray, checked against its field and boiled down to pointers; the arrays
 * stay the caller's and must outlive the source's use of them. Row numbers of a view count from
 * 0 at the array's own offset: the offset is added by the accessors here. The offset of a struct,
 * fixed-size list or sparse union applies to its children; their views have it added, so that row r
 * of a struct is row r of each child's view, and row r of a list of n starts at row r * n of the
 * child's view. What a row of the other layouts names below it is found by arrow/place.h.
 *
 *   one allocation:  lengths[capacity] | views of source 0 [capacity] | views of source 1 ...
 *
 * A view without rows has zeros to read where its first row would be.
 *
 * Legal order: source_set_new -> source_set_push per batch -> any number of readers ->
 * source_set_clear (keeps capacity) -> push again ...
 */
#ifndef ASHUF_ARROW_SOURCE_H
#define ASHUF_ARROW_SOURCE_H

#include "arrow/schema.h"

/* One array of one batch: a cache line. */
struct array_view {
  const uint8_t *validity; /* NULL: no nulls among the rows, whatever bitmap the array has */
  const uint8_t *data[2];  /* buffers after the validity: values; offsets, bytes; offsets, sizes;
                            * type  ids, offsets */
  int64_t offset;          /* slots before the first row, in every buffer of this array */
  int64_t length;
  int64_t limit; /* bytes: where the last one ends; views: data buffers; lists and list views: rows
                  * of the child; dictionary: values */
  const struct ArrowArray *array;
};

struct source {
  const struct field *field;
  struct array_view *views;
  size_t n_with_nulls;       /* views with a validity bitmap */
  struct source *children;   /* field->n_children; for a dictionary the values' are below it */
  struct source *dictionary; /* NULL where not dictionary-encoded */
};

struct source_set {
  ashuf_memory *memory;
  ashuf_schema *schema; /* a reference */
  struct arena arena;   /* the tree of sources */
  struct source *columns;
  int64_t *lengths; /* rows of each batch; the start of the one allocation */
  size_t n_sources;
  size_t n_batches;
  size_t capacity; /* batches the views have room for */
};

enum source_site {
  SITE_SOURCE_MEMORY = 500,
  SITE_SOURCE_BATCHES = 501,
  SITE_SOURCE_ROOT_NULLS = 502,
  SITE_SOURCE_LENGTH = 503,
  SITE_SOURCE_BUFFERS = 504,
  SITE_SOURCE_CHILDREN = 505,
  SITE_SOURCE_DICTIONARY = 506,
  SITE_SOURCE_NULL_COUNT = 507,
  SITE_SOURCE_NO_VALIDITY = 508,
  SITE_SOURCE_NULL = 509,
  SITE_SOURCE_NO_VALUES = 510,
  SITE_SOURCE_NO_BYTES = 511,
  SITE_SOURCE_LAST_OFFSET = 512,
  SITE_SOURCE_SHORT = 513,
  SITE_SOURCE_VIEW_SIZES = 514,
  SITE_SOURCE_RUN_ENDS = 515
};

/* Batches a set can hold, rows a batch (or a child of one) can hold. */
#define MAX_BATCHES ((size_t)1 << 24)
#define MAX_ROWS_BITS 40

ashuf_status source_set_init(struct source_set *set, const ashuf_schema *schema,
                             ashuf_memory *memory, struct ashuf_error *error);
/*
 * Adds a batch: a struct array of the schema's columns. Checks buffer and child counts, lengths,
 * missing buffers, negative sizes, a null in a non-null column (not below list views, dense unions
 * and run ends, where its row is hard to find), a null run end, a struct array with nulls of its
 * own; on failure (BAD_ARRAY or SCHEMA_MISMATCH, naming the column) the set is as before.
 * Values are not scanned here: gather checks the offsets and indices of the rows it takes.
 */
ashuf_status source_set_push(struct source_set *set, const struct ArrowArray *batch,
                             struct ashuf_error *error);
/*
 * Puts another batch in the place of one that nothing selects from any more. On failure the place
 * is without rows.
 */
ashuf_status source_set_replace(struct source_set *set, size_t number,
                                const struct ArrowArray *batch, struct ashuf_error *error);
/* Forgets one batch, whose place stays: nothing may select from it until it is replaced. */
void source_set_vacate(struct source_set *set, size_t number);
void source_set_clear(struct source_set *set);
void source_set_free(struct source_set *set);

static inline bool view_is_valid(const struct array_view *view, int64_t row) {
  int64_t slot = view->offset + row;
  return view->validity == NULL || ((view->validity[slot >> 3] >> (slot & 7)) & 1) != 0;
}

#endif /* ASHUF_ARROW_SOURCE_H */

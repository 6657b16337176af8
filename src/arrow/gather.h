/*
 * Copying selected rows of one array (a source) into dense output: the kernels under every block
 * that is written.
 *
 * The caller plans a block in two passes. First the sizes: gather_validity, gather_offsets,
 * gather_lists give null counts, rebased offsets and child selections into scratch. Then the
 * values, piece by piece, straight to where they are wanted: gather_fixed, gather_bits,
 * gather_bytes take a cursor and move it.
 *
 * Canonical output: bits past the end are 0, a null has a zero value, an empty string or an
 * empty list, whatever lies under it in the input.
 *
 * No kernel reads outside the buffers that offsets of valid, selected rows name; a decreasing
 * offset, an offset or index out of range among selected rows is BAD_ARRAY.
 */
#ifndef ASHUF_ARROW_GATHER_H
#define ASHUF_ARROW_GATHER_H

#include "arrow/selection.h"
#include "arrow/value_bytes.h"

enum gather_site {
  SITE_GATHER_OFFSETS = 540,
  SITE_GATHER_LISTS = 541,
  SITE_GATHER_INDEX = 542,
  SITE_GATHER_MEMORY = 543,
  SITE_GATHER_VIEWS = 544,
  SITE_GATHER_LIST_VIEWS = 545,
  SITE_GATHER_UNION = 546,
  SITE_GATHER_RUNS = 547
};

/*
 * Asks for the first rows of a selection by ids to be brought near, for all arrays of a source: the
 * kernels below do that for the rows behind those. A block of few rows consists of nothing else.
 */
void gather_fetch(const struct source *source, const struct selection *selection);
/* The same for the bytes of LAYOUT_BYTES, whose offsets were gathered. */
void gather_fetch_bytes(const struct source *source, const struct selection *selection,
                        const void *offsets);

/*
 * The validity bits of the selected rows into out (bits_size(n_rows) bytes). Returns the number
 * of nulls. out is written even where there is no null.
 */
int64_t gather_validity(const struct source *source, const struct selection *selection,
                        uint8_t *out);

/* Whether no batch the selection touches has a validity bitmap: a cheap way to know of no nulls. */
bool gather_has_no_nulls(const struct source *source, const struct selection *selection);

/*
 * LAYOUT_BYTES: n_rows + 1 offsets from 0 of the selected values into out (int32_t or int64_t,
 * as wide as the field's); validity: the gathered bits, or NULL where no selected row is null.
 * *total receives the bytes, also where a 32-bit sum overflows (out is garbage then).
 */
ashuf_status gather_offsets(const struct source *source, const struct selection *selection,
                            const uint8_t *validity, void *out, uint64_t *total,
                            struct ashuf_error *error);

/*
 * LAYOUT_LIST and Map: the same offsets, and the child rows as ranges, neighbours
 * merged: at most n_ranges of them for a selection of ranges without nulls (validity NULL), else
 * at most n_rows. ranges must have room for that many.
 */
ashuf_status gather_lists(const struct source *source, const struct selection *selection,
                          const uint8_t *validity, void *out, uint64_t *total,
                          struct row_range *ranges, struct selection *child,
                          struct ashuf_error *error);

/*
 * LAYOUT_FIXED_LIST: the child rows; null slots are included (their children are written). At
 * most n_rows or n_ranges ranges.
 */
void gather_fixed_list(const struct source *source, const struct selection *selection,
                       struct row_range *ranges, struct selection *child);

/*
 * LAYOUT_FIXED of any width, dictionary indices included: the next n rows at the cursor into out
 * (n * byte_width bytes). validity: the gathered bits of the whole selection or NULL; first: the
 * position of the next row in it.
 */
void gather_fixed(const struct source *source, const struct selection *selection,
                  struct selection_cursor *cursor, int64_t n, const uint8_t *validity,
                  int64_t first, uint8_t *out);

/* LAYOUT_BITS values: all rows, into bits_size(n_rows) bytes. validity as above. */
void gather_bits(const struct source *source, const struct selection *selection,
                 const uint8_t *validity, uint8_t *out);

/*
 * LAYOUT_BYTES: the bytes of as many of the next rows as fit into out[0, capacity), moving the
 * cursor. Returns the bytes written and in *rows the rows taken; 0 rows where the next value is
 * larger than capacity (then gather_value gives it). offsets and validity as gathered. out may be
 * overwritten up to 16 bytes past what is returned, never past out + capacity.
 */
size_t gather_bytes(const struct source *source, const struct selection *selection,
                    struct selection_cursor *cursor, const void *offsets, int64_t first,
                    size_t capacity, uint8_t *out, int64_t *rows);

/* The value at the cursor (LAYOUT_BYTES), one that is not null, moving past it. */
const uint8_t *gather_value(const struct source *source, const struct selection *selection,
                            struct selection_cursor *cursor, size_t *size);

/*
 * LAYOUT_VIEWS: the views of the selected rows, and the bytes of one data buffer that they point
 * into: each distinct value of more than 12 bytes once, in order of first appearance, as runs of
 * bytes of the input. Values of up to 12 bytes are padded with zeros, nulls are zero. Where total
 * is above INT32_MAX the views are garbage.
 */
struct gathered_views {
  uint8_t *views;           /* 16 bytes a row */
  struct value_bytes *runs; /* n_runs */
  size_t n_runs;
  uint64_t total; /* bytes of the data buffer */
};
ashuf_status gather_views(const struct source *source, const struct selection *selection,
                          const uint8_t *validity, struct arena *arena, struct gathered_views *out,
                          struct ashuf_error *error);

/*
 * LAYOUT_LIST_VIEW: n_rows offsets and sizes as wide as the field's, lists one behind the other in
 * the order of the rows; a null is an empty list. ranges must have room for n_rows. Where *total is
 * 2^62 or more nothing else is set.
 */
ashuf_status gather_list_views(const struct source *source, const struct selection *selection,
                               const uint8_t *validity, void *offsets, void *sizes, uint64_t *total,
                               struct row_range *ranges, struct selection *child,
                               struct ashuf_error *error);

/*
 * Unions. mask: bits of the rows, 0 for a row that has to be null; it becomes a null of null_child.
 * Dense: offsets from 0 in every child (n_rows <= INT32_MAX), the rows of the children in the order
 * of the selection; mask: of null_child's rows, NULL where there was none. The children of a sparse
 * union have the selection and mask of the union. All from the arena.
 */
struct gathered_union {
  uint8_t *type_ids;
  int32_t *offsets;
  struct selection *children; /* as many as the field has */
  uint8_t *mask;
  int32_t null_child;
};
ashuf_status gather_union(const struct source *source, const struct selection *selection,
                          const uint8_t *mask, struct arena *arena, struct gathered_union *out,
                          struct ashuf_error *error);

/*
 * Run ends: the runs of the selected rows, neighbours of equal value merged; the values are a
 * selection of children[1] by id. mask: bits of the rows, 0 for a row that has to be null; validity
 * then says which runs are null for it. Where n_rows does not fit the type of the run ends, ends is
 * garbage. All from the arena.
 */
struct gathered_runs {
  void *ends;
  row_id *ids;
  uint8_t *validity;
  int64_t n_runs;
  int64_t n_rows;
  struct selection values;
};
ashuf_status gather_runs(const struct source *source, const struct selection *selection,
                         const uint8_t *mask, struct arena *arena, struct gathered_runs *out,
                         struct ashuf_error *error);

/*
 * A dictionary-encoded source: the rows of its values, one id a selected row, into ids (room for
 * n_rows), as a selection of source->dictionary; nulls of the indices and of the values are
 * merged into validity (bits_size(n_rows) bytes, written), *nulls counts them. A null row's id
 * is any valid one, or 0. BAD_ARRAY for an index outside the dictionary.
 */
ashuf_status gather_decode(const struct source *source, const struct selection *selection,
                           uint8_t *validity, int64_t *nulls, row_id *ids, struct selection *values,
                           struct ashuf_error *error);

#endif /* ASHUF_ARROW_GATHER_H */

/*
 * The dictionary of one batch: the values its rows use, without duplicates, in order of first
 * appearance, whatever dictionaries the rows came with.
 *
 * Two tables: value rows seen before (by row id, the common case) and values seen before (by
 * content, for values that stand in several dictionaries or twice in one).
 */
#ifndef ASHUF_IPC_DICTIONARY_BUILD_H
#define ASHUF_IPC_DICTIONARY_BUILD_H

#include "arrow/selection.h"

/*
 * source: a dictionary-encoded column; used: for each row its value, as a selection of
 * source->dictionary by ids; validity: of the rows, NULL without nulls. *indices: one index of the
 * column's index type a row, 0 under nulls; values: the ids of the distinct values. *fits is
 * false where the index type is too small; nothing else is set then. All from the arena.
 */
ashuf_status dictionary_build(const struct source *source, const struct selection *used,
                              const uint8_t *validity, struct arena *arena, void **indices,
                              struct selection *values, bool *fits, struct ashuf_error *error);

#endif /* ASHUF_IPC_DICTIONARY_BUILD_H */

/*
 * The dictionary of one batch: the values its rows use, without duplicates, in order of first
 * appearance, whatever dictionaries the rows came with.
 *
 * Rows are taken in runs of one batch. Where a run is long enough for the dictionary behind it, a
 * map over all entries of that dictionary says what each has become: a row costs one look. Else
 * entries are found by hashing their row id. Either way each entry is looked up by its content
 * once, for values that stand in several dictionaries or twice in one; a map stays for the next run
 * where that has the very same dictionary.
 */
#ifndef ASHUF_IPC_DICTIONARY_BUILD_H
#define ASHUF_IPC_DICTIONARY_BUILD_H

#include "arrow/selection.h"

struct built_dictionary {
  /* Of the rows: given, of the indices; set, also of the values behind them. NULL: no nulls. */
  const uint8_t *validity;
  int64_t nulls;
  void *indices;           /* one of the column's index type a row, 0 under nulls */
  struct selection values; /* the distinct values: rows of source->dictionary, by id */
  bool fits;               /* false where the index type is too small: nothing else is set then */
};

/*
 * source: a dictionary-encoded column. Everything that is set comes from the arena. BAD_ARRAY for
 * an index outside the dictionary, of a row that is not null.
 */
ashuf_status dictionary_build(const struct source *source, const struct selection *rows,
                              struct arena *arena, struct built_dictionary *built,
                              struct ashuf_error *error);

#endif /* ASHUF_IPC_DICTIONARY_BUILD_H */

/*
 * A dictionary and its deltas made one: the values of all, in order, in a body of their own.
 *
 * The parts are decoded like columns, planned as one batch over all their rows and written into
 * a new body, which then replaces them in the table. Values that are dictionary indices are
 * appended as the indices they are.
 */
#ifndef ASHUF_IPC_DICTIONARY_MERGE_H
#define ASHUF_IPC_DICTIONARY_MERGE_H

#include "ipc/dictionary_table.h"

enum { SITE_MERGE_MEMORY = 615, SITE_MERGE_SIZE = 616 };

/*
 * Does nothing where the entry, one of the table's, has no deltas. values: the field of the
 * values. Errors: those of batch_read; SIZE_LIMIT where offsets of the sum would not fit. On
 * failure the entry is as it was.
 */
ashuf_status dictionary_merge(struct dictionary_table *table, struct dictionary_entry *entry,
                              const struct field *values, struct ashuf_error *error);

#endif /* ASHUF_IPC_DICTIONARY_MERGE_H */

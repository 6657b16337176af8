/*
 * The dictionaries of a stream: id -> values, as undecoded bodies with their batch headers.
 *
 * The values become arrays when a record batch is read (batch_read.c), once for each field that
 * uses the id. In a block the table lives as long as the block: dictionary_table_clear drops the
 * bodies and keeps the memory of the entries. In a longer stream it lives on, and a later
 * dictionary of the same id replaces the earlier one. A delta waits behind the entry it adds to
 * until the values are needed: dictionary_merge then makes one body of all.
 */
#ifndef ASHUF_IPC_DICTIONARY_TABLE_H
#define ASHUF_IPC_DICTIONARY_TABLE_H

#include "ipc/body.h"
#include "ipc/metadata.h"

struct dictionary_entry {
  int64_t id;
  struct body *body;
  struct ashuf_buffer lists;  /* nodes, buffers and variadic counts, copied from the message */
  struct batch_header header; /* points into lists */
  int version;
  uint64_t offset;                 /* of the message's metadata in the stream */
  uint64_t read_in;                /* the last batch that kept the body; 0: none yet */
  const struct field *validated;   /* the values' field they were validated for */
  struct dictionary_entry *deltas; /* to be appended, oldest first */
  struct dictionary_entry *newest; /* of the deltas */
  struct dictionary_entry *next;   /* the delta behind this one */
};

struct dictionary_table {
  ashuf_memory *memory;
  struct dictionary_entry *entries;
  size_t n_entries;
  size_t capacity;
  uint64_t n_batches; /* read with this table */
  uint32_t *slots;    /* ids by hash, where they are not numbered from 0; n_slots a power of two */
  size_t n_slots;
};

enum { SITE_DICTIONARY_MEMORY = 610, SITE_DICTIONARY_DELTA = 611, SITE_DICTIONARY_UNUSED = 612 };

/* The dictionary message's values, or more of them; the table takes the body over on success. A
 * delta of an id that has no values yet is BAD_SEQUENCE. */
ashuf_status dictionary_table_put(struct dictionary_table *table, const struct message *message,
                                  struct body *body, struct ashuf_error *error);
/* NULL where the id has no values yet. */
struct dictionary_entry *dictionary_table_find(struct dictionary_table *table, int64_t id);
/* BAD_SEQUENCE where an entry has an id that no field of the schema has. */
ashuf_status dictionary_table_check_ids(const struct dictionary_table *table,
                                        const ashuf_schema *schema, struct ashuf_error *error);
void dictionary_table_clear(struct dictionary_table *table);
void dictionary_table_free(struct dictionary_table *table);

#endif /* ASHUF_IPC_DICTIONARY_TABLE_H */

#include "ipc/dictionary_table.h"

#define FIRST_CAPACITY ((size_t)8)

struct dictionary_entry *dictionary_table_find(struct dictionary_table *table, int64_t id) {
  /* Writers number dictionaries from 0 and write them in that order. */
  if (id >= 0 && (uint64_t)id < table->n_entries && table->entries[id].id == id)
    return &table->entries[id];
  for (size_t i = 0; i < table->n_entries; i++)
    if (table->entries[i].id == id) return &table->entries[i];
  return NULL;
}

static struct dictionary_entry *add_entry(struct dictionary_table *table) {
  if (table->n_entries == table->capacity) {
    size_t capacity = table->capacity == 0 ? FIRST_CAPACITY : table->capacity * 2;
    struct dictionary_entry *entries =
        memory_grow(table->memory, table->entries, table->capacity * sizeof *entries,
                    capacity * sizeof *entries);
    if (entries == NULL) return NULL;
    memset(entries + table->capacity, 0, (capacity - table->capacity) * sizeof *entries);
    table->entries = entries;
    table->capacity = capacity;
  }
  return &table->entries[table->n_entries];
}

/* Copies the three lists, so that the header outlives the message. */
static bool copy_header(struct dictionary_table *table, struct dictionary_entry *entry,
                        const struct batch_header *from) {
  size_t nodes = from->n_nodes * sizeof(struct ipc_node);
  size_t buffers = from->n_buffers * sizeof(struct ipc_buffer);
  size_t variadic = from->n_variadic * sizeof(int64_t);
  struct ashuf_buffer *lists = &entry->lists;
  lists->size = 0;
  if (!buffer_reserve(lists, table->memory, nodes + buffers + variadic)) return false;
  buffer_append(lists, table->memory, from->nodes, nodes);
  buffer_append(lists, table->memory, from->buffers, buffers);
  buffer_append(lists, table->memory, from->variadic, variadic);
  entry->header = *from;
  entry->header.nodes = lists->data;
  entry->header.buffers = lists->data + nodes;
  entry->header.variadic = lists->data + nodes + buffers;
  return true;
}

static void fill_entry(struct dictionary_entry *entry, const struct message *message,
                       struct body *body) {
  entry->id = message->batch.dictionary_id;
  entry->body = body;
  entry->version = message->version;
  entry->offset = message->offset;
}

static void free_deltas(struct dictionary_table *table, struct dictionary_entry *entry) {
  while (entry->deltas != NULL) {
    struct dictionary_entry *delta = entry->deltas;
    entry->deltas = delta->next;
    body_free(delta->body);
    ashuf_buffer_free(&delta->lists);
    memory_free(table->memory, delta, sizeof *delta);
  }
}

static ashuf_status append_delta(struct dictionary_table *table, struct dictionary_entry *entry,
                                 const struct message *message, struct body *body,
                                 struct ashuf_error *error) {
  if (entry == NULL)
    return error_at(error, ASHUF_BAD_SEQUENCE, SITE_DICTIONARY_DELTA, message->offset,
                    "delta of dictionary %lld, of which nothing came before",
                    (long long)message->batch.dictionary_id);
  struct dictionary_entry *delta = memory_zeroed(table->memory, sizeof *delta);
  if (delta == NULL || !copy_header(table, delta, &message->batch)) {
    memory_free(table->memory, delta, sizeof *delta);
    return error_memory(error, SITE_DICTIONARY_MEMORY, table->memory, sizeof *delta);
  }
  fill_entry(delta, message, body);
  if (entry->deltas == NULL)
    entry->deltas = delta;
  else
    entry->newest->next = delta;
  entry->newest = delta;
  entry->used = false;
  return ASHUF_OK;
}

ashuf_status dictionary_table_put(struct dictionary_table *table, const struct message *message,
                                  struct body *body, struct ashuf_error *error) {
  struct dictionary_entry *entry = dictionary_table_find(table, message->batch.dictionary_id);
  if (message->batch.is_delta) return append_delta(table, entry, message, body, error);
  bool added = entry == NULL;
  if (added) entry = add_entry(table);
  if (entry == NULL || !copy_header(table, entry, &message->batch))
    return error_memory(error, SITE_DICTIONARY_MEMORY, table->memory, body->size);
  if (added) table->n_entries++;
  body_free(entry->body);
  free_deltas(table, entry);
  fill_entry(entry, message, body);
  entry->used = false;
  return ASHUF_OK;
}

ashuf_status dictionary_table_check_used(const struct dictionary_table *table,
                                         struct ashuf_error *error) {
  for (size_t i = 0; i < table->n_entries; i++)
    if (!table->entries[i].used)
      return error_at(error, ASHUF_BAD_SEQUENCE, SITE_DICTIONARY_UNUSED, table->entries[i].offset,
                      "no column uses dictionary %lld", (long long)table->entries[i].id);
  return ASHUF_OK;
}

void dictionary_table_clear(struct dictionary_table *table) {
  for (size_t i = 0; i < table->n_entries; i++) {
    body_free(table->entries[i].body);
    table->entries[i].body = NULL;
    free_deltas(table, &table->entries[i]);
  }
  table->n_entries = 0;
}

void dictionary_table_free(struct dictionary_table *table) {
  dictionary_table_clear(table);
  for (size_t i = 0; i < table->capacity; i++) ashuf_buffer_free(&table->entries[i].lists);
  memory_free(table->memory, table->entries, table->capacity * sizeof *table->entries);
  table->entries = NULL;
  table->capacity = 0;
}

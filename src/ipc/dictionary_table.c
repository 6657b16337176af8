#include "ipc/dictionary_table.h"

#define FIRST_CAPACITY ((size_t)8)

/* ---- Ids ---------------------------------------------------------------------------------- */

#define FREE UINT32_MAX

/* The slot that has the id, or the free one where it belongs. */
static uint32_t *slot_of(const struct dictionary_table *table, int64_t id) {
  uint64_t hash = (uint64_t)id * UINT64_C(0x9E3779B97F4A7C15);
  size_t at = (size_t)(hash >> 32) & (table->n_slots - 1);
  while (table->slots[at] != FREE && table->entries[table->slots[at]].id != id)
    at = (at + 1) & (table->n_slots - 1);
  return &table->slots[at];
}

static void free_slots(struct dictionary_table *table) {
  memory_free(table->memory, table->slots, table->n_slots * sizeof *table->slots);
  table->slots = NULL;
  table->n_slots = 0;
}

/* Slots for as many entries as there is room for; they are at most half full. */
static bool rebuild_slots(struct dictionary_table *table) {
  free_slots(table);
  size_t n = table->capacity * 2;
  table->slots = memory_alloc(table->memory, n * sizeof *table->slots);
  if (table->slots == NULL) return false;
  table->n_slots = n;
  memset(table->slots, 0xff, n * sizeof *table->slots);
  for (uint32_t i = 0; i < table->n_entries; i++) *slot_of(table, table->entries[i].id) = i;
  return true;
}

struct dictionary_entry *dictionary_table_find(struct dictionary_table *table, int64_t id) {
  /* Writers number dictionaries from 0 and write them in that order. */
  if (id >= 0 && (uint64_t)id < table->n_entries && table->entries[id].id == id)
    return &table->entries[id];
  if (table->n_slots != 0) {
    uint32_t at = *slot_of(table, id);
    return at == FREE ? NULL : &table->entries[at];
  }
  for (size_t i = 0; i < table->n_entries; i++)
    if (table->entries[i].id == id) return &table->entries[i];
  return NULL;
}

/* Counts the entry behind the others, now that its id is set. Ids other than the positions are
 * found by hash once there are more than a few. */
static bool count_entry(struct dictionary_table *table, const struct dictionary_entry *entry) {
  uint32_t at = (uint32_t)table->n_entries++;
  if (table->n_slots == 0 && (entry->id == at || at < FIRST_CAPACITY)) return true;
  if (table->n_slots < table->capacity * 2) return rebuild_slots(table);
  *slot_of(table, entry->id) = at;
  return true;
}

/* ---- Entries ------------------------------------------------------------------------------ */

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
  if (!buffer_reserve(lists, table->memory, nodes + buffers + variadic + 1)) return false;
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
  entry->validated = NULL;
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
  if (added) entry->id = message->batch.dictionary_id;
  if (added && !count_entry(table, entry)) {
    table->n_entries--;
    return error_memory(error, SITE_DICTIONARY_MEMORY, table->memory, table->capacity * 8);
  }
  body_free(entry->body);
  free_deltas(table, entry);
  fill_entry(entry, message, body);
  entry->read_in = 0;
  entry->validated = NULL;
  return ASHUF_OK;
}

static bool has_id(const struct field *field, int64_t id) {
  if (field->dictionary != NULL && (field->dictionary_id == id || has_id(field->dictionary, id)))
    return true;
  for (int32_t i = 0; i < field->n_children; i++)
    if (has_id(&field->children[i], id)) return true;
  return false;
}

ashuf_status dictionary_table_check_ids(const struct dictionary_table *table,
                                        const ashuf_schema *schema, struct ashuf_error *error) {
  for (size_t i = 0; i < table->n_entries; i++) {
    const struct dictionary_entry *entry = &table->entries[i];
    bool known = entry->read_in != 0; /* a field that reads it has the id */
    for (int32_t k = 0; k < schema->n_columns && !known; k++)
      known = has_id(&schema->columns[k], entry->id);
    if (!known)
      return error_at(error, ASHUF_BAD_SEQUENCE, SITE_DICTIONARY_UNUSED, entry->offset,
                      "no column uses dictionary %lld", (long long)entry->id);
  }
  return ASHUF_OK;
}

void dictionary_table_clear(struct dictionary_table *table) {
  for (size_t i = 0; i < table->n_entries; i++) {
    body_free(table->entries[i].body);
    table->entries[i].body = NULL;
    free_deltas(table, &table->entries[i]);
  }
  table->n_entries = 0;
  free_slots(table);
}

void dictionary_table_free(struct dictionary_table *table) {
  dictionary_table_clear(table);
  for (size_t i = 0; i < table->capacity; i++) ashuf_buffer_free(&table->entries[i].lists);
  memory_free(table->memory, table->entries, table->capacity * sizeof *table->entries);
  table->entries = NULL;
  table->capacity = 0;
}

#include "block/schema_cache.h"

#include <string.h>

bool schema_cache_init(struct schema_cache *cache, ashuf_memory *memory, uint32_t capacity,
                       uint64_t max_size) {
  memset(cache, 0, sizeof *cache);
  cache->memory = memory;
  cache->max_size = max_size;
  cache->capacity = capacity;
  if (capacity == 0) return true;
  cache->entries = memory_zeroed(memory, capacity * sizeof *cache->entries);
  return cache->entries != NULL;
}

static bool too_large(const struct schema_cache *cache, size_t size) {
  return cache->capacity == 0 || size > cache->max_size;
}

static void move_to_front(struct schema_cache *cache, uint32_t position) {
  if (position == 0) return;
  struct schema_cache_entry entry = cache->entries[position];
  memmove(cache->entries + 1, cache->entries, position * sizeof entry);
  cache->entries[0] = entry;
}

ashuf_schema *schema_cache_find(struct schema_cache *cache, const uint8_t *key, size_t size) {
  if (too_large(cache, size)) {
    cache->bypasses++;
    return NULL;
  }
  for (uint32_t i = 0; i < cache->n_entries; i++) {
    const struct schema_cache_entry *entry = &cache->entries[i];
    if (entry->key_size != size || memcmp(entry->key, key, size) != 0) continue;
    move_to_front(cache, i);
    cache->hits++;
    return cache->entries[0].schema;
  }
  cache->misses++;
  return NULL;
}

static void drop(struct schema_cache *cache, struct schema_cache_entry *entry) {
  memory_free(cache->memory, entry->key, entry->key_capacity);
  ashuf_schema_free(entry->schema);
}

/* Memory for a key of size bytes: that of the entry that has to go, where it fits and does not
 * waste half of itself. Makes room for one entry. */
static uint8_t *take_key(struct schema_cache *cache, size_t size, size_t *capacity) {
  bool full = cache->n_entries == cache->capacity;
  struct schema_cache_entry *last = &cache->entries[cache->capacity - 1];
  uint8_t *key = NULL;
  if (full && size <= last->key_capacity && size >= last->key_capacity / 2) {
    *capacity = last->key_capacity;
    key = last->key;
    last->key = NULL;
  } else {
    *capacity = size;
    key = memory_alloc(cache->memory, size);
  }
  if (key == NULL || !full) return key;
  cache->n_entries--;
  drop(cache, last);
  cache->evictions++;
  return key;
}

bool schema_cache_insert(struct schema_cache *cache, const uint8_t *key, size_t size,
                         ashuf_schema *schema, bool *kept) {
  *kept = !too_large(cache, size);
  if (!*kept) return true;
  size_t capacity = 0;
  uint8_t *copy = take_key(cache, size, &capacity);
  if (copy == NULL) return false;
  memcpy(copy, key, size);
  cache->entries[cache->n_entries] =
      (struct schema_cache_entry){copy, size, capacity, ashuf_schema_ref(schema)};
  move_to_front(cache, cache->n_entries++);
  return true;
}

void schema_cache_clear(struct schema_cache *cache) {
  while (cache->n_entries != 0) drop(cache, &cache->entries[--cache->n_entries]);
  cache->hits = cache->misses = cache->evictions = cache->bypasses = 0;
}

void schema_cache_free(struct schema_cache *cache) {
  schema_cache_clear(cache);
  memory_free(cache->memory, cache->entries, cache->capacity * sizeof *cache->entries);
  cache->entries = NULL;
  cache->capacity = 0;
}

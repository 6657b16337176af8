/*
 * Parsed schemas by the raw bytes of their message, so that a hit costs one comparison.
 *
 * A few entries, most recently used first. Hit: the entry moves to the front, the others keep
 * their order. Miss: the caller parses and inserts in front, the last entry goes. A failed parse
 * inserts nothing; a message above max_size is never inserted and evicts nothing.
 *
 *   front -> [ key, schema ] [ key, schema ] [ key, schema ] [ key, schema ] -> evicted
 */
#ifndef ASHUF_BLOCK_SCHEMA_CACHE_H
#define ASHUF_BLOCK_SCHEMA_CACHE_H

#include "arrow/schema.h"

struct schema_cache_entry {
  uint8_t *key; /* the metadata bytes of the schema message */
  size_t key_size;
  size_t key_capacity;
  ashuf_schema *schema; /* a reference */
};

struct schema_cache {
  ashuf_memory *memory;
  struct schema_cache_entry *entries;
  uint32_t n_entries;
  uint32_t capacity; /* 0: never keeps anything */
  uint64_t max_size;
  uint64_t hits;
  uint64_t misses;
  uint64_t evictions;
  uint64_t bypasses;
};

/* false: out of memory. */
bool schema_cache_init(struct schema_cache *cache, ashuf_memory *memory, uint32_t capacity,
                       uint64_t max_size);
/* The schema of these bytes, moved to the front and counted as a hit; NULL is counted as a miss,
 * or as a bypass where the message is too large to keep. Borrowed. */
ashuf_schema *schema_cache_find(struct schema_cache *cache, const uint8_t *key, size_t size);
/*
 * Keeps a reference to a schema parsed after a miss; *kept is false where the message is too large
 * for that. false: out of memory; the cache is then as it was.
 */
bool schema_cache_insert(struct schema_cache *cache, const uint8_t *key, size_t size,
                         ashuf_schema *schema, bool *kept);
/* Empties it and clears the counters. */
void schema_cache_clear(struct schema_cache *cache);
void schema_cache_free(struct schema_cache *cache);

#endif /* ASHUF_BLOCK_SCHEMA_CACHE_H */

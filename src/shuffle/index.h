/*
 * The index of a map output: partitions + 1 offsets into the data file, 8 bytes each. Spark
 * commits big-endian ones, Comet's native writer makes little-endian temporary ones; nothing in
 * the file says which, so reading tries both: the first offset is 0, none is below the one before
 * it, and the last is the size of the data file.
 *
 * Also the names: shuffle_<shuffle>_<map>_0.data and .index.
 */
#ifndef ASHUF_SHUFFLE_INDEX_H
#define ASHUF_SHUFFLE_INDEX_H

#include "base/error.h"
#include "base/memory.h"

enum {
  SITE_INDEX_SHORT = 1000,
  SITE_INDEX_RAGGED = 1001,
  SITE_INDEX_LONG = 1002,
  SITE_INDEX_FIRST = 1003,
  SITE_INDEX_DECREASES = 1004,
  SITE_INDEX_PAST_DATA = 1005,
  SITE_INDEX_DATA_LEFT = 1006,
  SITE_INDEX_NO_ORDER = 1007,
  SITE_INDEX_MEMORY = 1008
};

enum index_order { INDEX_BIG_ENDIAN, INDEX_LITTLE_ENDIAN };

#define INDEX_ENTRY 8

/* The most partitions an index may have: partition numbers are int32_t. */
#define INDEX_MAX_PARTITIONS ((uint64_t)INT32_MAX)

/* Bytes of the index file of n partitions. */
static inline uint64_t index_size(int64_t partitions) {
  return ((uint64_t)partitions + 1) * INDEX_ENTRY;
}

/* Appends the index file: partitions + 1 offsets. OUT_OF_MEMORY, MEMORY_LIMIT. */
ashuf_status index_encode(const uint64_t *offsets, int64_t partitions, enum index_order order,
                          struct ashuf_buffer *out, ashuf_memory *memory,
                          struct ashuf_error *error);

/* Whether size bytes can be an index at all: what to check before reading the file. */
ashuf_status index_check_size(uint64_t size, struct ashuf_error *error);

/*
 * Decodes in place: bytes (size of them, aligned to 8) become size / 8 offsets. data_size: of the
 * data file, 0 where there is none. Every kind of damage is BAD_INDEX with a site of its own, at
 * the entry's offset in the index file.
 */
ashuf_status index_decode(uint8_t *bytes, size_t size, uint64_t data_size, enum index_order *order,
                          struct ashuf_error *error);

/* A copy of data_path with a last ".data" replaced by ".index", or ".index" added; free it with
 * memory_free and strlen + 1. NULL: out of memory. */
char *index_path_of(const char *data_path, ashuf_memory *memory);

/* The map id of "[.../]shuffle_<shuffle>_<map>_<reduce>.data", or -1. */
int64_t index_map_id(const char *data_path);

#endif /* ASHUF_SHUFFLE_INDEX_H */

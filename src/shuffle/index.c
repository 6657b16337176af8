#include "shuffle/index.h"

#include "base/buffer.h"
#include "base/bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

ashuf_status index_encode(const uint64_t *offsets, int64_t partitions, enum index_order order,
                          struct ashuf_buffer *out, ashuf_memory *memory,
                          struct ashuf_error *error) {
  size_t size = (size_t)index_size(partitions);
  if (!buffer_reserve(out, memory, size))
    return error_memory(error, SITE_INDEX_MEMORY, memory, size);
  for (int64_t i = 0; i <= partitions; i++) {
    uint8_t *entry = out->data + out->size;
    if (order == INDEX_BIG_ENDIAN)
      store_u64_big(entry, offsets[i]);
    else
      store_u64(entry, offsets[i]);
    out->size += INDEX_ENTRY;
  }
  return ASHUF_OK;
}

ashuf_status index_check_size(uint64_t size, struct ashuf_error *error) {
  if (size % INDEX_ENTRY != 0)
    return error_in(error, ASHUF_BAD_INDEX, SITE_INDEX_RAGGED, ASHUF_SPACE_FILE,
                    size - size % INDEX_ENTRY, "the index ends inside an entry: %" PRIu64 " bytes",
                    size);
  if (size < 2 * INDEX_ENTRY)
    return error_in(error, ASHUF_BAD_INDEX, SITE_INDEX_SHORT, ASHUF_SPACE_FILE, size,
                    "the index is too short: %" PRIu64 " bytes, one partition takes 16", size);
  if (size / INDEX_ENTRY - 1 > INDEX_MAX_PARTITIONS)
    return error_in(error, ASHUF_BAD_INDEX, SITE_INDEX_LONG, ASHUF_SPACE_FILE,
                    index_size((int64_t)INDEX_MAX_PARTITIONS),
                    "the index has more partitions than there are partition numbers");
  return ASHUF_OK;
}

static uint64_t entry_at(const uint8_t *bytes, size_t i, enum index_order order) {
  const uint8_t *entry = bytes + i * INDEX_ENTRY;
  return order == INDEX_BIG_ENDIAN ? load_u64_big(entry) : load_u64(entry);
}

/* The first entry below the one before it or above INT64_MAX (offsets are signed); n if none. */
static size_t first_decrease(const uint8_t *bytes, size_t n, enum index_order order) {
  uint64_t before = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t offset = entry_at(bytes, i, order);
    if (offset < before || offset > INT64_MAX) return i;
    before = offset;
  }
  return n;
}

static ashuf_status decreases(const uint8_t *bytes, size_t i, enum index_order order,
                              struct ashuf_error *error) {
  return error_in(error, ASHUF_BAD_INDEX, SITE_INDEX_DECREASES, ASHUF_SPACE_FILE, i * INDEX_ENTRY,
                  "entry %zu of the index is %" PRId64 " after %" PRIu64, i,
                  (int64_t)entry_at(bytes, i, order), i == 0 ? 0 : entry_at(bytes, i - 1, order));
}

static ashuf_status wrong_last(uint64_t last, size_t entry, uint64_t data_size,
                               struct ashuf_error *error) {
  bool past = last > data_size;
  return error_in(error, ASHUF_BAD_INDEX, past ? SITE_INDEX_PAST_DATA : SITE_INDEX_DATA_LEFT,
                  ASHUF_SPACE_FILE, entry * INDEX_ENTRY,
                  past ? "the index ends at %" PRIu64 ", past the data file's %" PRIu64 " bytes"
                       : "the index ends at %" PRIu64 ", but the data file has %" PRIu64 " bytes",
                  last, data_size);
}

/* What is wrong with an index that no byte order makes good. */
static ashuf_status explain(const uint8_t *bytes, size_t n, uint64_t data_size,
                            struct ashuf_error *error) {
  size_t big = first_decrease(bytes, n, INDEX_BIG_ENDIAN);
  size_t little = first_decrease(bytes, n, INDEX_LITTLE_ENDIAN);
  uint64_t big_last = entry_at(bytes, n - 1, INDEX_BIG_ENDIAN);
  uint64_t little_last = entry_at(bytes, n - 1, INDEX_LITTLE_ENDIAN);
  if (big_last == data_size && big < n) return decreases(bytes, big, INDEX_BIG_ENDIAN, error);
  if (little_last == data_size && little < n)
    return decreases(bytes, little, INDEX_LITTLE_ENDIAN, error);
  if (big < n && little < n)
    return error_in(error, ASHUF_BAD_INDEX, SITE_INDEX_NO_ORDER, ASHUF_SPACE_FILE,
                    (big > little ? big : little) * INDEX_ENTRY,
                    "the index is consistent in neither byte order");
  /* The wrong order makes small numbers huge, so of two possible ones the smaller is meant. */
  bool is_big = little < n || (big == n && big_last < little_last);
  return wrong_last(is_big ? big_last : little_last, n - 1, data_size, error);
}

static bool order_fits(const uint8_t *bytes, size_t n, uint64_t data_size, enum index_order order) {
  return entry_at(bytes, n - 1, order) == data_size && first_decrease(bytes, n, order) == n;
}

ashuf_status index_decode(uint8_t *bytes, size_t size, uint64_t data_size, enum index_order *order,
                          struct ashuf_error *error) {
  ashuf_status status = index_check_size(size, error);
  if (status != ASHUF_OK) return status;
  size_t n = size / INDEX_ENTRY;
  if (load_u64(bytes) != 0)
    return error_in(error, ASHUF_BAD_INDEX, SITE_INDEX_FIRST, ASHUF_SPACE_FILE, 0,
                    "the first entry of the index is not 0");
  enum index_order found = INDEX_BIG_ENDIAN;
  if (!order_fits(bytes, n, data_size, found)) {
    found = INDEX_LITTLE_ENDIAN;
    if (!order_fits(bytes, n, data_size, found)) return explain(bytes, n, data_size, error);
  }
  if (found == INDEX_BIG_ENDIAN)
    for (size_t i = 0; i < n; i++)
      store_u64(bytes + i * INDEX_ENTRY, entry_at(bytes, i, INDEX_BIG_ENDIAN));
  if (order != NULL) *order = found;
  return ASHUF_OK;
}

static bool ends_with(const char *text, size_t size, const char *end) {
  size_t end_size = strlen(end);
  return size >= end_size && memcmp(text + size - end_size, end, end_size) == 0;
}

char *index_path_of(const char *data_path, ashuf_memory *memory) {
  static const char data[] = ".data";
  static const char index[] = ".index";
  size_t size = strlen(data_path);
  size_t stem = ends_with(data_path, size, data) ? size - strlen(data) : size;
  char *path = memory_alloc(memory, stem + sizeof index);
  if (path == NULL) return NULL;
  memcpy(path, data_path, stem);
  memcpy(path + stem, index, sizeof index);
  return path;
}

/* Digits, then the character after them; false where there is none or it does not fit. */
static bool take_number(const char **text, char after, int64_t *number) {
  if (**text < '0' || **text > '9') return false;
  char *end;
  errno = 0;
  long long value = strtoll(*text, &end, 10);
  if (errno != 0 || *end != after) return false;
  *text = end + 1;
  *number = value;
  return true;
}

int64_t index_map_id(const char *data_path) {
  static const char prefix[] = "shuffle_";
  const char *slash = strrchr(data_path, '/');
  const char *text = slash != NULL ? slash + 1 : data_path;
  int64_t shuffle, map, reduce;
  if (strncmp(text, prefix, strlen(prefix)) != 0) return -1;
  text += strlen(prefix);
  if (!take_number(&text, '_', &shuffle) || !take_number(&text, '_', &map) ||
      !take_number(&text, '.', &reduce))
    return -1;
  return map;
}

#include "shuffle/buffer_set.h"

#include "arrow/values.h"
#include "base/bytes.h"

#include <string.h>

/* An array, its buffer pointers, its place in its parent. */
#define STRUCT_BYTES (sizeof(struct ArrowArray) + 4 * sizeof(void *))

void buffer_set_init(struct buffer_set *set, ashuf_memory *memory) {
  *set = (struct buffer_set){.memory = memory};
}

static size_t size_of(size_t capacity) { return capacity * sizeof(struct buffer_entry); }

static struct buffer_entry *find(const struct buffer_set *set, const void *buffer) {
  uint64_t hash = ((uint64_t)(uintptr_t)buffer >> 4) * 0x9E3779B97F4A7C15u;
  size_t at = (size_t)(hash >> 32) & (set->capacity - 1);
  while (set->entries[at].buffer != NULL && set->entries[at].buffer != buffer)
    at = (at + 1) & (set->capacity - 1);
  return &set->entries[at];
}

static bool grow(struct buffer_set *set) {
  struct buffer_set larger = *set;
  larger.capacity = set->capacity == 0 ? 64 : set->capacity * 2;
  larger.entries = memory_zeroed(set->memory, size_of(larger.capacity));
  if (larger.entries == NULL) return false;
  for (size_t i = 0; i < set->capacity; i++)
    if (set->entries[i].buffer != NULL) *find(&larger, set->entries[i].buffer) = set->entries[i];
  memory_free(set->memory, set->entries, size_of(set->capacity));
  *set = larger;
  return true;
}

static bool add_buffer(struct buffer_set *set, const void *buffer, uint64_t bytes) {
  if (buffer == NULL || bytes == 0) return true;
  if (set->used * 2 >= set->capacity && !grow(set)) return false;
  struct buffer_entry *entry = find(set, buffer);
  if (entry->buffer == NULL) {
    set->used++;
    entry->buffer = buffer;
  }
  if (entry->bytes >= bytes) return true;
  set->bytes += bytes - entry->bytes;
  entry->bytes = bytes;
  return true;
}

/* Views come with their data buffers, and the sizes of those behind them. */
static bool add_views(struct buffer_set *set, const struct ArrowArray *array, uint64_t end) {
  int64_t n = array->n_buffers - 3;
  const int64_t *sizes = array->buffers[array->n_buffers - 1];
  if (!add_buffer(set, array->buffers[1], end * 16)) return false;
  for (int64_t i = 0; i < n; i++)
    if (!add_buffer(set, array->buffers[2 + i], (uint64_t)load_i64(&sizes[i]))) return false;
  return true;
}

/* The bytes that the array's slots reach in a buffer of its layout. */
static bool add_values(struct buffer_set *set, const struct field *field,
                       const struct ArrowArray *array) {
  uint64_t end = (uint64_t)(array->offset + array->length);
  uint64_t width = (uint64_t)field->byte_width;
  switch (type_info(field->type)->layout) {
    case LAYOUT_BITS:
      return add_buffer(set, array->buffers[1], end / 8 + 1);
    case LAYOUT_FIXED:
      return add_buffer(set, array->buffers[1], end * width);
    case LAYOUT_LIST:
      return add_buffer(set, array->buffers[1], (end + 1) * width);
    case LAYOUT_BYTES: {
      if (array->length == 0 || array->buffers[1] == NULL) return true;
      int64_t last = load_offset(array->buffers[1], (int)width, (int64_t)end);
      return add_buffer(set, array->buffers[1], (end + 1) * width) &&
             add_buffer(set, array->buffers[2], (uint64_t)last);
    }
    case LAYOUT_LIST_VIEW:
      return add_buffer(set, array->buffers[1], end * width) &&
             add_buffer(set, array->buffers[2], end * width);
    case LAYOUT_VIEWS:
      return add_views(set, array, end);
    case LAYOUT_SPARSE:
      return add_buffer(set, array->buffers[0], end);
    case LAYOUT_DENSE:
      return add_buffer(set, array->buffers[0], end) && add_buffer(set, array->buffers[1], end * 4);
    default:
      return true;
  }
}

static bool add_array(struct buffer_set *set, const struct field *field,
                      const struct ArrowArray *array) {
  set->bytes += STRUCT_BYTES;
  if (type_info(field->type)->validity &&
      !add_buffer(set, array->buffers[0], (uint64_t)(array->offset + array->length) / 8 + 1))
    return false;
  if (!add_values(set, field, array)) return false;
  if (field->dictionary != NULL) return add_array(set, field->dictionary, array->dictionary);
  for (int32_t i = 0; i < field->n_children; i++)
    if (!add_array(set, &field->children[i], array->children[i])) return false;
  return true;
}

ashuf_status buffer_set_add(struct buffer_set *set, const ashuf_schema *schema,
                            const struct ArrowArray *batch, struct ashuf_error *error) {
  set->bytes += STRUCT_BYTES;
  for (int32_t i = 0; i < schema->n_columns; i++)
    if (!add_array(set, &schema->columns[i], batch->children[i]))
      return error_memory(error, SITE_BUFFERS_MEMORY, set->memory, size_of(set->capacity * 2));
  return ASHUF_OK;
}

void buffer_set_clear(struct buffer_set *set) {
  if (set->used != 0) memset(set->entries, 0, size_of(set->capacity));
  set->used = 0;
  set->bytes = 0;
}

void buffer_set_free(struct buffer_set *set) {
  memory_free(set->memory, set->entries, size_of(set->capacity));
  *set = (struct buffer_set){0};
}

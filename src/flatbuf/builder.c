#include "flatbuf/builder.h"

#include "base/bytes.h"

#define FIRST_CAPACITY 1024
#define FIRST_LIST 16

void builder_init(struct builder *builder, ashuf_memory *memory) {
  memset(builder, 0, sizeof *builder);
  builder->memory = memory;
}

void builder_free(struct builder *builder) {
  memory_free(builder->memory, builder->data, builder->capacity);
  memory_free(builder->memory, builder->vtables, builder->vtables_capacity * sizeof(uint32_t));
  memory_free(builder->memory, builder->stack, builder->stack_capacity * sizeof(uint32_t));
  builder_init(builder, builder->memory);
}

static bool failed(const struct builder *builder) {
  return builder->asked != 0 || builder->too_large;
}

/* Room for extra more bytes in front. */
static bool make_room(struct builder *builder, size_t extra) {
  if (failed(builder)) return false;
  if (extra <= builder->capacity - builder->used) return true;
  if (extra > INT32_MAX - builder->used) {
    builder->too_large = true;
    return false;
  }
  size_t capacity = builder->capacity == 0 ? FIRST_CAPACITY : builder->capacity;
  while (capacity - builder->used < extra) capacity *= 2;
  uint8_t *data = memory_alloc(builder->memory, capacity);
  if (data == NULL) {
    builder->asked = capacity;
    return false;
  }
  if (builder->used != 0)
    memcpy(data + capacity - builder->used, builder->data + builder->capacity - builder->used,
           builder->used);
  memory_free(builder->memory, builder->data, builder->capacity);
  builder->data = data;
  builder->capacity = capacity;
  return true;
}

/* size bytes in front; bytes NULL: zeros. */
static void prepend(struct builder *builder, const void *bytes, size_t size) {
  if (size == 0 || !make_room(builder, size)) return;
  builder->used += size;
  uint8_t *at = builder->data + builder->capacity - builder->used;
  if (bytes == NULL)
    memset(at, 0, size);
  else
    memcpy(at, bytes, size);
}

/* Zeros until what follows, size bytes, starts at a multiple of alignment from the end. */
static void align(struct builder *builder, size_t size, size_t alignment) {
  if (alignment > builder->max_alignment) builder->max_alignment = alignment;
  prepend(builder, NULL, (0 - (builder->used + size)) & (alignment - 1));
}

static void prepend_u32(struct builder *builder, uint32_t value) {
  prepend(builder, &value, sizeof value);
}

/* The address of what was written last. */
static uint32_t address_now(const struct builder *builder) {
  return failed(builder) ? 0 : (uint32_t)builder->used;
}

static void prepend_offset(struct builder *builder, uint32_t target) {
  align(builder, 4, 4);
  prepend_u32(builder, address_now(builder) + 4 - target);
}

uint32_t builder_text(struct builder *builder, const char *bytes, size_t size) {
  if (size > INT32_MAX) {
    builder->too_large = true;
    return 0;
  }
  align(builder, size + 1, 4);
  prepend(builder, NULL, 1);
  prepend(builder, bytes, size);
  prepend_u32(builder, (uint32_t)size);
  return address_now(builder);
}

static uint32_t vector(struct builder *builder, const void *elements, size_t n, size_t size,
                       size_t alignment) {
  if (n > INT32_MAX / size) {
    builder->too_large = true;
    return 0;
  }
  align(builder, n * size, alignment);
  prepend(builder, elements, n * size);
  prepend_u32(builder, (uint32_t)n);
  return address_now(builder);
}

uint32_t builder_vector(struct builder *builder, const void *elements, size_t n, size_t size) {
  return vector(builder, elements, n, size, size < 4 ? 4 : size);
}

uint32_t builder_structs(struct builder *builder, const void *elements, size_t n, size_t size) {
  return vector(builder, elements, n, size, 8);
}

static void append(struct builder *builder, uint32_t **list, size_t *n, size_t *capacity,
                   uint32_t value) {
  if (failed(builder)) return;
  if (*n == *capacity) {
    size_t larger = *capacity == 0 ? FIRST_LIST : *capacity * 2;
    uint32_t *moved =
        memory_grow(builder->memory, *list, *capacity * sizeof **list, larger * sizeof **list);
    if (moved == NULL) {
      builder->asked = larger * sizeof **list;
      return;
    }
    *list = moved;
    *capacity = larger;
  }
  (*list)[(*n)++] = value;
}

void builder_keep(struct builder *builder, uint32_t address) {
  append(builder, &builder->stack, &builder->n_stack, &builder->stack_capacity, address);
}

uint32_t builder_kept_vector(struct builder *builder, size_t n) {
  if (failed(builder)) return 0;
  align(builder, 4 * n, 4);
  for (size_t i = 0; i < n; i++) prepend_offset(builder, builder->stack[builder->n_stack - 1 - i]);
  builder->n_stack -= n;
  prepend_u32(builder, (uint32_t)n);
  return address_now(builder);
}

void builder_table(struct builder *builder) {
  memset(builder->slots, 0, sizeof builder->slots);
  builder->tail = builder->used;
}

void builder_scalar(struct builder *builder, unsigned slot, size_t size, int64_t value,
                    int64_t fallback) {
  if (value == fallback) return;
  align(builder, size, size);
  prepend(builder, &value, size);
  builder->slots[slot] = address_now(builder);
}

void builder_offset(struct builder *builder, unsigned slot, uint32_t address) {
  prepend_offset(builder, address);
  builder->slots[slot] = address_now(builder);
}

/* The address of a vtable with these bytes: one written before, or a new one. */
static uint32_t place_vtable(struct builder *builder, const uint8_t *bytes, size_t size) {
  const uint8_t *end = builder->data + builder->capacity;
  for (size_t i = 0; i < builder->n_vtables; i++) {
    const uint8_t *old = end - builder->vtables[i];
    if (load_u16(old) == size && memcmp(old, bytes, size) == 0) return builder->vtables[i];
  }
  prepend(builder, bytes, size);
  uint32_t address = address_now(builder);
  append(builder, &builder->vtables, &builder->n_vtables, &builder->vtables_capacity, address);
  return address;
}

uint32_t builder_table_end(struct builder *builder) {
  align(builder, 4, 4);
  prepend_u32(builder, 0);
  if (failed(builder)) return 0;
  uint32_t table = (uint32_t)builder->used;
  uint8_t vtable[4 + 2 * BUILDER_SLOTS];
  size_t size = 4;
  for (size_t i = 0; i < BUILDER_SLOTS; i++) {
    uint32_t slot = builder->slots[i];
    store_u16(vtable + 4 + 2 * i, (uint16_t)(slot == 0 ? 0 : table - slot));
    if (slot != 0) size = 6 + 2 * i;
  }
  store_u16(vtable, (uint16_t)size);
  store_u16(vtable + 2, (uint16_t)(table - builder->tail));
  uint32_t address = place_vtable(builder, vtable, size);
  if (failed(builder)) return 0;
  store_u32(builder->data + builder->capacity - table, address - table);
  return table;
}

ashuf_status builder_finish(struct builder *builder, uint32_t root, const uint8_t **out,
                            struct ashuf_error *error) {
  align(builder, 4, builder->max_alignment);
  prepend_u32(builder, address_now(builder) + 4 - root);
  if (builder->too_large)
    return error_set(error, ASHUF_SIZE_LIMIT, SITE_BUILDER_SIZE,
                     "a message's metadata is larger than 2 GiB");
  if (failed(builder))
    return error_memory(error, SITE_BUILDER_MEMORY, builder->memory, builder->asked);
  *out = builder->data + builder->capacity - builder->used;
  return ASHUF_OK;
}

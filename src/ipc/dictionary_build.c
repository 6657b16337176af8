#include "ipc/dictionary_build.h"

#include "arrow/value_bytes.h"
#include "base/bits.h"
#include "ipc/batch_plan.h"

#define EMPTY UINT32_MAX

/* A distinct value: where it first stood, and its bytes. */
struct distinct {
  row_id id;
  struct value_bytes bytes;
  uint64_t hash;
};

/* Both tables are open addressing over the same number of slots, a power of two at least twice
 * the number of rows: they never fill up. */
struct dictionary_builder {
  const struct source *values;
  struct arena *arena;
  struct distinct *distinct;
  uint32_t n_distinct;
  uint64_t mask;
  struct id_slot {
    row_id id;
    uint32_t index; /* EMPTY: free */
  } * by_id;
  uint32_t *by_content;
};

static bool init(struct dictionary_builder *builder, int64_t rows) {
  uint64_t slots = 16;
  while (slots < (uint64_t)rows * 2) slots *= 2;
  builder->mask = slots - 1;
  builder->distinct = arena_array(builder->arena, (size_t)rows, sizeof *builder->distinct);
  builder->by_id = arena_array(builder->arena, slots, sizeof *builder->by_id);
  builder->by_content = arena_array(builder->arena, slots, sizeof *builder->by_content);
  if (builder->distinct == NULL || builder->by_id == NULL || builder->by_content == NULL)
    return false;
  memset(builder->by_id, 0xff, slots * sizeof *builder->by_id);
  memset(builder->by_content, 0xff, slots * sizeof *builder->by_content);
  return true;
}

static bool same_value(const struct distinct *a, const struct distinct *b) {
  return a->hash == b->hash && a->bytes.size == b->bytes.size &&
         (a->bytes.size == 0 || memcmp(a->bytes.data, b->bytes.data, a->bytes.size) == 0);
}

/* The index of a value by its content, a new one where it was not seen before. */
static ashuf_status find_content(struct dictionary_builder *builder, row_id id, uint32_t *index,
                                 struct ashuf_error *error) {
  struct distinct value = {.id = id};
  ashuf_status status = value_bytes_get(builder->values, id, builder->arena, &value.bytes, error);
  if (status != ASHUF_OK) return status;
  value.hash = value_bytes_hash(&value.bytes);
  uint64_t slot = value.hash & builder->mask;
  while (builder->by_content[slot] != EMPTY) {
    *index = builder->by_content[slot];
    if (same_value(&builder->distinct[*index], &value)) return ASHUF_OK;
    slot = (slot + 1) & builder->mask;
  }
  *index = builder->n_distinct++;
  builder->distinct[*index] = value;
  builder->by_content[slot] = *index;
  return ASHUF_OK;
}

static ashuf_status find_id(struct dictionary_builder *builder, row_id id, uint32_t *index,
                            struct ashuf_error *error) {
  uint64_t at = value_bytes_mix(id) & builder->mask;
  struct id_slot *slot = &builder->by_id[at];
  while (slot->index != EMPTY && slot->id != id) {
    at = (at + 1) & builder->mask;
    slot = &builder->by_id[at];
  }
  if (slot->index == EMPTY) {
    ashuf_status status = find_content(builder, id, &slot->index, error);
    if (status != ASHUF_OK) return status;
    slot->id = id;
  }
  *index = slot->index;
  return ASHUF_OK;
}

static void store_index(void *indices, int width, int64_t row, uint32_t index) {
  uint64_t wide = index;
  memcpy((uint8_t *)indices + row * width, &wide, (size_t)width);
}

/* The largest index that the field's index type holds. */
static uint64_t largest_index(const struct field *field) {
  unsigned bits = (unsigned)field->byte_width * 8 - (type_is_signed_index(field->type) ? 1 : 0);
  return bits >= 32 ? UINT32_MAX - 1 : ((uint64_t)1 << bits) - 1;
}

static ashuf_status select_distinct(struct dictionary_builder *builder, struct selection *values) {
  row_id *ids = arena_array(builder->arena, builder->n_distinct, sizeof *ids);
  if (ids == NULL) return ASHUF_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < builder->n_distinct; i++) ids[i] = builder->distinct[i].id;
  *values = (struct selection){.n_rows = builder->n_distinct, .ids = ids};
  return ASHUF_OK;
}

ashuf_status dictionary_build(const struct source *source, const struct selection *used,
                              const uint8_t *validity, struct arena *arena, void **indices,
                              struct selection *values, bool *fits, struct ashuf_error *error) {
  struct dictionary_builder builder = {.values = source->dictionary, .arena = arena};
  int width = source->field->byte_width;
  int64_t rows = used->n_rows;
  void *out = arena_array(arena, (size_t)rows, (size_t)width);
  if (out == NULL || !init(&builder, rows))
    return error_memory(error, SITE_PLAN_MEMORY, arena->memory, (size_t)rows * 32);
  uint64_t largest = largest_index(source->field);
  *fits = true;
  for (int64_t i = 0; i < rows; i++) {
    uint32_t index = 0;
    if (validity == NULL || bit_get(validity, i)) {
      ashuf_status status = find_id(&builder, used->ids[i], &index, error);
      if (status != ASHUF_OK) return status;
    }
    if (index > largest) {
      *fits = false;
      return ASHUF_OK;
    }
    store_index(out, width, i, index);
  }
  *indices = out;
  if (select_distinct(&builder, values) == ASHUF_OK) return ASHUF_OK;
  return error_memory(error, SITE_PLAN_MEMORY, arena->memory, builder.n_distinct * 8);
}

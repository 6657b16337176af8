#include "ref/odd_flat.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SLOTS 12

enum kind { TABLE, VECTOR, STRING, RAW };

struct odd_object {
  enum kind kind;
  size_t width[MAX_SLOTS]; /* 0: absent */
  int64_t value[MAX_SLOTS];
  struct odd_object **items; /* of a table by slot, of a vector by position */
  size_t n_items;
  uint8_t *data;
  size_t count;
  size_t size;
  size_t alignment;
  size_t parents; /* not laid out yet */
  size_t at;
};

/* ---- Bytes ------------------------------------------------------------------------------- */

void odd_put(struct odd_bytes *bytes, const void *data, size_t size) {
  if (bytes->capacity - bytes->size < size) {
    bytes->capacity = bytes->capacity * 2 + size;
    bytes->data = realloc(bytes->data, bytes->capacity);
    if (bytes->data == NULL) abort();
  }
  if (size != 0) memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
}

void odd_put_zeros(struct odd_bytes *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) odd_put(bytes, "", 1);
}

void odd_put_random(struct odd_bytes *bytes, struct test_random *random, size_t size) {
  for (size_t i = 0; i < size; i++) odd_put(bytes, &(uint8_t){(uint8_t)random_next(random)}, 1);
}

void odd_bytes_free(struct odd_bytes *bytes) {
  free(bytes->data);
  memset(bytes, 0, sizeof *bytes);
}

bool odd_chance(struct test_random *random, int n) { return random_below(random, n) == 0; }

/* ---- Objects ----------------------------------------------------------------------------- */

static struct odd_object *new_object(struct odd_flat *flat, enum kind kind, size_t n_items) {
  struct odd_object *object = calloc(1, sizeof *object);
  flat->objects = realloc(flat->objects, (flat->n_objects + 1) * sizeof *flat->objects);
  if (object == NULL || flat->objects == NULL) abort();
  object->kind = kind;
  object->n_items = n_items;
  object->items = calloc(n_items + 1, sizeof *object->items);
  if (object->items == NULL) abort();
  flat->objects[flat->n_objects++] = object;
  return object;
}

struct odd_object *odd_table(struct odd_flat *flat) {
  return new_object(flat, TABLE, MAX_SLOTS);
}

void odd_scalar(struct odd_object *table, int slot, size_t width, int64_t value) {
  table->width[slot] = width;
  table->value[slot] = value;
}

void odd_scalar_or(struct odd_flat *flat, struct odd_object *table, int slot, size_t width,
                   int64_t value, int64_t fallback) {
  if (value != fallback || odd_chance(flat->random, 2)) odd_scalar(table, slot, width, value);
}

void odd_child(struct odd_object *table, int slot, struct odd_object *child) {
  table->width[slot] = 4;
  table->items[slot] = child;
}

struct odd_object *odd_vector(struct odd_flat *flat, struct odd_object *const *items, size_t n) {
  struct odd_object *vector = new_object(flat, VECTOR, n);
  for (size_t i = 0; i < n; i++) vector->items[i] = items[i];
  vector->alignment = 4;
  vector->size = 4 * n;
  vector->count = n;
  return vector;
}

struct odd_object *odd_raw(struct odd_flat *flat, const void *data, size_t count, size_t element,
                           size_t alignment) {
  struct odd_object *raw = new_object(flat, RAW, 0);
  raw->size = count * element;
  raw->count = count;
  raw->alignment = alignment;
  raw->data = malloc(raw->size + 1);
  if (raw->data == NULL) abort();
  if (raw->size != 0) memcpy(raw->data, data, raw->size);
  return raw;
}

struct odd_object *odd_string(struct odd_flat *flat, const void *data, size_t size) {
  for (size_t i = 0; i < flat->n_objects; i++) {
    struct odd_object *old = flat->objects[i];
    if (old->kind == STRING && old->count == size && memcmp(old->data, data, size) == 0 &&
        odd_chance(flat->random, 2))
      return old;
  }
  struct odd_object *string = odd_raw(flat, data, size, 1, 4);
  string->kind = STRING;
  string->data[size] = 0;
  string->size = size + 1;
  return string;
}

/* ---- Layout ------------------------------------------------------------------------------ */

struct layout {
  struct odd_flat *flat;
  struct odd_bytes *out;
  bool vtables_last;
  struct {
    struct odd_object *table;
    uint8_t bytes[4 + 2 * MAX_SLOTS];
    size_t size;
    size_t at; /* 0: not written yet */
  } vtables[4096];
  size_t n_vtables;
};

static void store(struct odd_bytes *out, size_t at, int64_t value, size_t width) {
  memcpy(out->data + at, &value, width);
}

static void align(struct layout *layout, size_t before, size_t alignment) {
  if (odd_chance(layout->flat->random, 6))
    odd_put_random(layout->out, layout->flat->random,
                   4 * (size_t)random_below(layout->flat->random, 5));
  while ((layout->out->size + before) % alignment != 0) odd_put_zeros(layout->out, 1);
}

/* The inline part: fields in any order, with holes; fills the vtable's bytes. */
static void place_fields(struct layout *layout, struct odd_object *table, uint8_t *vtable,
                         size_t *vtable_size) {
  struct test_random *random = layout->flat->random;
  int order[MAX_SLOTS], n = 0, last = -1;
  for (int slot = 0; slot < MAX_SLOTS; slot++)
    if (table->width[slot] != 0) order[n++] = last = slot;
  for (int i = n - 1; i > 0; i--) {
    int k = (int)random_below(random, i + 1), swap = order[i];
    order[i] = order[k];
    order[k] = swap;
  }
  odd_put_zeros(layout->out, 4);
  for (int i = 0; i < n; i++) {
    size_t width = table->width[order[i]];
    if (odd_chance(random, 8)) odd_put_random(layout->out, random, 3);
    while (layout->out->size % width != 0) odd_put_zeros(layout->out, 1);
    uint16_t offset = (uint16_t)(layout->out->size - table->at);
    memcpy(vtable + 4 + 2 * order[i], &offset, 2);
    odd_put(layout->out, &table->value[order[i]], width);
  }
  if (odd_chance(random, 4)) odd_put_zeros(layout->out, (size_t)random_below(random, 9));
  uint16_t sizes[2];
  int slots = last + 1;
  if (odd_chance(random, 8) && slots < MAX_SLOTS) slots++;
  sizes[0] = (uint16_t)(4 + 2 * slots);
  sizes[1] = (uint16_t)(layout->out->size - table->at);
  memcpy(vtable, sizes, 4);
  *vtable_size = sizes[0];
}

static size_t find_vtable(struct layout *layout, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < layout->n_vtables; i++)
    if (layout->vtables[i].at != 0 && layout->vtables[i].size == size &&
        memcmp(layout->vtables[i].bytes, bytes, size) == 0)
      return layout->vtables[i].at;
  return 0;
}

static void write_vtable(struct layout *layout, size_t i) {
  size_t size = layout->vtables[i].size;
  size_t at =
      odd_chance(layout->flat->random, 4) ? 0 : find_vtable(layout, layout->vtables[i].bytes, size);
  if (at == 0) {
    while (layout->out->size % 2 != 0) odd_put_zeros(layout->out, 1);
    at = layout->out->size;
    odd_put(layout->out, layout->vtables[i].bytes, size);
  }
  layout->vtables[i].at = at;
  struct odd_object *table = layout->vtables[i].table;
  store(layout->out, table->at, (int64_t)table->at - (int64_t)at, 4);
}

static void place_table(struct layout *layout, struct odd_object *table) {
  if (layout->n_vtables == sizeof layout->vtables / sizeof *layout->vtables) abort();
  size_t i = layout->n_vtables++;
  bool first = !layout->vtables_last && odd_chance(layout->flat->random, 2);
  size_t gap = layout->out->size;
  if (first) odd_put_zeros(layout->out, 4 + 2 * MAX_SLOTS + gap % 2);
  gap += gap % 2;
  align(layout, 0, 4);
  table->at = layout->out->size;
  layout->vtables[i].table = table;
  memset(layout->vtables[i].bytes, 0, sizeof layout->vtables[i].bytes);
  place_fields(layout, table, layout->vtables[i].bytes, &layout->vtables[i].size);
  if (first) { /* into the space kept before the table */
    memcpy(layout->out->data + gap, layout->vtables[i].bytes, layout->vtables[i].size);
    layout->vtables[i].at = gap;
    store(layout->out, table->at, (int64_t)(table->at - gap), 4);
  } else if (!layout->vtables_last) {
    write_vtable(layout, i);
  }
}

static void place(struct layout *layout, struct odd_object *object) {
  if (object->kind == TABLE) {
    place_table(layout, object);
    return;
  }
  align(layout, 4, object->alignment < 4 ? 4 : object->alignment);
  while (layout->out->size % 4 != 0) odd_put_zeros(layout->out, 1);
  object->at = layout->out->size;
  odd_put(layout->out, &(uint32_t){(uint32_t)object->count}, 4);
  if (object->kind == VECTOR)
    odd_put_zeros(layout->out, object->size);
  else
    odd_put(layout->out, object->data, object->size);
}

static void count_parents(struct odd_flat *flat, int step) {
  for (size_t i = 0; i < flat->n_objects; i++)
    for (size_t k = 0; k < flat->objects[i]->n_items; k++)
      if (flat->objects[i]->items[k] != NULL) flat->objects[i]->items[k]->parents += (size_t)step;
}

static void release_children(struct odd_object *object) {
  for (size_t k = 0; k < object->n_items; k++)
    if (object->items[k] != NULL) object->items[k]->parents--;
}

static void write_offsets(struct layout *layout, const struct odd_object *object) {
  for (size_t k = 0; k < object->n_items; k++) {
    if (object->items[k] == NULL) continue;
    size_t field = object->at + 4 + 4 * k;
    if (object->kind == TABLE) {
      int32_t back;
      memcpy(&back, layout->out->data + object->at, 4);
      uint16_t offset;
      size_t vtable = (size_t)((int64_t)object->at - back);
      memcpy(&offset, layout->out->data + vtable + 4 + 2 * k, 2);
      field = object->at + offset;
    }
    store(layout->out, field, (int64_t)(object->items[k]->at - field), 4);
  }
}

static void free_objects(struct odd_flat *flat) {
  for (size_t i = 0; i < flat->n_objects; i++) {
    free(flat->objects[i]->items);
    free(flat->objects[i]->data);
    free(flat->objects[i]);
  }
  free(flat->objects);
  flat->objects = NULL;
  flat->n_objects = 0;
}

void odd_flat_finish(struct odd_flat *flat, struct odd_object *root, struct odd_bytes *out) {
  struct layout *layout = calloc(1, sizeof *layout);
  if (layout == NULL) abort();
  layout->flat = flat;
  layout->out = out;
  layout->vtables_last = odd_chance(flat->random, 3);
  count_parents(flat, 1);
  odd_put_zeros(out, 4);
  place(layout, root);
  release_children(root);
  for (size_t left = flat->n_objects; left != 0;) {
    /* A random object whose parents all have their places. */
    size_t i = (size_t)random_below(flat->random, (int64_t)flat->n_objects);
    left = 0;
    for (size_t k = 0; k < flat->n_objects; k++) {
      struct odd_object *object = flat->objects[(i + k) % flat->n_objects];
      if (object->at != 0 || object->parents != 0) continue;
      place(layout, object);
      release_children(object);
      left = 1;
      break;
    }
  }
  for (size_t i = 0; i < layout->n_vtables; i++)
    if (layout->vtables[i].at == 0) write_vtable(layout, i);
  for (size_t i = 0; i < flat->n_objects; i++) write_offsets(layout, flat->objects[i]);
  store(out, 0, (int64_t)root->at, 4);
  free_objects(flat);
  free(layout);
}

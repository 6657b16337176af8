#include "ipc/batch_dress.h"

#include "ipc/batch_concat.h"

#include <string.h>

/* Indices that are never too narrow: a batch has fewer rows. */
#define WIDE_INDEX TYPE_INT32
#define WIDE_BYTES 4

/* One way through the columns of a batch, making arrays in the arena. */
struct dressing {
  struct arena *arena;
  const struct field *column;
  bool narrow; /* arrays have wide indices, for narrow ones; else plain values, for any */
  struct ashuf_error *error;
};

static ashuf_status no_memory(const struct dressing *dressing) {
  return error_memory(dressing->error, SITE_DRESS_MEMORY, dressing->arena->memory,
                      sizeof(struct ArrowArray));
}

/* The arena owns it. */
static void release_nothing(struct ArrowArray *array) { array->release = NULL; }

static bool fits_index(const struct field *field, int64_t n) {
  unsigned bits = (unsigned)field->byte_width * 8 - (type_is_signed_index(field->type) ? 1 : 0);
  return bits >= 63 || n <= (int64_t)1 << bits;
}

static ashuf_status too_many(const struct dressing *dressing, const struct field *field,
                             int64_t n) {
  char name[80];
  return error_set(dressing->error, ASHUF_SIZE_LIMIT, SITE_DRESS_INDEX,
                   "column \"%s\": %lld distinct values are too many for indices of type %s",
                   field_label(dressing->column, name, sizeof name), (long long)n,
                   type_info(field->type)->name);
}

/* 0, 1, 2 ... or what from says. */
static void put_indices(int width, const int32_t *from, int64_t n, uint8_t *out) {
  for (int64_t i = 0; i < n; i++, out += width) {
    int64_t index = from != NULL ? from[i] : i;
    memcpy(out, &index, (size_t)width);
  }
}

static ashuf_status dress(const struct dressing *dressing, const struct field *field,
                          const struct ArrowArray *from, struct ArrowArray *out);

static ashuf_status dress_encoded(const struct dressing *dressing, const struct field *field,
                                  const struct ArrowArray *from, struct ArrowArray *out) {
  int64_t n = from->length;
  const struct ArrowArray *values = dressing->narrow ? from->dictionary : from;
  if (!fits_index(field, values->length)) return too_many(dressing, field, values->length);
  const void **buffers = arena_array(dressing->arena, 2, sizeof *buffers);
  uint8_t *indices = arena_array(dressing->arena, (size_t)n + 1, (size_t)field->byte_width);
  struct ArrowArray *dictionary = arena_array(dressing->arena, 1, sizeof *dictionary);
  if (buffers == NULL || indices == NULL || dictionary == NULL) return no_memory(dressing);
  put_indices(field->byte_width, dressing->narrow ? from->buffers[1] : NULL, n, indices);
  buffers[0] = dressing->narrow ? from->buffers[0] : NULL;
  buffers[1] = indices;
  *out = (struct ArrowArray){.length = n,
                             .null_count = dressing->narrow ? from->null_count : 0,
                             .n_buffers = 2,
                             .buffers = buffers,
                             .dictionary = dictionary};
  out->release = release_nothing;
  return dress(dressing, field->dictionary, values, dictionary);
}

static ashuf_status dress_children(const struct dressing *dressing, const struct field *fields,
                                   const struct ArrowArray *from, struct ArrowArray *out) {
  size_t n = (size_t)from->n_children;
  struct ArrowArray *children = arena_array(dressing->arena, n, sizeof *children);
  out->children = arena_array(dressing->arena, n, sizeof(void *));
  if (children == NULL || out->children == NULL) return no_memory(dressing);
  for (size_t i = 0; i < n; i++) {
    out->children[i] = &children[i];
    ashuf_status status = dress(dressing, &fields[i], from->children[i], &children[i]);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

/* Indices that are wide in both, as they are; what lies behind them may not be. */
static ashuf_status dress_wide(const struct dressing *dressing, const struct field *field,
                               const struct ArrowArray *from, struct ArrowArray *out) {
  struct ArrowArray *dictionary = arena_array(dressing->arena, 1, sizeof *dictionary);
  if (dictionary == NULL) return no_memory(dressing);
  *out = *from;
  out->release = release_nothing;
  out->dictionary = dictionary;
  return dress(dressing, field->dictionary, from->dictionary, dictionary);
}

static ashuf_status dress(const struct dressing *dressing, const struct field *field,
                          const struct ArrowArray *from, struct ArrowArray *out) {
  if (field->dictionary != NULL)
    return dressing->narrow && field->byte_width >= WIDE_BYTES
               ? dress_wide(dressing, field, from, out)
               : dress_encoded(dressing, field, from, out);
  *out = *from;
  out->release = release_nothing;
  return from->n_children == 0 ? ASHUF_OK : dress_children(dressing, field->children, from, out);
}

/* The result borrows from the batch and lives in the arena. */
static ashuf_status dress_columns(const ashuf_schema *schema, const struct ArrowArray *batch,
                                  bool narrow, struct arena *arena, struct ArrowArray *out,
                                  struct ashuf_error *error) {
  struct dressing dressing = {.arena = arena, .narrow = narrow, .error = error};
  struct ArrowArray root = *batch;
  root.release = release_nothing;
  root.children = arena_array(arena, (size_t)batch->n_children, sizeof(void *));
  struct ArrowArray *columns = arena_array(arena, (size_t)batch->n_children, sizeof *columns);
  if (root.children == NULL || columns == NULL) return no_memory(&dressing);
  for (int32_t i = 0; i < schema->n_columns; i++) {
    dressing.column = &schema->columns[i];
    root.children[i] = &columns[i];
    ashuf_status status = dress(&dressing, dressing.column, batch->children[i], &columns[i]);
    if (status != ASHUF_OK) return status;
  }
  *out = root;
  return ASHUF_OK;
}

static ashuf_status dress_and_concat(const ashuf_schema *schema, const struct ArrowArray *batch,
                                     bool narrow, ashuf_memory *memory, struct ArrowArray *out,
                                     struct ashuf_error *error) {
  struct arena arena;
  struct ArrowArray dressed;
  arena_init(&arena, memory);
  ashuf_status status = dress_columns(schema, batch, narrow, &arena, &dressed, error);
  if (status == ASHUF_OK) status = batch_concat(schema, &dressed, 1, schema, memory, out, error);
  arena_free(&arena);
  return status;
}

static void widen(struct field *fields, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    struct field *field = &fields[i];
    widen(field->children, field->n_children);
    if (field->dictionary == NULL) continue;
    widen(field->dictionary, 1);
    if (field->byte_width >= WIDE_BYTES) continue;
    field->type = WIDE_INDEX;
    field->byte_width = WIDE_BYTES;
  }
}

/* By way of wide indices. */
static ashuf_status encode_narrow(const ashuf_schema *schema, const struct ArrowArray *plain,
                                  ashuf_memory *memory, struct ArrowArray *out,
                                  struct ashuf_error *error) {
  struct ArrowArray wide_batch;
  ashuf_schema *wide = schema_pick(schema, NULL, schema->n_columns, memory);
  if (wide == NULL) return error_memory(error, SITE_DRESS_MEMORY, memory, sizeof *wide);
  widen(wide->columns, wide->n_columns);
  ashuf_status status = dress_and_concat(wide, plain, false, memory, &wide_batch, error);
  ashuf_schema_free(wide);
  if (status != ASHUF_OK) return status;
  status = dress_and_concat(schema, &wide_batch, true, memory, out, error);
  wide_batch.release(&wide_batch);
  return status;
}

/* Whether the values in front of an index type are more than it can say. */
static bool is_crowded(const struct field *fields, struct ArrowArray *const *plain, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    const struct field *field = &fields[i];
    while (field->dictionary != NULL) {
      if (!fits_index(field, plain[i]->length)) return true;
      field = field->dictionary;
    }
    if (is_crowded(field->children, plain[i]->children, field->n_children)) return true;
  }
  return false;
}

ashuf_status batch_dress(const ashuf_schema *schema, const struct ArrowArray *plain,
                         ashuf_memory *memory, struct ArrowArray *out, struct ashuf_error *error) {
  if (is_crowded(schema->columns, plain->children, schema->n_columns))
    return encode_narrow(schema, plain, memory, out, error);
  return dress_and_concat(schema, plain, false, memory, out, error);
}

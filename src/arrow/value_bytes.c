#include "arrow/value_bytes.h"

#include "arrow/place.h"
#include "base/bits.h"

/* Bytes being spelled out; doubles inside the arena. */
struct spelling {
  struct arena *arena;
  uint8_t *data;
  size_t size;
  size_t capacity;
  struct ashuf_error *error;
};

static ashuf_status put(struct spelling *out, const void *bytes, size_t size) {
  if (size > out->capacity - out->size) {
    size_t capacity = (out->size + size) * 2 + 64;
    uint8_t *data = arena_alloc(out->arena, capacity, 1);
    if (data == NULL)
      return error_memory(out->error, SITE_VALUE_MEMORY, out->arena->memory, capacity);
    if (out->size != 0) memcpy(data, out->data, out->size);
    out->data = data;
    out->capacity = capacity;
  }
  if (size != 0) memcpy(out->data + out->size, bytes, size);
  out->size += size;
  return ASHUF_OK;
}

static ashuf_status out_of_range(const struct source *source, struct ashuf_error *error) {
  char name[80];
  return error_set(error, ASHUF_BAD_ARRAY, SITE_VALUE_RANGE,
                   "field %s: offset or index out of range",
                   field_label(source->field, name, sizeof name));
}

/* The bytes or child rows [from, to) of one slot. */
static ashuf_status slot_extent(const struct source *source, const struct array_view *view,
                                int64_t slot, int64_t *from, int64_t *to,
                                struct ashuf_error *error) {
  *from = load_offset(view->data[0], source->field->byte_width, slot);
  *to = load_offset(view->data[0], source->field->byte_width, slot + 1);
  if (*from >= 0 && *from <= *to && *to <= view->limit) return ASHUF_OK;
  return out_of_range(source, error);
}

static ashuf_status spell(struct spelling *out, const struct source *source, size_t batch,
                          int64_t row);

/* Child rows [from, to), their number in front. */
static ashuf_status spell_rows(struct spelling *out, const struct source *child, size_t batch,
                               int64_t from, int64_t to) {
  int64_t n = to - from;
  ashuf_status status = put(out, &n, sizeof n);
  for (int64_t row = from; row < to && status == ASHUF_OK; row++)
    status = spell(out, child, batch, row);
  return status;
}

static ashuf_status spell_bytes(struct spelling *out, const struct source *source,
                                const struct array_view *view, int64_t slot) {
  int64_t from = 0;
  int64_t to = 0;
  ashuf_status status = slot_extent(source, view, slot, &from, &to, out->error);
  int64_t size = to - from;
  if (status == ASHUF_OK) status = put(out, &size, sizeof size);
  return status == ASHUF_OK ? put(out, view->data[1] + from, (size_t)size) : status;
}

static ashuf_status spell_list(struct spelling *out, const struct source *source,
                               const struct array_view *view, size_t batch, int64_t slot) {
  int64_t from = 0;
  int64_t to = 0;
  ashuf_status status = slot_extent(source, view, slot, &from, &to, out->error);
  if (status != ASHUF_OK) return status;
  return spell_rows(out, &source->children[0], batch, from, to);
}

static ashuf_status spell_view(struct spelling *out, const struct source *source,
                               const struct array_view *view, int64_t row) {
  const uint8_t *data = NULL;
  size_t size = 0;
  if (!place_bytes(view, row, &data, &size)) return out_of_range(source, out->error);
  int64_t wide = (int64_t)size;
  ashuf_status status = put(out, &wide, sizeof wide);
  return status == ASHUF_OK ? put(out, data, size) : status;
}

static ashuf_status spell_list_view(struct spelling *out, const struct source *source,
                                    const struct array_view *view, size_t batch, int64_t row) {
  int64_t first = 0;
  int64_t n = 0;
  if (!place_list(view, source->field->byte_width, row, &first, &n))
    return out_of_range(source, out->error);
  return spell_rows(out, &source->children[0], batch, first, first + n);
}

static ashuf_status spell_union(struct spelling *out, const struct source *source, size_t batch,
                                int64_t row) {
  int64_t child_row = 0;
  int32_t child = place_union(source, batch, row, &child_row);
  if (child < 0) return out_of_range(source, out->error);
  ashuf_status status = put(out, &source->field->type_ids[child], 1);
  return status == ASHUF_OK ? spell(out, &source->children[child], batch, child_row) : status;
}

/* Rows of structs and fixed-size lists are those of their children, offsets being the views'. */
static ashuf_status spell_valid(struct spelling *out, const struct source *source, size_t batch,
                                int64_t row) {
  const struct field *field = source->field;
  const struct array_view *view = &source->views[batch];
  int64_t slot = view->offset + row;
  switch (type_info(field->type)->layout) {
    case LAYOUT_BITS: {
      uint8_t bit = bit_get(view->data[0], slot);
      return put(out, &bit, 1);
    }
    case LAYOUT_FIXED:
      return put(out, view->data[0] + slot * field->byte_width, (size_t)field->byte_width);
    case LAYOUT_BYTES:
      return spell_bytes(out, source, view, slot);
    case LAYOUT_VIEWS:
      return spell_view(out, source, view, row);
    case LAYOUT_LIST:
      return spell_list(out, source, view, batch, slot);
    case LAYOUT_LIST_VIEW:
      return spell_list_view(out, source, view, batch, row);
    case LAYOUT_FIXED_LIST:
      return spell_rows(out, &source->children[0], batch, row * field->list_size,
                        (row + 1) * field->list_size);
    case LAYOUT_STRUCT: {
      ashuf_status status = ASHUF_OK;
      for (int32_t i = 0; i < field->n_children && status == ASHUF_OK; i++)
        status = spell(out, &source->children[i], batch, row);
      return status;
    }
    case LAYOUT_SPARSE:
    case LAYOUT_DENSE:
      return spell_union(out, source, batch, row);
    default:
      return ASHUF_OK;
  }
}

/* Null or valid, then the value that dictionaries and runs stand for; depth is bounded by the
 * schema's. */
static ashuf_status spell(struct spelling *out, const struct source *source, size_t batch,
                          int64_t row) {
  bool known = false;
  ashuf_status status = value_resolve(&source, batch, &row, &known, out->error);
  uint8_t valid = known;
  if (status == ASHUF_OK) status = put(out, &valid, 1);
  return status == ASHUF_OK && valid ? spell_valid(out, source, batch, row) : status;
}

ashuf_status value_resolve(const struct source **source, size_t batch, int64_t *row, bool *valid,
                           struct ashuf_error *error) {
  for (;;) {
    const struct source *at = *source;
    const struct array_view *view = &at->views[batch];
    *valid = at->field->type != TYPE_NULL && view_is_valid(view, *row);
    if (!*valid) return ASHUF_OK;
    if (at->dictionary != NULL) {
      uint64_t index = load_index(view->data[0], at->field->type, view->offset + *row);
      if (index >= (uint64_t)view->limit) return out_of_range(at, error);
      *row = (int64_t)index;
      *source = at->dictionary;
    } else if (at->field->type == TYPE_RUN_END_ENCODED) {
      *row = place_run(at, batch, *row, NULL);
      if (*row < 0) return out_of_range(at, error);
      *source = &at->children[1];
    } else {
      return ASHUF_OK;
    }
  }
}

ashuf_status value_bytes_get(const struct source *source, row_id id, struct arena *arena,
                             struct value_bytes *out, struct ashuf_error *error) {
  const struct array_view *view = &source->views[row_batch(id)];
  int64_t slot = view->offset + row_number(id);
  int layout = type_info(source->field->type)->layout;
  if (source->dictionary == NULL && layout == LAYOUT_FIXED) {
    size_t width = (size_t)source->field->byte_width;
    *out = (struct value_bytes){view->data[0] + (size_t)slot * width, width};
    return ASHUF_OK;
  }
  if (source->dictionary == NULL && layout == LAYOUT_BYTES) {
    int64_t from = 0;
    int64_t to = 0;
    ashuf_status status = slot_extent(source, view, slot, &from, &to, error);
    if (status == ASHUF_OK) *out = (struct value_bytes){view->data[1] + from, (size_t)(to - from)};
    return status;
  }
  if (layout == LAYOUT_VIEWS) {
    if (place_bytes(view, row_number(id), &out->data, &out->size)) return ASHUF_OK;
    return out_of_range(source, error);
  }
  struct spelling spelling = {.arena = arena, .error = error};
  ashuf_status status = spell(&spelling, source, row_batch(id), row_number(id));
  *out = (struct value_bytes){spelling.data, spelling.size};
  return status;
}

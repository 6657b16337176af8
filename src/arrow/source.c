#include "arrow/source.h"

#include "arrow/place.h"
#include "base/bits.h"

#include <string.h>

#define MAX_ROWS ((int64_t)1 << MAX_ROWS_BITS)

/* What a view without rows reads: one value of any fixed width but the widest binaries. */
static const uint8_t zeros[64];

/* ---- The tree of sources ------------------------------------------------------------------ */

static bool plant(struct source_set *set, struct source *source, const struct field *field) {
  *source = (struct source){.field = field};
  set->n_sources++;
  if (field->dictionary != NULL) {
    source->dictionary = arena_array(&set->arena, 1, sizeof *source);
    return source->dictionary != NULL && plant(set, source->dictionary, field->dictionary);
  }
  source->children = arena_array(&set->arena, (size_t)field->n_children, sizeof *source);
  if (source->children == NULL) return false;
  for (int32_t i = 0; i < field->n_children; i++)
    if (!plant(set, &source->children[i], &field->children[i])) return false;
  return true;
}

static bool plant_columns(struct source_set *set) {
  const ashuf_schema *schema = set->schema;
  set->columns = arena_array(&set->arena, (size_t)schema->n_columns, sizeof *set->columns);
  if (set->columns == NULL) return false;
  for (int32_t i = 0; i < schema->n_columns; i++)
    if (!plant(set, &set->columns[i], &schema->columns[i])) return false;
  return true;
}

ashuf_status source_set_init(struct source_set *set, const ashuf_schema *schema,
                             ashuf_memory *memory, struct ashuf_error *error) {
  *set = (struct source_set){.memory = ashuf_memory_ref(memory)};
  set->schema = ashuf_schema_ref(schema);
  arena_init(&set->arena, memory);
  if (plant_columns(set)) return ASHUF_OK;
  size_t size = sizeof(struct source) * (size_t)schema->n_arrays;
  source_set_free(set);
  return error_memory(error, SITE_SOURCE_MEMORY, memory, size);
}

/* Moves the views of a source and of those below it, in pre-order; keep: views filled so far. */
static void place_views(struct source *source, struct array_view *views, size_t capacity,
                        size_t keep, size_t *position) {
  struct array_view *own = views + capacity * (*position)++;
  if (keep != 0) memcpy(own, source->views, keep * sizeof *own);
  source->views = own;
  if (source->dictionary != NULL)
    place_views(source->dictionary, views, capacity, keep, position);
  else
    for (int32_t i = 0; i < source->field->n_children; i++)
      place_views(&source->children[i], views, capacity, keep, position);
}

static size_t slab_size(const struct source_set *set, size_t capacity) {
  return capacity * (sizeof(int64_t) + set->n_sources * sizeof(struct array_view));
}

static ashuf_status grow(struct source_set *set, struct ashuf_error *error) {
  if (set->n_batches >= MAX_BATCHES)
    return error_set(error, ASHUF_SIZE_LIMIT, SITE_SOURCE_BATCHES, "more than %zu batches",
                     MAX_BATCHES);
  size_t capacity = set->capacity == 0 ? 1 : set->capacity < 8 ? 8 : set->capacity * 2;
  size_t size = slab_size(set, capacity);
  int64_t *lengths = memory_alloc(set->memory, size);
  if (lengths == NULL) return error_memory(error, SITE_SOURCE_MEMORY, set->memory, size);
  struct array_view *views = (struct array_view *)(void *)(lengths + capacity);
  size_t position = 0;
  for (int32_t i = 0; i < set->schema->n_columns; i++)
    place_views(&set->columns[i], views, capacity, set->n_batches, &position);
  if (set->n_batches != 0) memcpy(lengths, set->lengths, set->n_batches * sizeof *lengths);
  if (set->lengths != NULL) memory_free(set->memory, set->lengths, slab_size(set, set->capacity));
  set->lengths = lengths;
  set->capacity = capacity;
  return ASHUF_OK;
}

/* Whether rows of the children are those of the parent, or a multiple of them. */
static bool shares_rows(enum arrow_layout layout) {
  return layout == LAYOUT_STRUCT || layout == LAYOUT_FIXED_LIST || layout == LAYOUT_SPARSE;
}

/* ---- One array ---------------------------------------------------------------------------- */

/* An array on the way down from its column. */
struct frame {
  const struct frame *parent;
  const struct source *source;
  const struct array_view *view;
};

static ashuf_status refuse(const struct frame *frame, ashuf_status status, int site,
                           struct ashuf_error *error, const char *what) {
  char label[96];
  char column[96];
  const struct frame *root = frame;
  while (root->parent != NULL) root = root->parent;
  field_label(root->source->field, column, sizeof column);
  if (root == frame) return error_set(error, status, site, "column \"%s\": %s", column, what);
  field_label(frame->source->field, label, sizeof label);
  return error_set(error, status, site, "column \"%s\", field \"%s\": %s", column, label, what);
}

static ashuf_status bad_array(const struct frame *frame, int site, struct ashuf_error *error,
                              const char *what) {
  return refuse(frame, ASHUF_BAD_ARRAY, site, error, what);
}

/* Whether the bitmap's claim of nulls is there to be read. */
static ashuf_status check_null_count(const struct frame *frame, const struct ArrowArray *array,
                                     struct ashuf_error *error) {
  if (array->null_count < -1 || array->null_count > array->length)
    return bad_array(frame, SITE_SOURCE_NULL_COUNT, error, "null count out of range");
  if (array->null_count > 0 && (array->n_buffers == 0 || array->buffers[0] == NULL))
    return bad_array(frame, SITE_SOURCE_NO_VALIDITY, error, "nulls without a validity bitmap");
  return ASHUF_OK;
}

/* Views have their data buffers and the sizes of those behind the ones of IPC. */
static bool has_buffers(const struct field *field, int64_t n) {
  const struct type_info *info = type_info(field->type);
  if (info->layout == LAYOUT_VIEWS) return n > info->buffers && n - info->buffers <= INT32_MAX;
  return n == info->buffers || (field->type == TYPE_NULL && n == 1);
}

static ashuf_status check_shape(const struct frame *frame, const struct ArrowArray *array,
                                struct ashuf_error *error) {
  const struct field *field = frame->source->field;
  const struct type_info *info = type_info(field->type);
  if (array->release == NULL)
    return bad_array(frame, SITE_SOURCE_LENGTH, error, "array was released");
  if (array->length < 0 || array->offset < 0 || array->length > MAX_ROWS ||
      array->offset > MAX_ROWS)
    return bad_array(frame, SITE_SOURCE_LENGTH, error, "length or offset out of range");
  if (!has_buffers(field, array->n_buffers))
    return bad_array(frame, SITE_SOURCE_BUFFERS, error, "wrong number of buffers");
  if (info->buffers != 0 && array->buffers == NULL)
    return bad_array(frame, SITE_SOURCE_BUFFERS, error, "no buffers");
  if (array->n_children != field->n_children || (field->n_children != 0 && array->children == NULL))
    return bad_array(frame, SITE_SOURCE_CHILDREN, error, "wrong number of children");
  for (int32_t i = 0; i < field->n_children; i++)
    if (array->children[i] == NULL)
      return bad_array(frame, SITE_SOURCE_CHILDREN, error, "a child is missing");
  if ((array->dictionary == NULL) != (field->dictionary == NULL))
    return bad_array(frame, SITE_SOURCE_DICTIONARY, error,
                     field->dictionary != NULL ? "no dictionary" : "a dictionary nobody expects");
  return info->validity ? check_null_count(frame, array, error) : ASHUF_OK;
}

/* The list that row of the child belongs to, or -1. */
static int64_t list_of_row(const struct frame *parent, int64_t row) {
  const struct field *field = parent->source->field;
  const struct array_view *view = parent->view;
  int64_t low = 0;
  int64_t high = view->length; /* the last list that starts at row or before it is in [low, high) */
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (load_offset(view->data[0], field->byte_width, view->offset + middle) <= row)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return -1;
  int64_t end = load_offset(view->data[0], field->byte_width, view->offset + low);
  return row < end ? low - 1 : -1;
}

/*
 * The row of the parent that row of its child belongs to, or -1. Rows of list views and dense
 * unions stand in any order: finding one takes a look at all, and is not done.
 */
static int64_t parent_row(const struct frame *frame, int64_t row) {
  const struct source *parent = frame->parent->source;
  const struct array_view *view = frame->parent->view;
  switch (type_info(parent->field->type)->layout) {
    case LAYOUT_STRUCT:
      return row;
    case LAYOUT_FIXED_LIST:
      return row / parent->field->list_size;
    case LAYOUT_LIST:
      return list_of_row(frame->parent, row);
    case LAYOUT_SPARSE: {
      int32_t child = union_child(parent->field, (int8_t)view->data[0][view->offset + row]);
      return child >= 0 && &parent->children[child] == frame->source ? row : -1;
    }
    default:
      return -1;
  }
}

/* Whether no null hides this row: a null under a null parent is nobody's. */
static bool row_is_seen(const struct frame *frame, int64_t row) {
  for (const struct frame *below = frame; below->parent != NULL; below = below->parent) {
    const struct frame *parent = below->parent;
    /* Dictionary values belong to no row. Null ones are nulls only where an index names them. */
    if (parent->source->dictionary != NULL) return below != frame;
    row = parent_row(below, row);
    if (row < 0 || !view_is_valid(parent->view, row)) return false;
  }
  return true;
}

static ashuf_status refuse_nulls(const struct frame *frame, struct ashuf_error *error) {
  const struct array_view *view = frame->view;
  for (int64_t row = 0; row < view->length; row++)
    if (!view_is_valid(view, row) && row_is_seen(frame, row))
      return refuse(frame, ASHUF_SCHEMA_MISMATCH, SITE_SOURCE_NULL, error,
                    "a null in a column without nulls");
  return ASHUF_OK;
}

/* The same for nulls that are values of a dictionary. */
static ashuf_status refuse_null_values(const struct frame *frame, const struct array_view *values,
                                       struct ashuf_error *error) {
  const struct array_view *view = frame->view;
  for (int64_t row = 0; row < view->length; row++) {
    if (!view_is_valid(view, row)) continue;
    uint64_t index = load_index(view->data[0], frame->source->field->type, view->offset + row);
    if (index < (uint64_t)values->length && !view_is_valid(values, (int64_t)index) &&
        row_is_seen(frame, row))
      return refuse(frame, ASHUF_SCHEMA_MISMATCH, SITE_SOURCE_NULL, error,
                    "a null value in a column without nulls");
  }
  return ASHUF_OK;
}

/* Keeps the bitmap only where it says something about the rows of the view. */
static ashuf_status view_validity(const struct frame *frame, struct array_view *view,
                                  struct ashuf_error *error) {
  const struct ArrowArray *array = view->array;
  view->validity = NULL;
  if (!type_info(frame->source->field->type)->validity) return ASHUF_OK;
  if (array->null_count == 0 || array->buffers[0] == NULL) return ASHUF_OK;
  if (bits_count(array->buffers[0], view->offset, view->length) == view->length) return ASHUF_OK;
  view->validity = array->buffers[0];
  return frame->source->field->nullable ? ASHUF_OK : refuse_nulls(frame, error);
}

static ashuf_status view_offsets(const struct frame *frame, struct array_view *view,
                                 struct ashuf_error *error) {
  int width = frame->source->field->byte_width;
  view->limit =
      view->length == 0 ? 0 : load_offset(view->data[0], width, view->offset + view->length);
  if (view->limit < 0)
    return bad_array(frame, SITE_SOURCE_LAST_OFFSET, error, "the last offset is negative");
  return ASHUF_OK;
}

/* Strings without a bytes buffer must all be empty. */
static ashuf_status view_bytes(const struct frame *frame, struct array_view *view,
                               struct ashuf_error *error) {
  ashuf_status status = view_offsets(frame, view, error);
  if (status != ASHUF_OK || view->data[1] != NULL) return status;
  int width = frame->source->field->byte_width;
  for (int64_t row = 0; row < view->length; row++) {
    int64_t slot = view->offset + row;
    if (view_is_valid(view, row) &&
        load_offset(view->data[0], width, slot) != load_offset(view->data[0], width, slot + 1))
      return bad_array(frame, SITE_SOURCE_NO_BYTES, error, "strings without a bytes buffer");
  }
  view->data[1] = zeros;
  return ASHUF_OK;
}

/* The data buffers of views are all there, with their sizes behind them. */
static ashuf_status view_views(const struct frame *frame, struct array_view *view,
                               struct ashuf_error *error) {
  const struct ArrowArray *array = view->array;
  const int64_t *sizes = array->buffers[array->n_buffers - 1];
  view->limit = array->n_buffers - 3;
  if (view->limit != 0 && sizes == NULL)
    return bad_array(frame, SITE_SOURCE_VIEW_SIZES, error, "data buffers without their sizes");
  for (int64_t i = 0; i < view->limit; i++) {
    int64_t size = load_i64(&sizes[i]);
    if (size < 0 || (size != 0 && array->buffers[2 + i] == NULL))
      return bad_array(frame, SITE_SOURCE_VIEW_SIZES, error, "a data buffer is missing");
  }
  return ASHUF_OK;
}

/* List views have sizes, dense unions offsets in their second buffer. */
static ashuf_status view_second(const struct frame *frame, struct array_view *view,
                                struct ashuf_error *error) {
  if (view->data[1] != NULL) return ASHUF_OK;
  return bad_array(frame, SITE_SOURCE_NO_VALUES, error, "a buffer is missing");
}

static bool has_values(const struct field *field, const struct array_view *view) {
  enum arrow_layout layout = type_info(field->type)->layout;
  if (layout == LAYOUT_NULL || layout == LAYOUT_STRUCT || layout == LAYOUT_FIXED_LIST ||
      layout == LAYOUT_RUN_ENDS)
    return true;
  return view->data[0] != NULL || view->length == 0 ||
         (layout == LAYOUT_FIXED && field->byte_width == 0);
}

/* The buffers behind the validity, where there is one. */
static void view_buffers(const struct field *field, struct array_view *view) {
  const struct ArrowArray *array = view->array;
  int64_t first = type_info(field->type)->validity ? 1 : 0;
  view->data[0] = NULL;
  view->data[1] = NULL;
  view->limit = 0;
  if (field->type == TYPE_NULL) return;
  if (array->n_buffers > first) view->data[0] = array->buffers[first];
  if (array->n_buffers > first + 1) view->data[1] = array->buffers[first + 1];
}

static ashuf_status view_values(const struct frame *frame, struct array_view *view,
                                struct ashuf_error *error) {
  const struct field *field = frame->source->field;
  enum arrow_layout layout = type_info(field->type)->layout;
  view_buffers(field, view);
  uint64_t size;
  if (!mul_u64((uint64_t)(view->offset + view->length), (uint64_t)field->byte_width, &size) ||
      size > INT64_MAX)
    return bad_array(frame, SITE_SOURCE_LENGTH, error, "values of more than 2^63 bytes");
  if (!has_values(field, view))
    return bad_array(frame, SITE_SOURCE_NO_VALUES, error, "a buffer is missing");
  if (view->length == 0 || view->data[0] == NULL) {
    view->data[0] = zeros;
    view->data[1] = zeros;
    if (view->length == 0 && !shares_rows(layout)) view->offset = 0;
    return ASHUF_OK;
  }
  switch (layout) {
    case LAYOUT_BYTES:
      return view_bytes(frame, view, error);
    case LAYOUT_LIST:
      return view_offsets(frame, view, error);
    case LAYOUT_VIEWS:
      return view_views(frame, view, error);
    case LAYOUT_LIST_VIEW:
    case LAYOUT_DENSE:
      return view_second(frame, view, error);
    default:
      return ASHUF_OK;
  }
}

/* ---- A batch ------------------------------------------------------------------------------ */

/*
 * One array and what is below it into views[batch]. shift: slots that the structs, fixed-size
 * lists and sparse unions above cut off, rows: how many rows they need, or -1 for as many as the
 * array has.
 */
static ashuf_status look(struct source *source, const struct frame *parent, size_t batch,
                         const struct ArrowArray *array, int64_t shift, int64_t rows,
                         struct ashuf_error *error);

static ashuf_status look_children(const struct frame *frame, struct array_view *view, size_t batch,
                                  struct ashuf_error *error) {
  struct source *source = (struct source *)(uintptr_t)frame->source;
  const struct field *field = source->field;
  enum arrow_layout layout = type_info(field->type)->layout;
  int64_t scale = layout == LAYOUT_FIXED_LIST ? field->list_size : 1;
  int64_t shift;
  int64_t rows;
  if (__builtin_mul_overflow(view->offset, scale, &shift) ||
      __builtin_mul_overflow(view->length, scale, &rows) || shift > MAX_ROWS || rows > MAX_ROWS)
    return bad_array(frame, SITE_SOURCE_LENGTH, error, "more child rows than 2^40");
  bool shared = shares_rows(layout);
  for (int32_t i = 0; i < field->n_children; i++) {
    ashuf_status status = look(&source->children[i], frame, batch, view->array->children[i],
                               shared ? shift : 0, shared ? rows : -1, error);
    if (status != ASHUF_OK) return status;
  }
  if (layout == LAYOUT_LIST || layout == LAYOUT_LIST_VIEW)
    view->limit = source->children[0].views[batch].length;
  if (layout == LAYOUT_RUN_ENDS && source->children[0].views[batch].validity != NULL)
    return bad_array(frame, SITE_SOURCE_RUN_ENDS, error, "a null run end");
  return ASHUF_OK;
}

static ashuf_status look_below(const struct frame *frame, struct array_view *view, size_t batch,
                               struct ashuf_error *error) {
  struct source *dictionary = frame->source->dictionary;
  if (dictionary == NULL) return look_children(frame, view, batch, error);
  ashuf_status status = look(dictionary, frame, batch, view->array->dictionary, 0, -1, error);
  if (status != ASHUF_OK) return status;
  view->limit = dictionary->views[batch].length;
  bool may_be_null = frame->source->field->nullable || dictionary->views[batch].validity == NULL;
  return may_be_null ? ASHUF_OK : refuse_null_values(frame, &dictionary->views[batch], error);
}

static ashuf_status look(struct source *source, const struct frame *parent, size_t batch,
                         const struct ArrowArray *array, int64_t shift, int64_t rows,
                         struct ashuf_error *error) {
  struct array_view *view = &source->views[batch];
  struct frame frame = {parent, source, view};
  ashuf_status status = check_shape(&frame, array, error);
  if (status != ASHUF_OK) return status;
  if (rows < 0) rows = array->length;
  if (!range_inside((uint64_t)shift, (uint64_t)rows, (uint64_t)array->length))
    return bad_array(&frame, SITE_SOURCE_SHORT, error, "shorter than the array it belongs to");
  *view = (struct array_view){.array = array, .offset = array->offset + shift, .length = rows};
  status = view_validity(&frame, view, error);
  if (status == ASHUF_OK) status = view_values(&frame, view, error);
  return status == ASHUF_OK ? look_below(&frame, view, batch, error) : status;
}

static ashuf_status check_root(const ashuf_schema *schema, const struct ArrowArray *batch,
                               struct ashuf_error *error) {
  if (batch == NULL || batch->release == NULL)
    return error_set(error, ASHUF_BAD_ARRAY, SITE_SOURCE_LENGTH, "batch was released");
  if (batch->length < 0 || batch->offset < 0 || batch->length > MAX_ROWS ||
      batch->offset > MAX_ROWS)
    return error_set(error, ASHUF_BAD_ARRAY, SITE_SOURCE_LENGTH,
                     "batch: length or offset out of range");
  if (batch->n_children != schema->n_columns || (schema->n_columns != 0 && batch->children == NULL))
    return error_set(error, ASHUF_BAD_ARRAY, SITE_SOURCE_CHILDREN,
                     "batch has %lld columns, the schema %d", (long long)batch->n_children,
                     schema->n_columns);
  if (batch->n_buffers > 1 || batch->n_buffers < 0 || batch->dictionary != NULL)
    return error_set(error, ASHUF_BAD_ARRAY, SITE_SOURCE_BUFFERS, "batch is not a struct array");
  bool bitmap = batch->n_buffers == 1 && batch->buffers != NULL && batch->buffers[0] != NULL;
  if (batch->null_count > 0 ||
      (batch->null_count != 0 && bitmap &&
       bits_count(batch->buffers[0], batch->offset, batch->length) != batch->length))
    return error_set(error, ASHUF_BAD_ARRAY, SITE_SOURCE_ROOT_NULLS, "batch has null rows");
  for (int32_t i = 0; i < schema->n_columns; i++)
    if (batch->children[i] == NULL)
      return error_set(error, ASHUF_BAD_ARRAY, SITE_SOURCE_CHILDREN, "batch lacks column %d", i);
  return ASHUF_OK;
}

/* Counts what a batch that is now part of the set brought; or, with a batch of -1, forgets all. */
static void count_nulls(struct source *source, size_t batch, bool forget) {
  if (forget)
    source->n_with_nulls = 0;
  else
    source->n_with_nulls += source->views[batch].validity != NULL;
  if (source->dictionary != NULL) {
    count_nulls(source->dictionary, batch, forget);
    return;
  }
  for (int32_t i = 0; i < source->field->n_children; i++)
    count_nulls(&source->children[i], batch, forget);
}

ashuf_status source_set_push(struct source_set *set, const struct ArrowArray *batch,
                             struct ashuf_error *error) {
  ashuf_status status = check_root(set->schema, batch, error);
  if (status == ASHUF_OK && set->n_batches == set->capacity) status = grow(set, error);
  size_t number = set->n_batches;
  for (int32_t i = 0; status == ASHUF_OK && i < set->schema->n_columns; i++)
    status = look(&set->columns[i], NULL, number, batch->children[i], batch->offset, batch->length,
                  error);
  if (status != ASHUF_OK) return status;
  for (int32_t i = 0; i < set->schema->n_columns; i++) count_nulls(&set->columns[i], number, false);
  set->lengths[number] = batch->length;
  set->n_batches++;
  return ASHUF_OK;
}

/* Empties a view and those below it, and takes back what count_nulls counted. */
static void vacate(struct source *source, size_t number) {
  struct array_view *view = &source->views[number];
  source->n_with_nulls -= view->validity != NULL;
  *view = (struct array_view){.data = {zeros, zeros}};
  if (source->dictionary != NULL) {
    vacate(source->dictionary, number);
    return;
  }
  for (int32_t i = 0; i < source->field->n_children; i++) vacate(&source->children[i], number);
}

void source_set_vacate(struct source_set *set, size_t number) {
  for (int32_t i = 0; i < set->schema->n_columns; i++) vacate(&set->columns[i], number);
  set->lengths[number] = 0;
}

/* Views that a failed look left behind are not counted: they must not be taken back. */
static void forget_views(struct source *source, size_t number) {
  source->views[number].validity = NULL;
  if (source->dictionary != NULL) forget_views(source->dictionary, number);
  for (int32_t i = 0; i < source->field->n_children && source->dictionary == NULL; i++)
    forget_views(&source->children[i], number);
}

ashuf_status source_set_replace(struct source_set *set, size_t number,
                                const struct ArrowArray *batch, struct ashuf_error *error) {
  source_set_vacate(set, number);
  ashuf_status status = check_root(set->schema, batch, error);
  for (int32_t i = 0; status == ASHUF_OK && i < set->schema->n_columns; i++)
    status = look(&set->columns[i], NULL, number, batch->children[i], batch->offset, batch->length,
                  error);
  if (status != ASHUF_OK) {
    for (int32_t i = 0; i < set->schema->n_columns; i++) forget_views(&set->columns[i], number);
    source_set_vacate(set, number);
    return status;
  }
  for (int32_t i = 0; i < set->schema->n_columns; i++) count_nulls(&set->columns[i], number, false);
  set->lengths[number] = batch->length;
  return ASHUF_OK;
}

void source_set_clear(struct source_set *set) {
  set->n_batches = 0;
  for (int32_t i = 0; i < set->schema->n_columns; i++) count_nulls(&set->columns[i], 0, true);
}

void source_set_free(struct source_set *set) {
  if (set->lengths != NULL) memory_free(set->memory, set->lengths, slab_size(set, set->capacity));
  arena_free(&set->arena);
  ashuf_schema_free(set->schema);
  ashuf_memory_free(set->memory);
  *set = (struct source_set){0};
}

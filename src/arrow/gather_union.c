/*
 * Unions: type ids, and for dense ones the rows of every child in the order in which they are met.
 * A union has no validity: a row that has to be null (its dictionary index is) becomes a null of
 * the first child that can hold one.
 */
#include "arrow/gather.h"

#include "arrow/gather_int.h"
#include "arrow/place.h"
#include "base/bits.h"

struct union_job {
  const struct source *source;
  struct gathered_union *out;
  int64_t *counts; /* rows of each child */
  int32_t null_child;
};

static int32_t find_null_child(const struct field *field) {
  for (int32_t i = 0; i < field->n_children; i++)
    if (field->children[i].nullable) return i;
  return 0;
}

/* The child of a row, and its row; -1: there is none. */
static int32_t find_child(const struct union_job *job, row_id id, bool valid, int64_t *row) {
  if (valid) return place_union(job->source, row_batch(id), row_number(id), row);
  *row = 0;
  return job->source->field->n_children != 0 ? job->null_child : -1;
}

static bool put_type_ids(struct union_job *job, const row_id *ids, int64_t n, uint64_t valid,
                         uint8_t *out) {
  for (int64_t i = 0; i < n; i++) {
    int64_t row;
    int32_t child = find_child(job, ids[i], (valid >> i & 1) != 0, &row);
    if (child < 0) return false;
    out[i] = (uint8_t)job->source->field->type_ids[child];
    job->counts[child]++;
  }
  return true;
}

static ashuf_status refuse(const struct source *source, struct ashuf_error *error) {
  char label[96];
  return error_set(error, ASHUF_BAD_ARRAY, SITE_GATHER_UNION,
                   "field \"%s\": a type id or offset that the union does not have",
                   field_label(source->field, label, sizeof label));
}

static ashuf_status gather_type_ids(struct union_job *job, const struct selection *selection,
                                    const uint8_t *mask, struct ashuf_error *error) {
  struct selection_cursor cursor = {0};
  row_id room[CHUNK_ROWS];
  for (int64_t i = 0; i < selection->n_rows; i += CHUNK_ROWS) {
    int64_t n = min_rows(CHUNK_ROWS, selection->n_rows - i);
    const row_id *ids = cursor_ids(selection, &cursor, n, room);
    uint64_t valid = mask == NULL ? ones(n) : load_bits(mask, i, n);
    if (!put_type_ids(job, ids, n, valid, job->out->type_ids + i))
      return refuse(job->source, error);
  }
  return ASHUF_OK;
}

/* Lists of child rows, as long as the children were counted. */
static bool take_lists(struct union_job *job, struct range_list *lists, struct arena *arena) {
  for (int32_t i = 0; i < job->source->field->n_children; i++) {
    lists[i] = (struct range_list){
        .ranges = arena_array(arena, (size_t)job->counts[i], sizeof(struct row_range))};
    if (lists[i].ranges == NULL) return false;
  }
  return true;
}

static void put_offsets(struct union_job *job, const struct selection *selection,
                        const uint8_t *mask, struct range_list *lists) {
  struct selection_cursor cursor = {0};
  row_id id;
  for (int64_t i = 0; i < selection->n_rows; i++) {
    const row_id *at = cursor_ids(selection, &cursor, 1, &id);
    bool valid = mask == NULL || bit_get(mask, i);
    int64_t row;
    int32_t child = find_child(job, *at, valid, &row);
    int64_t offset = lists[child].n_rows;
    store_u32(&job->out->offsets[i], (uint32_t)offset);
    if (mask != NULL && child == job->null_child && valid) bit_set(job->out->mask, offset);
    range_list_add(&lists[child], row_id_of(row_batch(*at), row), 1);
  }
}

static bool gather_dense(struct union_job *job, const struct selection *selection,
                         const uint8_t *mask, struct arena *arena) {
  int32_t n_children = job->source->field->n_children;
  struct gathered_union *out = job->out;
  struct range_list *lists = arena_array(arena, (size_t)n_children, sizeof *lists);
  out->children = arena_array(arena, (size_t)n_children, sizeof *out->children);
  out->offsets = arena_array(arena, (size_t)selection->n_rows, sizeof *out->offsets);
  if (lists == NULL || out->children == NULL || out->offsets == NULL ||
      !take_lists(job, lists, arena))
    return false;
  if (mask != NULL && n_children != 0) {
    size_t size = bits_size(job->counts[job->null_child]);
    out->mask = arena_array(arena, size, 1);
    if (out->mask == NULL) return false;
    memset(out->mask, 0, size);
  }
  put_offsets(job, selection, mask, lists);
  for (int32_t i = 0; i < n_children; i++) out->children[i] = range_list_selection(&lists[i]);
  return true;
}

ashuf_status gather_union(const struct source *source, const struct selection *selection,
                          const uint8_t *mask, struct arena *arena, struct gathered_union *out,
                          struct ashuf_error *error) {
  *out = (struct gathered_union){.null_child = find_null_child(source->field)};
  size_t n_children = (size_t)source->field->n_children;
  int64_t *counts = arena_array(arena, n_children, sizeof *counts);
  struct union_job job = {source, out, counts, out->null_child};
  out->type_ids = arena_array(arena, (size_t)selection->n_rows, 1);
  if (counts != NULL && out->type_ids != NULL) {
    if (n_children != 0) memset(counts, 0, n_children * sizeof *counts);
    ashuf_status status = gather_type_ids(&job, selection, mask, error);
    if (status != ASHUF_OK || source->field->type == TYPE_SPARSE_UNION) return status;
    if (gather_dense(&job, selection, mask, arena)) return ASHUF_OK;
  }
  return error_memory(error, SITE_GATHER_MEMORY, arena->memory, (size_t)selection->n_rows * 16);
}

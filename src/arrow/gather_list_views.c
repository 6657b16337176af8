/* List views: lists one behind the other, whatever order and overlap they have in the input. */
#include "arrow/gather.h"

#include "arrow/gather_int.h"
#include "arrow/place.h"

/* More child rows than any caller takes; stops the sum of overlapping lists from running over. */
#define TOO_MANY ((uint64_t)1 << 62)

struct list_views_job {
  const struct source *source;
  uint8_t *offsets;
  uint8_t *sizes;
  struct range_list list;
  uint64_t sum;
};

/* One row; false where it names child rows that are not there. */
static bool put_row(struct list_views_job *job, row_id id, bool valid, int64_t slot) {
  int width = job->source->field->byte_width;
  int64_t first = 0;
  int64_t n = 0;
  if (valid && !place_list(&job->source->views[row_batch(id)], width, row_number(id), &first, &n))
    return false;
  store_offset(job->offsets, width, slot, job->sum);
  store_offset(job->sizes, width, slot, (uint64_t)n);
  range_list_add(&job->list, row_id_of(row_batch(id), first), n);
  job->sum += (uint64_t)n;
  return true;
}

ashuf_status gather_list_views(const struct source *source, const struct selection *selection,
                               const uint8_t *validity, void *offsets, void *sizes, uint64_t *total,
                               struct row_range *ranges, struct selection *child,
                               struct ashuf_error *error) {
  struct list_views_job job = {
      .source = source, .offsets = offsets, .sizes = sizes, .list = {.ranges = ranges}};
  struct selection_cursor cursor = {0};
  row_id room[CHUNK_ROWS];
  for (int64_t i = 0; i < selection->n_rows && job.sum < TOO_MANY; i += CHUNK_ROWS) {
    int64_t n = min_rows(CHUNK_ROWS, selection->n_rows - i);
    const row_id *ids = cursor_ids(selection, &cursor, n, room);
    uint64_t valid = validity == NULL ? ones(n) : load_bits(validity, i, n);
    for (int64_t k = 0; k < n; k++) {
      if (put_row(&job, ids[k], (valid >> k & 1) != 0, i + k)) continue;
      char label[96];
      return error_set(error, ASHUF_BAD_ARRAY, SITE_GATHER_LIST_VIEWS,
                       "field \"%s\": a list of values that are not there",
                       field_label(source->field, label, sizeof label));
    }
  }
  *total = job.sum;
  *child = range_list_selection(&job.list);
  return ASHUF_OK;
}

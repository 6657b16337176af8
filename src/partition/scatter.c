#include "partition/scatter.h"

#include "partition/partition.h"

#include <string.h>

static size_t starts_size(const struct scatter *scatter) {
  return ((size_t)scatter->partitions + 2) * sizeof *scatter->starts;
}

ashuf_status scatter_init(struct scatter *scatter, int32_t partitions, ashuf_memory *memory,
                          struct ashuf_error *error) {
  struct scatter made = {.memory = memory, .partitions = partitions};
  made.starts = memory_zeroed(memory, starts_size(&made));
  if (made.starts == NULL)
    return error_memory(error, SITE_SCATTER_MEMORY, memory, starts_size(&made));
  *scatter = made;
  return ASHUF_OK;
}

void scatter_count(struct scatter *scatter, const int32_t *ids, int64_t n) {
  int64_t *counts = scatter->starts + 2;
  for (int64_t i = 0; i < n; i++) counts[ids[i]]++;
  scatter->n_rows += n;
}

static bool make_room(struct scatter *scatter, size_t need) {
  if (need <= scatter->capacity) return true;
  row_id *rows = memory_alloc(scatter->memory, need * sizeof *rows);
  if (rows == NULL) return false;
  memory_free(scatter->memory, scatter->rows, scatter->capacity * sizeof *rows);
  scatter->rows = rows;
  scatter->capacity = need;
  return true;
}

ashuf_status scatter_reserve(struct scatter *scatter, int64_t n_rows, struct ashuf_error *error) {
  size_t need = (size_t)n_rows;
  if (need <= scatter->capacity) return ASHUF_OK;
  if (make_room(scatter, need + need / 4)) return ASHUF_OK;
  return error_memory(error, SITE_SCATTER_MEMORY, scatter->memory, need * sizeof(row_id));
}

ashuf_status scatter_begin(struct scatter *scatter, struct ashuf_error *error) {
  if (!make_room(scatter, (size_t)scatter->n_rows))
    return error_memory(error, SITE_SCATTER_MEMORY, scatter->memory,
                        (size_t)scatter->n_rows * sizeof(row_id));
  for (int32_t i = 0; i < scatter->partitions; i++)
    scatter->starts[i + 2] += scatter->starts[i + 1];
  return ASHUF_OK;
}

void scatter_place(struct scatter *scatter, size_t batch, int64_t first, const int32_t *ids,
                   int64_t n) {
  int64_t *ends = scatter->starts + 1;
  row_id *rows = scatter->rows;
  row_id id = row_id_of(batch, first);
  for (int64_t i = 0; i < n; i++) rows[ends[ids[i]]++] = id++;
}

struct selection scatter_partition(const struct scatter *scatter, int32_t partition) {
  int64_t start = scatter->starts[partition];
  return (struct selection){.n_rows = scatter->starts[partition + 1] - start,
                            .ids = scatter->rows + start};
}

void scatter_reset(struct scatter *scatter) {
  memset(scatter->starts, 0, starts_size(scatter));
  scatter->n_rows = 0;
}

void scatter_free(struct scatter *scatter) {
  if (scatter->starts != NULL) memory_free(scatter->memory, scatter->starts, starts_size(scatter));
  memory_free(scatter->memory, scatter->rows, scatter->capacity * sizeof *scatter->rows);
  *scatter = (struct scatter){0};
}

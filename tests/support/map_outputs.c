#include "support/map_outputs.h"

#include "shuffle/index.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>

static void require(ashuf_status status, const struct ashuf_error *error) {
  if (status == ASHUF_OK) return;
  (void)fprintf(stderr, "test support: %s\n", error->message);
  abort();
}

ashuf_partitioner *output_partitioner(const struct ArrowSchema *schema, int32_t partitions) {
  static const int32_t first_column[] = {0};
  struct ashuf_partitioning partitioning = ASHUF_PARTITIONING_INIT;
  ashuf_schema *imported = NULL;
  ashuf_partitioner *partitioner = NULL;
  struct ashuf_error error;
  partitioning.kind = ASHUF_PARTITION_HASH;
  partitioning.partitions = partitions;
  partitioning.keys = first_column;
  partitioning.n_keys = schema->n_children > 0;
  require(ashuf_schema_import(schema, NULL, &imported, &error), &error);
  require(ashuf_partitioner_new(imported, &partitioning, NULL, &partitioner, &error), &error);
  ashuf_schema_free(imported);
  return partitioner;
}

struct ArrowArray output_array(struct test_column batch) {
  batch.schema.release(&batch.schema);
  return batch.array;
}

struct test_column output_batch(int64_t first, int64_t n) {
  size_t room = (size_t)n + 1;
  int64_t *keys = malloc(room * sizeof *keys);
  int64_t *items = malloc(2 * room * sizeof *items);
  int64_t *offsets = malloc(room * sizeof *offsets);
  char *valid = malloc(room);
  char(*texts)[24] = malloc(room * sizeof *texts);
  const char **strings = malloc(room * sizeof *strings);
  if (!keys || !items || !offsets || !valid || !texts || !strings) abort();
  int64_t n_items = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t row = first + i;
    keys[i] = row * 31;
    valid[i] = row % 7 == 0 ? '0' : '1';
    (void)snprintf(texts[i], sizeof texts[i], "row %lld", (long long)row);
    strings[i] = row % 5 == 0 ? NULL : texts[i];
    offsets[i] = n_items;
    for (int64_t k = 0; k < row % 3; k++) items[n_items++] = row * 10 + k;
  }
  offsets[n] = n_items;
  valid[n] = '\0';
  struct test_column columns[] = {
      column_int64("k", keys, valid, n), column_strings("s", "u", strings, n),
      column_list("l", "+l", offsets, NULL, n, column_int64("item", items, NULL, n_items))};
  free(keys);
  free(items);
  free(offsets);
  free(valid);
  free(texts);
  free(strings);
  return batch_of(columns, 3);
}

void output_index(const char *name, const uint64_t *offsets, int64_t partitions, int big_endian) {
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct ashuf_error error;
  enum index_order order = big_endian ? INDEX_BIG_ENDIAN : INDEX_LITTLE_ENDIAN;
  require(index_encode(offsets, partitions, order, &out, NULL, &error), &error);
  scratch_write(name, out.data, out.size);
  ashuf_buffer_free(&out);
}

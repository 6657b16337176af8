#include "support/writer_runs.h"

#include "support/blocks.h"
#include "support/map_outputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct run_rows run_rows_random(struct test_random *random, int64_t n_rows) {
  struct run_rows rows = {.n_rows = n_rows, .seed = random_next(random)};
  int n_all = 0;
  while (test_types[n_all] != NULL) n_all++;
  rows.n_types = 1 + (int)random_below(random, RUN_MAX_COLUMNS);
  for (int i = 0; i < rows.n_types; i++) rows.types[i] = test_types[random_below(random, n_all)];
  rows.placement = (enum run_placement)random_below(random, RUN_PLACEMENTS);
  rows.null_percent = random_below(random, 3) == 0 ? 0 : (int)random_below(random, 60);
  return rows;
}

struct ashuf_writer_options run_options(void) {
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  const struct ashuf_encode_options encode = ASHUF_ENCODE_OPTIONS_INIT;
  options.encode = encode;
  options.checksum = ASHUF_CHECKSUM_CRC32C;
  return options;
}

/* All rows, then cut to [first, first + n). */
static struct test_column make_rows(const struct run_rows *rows, int64_t first, int64_t n) {
  struct test_random random = {rows->seed};
  struct test_column columns[RUN_MAX_COLUMNS + 1];
  columns[0] = column_random("k", "l", &random, 10, rows->n_rows);
  for (int i = 0; i < rows->n_types; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "c%d", i);
    columns[i + 1] = column_random(name, rows->types[i], &random, rows->null_percent, rows->n_rows);
  }
  struct test_column batch = batch_of(columns, rows->n_types + 1);
  batch.array.offset = first;
  batch.array.length = n;
  return batch;
}

struct test_column run_rows_batch(const struct run_rows *rows) {
  return make_rows(rows, 0, rows->n_rows);
}

/* Bounds that part the keys about evenly. */
static struct test_column even_bounds(int32_t partitions) {
  int64_t n = partitions > 1 ? partitions - 1 : 0;
  int64_t *values = malloc(((size_t)n + 1) * sizeof *values);
  if (values == NULL) abort();
  for (int64_t i = 0; i < n; i++)
    values[i] =
        (int64_t)(((uint64_t)1 << 63) + UINT64_MAX / (uint64_t)partitions * (uint64_t)(i + 1));
  struct test_column column = column_int64("k", values, NULL, n);
  free(values);
  return batch_of(&column, 1);
}

ashuf_partitioner *run_partitioner(const struct run_rows *rows, int32_t partitions) {
  static const int kinds[] = {ASHUF_PARTITION_HASH, ASHUF_PARTITION_RANGE,
                              ASHUF_PARTITION_ROUND_ROBIN, ASHUF_PARTITION_ROUND_ROBIN,
                              ASHUF_PARTITION_SINGLE};
  static const int32_t key[] = {0};
  struct ashuf_partitioning how = ASHUF_PARTITIONING_INIT;
  struct test_column model = make_rows(rows, 0, 0);
  struct test_column bounds = even_bounds(partitions);
  ashuf_schema *schema = NULL;
  ashuf_partitioner *partitioner = NULL;
  how.kind = kinds[rows->placement];
  how.partitions = partitions;
  how.keys = key;
  how.n_keys = how.kind == ASHUF_PARTITION_HASH || how.kind == ASHUF_PARTITION_RANGE;
  if (how.kind == ASHUF_PARTITION_RANGE) how.bounds = &bounds.array;
  if (how.kind == ASHUF_PARTITION_ROUND_ROBIN) how.max_hash_columns = 1;
  if (rows->placement == RUN_BY_POSITION) {
    how.round_robin = ASHUF_ROUND_ROBIN_POSITIONAL;
    how.group_rows = 1 + (int64_t)(rows->seed % 50);
  }
  assert_int_equal(ashuf_schema_import(&model.schema, NULL, &schema, NULL), ASHUF_OK);
  assert_int_equal(ashuf_partitioner_new(schema, &how, NULL, &partitioner, NULL), ASHUF_OK);
  ashuf_schema_free(schema);
  column_free(&bounds);
  column_free(&model);
  return partitioner;
}

static int take_begin(void *user_data, int32_t partition) {
  struct run_output *out = user_data;
  (void)partition;
  out->begun++;
  return 0;
}
static int take_bytes(void *user_data, const void *bytes, size_t size) {
  struct run_output *out = user_data;
  out->bytes = realloc(out->bytes, out->size + size);
  if (out->bytes == NULL) abort();
  memcpy(out->bytes + out->size, bytes, size);
  out->size += size;
  return 0;
}
static int take_finish(void *user_data, const struct ashuf_map_output *numbers) {
  struct run_output *out = user_data;
  assert_int_equal(numbers->offsets[numbers->partitions], out->size);
  out->finished++;
  return 0;
}
static void take_abort(void *user_data) {
  struct run_output *out = user_data;
  out->aborted++;
}

static void *copy(const void *bytes, size_t size) {
  void *out = malloc(size);
  if (out == NULL) abort();
  memcpy(out, bytes, size);
  return out;
}

static void keep_numbers(struct run_output *out) {
  size_t n = (size_t)out->numbers.partitions;
  out->numbers.offsets = copy(out->numbers.offsets, (n + 1) * sizeof(uint64_t));
  out->numbers.rows = copy(out->numbers.rows, n * sizeof(int64_t));
  if (out->numbers.checksums != NULL)
    out->numbers.checksums = copy(out->numbers.checksums, n * sizeof(uint32_t));
}

static ashuf_status push_all(ashuf_writer *writer, const struct run_rows *rows,
                             const struct run_batch_sizes *sizes, run_hook hook, void *data,
                             struct ashuf_error *error) {
  struct test_random random = {sizes->seed};
  int64_t batch = 0;
  for (int64_t first = 0; first < rows->n_rows; batch++) {
    int64_t n = random_below(&random, sizes->most + 1);
    if (n > rows->n_rows - first) n = rows->n_rows - first;
    struct ArrowArray array = output_array(make_rows(rows, first, n));
    if (hook != NULL) hook(writer, batch, data);
    ashuf_status status = ashuf_writer_push(writer, &array, error);
    assert_true((array.release == NULL) == (status == ASHUF_OK));
    if (array.release != NULL) array.release(&array);
    if (status != ASHUF_OK) return status;
    first += n;
  }
  return ASHUF_OK;
}

void run_writer(const struct run_rows *rows, const struct run_batch_sizes *sizes,
                int32_t partitions, const struct ashuf_writer_options *options, run_hook hook,
                void *data, struct run_output *out) {
  struct ashuf_sink sink = ASHUF_SINK_INIT;
  ashuf_writer *writer = NULL;
  memset(out, 0, sizeof *out);
  out->numbers = (struct ashuf_map_output)ASHUF_MAP_OUTPUT_INIT;
  sink.user_data = out;
  sink.partition_begin = take_begin;
  sink.bytes = take_bytes;
  sink.finish = take_finish;
  sink.abort = take_abort;
  ashuf_partitioner *partitioner = run_partitioner(rows, partitions);
  out->status = ashuf_writer_open_sink(partitioner, options, &sink, &writer, &out->error);
  ashuf_partitioner_free(partitioner);
  if (out->status != ASHUF_OK) return;
  out->status = push_all(writer, rows, sizes, hook, data, &out->error);
  if (out->status == ASHUF_OK)
    out->status = ashuf_writer_finish(writer, &out->numbers, &out->error);
  if (out->status == ASHUF_OK) keep_numbers(out);
  ashuf_writer_close(writer);
  assert_int_equal(out->finished, out->status == ASHUF_OK);
  assert_int_equal(out->aborted, out->status != ASHUF_OK);
}

void run_expect_equal(const struct run_output *a, const struct run_output *b) {
  size_t n = (size_t)a->numbers.partitions;
  assert_int_equal(a->numbers.partitions, b->numbers.partitions);
  assert_memory_equal(a->numbers.rows, b->numbers.rows, n * sizeof(int64_t));
  assert_memory_equal(a->numbers.offsets, b->numbers.offsets, (n + 1) * sizeof(uint64_t));
  assert_int_equal(a->size, b->size);
  if (a->size != 0) assert_memory_equal(a->bytes, b->bytes, a->size);
  assert_memory_equal(a->numbers.checksums, b->numbers.checksums, n * sizeof(uint32_t));
  assert_int_equal(a->numbers.total_blocks, b->numbers.total_blocks);
  assert_int_equal(a->numbers.raw_bytes, b->numbers.raw_bytes);
  assert_int_equal(a->begun, b->begun);
}

/* The rows of the input that go to each partition, one partition after another. */
static int64_t *rows_in_order(const struct test_column *input, const struct run_rows *rows,
                              int32_t partitions) {
  struct ashuf_partition_cursor cursor = ASHUF_PARTITION_CURSOR_INIT;
  ashuf_partitioner *partitioner = run_partitioner(rows, partitions);
  int32_t *ids = malloc(((size_t)rows->n_rows + 1) * sizeof *ids);
  int64_t *order = malloc(((size_t)rows->n_rows + 1) * sizeof *order);
  int64_t n = 0;
  if (ids == NULL || order == NULL) abort();
  assert_int_equal(ashuf_partition_ids(partitioner, &cursor, &input->array, ids, NULL), ASHUF_OK);
  for (int32_t p = 0; p < partitions; p++)
    for (int64_t i = 0; i < rows->n_rows; i++)
      if (ids[i] == p) order[n++] = i;
  assert_int_equal(n, rows->n_rows);
  free(ids);
  ashuf_partitioner_free(partitioner);
  return order;
}

void run_expect_rows(const struct run_output *output, const struct run_rows *rows) {
  struct test_column input = run_rows_batch(rows);
  struct ashuf_buffer blocks = {.data = output->bytes, .size = output->size};
  int64_t *order = rows_in_order(&input, rows, output->numbers.partitions);
  ashuf_ctx *ctx = NULL;
  assert_int_equal(ashuf_ctx_new(NULL, &ctx, NULL), ASHUF_OK);
  int n = expect_blocks_equal(ctx, &blocks, NULL, &input, order, rows->n_rows);
  assert_int_equal(n, output->numbers.total_blocks);
  ashuf_ctx_free(ctx);
  free(order);
  column_free(&input);
}

void run_output_free(struct run_output *output) {
  if (output->status == ASHUF_OK) {
    free((void *)(uintptr_t)output->numbers.offsets);
    free((void *)(uintptr_t)output->numbers.rows);
    free((void *)(uintptr_t)output->numbers.checksums);
  }
  free(output->bytes);
}

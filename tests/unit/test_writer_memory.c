/* The writer under a memory limit, and under a host that has a word in it. */
#include "shuffle/writer.h"

#include "support/map_outputs.h"
#include "support/scratch.h"
#include "support/writer_files.h"
#include "support/writer_runs.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A host whose allocator asks for a spill at every turn. */
struct host {
  ashuf_writer *writer;
  int calls;
};
static void *host_allocate(void *user_data, size_t size, size_t alignment) {
  struct host *host = user_data;
  host->calls++;
  ashuf_writer_request_spill(host->writer);
  return alignment <= 16 ? malloc(size)
                         : aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
static void host_release(void *user_data, void *pointer, size_t size, size_t alignment) {
  struct host *host = user_data;
  (void)size;
  (void)alignment;
  ashuf_writer_request_spill(host->writer);
  free(pointer);
}
static void host_meet(ashuf_writer *writer, int64_t batch, void *data) {
  struct host *host = data;
  (void)batch;
  host->writer = writer;
}
static void host_leave(struct host *host) { host->writer = NULL; }

static void t23_a_spill_asked_for_inside_the_allocator_is_put_off(void **state) {
  (void)state;
  struct test_random random = {23};
  for (int i = 0; i < 10; i++) {
    struct run_rows rows = run_rows_random(&random, 400);
    struct run_batch_sizes sizes = {9, 60};
    struct ashuf_writer_options options = run_options();
    struct run_output expected, found;
    struct host host = {NULL, 0};
    struct ashuf_memory_options hooks = ASHUF_MEMORY_OPTIONS_INIT;
    options.encode.max_rows = 50;
    run_writer(&rows, &sizes, 12, &options, NULL, NULL, &expected);
    expect_status(expected.status, ASHUF_OK, &expected.error);
    hooks.allocate = host_allocate;
    hooks.release = host_release;
    hooks.user_data = &host;
    assert_int_equal(ashuf_memory_new(&hooks, &options.memory, NULL), ASHUF_OK);
    writer_round_bytes = i % 2 == 0 ? 2000 : 0;
    run_writer(&rows, &sizes, 12, &options, host_meet, &host, &found);
    writer_round_bytes = 0;
    host_leave(&host);
    expect_status(found.status, ASHUF_OK, &found.error);
    assert_true(found.numbers.spills > 1);
    run_expect_equal(&found, &expected);
    run_output_free(&found);
    run_output_free(&expected);
    ashuf_memory_free(options.memory);
  }
}

static void t23_a_spill_of_nothing_does_nothing(void **state) {
  (void)state;
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_writer_options options = run_options();
  ashuf_writer *writer = files_open(&options, 3, OUTPUT_INDEX);
  ashuf_writer_request_spill(writer);
  files_push(writer, 0, 0);
  ashuf_writer_request_spill(writer);
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  assert_int_equal(output.spills, 0);
  assert_int_equal(output.offsets[3], 0);
  ashuf_writer_close(writer);
}

/* A host that grants so many bytes and no more, to any thread. */
static pthread_mutex_t grants_lock = PTHREAD_MUTEX_INITIALIZER;
struct grants {
  uint64_t now;
  uint64_t most;
  uint64_t peak;
};
static int grow(void *user_data, uint64_t bytes) {
  struct grants *grants = user_data;
  pthread_mutex_lock(&grants_lock);
  int refused = bytes > grants->most - grants->now;
  if (!refused) grants->now += bytes;
  if (grants->now > grants->peak) grants->peak = grants->now;
  pthread_mutex_unlock(&grants_lock);
  return refused;
}
static void shrink(void *user_data, uint64_t bytes) {
  struct grants *grants = user_data;
  pthread_mutex_lock(&grants_lock);
  grants->now -= bytes;
  pthread_mutex_unlock(&grants_lock);
}

enum { REFUSED_ROWS = 150000 };

/* Writes files_open's rows with a host: the bytes, and in *output the numbers. NULL: it refused
 * too much, which is what the writer said. */
static uint8_t *write_under(struct grants *grants, int threads, int codec,
                            struct ashuf_map_output *output, size_t *size) {
  struct ashuf_memory_options hooks = ASHUF_MEMORY_OPTIONS_INIT;
  struct ashuf_writer_options options = run_options();
  struct ashuf_error error = {0};
  scratch_clear();
  hooks.grow = grow;
  hooks.shrink = shrink;
  hooks.user_data = grants;
  assert_int_equal(ashuf_memory_new(&hooks, &options.memory, NULL), ASHUF_OK);
  options.threads = threads;
  options.encode.codec = codec;
  options.encode.max_rows = 1000;
  ashuf_writer *writer = files_open(&options, 50, OUTPUT_INDEX);
  ashuf_status status = ASHUF_OK;
  for (int64_t i = 0; i < REFUSED_ROWS && status == ASHUF_OK; i += 1000) {
    struct ArrowArray batch = output_array(output_batch(i, 1000));
    status = ashuf_writer_push(writer, &batch, &error);
    if (batch.release != NULL) batch.release(&batch);
  }
  if (status == ASHUF_OK) status = ashuf_writer_finish(writer, output, &error);
  if (status != ASHUF_OK) expect_status(status, ASHUF_MEMORY_LIMIT, &error);
  ashuf_writer_close(writer);
  ashuf_memory_free(options.memory);
  assert_int_equal(grants->now, 0);
  if (status == ASHUF_OK) return scratch_read(OUTPUT_DATA, size);
  assert_int_equal(scratch_count(), 0);
  return NULL;
}

/* Whatever a host grants: the same bytes, from the smallest working set on up. */
static void refuse_from(uint64_t least, int threads, int codec) {
  struct ashuf_map_output all = ASHUF_MAP_OUTPUT_INIT;
  struct grants any = {0, UINT64_MAX, 0};
  size_t size, found_size;
  uint8_t *expected = write_under(&any, threads, codec, &all, &size);
  assert_non_null(expected);
  assert_int_equal(all.spills, 0);
  assert_int_equal(all.total_rows, REFUSED_ROWS);
  bool succeeded = false;
  for (uint64_t most = 400 << 10; most < 2 * any.peak; most *= 2) {
    struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
    struct grants few = {0, most, 0};
    uint8_t *found = write_under(&few, threads, codec, &output, &found_size);
    assert_true(found != NULL || (!succeeded && most < least));
    if (found == NULL) continue;
    succeeded = true;
    assert_int_equal(output.total_rows, REFUSED_ROWS);
    assert_true(output.spills > 0 || most > any.peak / 2);
    assert_int_equal(found_size, size);
    assert_memory_equal(found, expected, size);
    free(found);
  }
  assert_true(succeeded);
  free(expected);
}

static void a_host_that_refuses_makes_the_writer_spill(void **state) {
  (void)state;
  refuse_from((uint64_t)2 << 20, 1, ASHUF_CODEC_LZ4);
  refuse_from((uint64_t)2 << 20, 1, ASHUF_CODEC_ZSTD);
  refuse_from((uint64_t)3 << 20, 2, ASHUF_CODEC_LZ4);
}

static void t36_two_writers_and_a_reader_share_one_limit(void **state) {
  (void)state;
  enum { LIMIT = 24 << 20, BATCHES = 200, ROWS = 4000 };
  struct ashuf_memory_options limited = ASHUF_MEMORY_OPTIONS_INIT;
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  struct ashuf_writer_options options = run_options();
  struct ashuf_read_options read = ASHUF_READ_OPTIONS_INIT;
  struct ashuf_error error = {0};
  struct ArrowArrayStream stream;
  struct ArrowArray array;
  limited.limit = LIMIT;
  assert_int_equal(ashuf_memory_new(&limited, &options.memory, NULL), ASHUF_OK);
  options.encode.max_rows = 1000;
  ashuf_writer *source = files_open(&options, 5, OUTPUT_INDEX);
  for (int i = 0; i < BATCHES; i++) files_push(source, i * ROWS, ROWS);
  expect_status(ashuf_writer_finish(source, NULL, &error), ASHUF_OK, &error);
  ashuf_writer_close(source);
  const char *path = scratch_path(OUTPUT_DATA);
  read.memory = options.memory;
  expect_status(ashuf_read_files(&path, 1, &read, &stream, &error), ASHUF_OK, &error);
  ashuf_partitioner *partitioner = files_partitioner(5);
  ashuf_writer *writers[2];
  for (int i = 0; i < 2; i++)
    expect_status(
        ashuf_writer_open_files(partitioner, &options, scratch_path(i == 0 ? "a.data" : "b.data"),
                                NULL, &writers[i], &error),
        ASHUF_OK, &error);
  ashuf_partitioner_free(partitioner);
  int64_t rows = 0;
  for (int i = 0;; i++) {
    assert_int_equal(stream.get_next(&stream, &array), 0);
    if (array.release == NULL) break;
    rows += array.length;
    expect_status(ashuf_writer_push(writers[i % 2], &array, &error), ASHUF_OK, &error);
  }
  assert_int_equal(rows, BATCHES * ROWS);
  uint64_t spills = 0;
  rows = 0;
  for (int i = 0; i < 2; i++) {
    struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
    expect_status(ashuf_writer_finish(writers[i], &output, &error), ASHUF_OK, &error);
    spills += output.spills;
    rows += output.total_rows;
    ashuf_writer_close(writers[i]);
  }
  assert_int_equal(rows, BATCHES * ROWS);
  assert_true(spills > 0);
  stream.release(&stream);
  ashuf_memory_get_stats(options.memory, &stats);
  assert_true(stats.peak <= LIMIT);
  assert_int_equal(stats.now, 0);
  ashuf_memory_free(options.memory);
}

static void t6_rows_of_many_mebibytes_pass_under_a_limit(void **state) {
  (void)state;
  enum { SCALE = 16, LIMIT = (256 << 20) / SCALE };
  static const int mebibytes[] = {30, 36, 38, 50, 80, 1, 2};
  struct ashuf_memory_options limited = ASHUF_MEMORY_OPTIONS_INIT;
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  struct ashuf_writer_options options = run_options();
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_error error = {0};
  ashuf_writer *writer = NULL;
  limited.limit = LIMIT;
  assert_int_equal(ashuf_memory_new(&limited, &options.memory, NULL), ASHUF_OK);
  options.encode.max_body = (64 << 20) / SCALE;
  size_t largest = (80 << 20) / SCALE;
  uint8_t *bytes = malloc(largest);
  assert_non_null(bytes);
  struct test_random random = {6};
  for (size_t i = 0; i < largest; i++) bytes[i] = (uint8_t)random_next(&random);
  for (size_t i = 0; i < sizeof mebibytes / sizeof *mebibytes; i++) {
    int64_t offsets[] = {0, ((int64_t)mebibytes[i] << 20) / SCALE};
    struct test_column column = column_bytes("b", "z", offsets, bytes, NULL, 1);
    struct test_column batch = batch_of(&column, 1);
    if (writer == NULL) {
      ashuf_partitioner *partitioner = output_partitioner(&batch.schema, 1);
      expect_status(ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA), NULL,
                                            &writer, &error),
                    ASHUF_OK, &error);
      ashuf_partitioner_free(partitioner);
    }
    struct ArrowArray array = output_array(batch);
    expect_status(ashuf_writer_push(writer, &array, &error), ASHUF_OK, &error);
  }
  free(bytes);
  expect_status(ashuf_writer_finish(writer, &output, &error), ASHUF_OK, &error);
  assert_int_equal(output.total_rows, 7);
  assert_int_equal(output.total_blocks, 6); /* the last two rows fit into one */
  ashuf_writer_close(writer);
  ashuf_memory_get_stats(options.memory, &stats);
  assert_true(stats.peak <= LIMIT);
  ashuf_memory_free(options.memory);
}

static void buffers_that_batches_share_are_counted_once(void **state) {
  (void)state;
  struct buffer_set set;
  struct test_column batch = output_batch(0, 1000);
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  buffer_set_init(&set, NULL);
  assert_int_equal(buffer_set_add(&set, schema, &batch.array, NULL), ASHUF_OK);
  uint64_t once = set.bytes;
  assert_true(once > 1000 * 8);
  for (int i = 0; i < 10; i++)
    assert_int_equal(buffer_set_add(&set, schema, &batch.array, NULL), ASHUF_OK);
  assert_true(set.bytes < once + 20000); /* the structs alone */
  buffer_set_clear(&set);
  assert_int_equal(set.bytes, 0);
  assert_int_equal(buffer_set_add(&set, schema, &batch.array, NULL), ASHUF_OK);
  assert_int_equal(set.bytes, once);
  buffer_set_free(&set);
  ashuf_schema_free(schema);
  column_free(&batch);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(t23_a_spill_asked_for_inside_the_allocator_is_put_off),
      CASE(t23_a_spill_of_nothing_does_nothing),
      CASE(a_host_that_refuses_makes_the_writer_spill),
      CASE(t36_two_writers_and_a_reader_share_one_limit),
      CASE(t6_rows_of_many_mebibytes_pass_under_a_limit),
      CASE(buffers_that_batches_share_are_counted_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

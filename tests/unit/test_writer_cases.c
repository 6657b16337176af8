/* The writer under a memory limit, with a sink, with checksums: cases of the specification. */
#include "shuffle/writer.h"

#include "codec/checksum.h"
#include "support/map_outputs.h"
#include "support/scratch.h"
#include "support/writer_runs.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int setup(void **state) {
  (void)state;
  (void)scratch_begin();
  return 0;
}
static int teardown(void **state) {
  (void)state;
  scratch_end();
  return 0;
}

static void expect_status(ashuf_status found, ashuf_status wanted,
                          const struct ashuf_error *error) {
  if (found != wanted) print_error("%s\n", found == ASHUF_OK ? "success" : error->message);
  assert_int_equal(found, wanted);
}

static void push_rows(ashuf_writer *writer, int64_t first, int64_t n) {
  struct ArrowArray array = output_array(output_batch(first, n));
  struct ashuf_error error;
  expect_status(ashuf_writer_push(writer, &array, &error), ASHUF_OK, &error);
}

static ashuf_partitioner *new_partitioner(int32_t partitions) {
  struct test_column model = output_batch(0, 1);
  ashuf_partitioner *partitioner = output_partitioner(&model.schema, partitions);
  column_free(&model);
  return partitioner;
}

static ashuf_writer *open_files(const struct ashuf_writer_options *options, int32_t partitions,
                                const char *index_name) {
  struct ashuf_error error;
  ashuf_writer *writer = NULL;
  ashuf_partitioner *partitioner = new_partitioner(partitions);
  ashuf_status status = ashuf_writer_open_files(
      partitioner, options, scratch_path(OUTPUT_DATA),
      index_name != NULL ? scratch_path(index_name) : NULL, &writer, &error);
  ashuf_partitioner_free(partitioner);
  expect_status(status, ASHUF_OK, &error);
  return writer;
}

/* ---- Files -------------------------------------------------------------------------------- */

static void t37_without_an_index_path_offsets_are_in_memory_and_the_mode_is_heeded(void **state) {
  (void)state;
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_writer_options options = run_options();
  struct stat found;
  options.file_mode = 0640;
  options.checksum = ASHUF_CHECKSUM_ADLER32;
  ashuf_writer *writer = open_files(&options, 4, NULL);
  push_rows(writer, 0, 100);
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  assert_int_equal(stat(scratch_path(OUTPUT_DATA), &found), 0);
  assert_int_equal(found.st_mode & 07777, 0640);
  assert_int_equal((uint64_t)found.st_size, output.offsets[4]);
  assert_int_equal(stat(scratch_path("shuffle_1_7_0.checksum.ADLER32"), &found), 0);
  assert_int_equal(found.st_mode & 07777, 0640);
  ashuf_writer_close(writer);
  assert_int_equal(scratch_count(), 2);
}

static uint64_t big_endian(const uint8_t *bytes) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value = value << 8 | bytes[i];
  return value;
}

static void checksum_files_hold_one_number_a_partition(void **state) {
  (void)state;
  static const char *const names[] = {"shuffle_1_7_0.checksum.ADLER32",
                                      "shuffle_1_7_0.checksum.CRC32",
                                      "shuffle_1_7_0.checksum.CRC32C"};
  for (int kind = ASHUF_CHECKSUM_ADLER32; kind <= ASHUF_CHECKSUM_CRC32C; kind++) {
    struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
    struct ashuf_writer_options options = run_options();
    size_t size, data_size;
    scratch_clear();
    options.checksum = kind;
    options.index_order = ASHUF_INDEX_LITTLE_ENDIAN;
    ashuf_writer *writer = open_files(&options, 50, OUTPUT_INDEX);
    push_rows(writer, 0, 20);
    assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
    uint8_t *sums = scratch_read(names[kind - 1], &size);
    uint8_t *data = scratch_read(OUTPUT_DATA, &data_size);
    assert_int_equal(size, 50 * 8);
    int empty = 0;
    for (int p = 0; p < 50; p++) {
      size_t length = (size_t)(output.offsets[p + 1] - output.offsets[p]);
      uint32_t wanted =
          checksum_update(kind, checksum_begin(kind), data + output.offsets[p], length);
      assert_int_equal(big_endian(sums + 8 * p), wanted);
      assert_int_equal(output.checksums[p], wanted);
      if (length == 0) assert_int_equal(wanted, kind == ASHUF_CHECKSUM_ADLER32 ? 1 : 0);
      empty += length == 0;
    }
    assert_true(empty > 0);
    free(sums);
    free(data);
    ashuf_writer_close(writer);
    uint8_t *index = scratch_read(OUTPUT_INDEX, &size);
    assert_int_equal(index[size - 1], 0); /* little-endian: the high byte comes last */
    assert_int_not_equal(index[size - 8] | index[size - 7], 0);
    free(index);
    assert_int_equal(scratch_count(), 3);
  }
}

static void checksums_of_known_bytes(void **state) {
  (void)state;
  static const uint32_t wanted[] = {0, 0x091e01deu, 0xcbf43926u, 0xe3069283u};
  static const char bytes[] = "123456789";
  for (int kind = CHECKSUM_ADLER32; kind <= CHECKSUM_CRC32C; kind++) {
    uint32_t half = checksum_update(kind, checksum_begin(kind), bytes, 4);
    assert_int_equal(checksum_update(kind, half, bytes + 4, 5), wanted[kind]);
    assert_int_equal(checksum_update(kind, checksum_begin(kind), bytes, 9), wanted[kind]);
  }
}

/* ---- Spilling ----------------------------------------------------------------------------- */

static struct run_rows ints(int64_t n_rows) {
  struct run_rows rows = {{"i", "i", "i", "i", "i", "i", "i", "i"}, 8, 10, n_rows, 18};
  return rows;
}

static void t18_eleven_spills_with_64_descriptors_write_the_same(void **state) {
  (void)state;
  struct run_rows rows = ints(12000);
  struct run_batch_sizes all = {1, 100000};
  struct ashuf_writer_options options = run_options();
  struct run_output expected, found;
  struct rlimit before, few;
  run_writer(&rows, &all, 1000, &options, NULL, NULL, &expected);
  expect_status(expected.status, ASHUF_OK, &expected.error);
  assert_int_equal(expected.numbers.spills, 0);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  few = before;
  few.rlim_cur = 64;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  struct run_batch_sizes sizes = {5, 600};
  options.memory_limit = 64 << 10;
  run_writer(&rows, &sizes, 1000, &options, NULL, NULL, &found);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  expect_status(found.status, ASHUF_OK, &found.error);
  assert_true(found.numbers.spills >= 11);
  run_expect_equal(&found, &expected);
  run_output_free(&found);
  run_output_free(&expected);
}

static void t20_a_spill_file_cut_short_is_an_error(void **state) {
  (void)state;
  for (int cut = 0; cut < 3; cut++) {
    struct ashuf_error error = {0};
    struct ashuf_writer_options options = run_options();
    ashuf_writer *writer = open_files(&options, 7, OUTPUT_INDEX);
    push_rows(writer, 0, 500);
    ashuf_writer_request_spill(writer);
    push_rows(writer, 500, 500);
    assert_int_equal(writer->spills.n_runs, 1);
    struct spill_file *file = &writer->spills.files[0];
    assert_int_equal(ftruncate(file->fd, cut == 0   ? (off_t)file->size - 1
                                         : cut == 1 ? 0
                                                    : (off_t)file->size / 2),
                     0);
    expect_status(ashuf_writer_finish(writer, NULL, &error), ASHUF_TRUNCATED, &error);
    assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_INVALID_STATE);
    ashuf_writer_close(writer);
    assert_int_equal(scratch_count(), 0);
  }
}

static void t21_many_spills_of_many_partitions_take_little_memory(void **state) {
  (void)state;
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  struct ashuf_writer_options options = run_options();
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_error error = {0};
  assert_int_equal(ashuf_memory_new(NULL, &options.memory, NULL), ASHUF_OK);
  options.memory_limit = 32 << 20;
  ashuf_writer *writer = open_files(&options, 16000, OUTPUT_INDEX);
  for (int64_t i = 0; i < 89; i++) {
    push_rows(writer, i * 400, 400);
    ashuf_writer_request_spill(writer);
  }
  ashuf_memory_get_stats(options.memory, &stats);
  uint64_t before = stats.now;
  expect_status(ashuf_writer_finish(writer, &output, &error), ASHUF_OK, &error);
  assert_int_equal(output.spills, 89);
  assert_int_equal(output.total_rows, 89 * 400);
  ashuf_writer_close(writer);
  ashuf_memory_get_stats(options.memory, &stats);
  assert_int_equal(stats.now, 0);
  assert_true(before < (4 << 20));
  assert_true(stats.peak < (24 << 20));
  ashuf_memory_free(options.memory);
}

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
  ashuf_writer *writer = open_files(&options, 3, OUTPUT_INDEX);
  ashuf_writer_request_spill(writer);
  push_rows(writer, 0, 0);
  ashuf_writer_request_spill(writer);
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  assert_int_equal(output.spills, 0);
  assert_int_equal(output.offsets[3], 0);
  ashuf_writer_close(writer);
}

/* A host that grants so many bytes and no more. */
struct grants {
  uint64_t now;
  uint64_t most;
  uint64_t peak;
};
static int grow(void *user_data, uint64_t bytes) {
  struct grants *grants = user_data;
  if (bytes > grants->most - grants->now) return 1;
  grants->now += bytes;
  if (grants->now > grants->peak) grants->peak = grants->now;
  return 0;
}
static void shrink(void *user_data, uint64_t bytes) {
  struct grants *grants = user_data;
  grants->now -= bytes;
}

static void a_host_that_refuses_makes_the_writer_spill(void **state) {
  (void)state;
  struct run_rows rows = ints(60000);
  struct run_batch_sizes sizes = {3, 2000};
  struct ashuf_writer_options options = run_options();
  struct run_output expected, found;
  struct grants grants = {0, 2 << 20, 0};
  struct ashuf_memory_options hooks = ASHUF_MEMORY_OPTIONS_INIT;
  run_writer(&rows, &sizes, 10, &options, NULL, NULL, &expected);
  hooks.grow = grow;
  hooks.shrink = shrink;
  hooks.user_data = &grants;
  assert_int_equal(ashuf_memory_new(&hooks, &options.memory, NULL), ASHUF_OK);
  run_writer(&rows, &sizes, 10, &options, NULL, NULL, &found);
  if (found.status == ASHUF_OK) {
    run_expect_equal(&found, &expected);
    assert_true(found.numbers.spills > 0);
  } else {
    /* What is refused while blocks are made cannot be had by spilling: it is said so. */
    assert_int_equal(found.status, ASHUF_MEMORY_LIMIT);
  }
  assert_int_equal(grants.now, 0);
  run_output_free(&found);
  run_output_free(&expected);
  ashuf_memory_free(options.memory);
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
  ashuf_writer *source = open_files(&options, 5, OUTPUT_INDEX);
  for (int i = 0; i < BATCHES; i++) push_rows(source, i * ROWS, ROWS);
  expect_status(ashuf_writer_finish(source, NULL, &error), ASHUF_OK, &error);
  ashuf_writer_close(source);
  const char *path = scratch_path(OUTPUT_DATA);
  read.memory = options.memory;
  expect_status(ashuf_read_files(&path, 1, &read, &stream, &error), ASHUF_OK, &error);
  ashuf_partitioner *partitioner = new_partitioner(5);
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

static void t39_spilled_bytes_of_memory_and_disk_are_counted_apart(void **state) {
  (void)state;
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_writer_options options = run_options();
  struct stat found;
  options.spill_codec = ASHUF_CODEC_LZ4;
  options.memory_limit = 4 << 20;
  ashuf_writer *writer = open_files(&options, 3, OUTPUT_INDEX);
  for (int i = 0; i < 40; i++) push_rows(writer, 0, 8000); /* the same rows: they compress well */
  ashuf_writer_request_spill(writer);
  push_rows(writer, 0, 1);
  assert_int_equal(fstat(writer->spills.files[0].fd, &found), 0);
  uint64_t written = (uint64_t)found.st_size;
  assert_int_equal(writer->spills.bytes, written);
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  assert_int_equal(output.disk_spilled, written);
  assert_true(output.spills > 2);
  assert_true(output.memory_spilled > 40 * 8000 * 30);
  assert_true(output.disk_spilled < output.memory_spilled / 2);
  ashuf_writer_close(writer);
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

static void spill_directories_take_turns(void **state) {
  (void)state;
  struct ashuf_writer_options options = run_options();
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  char first[256], second[256];
  (void)snprintf(first, sizeof first, "%s", scratch_path("one"));
  (void)snprintf(second, sizeof second, "%s", scratch_path("two"));
  assert_int_equal(mkdir(first, 0700), 0);
  assert_int_equal(mkdir(second, 0700), 0);
  const char *directories[] = {first, second};
  options.spill_dirs = directories;
  options.n_spill_dirs = 2;
  ashuf_writer *writer = open_files(&options, 3, OUTPUT_INDEX);
  directories[0] = NULL; /* they were copied */
  for (int i = 0; i < 7; i++) {
    push_rows(writer, 100 * i, 100);
    ashuf_writer_request_spill(writer);
  }
  assert_int_equal(writer->spills.n_runs, 6);
  assert_true(writer->spills.files[0].size > 0 && writer->spills.files[1].size > 0);
  assert_int_equal(ashuf_writer_finish(writer, &output, NULL), ASHUF_OK);
  assert_int_equal(output.total_rows, 700);
  ashuf_writer_close(writer);
  assert_int_equal(rmdir(first), 0); /* empty */
  assert_int_equal(rmdir(second), 0);
}

static void a_spill_directory_that_is_not_there_is_an_error(void **state) {
  (void)state;
  const char *directory = scratch_path("nowhere");
  struct ashuf_writer_options options = run_options();
  struct ashuf_error error = {0};
  options.spill_dirs = &directory;
  options.n_spill_dirs = 1;
  ashuf_writer *writer = open_files(&options, 3, OUTPUT_INDEX);
  push_rows(writer, 0, 10);
  ashuf_writer_request_spill(writer);
  struct ArrowArray array = output_array(output_batch(0, 10));
  expect_status(ashuf_writer_push(writer, &array, &error), ASHUF_IO, &error);
  assert_int_equal(error.os_errno, ENOENT);
  assert_non_null(array.release); /* still the caller's */
  array.release(&array);
  ashuf_writer_close(writer);
  assert_int_equal(scratch_count(), 0);
}

/* ---- Giving up ---------------------------------------------------------------------------- */

static void t38_a_writer_left_half_way_leaves_nothing(void **state) {
  (void)state;
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  struct ashuf_writer_options options = run_options();
  assert_int_equal(ashuf_memory_new(NULL, &options.memory, NULL), ASHUF_OK);
  options.threads = 2;
  ashuf_writer *writer = open_files(&options, 3, OUTPUT_INDEX);
  push_rows(writer, 0, 1000);
  ashuf_writer_request_spill(writer);
  push_rows(writer, 1000, 1000);
  ashuf_writer_close(writer);
  ashuf_memory_get_stats(options.memory, &stats);
  assert_int_equal(stats.now, 0);
  assert_int_equal(scratch_count(), 0);
  ashuf_memory_free(options.memory);
}

/* A sink one of whose callbacks fails at the nth call. */
struct failing {
  int which;
  int left;
  int aborted;
};
static int fail_if(struct failing *failing, int which) {
  return failing->which == which && --failing->left == 0 ? EDQUOT : 0;
}
static int fail_begin(void *data, int32_t partition) {
  (void)partition;
  return fail_if(data, 0);
}
static int fail_bytes(void *data, const void *bytes, size_t size) {
  (void)bytes;
  (void)size;
  return fail_if(data, 1);
}
static int fail_end(void *data, int32_t partition, uint64_t size, uint32_t checksum) {
  (void)partition;
  (void)checksum;
  assert_true(size > 0);
  return fail_if(data, 2);
}
static int fail_finish(void *data, const struct ashuf_map_output *output) {
  (void)output;
  return fail_if(data, 3);
}
static void fail_abort(void *data) {
  struct failing *failing = data;
  failing->aborted++;
}

static void t38_a_sink_that_fails_is_aborted_once(void **state) {
  (void)state;
  for (int which = 0; which < 4; which++) {
    struct failing failing = {which, which == 3 ? 1 : 3, 0};
    struct ashuf_sink sink = {sizeof sink, &failing,    fail_begin, fail_bytes,
                              fail_end,    fail_finish, fail_abort};
    struct ashuf_writer_options options = run_options();
    struct ashuf_error error = {0};
    ashuf_writer *writer = NULL;
    ashuf_partitioner *partitioner = new_partitioner(20);
    options.threads = 1 + which % 2;
    assert_int_equal(ashuf_writer_open_sink(partitioner, &options, &sink, &writer, NULL), ASHUF_OK);
    ashuf_partitioner_free(partitioner);
    push_rows(writer, 0, 1000);
    expect_status(ashuf_writer_finish(writer, NULL, &error), ASHUF_IO, &error);
    assert_int_equal(error.os_errno, EDQUOT);
    assert_int_equal(failing.aborted, 1);
    assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_INVALID_STATE);
    ashuf_writer_close(writer);
    assert_int_equal(failing.aborted, 1);
  }
}

static void *cancel_soon(void *writer) {
  (void)usleep(2000);
  ashuf_writer_cancel(writer);
  return NULL;
}

static void another_thread_cancels(void **state) {
  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    struct ashuf_writer_options options = run_options();
    struct ashuf_error error = {0};
    pthread_t other;
    ashuf_status status = ASHUF_OK;
    options.threads = threads;
    options.memory_limit = 1 << 20;
    ashuf_writer *writer = open_files(&options, 10, OUTPUT_INDEX);
    assert_int_equal(pthread_create(&other, NULL, cancel_soon, writer), 0);
    while (status == ASHUF_OK) {
      struct ArrowArray array = output_array(output_batch(0, 1000));
      status = ashuf_writer_push(writer, &array, &error);
      if (array.release != NULL) array.release(&array);
    }
    expect_status(status, ASHUF_CANCELLED, &error);
    assert_int_equal(pthread_join(other, NULL), 0);
    ashuf_writer_close(writer);
    writer = open_files(&options, 10, OUTPUT_INDEX);
    push_rows(writer, 0, 1000);
    ashuf_writer_cancel(writer);
    expect_status(ashuf_writer_finish(writer, NULL, &error), ASHUF_CANCELLED, &error);
    ashuf_writer_close(writer);
    assert_int_equal(scratch_count(), 0);
  }
}

/* ---- What is shared is counted once ------------------------------------------------------- */

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

static void wrong_options_are_refused(void **state) {
  (void)state;
  ashuf_partitioner *partitioner = new_partitioner(2);
  ashuf_writer *writer = NULL;
  for (int i = 0; i < 5; i++) {
    struct ashuf_writer_options options = run_options();
    if (i == 0) options.checksum = 9;
    if (i == 1) options.threads = -1;
    if (i == 2) options.index_order = 2;
    if (i == 3) options.spill_codec = 77;
    if (i == 4) options.n_spill_dirs = 1;
    assert_int_equal(ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA), NULL,
                                             &writer, NULL),
                     ASHUF_INVALID_ARGUMENT);
    assert_null(writer);
  }
  ashuf_partitioner_free(partitioner);
  assert_int_equal(scratch_count(), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(t37_without_an_index_path_offsets_are_in_memory_and_the_mode_is_heeded),
      CASE(checksum_files_hold_one_number_a_partition),
      CASE(checksums_of_known_bytes),
      CASE(t18_eleven_spills_with_64_descriptors_write_the_same),
      CASE(t20_a_spill_file_cut_short_is_an_error),
      CASE(t21_many_spills_of_many_partitions_take_little_memory),
      CASE(t23_a_spill_asked_for_inside_the_allocator_is_put_off),
      CASE(t23_a_spill_of_nothing_does_nothing),
      CASE(a_host_that_refuses_makes_the_writer_spill),
      CASE(t36_two_writers_and_a_reader_share_one_limit),
      CASE(t39_spilled_bytes_of_memory_and_disk_are_counted_apart),
      CASE(t6_rows_of_many_mebibytes_pass_under_a_limit),
      CASE(spill_directories_take_turns),
      CASE(a_spill_directory_that_is_not_there_is_an_error),
      CASE(t38_a_writer_left_half_way_leaves_nothing),
      CASE(t38_a_sink_that_fails_is_aborted_once),
      CASE(another_thread_cancels),
      CASE(buffers_that_batches_share_are_counted_once),
      CASE(wrong_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

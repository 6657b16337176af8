/* One map output: its blocks read one by one. */
#include "shuffle/map_file.h"

#include "base/buffer.h"
#include "base/bytes.h"
#include "shuffle/index.h"
#include "support/arrays.h"
#include "support/fault.h"
#include "support/map_outputs.h"
#include "support/os_faults.h"
#include "support/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define DATA "shuffle_3_42_0.data"
#define INDEX "shuffle_3_42_0.index"

static ashuf_status open_scratch(int require_index, ashuf_memory *memory, ashuf_map_file **out,
                                 struct ashuf_error *error) {
  return ashuf_map_file_open(scratch_path(DATA), NULL, require_index, memory, out, error);
}

/* ---- Blocks ------------------------------------------------------------------------------- */

/* Appends blocks of one int64 column: first, first + 1, ... */
static void append_block(struct ashuf_buffer *out, int64_t first, int64_t n, int codec) {
  int64_t values[64];
  for (int64_t i = 0; i < n; i++) values[i] = first + i;
  struct test_column column = column_int64("v", values, NULL, n);
  struct test_column batch = batch_of(&column, 1);
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  ashuf_schema *schema;
  ashuf_ctx *ctx;
  options.codec = codec;
  options.layout = ASHUF_LAYOUT_ARROW_RS;
  assert_int_equal(ashuf_schema_import(&batch.schema, NULL, &schema, NULL), ASHUF_OK);
  assert_int_equal(ashuf_ctx_new(NULL, &ctx, NULL), ASHUF_OK);
  assert_int_equal(ashuf_block_encode(ctx, schema, &batch.array, &options, out, NULL), ASHUF_OK);
  ashuf_ctx_free(ctx);
  ashuf_schema_free(schema);
  column_free(&batch);
}

/* Partitions of 2, 0 and 1 blocks; offsets has room for 4. */
static void write_three_blocks(uint64_t *offsets, int codec) {
  struct ashuf_buffer data = ASHUF_BUFFER_INIT;
  offsets[0] = 0;
  append_block(&data, 0, 10, codec);
  append_block(&data, 100, 20, codec);
  offsets[1] = offsets[2] = data.size;
  append_block(&data, 200, 30, codec);
  offsets[3] = data.size;
  scratch_write(DATA, data.data, data.size);
  output_index(INDEX, offsets, 3, 1);
  ashuf_buffer_free(&data);
}

struct reading {
  ashuf_map_file *file;
  ashuf_ctx *ctx;
  struct ashuf_block_cursor cursor;
  struct ashuf_block_cursor at;
  const ashuf_schema *schema;
  struct ArrowArray batch;
  struct ashuf_block_info info;
  struct ashuf_error error;
  int found;
};

static void reading_open(struct reading *reading, ashuf_memory *memory) {
  memset(reading, 0, sizeof *reading);
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.memory = memory;
  reading->info = (struct ashuf_block_info)ASHUF_BLOCK_INFO_INIT;
  assert_int_equal(open_scratch(1, memory, &reading->file, NULL), ASHUF_OK);
  assert_int_equal(ashuf_ctx_new(&options, &reading->ctx, NULL), ASHUF_OK);
  assert_int_equal(ashuf_map_file_seek(reading->file, 0, -1, &reading->cursor, NULL), ASHUF_OK);
}

static ashuf_status reading_next(struct reading *r) {
  return ashuf_map_file_next(r->file, r->ctx, &r->cursor, NULL, &r->found, &r->at, &r->schema,
                             &r->batch, &r->info, &r->error);
}

static void reading_close(struct reading *reading) {
  ashuf_ctx_free(reading->ctx);
  ashuf_map_file_close(reading->file);
}

static void expect_block(struct reading *r, int64_t partition, int64_t block, int64_t first,
                         int64_t n) {
  assert_int_equal(reading_next(r), ASHUF_OK);
  assert_int_equal(r->found, 1);
  assert_int_equal(r->at.partition, partition);
  assert_int_equal(r->at.block, block);
  assert_int_equal(r->batch.length, n);
  assert_int_equal(r->info.rows, n);
  const int64_t *values = r->batch.children[0]->buffers[1];
  assert_int_equal(values[0], first);
  assert_int_equal(values[n - 1], first + n - 1);
  r->batch.release(&r->batch);
}

static void blocks_come_in_order_with_their_places(void **state) {
  (void)state;
  static const int codecs[] = {ASHUF_CODEC_NONE, ASHUF_CODEC_LZ4};
  for (size_t i = 0; i < 2; i++) {
    uint64_t offsets[4];
    struct reading r;
    write_three_blocks(offsets, codecs[i]);
    reading_open(&r, NULL);
    expect_block(&r, 0, 0, 0, 10);
    assert_int_equal(r.at.offset, 0);
    assert_int_equal(r.cursor.offset, r.info.size);
    expect_block(&r, 0, 1, 100, 20);
    expect_block(&r, 2, 0, 200, 30);
    assert_int_equal(r.at.offset, offsets[2]);
    assert_int_equal(reading_next(&r), ASHUF_OK);
    assert_int_equal(r.found, 0);
    assert_int_equal(reading_next(&r), ASHUF_OK);
    assert_int_equal(r.found, 0);
    reading_close(&r);
  }
}

static void an_uncompressed_body_is_aligned_to_64_without_a_copy(void **state) {
  (void)state;
  uint64_t offsets[4];
  struct reading r;
  write_three_blocks(offsets, ASHUF_CODEC_NONE);
  reading_open(&r, NULL);
  assert_int_equal(reading_next(&r), ASHUF_OK);
  assert_int_equal((uintptr_t)r.batch.children[0]->buffers[1] % 64, 0);
  /* A batch outlives the file and the context. */
  reading_close(&r);
  assert_int_equal(((const int64_t *)r.batch.children[0]->buffers[1])[9], 9);
  r.batch.release(&r.batch);
}

static void a_partition_range_is_all_that_is_read(void **state) {
  (void)state;
  uint64_t offsets[4];
  struct reading r;
  write_three_blocks(offsets, ASHUF_CODEC_LZ4);
  reading_open(&r, NULL);
  assert_int_equal(ashuf_map_file_seek(r.file, 0, 2, &r.cursor, NULL), ASHUF_OK);
  expect_block(&r, 0, 0, 0, 10);
  expect_block(&r, 0, 1, 100, 20);
  assert_int_equal(reading_next(&r), ASHUF_OK);
  assert_int_equal(r.found, 0);
  reading_close(&r);
}

static void a_cursor_from_elsewhere_is_refused(void **state) {
  (void)state;
  uint64_t offsets[4];
  struct reading r;
  write_three_blocks(offsets, ASHUF_CODEC_NONE);
  reading_open(&r, NULL);
  const struct ashuf_block_cursor bad[] = {
      {0, 4, 0, 0},  {-1, 3, 0, 0}, {3, 2, 0, 0}, {0, 3, 0, UINT64_MAX}, {2, 3, 0, offsets[2] - 1},
      {0, -1, 0, 0},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    r.cursor = bad[i];
    assert_int_equal(reading_next(&r), ASHUF_INVALID_ARGUMENT);
    assert_int_equal(r.error.site, SITE_MAP_CURSOR);
  }
  reading_close(&r);
}

/* A damaged block in partition 0 says where it is; partition 2 can be read afterwards. */
static void expect_damage(ashuf_status status, int64_t block, uint64_t block_offset) {
  struct reading r;
  ashuf_memory *memory;
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  reading_open(&r, memory);
  while (r.at.block < block || block == 0) {
    ashuf_status found = reading_next(&r);
    if (found != ASHUF_OK) {
      assert_int_equal(found, status);
      break;
    }
    r.batch.release(&r.batch);
    assert_int_equal(r.at.partition, 0);
  }
  if (r.error.status == 0) assert_int_equal(reading_next(&r), status);
  assert_int_equal(r.error.status, status);
  assert_int_equal(r.error.map, 42);
  assert_int_equal(r.error.partition, 0);
  assert_int_equal(r.error.block, block);
  assert_int_equal(r.error.block_offset, block_offset);
  assert_non_null(strstr(r.error.message, DATA ": partition 0, block "));
  expect_block(&r, 2, 0, 200, 30);
  reading_close(&r);
  ashuf_memory_get_stats(memory, &stats);
  assert_int_equal(stats.now, 0);
  assert_true(stats.peak < 1 << 20);
  ashuf_memory_free(memory);
}

static uint8_t *damage(size_t *size) {
  uint8_t *bytes = scratch_read(DATA, size);
  assert_non_null(bytes);
  return bytes;
}

static void t24_lengths_that_cannot_be_are_errors_without_allocation(void **state) {
  (void)state;
  static const struct {
    uint64_t length;
    ashuf_status status;
  } cases[] = {
      {0, ASHUF_BAD_HEADER},          {7, ASHUF_BAD_HEADER},          {11, ASHUF_BAD_HEADER},
      {UINT64_MAX, ASHUF_BAD_HEADER}, {1ull << 31, ASHUF_BAD_HEADER}, {INT64_MAX, ASHUF_BAD_HEADER},
      {INT32_MAX, ASHUF_TRUNCATED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t offsets[4];
    size_t size;
    write_three_blocks(offsets, ASHUF_CODEC_NONE);
    uint8_t *bytes = damage(&size);
    store_u64(bytes, cases[i].length);
    scratch_write(DATA, bytes, size);
    free(bytes);
    expect_damage(cases[i].status, 0, 0);
  }
}

static void t24_a_block_longer_than_its_partition(void **state) {
  (void)state;
  uint64_t offsets[4];
  size_t size;
  write_three_blocks(offsets, ASHUF_CODEC_NONE);
  uint8_t *bytes = damage(&size);
  uint64_t second = load_u64(bytes) + 8;
  store_u64(bytes + second, load_u64(bytes + second) + 1);
  scratch_write(DATA, bytes, size);
  free(bytes);
  expect_damage(ASHUF_TRUNCATED, 1, second);
}

static void t24_a_block_shorter_than_its_partition(void **state) {
  (void)state;
  uint64_t offsets[4];
  struct ashuf_buffer data = ASHUF_BUFFER_INIT;
  append_block(&data, 0, 10, ASHUF_CODEC_NONE);
  uint64_t second = data.size;
  assert_true(buffer_append(&data, NULL, "0123456789012345678", 19));
  offsets[0] = 0;
  offsets[1] = offsets[2] = data.size;
  append_block(&data, 200, 30, ASHUF_CODEC_NONE);
  offsets[3] = data.size;
  scratch_write(DATA, data.data, data.size);
  output_index(INDEX, offsets, 3, 0);
  ashuf_buffer_free(&data);
  expect_damage(ASHUF_TRUNCATED, 1, second);
}

static void an_unknown_codec_is_named_with_its_place(void **state) {
  (void)state;
  uint64_t offsets[4];
  size_t size;
  write_three_blocks(offsets, ASHUF_CODEC_NONE);
  uint8_t *bytes = damage(&size);
  memcpy(bytes + 16, "BROT", 4);
  scratch_write(DATA, bytes, size);
  free(bytes);
  expect_damage(ASHUF_UNKNOWN_CODEC, 0, 0);
}

/* The file was cut behind our back, after it was opened. */
static void a_file_that_shrinks_while_it_is_read_is_truncated(void **state) {
  (void)state;
  uint64_t offsets[4];
  size_t size;
  struct reading r;
  write_three_blocks(offsets, ASHUF_CODEC_NONE);
  reading_open(&r, NULL);
  uint8_t *bytes = damage(&size);
  scratch_write(DATA, bytes, 30);
  free(bytes);
  assert_int_equal(reading_next(&r), ASHUF_TRUNCATED);
  assert_int_equal(r.error.space, ASHUF_SPACE_FILE);
  assert_int_equal(r.error.offset, 30);
  reading_close(&r);
}

/* ---- Faults ------------------------------------------------------------------------------- */

static ashuf_status read_all(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  (void)data;
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  struct ashuf_block_cursor cursor;
  ashuf_map_file *file = NULL;
  ashuf_ctx *ctx = NULL;
  int found = 1;
  options.memory = memory;
  options.schema_cache_entries = UINT32_MAX; /* a cache may do without memory */
  ashuf_status status = open_scratch(1, memory, &file, error);
  if (status == ASHUF_OK) status = ashuf_ctx_new(&options, &ctx, error);
  if (status == ASHUF_OK) status = ashuf_map_file_seek(file, 0, -1, &cursor, error);
  while (status == ASHUF_OK && found) {
    const ashuf_schema *schema;
    struct ArrowArray batch;
    status =
        ashuf_map_file_next(file, ctx, &cursor, NULL, &found, NULL, &schema, &batch, NULL, error);
    if (status == ASHUF_OK && found) batch.release(&batch);
  }
  ashuf_ctx_free(ctx);
  ashuf_map_file_close(file);
  return status;
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state) {
  (void)state;
  uint64_t offsets[4];
  write_three_blocks(offsets, ASHUF_CODEC_NONE);
  fault_sweep(read_all, NULL);
}

static void every_failed_call_is_reported(void **state) {
  (void)state;
  uint64_t offsets[4];
  write_three_blocks(offsets, ASHUF_CODEC_LZ4);
  os_faults_start(FAULT_NONE, 0, 0);
  assert_int_equal(read_all(NULL, NULL, NULL), ASHUF_OK);
  int n = os_faults_calls();
  for (int i = 1; i <= n; i++) {
    struct ashuf_error error = {0};
    os_faults_start(FAULT_ERROR, i, EIO);
    ashuf_status status = read_all(NULL, &error, NULL);
    /* A close that fails loses nothing of what was read. */
    if (strcmp(os_faults_name(), "close") == 0) {
      assert_int_equal(status, ASHUF_OK);
    } else {
      assert_int_equal(status, ASHUF_IO);
      assert_int_equal(error.os_errno, EIO);
    }
    assert_int_equal(os_faults_open(), 0);
    os_faults_start(FAULT_EINTR, i, 0);
    assert_int_equal(read_all(NULL, NULL, NULL), ASHUF_OK);
    os_faults_start(FAULT_SHORT, i, 0);
    assert_int_equal(read_all(NULL, NULL, NULL), ASHUF_OK);
  }
  os_faults_stop();
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(blocks_come_in_order_with_their_places),
      TEST(an_uncompressed_body_is_aligned_to_64_without_a_copy),
      TEST(a_partition_range_is_all_that_is_read),
      TEST(a_cursor_from_elsewhere_is_refused),
      TEST(t24_lengths_that_cannot_be_are_errors_without_allocation),
      TEST(t24_a_block_longer_than_its_partition),
      TEST(t24_a_block_shorter_than_its_partition),
      TEST(an_unknown_codec_is_named_with_its_place),
      TEST(a_file_that_shrinks_while_it_is_read_is_truncated),
      TEST(every_failed_allocation_is_reported_and_leaks_nothing),
      TEST(every_failed_call_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is no Arrow data, what is cut and what is damaged: files and streams, byte by byte. */
#include "base/bytes.h"
#include "ipc/file_footer.h"
#include "ipc/stream_reader.h"
#include "support/fault.h"
#include "support/ipc_streams.h"
#include "support/os_faults.h"
#include "support/scratch.h"
#include "support/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_SIZE sizeof small_file
#define TAIL 10u
/* Where the footer's size stands. */
#define SIZE_AT (FILE_SIZE - TAIL)

static uint8_t stream_bytes[4096]; /* two batches of two columns, and the end mark */
static size_t stream_size;

static int setup(void **state) {
  (void)state;
  struct ashuf_buffer bytes = ASHUF_BUFFER_INIT;
  struct test_random random = {5};
  struct test_column batches[2];
  (void)scratch_begin();
  for (int i = 0; i < 2; i++) {
    struct test_column columns[2];
    columns[0] = column_random("i", "i", &random, 30, 3);
    columns[1] = column_random("u", "u", &random, 30, 3);
    batches[i] = batch_of(columns, 2);
  }
  ipc_stream_of(batches, 2, &bytes);
  assert_true(bytes.size <= sizeof stream_bytes);
  memcpy(stream_bytes, bytes.data, bytes.size);
  stream_size = bytes.size;
  ashuf_buffer_free(&bytes);
  for (int i = 0; i < 2; i++) column_free(&batches[i]);
  return 0;
}
static ashuf_status read_bytes(const void *bytes, size_t size, int64_t *rows,
                               struct ashuf_error *error) {
  scratch_write("it", bytes, size);
  return ipc_read_rows(scratch_path("it"), NULL, rows, error);
}

/* Every error says which file, and at which byte of it where it says a byte. */
static void expect_named(const struct ashuf_error *error, const char *name) {
  if (strstr(error->message, name) == NULL) fail_msg("no %s in: %s", name, error->message);
  if (strstr(strstr(error->message, name) + 1, name) != NULL) fail_msg("twice: %s", error->message);
  assert_true(error->space == ASHUF_SPACE_FILE || error->space == ASHUF_SPACE_NONE);
  assert_true(error->site != 0);
}

/* ---- What it is --------------------------------------------------------------------------- */

static void expect_not_arrow(const void *bytes, size_t size) {
  struct ashuf_error error;
  assert_int_equal(read_bytes(bytes, size, NULL, &error), ASHUF_NOT_ARROW);
  expect_named(&error, "/it: ");
  assert_int_equal(error.space, ASHUF_SPACE_FILE);
  assert_int_equal(error.offset, 0);
}

static void other_data_is_not_arrow(void **state) {
  (void)state;
  expect_not_arrow("", 0);
  expect_not_arrow("a", 1);
  expect_not_arrow("ARROW1", 6);
  expect_not_arrow("PAR1\x15\x04\x15\x10 and so on", 18);
  expect_not_arrow("date,delay\n2001-01-01,5\n", 24);
  expect_not_arrow("\0\0\0\0\0\0\0\0\0\0\0\0", 12);
  expect_not_arrow("\xa0\x03\0\0\0\0\0\0\x02\0\0\0\0\0\0\0LZ4_\x04\x22", 22); /* a block */
  expect_not_arrow("\xff\xff\xff", 3);
}

static void what_cannot_be_opened_says_why(void **state) {
  (void)state;
  struct ashuf_error error;
  assert_int_equal(ipc_read_rows(scratch_path("missing"), NULL, NULL, &error), ASHUF_IO);
  assert_int_equal(error.os_errno, ENOENT);
  expect_named(&error, "/missing");
  assert_int_equal(ipc_read_rows(scratch_path("."), NULL, NULL, &error), ASHUF_IO);
  assert_int_equal(error.os_errno, EISDIR);
  assert_int_equal(ipc_read_rows("/dev/null", NULL, NULL, &error), ASHUF_NOT_ARROW);
  expect_named(&error, "/dev/null: ");
}

static ashuf_status read_standard_input(const void *bytes, size_t size, int64_t *rows,
                                        struct ashuf_error *error) {
  scratch_write("in", bytes, size);
  int kept = dup(0);
  int fd = open(scratch_path("in"), O_RDONLY);
  assert_true(kept >= 0 && fd >= 0);
  assert_int_equal(dup2(fd, 0), 0);
  (void)close(fd);
  ashuf_status status = ipc_read_rows("-", NULL, rows, error);
  assert_int_equal(dup2(kept, 0), 0);
  (void)close(kept);
  return status;
}

static void standard_input_takes_both_forms(void **state) {
  (void)state;
  struct ashuf_error error;
  int64_t rows = 0;
  assert_int_equal(read_standard_input(small_file, FILE_SIZE, &rows, &error), ASHUF_OK);
  assert_int_equal(rows, 5);
  assert_int_equal(read_standard_input(stream_bytes, stream_size, &rows, &error), ASHUF_OK);
  assert_int_equal(rows, 6);
  assert_int_equal(read_standard_input("text, more text", 15, &rows, &error), ASHUF_NOT_ARROW);
  expect_named(&error, "standard input: ");
}

/* ---- Ends --------------------------------------------------------------------------------- */

static void every_end_of_a_stream_is_an_end(void **state) {
  (void)state;
  static const uint8_t old_mark[8] = {0};
  struct ashuf_error error;
  int64_t rows = 0;
  uint8_t bytes[sizeof stream_bytes + 16];
  size_t bare = stream_size - 8;
  memcpy(bytes, stream_bytes, stream_size);
  memcpy(bytes + stream_size, "whatever follows", 16);
  assert_int_equal(read_bytes(bytes, stream_size + 16, &rows, &error), ASHUF_OK);
  assert_int_equal(rows, 6);
  assert_int_equal(read_bytes(bytes, bare, &rows, &error), ASHUF_OK);
  assert_int_equal(rows, 6);
  memcpy(bytes + bare, old_mark, 8);
  assert_int_equal(read_bytes(bytes, bare + 4, &rows, &error), ASHUF_OK);
  assert_int_equal(read_bytes(bytes, bare + 8, &rows, &error), ASHUF_OK);
  assert_int_equal(rows, 6);
}

/* Cut anywhere, a stream is an error, but for the two ends of batches; never a wrong row count. */
static void a_cut_stream_is_told_at_every_byte(void **state) {
  (void)state;
  size_t clean = 0;
  for (size_t size = 0; size < stream_size; size++) {
    struct ashuf_error error;
    int64_t rows = 0;
    uint8_t *bytes = malloc(size + 1);
    memcpy(bytes, stream_bytes, size);
    ashuf_status status = read_bytes(bytes, size, &rows, &error);
    free(bytes);
    if (status == ASHUF_OK) {
      clean++;
      assert_int_equal(rows % 3, 0);
      continue;
    }
    assert_int_equal(status, size < 4 ? ASHUF_NOT_ARROW : ASHUF_TRUNCATED);
    expect_named(&error, "/it: ");
    assert_in_range(error.offset, 0, size);
  }
  assert_int_equal(clean, 3); /* behind the schema and behind each batch */
}

static void a_cut_file_is_told_at_every_byte(void **state) {
  (void)state;
  for (size_t size = 0; size < FILE_SIZE; size++) {
    struct ashuf_error error;
    int64_t rows = 0;
    assert_int_equal(read_bytes(small_file, size, &rows, &error),
                     size < 8 ? ASHUF_NOT_ARROW : ASHUF_TRUNCATED);
    expect_named(&error, "/it: ");
  }
}

/* ---- Damage ------------------------------------------------------------------------------- */

static void flip_every_byte(const uint8_t *data, size_t size) {
  static const uint8_t masks[] = {0x01, 0x80, 0xff};
  for (size_t at = 0; at < size; at++) {
    for (size_t k = 0; k < sizeof masks; k++) {
      struct ashuf_error error;
      int64_t rows = 0;
      uint8_t *bytes = malloc(size);
      memcpy(bytes, data, size);
      bytes[at] ^= masks[k];
      ashuf_status status = read_bytes(bytes, size, &rows, &error);
      free(bytes);
      if (status == ASHUF_OK) continue;
      expect_named(&error, "/it: ");
      assert_true(status >= 20 || status == ASHUF_SIZE_LIMIT || status == ASHUF_UNSUPPORTED);
    }
  }
}

static void no_flipped_byte_of_a_stream_does_harm(void **state) {
  (void)state;
  flip_every_byte(stream_bytes, stream_size);
}
static void no_flipped_byte_of_a_file_does_harm(void **state) {
  (void)state;
  flip_every_byte(small_file, FILE_SIZE);
}

static void expect_damage(const uint8_t *bytes, ashuf_status status, int site) {
  struct ashuf_error error;
  assert_int_equal(read_bytes(bytes, FILE_SIZE, NULL, &error), status);
  if (error.site != site) fail_msg("site %d, not %d: %s", error.site, site, error.message);
  expect_named(&error, "/it: ");
  assert_int_equal(error.space, ASHUF_SPACE_FILE);
}

static void a_small_file_is_read(void **state) {
  (void)state;
  struct ashuf_error error;
  int64_t rows = 0;
  assert_int_equal(read_bytes(small_file, FILE_SIZE, &rows, &error), ASHUF_OK);
  assert_int_equal(rows, 5);
}

static void damaged_footers_are_told(void **state) {
  (void)state;
  uint8_t bytes[FILE_SIZE];
  memcpy(bytes, small_file, FILE_SIZE);
  bytes[FILE_SIZE - 1] = '2';
  expect_damage(bytes, ASHUF_TRUNCATED, SITE_FOOTER_MAGIC);
  memcpy(bytes, small_file, FILE_SIZE);
  static const uint32_t sizes[] = {0, 0x80000000, 0xffffffff, 0x7fffffff, SIZE_AT - 7};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    store_u32(bytes + SIZE_AT, sizes[i]);
    expect_damage(bytes, ASHUF_BAD_FRAMING, SITE_FOOTER_SIZE);
  }
}

/* The footer's entry of a message, found by its offset. */
static uint8_t *find_block(uint8_t *bytes, int32_t *metadata) {
  uint32_t footer = load_u32(bytes + SIZE_AT);
  size_t start = SIZE_AT - footer;
  for (size_t at = start; at + 24 <= SIZE_AT; at += 4) {
    uint64_t offset = load_u64(bytes + at);
    *metadata = load_i32(bytes + at + 8);
    if (offset > 8 && offset < start && load_u32(bytes + offset) == 0xffffffff &&
        load_i32(bytes + offset + 4) == *metadata - 8)
      return bytes + at;
  }
  fail();
  return NULL;
}

static void blocks_outside_the_file_are_told(void **state) {
  (void)state;
  static const int64_t offsets[] = {0, 7, -8, INT64_MAX, INT64_MIN, FILE_SIZE};
  static const int64_t bodies[] = {-1, INT64_MAX, FILE_SIZE};
  uint8_t bytes[FILE_SIZE];
  int32_t metadata;
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    memcpy(bytes, small_file, FILE_SIZE);
    store_u64(find_block(bytes, &metadata), (uint64_t)offsets[i]);
    expect_damage(bytes, ASHUF_BAD_FRAMING, SITE_FOOTER_BLOCK);
  }
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    memcpy(bytes, small_file, FILE_SIZE);
    store_u64(find_block(bytes, &metadata) + 16, (uint64_t)bodies[i]);
    expect_damage(bytes, ASHUF_BAD_FRAMING, SITE_FOOTER_BLOCK);
  }
  memcpy(bytes, small_file, FILE_SIZE);
  store_u32(find_block(bytes, &metadata) + 8, 0);
  expect_damage(bytes, ASHUF_BAD_FRAMING, SITE_FOOTER_BLOCK);
}

static void blocks_that_are_not_the_message_are_told(void **state) {
  (void)state;
  uint8_t bytes[FILE_SIZE];
  int32_t metadata;
  memcpy(bytes, small_file, FILE_SIZE);
  uint8_t *block = find_block(bytes, &metadata);
  store_u64(block, 8); /* the schema's message */
  store_u32(block + 8, load_u32(bytes + 12) + 8);
  store_u64(block + 16, 0);
  expect_damage(bytes, ASHUF_BAD_FRAMING, SITE_READER_BLOCK);
  memcpy(bytes, small_file, FILE_SIZE);
  block = find_block(bytes, &metadata);
  store_u64(block + 16, load_u64(block + 16) - 8);
  expect_damage(bytes, ASHUF_BAD_FRAMING, SITE_READER_BLOCK);
}

/* ---- Limits, failures that stay, failing system calls -------------------------------------- */

static void a_body_above_the_limit_is_refused(void **state) {
  (void)state;
  struct ashuf_ipc_read_options options = ASHUF_IPC_READ_OPTIONS_INIT;
  struct ashuf_error error;
  options.max_decoded_bytes = 64;
  scratch_write("it", stream_bytes, stream_size);
  assert_int_equal(ipc_read_rows(scratch_path("it"), &options, NULL, &error), ASHUF_SIZE_LIMIT);
  assert_int_equal(error.site, SITE_READER_BODY_LIMIT);
  expect_named(&error, "/it: ");
}

static void a_failure_is_never_followed_by_an_end(void **state) {
  (void)state;
  struct ArrowArrayStream stream;
  struct ArrowArray batch;
  struct ArrowSchema schema;
  struct ashuf_error error;
  scratch_write("it", stream_bytes, stream_size - 9);
  assert_int_equal(ashuf_ipc_read_path(scratch_path("it"), NULL, &stream, NULL), ASHUF_OK);
  assert_int_equal(ashuf_stream_get_error(&stream, &error), 0);
  assert_int_equal(stream.get_next(&stream, &batch), 0);
  batch.release(&batch);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(stream.get_next(&stream, &batch), EINVAL);
    assert_int_equal(ashuf_stream_get_error(&stream, &error), 1);
    assert_int_equal(error.status, ASHUF_TRUNCATED);
    assert_string_equal(stream.get_last_error(&stream), error.message);
  }
  assert_int_equal(stream.get_schema(&stream, &schema), EINVAL);
  stream.release(&stream);
}

/* Batches may outlive their stream. */
static void batches_outlive_the_stream(void **state) {
  (void)state;
  struct ArrowArrayStream stream;
  struct ArrowArray batch;
  scratch_write("it", small_file, FILE_SIZE);
  assert_int_equal(ashuf_ipc_read_path(scratch_path("it"), NULL, &stream, NULL), ASHUF_OK);
  assert_int_equal(stream.get_next(&stream, &batch), 0);
  stream.release(&stream);
  assert_int_equal(((const int32_t *)batch.children[0]->buffers[1])[2], 3);
  assert_int_equal(batch.children[1]->dictionary->length, 2);
  batch.release(&batch);
}

static void expect_calls_stand(enum os_fault kind, ashuf_status status) {
  struct ashuf_error error;
  os_faults_start(FAULT_NONE, 0, 0);
  assert_int_equal(ipc_read_rows(scratch_path("it"), NULL, NULL, &error), ASHUF_OK);
  int calls = os_faults_calls();
  assert_true(calls > 5);
  for (int n = 1; n <= calls; n++) {
    int64_t rows = -1;
    os_faults_start(kind, n, EIO);
    ashuf_status got = ipc_read_rows(scratch_path("it"), NULL, &rows, &error);
    assert_int_equal(os_faults_open(), 0);
    bool closing = strcmp(os_faults_name(), "close") == 0;
    os_faults_stop();
    assert_int_equal(got, closing ? ASHUF_OK : status);
    if (got == ASHUF_OK) assert_true(rows > 0);
    if (got != ASHUF_OK) expect_named(&error, "/it");
  }
}

static void system_calls_may_fail_or_do_less(void **state) {
  (void)state;
  for (int form = 0; form < 2; form++) {
    scratch_write("it", form == 0 ? small_file : stream_bytes, form == 0 ? FILE_SIZE : stream_size);
    expect_calls_stand(FAULT_ERROR, ASHUF_IO);
    expect_calls_stand(FAULT_EINTR, ASHUF_OK);
    expect_calls_stand(FAULT_SHORT, ASHUF_OK);
  }
}

static ashuf_status read_with(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  struct ashuf_ipc_read_options options = ASHUF_IPC_READ_OPTIONS_INIT;
  options.memory = memory;
  return ipc_read_rows(data, &options, NULL, error);
}

static void a_file_stands_failing_allocations(void **state) {
  (void)state;
  char path[512];
  scratch_write("it", small_file, FILE_SIZE);
  (void)snprintf(path, sizeof path, "%s", scratch_path("it"));
  fault_sweep(read_with, path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_data_is_not_arrow),
      cmocka_unit_test(what_cannot_be_opened_says_why),
      cmocka_unit_test(standard_input_takes_both_forms),
      cmocka_unit_test(every_end_of_a_stream_is_an_end),
      cmocka_unit_test(a_cut_stream_is_told_at_every_byte),
      cmocka_unit_test(a_cut_file_is_told_at_every_byte),
      cmocka_unit_test(no_flipped_byte_of_a_stream_does_harm),
      cmocka_unit_test(no_flipped_byte_of_a_file_does_harm),
      cmocka_unit_test(a_small_file_is_read),
      cmocka_unit_test(damaged_footers_are_told),
      cmocka_unit_test(blocks_outside_the_file_are_told),
      cmocka_unit_test(blocks_that_are_not_the_message_are_told),
      cmocka_unit_test(a_body_above_the_limit_is_refused),
      cmocka_unit_test(a_failure_is_never_followed_by_an_end),
      cmocka_unit_test(batches_outlive_the_stream),
      cmocka_unit_test(system_calls_may_fail_or_do_less),
      cmocka_unit_test(a_file_stands_failing_allocations),
  };
  return cmocka_run_group_tests(tests, setup, scratch_teardown);
}

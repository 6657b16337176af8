/* The files of a writer: checksums, modes, what is in memory without an index. */
#include "codec/checksum.h"
#include "shuffle/writer.h"

#include "support/scratch.h"
#include "support/writer_files.h"
#include "support/writer_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

static void t37_without_an_index_path_offsets_are_in_memory_and_the_mode_is_heeded(void **state) {
  (void)state;
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_writer_options options = run_options();
  struct stat found;
  options.file_mode = 0640;
  options.checksum = ASHUF_CHECKSUM_ADLER32;
  ashuf_writer *writer = files_open(&options, 4, NULL);
  files_push(writer, 0, 100);
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
    ashuf_writer *writer = files_open(&options, 50, OUTPUT_INDEX);
    files_push(writer, 0, 20);
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

/* Readers would compare the new bytes with the old numbers. */
static void an_output_takes_the_checksums_of_the_one_it_replaces_away(void **state) {
  (void)state;
  static const int kinds[] = {ASHUF_CHECKSUM_ADLER32, ASHUF_CHECKSUM_CRC32C, ASHUF_CHECKSUM_CRC32,
                              ASHUF_CHECKSUM_NONE};
  for (int i = 0; i < 4; i++) {
    struct ashuf_writer_options options = run_options();
    const char *algorithm = NULL;
    ashuf_map_file *file = NULL;
    options.checksum = kinds[i];
    ashuf_writer *writer = files_open(&options, 5, OUTPUT_INDEX);
    files_push(writer, i, 100);
    if (i == 2) { /* given up: nothing changes */
      ashuf_writer_close(writer);
      writer = files_open(&options, 5, OUTPUT_INDEX);
      files_push(writer, i, 100);
    }
    assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_OK);
    ashuf_writer_close(writer);
    assert_int_equal(scratch_count(), kinds[i] == ASHUF_CHECKSUM_NONE ? 2 : 3);
    assert_int_equal(ashuf_map_file_open(scratch_path(OUTPUT_DATA), NULL, 1, NULL, &file, NULL),
                     ASHUF_OK);
    assert_int_equal(ashuf_map_file_load_checksums(file, &algorithm, NULL), ASHUF_OK);
    for (int64_t p = 0; p < 5; p++) {
      int compared = 0;
      assert_int_equal(ashuf_map_file_verify(file, p, &compared, NULL), ASHUF_OK);
      assert_int_equal(compared, kinds[i] != ASHUF_CHECKSUM_NONE);
    }
    ashuf_map_file_close(file);
  }
}

/* A struct in a struct is as ready for use as the one around it. */
static void options_inside_of_options_are_heeded_as_they_are_set(void **state) {
  (void)state;
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  struct ashuf_read_options read = ASHUF_READ_OPTIONS_INIT;
  struct ArrowArrayStream stream;
  size_t size;
  options.encode.codec = ASHUF_CODEC_NONE;
  read.decode.max_decoded_bytes = 16;
  ashuf_writer *writer = files_open(&options, 1, OUTPUT_INDEX);
  files_push(writer, 0, 100);
  assert_int_equal(ashuf_writer_finish(writer, NULL, NULL), ASHUF_OK);
  ashuf_writer_close(writer);
  uint8_t *data = scratch_read(OUTPUT_DATA, &size);
  assert_memory_equal(data + 16, "NONE", 4);
  free(data);
  const char *path = scratch_path(OUTPUT_DATA);
  assert_int_equal(ashuf_read_files(&path, 1, &read, &stream, NULL), ASHUF_SIZE_LIMIT);
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

static void wrong_options_are_refused(void **state) {
  (void)state;
  ashuf_partitioner *partitioner = files_partitioner(2);
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

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(t37_without_an_index_path_offsets_are_in_memory_and_the_mode_is_heeded),
      CASE(checksum_files_hold_one_number_a_partition),
      CASE(an_output_takes_the_checksums_of_the_one_it_replaces_away),
      CASE(options_inside_of_options_are_heeded_as_they_are_set),
      CASE(checksums_of_known_bytes),
      CASE(wrong_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

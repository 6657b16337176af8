/*
 * T22: what a writer takes of the machine's memory, as the kernel counts it: the most that was
 * resident since the writer was opened, minus what was then. In a process of its own, as memory
 * that other tests freed stays resident. Sanitizers have more of everything: skipped there.
 */
#include "support/map_outputs.h"
#include "support/scratch.h"

#include <ashuf/ashuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAVE_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define HAVE_SANITIZER 1
#endif
#endif
#ifndef HAVE_SANITIZER
#define HAVE_SANITIZER 0
#endif

enum { NUMBERS = 12, TEXTS = 4, COLUMNS = NUMBERS + TEXTS, ROWS = 8192, TEXT = 24 };
#define MIB ((uint64_t)1 << 20)

/* A line of /proc/self/status in bytes; 0: it is not there. */
static uint64_t status_bytes(const char *name) {
  char line[256];
  uint64_t kib = 0;
  FILE *file = fopen("/proc/self/status", "re");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, strlen(name)) == 0) kib = strtoull(line + strlen(name), NULL, 10);
  (void)fclose(file);
  return kib * 1024;
}

static bool forget_peak(void) {
  FILE *file = fopen("/proc/self/clear_refs", "we");
  if (file == NULL) return false;
  bool good = fputs("5", file) >= 0;
  return fclose(file) == 0 && good;
}

/* 8,192 rows, 12 columns of int64 (three with nulls) and 4 of text: some 1.4 MiB. */
static struct test_column make_batch(struct test_random *random) {
  static int64_t values[ROWS];
  static int64_t offsets[ROWS + 1];
  static char valid[ROWS + 1];
  static char bytes[ROWS * TEXT];
  struct test_column columns[COLUMNS];
  for (int i = 0; i < ROWS; i++) valid[i] = random_below(random, 10) == 0 ? '0' : '1';
  for (int c = 0; c < NUMBERS; c++) {
    for (int i = 0; i < ROWS; i++) values[i] = (int64_t)(random_next(random) >> (4 * c));
    columns[c] = column_int64("n", values, c % 4 == 3 ? valid : NULL, ROWS);
  }
  for (int c = NUMBERS; c < COLUMNS; c++) {
    for (int i = 0; i < ROWS; i++) offsets[i + 1] = offsets[i] + random_below(random, TEXT + 1);
    for (int i = 0; i < offsets[ROWS]; i++) bytes[i] = (char)('a' + random_below(random, 16));
    columns[c] = column_bytes("t", "u", offsets, bytes, NULL, ROWS);
  }
  return batch_of(columns, COLUMNS);
}

/* What the child tells. */
struct seen {
  ashuf_status status;
  uint64_t spills;
  uint64_t rows;
  uint64_t taken; /* resident at most, beyond what was at open */
  bool measured;
};

static void write_and_see(uint64_t limit, int64_t batches, struct seen *seen) {
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct test_random random = {22};
  struct test_column batch = make_batch(&random);
  ashuf_writer *writer = NULL;
  ashuf_partitioner *partitioner = output_partitioner(&batch.schema, 200);
  batch.array.release(&batch.array);
  batch.schema.release(&batch.schema);
  options.encode.codec = ASHUF_CODEC_LZ4;
  options.memory_limit = limit;
  seen->measured = forget_peak() && status_bytes("VmHWM:") != 0;
  uint64_t baseline = status_bytes("VmRSS:");
  seen->status = ashuf_writer_open_files(partitioner, &options, scratch_path(OUTPUT_DATA), NULL,
                                         &writer, NULL);
  for (int64_t i = 0; i < batches && seen->status == ASHUF_OK; i++) {
    struct ArrowArray array = output_array(make_batch(&random));
    seen->status = ashuf_writer_push(writer, &array, NULL);
  }
  if (seen->status == ASHUF_OK) seen->status = ashuf_writer_finish(writer, &output, NULL);
  seen->taken = status_bytes("VmHWM:") - baseline;
  seen->spills = output.spills;
  seen->rows = (uint64_t)output.total_rows;
  ashuf_writer_close(writer);
  ashuf_partitioner_free(partitioner);
}

static struct seen see_in_child(uint64_t limit, int64_t batches) {
  struct seen seen = {0};
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    write_and_see(limit, batches, &seen);
    _exit(write(ends[1], &seen, sizeof seen) == sizeof seen ? 0 : 1);
  }
  int status = 1;
  close(ends[1]);
  assert_int_equal(read(ends[0], &seen, sizeof seen), sizeof seen);
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  return seen;
}

/* The values of batches take four times the limit and more. */
static void stays_within(uint64_t limit, int64_t batches) {
  if (HAVE_SANITIZER) skip();
  struct seen seen = see_in_child(limit, batches);
  assert_int_equal(seen.status, ASHUF_OK);
  assert_int_equal(seen.rows, batches * ROWS);
  assert_true(seen.spills >= 3);
  if (!seen.measured) skip();
  if (seen.taken > limit + limit / 20 + 16 * MIB)
    print_error("%llu bytes of %llu\n", (unsigned long long)seen.taken, (unsigned long long)limit);
  assert_true(seen.taken <= limit + limit / 20 + 16 * MIB);
}

static void t22_memory_stays_within_64_mebibytes_and_what_is_allowed_for(void **state) {
  (void)state;
  stays_within(64 * MIB, 220);
}

static void t22_memory_stays_within_16_mebibytes_and_what_is_allowed_for(void **state) {
  (void)state;
  stays_within(16 * MIB, 80);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(t22_memory_stays_within_64_mebibytes_and_what_is_allowed_for),
      CASE(t22_memory_stays_within_16_mebibytes_and_what_is_allowed_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

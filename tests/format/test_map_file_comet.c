/*
 * Map outputs that Spark and Comet committed, against the rows they hold: every case of
 * data/comet is read whole, its index in Spark's byte order, its blocks counted by partition.
 */
#include "shuffle/map_file.h"

#include <ashuf/ipc.h>

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Rows of all blocks; fails the test on any error. */
static int64_t rows_of(const char *data_path, const char *index_path) {
  ashuf_map_file *file;
  ashuf_ctx *ctx;
  struct ashuf_block_cursor cursor;
  struct ashuf_error error = {0};
  int found = 1;
  int64_t rows = 0;
  ashuf_status status = ashuf_map_file_open(data_path, index_path, 1, NULL, &file, &error);
  if (status != ASHUF_OK) fail_msg("%s", error.message);
  assert_int_equal(ashuf_ctx_new(NULL, &ctx, NULL), ASHUF_OK);
  assert_int_equal(ashuf_map_file_seek(file, 0, -1, &cursor, NULL), ASHUF_OK);
  while (found) {
    const ashuf_schema *schema;
    struct ArrowArray batch;
    status =
        ashuf_map_file_next(file, ctx, &cursor, NULL, &found, NULL, &schema, &batch, NULL, &error);
    if (status != ASHUF_OK) fail_msg("%s", error.message);
    if (!found) break;
    rows += batch.length;
    batch.release(&batch);
  }
  ashuf_ctx_free(ctx);
  ashuf_map_file_close(file);
  return rows;
}

/* Rows of an Arrow stream file. */
static int64_t rows_expected(const char *path) {
  struct ArrowArrayStream stream;
  struct ashuf_error error = {0};
  int64_t rows = 0;
  if (ashuf_ipc_read_path(path, NULL, &stream, &error) != ASHUF_OK) fail_msg("%s", error.message);
  for (;;) {
    struct ArrowArray batch;
    if (stream.get_next(&stream, &batch) != 0) fail_msg("%s", stream.get_last_error(&stream));
    if (batch.release == NULL) break;
    rows += batch.length;
    batch.release(&batch);
  }
  stream.release(&stream);
  return rows;
}

/* Reads one case; returns how many map outputs it has. */
static int read_case(const char *folder) {
  char index_path[1200];
  char data_path[1200];
  int outputs = 0;
  int64_t rows = 0;
  DIR *list = opendir(folder);
  assert_non_null(list);
  for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
    size_t size = strlen(entry->d_name);
    if (size < 6 || strcmp(entry->d_name + size - 6, ".index") != 0) continue;
    (void)snprintf(index_path, sizeof index_path, "%s/%s", folder, entry->d_name);
    (void)snprintf(data_path, sizeof data_path, "%s/%.*s.data", folder, (int)size - 6,
                   entry->d_name);
    rows += rows_of(data_path, index_path);
    outputs++;
  }
  (void)closedir(list);
  if (outputs == 0) return 0;
  (void)snprintf(data_path, sizeof data_path, "%s/expected.arrows", folder);
  if (rows != rows_expected(data_path)) fail_msg("%s: %lld rows", folder, (long long)rows);
  return outputs;
}

static void every_output_of_spark_and_comet_is_read_whole(void **state) {
  (void)state;
  const char *root = getenv("ASHUF_TEST_DATA");
  char path[1000];
  int cases = 0;
  if (root == NULL) {
    print_message("skipped: ASHUF_TEST_DATA is not set\n");
    skip();
  }
  (void)snprintf(path, sizeof path, "%s/data/comet", root);
  DIR *list = opendir(path);
  assert_non_null(list);
  for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
    if (entry->d_name[0] == '.' || strchr(entry->d_name, '.') != NULL) continue;
    (void)snprintf(path, sizeof path, "%s/data/comet/%s", root, entry->d_name);
    cases += read_case(path) > 0;
  }
  (void)closedir(list);
  assert_true(cases > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_output_of_spark_and_comet_is_read_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

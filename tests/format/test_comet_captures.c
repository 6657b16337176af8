/*
 * Shuffle files that Spark with Comet wrote: every block decodes, and holds the rows that were
 * captured beside it. The captures have one expected batch a block, in the order map, partition,
 * block, with these three positions as its last columns.
 */
#include "support/blocks.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_MAPS 16
#define POSITION_COLUMNS 3

struct capture {
  char folder[1024];
  char maps[MAX_MAPS][256]; /* "shuffle_S_M_0" */
  size_t n_maps;
  struct ArrowArrayStream expected;
  struct ArrowSchema expected_schema;
  ashuf_ctx *ctx;
  int blocks;
};

static void fail_capture(const struct capture *capture, const char *what, const char *detail) {
  fail_msg("%s: %s: %s", capture->folder, what, detail);
}

static long map_number(const char *name) {
  const char *second = strchr(strchr(name, '_') + 1, '_');
  return strtol(second + 1, NULL, 10);
}

static int by_map(const void *a, const void *b) {
  long x = map_number(a);
  long y = map_number(b);
  return x < y ? -1 : x > y;
}

static void find_maps(struct capture *capture) {
  DIR *directory = opendir(capture->folder);
  assert_non_null(directory);
  for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    char *dot = strstr(entry->d_name, ".index");
    if (dot == NULL) continue;
    assert_true(capture->n_maps < MAX_MAPS);
    snprintf(capture->maps[capture->n_maps++], 256, "%.*s", (int)(dot - entry->d_name),
             entry->d_name);
  }
  closedir(directory);
  qsort(capture->maps, capture->n_maps, sizeof capture->maps[0], by_map);
}

static int32_t position(const struct ArrowArray *expected, int which) {
  const struct ArrowArray *column =
      expected->children[expected->n_children - POSITION_COLUMNS + which];
  return ((const int32_t *)column->buffers[1])[0];
}

static void expect_batch(struct capture *capture, const ashuf_schema *schema,
                         const struct ArrowArray *got, const struct ArrowArray *want) {
  struct ArrowSchema exported;
  assert_int_equal(ashuf_schema_export(schema, &exported, NULL), ASHUF_OK);
  assert_int_equal(got->length, want->length);
  assert_int_equal(got->n_children + POSITION_COLUMNS, want->n_children);
  for (int64_t c = 0; c < got->n_children; c++) {
    const struct ArrowSchema *want_schema = capture->expected_schema.children[c];
    assert_string_equal(exported.children[c]->name, want_schema->name);
    for (int64_t row = 0; row < got->length; row++) {
      char *a = value_text(exported.children[c], got->children[c], row);
      char *b = value_text(want_schema, want->children[c], row);
      if (strcmp(a, b) != 0) fail_capture(capture, a, b);
      free(a);
      free(b);
    }
  }
  exported.release(&exported);
}

static void expect_block(struct capture *capture, size_t map, const struct ashuf_block_cursor *at,
                         const ashuf_schema *schema, const struct ArrowArray *got) {
  struct ArrowArray want;
  memset(&want, 0, sizeof want);
  if (capture->expected.get_next(&capture->expected, &want) != 0 || want.release == NULL)
    fail_capture(capture, "fewer batches than blocks", "");
  assert_int_equal(position(&want, 0), map);
  assert_int_equal(position(&want, 1), at->partition);
  assert_int_equal(position(&want, 2), at->block);
  expect_batch(capture, schema, got, &want);
  want.release(&want);
  capture->blocks++;
}

static void check_map(struct capture *capture, size_t map) {
  char path[2048];
  snprintf(path, sizeof path, "%s/%s.data", capture->folder, capture->maps[map]);
  struct ashuf_error error;
  ashuf_map_file *file = NULL;
  if (ashuf_map_file_open(path, NULL, 1, NULL, &file, &error) != ASHUF_OK)
    fail_capture(capture, "open", error.message);
  struct ashuf_block_cursor cursor;
  assert_int_equal(ashuf_map_file_seek(file, 0, -1, &cursor, &error), ASHUF_OK);
  for (;;) {
    int found = 0;
    struct ashuf_block_cursor at;
    const ashuf_schema *schema = NULL;
    struct ArrowArray batch;
    if (ashuf_map_file_next(file, capture->ctx, &cursor, NULL, &found, &at, &schema, &batch, NULL,
                            &error) != ASHUF_OK)
      fail_capture(capture, "next", error.message);
    if (!found) break;
    expect_block(capture, map, &at, schema, &batch);
    batch.release(&batch);
  }
  ashuf_map_file_close(file);
}

static void check_capture(const char *root, const char *name, int *blocks) {
  struct capture capture;
  memset(&capture, 0, sizeof capture);
  snprintf(capture.folder, sizeof capture.folder, "%s/data/comet/%s", root, name);
  find_maps(&capture);
  assert_true(capture.n_maps > 0);
  char path[2048];
  snprintf(path, sizeof path, "%s/expected.arrows", capture.folder);
  struct ashuf_error error;
  if (ashuf_ipc_read_path(path, NULL, &capture.expected, &error) != ASHUF_OK)
    fail_capture(&capture, "expected", error.message);
  assert_int_equal(capture.expected.get_schema(&capture.expected, &capture.expected_schema), 0);
  assert_int_equal(ashuf_ctx_new(NULL, &capture.ctx, NULL), ASHUF_OK);
  for (size_t map = 0; map < capture.n_maps; map++) check_map(&capture, map);
  struct ArrowArray rest;
  memset(&rest, 0, sizeof rest);
  assert_int_equal(capture.expected.get_next(&capture.expected, &rest), 0);
  assert_null(rest.release);
  *blocks += capture.blocks;
  ashuf_ctx_free(capture.ctx);
  capture.expected_schema.release(&capture.expected_schema);
  capture.expected.release(&capture.expected);
}

static void every_capture_has_its_rows(void **state) {
  (void)state;
  const char *root = getenv("ASHUF_TEST_DATA");
  if (root == NULL || *root == '\0') skip();
  char path[1024];
  snprintf(path, sizeof path, "%s/data/comet", root);
  DIR *directory = opendir(path);
  assert_non_null(directory);
  int captures = 0;
  int blocks = 0;
  for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    if (strncmp(entry->d_name, "nat_", 4) != 0 && strncmp(entry->d_name, "byp_", 4) != 0 &&
        strncmp(entry->d_name, "srt_", 4) != 0)
      continue;
    check_capture(root, entry->d_name, &blocks);
    captures++;
  }
  closedir(directory);
  print_message("%d captures, %d blocks\n", captures, blocks);
  assert_true(captures >= 90);
  assert_true(blocks >= 446);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_capture_has_its_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

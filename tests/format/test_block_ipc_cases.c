/* Streams made to test a reader, and old findings of fuzzers, each as the content of one block:
 * accepted or refused as the manifest says, never for its type alone, and always with a place. */
#include "support/blocks.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST_COLUMNS 64

static ashuf_ctx *new_ctx(void) {
  ashuf_ctx *ctx = NULL;
  assert_int_equal(ashuf_ctx_new(NULL, &ctx, NULL), ASHUF_OK);
  return ctx;
}

static ashuf_status decode_as(ashuf_ctx *ctx, const uint8_t *stream, size_t size, uint64_t columns,
                              int validate, int64_t *rows, struct ashuf_error *error) {
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  struct ashuf_buffer block = ASHUF_BUFFER_INIT;
  struct ArrowArray batch;
  options.validate = validate;
  wrap_stream(stream, size, columns, &block);
  ashuf_status status = decode_block(ctx, block.data, block.size, &options, NULL, &batch, error);
  if (status == ASHUF_OK) {
    *rows = batch.length;
    batch.release(&batch);
  }
  ashuf_buffer_free(&block);
  return status;
}

/* The field count is not known from outside: the one that the schema has. */
static ashuf_status decode_stream(ashuf_ctx *ctx, const uint8_t *stream, size_t size, int validate,
                                  int64_t *rows, struct ashuf_error *error) {
  ashuf_status status = ASHUF_BAD_HEADER;
  for (uint64_t columns = 0; columns < MOST_COLUMNS && status == ASHUF_BAD_HEADER; columns++)
    status = decode_as(ctx, stream, size, columns, validate, rows, error);
  return status;
}

struct verdicts {
  int n;
  int wrong;
};

static void judge(ashuf_ctx *ctx, struct verdicts *verdicts, const char *name,
                  const uint8_t *stream, size_t size, const char *kind, int64_t want_rows) {
  struct ashuf_error error = {0};
  int64_t rows = 0;
  ashuf_status status = decode_stream(ctx, stream, size, ASHUF_VALIDATE_FULL, &rows, &error);
  verdicts->n++;
  bool good = true;
  if (strcmp(kind, "ok") == 0) good = status == ASHUF_OK && rows == want_rows;
  if (strcmp(kind, "bad") == 0)
    good = status != ASHUF_OK && status == error.status && error.space != ASHUF_SPACE_NONE;
  if (good) return;
  print_error("%s is %s, but: %s, %lld rows, %s (%d, space %d)\n", name, kind,
              status == ASHUF_OK ? "read" : "refused", (long long)rows,
              status == ASHUF_OK ? "" : error.message, (int)status, (int)error.space);
  verdicts->wrong++;
}

static void every_case_is_judged_as_its_manifest_says(void **state) {
  (void)state;
  size_t size = 0;
  char *manifest = (char *)read_test_data("data/ipc_cases/manifest.tsv", &size);
  if (manifest == NULL) skip();
  manifest = realloc(manifest, size + 1);
  manifest[size] = '\0';
  ashuf_ctx *ctx = new_ctx();
  struct verdicts verdicts = {0, 0};
  char *rest = NULL;
  (void)strtok_r(manifest, "\n", &rest); /* the heads of the columns */
  for (char *line = strtok_r(NULL, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    char name[256];
    char rows[32];
    char block[16];
    char path[300];
    size_t stream_size = 0;
    assert_int_equal(
        sscanf(line, "%255[^\t]\t%*[^\t]\t%*[^\t]\t%31[^\t]\t%*[^\t]\t%15[^\t]", name, rows, block),
        3);
    snprintf(path, sizeof path, "data/ipc_cases/%s", name);
    uint8_t *stream = read_test_data(path, &stream_size);
    assert_non_null(stream);
    judge(ctx, &verdicts, name, stream, stream_size, block, strtoll(rows, NULL, 10));
    int64_t unused;
    (void)decode_stream(ctx, stream, stream_size, ASHUF_VALIDATE_TRUSTED, &unused, NULL);
    free(stream);
  }
  ashuf_ctx_free(ctx);
  free(manifest);
  assert_true(verdicts.n >= 100);
  assert_int_equal(verdicts.wrong, 0);
}

static void every_finding_of_a_fuzzer_is_refused_for_what_is_wrong_in_it(void **state) {
  (void)state;
  const char *root = getenv("ASHUF_TEST_DATA");
  char path[1024];
  if (root == NULL || *root == '\0') skip();
  snprintf(path, sizeof path, "%s/data/ipc_fuzz", root);
  DIR *directory = opendir(path);
  assert_non_null(directory);
  ashuf_ctx *ctx = new_ctx();
  int n = 0;
  int wrong = 0;
  for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    if (entry->d_name[0] == '.' || strcmp(entry->d_name, "README.md") == 0) continue;
    struct ashuf_error error = {0};
    int64_t rows = 0;
    size_t size = 0;
    snprintf(path, sizeof path, "data/ipc_fuzz/%s", entry->d_name);
    uint8_t *stream = read_test_data(path, &size);
    assert_non_null(stream);
    ashuf_status status = decode_stream(ctx, stream, size, ASHUF_VALIDATE_FULL, &rows, &error);
    (void)decode_stream(ctx, stream, size, ASHUF_VALIDATE_TRUSTED, &rows, NULL);
    bool refused = status != ASHUF_OK && status != ASHUF_UNSUPPORTED_TYPE;
    if (!refused)
      print_error("%s: %d %s\n", entry->d_name, (int)status,
                  status == ASHUF_OK ? "read" : error.message);
    wrong += !refused;
    n++;
    free(stream);
  }
  closedir(directory);
  ashuf_ctx_free(ctx);
  assert_true(n > 50);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_case_is_judged_as_its_manifest_says),
      cmocka_unit_test(every_finding_of_a_fuzzer_is_refused_for_what_is_wrong_in_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

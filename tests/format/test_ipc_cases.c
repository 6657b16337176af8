/* Streams made to test a reader, and old findings of fuzzers: each is read as the manifest says,
 * or refused with a typed error, and none does harm. */
#include "support/ipc_streams.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A path in the test data, or NULL. */
static const char *data_path(const char *name, char out[1024]) {
  const char *root = getenv("ASHUF_TEST_DATA");
  if (root == NULL) return NULL;
  (void)snprintf(out, 1024, "%s/data/%s", root, name);
  return out;
}

/* A stream whose declared rows take no bytes is read, not printed: nothing here looks at rows. */
static ashuf_status read_case(const char *name, int64_t *rows, struct ashuf_error *error) {
  char folder[512];
  char path[1024];
  (void)snprintf(folder, sizeof folder, "ipc_cases/%s", name);
  return ipc_read_rows(data_path(folder, path), NULL, rows, error);
}

struct verdicts {
  int read;
  int refused;
  int unsupported;
  int wrong;
};

static void judge(struct verdicts *verdicts, const char *name, const char *kind,
                  int64_t want_rows) {
  struct ashuf_error error;
  int64_t rows = 0;
  memset(&error, 0, sizeof error);
  ashuf_status status = read_case(name, &rows, &error);
  bool good = strcmp(kind, "ok") == 0;
  bool bad = strcmp(kind, "bad") == 0;
  if (status == ASHUF_UNSUPPORTED_TYPE) {
    verdicts->unsupported++;
  } else if (status == ASHUF_OK) {
    verdicts->read++;
    if (bad || (good && rows != want_rows)) {
      print_error("%s is %s, but gave %lld rows\n", name, kind, (long long)rows);
      verdicts->wrong++;
    }
  } else {
    verdicts->refused++;
    if (good || status != error.status || error.message[0] == '\0') {
      print_error("%s is %s, but: %s\n", name, kind, error.message);
      verdicts->wrong++;
    }
  }
}

static void every_case_is_judged_as_its_manifest_says(void **state) {
  (void)state;
  char path[1024];
  char line[4096];
  struct verdicts verdicts = {0, 0, 0, 0};
  if (data_path("ipc_cases/manifest.tsv", path) == NULL) skip();
  FILE *manifest = fopen(path, "r");
  assert_non_null(manifest);
  assert_non_null(fgets(line, sizeof line, manifest)); /* the heads of the columns */
  while (fgets(line, sizeof line, manifest) != NULL) {
    char name[256];
    char kind[16];
    char rows[32];
    assert_int_equal(sscanf(line, "%255[^\t]\t%15[^\t]\t%*[^\t]\t%31[^\t]", name, kind, rows), 3);
    judge(&verdicts, name, kind, strtoll(rows, NULL, 10));
  }
  (void)fclose(manifest);
  assert_int_equal(verdicts.wrong, 0);
  assert_true(verdicts.read > 30);
  assert_true(verdicts.refused > 60);
}

static void no_finding_of_a_fuzzer_does_harm(void **state) {
  (void)state;
  char folder[1024];
  if (data_path("ipc_fuzz", folder) == NULL) skip();
  DIR *entries = opendir(folder);
  assert_non_null(entries);
  int n = 0;
  for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
    char path[2048];
    struct ashuf_error error;
    if (entry->d_name[0] == '.' || strcmp(entry->d_name, "README.md") == 0) continue;
    (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    for (int validate = 0; validate < 2; validate++) {
      struct ashuf_ipc_read_options options = ASHUF_IPC_READ_OPTIONS_INIT;
      options.validate = validate;
      ashuf_status status = ipc_read_rows(path, &options, NULL, &error);
      if (status != ASHUF_OK) assert_int_equal(status, error.status);
    }
    n++;
  }
  (void)closedir(entries);
  assert_true(n > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_case_is_judged_as_its_manifest_says),
      cmocka_unit_test(no_finding_of_a_fuzzer_does_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

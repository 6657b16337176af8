#include "fuzz/fuzz.h"

#include "ref/array_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t fuzz_decoded;

uint8_t *fuzz_guard(const uint8_t *data, size_t size) {
  static uint8_t *end;
  if (size > FUZZ_MOST_INPUT) return NULL;
  if (end == NULL) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *map = mmap(NULL, FUZZ_MOST_INPUT + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + FUZZ_MOST_INPUT, page, PROT_NONE) != 0) abort();
    end = map + FUZZ_MOST_INPUT;
  }
  if (size != 0) memcpy(end - size, data, size);
  return end - size;
}

void fuzz_fail(const char *what) {
  fprintf(stderr, "FAILED: %s\n", what);
  abort();
}

char *fuzz_batch_text(const ashuf_schema *schema, const struct ArrowArray *batch, int64_t rows) {
  char *text = NULL;
  size_t size = 0;
  struct ArrowSchema exported;
  FILE *file = open_memstream(&text, &size);
  if (file == NULL || ashuf_schema_export(schema, &exported, NULL) != ASHUF_OK) abort();
  for (int64_t row = 0; row < rows && ftell(file) < 2 * ARRAY_TEXT_MOST; row++) {
    for (int64_t i = 0; i < batch->n_children; i++) {
      char *one = array_text(exported.children[i], batch->children[i], row);
      fprintf(file, "%s;", one);
      free(one);
    }
  }
  exported.release(&exported);
  if (fclose(file) != 0) abort();
  return text;
}

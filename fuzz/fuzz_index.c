/* An index file behind eight bytes that say how long the data file is. */
#include "fuzz/fuzz.h"
#include "shuffle/index.h"

#include <stdlib.h>
#include <string.h>

static void check(const uint64_t *offsets, size_t n, uint64_t data_size) {
  for (size_t i = 1; i < n; i++)
    if (offsets[i] < offsets[i - 1]) fuzz_fail("offsets fall");
  if (offsets[0] != 0 || offsets[n - 1] != data_size) fuzz_fail("offsets do not span the data");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct ashuf_error error;
  enum index_order order;
  uint64_t data_size;
  if (size < 8) return 0;
  memcpy(&data_size, data, 8);
  fuzz_decoded += size;
  size -= 8;
  if (index_check_size(size, &error) != ASHUF_OK) return 0;
  uint8_t *bytes = fuzz_guard(data + 8, size);
  if (bytes == NULL || size % 8 != 0) return 0;
  if (index_decode(bytes, size, data_size, &order, &error) == ASHUF_OK)
    check((const uint64_t *)(const void *)bytes, size / 8, data_size);
  return 0;
}

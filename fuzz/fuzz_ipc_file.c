/* An Arrow IPC file or stream, read to its end from a file in memory. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void read_all(struct ArrowArrayStream *stream) {
  struct ArrowSchema schema;
  if (stream->get_schema(stream, &schema) == 0) schema.release(&schema);
  for (;;) {
    struct ArrowArray batch = {0};
    if (stream->get_next(stream, &batch) != 0 || batch.release == NULL) return;
    batch.release(&batch);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int fd = -1;
  struct ashuf_ipc_read_options options = ASHUF_IPC_READ_OPTIONS_INIT;
  struct ArrowArrayStream stream;
  struct ashuf_error error;
  char path[64];
  if (size > FUZZ_MOST_INPUT) return 0;
  if (fd < 0) fd = memfd_create("fuzz", 0);
  if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  options.max_decoded_bytes = FUZZ_MOST_OUTPUT;
  fuzz_decoded += size;
  if (ashuf_ipc_read_path(path, &options, &stream, &error) != ASHUF_OK) return 0;
  read_all(&stream);
  stream.release(&stream);
  return 0;
}

#include "shuffle/checksum_file.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "os/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ENTRY 8

char *checksum_file_path(const char *data_path, int kind, ashuf_memory *memory, size_t *size) {
  static const char data[] = ".data";
  const char *name = checksum_name(kind);
  size_t stem = strlen(data_path);
  size_t end = sizeof data - 1;
  if (stem >= end && memcmp(data_path + stem - end, data, end) == 0) stem -= end;
  *size = stem + sizeof ".checksum." + strlen(name);
  char *path = memory_alloc(memory, *size);
  if (path == NULL) return NULL;
  (void)snprintf(path, *size, "%.*s.checksum.%s", (int)stem, data_path, name);
  return path;
}

static ashuf_status check_values(const struct checksum_file *file, int64_t partitions,
                                 struct ashuf_error *error) {
  for (int64_t i = 0; i < partitions; i++) {
    file->values[i] = __builtin_bswap64(file->values[i]);
    if (file->values[i] > UINT32_MAX && file->values[i] != CHECKSUM_NOT_COMPUTED)
      return error_in(error, ASHUF_CHECKSUM_MISMATCH, SITE_CHECKSUM_VALUE, ASHUF_SPACE_FILE,
                      (uint64_t)i * ENTRY, "the entry of partition %" PRId64 " is no checksum", i);
  }
  return ASHUF_OK;
}

static ashuf_status read_values(const struct file *from, int64_t partitions, ashuf_memory *memory,
                                struct checksum_file *out, struct ashuf_error *error) {
  uint64_t size = (uint64_t)partitions * ENTRY;
  if (!from->regular || from->size != size)
    return error_in(error, ASHUF_CHECKSUM_MISMATCH, SITE_CHECKSUM_SIZE, ASHUF_SPACE_FILE,
                    from->size < size ? from->size : size,
                    "the checksum file has %" PRIu64 " bytes, %" PRId64 " partitions take %" PRIu64,
                    from->size, partitions, size);
  out->size = (size_t)size;
  out->values = memory_alloc(memory, out->size);
  if (out->values == NULL) return error_memory(error, SITE_CHECKSUM_MEMORY, memory, out->size);
  ashuf_status status = file_read_at(from, 0, out->values, out->size, error);
  return status == ASHUF_OK ? check_values(out, partitions, error) : status;
}

/* *missing: there is no such file. */
static ashuf_status load_kind(const char *data_path, int kind, int64_t partitions,
                              ashuf_memory *memory, struct checksum_file *out, bool *missing,
                              struct ashuf_error *error) {
  size_t size = 0;
  struct file file = FILE_INIT;
  struct ashuf_error failure;
  *missing = false;
  char *path = checksum_file_path(data_path, kind, memory, &size);
  if (path == NULL) return error_memory(error, SITE_CHECKSUM_MEMORY, memory, size);
  ashuf_status status = file_open(&file, path, &failure);
  memory_free(memory, path, size);
  if (status != ASHUF_OK) {
    *missing = failure.os_errno == ENOENT;
    if (!*missing && error != NULL) *error = failure;
    return *missing ? ASHUF_OK : status;
  }
  status = read_values(&file, partitions, memory, out, error);
  if (status != ASHUF_OK && error != NULL && error->status != ASHUF_IO)
    error_prefix(error, "%s: ", file.label);
  file_close(&file);
  out->kind = kind;
  return status;
}

ashuf_status checksum_file_load(const char *data_path, int64_t partitions, ashuf_memory *memory,
                                struct checksum_file *out, struct ashuf_error *error) {
  static const int kinds[] = {CHECKSUM_ADLER32, CHECKSUM_CRC32C, CHECKSUM_CRC32};
  struct checksum_file loaded = {CHECKSUM_NONE, NULL, 0};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && loaded.kind == CHECKSUM_NONE; i++) {
    bool missing = false;
    ashuf_status status =
        load_kind(data_path, kinds[i], partitions, memory, &loaded, &missing, error);
    if (status != ASHUF_OK) {
      checksum_file_free(&loaded, memory);
      return status;
    }
  }
  *out = loaded;
  return ASHUF_OK;
}

void checksum_file_free(struct checksum_file *file, ashuf_memory *memory) {
  memory_free(memory, file->values, file->size);
  *file = (struct checksum_file){CHECKSUM_NONE, NULL, 0};
}

ashuf_status checksum_file_compare(const struct checksum_file *file, int64_t partition,
                                   uint64_t offset, uint32_t value, struct ashuf_error *error) {
  uint32_t wanted = (uint32_t)file->values[partition];
  if (value == wanted) return ASHUF_OK;
  return error_in(error, ASHUF_CHECKSUM_MISMATCH, SITE_CHECKSUM_DIFFERS, ASHUF_SPACE_FILE, offset,
                  "%s of the partition's bytes is %08" PRIx32 ", the checksum file says %08" PRIx32,
                  checksum_name(file->kind), value, wanted);
}

#include "shuffle/map_file.h"

#include "shuffle/index.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static ashuf_status not_regular(const char *label, struct ashuf_error *error) {
  return error_os(error, SITE_MAP_NOT_REGULAR, ESPIPE, "cannot read %s in any order", label);
}

/* *missing: there is no such file. */
static ashuf_status open_regular(struct file *out, const char *path, bool *missing,
                                 struct ashuf_error *error) {
  struct ashuf_error failure;
  ashuf_status status = file_open(out, path, &failure);
  *missing = status != ASHUF_OK && failure.os_errno == ENOENT;
  if (status != ASHUF_OK) {
    if (error != NULL) *error = failure;
    return status;
  }
  if (out->regular) return ASHUF_OK;
  file_close(out);
  return not_regular(out->label, error);
}

static ashuf_status decode_index(ashuf_map_file *file, const struct file *index,
                                 struct ashuf_error *error) {
  ashuf_status status = index_check_size(index->size, error);
  if (status == ASHUF_OK) {
    file->offsets_size = (size_t)index->size;
    file->offsets = memory_alloc(file->memory, file->offsets_size);
    if (file->offsets == NULL)
      return error_memory(error, SITE_MAP_MEMORY, file->memory, file->offsets_size);
    status = file_read_at(index, 0, file->offsets, file->offsets_size, error);
    if (status != ASHUF_OK) return status;
    status =
        index_decode((uint8_t *)file->offsets, file->offsets_size, file->data.size, NULL, error);
  }
  if (status != ASHUF_OK) error_prefix(error, "%s: ", index->label);
  file->partitions = (int64_t)(index->size / INDEX_ENTRY) - 1;
  file->has_index = true;
  return status;
}

/* Without an index the whole file is one partition. */
static ashuf_status one_partition(ashuf_map_file *file, struct ashuf_error *error) {
  file->offsets_size = 2 * sizeof *file->offsets;
  file->offsets = memory_alloc(file->memory, file->offsets_size);
  if (file->offsets == NULL)
    return error_memory(error, SITE_MAP_MEMORY, file->memory, file->offsets_size);
  file->offsets[0] = 0;
  file->offsets[1] = file->data.size;
  file->partitions = 1;
  return ASHUF_OK;
}

static ashuf_status open_index(ashuf_map_file *file, const char *index_path, bool require_index,
                               bool data_missing, struct ashuf_error *error) {
  struct file index = FILE_INIT;
  bool missing;
  ashuf_status status = open_regular(&index, index_path, &missing, error);
  if (status != ASHUF_OK)
    return missing && !require_index && !data_missing ? one_partition(file, error) : status;
  status = decode_index(file, &index, error);
  file_close(&index);
  return status;
}

static ashuf_status open_both(ashuf_map_file *file, const char *data_path, const char *index_path,
                              bool require_index, struct ashuf_error *error) {
  struct ashuf_error data_error;
  bool data_missing;
  ashuf_status status = open_regular(&file->data, data_path, &data_missing, &data_error);
  if (status != ASHUF_OK && !data_missing) {
    if (error != NULL) *error = data_error;
    return status;
  }
  ashuf_status data_status = status;
  status = open_index(file, index_path, require_index, data_missing, error);
  /* Of a data file that is missing, that is what matters, whatever the index says, unless it says
   * that nothing was written. */
  if (data_missing && status != ASHUF_OK) {
    if (error != NULL) *error = data_error;
    return data_status;
  }
  return status;
}

ashuf_status map_file_open(const char *data_path, const char *index_path, bool require_index,
                           ashuf_memory *memory, ashuf_map_file **out, struct ashuf_error *error) {
  ashuf_map_file *file = memory_zeroed(memory, sizeof *file);
  if (file == NULL) return error_memory(error, SITE_MAP_MEMORY, memory, sizeof *file);
  file->memory = ashuf_memory_ref(memory);
  file->data = (struct file)FILE_INIT;
  file->map = index_map_id(data_path);
  size_t path_size = strlen(data_path) + 1;
  file->path = memory_alloc(memory, path_size);
  if (file->path == NULL) {
    map_file_close(file);
    return error_memory(error, SITE_MAP_MEMORY, memory, path_size);
  }
  memcpy(file->path, data_path, path_size);

  char *beside = index_path == NULL ? index_path_of(data_path, memory) : NULL;
  ashuf_status status;
  if (index_path == NULL && beside == NULL)
    status = error_memory(error, SITE_MAP_MEMORY, memory, strlen(data_path) + sizeof ".index");
  else
    status = open_both(file, data_path, beside != NULL ? beside : index_path, require_index, error);
  if (beside != NULL) memory_free(memory, beside, strlen(beside) + 1);
  if (status != ASHUF_OK) {
    if (error != NULL) error->map = file->map;
    map_file_close(file);
    return status;
  }
  *out = file;
  return ASHUF_OK;
}

void map_file_close(ashuf_map_file *file) {
  if (file == NULL) return;
  ashuf_memory *memory = file->memory;
  file_close(&file->data);
  checksum_file_free(&file->checksums, memory);
  if (file->path != NULL) memory_free(memory, file->path, strlen(file->path) + 1);
  memory_free(memory, file->offsets, file->offsets_size);
  memory_free(memory, file, sizeof *file);
  ashuf_memory_free(memory);
}

ashuf_status map_file_seek(const ashuf_map_file *file, int64_t first, int64_t end,
                           struct ashuf_block_cursor *out, struct ashuf_error *error) {
  if (end == -1) end = file->partitions;
  if (first < 0 || end < first || end > file->partitions)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_MAP_SEEK,
                     "partitions %" PRId64 " to %" PRId64 " are not in [0, %" PRId64 ")", first,
                     end, file->partitions);
  *out = (struct ashuf_block_cursor){first, end, 0, file->offsets[first]};
  return ASHUF_OK;
}

#include "map_input.h"

#include "limit.h"

#include <stdio.h>
#include <string.h>

static ashuf_status open_all(struct map_input *out, struct ashuf_error *error) {
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.memory = limit_memory();
  ashuf_status status = ashuf_map_file_open(out->path, NULL, 0, limit_memory(), &out->file, error);
  if (status == ASHUF_OK) status = ashuf_ctx_new(&options, &out->ctx, error);
  if (status == ASHUF_OK) status = ashuf_map_file_seek(out->file, 0, -1, &out->cursor, error);
  return status;
}

static ashuf_status check_finished(struct map_input *input, struct ashuf_error *error) {
  input->unfinished = !ashuf_map_file_has_index(input->file);
  if (!input->unfinished) return ASHUF_OK;
  memset(error, 0, sizeof *error);
  error->status = ASHUF_BAD_INDEX;
  error->block_offset = UINT64_MAX;
  error->map = error->partition = error->block = -1;
  (void)snprintf(error->message, sizeof error->message,
                 "no index beside it: not a finished output");
  return error->status;
}

ashuf_status map_input_open(struct map_input *out, const char *path, bool require_index,
                            int validate, struct ashuf_error *error) {
  const struct ashuf_decode_options defaults = ASHUF_DECODE_OPTIONS_INIT;
  memset(out, 0, sizeof *out);
  out->path = path;
  out->options = defaults;
  out->options.validate = validate;
  ashuf_status status = open_all(out, error);
  if (status == ASHUF_OK && require_index) status = check_finished(out, error);
  if (status != ASHUF_OK) map_input_close(out);
  return status;
}

ashuf_status map_input_seek(struct map_input *input, int64_t partition, struct ashuf_error *error) {
  return ashuf_map_file_seek(input->file, partition, partition + 1, &input->cursor, error);
}

ashuf_status map_input_next(struct map_input *input, struct map_block *out, int *found,
                            struct ashuf_error *error) {
  const struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  memset(out, 0, sizeof *out);
  out->info = info;
  *found = 0;
  return ashuf_map_file_next(input->file, input->ctx, &input->cursor, &input->options, found,
                             &out->at, &out->schema, &out->batch, &out->info, error);
}

bool map_input_goes_on(const struct ashuf_error *error) {
  return error->status >= ASHUF_TRUNCATED || error->status == ASHUF_SIZE_LIMIT ||
         error->status == ASHUF_UNSUPPORTED;
}

int64_t map_input_partitions(const struct map_input *input) {
  return ashuf_map_file_partitions(input->file);
}

uint64_t map_input_bytes(const struct map_input *input) {
  return ashuf_map_file_offsets(input->file)[map_input_partitions(input)];
}

void map_input_close(struct map_input *input) {
  ashuf_ctx_free(input->ctx);
  ashuf_map_file_close(input->file);
  input->ctx = NULL;
  input->file = NULL;
}

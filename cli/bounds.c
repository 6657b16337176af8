#include "bounds.h"

#include "failure.h"
#include "ipc_input.h"
#include "limit.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

#define MOST_BYTES ((uint64_t)1 << 30)

static void add_type(struct text *out, const ashuf_schema *schema, int64_t column) {
  struct ashuf_buffer type = ASHUF_BUFFER_INIT;
  if (ashuf_schema_format_type(schema, column, &type, NULL) == ASHUF_OK)
    text_add(out, type.data, type.size);
  ashuf_buffer_free(&type);
}

static int check_type(const char *path, const ashuf_schema *found, const ashuf_schema *wanted,
                      int64_t column) {
  int status = EXIT_GOOD;
  struct text here = TEXT_INIT;
  struct text there = TEXT_INIT;
  add_type(&here, found, column);
  add_type(&there, wanted, column);
  if (strcmp(text_terminated(&here), text_terminated(&there)) != 0)
    status = fail_data(path, "column %" PRId64 " of the bounds is %s, the key is %s", column,
                       text_terminated(&here), text_terminated(&there));
  text_free(&here);
  text_free(&there);
  return status;
}

static int check_columns(const char *path, const ashuf_schema *found, const ashuf_schema *wanted) {
  int64_t n = ashuf_schema_n_columns(wanted);
  if (ashuf_schema_n_columns(found) == n) return EXIT_GOOD;
  return fail_data(path, "bounds of %" PRId64 " columns, the key has %" PRId64,
                   ashuf_schema_n_columns(found), n);
}

/* ---- One block ---------------------------------------------------------------------------- */

static int add_bytes(void *user_data, const void *bytes, size_t size) {
  text_add(user_data, bytes, size);
  return 0;
}

static ashuf_status open_writer(struct text *bytes, const ashuf_schema *schema, ashuf_writer **out,
                                struct ashuf_error *error) {
  const struct ashuf_encode_options defaults = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_writer_options how = ASHUF_WRITER_OPTIONS_INIT;
  struct ashuf_partitioning one = ASHUF_PARTITIONING_INIT;
  struct ashuf_sink sink = ASHUF_SINK_INIT;
  ashuf_partitioner *partitioner = NULL;
  one.partitions = 1;
  sink.user_data = bytes;
  sink.bytes = add_bytes;
  how.memory = limit_memory();
  how.encode = defaults;
  how.encode.dictionaries = ASHUF_DICTIONARIES_PLAIN;
  how.encode.max_rows = INT32_MAX;
  how.encode.max_body = MOST_BYTES;
  ashuf_status status = ashuf_partitioner_new(schema, &one, limit_memory(), &partitioner, error);
  if (status == ASHUF_OK) status = ashuf_writer_open_sink(partitioner, &how, &sink, out, error);
  ashuf_partitioner_free(partitioner);
  return status;
}

static ashuf_status push_all(struct ipc_input *input, ashuf_writer *writer,
                             struct ashuf_error *error) {
  for (;;) {
    struct ArrowArray batch;
    ashuf_status status = ipc_input_next(input, &batch, error);
    if (status != ASHUF_OK || batch.release == NULL) return status;
    status = ashuf_writer_push(writer, &batch, error);
    if (batch.release != NULL) batch.release(&batch);
    if (status != ASHUF_OK) return status;
  }
}

static int gather(struct ipc_input *input, struct text *bytes) {
  struct ashuf_error error;
  ashuf_writer *writer = NULL;
  ashuf_status status = open_writer(bytes, input->schema, &writer, &error);
  if (status == ASHUF_OK) status = push_all(input, writer, &error);
  if (status == ASHUF_OK) status = ashuf_writer_finish(writer, NULL, &error);
  ashuf_writer_close(writer);
  return status == ASHUF_OK ? EXIT_GOOD : fail_error(input->path, &error);
}

/* ---- Back --------------------------------------------------------------------------------- */

static int check_types(const char *path, const ashuf_schema *found, const ashuf_schema *wanted) {
  int status = EXIT_GOOD;
  for (int64_t i = 0; i < ashuf_schema_n_columns(wanted) && status == EXIT_GOOD; i++)
    status = check_type(path, found, wanted, i);
  return status;
}

static int decode(const char *path, ashuf_ctx *ctx, const struct text *bytes,
                  const ashuf_schema *key_schema, struct ArrowArray *out) {
  struct ashuf_error error;
  const ashuf_schema *schema = NULL;
  struct ArrowArray batch;
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  struct ashuf_bytes block = {.data = (const void *)bytes->data, .size = bytes->size};
  if (ashuf_block_peek(block.data, block.size, &info, &error) != ASHUF_OK)
    return fail_error(path, &error);
  if (info.size != bytes->size)
    return fail_data(path, "bounds of more than %" PRIu64 " bytes", MOST_BYTES);
  if (ashuf_block_decode(ctx, &block, NULL, &schema, &batch, NULL, &error) != ASHUF_OK)
    return fail_error(path, &error);
  int status = check_types(path, schema, key_schema);
  if (status == EXIT_GOOD)
    *out = batch;
  else
    batch.release(&batch);
  return status;
}

static int take_back(const char *path, const struct text *bytes, const ashuf_schema *key_schema,
                     struct ArrowArray *out) {
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  struct ashuf_error error;
  ashuf_ctx *ctx = NULL;
  options.memory = limit_memory();
  if (ashuf_ctx_new(&options, &ctx, &error) != ASHUF_OK) return fail_error(path, &error);
  int status = decode(path, ctx, bytes, key_schema, out);
  ashuf_ctx_free(ctx);
  return status;
}

int bounds_read(const char *path, const ashuf_schema *key_schema, struct ArrowArray *out) {
  struct ipc_input input;
  struct ashuf_error error;
  struct text bytes = TEXT_INIT;
  if (ipc_input_open(&input, path, &error) != ASHUF_OK) return fail_error(path, &error);
  int status = check_columns(path, input.schema, key_schema);
  if (status == EXIT_GOOD) status = gather(&input, &bytes);
  if (status == EXIT_GOOD && bytes.size > 0) status = take_back(path, &bytes, key_schema, out);
  text_free(&bytes);
  ipc_input_close(&input);
  return status;
}

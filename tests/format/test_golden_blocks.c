/*
 * Streams that many implementations wrote, one block a batch: the schema message, the dictionaries
 * that came before the batch, and the batch, as a block with codec NONE, have the rows that the
 * stream reader gives.
 */
#include "base/bytes.h"
#include "ipc/metadata.h"
#include "support/small_blocks.h"
#include "support/stream_walk.h"

#include <dirent.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct golden {
  const char *name;
  struct stream_walk walk;
  struct ashuf_buffer head;         /* the schema message */
  struct ashuf_buffer dictionaries; /* all that came so far */
  uint64_t columns;
  bool legacy; /* prefixes of 4 bytes */
  struct ArrowArrayStream rows;
  struct ArrowSchema schema;
  ashuf_ctx *ctx;
  int batches;
};

static void expect_rows(const struct golden *golden, const ashuf_schema *schema,
                        const struct ArrowArray *got, const struct ArrowArray *want) {
  struct ArrowSchema exported;
  assert_int_equal(ashuf_schema_export(schema, &exported, NULL), ASHUF_OK);
  assert_int_equal(got->length, want->length);
  assert_int_equal(got->n_children, want->n_children);
  for (int64_t row = 0; row < got->length; row++) {
    char *a = value_text(&exported, got, row);
    char *b = value_text(&golden->schema, want, row);
    if (strcmp(a, b) != 0)
      fail_msg("%s, batch %d, row %lld: %s, the stream has %s", golden->name, golden->batches,
               (long long)row, a, b);
    free(a);
    free(b);
  }
  exported.release(&exported);
}

/* The message whose metadata begins at metadata, with its prefix and its body. */
static void put_message(const struct golden *golden, const uint8_t *metadata, size_t size,
                        int64_t body, struct ashuf_buffer *out) {
  size_t prefix = golden->legacy ? 4 : 8;
  put_bytes(out, metadata - prefix, prefix + size + (size_t)body);
}

static uint64_t count_columns(const struct message *message) {
  ashuf_schema *schema = NULL;
  struct ashuf_error error;
  ashuf_status status = schema_read(message, NULL, &schema, &error);
  if (status != ASHUF_OK) fail_msg("schema: %s", error.message);
  uint64_t columns = (uint64_t)ashuf_schema_n_columns(schema);
  ashuf_schema_free(schema);
  return columns;
}

static void check_batch(struct golden *golden, const uint8_t *metadata, size_t size, int64_t body) {
  struct ashuf_buffer stream = block_copy(&golden->head, golden->head.size);
  struct ashuf_buffer block = ASHUF_BUFFER_INIT;
  struct ArrowArray want;
  if (golden->dictionaries.size != 0)
    put_bytes(&stream, golden->dictionaries.data, golden->dictionaries.size);
  put_message(golden, metadata, size, body, &stream);
  if (!golden->legacy) put_bytes(&stream, (const uint32_t[]){0xFFFFFFFFu, 0}, 8);
  wrap_stream(stream.data, stream.size, golden->columns, &block);
  if (golden->rows.get_next(&golden->rows, &want) != 0 || want.release == NULL)
    fail_msg("%s: the stream reader has no batch %d", golden->name, golden->batches);
  for (int validate = ASHUF_VALIDATE_FULL; validate <= ASHUF_VALIDATE_TRUSTED; validate++) {
    struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
    struct ashuf_error error;
    struct ArrowArray got;
    const ashuf_schema *schema = NULL;
    options.validate = validate;
    ashuf_status status =
        decode_block(golden->ctx, block.data, block.size, &options, &schema, &got, &error);
    if (status != ASHUF_OK)
      fail_msg("%s, batch %d: %s", golden->name, golden->batches, error.message);
    expect_rows(golden, schema, &got, &want);
    got.release(&got);
  }
  want.release(&want);
  golden->batches++;
  ashuf_buffer_free(&block);
  ashuf_buffer_free(&stream);
}

static void check_messages(struct golden *golden) {
  const uint8_t *metadata = NULL;
  size_t size = 0;
  while (stream_walk_next(&golden->walk, &metadata, &size)) {
    struct message message;
    struct ashuf_error error;
    if (message_read(metadata, size, 0, &message, &error) != ASHUF_OK)
      fail_msg("%s: %s", golden->name, error.message);
    if (message.type == MESSAGE_SCHEMA) {
      put_message(golden, metadata, size, 0, &golden->head);
      golden->columns = count_columns(&message);
    } else if (message.type == MESSAGE_DICTIONARY) {
      put_message(golden, metadata, size, message.body_length, &golden->dictionaries);
    } else {
      check_batch(golden, metadata, size, message.body_length);
    }
    stream_walk_skip(&golden->walk, message.body_length);
  }
}

/* Returns the number of batches. */
static int check_stream(const char *path) {
  size_t size = 0;
  struct golden golden;
  struct ArrowArray end;
  memset(&golden, 0, sizeof golden);
  uint8_t *data = stream_walk_file(path, &size);
  assert_non_null(data);
  golden.name = path;
  golden.walk = (struct stream_walk){data, size, 0};
  golden.legacy = load_u32(data) != UINT32_MAX;
  golden.ctx = context_in(NULL);
  assert_int_equal(ashuf_ipc_read_path(path, NULL, &golden.rows, NULL), ASHUF_OK);
  assert_int_equal(golden.rows.get_schema(&golden.rows, &golden.schema), 0);
  check_messages(&golden);
  assert_int_equal(golden.rows.get_next(&golden.rows, &end), 0);
  assert_null(end.release);
  /* However many batches, one schema. */
  if (golden.batches > 0) assert_int_equal(context_stats(golden.ctx).schema_misses, 1);
  assert_int_equal(context_stats(golden.ctx).blocks_decoded, (uint64_t)golden.batches * 2);
  golden.schema.release(&golden.schema);
  golden.rows.release(&golden.rows);
  ashuf_ctx_free(golden.ctx);
  ashuf_buffer_free(&golden.head);
  ashuf_buffer_free(&golden.dictionaries);
  free(data);
  return golden.batches;
}

/* Big-endian streams are in folders of their own. */
static void check_folder(const char *root, const char *folder, int *streams, int *batches) {
  char path[1600];
  (void)snprintf(path, sizeof path, "%s/%s", root, folder);
  DIR *directory = opendir(path);
  if (directory == NULL) return; /* a file beside the folders */
  for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    size_t length = strlen(entry->d_name);
    if (length < 7 || strcmp(entry->d_name + length - 7, ".stream") != 0) continue;
    (void)snprintf(path, sizeof path, "%s/%s/%s", root, folder, entry->d_name);
    *batches += check_stream(path);
    ++*streams;
  }
  closedir(directory);
}

static void streams_of_many_implementations_decode_as_blocks(void **state) {
  (void)state;
  const char *data = getenv("ASHUF_TEST_DATA");
  if (data == NULL || *data == '\0') skip();
  char root[900];
  int streams = 0;
  int batches = 0;
  (void)snprintf(root, sizeof root, "%s/data/ipc_golden", data);
  DIR *directory = opendir(root);
  assert_non_null(directory);
  for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
    if (entry->d_name[0] != '.' && strstr(entry->d_name, "bigendian") == NULL)
      check_folder(root, entry->d_name, &streams, &batches);
  closedir(directory);
  print_message("%d streams, %d batches\n", streams, batches);
  assert_true(streams >= 60);
  assert_true(batches >= 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streams_of_many_implementations_decode_as_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

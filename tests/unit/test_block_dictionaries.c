/* Dictionaries that belong to their block: values that change (T13), shared ids, many columns, and
 * what a given block with dictionaries keeps alive (T49). */
#include "ipc/metadata_int.h"
#include "support/metadata_make.h"
#include "support/small_blocks.h"

#include <time.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- T13 ---------------------------------------------------------------------------------- */

/* The batch warm in ctx and cold in a context of its own, in every codec. */
static void expect_warm_and_cold(ashuf_ctx *ctx, const struct test_column *batch) {
  for (int c = 0; c < N_CODECS; c++) {
    struct ashuf_buffer out = blocks_of(batch, every_codec[c]);
    ashuf_ctx *cold = context_in(NULL);
    expect_blocks_equal(ctx, &out, NULL, batch, NULL, 0);
    expect_blocks_equal(cold, &out, NULL, batch, NULL, 0);
    assert_int_equal(context_stats(cold).schema_misses, 1);
    ashuf_ctx_free(cold);
    ashuf_buffer_free(&out);
  }
}

static void t13_dictionaries_change_with_the_cache_warm_and_cold(void **state) {
  (void)state;
  static const char *const types[] = {
      "dict:i(u)",        "dict:c(u)",         "dict:i(i)",
      "list(dict:i(u))",  "struct(dict:i(u))", "map(u,dict:s(vu))",
      "list(dict:i(vu))", "dict:i(vu)",        "struct(dict:i(runs:i(u)))"};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    ashuf_ctx *ctx = context_in(NULL);
    for (uint64_t seed = 0; seed < 6; seed++) {
      struct test_random random = {seed};
      struct test_column column = column_random("c", types[t], &random, 30, 50);
      struct test_column batch = batch_of(&column, 1);
      expect_warm_and_cold(ctx, &batch);
      column_free(&batch);
    }
    assert_int_equal(context_stats(ctx).schema_misses, 1);
    assert_int_equal(context_stats(ctx).schema_hits,
                     context_stats(ctx).blocks_decoded - 1); /* all warm but the first */
    ashuf_ctx_free(ctx);
  }
}

static void t13_a_null_value_entry_is_a_null(void **state) {
  (void)state;
  const char *const values[][3] = {{"a", NULL, "c"}, {NULL, "a", "bb"}, {"x", "y", NULL}};
  const int64_t indices[] = {0, 1, 2, 2, 1, 0};
  ashuf_ctx *ctx = context_in(NULL);
  for (int i = 0; i < 3; i++) {
    struct test_column column =
        column_dictionary("d", "i", indices, "110111", 6, column_strings("", "u", values[i], 3));
    struct test_column batch = batch_of(&column, 1);
    const char *rows[6];
    for (int k = 0; k < 6; k++) rows[k] = k == 2 ? NULL : values[i][indices[k]];
    struct test_column plain = column_strings("d", "u", rows, 6);
    struct test_column want = batch_of(&plain, 1);
    expect_warm_and_cold(ctx, &batch);
    struct ashuf_buffer out = blocks_of(&batch, ASHUF_CODEC_LZ4);
    assert_int_equal(expect_blocks_equal(ctx, &out, NULL, &want, NULL, 0), 1);
    ashuf_buffer_free(&out);
    column_free(&want);
    column_free(&batch);
  }
  assert_int_equal(context_stats(ctx).schema_misses, 1);
  ashuf_ctx_free(ctx);
}

/* ---- T49 ---------------------------------------------------------------------------------- */

static void count_release(struct ashuf_bytes *bytes) {
  ++*(int *)bytes->private_data;
  bytes->release = NULL;
}

/* n rows of a dictionary of `distinct` strings of 20 bytes, and of one of few. */
static struct test_column text_batch(int64_t n, int64_t distinct) {
  char(*texts)[24] = malloc((size_t)distinct * sizeof *texts);
  const char **values = malloc((size_t)distinct * sizeof *values);
  int64_t *indices = malloc((size_t)n * sizeof *indices);
  for (int64_t i = 0; i < distinct; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "a value %012d", (int)i);
    values[i] = texts[i];
  }
  for (int64_t i = 0; i < n; i++) indices[i] = i * 7 % distinct;
  struct test_column columns[2];
  columns[0] =
      column_dictionary("d", "i", indices, NULL, n, column_strings("", "u", values, distinct));
  for (int64_t i = 0; i < n; i++) indices[i] = i % 3;
  columns[1] = column_dictionary("e", "c", indices, NULL, n, column_strings("", "u", values, 3));
  free(texts);
  free(values);
  free(indices);
  return batch_of(columns, 2);
}

static uint64_t allowance(uint64_t size, int64_t columns) {
  return (size / 64 > 4096 ? size / 64 : 4096) + 128 * (uint64_t)columns;
}

static void check_given(const struct ashuf_buffer *block, size_t shift,
                        const struct test_column *want) {
  uint8_t *home = aligned_alloc(64, (block->size + shift + 63) / 64 * 64);
  ashuf_ctx *ctx = context_in(NULL);
  memcpy(home + shift, block->data, block->size);
  for (int warm = 0; warm < 2; warm++) {
    int released = 0;
    struct ashuf_bytes given = {home + shift, block->size, count_release, &released};
    const ashuf_schema *schema = NULL;
    struct ArrowArray batch;
    struct ashuf_error error;
    ashuf_status status = ashuf_block_decode(ctx, &given, NULL, &schema, &batch, NULL, &error);
    if (status != ASHUF_OK) fail_msg("%s", error.message);
    uint64_t retained = ashuf_batch_retained_bytes(&batch);
    uint64_t most = block->size + 64 + allowance(block->size, want->array.n_children);
    if (retained > most)
      fail_msg("a given block of %zu bytes at %zu mod 64 keeps %llu, at most %llu", block->size,
               shift, (unsigned long long)retained, (unsigned long long)most);
    batch.release(&batch);
    assert_int_equal(released, 1);
  }
  assert_int_equal(expect_blocks_equal(ctx, block, NULL, want, NULL, 0), 1);
  ashuf_ctx_free(ctx);
  free(home);
}

static void t49_a_given_block_with_dictionaries_keeps_no_more_than_itself(void **state) {
  (void)state;
  static const int64_t shapes[][2] = {{8000, 8000}, {100, 100}, {8000, 10}, {3, 3}, {1, 1}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    struct test_column batch = text_batch(shapes[i][0], shapes[i][1] < 3 ? 3 : shapes[i][1]);
    struct ashuf_buffer block = blocks_of(&batch, ASHUF_CODEC_NONE);
    for (size_t shift = 40; shift < 48; shift++) check_given(&block, shift, &batch);
    ashuf_buffer_free(&block);
    column_free(&batch);
  }
}

/* ---- One id, many columns ------------------------------------------------------------------- */

static void put_framed(struct ashuf_buffer *out, const uint8_t *metadata, size_t size) {
  static const uint8_t zeros[8];
  uint32_t padded = (uint32_t)((size + 7) / 8 * 8);
  put_bytes(out, (const uint32_t[]){0xFFFFFFFFu, padded}, 8);
  put_bytes(out, metadata, size);
  put_bytes(out, zeros, padded - size);
}

static void put_batch(struct ashuf_buffer *out, const struct batch_metadata *batch) {
  size_t size = batch_metadata_size(batch);
  uint8_t *metadata = malloc(size);
  batch_metadata_write(batch, metadata);
  put_framed(out, metadata, size);
  free(metadata);
}

/* n columns of dictionary<int32, utf8>, all of dictionary 7. */
static void put_shared_schema(struct ashuf_buffer *out, int32_t n) {
  struct builder builder;
  size_t size = 0;
  builder_init(&builder, NULL);
  uint32_t index =
      made_table(&builder, (struct made_scalar[]){{0, 4, 32}, {1, 1, 1}, {0, 0, 0}}); /* int32 */
  builder_table(&builder);
  builder_scalar(&builder, ENCODING_ID, 8, 7, 0);
  builder_offset(&builder, ENCODING_INDEX_TYPE, index);
  uint32_t encoding = builder_table_end(&builder);
  builder_table(&builder);
  uint32_t type = builder_table_end(&builder);
  struct made_field field = {.name = "d", .ipc_type = IPC_UTF8, .type = type, .encoding = encoding};
  for (int32_t i = 0; i < n; i++) builder_keep(&builder, made_field(&builder, &field));
  uint32_t fields = builder_kept_vector(&builder, (size_t)n);
  uint32_t schema = made_schema(&builder, fields, 0, 0);
  uint8_t *bytes = made_message(&builder, METADATA_V5, MESSAGE_SCHEMA, schema, 0, 0, &size);
  put_framed(out, bytes, size);
  free(bytes);
}

/* Values "00000000", "00000001", ... */
static void put_shared_dictionary(struct ashuf_buffer *out, int32_t values) {
  const struct ipc_node node = {values, 0};
  int64_t offsets_size = ((int64_t)values + 2) / 2 * 2 * 4;
  const struct ipc_buffer buffers[] = {
      {0, 0}, {0, offsets_size}, {offsets_size, (int64_t)values * 8}};
  const struct batch_metadata metadata = {.is_dictionary = true,
                                          .dictionary_id = 7,
                                          .length = values,
                                          .body_length = offsets_size + (int64_t)values * 8,
                                          .nodes = &node,
                                          .buffers = buffers,
                                          .n_nodes = 1,
                                          .n_buffers = 3};
  put_batch(out, &metadata);
  for (int32_t i = 0; i < offsets_size / 4; i++) {
    int32_t offset = (i < values ? i : values) * 8;
    put_bytes(out, &offset, 4);
  }
  for (int32_t i = 0; i < values; i++) {
    char text[16];
    (void)snprintf(text, sizeof text, "%08d", i);
    put_bytes(out, text, 8);
  }
}

/* Two rows: the first value and the last. */
static void put_shared_batch(struct ashuf_buffer *out, int32_t n, int32_t values) {
  struct ipc_node *nodes = malloc((size_t)n * sizeof *nodes);
  struct ipc_buffer *buffers = malloc((size_t)n * 2 * sizeof *buffers);
  for (int32_t i = 0; i < n; i++) {
    nodes[i] = (struct ipc_node){2, 0};
    buffers[2 * i] = (struct ipc_buffer){0, 0};
    buffers[2 * i + 1] = (struct ipc_buffer){(int64_t)i * 8, 8};
  }
  const struct batch_metadata metadata = {.length = 2,
                                          .body_length = (int64_t)n * 8,
                                          .nodes = nodes,
                                          .buffers = buffers,
                                          .n_nodes = (uint32_t)n,
                                          .n_buffers = (uint32_t)n * 2};
  put_batch(out, &metadata);
  for (int32_t i = 0; i < n; i++) put_bytes(out, (const int32_t[]){0, values - 1}, 8);
  put_bytes(out, (const uint32_t[]){0xFFFFFFFFu, 0}, 8);
  free(nodes);
  free(buffers);
}

static struct ashuf_buffer shared_block(int32_t columns, int32_t values) {
  struct ashuf_buffer stream = ASHUF_BUFFER_INIT;
  struct ashuf_buffer block = ASHUF_BUFFER_INIT;
  put_shared_schema(&stream, columns);
  put_shared_dictionary(&stream, values);
  put_shared_batch(&stream, columns, values);
  wrap_stream(stream.data, stream.size, (uint64_t)columns, &block);
  ashuf_buffer_free(&stream);
  return block;
}

/* The least CPU time of a few decodes, in seconds. */
static double decode_seconds(const struct ashuf_buffer *block) {
  double least = 1e9;
  for (int i = 0; i < 3; i++) {
    ashuf_ctx *ctx = context_in(NULL);
    struct ashuf_error error;
    clock_t start = clock();
    ashuf_status status = decode_block(ctx, block->data, block->size, NULL, NULL, NULL, &error);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (status != ASHUF_OK) fail_msg("%s", error.message);
    if (seconds < least) least = seconds;
    ashuf_ctx_free(ctx);
  }
  return least;
}

static void a_dictionary_shared_by_columns_has_the_values_in_each(void **state) {
  (void)state;
  struct ashuf_buffer block = shared_block(200, 1000);
  ashuf_ctx *ctx = context_in(NULL);
  const ashuf_schema *schema = NULL;
  struct ArrowArray batch;
  struct ArrowSchema exported;
  assert_int_equal(decode_block(ctx, block.data, block.size, NULL, &schema, &batch, NULL),
                   ASHUF_OK);
  assert_int_equal(context_stats(ctx).messages_parsed, 3);
  assert_int_equal(ashuf_schema_export(schema, &exported, NULL), ASHUF_OK);
  struct test_column plain[200];
  for (int i = 0; i < 200; i++)
    plain[i] = column_strings("d", "u", (const char *[]){"00000000", "00000999"}, 2);
  struct test_column want = batch_of(plain, 200);
  for (int64_t row = 0; row < 2; row++) {
    char *got = value_text(&exported, &batch, row);
    char *wanted = value_text(&want.schema, &want.array, row);
    assert_string_equal(got, wanted);
    free(got);
    free(wanted);
  }
  column_free(&want);
  exported.release(&exported);
  batch.release(&batch);
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&block);
}

/* The dictionary is read and validated once, not for each of its columns. */
static void a_dictionary_shared_by_200_columns_is_read_once(void **state) {
  (void)state;
  struct ashuf_buffer one = shared_block(1, 400000);
  struct ashuf_buffer many = shared_block(200, 400000);
  double alone = decode_seconds(&one);
  double shared = decode_seconds(&many);
  if (shared > 10 * alone + 0.02)
    fail_msg("1 column %.4f s, 200 columns of the same dictionary %.4f s", alone, shared);
  ashuf_buffer_free(&one);
  ashuf_buffer_free(&many);
}

static struct test_column dictionary_columns(int n) {
  const int64_t indices[] = {1, 0, 1};
  struct test_column *columns = malloc((size_t)n * sizeof *columns);
  for (int i = 0; i < n; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "d%d", i);
    columns[i] = column_dictionary(name, "c", indices, NULL, 3,
                                   column_strings("", "u", (const char *[]){"no", name}, 2));
  }
  struct test_column batch = batch_of(columns, n);
  free(columns);
  return batch;
}

static void ten_thousand_dictionary_columns_take_linear_time(void **state) {
  (void)state;
  struct test_column few = dictionary_columns(1000);
  struct test_column many = dictionary_columns(10000);
  struct ashuf_buffer small = blocks_of(&few, ASHUF_CODEC_NONE);
  struct ashuf_buffer large = blocks_of(&many, ASHUF_CODEC_NONE);
  ashuf_ctx *ctx = context_in(NULL);
  assert_int_equal(expect_blocks_equal(ctx, &large, NULL, &many, NULL, 0), 1);
  assert_int_equal(context_stats(ctx).messages_parsed, 2 + 10000);
  double less = decode_seconds(&small);
  double more = decode_seconds(&large);
  if (more > 40 * less + 0.1) fail_msg("1,000 columns %.4f s, 10,000 columns %.4f s", less, more);
  ashuf_ctx_free(ctx);
  ashuf_buffer_free(&small);
  ashuf_buffer_free(&large);
  column_free(&few);
  column_free(&many);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t13_dictionaries_change_with_the_cache_warm_and_cold),
      cmocka_unit_test(t13_a_null_value_entry_is_a_null),
      cmocka_unit_test(t49_a_given_block_with_dictionaries_keeps_no_more_than_itself),
      cmocka_unit_test(a_dictionary_shared_by_columns_has_the_values_in_each),
      cmocka_unit_test(a_dictionary_shared_by_200_columns_is_read_once),
      cmocka_unit_test(ten_thousand_dictionary_columns_take_linear_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A block decoded in every other way than the plain one, by a context that all inputs share: given
 * away, as a payload, held against a schema, some columns of it, with too little allowed. All ways
 * agree with the plain one. What is read is written as pieces of memory and row by row.
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 100
#define MOST_COLUMNS 64

struct read {
  ashuf_status status;
  struct ashuf_error error;
  struct ashuf_block_info info;
  const ashuf_schema *schema;
  struct ArrowArray batch;
};

static ashuf_ctx *ctx;
static ashuf_schema *earlier; /* of the last block that was good */

static struct ashuf_decode_options defaults(void) {
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  options.max_decoded_bytes = FUZZ_MOST_OUTPUT;
  return options;
}

static void decode(struct ashuf_bytes *block, const struct ashuf_decode_options *options,
                   struct read *out) {
  memset(out, 0, sizeof *out);
  out->info = (struct ashuf_block_info)ASHUF_BLOCK_INFO_INIT;
  out->status =
      ashuf_block_decode(ctx, block, options, &out->schema, &out->batch, &out->info, &out->error);
  if (out->status == ASHUF_OK) fuzz_decoded += out->info.stream_size;
}

static char *text_of(const struct read *read) {
  int64_t rows = read->batch.length < MOST_ROWS ? read->batch.length : MOST_ROWS;
  return fuzz_batch_text(read->schema, &read->batch, rows);
}

static void release(struct read *read) {
  if (read->status == ASHUF_OK) read->batch.release(&read->batch);
}

/* The same failure in the same place, or the same values. */
static void require_same(const struct read *plain, const struct read *other, const char *what) {
  if (plain->status != other->status ||
      (plain->status != ASHUF_OK &&
       (plain->error.site != other->error.site || plain->error.offset != other->error.offset)))
    fuzz_fail(what);
  if (plain->status != ASHUF_OK) return;
  char *a = text_of(plain), *b = text_of(other);
  if (strcmp(a, b) != 0) fuzz_fail(what);
  free(a);
  free(b);
}

/* ---- Given away -------------------------------------------------------------------------- */

static int gone;

static void let_go(struct ashuf_bytes *bytes) {
  gone++;
  free(bytes->private_data);
}

/* At an address where the values of a block without a codec can stay where they are, or not. */
static void give(const uint8_t *data, size_t size, size_t shift, const struct read *plain) {
  struct read given;
  struct ashuf_decode_options options = defaults();
  uint8_t *owner = aligned_alloc(64, (size + shift + 64) / 64 * 64);
  if (owner == NULL) abort();
  if (size != 0) memcpy(owner + shift, data, size);
  struct ashuf_bytes block = {owner + shift, size, let_go, owner};
  gone = 0;
  decode(&block, &options, &given);
  require_same(plain, &given, "a block that is given away differs");
  if ((given.status == ASHUF_OK) != (block.release == NULL)) fuzz_fail("who has the block?");
  if (given.status != ASHUF_OK && gone != 0) fuzz_fail("a refused block is gone");
  release(&given);
  if (block.release != NULL) block.release(&block);
  if (gone != 1) fuzz_fail("a block that was given away is not let go once");
}

/* ---- Payload, schema, limits --------------------------------------------------------------- */

static void as_payload(const uint8_t *data, size_t size, const struct read *plain) {
  struct read read = {.info = ASHUF_BLOCK_INFO_INIT};
  struct ashuf_block_info head = ASHUF_BLOCK_INFO_INIT;
  struct ashuf_decode_options options = defaults();
  if (size < ASHUF_BLOCK_HEADER_SIZE || ashuf_block_peek(data, size, &head, NULL) != ASHUF_OK ||
      head.size != size)
    return;
  struct ashuf_bytes payload = {data + 16, size - 16, NULL, NULL};
  read.status = ashuf_payload_decode(ctx, &payload, head.columns, &options, &read.schema,
                                     &read.batch, &read.info, &read.error);
  require_same(plain, &read, "a payload differs from its block");
  release(&read);
}

static void against_schemas(const uint8_t *data, size_t size, ashuf_schema *own) {
  struct ashuf_bytes block = {data, size, NULL, NULL};
  struct ashuf_decode_options options = defaults();
  struct read read;
  options.expected = own;
  decode(&block, &options, &read);
  if (read.status != ASHUF_OK) fuzz_fail("a block is refused for its own schema");
  release(&read);
  if (earlier != NULL) {
    options.expected = earlier;
    decode(&block, &options, &read);
    if ((read.status == ASHUF_OK) != (ashuf_schema_equal(earlier, own) == 1))
      fuzz_fail("another block's schema is not told by ashuf_schema_equal");
    release(&read);
  }
  ashuf_schema_free(earlier);
  earlier = ashuf_schema_ref(own);
}

static void with_too_little(const uint8_t *data, size_t size, const struct read *plain) {
  struct ashuf_bytes block = {data, size, NULL, NULL};
  struct ashuf_decode_options options = defaults();
  struct read read;
  options.max_decoded_bytes = plain->info.stream_size - 1;
  decode(&block, &options, &read);
  if (read.status != ASHUF_SIZE_LIMIT) fuzz_fail("a limit below the stream's size is not kept");
}

/* ---- Some columns ------------------------------------------------------------------------ */

static void some_columns(const uint8_t *data, size_t size, const struct read *plain,
                         uint64_t choice) {
  int32_t columns[MOST_COLUMNS];
  struct ashuf_bytes block = {data, size, NULL, NULL};
  struct ashuf_decode_options options = defaults();
  struct read read;
  size_t n = 0;
  for (int64_t i = plain->batch.n_children - 1; i >= 0; i--)
    if (n < MOST_COLUMNS && (choice >> (i & 63) & 1) != 0) columns[n++] = (int32_t)i;
  if (n == 0) return;
  options.projection = columns;
  options.n_projection = n;
  decode(&block, &options, &read);
  if (read.status != ASHUF_OK) fuzz_fail("some columns of a good block are not read");
  struct ArrowArray *chosen[MOST_COLUMNS];
  struct read whole = *plain;
  for (size_t i = 0; i < n; i++) chosen[i] = plain->batch.children[columns[i]];
  whole.batch.children = chosen;
  whole.batch.n_children = (int64_t)n;
  whole.schema = read.schema;
  require_same(&whole, &read, "some columns differ from those of the whole");
  release(&read);
}

/* ---- Written in other ways ----------------------------------------------------------------- */

static void as_pieces(ashuf_schema *schema, const struct ArrowArray *batch) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_buffer joined = ASHUF_BUFFER_INIT;
  struct ashuf_segments pieces = ASHUF_SEGMENTS_INIT;
  options.codec = ASHUF_CODEC_NONE;
  ashuf_status status = ashuf_block_encode(ctx, schema, batch, &options, &joined, NULL);
  if (ashuf_block_encode_iov(ctx, schema, batch, &options, &pieces, NULL) != status)
    fuzz_fail("pieces are not written alike");
  size_t at = 0;
  for (size_t i = 0; i < pieces.n; i++) {
    if (pieces.list[i].size > joined.size - at ||
        memcmp(joined.data + at, pieces.list[i].data, pieces.list[i].size) != 0)
      fuzz_fail("pieces have other bytes");
    at += pieces.list[i].size;
  }
  if (at != joined.size) fuzz_fail("pieces have fewer bytes");
  ashuf_segments_free(&pieces);
  ashuf_buffer_free(&joined);
}

/* Backwards, every second row twice; then read again. */
static void row_by_row(ashuf_schema *schema, const struct ArrowArray *batch, uint64_t choice) {
  int64_t rows[2 * MOST_ROWS];
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_decode_options reading = defaults();
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct read read;
  int64_t n = 0;
  for (int64_t i = batch->length - 1; i >= 0; i--) {
    rows[n++] = i;
    if (i % 2 == 0) rows[n++] = i;
  }
  options.codec = ASHUF_CODEC_NONE + (int)(choice & 3);
  options.layout = choice >> 2 & 1;
  options.max_rows = choice >> 3 & 1 ? 7 : 0;
  if (ashuf_block_encode_rows(ctx, schema, batch, rows, n, &options, &out, NULL) == ASHUF_OK) {
    for (size_t at = 0; at < out.size; at += read.info.size) {
      struct ashuf_block_info head = ASHUF_BLOCK_INFO_INIT;
      if (ashuf_block_peek(out.data + at, out.size - at, &head, NULL) != ASHUF_OK)
        fuzz_fail("chosen rows make a bad header");
      struct ashuf_bytes block = {out.data + at, head.size, NULL, NULL};
      decode(&block, &reading, &read);
      if (read.status != ASHUF_OK) fuzz_fail("chosen rows make a block that is not read");
      n -= read.batch.length;
      release(&read);
    }
    if (n != 0) fuzz_fail("chosen rows are lost");
  }
  ashuf_buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *input = fuzz_guard(data, size);
  struct ashuf_decode_options options = defaults();
  struct read plain;
  uint64_t choice = size;
  if (input == NULL) return 0;
  if (ctx == NULL && ashuf_ctx_new(NULL, &ctx, NULL) != ASHUF_OK) abort();
  for (size_t i = 0; i < size; i++) choice = choice * 0x9E3779B97F4A7C15u + data[i];
  choice ^= choice >> 29;
  struct ashuf_bytes block = {input, size, NULL, NULL};
  decode(&block, &options, &plain);
  ashuf_schema *own = plain.status == ASHUF_OK ? ashuf_schema_ref(plain.schema) : NULL;
  plain.schema = own;
  give(input, size, choice >> 40 & 1 ? 44 : choice >> 41 & 63, &plain);
  as_payload(input, size, &plain);
  if (plain.status == ASHUF_OK) {
    against_schemas(input, size, own);
    with_too_little(input, size, &plain);
    some_columns(input, size, &plain, choice);
    if (plain.batch.length <= MOST_ROWS) as_pieces(own, &plain.batch);
    if (plain.batch.length <= MOST_ROWS) row_by_row(own, &plain.batch, choice >> 20);
  }
  release(&plain);
  ashuf_schema_free(own);
  return 0;
}

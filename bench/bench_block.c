/*
 * One block at a time: decode and encode beside memcpy and the raw codecs on the same bytes.
 * What the arms are and what they are for: docs/PERFORMANCE.md.
 *
 * Groups are named read/<mix>/<columns>x<rows>/<codec> and write/... likewise.
 */
#include "ipc/metadata.h"
#include "support_codecs.h"
#include "support_columns.h"
#include "support_harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIANTS 5 /* one more than the schema cache holds */

static void check(ashuf_status status, const struct ashuf_error *error) {
  if (status != ASHUF_OK) fprintf(stderr, "%s: %s\n", ashuf_status_name(status), error->message);
  bench_require(status == ASHUF_OK, "a call of the library failed");
}

/* ---- Input --------------------------------------------------------------------------------- */

struct shape {
  enum bench_mix mix;
  int columns;
  int64_t rows;
  int codec;
};

/* A batch, its schema and its block. */
struct input {
  struct ArrowSchema schema;
  struct ArrowArray array;
  ashuf_schema *imported;
  struct ashuf_buffer block;
};

static struct ashuf_encode_options encode_options(int codec) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  options.codec = codec;
  return options;
}

static void make_input_as(struct input *input, const struct shape *shape,
                          const struct ashuf_encode_options *options, int variant) {
  struct ashuf_error error;
  ashuf_ctx *ctx = NULL;
  memset(input, 0, sizeof *input);
  bench_columns(shape->mix, shape->columns, shape->rows, variant, &input->schema, &input->array);
  check(ashuf_schema_import(&input->schema, NULL, &input->imported, &error), &error);
  check(ashuf_ctx_new(NULL, &ctx, &error), &error);
  check(ashuf_block_encode(ctx, input->imported, &input->array, options, &input->block, &error),
        &error);
  ashuf_ctx_free(ctx);
}

static void make_input(struct input *input, const struct shape *shape, int codec, int variant) {
  struct ashuf_encode_options options = encode_options(codec);
  make_input_as(input, shape, &options, variant);
}

static void free_input(struct input *input) {
  ashuf_buffer_free(&input->block);
  ashuf_schema_free(input->imported);
  input->schema.release(&input->schema);
  input->array.release(&input->array);
}

static uint8_t *aligned(size_t size) {
  uint8_t *memory = aligned_alloc(64, (size + 191) / 64 * 64);
  bench_require(memory != NULL, "out of memory");
  return memory;
}

/* ---- Decoding ------------------------------------------------------------------------------ */

/* Blocks decoded in turn through one context. */
struct decode_arm {
  ashuf_ctx *ctx;
  struct ashuf_decode_options options;
  void (*release)(struct ashuf_bytes *bytes); /* NULL: borrowed */
  const uint8_t *blocks[VARIANTS];
  size_t sizes[VARIANTS];
  int n_blocks;
  int next;
};

static void given_release(struct ashuf_bytes *bytes) { bytes->release = NULL; }

static void decode(void *state) {
  struct decode_arm *arm = state;
  struct ashuf_error error;
  const ashuf_schema *schema = NULL;
  struct ArrowArray batch;
  struct ashuf_bytes bytes = {arm->blocks[arm->next], arm->sizes[arm->next], arm->release, NULL};
  if (++arm->next == arm->n_blocks) arm->next = 0;
  check(ashuf_block_decode(arm->ctx, &bytes, &arm->options, &schema, &batch, NULL, &error), &error);
  batch.release(&batch);
}

/* cache_entries 0: the default. */
static void make_decode(struct decode_arm *arm, uint32_t cache_entries, int validate, bool given) {
  struct ashuf_error error;
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.schema_cache_entries = cache_entries;
  memset(arm, 0, sizeof *arm);
  arm->options = (struct ashuf_decode_options)ASHUF_DECODE_OPTIONS_INIT;
  arm->options.validate = validate;
  if (given) arm->release = given_release;
  check(ashuf_ctx_new(&options, &arm->ctx, &error), &error);
}

static void add_block(struct decode_arm *arm, const uint8_t *data, size_t size) {
  arm->blocks[arm->n_blocks] = data;
  arm->sizes[arm->n_blocks++] = size;
}

/* ---- Peers --------------------------------------------------------------------------------- */

struct parse_arm {
  const uint8_t *metadata;
  size_t size;
};

static void parse(void *state) {
  const struct parse_arm *arm = state;
  struct ashuf_error error;
  struct message message;
  ashuf_schema *schema = NULL;
  check(message_read(arm->metadata, arm->size, 0, &message, &error), &error);
  check(schema_read(&message, NULL, &schema, &error), &error);
  ashuf_schema_free(schema);
}

struct copy_arm {
  const uint8_t *from;
  uint8_t *to;
  size_t size;
};

static void copy(void *state) {
  const struct copy_arm *arm = state;
  memcpy(arm->to, arm->from, arm->size);
  __asm__ volatile("" : : "r"(arm->to) : "memory");
}

struct raw_arm {
  struct raw_codec *raw;
  const uint8_t *in;
  size_t size;
  uint8_t *out;
  size_t room;
};

static void decompress(void *state) {
  const struct raw_arm *arm = state;
  bench_require(raw_decompress(arm->raw, arm->in, arm->size, arm->out, arm->room) == arm->room,
                "the raw decompressor gives other bytes");
}

static void compress_whole(void *state) {
  const struct raw_arm *arm = state;
  (void)raw_compress_whole(arm->raw, arm->in, arm->size, arm->out, arm->room);
}

static void compress_steps(void *state) {
  const struct raw_arm *arm = state;
  (void)raw_compress_steps(arm->raw, arm->in, arm->size, arm->out, arm->room);
}

/* ---- A group's material -------------------------------------------------------------------- */

struct material {
  struct shape shape;
  struct input inputs[VARIANTS];
  struct input plain;           /* the same rows with codec NONE */
  struct input offsets;         /* and with offsets kept as offsets */
  struct ashuf_block_info info; /* of the first block */
  uint8_t *home;                /* plain's block, where its body is aligned */
  struct copy_arm body;         /* plain's body */
  struct parse_arm parse;
  struct raw_arm raw; /* the payload to the stream */
};

static struct ashuf_block_info block_info(const struct ashuf_buffer *block) {
  struct decode_arm arm;
  struct ashuf_error error;
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  const ashuf_schema *schema = NULL;
  struct ArrowArray batch;
  struct ashuf_bytes bytes = {block->data, block->size, NULL, NULL};
  make_decode(&arm, 0, ASHUF_VALIDATE_FULL, false);
  check(ashuf_block_decode(arm.ctx, &bytes, NULL, &schema, &batch, &info, &error), &error);
  batch.release(&batch);
  ashuf_ctx_free(arm.ctx);
  return info;
}

static void make_raw(struct material *m) {
  const struct ashuf_buffer *block = &m->inputs[0].block;
  m->raw = (struct raw_arm){.raw = raw_codec_new(m->shape.codec),
                            .in = block->data + ASHUF_BLOCK_HEADER_SIZE,
                            .size = block->size - ASHUF_BLOCK_HEADER_SIZE,
                            .out = aligned((size_t)m->info.stream_size),
                            .room = (size_t)m->info.stream_size};
  decompress(&m->raw); /* its output is what the write arms compress */
}

static void make_material(struct material *m, const struct shape *shape) {
  memset(m, 0, sizeof *m);
  m->shape = *shape;
  for (int i = 0; i < VARIANTS; i++) make_input(&m->inputs[i], shape, shape->codec, i);
  make_input(&m->plain, shape, ASHUF_CODEC_NONE, 0);
  struct ashuf_encode_options options = encode_options(shape->codec);
  options.offsets_as_lengths = ASHUF_OFFSETS_AS_LENGTHS_OFF;
  make_input_as(&m->offsets, shape, &options, 0);
  const struct ashuf_buffer *plain = &m->plain.block;
  /* 44 mod 64: then the stream behind the header is aligned, and so is the body in it. */
  m->home = aligned(plain->size + 64);
  memcpy(m->home + 44, plain->data, plain->size);
  struct ashuf_block_info info = block_info(plain);
  const uint8_t *end = m->home + 44 + plain->size;
  m->body = (struct copy_arm){end - 8 - info.body_size, aligned((size_t)info.body_size),
                              (size_t)info.body_size};
  uint32_t metadata;
  memcpy(&metadata, m->home + 44 + ASHUF_BLOCK_HEADER_SIZE + 4, sizeof metadata);
  m->parse = (struct parse_arm){m->home + 44 + ASHUF_BLOCK_HEADER_SIZE + 8, metadata};
  m->info = block_info(&m->inputs[0].block);
  if (shape->codec != ASHUF_CODEC_NONE) make_raw(m);
}

static void free_material(struct material *m) {
  for (int i = 0; i < VARIANTS; i++) free_input(&m->inputs[i]);
  free_input(&m->plain);
  free_input(&m->offsets);
  free(m->home);
  free(m->body.to);
  free(m->raw.out);
  raw_codec_free(m->raw.raw);
}

static void group_name(const char *way, const struct shape *shape, char *out, size_t size) {
  snprintf(out, size, "%s/%s/%dx%d/%s", way, bench_mix_names[shape->mix], shape->columns,
           (int)shape->rows, ashuf_codec_name(shape->codec));
}

/* ---- Read ---------------------------------------------------------------------------------- */

enum {
  READ_FULL,
  READ_TRUSTED,
  READ_GIVEN,
  READ_GIVEN_TRUSTED,
  READ_UNCACHED,
  READ_FIVE,
  READ_FIVE_UNCACHED,
  READ_OFFSETS,
  READ_ARMS
};

static void make_read_arms(const struct material *m, struct decode_arm *arms) {
  make_decode(&arms[READ_FULL], 0, ASHUF_VALIDATE_FULL, false);
  make_decode(&arms[READ_TRUSTED], 0, ASHUF_VALIDATE_TRUSTED, false);
  make_decode(&arms[READ_GIVEN], 0, ASHUF_VALIDATE_FULL, true);
  make_decode(&arms[READ_GIVEN_TRUSTED], 0, ASHUF_VALIDATE_TRUSTED, true);
  make_decode(&arms[READ_UNCACHED], UINT32_MAX, ASHUF_VALIDATE_FULL, false);
  make_decode(&arms[READ_FIVE], 0, ASHUF_VALIDATE_FULL, false);
  make_decode(&arms[READ_FIVE_UNCACHED], UINT32_MAX, ASHUF_VALIDATE_FULL, false);
  make_decode(&arms[READ_OFFSETS], 0, ASHUF_VALIDATE_FULL, false);
  add_block(&arms[READ_OFFSETS], m->offsets.block.data, m->offsets.block.size);
  for (int i = 0; i < READ_OFFSETS; i++) {
    const struct ashuf_buffer *block = &m->inputs[0].block;
    if (i == READ_GIVEN || i == READ_GIVEN_TRUSTED)
      add_block(&arms[i], m->home + 44, m->plain.block.size);
    else if (i != READ_FIVE && i != READ_FIVE_UNCACHED)
      add_block(&arms[i], block->data, block->size);
  }
  for (int i = 0; i < VARIANTS; i++) {
    const struct ashuf_buffer *block = &m->inputs[i].block;
    add_block(&arms[READ_FIVE], block->data, block->size);
    add_block(&arms[READ_FIVE_UNCACHED], block->data, block->size);
  }
}

/* The first arm's floor: what must be done to the bytes, and validation. */
static void add_floor(struct material *m, int given, int given_trusted) {
  if (m->shape.codec == ASHUF_CODEC_NONE) {
    int body = bench_arm("memcpy of the body", copy, &m->body);
    bench_base(bench_sum("floor: memcpy + given away", body, given, -1));
  } else {
    int raw = bench_arm("raw decompressor", decompress, &m->raw);
    bench_base(bench_sum("floor: raw + validation", raw, given, given_trusted));
  }
}

static void read_group(struct material *m) {
  struct decode_arm arms[READ_ARMS];
  bool none = m->shape.codec == ASHUF_CODEC_NONE;
  make_read_arms(m, arms);
  bench_arm("decode", decode, &arms[READ_FULL]);
  bench_arm("decode trusted", decode, &arms[READ_TRUSTED]);
  int given = bench_arm(none ? "given away" : "none, given away", decode, &arms[READ_GIVEN]);
  int trusted = bench_arm(none ? "given away trusted" : "none, given away trusted", decode,
                          &arms[READ_GIVEN_TRUSTED]);
  bench_arm("decode without a cache", decode, &arms[READ_UNCACHED]);
  bench_arm("five schemas, cache of four", decode, &arms[READ_FIVE]);
  bench_arm("five schemas without a cache", decode, &arms[READ_FIVE_UNCACHED]);
  if (m->info.offsets_as_lengths) bench_arm("offsets as offsets", decode, &arms[READ_OFFSETS]);
  bench_arm("schema parse alone", parse, &m->parse);
  add_floor(m, given, trusted);
  bench_run();
  for (int i = 0; i < READ_ARMS; i++) ashuf_ctx_free(arms[i].ctx);
}

/* ---- Write --------------------------------------------------------------------------------- */

struct encode_arm {
  ashuf_ctx *ctx;             /* NULL: a new one each time */
  const ashuf_schema *schema; /* NULL: imported each time, its message encoded each time */
  const struct input *input;
  struct ashuf_encode_options options;
  struct ashuf_buffer out;
  struct ashuf_segments segments; /* of lend */
};

static void lend(void *state) {
  struct encode_arm *arm = state;
  struct ashuf_error error;
  ashuf_segments_clear(&arm->segments);
  check(ashuf_block_encode_iov(arm->ctx, arm->schema, &arm->input->array, &arm->options,
                               &arm->segments, &error),
        &error);
}

static void encode(void *state) {
  struct encode_arm *arm = state;
  struct ashuf_error error;
  ashuf_ctx *ctx = arm->ctx;
  const ashuf_schema *schema = arm->schema;
  ashuf_schema *fresh = NULL;
  if (ctx == NULL) check(ashuf_ctx_new(NULL, &ctx, &error), &error);
  if (schema == NULL) {
    check(ashuf_schema_import(&arm->input->schema, NULL, &fresh, &error), &error);
    schema = fresh;
  }
  arm->out.size = 0;
  check(ashuf_block_encode(ctx, schema, &arm->input->array, &arm->options, &arm->out, &error),
        &error);
  ashuf_schema_free(fresh);
  if (arm->ctx == NULL) ashuf_ctx_free(ctx);
}

static void make_encode(struct encode_arm *arm, const struct material *m, bool keep_ctx,
                        bool keep_schema) {
  struct ashuf_error error;
  memset(arm, 0, sizeof *arm);
  arm->input = &m->inputs[0];
  arm->options = encode_options(m->shape.codec);
  if (keep_schema) arm->schema = m->inputs[0].imported;
  if (keep_ctx) check(ashuf_ctx_new(NULL, &arm->ctx, &error), &error);
}

static void add_raw_compressor(struct material *m, struct raw_arm *arm) {
  size_t room = raw_bound(m->raw.raw, m->raw.room);
  *arm = (struct raw_arm){m->raw.raw, m->raw.out, m->raw.room, aligned(room), room};
  bench_base(bench_arm("raw compressor, one call", compress_whole, arm));
  if (m->shape.codec != ASHUF_CODEC_SNAPPY)
    bench_arm("raw compressor, 64 KiB steps", compress_steps, arm);
}

enum { WRITE_KEPT, WRITE_NEW_CTX, WRITE_NEW_SCHEMA, WRITE_ARROW_RS, WRITE_OFFSETS, WRITE_ARMS };

static void write_group(struct material *m) {
  struct encode_arm arms[WRITE_ARMS];
  struct raw_arm raw = {0};
  bool none = m->shape.codec == ASHUF_CODEC_NONE;
  for (int i = 0; i < WRITE_ARMS; i++)
    make_encode(&arms[i], m, i != WRITE_NEW_CTX, i != WRITE_NEW_SCHEMA);
  arms[WRITE_ARROW_RS].options.layout = ASHUF_LAYOUT_ARROW_RS;
  arms[WRITE_OFFSETS].options.offsets_as_lengths = ASHUF_OFFSETS_AS_LENGTHS_OFF;
  bench_arm("encode", encode, &arms[WRITE_KEPT]);
  bench_arm("new context each time", encode, &arms[WRITE_NEW_CTX]);
  bench_arm("new schema each time", encode, &arms[WRITE_NEW_SCHEMA]);
  bench_arm("layout arrow-rs", encode, &arms[WRITE_ARROW_RS]);
  if (none) bench_arm("as an iovec", lend, &arms[WRITE_KEPT]);
  if (m->info.offsets_as_lengths) bench_arm("offsets as offsets", encode, &arms[WRITE_OFFSETS]);
  int body = bench_arm("memcpy of the body", copy, &m->body);
  if (none)
    bench_base(body);
  else
    add_raw_compressor(m, &raw);
  bench_run();
  for (int i = 0; i < WRITE_ARMS; i++) {
    ashuf_buffer_free(&arms[i].out);
    ashuf_segments_free(&arms[i].segments);
    ashuf_ctx_free(arms[i].ctx);
  }
  free(raw.out);
}

/* ---- All of them --------------------------------------------------------------------------- */

static void run_groups(const struct shape *shape) {
  static const struct {
    const char *name;
    void (*run)(struct material *m);
  } ways[] = {{"read", read_group}, {"write", write_group}};
  char name[64];
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    group_name(ways[i].name, shape, name, sizeof name);
    if (!bench_group(name)) continue;
    struct material m;
    make_material(&m, shape);
    ways[i].run(&m);
    free_material(&m);
  }
}

static void run_shapes(enum bench_mix mix) {
  static const int64_t rows[] = {64, 512, 8192};
  for (int columns = 5; columns <= 50; columns += 45)
    for (int i = 0; i < 3; i++)
      for (int codec = ASHUF_CODEC_NONE; codec <= ASHUF_CODEC_SNAPPY; codec++) {
        struct shape shape = {mix, columns, rows[i], codec};
        bool quick = columns == 5 && i == 0;
        if (ashuf_codec_available(codec) && (quick || !bench_is_quick())) run_groups(&shape);
      }
}

int main(int argc, char **argv) {
  bench_begin(argc, argv, raw_versions());
  struct shape fixed = {MIX_PR, 5, 64, ASHUF_CODEC_NONE};
  struct material control;
  make_material(&control, &fixed);
  bench_set_control(parse, &control.parse);
  for (int mix = 0; mix < MIX_COUNT; mix++) run_shapes((enum bench_mix)mix);
  free_material(&control);
  return bench_end();
}

/*
 * How much memory one block takes once contexts are warm, over mixes, shapes and codecs: every
 * malloc of the process counted, those inside the codec libraries too. Exact, so one run is enough.
 *
 *   bench_allocations        tab-separated, a line a block:
 *     block  codec  body  decode_allocations  decode_bytes  retained  given_allocations
 *     encode_allocations  encode_bytes
 *
 * body: the bytes of the record batch's body. decode: a borrowed block, fully validated; given: one
 * that is handed over. retained: what the batch keeps alive (ashuf_batch_retained_bytes).
 */
#include "support_columns.h"
#include "support_harness.h"

#include <ashuf/ashuf.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM 4 /* calls until contexts and buffers have their sizes */

/* ---- Counting ------------------------------------------------------------------------------ */

static uint64_t allocations, allocated;

static void *counted(void *pointer, size_t size) {
  allocations++;
  allocated += size;
  return pointer;
}

/* The C library's own, which its malloc.h does not declare. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) { return counted(__libc_malloc(size), size); }
void *calloc(size_t count, size_t size) {
  return counted(__libc_calloc(count, size), count * size);
}
void *realloc(void *pointer, size_t size) { return counted(__libc_realloc(pointer, size), size); }
void *aligned_alloc(size_t alignment, size_t size) {
  return counted(__libc_memalign(alignment, size), size);
}

struct count {
  uint64_t allocations, bytes;
};

/* ---- Blocks -------------------------------------------------------------------------------- */

static void check(ashuf_status status, const struct ashuf_error *error) {
  if (status != ASHUF_OK) fprintf(stderr, "%s: %s\n", ashuf_status_name(status), error->message);
  bench_require(status == ASHUF_OK, "a call of the library failed");
}

struct subject {
  struct ArrowSchema arrow_schema;
  struct ArrowArray array;
  ashuf_schema *schema;
  ashuf_ctx *ctx;
  struct ashuf_encode_options options;
  struct ashuf_buffer block;
  struct ashuf_block_info info;
  uint64_t retained;
};

static void encode(struct subject *s) {
  struct ashuf_error error;
  s->block.size = 0;
  check(ashuf_block_encode(s->ctx, s->schema, &s->array, &s->options, &s->block, &error), &error);
}

static void keep_going(struct ashuf_bytes *bytes) { bytes->release = NULL; }

static void decode_as(struct subject *s, void (*release)(struct ashuf_bytes *)) {
  struct ashuf_error error;
  const ashuf_schema *schema;
  struct ArrowArray batch;
  struct ashuf_bytes bytes = {.data = s->block.data, .size = s->block.size, .release = release};
  check(ashuf_block_decode(s->ctx, &bytes, NULL, &schema, &batch, &s->info, &error), &error);
  s->retained = ashuf_batch_retained_bytes(&batch);
  batch.release(&batch);
}
static void decode_given(struct subject *s) { decode_as(s, keep_going); }
static void decode_borrowed(struct subject *s) { decode_as(s, NULL); }

static struct count count_warm(void (*work)(struct subject *), struct subject *s) {
  for (int i = 0; i < WARM; i++) work(s);
  struct count before = {allocations, allocated};
  work(s);
  return (struct count){allocations - before.allocations, allocated - before.bytes};
}

static void print_block(enum bench_mix mix, int columns, int64_t rows, int codec) {
  struct ashuf_error error;
  struct subject s = {.options = ASHUF_ENCODE_OPTIONS_INIT, .info = ASHUF_BLOCK_INFO_INIT};
  s.options.codec = codec;
  bench_columns(mix, columns, rows, 0, &s.arrow_schema, &s.array);
  check(ashuf_schema_import(&s.arrow_schema, NULL, &s.schema, &error), &error);
  check(ashuf_ctx_new(NULL, &s.ctx, &error), &error);
  struct count encoded = count_warm(encode, &s);
  struct count given = count_warm(decode_given, &s);
  struct count decoded = count_warm(decode_borrowed, &s);
  printf("%s/%dx%" PRId64 "\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
         "\t%" PRIu64 "\t%" PRIu64 "\n",
         bench_mix_names[mix], columns, rows, ashuf_codec_name(codec), s.info.body_size,
         decoded.allocations, decoded.bytes, s.retained, given.allocations, encoded.allocations,
         encoded.bytes);
  ashuf_buffer_free(&s.block);
  ashuf_ctx_free(s.ctx);
  ashuf_schema_free(s.schema);
  s.arrow_schema.release(&s.arrow_schema);
  s.array.release(&s.array);
}

int main(void) {
  static const enum bench_mix mixes[] = {MIX_PR, MIX_PR_DICT, MIX_UNIT};
  static const int widths[] = {5, 50};
  static const int64_t rows[] = {64, 512, 8192};
  printf(
      "block\tcodec\tbody\tdecode_allocations\tdecode_bytes\tretained\tgiven_allocations\t"
      "encode_allocations\tencode_bytes\n");
  for (size_t m = 0; m < sizeof mixes / sizeof *mixes; m++)
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
      for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int codec = ASHUF_CODEC_NONE; codec <= ASHUF_CODEC_SNAPPY; codec++)
          print_block(mixes[m], widths[w], rows[r], codec);
  return 0;
}

/* What the codecs write and read: round trips, bytes, independence of write sizes, memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/checksum.h"
#include "codec/codec.h"
#include "support/codec_streams.h"
#include "support/fault.h"

static const size_t sizes[] = {0,     1,     2,     13,     63,     776,         4096,
                               65535, 65536, 65537, 131072, 200000, 1048576 + 3, 131072 + 65536};
#define SIZE_COUNT (sizeof sizes / sizeof sizes[0])

static void round_trip(struct encoder *e, struct decoder *d, int codec, size_t size) {
  static const size_t pieces[] = {1, 7, 4096, 65536, 70000, SIZE_MAX};
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  uint8_t *bytes = codec_sample(size, (uint32_t)size + 3);
  uint8_t *back = malloc(size + 1);
  assert_int_equal(codec_encode(e, codec, bytes, size, &out), ASHUF_OK);
  assert_int_equal(encoder_position(e), size);
  for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
    struct ashuf_error error = {0};
    size_t got = 0;
    if (pieces[i] < 100 && size > 200000) continue;
    ashuf_status status =
        codec_decode(d, codec, out.data, out.size, back, size + 1, pieces[i], &got, &error);
    if (status != ASHUF_OK)
      print_error("%s %zu: %s\n", ashuf_codec_name(codec), size, error.message);
    assert_int_equal(status, ASHUF_OK);
    assert_int_equal(got, size);
    assert_int_equal(decoder_position(d), size);
    assert_memory_equal(back, bytes, size);
  }
  ashuf_buffer_free(&out);
  free(back);
  free(bytes);
}

static void every_size_comes_back_through_every_codec(void **state) {
  (void)state;
  int codecs[4];
  int n = codec_list(codecs);
  struct encoder *e = encoder_new(NULL);
  struct decoder *d = decoder_new(NULL);
  for (int c = 0; c < n; c++)
    for (size_t i = 0; i < SIZE_COUNT; i++) round_trip(e, d, codecs[c], sizes[i]);
  encoder_free(e);
  decoder_free(d);
}

/* A head, a body with room behind it, a tail: nothing is lost where a codec uses the room. */
static void read_in_three(struct decoder *d, int codec, const struct ashuf_buffer *stream,
                          const uint8_t *bytes, size_t size, size_t head, size_t tail,
                          size_t slack) {
  size_t body = size - head - tail;
  uint8_t *out = malloc(body + slack);
  uint8_t *ends = malloc(head + tail + 1);
  size_t got = 0;
  assert_int_equal(decoder_open(d, codec, stream->data, stream->size, size, NULL), ASHUF_OK);
  assert_int_equal(decoder_read(d, ends, head, &got, NULL), ASHUF_OK);
  assert_int_equal(got, head);
  assert_int_equal(decoder_read_part(d, out, body, body, body + slack, &got, NULL), ASHUF_OK);
  assert_int_equal(got, body);
  assert_int_equal(decoder_position(d), head + body);
  assert_true(decoder_bound(d) >= tail);
  assert_int_equal(decoder_read(d, ends + head, tail, &got, NULL), ASHUF_OK);
  assert_int_equal(got, tail);
  assert_int_equal(decoder_close(d, NULL), ASHUF_OK);
  assert_memory_equal(ends, bytes, head);
  assert_memory_equal(out, bytes + head, body);
  assert_memory_equal(ends + head, bytes + size - tail, tail);
  free(ends);
  free(out);
}

/* All of a stream in parts of at least step bytes, whatever more the codec has; what has been
 * decoded to the end is lent instead where the codec can. */
static void read_in_parts(struct decoder *d, uint8_t *out, size_t size, size_t step) {
  for (size_t at = 0; at < size;) {
    size_t least = size - at < step ? size - at : step;
    size_t got = least;
    const uint8_t *bytes = decoder_borrow(d, least);
    if (bytes != NULL)
      memcpy(out + at, bytes, least);
    else
      assert_int_equal(decoder_read_part(d, out + at, least, size - at, size + 8 - at, &got, NULL),
                       ASHUF_OK);
    assert_in_range(got, least, size - at);
    at += got;
    assert_int_equal(decoder_position(d), at);
  }
}

static void parts_and_loans_give_the_stream(void **state) {
  (void)state;
  static const size_t steps[] = {1000, 16384, 65536, 100000};
  int codecs[4];
  int n = codec_list(codecs);
  struct encoder *e = encoder_new(NULL);
  struct decoder *d = decoder_new(NULL);
  for (int i = 0; i < n * 4 * 4; i++) {
    size_t size = (size_t[]){5000, 65536, 65536 + 777, 300000}[i % 4];
    int codec = codecs[i / 4 % n];
    struct ashuf_buffer stream = ASHUF_BUFFER_INIT;
    uint8_t *bytes = codec_sample(size, (uint32_t)i);
    uint8_t *out = malloc(size + 8);
    assert_int_equal(codec_encode(e, codec, bytes, size, &stream), ASHUF_OK);
    assert_int_equal(decoder_open(d, codec, stream.data, stream.size, size, NULL), ASHUF_OK);
    read_in_parts(d, out, size, steps[i / 4 / n]);
    assert_null(decoder_borrow(d, 1));
    assert_int_equal(decoder_close(d, NULL), ASHUF_OK);
    assert_memory_equal(out, bytes, size);
    free(out);
    free(bytes);
    ashuf_buffer_free(&stream);
  }
  encoder_free(e);
  decoder_free(d);
}

/* A small stream is decoded at its first byte; of a large one the work buffer is used again. */
static void decoded_bytes_are_lent_once_all_are_there(void **state) {
  (void)state;
  int codecs[4];
  int n = codec_list(codecs);
  struct encoder *e = encoder_new(NULL);
  struct decoder *d = decoder_new(NULL);
  for (int i = 0; i < 2 * n; i++) {
    size_t size = i < n ? 5000 : 300000;
    int codec = codecs[i % n];
    struct ashuf_buffer stream = ASHUF_BUFFER_INIT;
    uint8_t *bytes = codec_sample(size, 7);
    uint8_t head[1000];
    size_t got = 0;
    assert_int_equal(codec_encode(e, codec, bytes, size, &stream), ASHUF_OK);
    assert_int_equal(decoder_open(d, codec, stream.data, stream.size, 4999, NULL), ASHUF_OK);
    assert_int_equal(decoder_read(d, head, sizeof head, &got, NULL), ASHUF_OK);
    assert_null(decoder_borrow(d, 4000)); /* beyond the limit */
    const uint8_t *lent = decoder_borrow(d, 3000);
    assert_int_equal(lent != NULL, codec == ASHUF_CODEC_NONE || size == 5000);
    if (lent != NULL) assert_memory_equal(lent, bytes + 1000, 3000);
    free(bytes);
    ashuf_buffer_free(&stream);
  }
  encoder_free(e);
  decoder_free(d);
}

static void what_reaches_past_a_body_is_kept(void **state) {
  (void)state;
  static const size_t heads[] = {0, 40, 900};
  static const size_t tails[] = {0, 1, 8, 64, 3000};
  static const size_t slacks[] = {0, 1, 8, 64, 70000};
  int codecs[4];
  int n = codec_list(codecs);
  struct encoder *e = encoder_new(NULL);
  struct decoder *d = decoder_new(NULL);
  for (int i = 0; i < n * 3 * 5 * 5 * 4; i++) {
    size_t size = (size_t[]){5000, 65536, 65536 + 777, 300000}[i % 4];
    int codec = codecs[i / 4 % n];
    int k = i / 4 / n;
    struct ashuf_buffer stream = ASHUF_BUFFER_INIT;
    uint8_t *bytes = codec_sample(size, (uint32_t)i);
    assert_int_equal(codec_encode(e, codec, bytes, size, &stream), ASHUF_OK);
    read_in_three(d, codec, &stream, bytes, size, heads[k % 3], tails[k / 3 % 5], slacks[k / 15]);
    ashuf_buffer_free(&stream);
    free(bytes);
  }
  encoder_free(e);
  decoder_free(d);
}

/* One stream written in random pieces by all three ways of writing. */
static void write_split(struct encoder *e, const uint8_t *bytes, size_t size, uint32_t *random) {
  size_t at = 0;
  while (at < size) {
    uint32_t way = codec_random(random, 4);
    size_t n = 1 + codec_random(random, way == 0 ? 20 : way == 1 ? ENCODER_PIECE : 150000);
    if (n > size - at) n = size - at;
    size_t zeros = 0;
    while (zeros < n && bytes[at + zeros] == 0) zeros++;
    if (zeros == n) {
      encoder_zeros(e, n);
    } else if (n <= ENCODER_PIECE && way < 2) {
      memcpy(encoder_reserve(e, n), bytes + at, n);
      encoder_commit(e, n);
    } else {
      encoder_write(e, bytes + at, n);
    }
    at += n;
  }
}

static void split_and_compare(struct encoder *e, struct encoder *fresh, int codec, size_t size,
                              uint32_t *random) {
  struct ashuf_buffer one = ASHUF_BUFFER_INIT;
  struct ashuf_buffer other = ASHUF_BUFFER_INIT;
  uint8_t *bytes = codec_sample(size, codec_random(random, 1000));
  for (size_t i = 0; i < size; i++)
    if ((i / 20000) % 3 == 1) bytes[i] = 0;
  encoder_trim(fresh, 0);
  assert_int_equal(codec_encode(fresh, codec, bytes, size, &one), ASHUF_OK);
  assert_int_equal(encoder_open(e, codec, 0, 0, &other, NULL, NULL), ASHUF_OK);
  write_split(e, bytes, size, random);
  assert_int_equal(encoder_close(e, NULL), ASHUF_OK);
  assert_int_equal(one.size, other.size);
  assert_memory_equal(one.data, other.data, one.size);
  ashuf_buffer_free(&one);
  ashuf_buffer_free(&other);
  free(bytes);
}

static void bytes_depend_on_the_content_alone(void **state) {
  (void)state;
  int codecs[4];
  int n = codec_list(codecs);
  uint32_t random = 20261130;
  struct encoder *e = encoder_new(NULL);
  struct encoder *fresh = encoder_new(NULL);
  for (int round = 0; round < 12; round++)
    for (int c = 0; c < n; c++)
      for (size_t i = 1; i < SIZE_COUNT; i++) {
        if (sizes[i] > 300000 && round > 1) continue;
        split_and_compare(e, fresh, codecs[c], sizes[i], &random);
      }
  encoder_free(e);
  encoder_free(fresh);
}

static void expect_start(struct encoder *e, int codec, size_t size, const uint8_t *start,
                         size_t start_size) {
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  uint8_t *bytes = codec_sample(size, 5);
  if (!ashuf_codec_available(codec)) {
    free(bytes);
    return;
  }
  assert_int_equal(codec_encode(e, codec, bytes, size, &out), ASHUF_OK);
  assert_true(out.size >= start_size);
  assert_memory_equal(out.data, start, start_size);
  ashuf_buffer_free(&out);
  free(bytes);
}

static void frames_begin_with_the_documented_bytes(void **state) {
  (void)state;
  static const uint8_t lz4[] = {0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82};
  static const uint8_t lz4_empty[] = {0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82, 0, 0, 0, 0};
  static const uint8_t zstd[] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x48};
  static const uint8_t zstd_small[] = {0x28, 0xB5, 0x2F, 0xFD, 0x00};
  static const uint8_t snappy[] = {0xFF, 6, 0, 0, 0x73, 0x4E, 0x61, 0x50, 0x70, 0x59};
  struct encoder *e = encoder_new(NULL);
  expect_start(e, ASHUF_CODEC_LZ4, 1000, lz4, sizeof lz4);
  expect_start(e, ASHUF_CODEC_LZ4, 0, lz4_empty, sizeof lz4_empty);
  expect_start(e, ASHUF_CODEC_ZSTD, 200000, zstd, sizeof zstd);
  expect_start(e, ASHUF_CODEC_ZSTD, 1000, zstd_small, sizeof zstd_small);
  expect_start(e, ASHUF_CODEC_SNAPPY, 1000, snappy, sizeof snappy);
  encoder_free(e);
}

static void each_lz4_block_holds_64_kib(void **state) {
  (void)state;
  if (!ashuf_codec_available(ASHUF_CODEC_LZ4)) skip();
  struct encoder *e = encoder_new(NULL);
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  uint32_t random = 1;
  uint8_t *noise = malloc(150000);
  for (size_t i = 0; i < 150000; i++) noise[i] = (uint8_t)codec_random(&random, 256);
  assert_int_equal(codec_encode(e, ASHUF_CODEC_LZ4, noise, 150000, &out), ASHUF_OK);
  /* Noise does not shrink: three stored blocks of 65536, 65536 and 18928 bytes. */
  assert_int_equal(out.size, 7 + 3 * 4 + 150000 + 4);
  static const uint8_t full[4] = {0, 0, 1, 0x80};
  static const uint8_t rest[4] = {0xF0, 0x49, 0, 0x80};
  assert_memory_equal(out.data + 7, full, 4);
  assert_memory_equal(out.data + 7 + 65540, full, 4);
  assert_memory_equal(out.data + 7 + 2 * 65540, rest, 4);
  ashuf_buffer_free(&out);
  encoder_free(e);
  free(noise);
}

static void checksums_give_the_published_values(void **state) {
  (void)state;
  uint32_t crc = crc32c_update(0, "123456789", 9);
  assert_int_equal(crc, 0xE3069283u);
  assert_int_equal(((crc >> 15) | (crc << 17)) + 0xA282EAD8u, 0xC78AB0E5u);
  assert_int_equal(crc32c_update(crc32c_update(0, "1234", 4), "56789", 5), crc);
  assert_int_equal(crc32c_update(0, "", 0), 0);
  assert_int_equal(xxh32_of("", 0), 0x02CC5D05u);
  assert_int_equal(xxh32_of("a", 1), 0x550D7456u);
  assert_int_equal(xxh32_of("abc", 3), 0x32D153FFu);
  static const char text[] = "Nobody inspects the spammish repetition";
  assert_int_equal(xxh32_of(text, sizeof text - 1), 0xE2293B2Fu);
  for (size_t cut = 0; cut < sizeof text; cut++) {
    struct xxh32 x;
    xxh32_begin(&x);
    xxh32_update(&x, text, cut);
    xxh32_update(&x, text + cut, sizeof text - 1 - cut);
    assert_int_equal(xxh32_end(&x), 0xE2293B2Fu);
  }
}

static uint8_t *read_file(const char *name, size_t *size) {
  char path[512];
  const char *root = getenv("ASHUF_TEST_DATA");
  if (root == NULL) return NULL;
  (void)snprintf(path, sizeof path, "%s/data/own_golden/blocks/%s", root, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  uint8_t *bytes = malloc(4096);
  *size = fread(bytes, 1, 4096, file);
  (void)fclose(file);
  return bytes;
}

static void golden_blocks_hold_the_same_stream(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int codec;
  } blocks[] = {{"ex_lz4.bin", ASHUF_CODEC_LZ4},
                {"ex_zstd.bin", ASHUF_CODEC_ZSTD},
                {"ex_snap.bin", ASHUF_CODEC_SNAPPY},
                {"ex_snap_literal.bin", ASHUF_CODEC_SNAPPY},
                {"ex_snap_stored.bin", ASHUF_CODEC_SNAPPY}};
  size_t plain_size = 0;
  uint8_t *plain = read_file("ex_none.bin", &plain_size);
  if (plain == NULL) {
    print_message("skipped: ASHUF_TEST_DATA is not set\n");
    skip();
  }
  assert_int_equal(plain_size, 796);
  struct decoder *d = decoder_new(NULL);
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
    size_t size = 0;
    size_t got = 0;
    uint8_t back[1000];
    if (!ashuf_codec_available(blocks[i].codec)) continue;
    uint8_t *block = read_file(blocks[i].name, &size);
    assert_int_equal(
        codec_decode(d, blocks[i].codec, block + 20, size - 20, back, sizeof back, 100, &got, NULL),
        ASHUF_OK);
    assert_int_equal(got, 776);
    assert_memory_equal(back, plain + 20, 776);
    free(block);
  }
  decoder_free(d);
  free(plain);
}

static void levels_outside_the_codec_are_refused_and_inside_come_back(void **state) {
  (void)state;
  static const struct {
    int codec, level, status;
  } cases[] = {{ASHUF_CODEC_LZ4, 0, 0},   {ASHUF_CODEC_LZ4, 3, 0},   {ASHUF_CODEC_LZ4, 12, 0},
               {ASHUF_CODEC_LZ4, 1, 0},   {ASHUF_CODEC_LZ4, -1, 1},  {ASHUF_CODEC_LZ4, 13, 1},
               {ASHUF_CODEC_ZSTD, -5, 0}, {ASHUF_CODEC_ZSTD, 0, 0},  {ASHUF_CODEC_ZSTD, 3, 0},
               {ASHUF_CODEC_ZSTD, 19, 0}, {ASHUF_CODEC_ZSTD, 22, 0}, {ASHUF_CODEC_ZSTD, 23, 1},
               {ASHUF_CODEC_ZSTD, 1, 0}};
  struct encoder *e = encoder_new(NULL);
  struct decoder *d = decoder_new(NULL);
  uint8_t *bytes = codec_sample(300000, 9);
  uint8_t *back = malloc(300001);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct ashuf_buffer out = ASHUF_BUFFER_INIT;
    size_t got = 0;
    if (!ashuf_codec_available(cases[i].codec)) continue;
    assert_int_equal(encoder_open(e, cases[i].codec, 1, cases[i].level, &out, NULL, NULL),
                     cases[i].status);
    if (cases[i].status != 0) continue;
    encoder_write(e, bytes, 300000);
    assert_int_equal(encoder_close(e, NULL), ASHUF_OK);
    assert_int_equal(
        codec_decode(d, cases[i].codec, out.data, out.size, back, 300001, 300001, &got, NULL),
        ASHUF_OK);
    assert_int_equal(got, 300000);
    assert_memory_equal(back, bytes, 300000);
    ashuf_buffer_free(&out);
  }
  free(bytes);
  free(back);
  encoder_free(e);
  decoder_free(d);
}

static struct ashuf_memory_stats stats_of(const ashuf_memory *memory) {
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &stats);
  return stats;
}

static void all_codecs_once(struct encoder *e, struct decoder *d, ashuf_memory *memory,
                            struct ashuf_buffer *out, const uint8_t *bytes, size_t size,
                            uint8_t *back) {
  int codecs[4];
  int n = codec_list(codecs);
  for (int c = 0; c < n; c++) {
    size_t got = 0;
    out->size = 0;
    assert_int_equal(encoder_open(e, codecs[c], 0, 0, out, memory, NULL), ASHUF_OK);
    encoder_write(e, bytes, size);
    assert_int_equal(encoder_close(e, NULL), ASHUF_OK);
    assert_int_equal(
        codec_decode(d, codecs[c], out->data, out->size, back, size + 1, 50000, &got, NULL),
        ASHUF_OK);
    assert_int_equal(got, size);
  }
}

static void nothing_is_allocated_in_steady_state(void **state) {
  (void)state;
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  struct encoder *e = encoder_new(memory);
  struct decoder *d = decoder_new(memory);
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  uint8_t *bytes = codec_sample(500000, 1);
  uint8_t *back = malloc(500001);
  all_codecs_once(e, d, memory, &out, bytes, 500000, back);
  all_codecs_once(e, d, memory, &out, bytes, 900, back);
  struct ashuf_memory_stats warm = stats_of(memory);
  for (int i = 0; i < 5; i++) {
    all_codecs_once(e, d, memory, &out, bytes, 500000, back);
    all_codecs_once(e, d, memory, &out, bytes, 900, back);
  }
  struct ashuf_memory_stats after = stats_of(memory);
  assert_int_equal(after.allocations, warm.allocations);
  assert_int_equal(after.total, warm.total);
  /* What the codec libraries hold themselves is charged, and does not grow either. */
  assert_int_equal(after.now, warm.now);
  print_message("held warm: %llu bytes, out %zu\n", (unsigned long long)warm.now, out.capacity);
  ashuf_buffer_free(&out);
  encoder_free(e);
  decoder_free(d);
  assert_int_equal(stats_of(memory).now, 0);
  ashuf_memory_free(memory);
  free(bytes);
  free(back);
}

static void trim_drops_what_is_over_the_cap(void **state) {
  (void)state;
  ashuf_memory *memory = NULL;
  assert_int_equal(ashuf_memory_new(NULL, &memory, NULL), ASHUF_OK);
  struct encoder *e = encoder_new(memory);
  struct decoder *d = decoder_new(memory);
  uint64_t bare = stats_of(memory).now;
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  uint8_t *bytes = codec_sample(500000, 1);
  uint8_t *back = malloc(500001);
  all_codecs_once(e, d, NULL, &out, bytes, 500000, back);
  uint64_t full = stats_of(memory).now;
  int codecs[4];
  assert_true(full > bare || codec_list(codecs) == 1);
  encoder_trim(e, 1u << 30);
  decoder_trim(d, 1u << 30);
  assert_int_equal(stats_of(memory).now, full);
  encoder_trim(e, 1024);
  decoder_trim(d, 1024);
  assert_true(stats_of(memory).now <= bare + 4096);
  encoder_trim(e, 0);
  decoder_trim(d, 0);
  assert_int_equal(stats_of(memory).now, bare);
  all_codecs_once(e, d, NULL, &out, bytes, 500000, back);
  ashuf_buffer_free(&out);
  encoder_free(e);
  decoder_free(d);
  ashuf_memory_free(memory);
  free(bytes);
  free(back);
}

static ashuf_status encode_and_decode(ashuf_memory *memory, struct ashuf_error *error, void *data) {
  const uint8_t *bytes = data;
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  uint8_t *back = malloc(200000);
  struct encoder *e = encoder_new(memory);
  struct decoder *d = decoder_new(memory);
  ashuf_status status = ASHUF_OK;
  if (e == NULL || d == NULL)
    status = error_set(error, ASHUF_OUT_OF_MEMORY, 0, "no encoder or decoder");
  int codecs[4];
  int n = codec_list(codecs);
  for (int c = 0; c < n && status == ASHUF_OK; c++) {
    out.size = 0;
    status = encoder_open(e, codecs[c], 0, 0, &out, memory, error);
    if (status != ASHUF_OK) break;
    for (size_t at = 0; at < 200000; at += 10000) {
      memcpy(encoder_reserve(e, 10000), bytes + at, 10000);
      encoder_commit(e, 10000);
    }
    encoder_zeros(e, 30000);
    status = encoder_close(e, error);
    size_t got = 0;
    if (status == ASHUF_OK) status = decoder_open(d, codecs[c], out.data, out.size, 230000, error);
    if (status == ASHUF_OK) status = decoder_read(d, back, 200000, &got, error);
    if (status == ASHUF_OK) assert_memory_equal(back, bytes, 200000);
    if (status == ASHUF_OK) status = decoder_read(d, back, 30000, &got, error);
    if (status == ASHUF_OK) status = decoder_close(d, error);
  }
  encoder_free(e);
  decoder_free(d);
  ashuf_buffer_free(&out);
  free(back);
  return status;
}

static void every_failed_allocation_is_reported(void **state) {
  (void)state;
  uint8_t *bytes = codec_sample(200000, 4);
  fault_sweep(encode_and_decode, bytes);
  free(bytes);
}

static void a_memory_limit_bounds_the_codecs_own_memory(void **state) {
  (void)state;
  if (!ashuf_codec_available(ASHUF_CODEC_ZSTD)) skip();
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  ashuf_memory *memory = NULL;
  options.limit = 256 << 10;
  assert_int_equal(ashuf_memory_new(&options, &memory, NULL), ASHUF_OK);
  struct encoder *e = encoder_new(memory);
  struct ashuf_buffer out = ASHUF_BUFFER_INIT;
  struct ashuf_error error = {0};
  uint8_t *bytes = codec_sample(300000, 4);
  assert_int_equal(encoder_open(e, ASHUF_CODEC_ZSTD, 1, 19, &out, NULL, &error), ASHUF_OK);
  encoder_write(e, bytes, 300000);
  assert_int_equal(encoder_close(e, &error), ASHUF_MEMORY_LIMIT);
  assert_int_equal(error.status, ASHUF_MEMORY_LIMIT);
  out.size = 0;
  assert_int_equal(codec_encode(e, ASHUF_CODEC_NONE, bytes, 300000, &out), ASHUF_OK);
  ashuf_buffer_free(&out);
  encoder_free(e);
  assert_int_equal(stats_of(memory).now, 0);
  ashuf_memory_free(memory);
  free(bytes);
}

static void names_and_availability(void **state) {
  (void)state;
  assert_string_equal(ashuf_codec_name(ASHUF_CODEC_NONE), "none");
  assert_string_equal(ashuf_codec_name(ASHUF_CODEC_LZ4), "lz4");
  assert_string_equal(ashuf_codec_name(ASHUF_CODEC_ZSTD), "zstd");
  assert_string_equal(ashuf_codec_name(ASHUF_CODEC_SNAPPY), "snappy");
  assert_null(ashuf_codec_name(0));
  assert_null(ashuf_codec_name(5));
  assert_null(ashuf_codec_name(-1));
  assert_int_equal(ashuf_codec_available(ASHUF_CODEC_NONE), 1);
  assert_int_equal(ashuf_codec_available(17), 0);
  assert_int_equal(ashuf_codec_available(-3), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_and_availability),
      cmocka_unit_test(checksums_give_the_published_values),
      cmocka_unit_test(every_size_comes_back_through_every_codec),
      cmocka_unit_test(decoded_bytes_are_lent_once_all_are_there),
      cmocka_unit_test(parts_and_loans_give_the_stream),
      cmocka_unit_test(what_reaches_past_a_body_is_kept),
      cmocka_unit_test(bytes_depend_on_the_content_alone),
      cmocka_unit_test(frames_begin_with_the_documented_bytes),
      cmocka_unit_test(each_lz4_block_holds_64_kib),
      cmocka_unit_test(golden_blocks_hold_the_same_stream),
      cmocka_unit_test(levels_outside_the_codec_are_refused_and_inside_come_back),
      cmocka_unit_test(nothing_is_allocated_in_steady_state),
      cmocka_unit_test(trim_drops_what_is_over_the_cap),
      cmocka_unit_test(every_failed_allocation_is_reported),
      cmocka_unit_test(a_memory_limit_bounds_the_codecs_own_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

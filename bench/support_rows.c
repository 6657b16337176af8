#include "support_rows.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support_harness.h"

static void check(ashuf_status status, const struct ashuf_error *error) {
  if (status == ASHUF_OK) return;
  (void)fprintf(stderr, "%s: %s\n", ashuf_status_name(status), error->message);
  bench_require(false, "the rows cannot be had");
}

static void *must(void *pointer) {
  bench_require(pointer != NULL, "out of memory");
  return pointer;
}

/* ---- Batches as blocks --------------------------------------------------------------------- */

static void keep(struct bench_rows *rows, const struct ashuf_buffer *block, int64_t n) {
  if (rows->n == rows->capacity) {
    rows->capacity = rows->capacity == 0 ? 64 : 2 * rows->capacity;
    rows->blocks = must(realloc(rows->blocks, rows->capacity * sizeof *rows->blocks));
  }
  uint8_t *data = must(malloc(block->size));
  memcpy(data, block->data, block->size);
  rows->blocks[rows->n++] = (struct bench_rows_block){data, block->size, n};
  rows->n_rows += n;
}

/* Up to limit rows in all; batch is borrowed. */
static void add(struct bench_rows *rows, ashuf_ctx *ctx, const struct ArrowArray *batch,
                int64_t limit) {
  struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_buffer block = ASHUF_BUFFER_INIT;
  struct ashuf_error error;
  options.codec = ASHUF_CODEC_NONE;
  options.max_body = (uint64_t)1 << 30;
  for (int64_t at = 0; at < batch->length && rows->n_rows < limit; at += BENCH_BATCH_ROWS) {
    struct ArrowArray slice = *batch;
    slice.offset += at;
    slice.length = batch->length - at;
    if (slice.length > BENCH_BATCH_ROWS) slice.length = BENCH_BATCH_ROWS;
    if (slice.length > limit - rows->n_rows) slice.length = limit - rows->n_rows;
    block.size = 0;
    check(ashuf_block_encode(ctx, rows->schema, &slice, &options, &block, &error), &error);
    keep(rows, &block, slice.length);
  }
  ashuf_buffer_free(&block);
}

struct ArrowArray bench_rows_batch(const struct bench_rows *rows, ashuf_ctx *ctx, size_t i) {
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  struct ashuf_bytes bytes = {rows->blocks[i].data, rows->blocks[i].size, NULL, NULL};
  struct ashuf_error error;
  const ashuf_schema *schema;
  struct ArrowArray batch;
  options.validate = ASHUF_VALIDATE_TRUSTED;
  check(ashuf_block_decode(ctx, &bytes, &options, &schema, &batch, NULL, &error), &error);
  return batch;
}

void bench_rows_free(struct bench_rows *rows) {
  for (size_t i = 0; i < rows->n; i++) free(rows->blocks[i].data);
  free(rows->blocks);
  ashuf_schema_free(rows->schema);
  memset(rows, 0, sizeof *rows);
}

/* ---- From a file --------------------------------------------------------------------------- */

void bench_rows_read(struct bench_rows *rows, const char *path, int64_t limit) {
  struct ashuf_ipc_read_options options = ASHUF_IPC_READ_OPTIONS_INIT;
  struct ashuf_error error;
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  ashuf_ctx *ctx = NULL;
  memset(rows, 0, sizeof *rows);
  options.validate = ASHUF_VALIDATE_TRUSTED;
  check(ashuf_ctx_new(NULL, &ctx, &error), &error);
  check(ashuf_ipc_read_path(path, &options, &stream, &error), &error);
  bench_require(stream.get_schema(&stream, &schema) == 0, "the file has no schema");
  check(ashuf_schema_import(&schema, NULL, &rows->schema, &error), &error);
  schema.release(&schema);
  while (rows->n_rows < limit) {
    struct ArrowArray batch;
    bench_require(stream.get_next(&stream, &batch) == 0, "the file cannot be read");
    if (batch.release == NULL) break;
    add(rows, ctx, &batch, limit);
    batch.release(&batch);
  }
  stream.release(&stream);
  ashuf_ctx_free(ctx);
}

/* ---- Made ---------------------------------------------------------------------------------- */

enum made { LONG_KEY, SMALL_KEY, NUMBER, DECIMAL, DATE, TIME, LETTER, WORD, TEXT, HEX, PATH };

struct made_column {
  const char *name;
  const char *format;
  enum made made;
};

#define MAX_COLUMNS 16

static const struct made_column lineitem[] = {
    {"l_orderkey", "l", LONG_KEY},     {"l_partkey", "l", SMALL_KEY},
    {"l_suppkey", "l", SMALL_KEY},     {"l_linenumber", "i", NUMBER},
    {"l_quantity", "d:15,2", DECIMAL}, {"l_extendedprice", "d:15,2", DECIMAL},
    {"l_discount", "d:15,2", DECIMAL}, {"l_tax", "d:15,2", DECIMAL},
    {"l_returnflag", "u", LETTER},     {"l_linestatus", "u", LETTER},
    {"l_shipdate", "tdD", DATE},       {"l_commitdate", "tdD", DATE},
    {"l_receiptdate", "tdD", DATE},    {"l_shipinstruct", "u", WORD},
    {"l_shipmode", "u", WORD},         {"l_comment", "u", TEXT}};
static const struct made_column events[] = {
    {"id", "u", HEX},        {"session", "u", HEX}, {"kind", "u", WORD}, {"path", "u", PATH},
    {"referrer", "u", PATH}, {"agent", "u", TEXT},  {"note", "u", TEXT}, {"at", "tsu:UTC", TIME}};

static const char *const words[] = {"DELIVER IN PERSON", "COLLECT COD", "NONE",
                                    "TAKE BACK RETURN",  "TRUCK",       "MAIL",
                                    "REG AIR",           "SHIP"};

static uint64_t random_bits(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static bool is_text(enum made made) { return made >= LETTER; }

static size_t value_size(enum made made) {
  if (made == DECIMAL) return 16;
  return made == LONG_KEY || made == SMALL_KEY || made == TIME ? 8 : 4;
}

static void fill_fixed(enum made made, uint64_t *state, int64_t first, uint8_t *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    uint64_t value = random_bits(state);
    uint64_t wide[2] = {value % 10000000, 0};
    if (made == LONG_KEY) wide[0] = (uint64_t)(first + i) / 4;
    if (made == SMALL_KEY) wide[0] = value % 200000;
    if (made == NUMBER) wide[0] = 1 + value % 7;
    if (made == DATE) wide[0] = 8000 + value % 2500;
    if (made == TIME) wide[0] = 1700000000000000u + (uint64_t)(first + i) * 1000 + value % 1000;
    memcpy(out + (size_t)i * value_size(made), wide, value_size(made));
  }
}

#define LONGEST_TEXT 48

static int32_t fill_text(enum made made, uint64_t *state, char *out) {
  static const char letters[] = "acdeilnorstu quickly";
  uint64_t value = random_bits(state);
  if (made == WORD) {
    const char *word = words[value % 8];
    memcpy(out, word, strlen(word));
    return (int32_t)strlen(word);
  }
  if (made == PATH)
    return (int32_t)snprintf(out, LONGEST_TEXT, "/item/%u/%u", (unsigned)(value % 100),
                             (unsigned)(value >> 32 & 0xffffff));
  if (made == HEX)
    return (int32_t)snprintf(out, LONGEST_TEXT, "%016llx", (unsigned long long)value);
  int32_t size = made == LETTER ? 1 : 10 + (int32_t)(value % 34);
  for (int32_t i = 0; i < size; i++) out[i] = letters[random_bits(state) % (sizeof letters - 1)];
  return size;
}

static size_t fill_texts(enum made made, uint64_t *state, int32_t *offsets, char *bytes,
                         int64_t n) {
  int32_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    offsets[i] = at;
    at += fill_text(made, state, bytes + at);
  }
  offsets[n] = at;
  return (size_t)at;
}

struct made_batch {
  struct ArrowArray columns[MAX_COLUMNS];
  struct ArrowArray *children[MAX_COLUMNS];
  const void *buffers[MAX_COLUMNS][3];
  void *memory[MAX_COLUMNS][2];
  const void *validity;
};

static void release_column(struct ArrowArray *array) { array->release = NULL; }

static void make_column(struct made_batch *batch, int column, enum made made, uint64_t *state,
                        int64_t first, int64_t n) {
  void **memory = batch->memory[column];
  if (is_text(made)) {
    (void)fill_texts(made, state, memory[0], memory[1], n);
  } else {
    fill_fixed(made, state, first, memory[0], n);
  }
  batch->columns[column].length = n;
}

static void open_batch(struct made_batch *batch, const struct made_column *columns, int count) {
  memset(batch, 0, sizeof *batch);
  for (int i = 0; i < count; i++) {
    bool text = is_text(columns[i].made);
    void **memory = batch->memory[i];
    memory[0] = must(malloc((BENCH_BATCH_ROWS + 1) * (text ? 4 : value_size(columns[i].made))));
    if (text) memory[1] = must(malloc((size_t)BENCH_BATCH_ROWS * LONGEST_TEXT));
    batch->buffers[i][1] = memory[0];
    batch->buffers[i][2] = memory[1];
    batch->columns[i] = (struct ArrowArray){
        .n_buffers = text ? 3 : 2, .buffers = batch->buffers[i], .release = release_column};
    batch->children[i] = &batch->columns[i];
  }
}

static void close_batch(struct made_batch *batch) {
  for (int i = 0; i < MAX_COLUMNS; i++) {
    free(batch->memory[i][0]);
    free(batch->memory[i][1]);
  }
}

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static ashuf_schema *make_schema(const struct made_column *columns, int count) {
  struct ArrowSchema children[MAX_COLUMNS];
  struct ArrowSchema *pointers[MAX_COLUMNS];
  struct ArrowSchema root = {
      .format = "+s", .n_children = count, .children = pointers, .release = release_schema};
  struct ashuf_error error;
  ashuf_schema *schema = NULL;
  for (int i = 0; i < count; i++) {
    children[i] = (struct ArrowSchema){.format = columns[i].format,
                                       .name = columns[i].name,
                                       .flags = ARROW_FLAG_NULLABLE,
                                       .release = release_schema};
    pointers[i] = &children[i];
  }
  check(ashuf_schema_import(&root, NULL, &schema, &error), &error);
  return schema;
}

void bench_rows_make(struct bench_rows *rows, const char *kind, int64_t limit) {
  bool is_events = strcmp(kind, "events") == 0;
  const struct made_column *columns = is_events ? events : lineitem;
  int count = is_events ? (int)(sizeof events / sizeof *events) : MAX_COLUMNS;
  struct made_batch batch;
  struct ashuf_error error;
  ashuf_ctx *ctx = NULL;
  uint64_t state = 1;
  memset(rows, 0, sizeof *rows);
  rows->schema = make_schema(columns, count);
  check(ashuf_ctx_new(NULL, &ctx, &error), &error);
  open_batch(&batch, columns, count);
  while (rows->n_rows < limit) {
    struct ArrowArray root = {.length = BENCH_BATCH_ROWS,
                              .n_buffers = 1,
                              .buffers = &batch.validity,
                              .n_children = count,
                              .children = batch.children,
                              .release = release_column};
    for (int i = 0; i < count; i++)
      make_column(&batch, i, columns[i].made, &state, rows->n_rows, BENCH_BATCH_ROWS);
    add(rows, ctx, &root, limit);
  }
  close_batch(&batch);
  ashuf_ctx_free(ctx);
}

/*
 * The whole writer on rows like those of TPC-H lineitem (16 columns, some 180 bytes a row), blocks
 * thrown away: nanoseconds a row, and how much anonymous memory it took at most.
 *
 *   bench_writer [ROWS [PARTITIONS [CODEC [LIMIT_MIB [THREADS]]]]]     one run
 *   bench_writer                                                       a table of them
 */
#include <ashuf/ashuf.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH_ROWS 8192
#define N_COLUMNS 16
#define DEFAULT_ROWS 2000000

enum kind { LONG_KEY, INT, DECIMAL, LETTER, DATE, WORD, TEXT };

static const struct {
  const char *name;
  enum kind kind;
} columns[N_COLUMNS] = {
    {"orderkey", LONG_KEY}, {"partkey", LONG_KEY},  {"suppkey", LONG_KEY}, {"linenumber", INT},
    {"quantity", DECIMAL},  {"price", DECIMAL},     {"discount", DECIMAL}, {"tax", DECIMAL},
    {"returnflag", LETTER}, {"linestatus", LETTER}, {"shipdate", DATE},    {"commitdate", DATE},
    {"receiptdate", DATE},  {"shipinstruct", WORD}, {"shipmode", WORD},    {"comment", TEXT}};
static const char *const formats[] = {"l", "i", "d:15,2", "u", "tdD", "u", "u"};
static const char *const words[] = {"DELIVER IN PERSON", "COLLECT COD", "NONE",
                                    "TAKE BACK RETURN",  "TRUCK",       "MAIL",
                                    "REG AIR",           "SHIP"};

static uint64_t state = 1;
static uint64_t random_bits(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static void *must(void *pointer) {
  if (pointer == NULL) abort();
  return pointer;
}
static void check(ashuf_status status, const struct ashuf_error *error) {
  if (status == ASHUF_OK) return;
  (void)fprintf(stderr, "bench_writer: %s\n", error->message);
  exit(1);
}

/* ---- Batches ------------------------------------------------------------------------------ */

/* One allocation: everything a batch consists of. */
struct batch {
  struct ArrowArray columns[N_COLUMNS];
  struct ArrowArray *children[N_COLUMNS];
  const void *pointers[N_COLUMNS * 3];
  const void *root;
};

static void release_child(struct ArrowArray *array) { array->release = NULL; }
static void release_batch(struct ArrowArray *array) {
  free(array->private_data);
  array->release = NULL;
}

static size_t value_size(enum kind kind) { return kind == LONG_KEY ? 8 : kind == DECIMAL ? 16 : 4; }

static void fill_fixed(enum kind kind, int64_t first, uint8_t *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    uint64_t value = random_bits();
    uint64_t wide[2] = {value % 10000000, 0};
    if (kind == LONG_KEY) wide[0] = (uint64_t)(first + i) / 4 + value % 3000000;
    if (kind == INT) wide[0] = value % 7;
    if (kind == DATE) wide[0] = 8000 + value % 2500;
    memcpy(out + (size_t)i * value_size(kind), wide, value_size(kind));
  }
}

static int32_t text_size(enum kind kind, uint64_t value) {
  if (kind == LETTER) return 1;
  return kind == WORD ? (int32_t)strlen(words[value % 8]) : 10 + (int32_t)(value % 34);
}

static size_t fill_text(enum kind kind, int32_t *offsets, uint8_t *bytes, int64_t n) {
  int32_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t value = random_bits();
    int32_t size = text_size(kind, value);
    offsets[i] = at;
    if (kind == WORD)
      memcpy(bytes + at, words[value % 8], (size_t)size);
    else
      for (int32_t k = 0; k < size; k++)
        bytes[at + k] = (uint8_t)("acdeilnorstu quickly"[(value >> (k & 31)) % 20]);
    at += size;
  }
  offsets[n] = at;
  return (size_t)at;
}

/* A batch whose buffers lie in one allocation of its own. */
static struct ArrowArray make_batch(int64_t first, int64_t n) {
  size_t room = sizeof(struct batch) + (size_t)n * (N_COLUMNS * 48) + 4096;
  uint8_t *memory = must(malloc(room));
  struct batch *batch = (struct batch *)(void *)memory;
  uint8_t *at = memory + sizeof *batch;
  memset(batch, 0, sizeof *batch);
  for (int i = 0; i < N_COLUMNS; i++) {
    enum kind kind = columns[i].kind;
    int text = kind == LETTER || kind == WORD || kind == TEXT;
    at = (uint8_t *)(((uintptr_t)at + 63) & ~(uintptr_t)63);
    batch->pointers[3 * i + 1] = at;
    if (text) {
      uint8_t *bytes = at + ((size_t)n + 1) * 4;
      batch->pointers[3 * i + 2] = bytes;
      at = bytes + fill_text(kind, (int32_t *)(void *)at, bytes, n);
    } else {
      fill_fixed(kind, first, at, n);
      at += (size_t)n * value_size(kind);
    }
    batch->columns[i] = (struct ArrowArray){.length = n,
                                            .n_buffers = text ? 3 : 2,
                                            .buffers = &batch->pointers[3 * i],
                                            .release = release_child};
    batch->children[i] = &batch->columns[i];
  }
  return (struct ArrowArray){.length = n,
                             .n_buffers = 1,
                             .buffers = &batch->root,
                             .n_children = N_COLUMNS,
                             .children = batch->children,
                             .release = release_batch,
                             .private_data = memory};
}

/* The same rows in an allocation of just their size. */
static struct ArrowArray copy_batch(const struct ArrowArray *from) {
  const struct batch *old = from->private_data;
  const uint8_t *start = from->private_data;
  const uint8_t *end = start;
  for (int i = 0; i < N_COLUMNS; i++) {
    const uint8_t *last = old->columns[i].n_buffers == 3
                              ? (const uint8_t *)old->pointers[3 * i + 2] +
                                    ((const int32_t *)old->pointers[3 * i + 1])[from->length]
                              : (const uint8_t *)old->pointers[3 * i + 1] +
                                    (size_t)from->length * value_size(columns[i].kind);
    if (last > end) end = last;
  }
  uint8_t *memory = must(malloc((size_t)(end - start)));
  memcpy(memory, start, (size_t)(end - start));
  struct batch *batch = (struct batch *)(void *)memory;
  for (int i = 0; i < N_COLUMNS; i++) {
    batch->children[i] = &batch->columns[i];
    batch->columns[i].buffers = &batch->pointers[3 * i];
    for (int k = 1; k < batch->columns[i].n_buffers; k++)
      batch->pointers[3 * i + k] = memory + ((const uint8_t *)old->pointers[3 * i + k] - start);
  }
  struct ArrowArray out = *from;
  out.buffers = &batch->root;
  out.children = batch->children;
  out.private_data = memory;
  return out;
}

static void no_release(struct ArrowSchema *schema) { schema->release = NULL; }

static ashuf_partitioner *make_partitioner(int32_t partitions) {
  static const int32_t keys[] = {0, 1};
  struct ArrowSchema children[N_COLUMNS];
  struct ArrowSchema *pointers[N_COLUMNS];
  struct ArrowSchema root = {
      .format = "+s", .n_children = N_COLUMNS, .children = pointers, .release = no_release};
  for (int i = 0; i < N_COLUMNS; i++) {
    children[i] = (struct ArrowSchema){.format = formats[columns[i].kind],
                                       .name = columns[i].name,
                                       .flags = ARROW_FLAG_NULLABLE,
                                       .release = no_release};
    pointers[i] = &children[i];
  }
  struct ashuf_error error;
  struct ashuf_partitioning how = ASHUF_PARTITIONING_INIT;
  ashuf_schema *schema = NULL;
  ashuf_partitioner *out = NULL;
  how.kind = ASHUF_PARTITION_HASH;
  how.partitions = partitions;
  how.keys = keys;
  how.n_keys = 2;
  check(ashuf_schema_import(&root, NULL, &schema, &error), &error);
  check(ashuf_partitioner_new(schema, &how, NULL, &out, &error), &error);
  ashuf_schema_free(schema);
  return out;
}

/* ---- One run ------------------------------------------------------------------------------ */

struct run {
  int64_t rows;
  int32_t partitions;
  int codec;
  uint64_t limit; /* MiB; 0: none */
  int threads;
};

static double seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t peak;
static void sample_memory(void) {
  char line[128];
  FILE *file = fopen("/proc/self/status", "re");
  uint64_t kib = 0;
  if (file == NULL) return;
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "RssAnon: %" SCNu64, &kib) == 1) break;
  (void)fclose(file);
  if (kib > peak) peak = kib;
}

static int take_bytes(void *user_data, const void *bytes, size_t size) {
  uint64_t *left = user_data;
  (void)bytes;
  *left += size;
  if (*left < ((uint64_t)8 << 20)) return 0;
  *left = 0;
  sample_memory();
  return 0;
}

#define N_TEMPLATES 16

static void run_once(const struct run *run) {
  struct ArrowArray templates[N_TEMPLATES];
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  const struct ashuf_encode_options encode = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  struct ashuf_sink sink = ASHUF_SINK_INIT;
  struct ashuf_error error;
  ashuf_writer *writer = NULL;
  uint64_t left = 0;
  double spent = 0;
  for (int i = 0; i < N_TEMPLATES; i++)
    templates[i] = make_batch(i * (run->rows / N_TEMPLATES), BATCH_ROWS);
  options.encode = encode;
  options.encode.codec = run->codec;
  options.memory_limit = run->limit << 20;
  options.threads = run->threads;
  sink.bytes = take_bytes;
  sink.user_data = &left;
  ashuf_partitioner *partitioner = make_partitioner(run->partitions);
  peak = 0;
  sample_memory();
  uint64_t baseline = peak;
  check(ashuf_writer_open_sink(partitioner, &options, &sink, &writer, &error), &error);
  int64_t batch_number = 0;
  for (int64_t done = 0; done < run->rows; done += BATCH_ROWS, batch_number++) {
    struct ArrowArray batch = copy_batch(&templates[batch_number % N_TEMPLATES]);
    /* Keys of their own, so that rows of a template do not meet again in one partition. */
    int64_t *keys = (int64_t *)(uintptr_t)batch.children[0]->buffers[1];
    for (int64_t i = 0; i < BATCH_ROWS; i++) keys[i] += batch_number * 7919;
    double start = seconds();
    check(ashuf_writer_push(writer, &batch, &error), &error);
    spent += seconds() - start;
    if (batch_number % 16 == 0) sample_memory();
  }
  double start = seconds();
  check(ashuf_writer_finish(writer, &output, &error), &error);
  spent += seconds() - start;
  double rows = (double)output.total_rows;
  printf("%10.0f %6d %7s %6" PRIu64 " %3d %8.1f %7.1f %7.1f %7.1f %7.1f %7.1f %5" PRIu64
         " %8.1f %8.1f %9" PRIu64 " %8.1f\n",
         rows, run->partitions, ashuf_codec_name(run->codec), run->limit, run->threads,
         spent * 1e9 / rows, (double)output.partition_ns / rows, (double)output.spill_ns / rows,
         (double)output.read_ns / rows, (double)output.encode_ns / rows,
         (double)output.write_ns / rows, output.spills, (double)output.disk_spilled / 1048576.0,
         (double)output.offsets[output.partitions] / 1048576.0, output.total_blocks,
         (double)(peak - baseline) / 1024.0);
  (void)fflush(stdout);
  ashuf_writer_close(writer);
  ashuf_partitioner_free(partitioner);
  for (int i = 0; i < N_TEMPLATES; i++) templates[i].release(&templates[i]);
}

static int codec_number(const char *name) {
  for (int codec = ASHUF_CODEC_NONE; codec <= ASHUF_CODEC_SNAPPY; codec++)
    if (strcmp(ashuf_codec_name(codec), name) == 0) return codec;
  (void)fprintf(stderr, "bench_writer: unknown codec %s\n", name);
  exit(2);
}

int main(int argc, char **argv) {
  struct run run = {DEFAULT_ROWS, 200, ASHUF_CODEC_LZ4, 0, 1};
  printf("%10s %6s %7s %6s %3s %8s %7s %7s %7s %7s %7s %5s %8s %8s %9s %8s\n", "rows", "parts",
         "codec", "limit", "thr", "ns/row", "place", "spill", "read", "encode", "write", "runs",
         "spillMiB", "outMiB", "blocks", "peakMiB");
  if (argc > 1) {
    run.rows = atoll(argv[1]);
    if (argc > 2) run.partitions = atoi(argv[2]);
    if (argc > 3) run.codec = codec_number(argv[3]);
    if (argc > 4) run.limit = (uint64_t)atoll(argv[4]);
    if (argc > 5) run.threads = atoi(argv[5]);
    run_once(&run);
    return 0;
  }
  static const int32_t partitions[] = {1, 200, 2000, 20000, 50000};
  for (int codec = ASHUF_CODEC_NONE; codec <= ASHUF_CODEC_ZSTD; codec++)
    for (size_t i = 0; i < sizeof partitions / sizeof *partitions; i++)
      for (int threads = 1; threads <= 2; threads++) {
        run.codec = codec;
        run.partitions = partitions[i];
        run.threads = threads;
        run_once(&run);
      }
  return 0;
}

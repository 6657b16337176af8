/*
 * The whole writer: batches pushed, files written, beside a memcpy and the raw compressors over
 * the same rows. bench/shuffle makes the rows, chooses the runs and writes the tables.
 *
 *   bench_shuffle [--rows N] [--dir DIR] lineitem|events|FILE.arrow RUN...
 *
 * The rows are read (or made) once, before anything is timed. A RUN is a list of key=value, parted
 * by commas, and is done in a process of its own, so that what it takes in memory is its own:
 *
 *   what=write      (the default) one writer; below
 *   what=memcpy     the bytes of all batches, into memory that is there
 *   what=raw        the compressor alone, over the streams that blocks of rows / partitions rows
 *                   (8,192 at most) hold, on a quarter of the rows
 *   rows=N partitions=N codec=NAME level=N limit=MIB threads=N
 *   output=files    (the default) in DIR, removed again;  output=none: thrown away
 *
 * Prints a line a run, of tab-separated cells; the first line names them. Times are nanoseconds of
 * the whole run; push and finish are timed, making batches is not. cpu_ns is the time of all
 * threads on the processors: on a busy machine it says more than ns.
 */
#include <ashuf/ashuf.h>

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support_codecs.h"
#include "support_harness.h"
#include "support_rows.h"

#define KEYS 2 /* the first columns; in lineitem l_orderkey and l_partkey */
#define RAW_SHARE 4

enum what { WRITE, MEMCPY, RAW };

struct run {
  enum what what;
  int64_t rows;
  int32_t partitions;
  int codec;
  int level;
  int has_level;
  uint64_t limit; /* MiB; 0: none */
  int threads;
  int files;
};

struct result {
  int64_t rows;
  uint64_t ns;
  uint64_t cpu_ns;
  struct ashuf_map_output output; /* its arrays are gone */
  uint64_t bytes;
  uint64_t baseline; /* KiB resident before the writer was opened */
  uint64_t peak;     /* KiB resident at most, since */
};

static void check(ashuf_status status, const struct ashuf_error *error) {
  if (status == ASHUF_OK) return;
  (void)fprintf(stderr, "%s: %s\n", ashuf_status_name(status), error->message);
  bench_require(false, "a call of the library failed");
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec time;
  (void)clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t now(void) { return clock_ns(CLOCK_MONOTONIC); }

/* A stretch of a run: on the clock, and on the processors, by all threads. */
struct stretch {
  uint64_t ns;
  uint64_t cpu_ns;
};

static struct stretch begin(void) {
  return (struct stretch){now(), clock_ns(CLOCK_PROCESS_CPUTIME_ID)};
}

static void end(struct result *result, struct stretch start) {
  result->ns += now() - start.ns;
  result->cpu_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start.cpu_ns;
}

/* ---- Memory -------------------------------------------------------------------------------- */

/* A line of /proc/self/status, in KiB. */
static uint64_t memory_kib(const char *name) {
  char line[128];
  uint64_t kib = 0;
  FILE *file = fopen("/proc/self/status", "re");
  bench_require(file != NULL, "/proc/self/status cannot be read");
  while (fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, strlen(name)) == 0) {
      kib = strtoull(line + strlen(name), NULL, 10);
      break;
    }
  (void)fclose(file);
  return kib;
}

/* From here on the kernel looks for a new peak. */
static void forget_peak(void) {
  FILE *file = fopen("/proc/self/clear_refs", "we");
  bench_require(file != NULL && fputs("5", file) >= 0 && fclose(file) == 0,
                "/proc/self/clear_refs cannot be written");
}

/* ---- The writer ---------------------------------------------------------------------------- */

static ashuf_partitioner *make_partitioner(ashuf_schema *schema, int32_t partitions) {
  static const int32_t keys[KEYS] = {0, 1};
  struct ashuf_partitioning how = ASHUF_PARTITIONING_INIT;
  struct ashuf_error error;
  ashuf_partitioner *out = NULL;
  how.kind = ASHUF_PARTITION_HASH;
  how.partitions = partitions;
  how.keys = keys;
  how.n_keys = KEYS;
  check(ashuf_partitioner_new(schema, &how, NULL, &out, &error), &error);
  return out;
}

struct paths {
  const char *dir;
  char data[512];
  char index[512];
};

static ashuf_writer *open_writer(const struct run *run, const struct paths *paths,
                                 ashuf_partitioner *partitioner) {
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  const struct ashuf_encode_options encode = ASHUF_ENCODE_OPTIONS_INIT;
  const struct ashuf_sink nowhere = ASHUF_SINK_INIT;
  struct ashuf_error error;
  ashuf_writer *writer = NULL;
  options.encode = encode;
  options.encode.codec = run->codec;
  options.encode.has_level = run->has_level;
  options.encode.level = run->level;
  options.memory_limit = run->limit << 20;
  options.threads = run->threads;
  options.spill_dirs = &paths->dir;
  options.n_spill_dirs = 1;
  check(run->files ? ashuf_writer_open_files(partitioner, &options, paths->data, paths->index,
                                             &writer, &error)
                   : ashuf_writer_open_sink(partitioner, &options, &nowhere, &writer, &error),
        &error);
  return writer;
}

static void push_all(ashuf_writer *writer, const struct bench_rows *rows, ashuf_ctx *ctx,
                     int64_t limit, struct result *result) {
  struct ashuf_error error;
  int64_t done = 0;
  for (size_t i = 0; i < rows->n && done < limit; i++) {
    struct ArrowArray batch = bench_rows_batch(rows, ctx, i);
    if (batch.length > limit - done) batch.length = limit - done;
    done += batch.length;
    struct stretch start = begin();
    check(ashuf_writer_push(writer, &batch, &error), &error);
    end(result, start);
  }
}

static void warm(const struct bench_rows *rows, ashuf_ctx *ctx) {
  struct ArrowArray batch = bench_rows_batch(rows, ctx, 0);
  batch.release(&batch);
  (void)malloc_trim(0);
}

static void write_rows(const struct run *run, const struct bench_rows *rows,
                       const struct paths *paths, struct result *result) {
  struct ashuf_error error;
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  ashuf_ctx *ctx = NULL;
  check(ashuf_ctx_new(NULL, &ctx, &error), &error);
  warm(rows, ctx);
  ashuf_partitioner *partitioner = make_partitioner(rows->schema, run->partitions);
  forget_peak();
  result->baseline = memory_kib("VmRSS:");
  struct stretch start = begin();
  ashuf_writer *writer = open_writer(run, paths, partitioner);
  end(result, start);
  push_all(writer, rows, ctx, run->rows, result);
  start = begin();
  check(ashuf_writer_finish(writer, &output, &error), &error);
  end(result, start);
  result->peak = memory_kib("VmHWM:");
  result->rows = output.total_rows;
  bench_require(output.total_rows == run->rows || output.total_rows == rows->n_rows,
                "the writer has not all rows");
  result->bytes = output.offsets[output.partitions];
  result->output = output;
  ashuf_writer_close(writer);
  ashuf_partitioner_free(partitioner);
  ashuf_ctx_free(ctx);
  (void)unlink(paths->data);
  (void)unlink(paths->index);
}

/* ---- What it is held against --------------------------------------------------------------- */

static void copy_all(const struct bench_rows *rows, int64_t limit, uint8_t *to,
                     struct result *result) {
  struct stretch start = begin();
  memset(result, 0, sizeof *result);
  for (size_t i = 0; i < rows->n && result->rows < limit; i++) {
    memcpy(to + result->bytes, rows->blocks[i].data, rows->blocks[i].size);
    result->bytes += rows->blocks[i].size;
    result->rows += rows->blocks[i].rows;
  }
  __asm__ volatile("" : : "r"(to) : "memory");
  end(result, start);
}

/* A block is its body and 1 to 2 KiB: the block's bytes stand for those of its buffers. */
static void copy_rows(const struct run *run, const struct bench_rows *rows, struct result *result) {
  size_t size = 0;
  for (size_t i = 0; i < rows->n; i++) size += rows->blocks[i].size;
  uint8_t *to = malloc(size);
  bench_require(to != NULL, "out of memory");
  copy_all(rows, run->rows, to, result); /* so that its pages are there */
  copy_all(rows, run->rows, to, result);
  free(to);
}

struct raw_state {
  const struct bench_rows *rows;
  struct raw_codec *raw;
  struct ashuf_encode_options options;
  ashuf_ctx *ctx;
  struct ashuf_buffer block;  /* of one piece */
  struct ashuf_buffer stream; /* what its codec was given; size unused */
  struct ashuf_buffer out;
};

static void make_room(struct ashuf_buffer *buffer, size_t size) {
  if (size <= buffer->capacity) return;
  free(buffer->data);
  buffer->data = malloc(size);
  bench_require(buffer->data != NULL, "out of memory");
  buffer->capacity = size;
}

static uint64_t stream_size(struct raw_state *state) {
  struct ashuf_bytes bytes = {state->block.data, state->block.size, NULL, NULL};
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  struct ashuf_error error;
  const ashuf_schema *schema;
  struct ArrowArray batch;
  check(ashuf_block_decode(state->ctx, &bytes, NULL, &schema, &batch, &info, &error), &error);
  batch.release(&batch);
  return info.stream_size;
}

/* Compresses the stream of one block again; returns the nanoseconds. */
static uint64_t compress_piece(struct raw_state *state, const struct ArrowArray *piece,
                               uint64_t *bytes) {
  struct ashuf_error error;
  state->block.size = 0;
  check(ashuf_block_encode(state->ctx, state->rows->schema, piece, &state->options, &state->block,
                           &error),
        &error);
  size_t size = (size_t)stream_size(state);
  make_room(&state->stream, size);
  make_room(&state->out, raw_bound(state->raw, size));
  bench_require(
      raw_decompress(state->raw, state->block.data + ASHUF_BLOCK_HEADER_SIZE,
                     state->block.size - ASHUF_BLOCK_HEADER_SIZE, state->stream.data, size) == size,
      "the raw decompressor gives other bytes");
  uint64_t start = now();
  *bytes += raw_compress_whole(state->raw, state->stream.data, size, state->out.data,
                               state->out.capacity);
  return now() - start;
}

static void compress_batch(struct raw_state *state, size_t i, int64_t step, struct result *result) {
  struct ArrowArray batch = bench_rows_batch(state->rows, state->ctx, i);
  for (int64_t at = 0; at < batch.length; at += step) {
    struct ArrowArray piece = batch;
    piece.offset = at;
    piece.length = batch.length - at < step ? batch.length - at : step;
    result->ns += compress_piece(state, &piece, &result->bytes);
    result->rows += piece.length;
  }
  batch.release(&batch);
}

static void compress_rows(const struct run *run, const struct bench_rows *rows,
                          struct result *result) {
  struct raw_state state = {.rows = rows, .raw = raw_codec_new(run->codec)};
  const struct ashuf_encode_options options = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_error error;
  int64_t step = run->rows / run->partitions;
  if (step > BENCH_BATCH_ROWS) step = BENCH_BATCH_ROWS;
  if (step < 1) step = 1;
  state.options = options;
  state.options.codec = run->codec;
  check(ashuf_ctx_new(NULL, &state.ctx, &error), &error);
  for (size_t i = 0; i < rows->n && result->rows < (run->rows + RAW_SHARE - 1) / RAW_SHARE; i++)
    compress_batch(&state, i, step, result);
  ashuf_ctx_free(state.ctx);
  ashuf_buffer_free(&state.block);
  free(state.stream.data);
  free(state.out.data);
  raw_codec_free(state.raw);
}

/* ---- Runs ---------------------------------------------------------------------------------- */

static int find(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

static int codec_of(const char *name) {
  for (int codec = ASHUF_CODEC_NONE; codec <= ASHUF_CODEC_SNAPPY; codec++)
    if (strcmp(ashuf_codec_name(codec), name) == 0) return codec;
  return -1;
}

static void set(struct run *run, const char *key, const char *value) {
  static const char *const whats[] = {"write", "memcpy", "raw"};
  static const char *const outputs[] = {"none", "files"};
  int64_t number = strtoll(value, NULL, 10);
  if (strcmp(key, "what") == 0) {
    int what = find(whats, 3, value);
    bench_require(what >= 0, "what is write, memcpy or raw");
    run->what = (enum what)what;
  } else if (strcmp(key, "output") == 0) {
    run->files = find(outputs, 2, value);
  } else if (strcmp(key, "codec") == 0) {
    run->codec = codec_of(value);
  } else if (strcmp(key, "level") == 0) {
    run->level = (int)number;
    run->has_level = 1;
  } else if (strcmp(key, "rows") == 0) {
    run->rows = number;
  } else if (strcmp(key, "partitions") == 0) {
    run->partitions = (int32_t)number;
  } else if (strcmp(key, "limit") == 0) {
    run->limit = (uint64_t)number;
  } else if (strcmp(key, "threads") == 0) {
    run->threads = (int)number;
  } else {
    bench_require(false, "unknown key in a run");
  }
}

static struct run parse(const char *text, int64_t rows) {
  struct run run = {WRITE, rows, 200, ASHUF_CODEC_LZ4, 0, 0, 0, 1, 1};
  char copy[256];
  char *rest = NULL;
  (void)snprintf(copy, sizeof copy, "%s", text);
  for (char *pair = strtok_r(copy, ",", &rest); pair != NULL; pair = strtok_r(NULL, ",", &rest)) {
    char *value = strchr(pair, '=');
    bench_require(value != NULL, "a run is key=value,...");
    *value = '\0';
    set(&run, pair, value + 1);
  }
  bench_require(run.rows > 0 && run.partitions > 0 && run.codec > 0 && run.files >= 0,
                "a run has a wrong value");
  bench_require(run.what != RAW || run.codec != ASHUF_CODEC_NONE, "raw is for a codec");
  return run;
}

static void print_head(void) {
  printf(
      "run\trows\tns\tcpu_ns\tpartition_ns\tspill_ns\tread_ns\tencode_ns\twrite_ns\tblocks\traw_"
      "bytes\t"
      "bytes\tspills\tdisk_spilled\tpeak_kib\tpeak_rss_kib\n");
  (void)fflush(stdout);
}

/* peak_kib: above what was there when the writer was opened, which is the rows and the program;
 * peak_rss_kib: without the rows alone. */
static void print_result(const char *text, const struct result *result, uint64_t held) {
  const struct ashuf_map_output *output = &result->output;
  uint64_t grown = result->peak > result->baseline ? result->peak - result->baseline : 0;
  uint64_t rss = result->peak > held ? result->peak - held : 0;
  printf("%s\t%" PRId64, text, result->rows);
  const uint64_t cells[] = {result->ns,
                            result->cpu_ns,
                            output->partition_ns,
                            output->spill_ns,
                            output->read_ns,
                            output->encode_ns,
                            output->write_ns,
                            output->total_blocks,
                            output->raw_bytes,
                            result->bytes,
                            output->spills,
                            output->disk_spilled,
                            grown,
                            rss};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) printf("\t%" PRIu64, cells[i]);
  printf("\n");
  (void)fflush(stdout);
}

static void do_run(const char *text, const struct run *run, const struct bench_rows *rows,
                   const struct paths *paths) {
  struct result result;
  uint64_t held = 0;
  memset(&result, 0, sizeof result);
  for (size_t i = 0; i < rows->n; i++) held += rows->blocks[i].size;
  if (run->what == WRITE) write_rows(run, rows, paths, &result);
  if (run->what == MEMCPY) copy_rows(run, rows, &result);
  if (run->what == RAW) compress_rows(run, rows, &result);
  print_result(text, &result, held >> 10);
}

/* In a process of its own. Without --dir's files, whatever became of it. */
static void do_apart(const char *text, const struct run *run, const struct bench_rows *rows,
                     const struct paths *paths) {
  int status = 0;
  pid_t child = fork();
  bench_require(child >= 0, "fork failed");
  if (child == 0) {
    do_run(text, run, rows, paths);
    _exit(0);
  }
  bench_require(waitpid(child, &status, 0) == child, "waitpid failed");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  (void)unlink(paths->data);
  (void)unlink(paths->index);
  (void)fprintf(stderr, "%s\n", text);
  bench_require(false, "a run failed");
}

static void get_rows(struct bench_rows *rows, const char *source, int64_t limit) {
  if (strcmp(source, "lineitem") == 0 || strcmp(source, "events") == 0) {
    bench_rows_make(rows, source, limit);
  } else {
    bench_rows_read(rows, source, limit);
  }
  bench_require(rows->n_rows > 0 && ashuf_schema_n_columns(rows->schema) >= KEYS,
                "at least a row and two columns are needed");
  (void)malloc_trim(0);
}

static void usage(void) {
  (void)fprintf(stderr,
                "usage: bench_shuffle [--rows N] [--dir DIR] lineitem|events|FILE.arrow RUN...\n");
  exit(2);
}

int main(int argc, char **argv) {
  int64_t limit = INT64_MAX;
  struct paths paths = {.dir = "."};
  struct bench_rows rows;
  int at = 1;
  for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
    if (strcmp(argv[at], "--rows") == 0)
      limit = strtoll(argv[at + 1], NULL, 10);
    else if (strcmp(argv[at], "--dir") == 0)
      paths.dir = argv[at + 1];
    else
      usage();
  }
  if (at + 1 >= argc) usage();
  if (limit == INT64_MAX && access(argv[at], F_OK) != 0) limit = 1000000;
  (void)snprintf(paths.data, sizeof paths.data, "%s/bench-%ld.data", paths.dir, (long)getpid());
  (void)snprintf(paths.index, sizeof paths.index, "%s/bench-%ld.index", paths.dir, (long)getpid());
  for (int i = at + 1; i < argc; i++) (void)parse(argv[i], 1); /* before what takes long */
  get_rows(&rows, argv[at], limit);
  bench_print_machine(raw_versions());
  print_head();
  for (int i = at + 1; i < argc; i++) {
    struct run run = parse(argv[i], rows.n_rows);
    do_apart(argv[i], &run, &rows, &paths);
  }
  bench_rows_free(&rows);
  return 0;
}

/*
 * Shuffles an Arrow IPC file into buckets in memory, as a client of a remote shuffle service would:
 * the writer's output goes to a sink instead of files. Each bucket is decoded again, block by
 * block.
 *
 *   to_buckets INPUT COLUMN PARTITIONS
 */
#include <ashuf/ashuf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a service would have on another machine: the bytes of each partition. */
struct bucket {
  uint8_t *bytes;
  size_t size;
  size_t capacity;
};

struct service {
  struct bucket *buckets;
  int32_t current;
};

static void check(ashuf_status status, const struct ashuf_error *error) {
  if (status == ASHUF_OK) return;
  fprintf(stderr, "%s: %s\n", ashuf_status_text(status), error->message);
  exit(1);
}

/* ---- The sink ----------------------------------------------------------------------------- */

static int begin(void *user_data, int32_t partition) {
  struct service *service = user_data;
  service->current = partition;
  return 0;
}

/* A service would push a piece of a size it likes; an errno tells the writer to stop. */
static int append(void *user_data, const void *bytes, size_t size) {
  struct service *service = user_data;
  struct bucket *bucket = &service->buckets[service->current];
  if (size > bucket->capacity - bucket->size) {
    size_t capacity =
        bucket->size + size > 2 * bucket->capacity ? bucket->size + size : 2 * bucket->capacity;
    uint8_t *grown = realloc(bucket->bytes, capacity);
    if (grown == NULL) return ENOMEM;
    bucket->bytes = grown;
    bucket->capacity = capacity;
  }
  memcpy(bucket->bytes + bucket->size, bytes, size);
  bucket->size += size;
  return 0;
}

static void abandon(void *user_data) {
  (void)user_data;
  fprintf(stderr, "the buckets are incomplete\n");
}

/* ---- Writing ------------------------------------------------------------------------------ */

static ashuf_partitioner *partition_by(struct ArrowArrayStream *stream, const char *column,
                                       int32_t partitions) {
  struct ashuf_error error;
  struct ArrowSchema exported;
  ashuf_schema *schema;
  ashuf_partitioner *partitioner;
  if (stream->get_schema(stream, &exported) != 0) {
    fprintf(stderr, "%s\n", stream->get_last_error(stream));
    exit(1);
  }
  check(ashuf_schema_import(&exported, NULL, &schema, &error), &error);
  exported.release(&exported);
  int32_t key = (int32_t)ashuf_schema_find_column(schema, column);
  struct ashuf_partitioning how = ASHUF_PARTITIONING_INIT;
  how.kind = ASHUF_PARTITION_HASH;
  how.partitions = partitions;
  how.keys = &key;
  how.n_keys = 1;
  check(ashuf_partitioner_new(schema, &how, NULL, &partitioner, &error), &error);
  ashuf_schema_free(schema);
  return partitioner;
}

static void fill(struct service *service, const char *input, const char *column,
                 int32_t partitions) {
  struct ashuf_error error;
  struct ArrowArrayStream stream;
  check(ashuf_ipc_read_path(input, NULL, &stream, &error), &error);
  ashuf_partitioner *partitioner = partition_by(&stream, column, partitions);

  struct ashuf_sink sink = ASHUF_SINK_INIT;
  sink.user_data = service;
  sink.partition_begin = begin;
  sink.bytes = append;
  sink.abort = abandon;
  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  options.memory_limit = (uint64_t)64 << 20; /* rows beyond that wait in a spill file */
  ashuf_writer *writer;
  check(ashuf_writer_open_sink(partitioner, &options, &sink, &writer, &error), &error);
  struct ArrowArray batch;
  while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL)
    check(ashuf_writer_push(writer, &batch, &error), &error);
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  check(ashuf_writer_finish(writer, &output, &error), &error);
  printf("%" PRId64 " rows written\n", output.total_rows);

  ashuf_writer_close(writer);
  ashuf_partitioner_free(partitioner);
  stream.release(&stream);
}

/* ---- Reading ------------------------------------------------------------------------------ */

static int64_t count_rows(ashuf_ctx *ctx, const struct bucket *bucket) {
  struct ashuf_error error;
  int64_t rows = 0;
  for (size_t at = 0; at < bucket->size;) {
    struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
    check(ashuf_block_peek(bucket->bytes + at, bucket->size - at, &info, &error), &error);
    struct ashuf_bytes block = {bucket->bytes + at, (size_t)info.size, NULL, NULL};
    const ashuf_schema *schema;
    struct ArrowArray batch;
    check(ashuf_block_decode(ctx, &block, NULL, &schema, &batch, NULL, &error), &error);
    rows += batch.length;
    batch.release(&batch);
    at += (size_t)info.size;
  }
  return rows;
}

int main(int argc, char **argv) {
  int32_t partitions = argc == 4 ? (int32_t)strtol(argv[3], NULL, 10) : 0;
  if (partitions < 1) {
    fprintf(stderr, "usage: to_buckets INPUT COLUMN PARTITIONS\n");
    return 2;
  }
  struct service service = {calloc((size_t)partitions, sizeof(struct bucket)), 0};
  struct ashuf_error error;
  ashuf_ctx *ctx;
  if (service.buckets == NULL) return 1;
  fill(&service, argv[1], argv[2], partitions);
  check(ashuf_ctx_new(NULL, &ctx, &error), &error);
  int64_t rows = 0;
  for (int32_t i = 0; i < partitions; i++) {
    rows += count_rows(ctx, &service.buckets[i]);
    free(service.buckets[i].bytes);
  }
  printf("%" PRId64 " rows read\n", rows);
  ashuf_ctx_free(ctx);
  free(service.buckets);
  return 0;
}

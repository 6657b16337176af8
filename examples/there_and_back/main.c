/*
 * Shuffles an Arrow IPC file to partitions by one column, as one map task would, and reads the
 * partitions back, as reduce tasks would.
 *
 *   there_and_back INPUT COLUMN PARTITIONS OUTPUT.data OUTPUT.index
 */
#include <ashuf/ashuf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A program of its own may stop at the first error; ashuf itself never does. */
static void check(ashuf_status status, const struct ashuf_error *error) {
  if (status == ASHUF_OK) return;
  fprintf(stderr, "%s: %s\n", ashuf_status_text(status), error->message);
  exit(1);
}

/* The next batch of a stream; 0 at its end. */
static int next(struct ArrowArrayStream *stream, struct ArrowArray *batch) {
  if (stream->get_next(stream, batch) == 0) return batch->release != NULL;
  fprintf(stderr, "%s\n", stream->get_last_error(stream));
  exit(1);
}

static ashuf_schema *schema_of(struct ArrowArrayStream *stream) {
  struct ashuf_error error;
  struct ArrowSchema exported;
  ashuf_schema *schema;
  if (stream->get_schema(stream, &exported) != 0) {
    fprintf(stderr, "%s\n", stream->get_last_error(stream));
    exit(1);
  }
  check(ashuf_schema_import(&exported, NULL, &schema, &error), &error);
  exported.release(&exported);
  return schema;
}

static void write_all(const char *input, const char *column, int32_t partitions, const char *data,
                      const char *index) {
  struct ashuf_error error;
  struct ArrowArrayStream stream;
  check(ashuf_ipc_read_path(input, NULL, &stream, &error), &error);
  ashuf_schema *schema = schema_of(&stream);

  int32_t key = (int32_t)ashuf_schema_find_column(schema, column);
  struct ashuf_partitioning partitioning = ASHUF_PARTITIONING_INIT;
  partitioning.kind = ASHUF_PARTITION_HASH;
  partitioning.partitions = partitions;
  partitioning.keys = &key;
  partitioning.n_keys = 1;
  ashuf_partitioner *partitioner;
  check(ashuf_partitioner_new(schema, &partitioning, NULL, &partitioner, &error), &error);

  struct ashuf_writer_options options = ASHUF_WRITER_OPTIONS_INIT;
  options.encode.codec = ASHUF_CODEC_ZSTD;
  ashuf_writer *writer;
  check(ashuf_writer_open_files(partitioner, &options, data, index, &writer, &error), &error);
  struct ArrowArray batch;
  while (next(&stream, &batch)) check(ashuf_writer_push(writer, &batch, &error), &error);
  struct ashuf_map_output output = ASHUF_MAP_OUTPUT_INIT;
  check(ashuf_writer_finish(writer, &output, &error), &error);
  printf("%" PRId64 " rows written, %" PRIu64 " bytes\n", output.total_rows,
         output.offsets[output.partitions]);

  ashuf_writer_close(writer);
  ashuf_partitioner_free(partitioner);
  ashuf_schema_free(schema);
  stream.release(&stream);
}

/* The rows of one partition, which are a task's of their own in a real shuffle. */
static int64_t count_rows(const char *data, int32_t partition) {
  struct ashuf_error error;
  struct ashuf_read_options options = ASHUF_READ_OPTIONS_INIT;
  options.first_partition = partition;
  options.end_partition = partition + 1;
  struct ArrowArrayStream stream;
  ashuf_status status = ashuf_read_files(&data, 1, &options, &stream, &error);
  if (status == ASHUF_NO_SCHEMA) return 0; /* no row hashed to this partition */
  check(status, &error);
  int64_t rows = 0;
  struct ArrowArray batch;
  while (next(&stream, &batch)) {
    rows += batch.length;
    batch.release(&batch);
  }
  stream.release(&stream);
  return rows;
}

int main(int argc, char **argv) {
  int32_t partitions = argc == 6 ? (int32_t)strtol(argv[3], NULL, 10) : 0;
  if (partitions < 1) {
    fprintf(stderr, "usage: there_and_back INPUT COLUMN PARTITIONS OUTPUT.data OUTPUT.index\n");
    return 2;
  }
  write_all(argv[1], argv[2], partitions, argv[4], argv[5]);
  int64_t rows = 0;
  for (int32_t i = 0; i < partitions; i++) rows += count_rows(argv[4], i);
  printf("%" PRId64 " rows read\n", rows);
  return 0;
}

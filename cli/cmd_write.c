/*
 * ashuf write: Arrow IPC inputs to map outputs, one an input.
 *
 * All outputs are staged (staging.h) and named together, so a failure at the last input leaves
 * as little as one at the first.
 */
#include "failure.h"
#include "interrupt.h"
#include "ipc_input.h"
#include "limit.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "staging.h"
#include "text.h"
#include "write_options.h"

#include <stdlib.h>
#include <unistd.h>

static const struct report_column columns[] = {
    {"map", true},    {"input", false}, {"partitions", true}, {"rows", true},
    {"blocks", true}, {"bytes", true},  {"ratio", true},      {NULL, false}};

struct job {
  const struct write_options *options;
  const struct arguments *inputs;
  struct staging staging;
  struct report report;
  ashuf_schema *schema; /* of the first input */
  struct placement placement;
  ashuf_partitioner *partitioner; /* of the map output being written */
  int64_t rows;                   /* of the outputs that are finished */
};

/* ---- Schema ------------------------------------------------------------------------------- */

/* The first input's schema is that of all. */
static int see_schema(struct job *job, const struct ipc_input *input) {
  const struct write_options *given = job->options;
  if (job->schema == NULL) {
    job->schema = ashuf_schema_ref(input->schema);
    return placement_open(&job->placement, &given->placement, (int32_t)given->partitions.value,
                          job->schema, job->inputs);
  }
  if (ashuf_schema_same_arrays(job->schema, input->schema)) return EXIT_GOOD;
  return schema_tell_difference(input->path, input->schema, job->inputs->list[0], job->schema, 0);
}

/* ---- One map output ----------------------------------------------------------------------- */

/* Called by the writer; a non-zero return cancels it. */
static int on_progress(void *user_data, int64_t pushed, int64_t written) {
  const struct job *job = user_data;
  double part = written > 0 && pushed > 0 ? (double)written / (double)pushed : -1;
  progress_update(job->rows + pushed, part);
  return interrupt_seen() ? 1 : 0;
}

static ashuf_status open_writer(struct job *job, size_t map, ashuf_writer **out,
                                struct ashuf_error *error) {
  struct ashuf_writer_options how = write_options_library(job->options);
  how.memory = limit_memory();
  how.progress = on_progress;
  how.progress_data = job;
  char *data = staging_path(&job->staging, map, ".data");
  char *index = staging_path(&job->staging, map, ".index");
  ashuf_status status = ashuf_writer_open_files(job->partitioner, &how, data, index, out, error);
  free(data);
  free(index);
  return status;
}

/* A failure of the writer concerns the output file, or else the rows of the input. */
static int tell_writer_error(const struct job *job, size_t map, const struct ashuf_error *error) {
  if (error->status == ASHUF_CANCELLED) return EXIT_IO; /* the signal says it all */
  bool of_output = error->status == ASHUF_IO || error->status == ASHUF_INVALID_ARGUMENT;
  if (!of_output) return fail_error(job->inputs->list[map], error);
  char *path = final_path(&job->staging, map, ".data");
  int status = fail_error(path, error);
  free(path);
  return status;
}

static int push_all(struct job *job, size_t map, struct ipc_input *input, ashuf_writer *writer) {
  struct ashuf_error error;
  while (!interrupt_seen()) {
    struct ArrowArray batch;
    if (ipc_input_next(input, &batch, &error) != ASHUF_OK) return fail_error(input->path, &error);
    if (batch.release == NULL) return EXIT_GOOD;
    if (ashuf_writer_push(writer, &batch, &error) != ASHUF_OK) {
      if (batch.release != NULL) batch.release(&batch);
      return tell_writer_error(job, map, &error);
    }
  }
  return EXIT_IO;
}

/* What each partition got, from 0 on. */
static void report_partitions(json_t *row, const struct ashuf_map_output *written) {
  json_t *rows = json_array();
  json_t *bytes = json_array();
  json_t *sums = written->checksums == NULL ? json_null() : json_array();
  for (int32_t p = 0; p < written->partitions; p++) {
    uint64_t size = written->offsets[p + 1] - written->offsets[p];
    (void)json_array_append_new(rows, json_integer((json_int_t)written->rows[p]));
    (void)json_array_append_new(bytes, json_integer((json_int_t)size));
    if (written->checksums != NULL)
      (void)json_array_append_new(sums, json_integer((json_int_t)written->checksums[p]));
  }
  set_value(row, "partition_rows", rows);
  set_value(row, "partition_bytes", bytes);
  set_value(row, "partition_checksums", sums);
}

static void report_stats(json_t *row, const struct ashuf_map_output *written) {
  set_number(row, "raw_bytes", written->raw_bytes);
  set_number(row, "spills", written->spills);
  set_number(row, "memory_spilled", written->memory_spilled);
  set_number(row, "disk_spilled", written->disk_spilled);
  set_number(row, "schema_encodes", written->schema_encodes);
  set_number(row, "partition_ns", written->partition_ns);
  set_number(row, "spill_ns", written->spill_ns);
  set_number(row, "read_ns", written->read_ns);
  set_number(row, "encode_ns", written->encode_ns);
  set_number(row, "write_ns", written->write_ns);
  report_partitions(row, written);
}

static void report_map(struct job *job, size_t map, const struct ashuf_map_output *written) {
  json_t *row = report_row(&job->report);
  uint64_t bytes = written->offsets[written->partitions];
  set_number(row, "map", (uint64_t)(job->staging.names.first + (int64_t)map));
  set_text(row, "input", shown_path(job->inputs->list[map]));
  set_number(row, "partitions", (uint64_t)written->partitions);
  set_number(row, "rows", (uint64_t)written->total_rows);
  set_number(row, "blocks", written->total_blocks);
  set_number(row, "bytes", bytes);
  if (job->placement.shown != NULL) set_value(row, "bounds", json_incref(job->placement.shown));
  if (written->total_blocks > 0)
    set_ratio(row, "ratio", written->raw_bytes,
              bytes - written->total_blocks * ASHUF_BLOCK_HEADER_SIZE);
  if (job->options->stats != 0) report_stats(row, written);
}

static int write_rows(struct job *job, size_t map, struct ipc_input *input) {
  struct ashuf_error error;
  struct ashuf_map_output written = ASHUF_MAP_OUTPUT_INIT;
  ashuf_writer *writer = NULL;
  if (open_writer(job, map, &writer, &error) != ASHUF_OK)
    return tell_writer_error(job, map, &error);
  int status = push_all(job, map, input, writer);
  if (status == EXIT_GOOD && ashuf_writer_finish(writer, &written, &error) != ASHUF_OK)
    status = tell_writer_error(job, map, &error);
  if (status == EXIT_GOOD) {
    report_map(job, map, &written);
    job->rows += written.total_rows;
  }
  ashuf_writer_close(writer);
  return status;
}

static int write_map(struct job *job, size_t map) {
  struct ipc_input input;
  struct ashuf_error error;
  const char *path = job->inputs->list[map];
  if (ipc_input_open(&input, path, &error) != ASHUF_OK) return fail_error(path, &error);
  int status = see_schema(job, &input);
  if (status == EXIT_GOOD)
    status =
        placement_partitioner(&job->placement, job->schema, job->staging.names.first + (int64_t)map,
                              path, &job->partitioner);
  if (status == EXIT_GOOD) status = write_rows(job, map, &input);
  ashuf_partitioner_free(job->partitioner);
  job->partitioner = NULL;
  ipc_input_close(&input);
  return status;
}

/* ---- All ---------------------------------------------------------------------------------- */

static int write_staged(struct job *job) {
  int status = EXIT_GOOD;
  progress_start();
  for (size_t map = 0; map < job->inputs->n && status == EXIT_GOOD; map++)
    status = write_map(job, map);
  progress_stop();
  if (status == EXIT_GOOD && interrupt_seen()) status = EXIT_IO;
  if (status == EXIT_GOOD) status = staging_commit(&job->staging, job->options->sync);
  return status;
}

/* An output of an earlier run with more inputs would be read together with ours. */
static void warn_of_leftover(const struct job *job) {
  if (job->options->map_id.given) return; /* others are there on purpose */
  char *path = final_path(&job->staging, job->inputs->n, ".data");
  if (access(path, F_OK) == 0)
    remark(path, "left from an earlier write; reading %s reads it too", job->options->output);
  free(path);
}

static int write_all(const struct write_options *given, const struct arguments *inputs) {
  struct job job = {.options = given, .inputs = inputs};
  limit_spill(write_options_memory(given));
  const struct map_names names = {(int32_t)given->shuffle_id.value, given->map_id.value, inputs->n,
                                  given->checksum};
  int status = staging_open(&job.staging, given->output, &names);
  if (status != EXIT_GOOD) return status;
  report_init(&job.report, columns);
  status = write_staged(&job);
  staging_close(&job.staging);
  if (status != EXIT_GOOD && interrupt_seen()) interrupt_die();
  if (status == EXIT_GOOD) {
    warn_of_leftover(&job);
    report_print(&job.report, given->stats != 0 ? REPORT_JSON : report_resolve(given->format));
    status = output_finish(EXIT_GOOD);
  }
  report_free(&job.report);
  placement_close(&job.placement);
  ashuf_schema_free(job.schema);
  return status;
}

static int run(const struct command *self, int argc, char **argv) {
  struct write_options given = {0};
  struct arguments arguments;
  int status = options_read(self, argc, argv, &given, &arguments);
  if (status >= 0) return status;
  status = write_options_check(&given, &arguments);
  if (status == EXIT_GOOD) status = write_all(&given, &arguments);
  arguments_free(&arguments);
  return status;
}

const struct command command_write = {
    "write",
    "partitions Arrow rows into shuffle files",
    "write INPUT... -o DIR --partitions N [--hash COL,... | --range KEY,... | --round-robin]\n"
    "                   [OPTION]...",
    "Reads each INPUT, an Arrow IPC file or stream ('-': a stream on standard input), and writes\n"
    "its rows as one map output: DIR/shuffle_0_M_0.data and .index, M counting the inputs from 0.\n"
    "All inputs must have the same schema; time zones are labels, and those of the first are "
    "kept.\n"
    "Rows keep their order inside a partition. LZ4 and Zstandard body compression of the inputs "
    "is\n"
    "undone.\n"
    "\n"
    "The rows of one input are held in memory; beyond --memory-limit they go to spill files that\n"
    "have no name. The bytes written are the same.\n"
    "\n"
    "All outputs appear together when the last is finished, and replace files of the same names,\n"
    "as Spark's do; other files in DIR stay. When anything fails, or at an interrupt, none\n"
    "appears and older ones stay as they were. What a killed write left in DIR is taken back or\n"
    "removed by the next.\n"
    "\n"
    "The report has a line a map output. ratio is how many bytes before the codec one byte\n"
    "behind it stands for.\n",
    write_option_specs,
    "  ashuf write flights.arrow -o out --partitions 200 --hash carrier,origin\n"
    "  ashuf write a.arrow b.arrow -o out --partitions 16 --hash id --codec zstd --level 3\n"
    "  ashuf write a.arrow -o out --partitions 8 --hash '\"last, first\",id'\n"
    "  ashuf write flights.arrow -o out --partitions 8 --range day:desc,origin --show-bounds\n"
    "  ashuf cat out --format arrow | ashuf write - -o fewer --partitions 8 --hash id\n",
    run};

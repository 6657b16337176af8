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
#include "options.h"
#include "output.h"
#include "placement.h"
#include "progress.h"
#include "report.h"
#include "staging.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const codecs[] = {"lz4", "none", "zstd", "snappy", NULL};
static const int codec_numbers[] = {ASHUF_CODEC_LZ4, ASHUF_CODEC_NONE, ASHUF_CODEC_ZSTD,
                                    ASHUF_CODEC_SNAPPY};
static const char *const layouts[] = {"compact", "arrow-rs", NULL};
static const char *const length_choices[] = {"auto", "off", NULL};
static const char *const dictionary_choices[] = {"keep", "plain", NULL};
/* Positions are those of enum ashuf_index_order. */
static const char *const index_orders[] = {"big", "little", NULL};
/* Positions are those of enum ashuf_checksum. */
static const char *const checksums[] = {"none", "adler32", "crc32", "crc32c", NULL};
static const char *const stats_formats[] = {"none", "json", NULL};

struct write_options {
  const char *output;
  struct option_integer partitions;
  struct placement_options placement;
  int codec; /* position in codecs */
  struct option_integer level;
  struct option_integer max_rows;
  const char *max_body;
  uint64_t max_body_bytes; /* what it says; 0: the default */
  int layout;
  int lengths;
  int dictionaries;
  bool sync;
  int format;
  int index_order;
  int checksum;
  struct option_integer shuffle_id;
  struct option_integer map_id;
  const char *file_mode;
  unsigned file_mode_bits; /* what it says; 0: the default */
  struct option_integer memory_limit;
  struct option_list spill_dirs;
  struct option_integer threads;
  int stats;
};

static const struct option_spec options[] = {
    {"output", 'o', "DIR", OPTION_TEXT, offsetof(struct write_options, output), NULL, 0, 0,
     "where the files go; made if it does not exist (required)"},
    {"partitions", 0, "N", OPTION_INTEGER, offsetof(struct write_options, partitions), NULL, 1,
     INT32_MAX - 1, "how many partitions (required)"},
    {"hash", 0, "COL,...", OPTION_TEXT, offsetof(struct write_options, placement.hash), NULL, 0, 0,
     "the key: rows are placed by the hash of these columns, as\n"
     "Apache Spark places them; without a key all rows go to\n"
     "partition 0. A name with a comma: '\"a,b\",c'"},
    {"range", 0, "KEY,...", OPTION_TEXT, offsetof(struct write_options, placement.range), NULL, 0,
     0,
     "the key: rows are placed in ranges of these columns, each\n"
     "COL[:asc|desc][:nulls-first|nulls-last]; ascending nulls\n"
     "come first, descending ones last, unless it says otherwise"},
    {"bounds", 0, "FILE", OPTION_TEXT, offsetof(struct write_options, placement.bounds), NULL, 0, 0,
     "an Arrow IPC file with the rows that part the ranges, in\n"
     "the order of the key; without it the inputs are sampled\n"
     "as Spark samples, and so read twice"},
    {"range-rule", 0, "RULE", OPTION_CHOICE, offsetof(struct write_options, placement.range_rule),
     range_rule_choices, 0, 0,
     "spark  a key equal to a bound is left of it (default)\n"
     "comet  right of it, as in Comet's native shuffle"},
    {"seed", 0, "S", OPTION_INTEGER, offsetof(struct write_options, placement.seed), NULL,
     INT32_MIN, INT32_MAX, "of the sample (default 0)"},
    {"show-bounds", 0, NULL, OPTION_FLAG, offsetof(struct write_options, placement.show_bounds),
     NULL, 0, 0,
     "tell the bounds on standard error; the JSON report has them\n"
     "in any case"},
    {"round-robin", 0, "[=HOW]", OPTION_MAYBE,
     offsetof(struct write_options, placement.round_robin), round_robin_choices, 0, 0,
     "rows are spread evenly\n"
     "positional  groups of rows in turn (default)\n"
     "hash        by the hash of all columns: rows keep their\n"
     "            partition whatever their order"},
    {"group-rows", 0, "R", OPTION_INTEGER, offsetof(struct write_options, placement.group_rows),
     NULL, 1, INT64_MAX, "rows of a group (default 8192 / N, but 64 at least)"},
    {"max-hash-columns", 0, "C", OPTION_INTEGER,
     offsetof(struct write_options, placement.max_hash_columns), NULL, 0, INT32_MAX,
     "hash the first C columns alone (default 0: all)"},
    {"codec", 0, "CODEC", OPTION_CHOICE, offsetof(struct write_options, codec), codecs, 0, 0,
     "lz4 (default), none, zstd or snappy"},
    {"level", 0, "L", OPTION_INTEGER, offsetof(struct write_options, level), NULL, INT32_MIN,
     INT32_MAX, "zstd: -131072 to 22 (default 1); lz4: 0 to 12 (default 0)"},
    {"max-rows", 0, "R", OPTION_INTEGER, offsetof(struct write_options, max_rows), NULL, 1,
     INT32_MAX, "of one block (default 8192)"},
    {"max-body", 0, "SIZE", OPTION_TEXT, offsetof(struct write_options, max_body), NULL, 0, 0,
     "bytes of the buffers of one block, before the codec; K, M\n"
     "and G stand for powers of 1024 (default 64M)"},
    {"layout", 0, "LAYOUT", OPTION_CHOICE, offsetof(struct write_options, layout), layouts, 0, 0,
     "compact   little padding, no validity without nulls (default)\n"
     "arrow-rs  the bytes that arrow-rs writes"},
    {"offsets-as-lengths", 0, "WHEN", OPTION_CHOICE, offsetof(struct write_options, lengths),
     length_choices, 0, 0,
     "auto  where codec and layout gain by it (default)\n"
     "off   for readers older than Comet 1.2"},
    {"dictionaries", 0, "HOW", OPTION_CHOICE, offsetof(struct write_options, dictionaries),
     dictionary_choices, 0, 0,
     "keep   dictionary columns stay so, each block with the\n"
     "       values it uses (default)\n"
     "plain  they are written as their values"},
    {"sync", 0, NULL, OPTION_FLAG, offsetof(struct write_options, sync), NULL, 0, 0,
     "have files and directory on the disk before success"},
    {"index-order", 0, "ORDER", OPTION_CHOICE, offsetof(struct write_options, index_order),
     index_orders, 0, 0,
     "big     as Spark commits its index files (default)\n"
     "little  as Comet's native writer leaves them"},
    {"checksum", 0, "ALGORITHM", OPTION_CHOICE, offsetof(struct write_options, checksum), checksums,
     0, 0,
     "adler32, crc32 or crc32c: a checksum file beside each data\n"
     "file, as Spark's, which the readers compare it with\n"
     "(default none)"},
    {"shuffle-id", 0, "S", OPTION_INTEGER, offsetof(struct write_options, shuffle_id), NULL, 0,
     INT32_MAX, "the S of the file names (default 0)"},
    {"map-id", 0, "M", OPTION_INTEGER, offsetof(struct write_options, map_id), NULL, 0,
     INT64_MAX - INT32_MAX, "the M of the first input, the others count up (default 0)"},
    {"file-mode", 0, "MODE", OPTION_TEXT, offsetof(struct write_options, file_mode), NULL, 0, 0,
     "permissions of the files, octal (default 0644)"},
    {"memory-limit", 0, "SIZE", OPTION_SIZE, offsetof(struct write_options, memory_limit), NULL, 0,
     0,
     "bytes of rows in memory before they go to a spill file,\n"
     "as in 512MiB (default: by half of the machine's or the\n"
     "control group's memory)"},
    {"spill-dir", 0, "DIR", OPTION_LIST, offsetof(struct write_options, spill_dirs), NULL, 0, 0,
     "where spill files go; given more than once, they take\n"
     "turns (default: where the output goes)"},
    {"threads", 0, "T", OPTION_INTEGER, offsetof(struct write_options, threads), NULL, 1, 256,
     "that encode blocks (default 1)"},
    {"stats", 0, "FORMAT", OPTION_CHOICE, offsetof(struct write_options, stats), stats_formats, 0,
     0, "json: the report as JSON, with spills and times"},
    {"format", 0, "FORMAT", OPTION_CHOICE, offsetof(struct write_options, format), report_formats,
     0, 0, "of the report\n" REPORT_FORMAT_HELP},
    {NULL, 0, NULL, OPTION_FLAG, 0, NULL, 0, 0, NULL}};

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

/* ---- Options ------------------------------------------------------------------------------ */

static int check_level(const struct write_options *given) {
  int codec = codec_numbers[given->codec];
  int64_t level = given->level.value;
  if (!given->level.given) return EXIT_GOOD;
  if (codec == ASHUF_CODEC_NONE || codec == ASHUF_CODEC_SNAPPY)
    return fail_usage("write", "--level: codec %s has no levels", codecs[given->codec]);
  if (codec == ASHUF_CODEC_ZSTD ? level < -131072 || level > 22 : level < 0 || level > 12)
    return fail_usage("write", "--level: %" PRId64 " is not a level of %s (%s)", level,
                      codecs[given->codec],
                      codec == ASHUF_CODEC_ZSTD ? "-131072 to 22" : "0 to 12");
  return EXIT_GOOD;
}

/* Bytes, or with K, M or G a multiple of them. */
static int read_max_body(struct write_options *given) {
  static const char units[] = "KMG";
  char *end = NULL;
  const char *text = given->max_body;
  if (text == NULL) return EXIT_GOOD;
  errno = 0;
  uint64_t number = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
  const char *unit = number == 0 || *end == '\0' ? NULL : strchr(units, *end);
  unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
  bool odd = number == 0 || errno != 0 || end[unit != NULL] != '\0';
  if (odd || number > (uint64_t)INT64_MAX >> shift)
    return fail_usage("write", "--max-body: '%s' is not a size such as 1000000, 512K or 64M", text);
  given->max_body_bytes = number << shift;
  return EXIT_GOOD;
}

static int read_file_mode(struct write_options *given) {
  char *end = NULL;
  const char *text = given->file_mode;
  if (text == NULL) return EXIT_GOOD;
  unsigned long mode = text[0] >= '0' && text[0] <= '7' ? strtoul(text, &end, 8) : 0;
  if (mode == 0 || mode > 0777 || *end != '\0')
    return fail_usage("write", "--file-mode: '%s' is no mode such as 0640, from 0001 to 0777",
                      text);
  given->file_mode_bits = (unsigned)mode;
  return EXIT_GOOD;
}

static int check_inputs(const struct arguments *inputs) {
  int standard = 0;
  if (inputs->n == 0) return fail_usage("write", "no INPUT given; see 'ashuf write --help'");
  for (size_t i = 0; i < inputs->n; i++) standard += strcmp(inputs->list[i], "-") == 0;
  if (standard > 1) return fail_usage("write", "'-' can be one INPUT only");
  return EXIT_GOOD;
}

static int check_options(struct write_options *given, const struct arguments *inputs) {
  int status = check_inputs(inputs);
  if (status == EXIT_GOOD) status = read_max_body(given);
  if (status == EXIT_GOOD) status = read_file_mode(given);
  if (status != EXIT_GOOD) return status;
  if (given->output == NULL) return fail_usage("write", "-o DIR is missing");
  if (given->output[0] == '\0') return fail_usage("write", "-o: the name is empty");
  if (!given->partitions.given) return fail_usage("write", "--partitions N is missing");
  if (!ashuf_codec_available(codec_numbers[given->codec]))
    return fail_usage("write", "--codec: this build has no %s", codecs[given->codec]);
  int placed = placement_check(&given->placement, inputs);
  return placed == EXIT_GOOD ? check_level(given) : placed;
}

/* ---- Schema ------------------------------------------------------------------------------- */

/* The first input's schema is that of all. */
static int see_schema(struct job *job, const struct ipc_input *input) {
  const struct write_options *given = job->options;
  if (job->schema == NULL) {
    job->schema = ashuf_schema_ref(input->schema);
    return placement_open(&job->placement, &given->placement, (int32_t)given->partitions.value,
                          job->schema, job->inputs);
  }
  if (ashuf_schema_equal(job->schema, input->schema)) return EXIT_GOOD;
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

static struct ashuf_writer_options writer_options(struct job *job) {
  const struct write_options *given = job->options;
  const struct ashuf_encode_options defaults = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_writer_options out = ASHUF_WRITER_OPTIONS_INIT;
  out.memory = limit_memory();
  out.encode = defaults;
  out.encode.codec = codec_numbers[given->codec];
  out.encode.has_level = given->level.given;
  out.encode.level = (int)given->level.value;
  out.encode.layout = given->layout;
  out.encode.max_rows = given->max_rows.value;
  out.encode.max_body = given->max_body_bytes;
  out.encode.offsets_as_lengths = given->lengths;
  out.encode.dictionaries = given->dictionaries;
  out.sync = given->sync;
  out.file_mode = given->file_mode_bits;
  out.checksum = given->checksum;
  out.index_order = given->index_order;
  out.memory_limit = (uint64_t)given->memory_limit.value;
  out.spill_dirs = given->spill_dirs.values;
  out.n_spill_dirs = given->spill_dirs.n;
  out.threads = given->threads.given ? (int)given->threads.value : 1;
  out.progress = on_progress;
  out.progress_data = job;
  return out;
}

static ashuf_status open_writer(struct job *job, size_t map, ashuf_writer **out,
                                struct ashuf_error *error) {
  struct ashuf_writer_options how = writer_options(job);
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
  status = check_options(&given, &arguments);
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
    "All inputs must have the same schema. Rows keep their order inside a partition. LZ4 and\n"
    "Zstandard body compression of the inputs is undone.\n"
    "\n"
    "The rows of one input have to fit into memory, of which half of the machine's (or control\n"
    "group's) is used at most.\n"
    "\n"
    "All outputs appear together when the last is finished, and replace files of the same names,\n"
    "as Spark's do; other files in DIR stay. When anything fails, or at an interrupt, none\n"
    "appears and older ones stay as they were. What a killed write left in DIR is taken back or\n"
    "removed by the next.\n"
    "\n"
    "The report has a line a map output. ratio is how many bytes before the codec one byte\n"
    "behind it stands for.\n",
    options,
    "  ashuf write flights.arrow -o out --partitions 200 --hash carrier,origin\n"
    "  ashuf write a.arrow b.arrow -o out --partitions 16 --hash id --codec zstd --level 3\n"
    "  ashuf write a.arrow -o out --partitions 8 --hash '\"last, first\",id'\n"
    "  ashuf write flights.arrow -o out --partitions 8 --range day:desc,origin --show-bounds\n"
    "  ashuf cat out --format arrow | ashuf write - -o fewer --partitions 8 --hash id\n",
    run};

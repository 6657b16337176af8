/* ashuf info: what is in data files and Arrow IPC files. */
#include "failure.h"
#include "inputs.h"
#include "ipc_input.h"
#include "map_input.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct info_options {
  bool partitions;
  int format;
};

static const struct option_spec options[] = {
    {"partitions", 0, NULL, OPTION_FLAG, offsetof(struct info_options, partitions), NULL, 0, 0,
     "a line for each partition of each shuffle file"},
    {"format", 0, "FORMAT", OPTION_CHOICE, offsetof(struct info_options, format), report_formats, 0,
     0, REPORT_FORMAT_HELP},
    {NULL, 0, NULL, OPTION_FLAG, 0, NULL, 0, 0, NULL}};

static const struct report_column file_columns[] = {
    {"file", false},   {"kind", false},     {"partitions", true}, {"blocks", true},
    {"rows", true},    {"bytes", true},     {"codec", false},     {"ratio", true},
    {"columns", true}, {"checksum", false}, {NULL, false}};

/* The same for TSV, where the schema has to be in the line. */
static const struct report_column tsv_columns[] = {
    {"file", false},   {"kind", false},     {"partitions", true}, {"blocks", true},
    {"rows", true},    {"bytes", true},     {"codec", false},     {"ratio", true},
    {"columns", true}, {"checksum", false}, {"schema", false},    {NULL, false}};

static const struct report_column partition_columns[] = {
    {"file", false}, {"partition", true}, {"offset", true}, {"bytes", true}, {"blocks", true},
    {"rows", true},  {"raw_bytes", true}, {"ratio", true},  {NULL, false}};

/* Counts of one partition or of a file. */
struct counts {
  uint64_t blocks;
  uint64_t rows;
  uint64_t raw_bytes;
  unsigned codecs; /* bit c: codec c occurs */
};

struct info {
  const struct info_options *options;
  struct report report;
  uint64_t rows; /* for the progress */
};

/* The columns of a schema as JSON: name, type, nullable. */
static json_t *schema_json(const ashuf_schema *schema) {
  struct ArrowSchema arrow;
  json_t *list = json_array();
  if (ashuf_schema_export(schema, &arrow, NULL) != ASHUF_OK) return list;
  for (int64_t i = 0; i < arrow.n_children; i++) {
    struct ashuf_buffer type = ASHUF_BUFFER_INIT;
    struct text text = TEXT_INIT;
    json_t *column = json_object();
    set_text(column, "name", arrow.children[i]->name == NULL ? "" : arrow.children[i]->name);
    if (ashuf_schema_format_type(schema, i, &type, NULL) == ASHUF_OK)
      text_add(&text, type.data, type.size);
    set_text(column, "type", text_terminated(&text));
    set_value(column, "nullable", json_boolean((arrow.children[i]->flags & ARROW_FLAG_NULLABLE)));
    (void)json_array_append_new(list, column);
    text_free(&text);
    ashuf_buffer_free(&type);
  }
  arrow.release(&arrow);
  return list;
}

static void set_schema(json_t *row, const ashuf_schema *schema) {
  json_t *list = schema_json(schema);
  set_number(row, "columns", json_array_size(list));
  set_value(row, "schema", list);
}

/* "lz4", or "lz4+zstd" where blocks differ. */
static void set_codecs(json_t *row, unsigned codecs) {
  struct text names = TEXT_INIT;
  for (int codec = 0; codec < 32; codec++) {
    const char *name = (codecs >> codec & 1) != 0 ? ashuf_codec_name(codec) : NULL;
    if (name == NULL) continue;
    if (names.size > 0) text_char(&names, '+');
    text_puts(&names, name);
  }
  if (names.size > 0) set_text(row, "codec", text_terminated(&names));
  text_free(&names);
}

static void add_counts(struct counts *to, const struct counts *more) {
  to->blocks += more->blocks;
  to->rows += more->rows;
  to->raw_bytes += more->raw_bytes;
  to->codecs |= more->codecs;
}

static struct counts counts_of(const struct map_block *block) {
  return (struct counts){1, (uint64_t)block->info.rows, block->info.stream_size,
                         1u << (unsigned)block->info.codec};
}

/* Bytes that stand for the IPC streams: without the headers in front of them. */
static uint64_t payload(uint64_t bytes, uint64_t blocks) {
  return bytes > blocks * ASHUF_BLOCK_HEADER_SIZE ? bytes - blocks * ASHUF_BLOCK_HEADER_SIZE : 0;
}

static void report_partition(struct info *info, const struct map_input *input, int64_t partition,
                             const struct counts *counts) {
  const uint64_t *offsets = ashuf_map_file_offsets(input->file);
  uint64_t bytes = offsets[partition + 1] - offsets[partition];
  json_t *row = report_row(&info->report);
  set_text(row, "file", input->path);
  set_number(row, "partition", (uint64_t)partition);
  set_number(row, "offset", offsets[partition]);
  set_number(row, "bytes", bytes);
  set_number(row, "blocks", counts->blocks);
  set_number(row, "rows", counts->rows);
  set_number(row, "raw_bytes", counts->raw_bytes);
  if (counts->blocks > 0)
    set_ratio(row, "ratio", counts->raw_bytes, payload(bytes, counts->blocks));
}

static json_t *report_file(struct info *info, const struct map_input *input,
                           const struct counts *counts) {
  json_t *row = report_row(&info->report);
  uint64_t bytes = map_input_bytes(input);
  set_text(row, "file", input->path);
  set_text(row, "kind", ashuf_map_file_has_index(input->file) ? "shuffle" : "shuffle, no index");
  set_number(row, "partitions", (uint64_t)map_input_partitions(input));
  set_number(row, "blocks", counts->blocks);
  set_number(row, "rows", counts->rows);
  set_number(row, "bytes", bytes);
  set_codecs(row, counts->codecs);
  if (counts->blocks > 0)
    set_ratio(row, "ratio", counts->raw_bytes, payload(bytes, counts->blocks));
  set_number(row, "raw_bytes", counts->raw_bytes);
  return row;
}

/* Counts every block; per is one entry a partition. Keeps a reference to the first schema. */
static int count_blocks(struct info *info, struct map_input *input, struct counts *per,
                        ashuf_schema **schema) {
  struct ashuf_error error;
  int status = EXIT_GOOD;
  for (;;) {
    struct map_block block;
    int found;
    if (map_input_next(input, &block, &found, &error) != ASHUF_OK) {
      status = worse(status, fail_error(input->path, &error));
      if (!map_input_goes_on(&error)) return status;
      continue;
    }
    if (!found) return status;
    struct counts one = counts_of(&block);
    add_counts(&per[block.at.partition], &one);
    if (*schema == NULL) *schema = ashuf_schema_ref(block.schema);
    block.batch.release(&block.batch);
    info->rows += one.rows;
    progress_update((int64_t)info->rows, -1);
  }
}

/* Whose checksums stand beside the file; their values are verify's to compare. */
static int set_checksum(json_t *row, const struct map_input *input) {
  struct ashuf_error error;
  const char *algorithm = NULL;
  if (ashuf_map_file_load_checksums(input->file, &algorithm, &error) != ASHUF_OK)
    return fail_error(input->path, &error);
  set_text(row, "checksum", algorithm != NULL ? algorithm : "none");
  return EXIT_GOOD;
}

static int info_shuffle(struct info *info, const struct input *file) {
  struct map_input input;
  struct ashuf_error error;
  ashuf_schema *schema = NULL;
  struct counts all = {0};
  if (map_input_open(&input, file->path, file->listed, ASHUF_VALIDATE_TRUSTED, &error) != ASHUF_OK)
    return fail_error(file->path, &error);
  int64_t n = map_input_partitions(&input);
  struct counts *per = must_allocate((size_t)n, sizeof *per);
  int status = count_blocks(info, &input, per, &schema);
  for (int64_t p = 0; p < n; p++) {
    add_counts(&all, &per[p]);
    if (info->options->partitions) report_partition(info, &input, p, &per[p]);
  }
  if (!info->options->partitions) {
    json_t *row = report_file(info, &input, &all);
    if (schema != NULL) set_schema(row, schema);
    status = worse(status, set_checksum(row, &input));
  }
  free(per);
  ashuf_schema_free(schema);
  map_input_close(&input);
  return status;
}

static int count_batches(struct info *info, struct ipc_input *input, struct counts *counts) {
  struct ashuf_error error;
  struct ArrowArray batch;
  for (;;) {
    if (ipc_input_next(input, &batch, &error) != ASHUF_OK) return fail_error(input->path, &error);
    if (batch.release == NULL) return EXIT_GOOD;
    counts->blocks++;
    counts->rows += (uint64_t)batch.length;
    info->rows += (uint64_t)batch.length;
    batch.release(&batch);
    progress_update((int64_t)info->rows, -1);
  }
}

static int info_ipc(struct info *info, const struct input *file) {
  struct ipc_input input;
  struct ashuf_error error;
  struct counts counts = {0};
  if (info->options->partitions)
    return fail_usage("info", "--partitions: %s is Arrow IPC and has no partitions",
                      shown_path(file->path));
  if (ipc_input_open(&input, file->path, &error) != ASHUF_OK) return fail_error(file->path, &error);
  int status = count_batches(info, &input, &counts);
  json_t *row = report_row(&info->report);
  set_text(row, "file", file->path);
  set_text(row, "kind", "ipc");
  set_number(row, "blocks", counts.blocks);
  set_number(row, "rows", counts.rows);
  if (file->size > 0) set_number(row, "bytes", file->size);
  set_schema(row, input.schema);
  ipc_input_close(&input);
  return status;
}

static void print_schema(const json_t *row) {
  const json_t *schema = json_object_get(row, "schema");
  if (schema == NULL) return;
  output_printf("\nschema of %s\n", json_string_value(json_object_get(row, "file")));
  for (size_t i = 0; i < json_array_size(schema); i++) {
    const json_t *column = json_array_get(schema, i);
    const char *name = json_string_value(json_object_get(column, "name"));
    const char *type = json_string_value(json_object_get(column, "type"));
    struct text line = TEXT_INIT;
    text_puts(&line, "  ");
    text_shown(&line, name, strlen(name));
    text_puts(&line, "  ");
    text_shown(&line, type, strlen(type));
    if (!json_is_true(json_object_get(column, "nullable"))) text_puts(&line, " not null");
    text_char(&line, '\n');
    output_text(&line);
    text_free(&line);
  }
}

/* Schemas follow the table, one of several that are the same once. */
static void print_schemas(const struct report *report) {
  const json_t *last = NULL;
  for (size_t i = 0; i < json_array_size(report->rows); i++) {
    const json_t *row = json_array_get(report->rows, i);
    const json_t *schema = json_object_get(row, "schema");
    if (last == NULL || !json_equal(last, schema)) print_schema(row);
    last = schema;
  }
}

static const struct report_column *columns_of(const struct info_options *given,
                                              enum report_format format) {
  if (given->partitions) return partition_columns;
  return format == REPORT_TSV ? tsv_columns : file_columns;
}

static int info_all(const struct info_options *given, const struct inputs *inputs) {
  struct info info = {.options = given};
  enum report_format format = report_resolve(given->format);
  int status = EXIT_GOOD;
  report_init(&info.report, columns_of(given, format));
  progress_start();
  for (size_t i = 0; i < inputs->n; i++) {
    const struct input *input = &inputs->list[i];
    int one = input->kind == INPUT_SHUFFLE ? info_shuffle(&info, input) : info_ipc(&info, input);
    status = worse(status, one);
  }
  progress_stop();
  if (json_array_size(info.report.rows) > 0 || format == REPORT_JSON)
    report_print(&info.report, format);
  if (format == REPORT_TABLE) print_schemas(&info.report);
  report_free(&info.report);
  return status;
}

static int run(const struct command *self, int argc, char **argv) {
  struct info_options given = {0};
  struct arguments arguments;
  struct inputs inputs = {0};
  int status = options_read(self, argc, argv, &given, &arguments);
  if (status >= 0) return status;
  if (arguments.n == 0) {
    status = fail_usage("info", "no FILE or DIR given; see 'ashuf info --help'");
  } else {
    status = inputs_find(&inputs, &arguments, false);
    if (inputs.n > 0) status = worse(status, info_all(&given, &inputs));
    status = output_finish(status);
  }
  inputs_free(&inputs);
  arguments_free(&arguments);
  return status;
}

const struct command command_info = {
    "info",
    "says what is in files: partitions, blocks, rows, bytes, schema",
    "info DIR|FILE... [--partitions] [--format FORMAT]",
    "Says what is in shuffle data files and Arrow IPC files: partitions, blocks (of IPC: record\n"
    "batches), rows, bytes, codec and columns. ratio is how many bytes before the codec one byte\n"
    "behind it stands for. The schema comes with it, on a\n"
    "terminal below the table.\n"
    "\n"
    "FILE, DIR and '-' mean what they mean to 'ashuf cat'. Blocks are decoded to count their\n"
    "rows, but their values are not checked: that is 'ashuf verify'.\n",
    options,
    "  ashuf info out                        a line a file\n"
    "  ashuf info out --partitions           a line a partition: is one much larger?\n"
    "  ashuf info out --format json | jq '.[].rows'\n",
    run};

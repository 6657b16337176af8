/* ashuf cat: the rows of data files and Arrow IPC files, as box, csv, jsonl or Arrow. */
#include "failure.h"
#include "inputs.h"
#include "ipc_input.h"
#include "keys.h"
#include "limit.h"
#include "map_input.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "range.h"
#include "sink.h"
#include "text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum format { FORMAT_AUTO, FORMAT_BOX, FORMAT_CSV, FORMAT_JSONL, FORMAT_ARROW };

static const char *const verify_ways[] = {"before", "trailing", "off", NULL}; /* ashuf_verify */
static const char *const formats[] = {"auto", "box", "csv", "jsonl", "arrow", NULL};

struct cat_options {
  struct option_integer partition;
  const char *partitions;
  const char *maps;
  const char *columns;
  const char *split;
  int verify;
  struct option_integer threads;
  struct option_integer target_rows;
  struct option_integer limit;
  int format;
};

static const struct option_spec options[] = {
    {"partition", 0, "P", OPTION_INTEGER, offsetof(struct cat_options, partition), NULL, 0,
     INT32_MAX, "only the rows of partition P, counted from 0"},
    {"partitions", 0, "A..B", OPTION_TEXT, offsetof(struct cat_options, partitions), NULL, 0, 0,
     "only those of partitions A to B - 1; A.. and ..B"},
    {"maps", 0, "A..B", OPTION_TEXT, offsetof(struct cat_options, maps), NULL, 0, 0,
     "only those of map outputs A to B - 1, in the order they\n"
     "are read in, counted from 0"},
    {"columns", 0, "A,B,...", OPTION_TEXT, offsetof(struct cat_options, columns), NULL, 0, 0,
     "only these columns, in this order"},
    {"split", 0, "K/N", OPTION_TEXT, offsetof(struct cat_options, split), NULL, 0, 0,
     "only part K of N, from 0 to N - 1, of each partition,\n"
     "by its bytes; all parts together are the whole"},
    {"verify", 0, "WHEN", OPTION_CHOICE, offsetof(struct cat_options, verify), verify_ways, 0, 0,
     "when bytes are compared with the checksum file\n"
     "before    before a row of the partition is printed;\n"
     "          a large one is read twice (default)\n"
     "trailing  behind the rows of the partition\n"
     "off       not at all"},
    {"threads", 0, "N", OPTION_INTEGER, offsetof(struct cat_options, threads), NULL, 1, 256,
     "threads that decode (default 1)"},
    {"target-rows", 0, "N", OPTION_INTEGER, offsetof(struct cat_options, target_rows), NULL, 0,
     INT32_MAX,
     "rows that small blocks are put together to (default 8192\n"
     "for --format arrow); 0: one batch a block"},
    {"format", 0, "FORMAT", OPTION_CHOICE, offsetof(struct cat_options, format), formats, 0, 0,
     "box    a table: 40 rows at most, and the number of rows\n"
     "csv    a header, then a line a row; a null is empty, an\n"
     "       empty string is \"\"\n"
     "jsonl  a JSON object a row; NaN, infinities, decimals, dates\n"
     "       and bytes are strings\n"
     "arrow  an Arrow IPC stream\n"
     "auto   box on a terminal, csv in a pipe (default)"},
    {"limit", 0, "N", OPTION_INTEGER, offsetof(struct cat_options, limit), NULL, 0, INT64_MAX,
     "stop after N rows"},
    {NULL, 0, NULL, OPTION_FLAG, 0, NULL, 0, 0, NULL}};

/* The encoding of the batches that come at present. */
struct encoding {
  ashuf_schema *schema;
  struct ArrowSchema arrow;
  struct column root;
};

struct cat {
  const struct cat_options *options;
  struct ashuf_read_options read; /* of map outputs */
  struct range partitions;        /* --partition too */
  struct range maps;
  const char **columns; /* of --columns */
  size_t n_columns;
  char *column_texts;
  int64_t map; /* the position of the next map output */
  struct sink *sink;
  struct encoding first;
  struct encoding now;
  const char *first_path;
  int64_t rows;
  uint64_t bytes_before; /* of the inputs before this one */
  uint64_t bytes;        /* of all inputs */
};

static void encoding_free(struct encoding *encoding) {
  if (encoding->arrow.release != NULL) {
    column_free(&encoding->root);
    encoding->arrow.release(&encoding->arrow);
  }
  ashuf_schema_free(encoding->schema);
  memset(encoding, 0, sizeof *encoding);
}

static ashuf_status encoding_init(struct encoding *out, const ashuf_schema *schema,
                                  struct ashuf_error *error) {
  encoding_free(out);
  ashuf_status status = ashuf_schema_export(schema, &out->arrow, error);
  if (status != ASHUF_OK) {
    out->arrow.release = NULL;
    return status;
  }
  out->schema = ashuf_schema_ref(schema);
  column_init(&out->root, &out->arrow);
  return ASHUF_OK;
}

static int tell_encoding(const struct cat *cat, const char *path) {
  return fail_data(path,
                   "columns are encoded in another way than in %s, which one Arrow stream cannot "
                   "hold; use --format csv or jsonl",
                   shown_path(cat->first_path));
}

static int begin(struct cat *cat, const char *path) {
  struct ashuf_error error;
  if (encoding_init(&cat->first, cat->now.schema, &error) != ASHUF_OK)
    return fail_error(path, &error);
  cat->first_path = path;
  return cat->sink->class->begin(cat->sink, &cat->first.root, cat->first.schema);
}

/* Takes note of the schema of what follows; the first one begins the output. */
static int see_schema(struct cat *cat, const char *path, const ashuf_schema *schema) {
  struct ashuf_error error;
  if (schema == cat->now.schema) return EXIT_GOOD;
  if (encoding_init(&cat->now, schema, &error) != ASHUF_OK) return fail_error(path, &error);
  if (cat->first.schema == NULL) return begin(cat, path);
  int64_t column = columns_differ(&cat->now.arrow, &cat->first.arrow);
  if (column >= 0)
    return schema_tell_difference(path, cat->now.schema, cat->first_path, cat->first.schema,
                                  column);
  if (cat->sink->class->exact && !ashuf_schema_equal(cat->now.schema, cat->first.schema))
    return tell_encoding(cat, path);
  return EXIT_GOOD;
}

static bool is_full(const struct cat *cat) {
  return cat->options->limit.given && cat->rows >= cat->options->limit.value;
}

/* Prints a batch and releases it. */
static int put(struct cat *cat, struct ArrowArray *batch) {
  int64_t n = batch->length;
  int64_t left = cat->options->limit.given ? cat->options->limit.value - cat->rows : n;
  if (n > left) n = left;
  int status = n == 0
                   ? EXIT_GOOD
                   : cat->sink->class->rows(cat->sink, &cat->now.root, cat->now.schema, batch, n);
  cat->rows += n;
  batch->release(batch);
  return status != EXIT_GOOD ? status : output_failed() ? EXIT_IO : EXIT_GOOD;
}

static void advance(const struct cat *cat, uint64_t bytes) {
  double part = cat->bytes == 0 ? -1 : (double)(cat->bytes_before + bytes) / (double)cat->bytes;
  progress_update(cat->rows, part);
}

/* How far a map output has been read; nothing where the input is another one. */
static void advance_shuffle(const struct cat *cat, struct ipc_input *input) {
  struct ashuf_read_stats stats = ASHUF_READ_STATS_INIT;
  if (ashuf_stream_get_read_stats(&input->stream, &stats))
    advance(cat, stats.bytes_read);
  else
    progress_update(cat->rows, -1);
}

/* Prints what is left of an input and closes it. */
static int cat_stream(struct cat *cat, struct ipc_input *input) {
  struct ashuf_error error;
  int status = see_schema(cat, input->path, input->schema);
  while (status == EXIT_GOOD && !is_full(cat)) {
    struct ArrowArray batch;
    if (ipc_input_next(input, &batch, &error) != ASHUF_OK) {
      status = fail_error(input->path, &error);
      break;
    }
    if (batch.release == NULL) break;
    status = put(cat, &batch);
    advance_shuffle(cat, input);
  }
  ipc_input_close(input);
  return status;
}

/* What of the options no Arrow file has; NULL: none was given. */
static const char *shuffle_option(const struct cat_options *given) {
  if (given->partition.given) return "partition";
  if (given->partitions != NULL) return "partitions";
  return given->maps != NULL ? "maps" : given->split != NULL ? "split" : NULL;
}

static int cat_ipc(struct cat *cat, const char *path) {
  struct ipc_input input;
  struct ashuf_error error;
  const char *option = shuffle_option(cat->options);
  if (option != NULL)
    return fail_usage("cat", "--%s: %s is Arrow IPC and has no partitions", option,
                      shown_path(path));
  if (cat->n_columns != 0)
    return fail_usage("cat", "--columns: %s is Arrow IPC, of which all columns are printed",
                      shown_path(path));
  if (ipc_input_open(&input, path, &error) != ASHUF_OK) return fail_error(path, &error);
  return cat_stream(cat, &input);
}

static int no_partition(const struct cat *cat, const char *path, int64_t n) {
  if (cat->options->partition.given)
    return fail_usage("cat", "--partition: %s has %" PRId64 " partitions, there is no %" PRId64,
                      path, n, cat->partitions.first);
  return fail_usage("cat", "--partitions: %s has %" PRId64 " partitions", path, n);
}

/* Whether the output has the partitions asked for; what is not compared of it is said. */
static int look_at(const struct cat *cat, const char *path) {
  ashuf_map_file *file;
  struct ashuf_error error;
  const char *algorithm = NULL;
  const struct range *range = &cat->partitions;
  if (!range->given && cat->options->split == NULL) return EXIT_GOOD;
  if (ashuf_map_file_open(path, NULL, 0, limit_memory(), &file, &error) != ASHUF_OK)
    return fail_error(path, &error);
  int64_t n = ashuf_map_file_partitions(file);
  ashuf_status status = ASHUF_OK;
  if (cat->read.parts > 1 && cat->read.verify != ASHUF_VERIFY_OFF)
    status = ashuf_map_file_load_checksums(file, &algorithm, &error);
  ashuf_map_file_close(file);
  if (status != ASHUF_OK) return fail_error(path, &error);
  if (range->given && (range->first > n || range->end > n)) return no_partition(cat, path, n);
  if (algorithm != NULL) remark(path, "parts of partitions are not compared with their checksums");
  return EXIT_GOOD;
}

static int cat_shuffle(struct cat *cat, const struct input *file) {
  const char *path = file->path;
  struct ipc_input input;
  struct ashuf_error error;
  int64_t map = cat->map++;
  if (map < cat->maps.first || (cat->maps.end != -1 && map >= cat->maps.end)) return EXIT_GOOD;
  int found = look_at(cat, path);
  if (found != EXIT_GOOD) return found;
  if (cat->partitions.given && cat->partitions.end == 0) return EXIT_GOOD;
  cat->read.index_optional = !file->listed;
  ashuf_status status = ipc_input_open_shuffle(&input, path, &cat->read, &error);
  if (status == ASHUF_NO_SCHEMA) return EXIT_GOOD; /* no block */
  return status == ASHUF_OK ? cat_stream(cat, &input) : fail_error(path, &error);
}

static int cat_input(struct cat *cat, const struct input *input) {
  return input->kind == INPUT_SHUFFLE ? cat_shuffle(cat, input) : cat_ipc(cat, input->path);
}

/* Names between commas. */
static void split_columns(struct cat *cat, const char *list) {
  if (list == NULL) return;
  cat->column_texts = must_copy(list);
  for (char *next = cat->column_texts; next != NULL;) {
    cat->columns = must_grow(cat->columns, cat->n_columns + 1, sizeof *cat->columns);
    cat->columns[cat->n_columns++] = next;
    next = strchr(next, ',');
    if (next != NULL) *next++ = '\0';
  }
}

static int choose_partitions(struct cat *cat) {
  const struct cat_options *given = cat->options;
  if (given->partition.given && given->partitions != NULL)
    return fail_usage("cat", "--partition and --partitions exclude each other");
  if (!given->partition.given)
    return range_read(&cat->partitions, "cat", "partitions", given->partitions);
  cat->partitions = (struct range){true, given->partition.value, given->partition.value + 1};
  return EXIT_GOOD;
}

/* The options as the library's. */
static int choose(struct cat *cat) {
  const struct ashuf_read_options defaults = ASHUF_READ_OPTIONS_INIT;
  const struct ashuf_decode_options decode = ASHUF_DECODE_OPTIONS_INIT;
  const struct cat_options *given = cat->options;
  struct part part;
  int status = choose_partitions(cat);
  if (status == EXIT_GOOD) status = range_read(&cat->maps, "cat", "maps", given->maps);
  if (status == EXIT_GOOD) status = part_read(&part, "cat", "split", given->split);
  if (status != EXIT_GOOD) return status;
  split_columns(cat, given->columns);
  cat->read = defaults;
  cat->read.memory = limit_memory();
  cat->read.decode = decode;
  cat->read.decode.projection_names = cat->columns;
  cat->read.decode.n_projection = cat->n_columns;
  cat->read.first_partition = cat->partitions.first;
  cat->read.end_partition = cat->partitions.end == -1 ? 0 : cat->partitions.end;
  cat->read.part = (int32_t)part.k;
  cat->read.parts = (int32_t)part.n;
  cat->read.verify = given->verify;
  cat->read.threads = given->threads.given ? (int)given->threads.value : 1;
  cat->read.target_rows = given->target_rows.given        ? given->target_rows.value
                          : given->format == FORMAT_ARROW ? 8192
                                                          : 0;
  return EXIT_GOOD;
}

/* What is said where no block was found, so that not even the schema is known. */
static int end_without_schema(const struct cat *cat, const char *path) {
  if (cat->sink->class->exact) return fail_data(path, "no block, so no schema for an Arrow stream");
  if (cat->options->format == FORMAT_BOX) output_puts("0 rows\n");
  return EXIT_GOOD;
}

/* Before the first row: of a directory that is not finished nothing is printed. */
static int check_listed(const struct inputs *inputs) {
  for (size_t i = 0; i < inputs->n; i++) {
    struct map_input input;
    struct ashuf_error error;
    const struct input *file = &inputs->list[i];
    if (!file->listed) continue;
    if (map_input_open(&input, file->path, true, ASHUF_VALIDATE_FULL, &error) != ASHUF_OK)
      return fail_error(file->path, &error);
    map_input_close(&input);
  }
  return EXIT_GOOD;
}

static int cat_all(struct cat *cat, const struct inputs *inputs) {
  int status = check_listed(inputs);
  cat->bytes = inputs->size;
  progress_start();
  for (size_t i = 0; i < inputs->n && status == EXIT_GOOD; i++) {
    status = cat_input(cat, &inputs->list[i]);
    cat->bytes_before += inputs->list[i].size;
    if (is_full(cat) && cat->first.schema != NULL) break;
  }
  progress_stop();
  if (status != EXIT_GOOD || inputs->n == 0) return status;
  if (cat->first.schema == NULL) return end_without_schema(cat, inputs->list[0].path);
  return cat->sink->class->end(cat->sink);
}

static struct sink *new_sink(int format) {
  switch (format) {
    case FORMAT_BOX:
      return sink_new_box(output_columns());
    case FORMAT_JSONL:
      return sink_new_jsonl();
    case FORMAT_ARROW:
      return sink_new_arrow();
    default:
      return sink_new_csv();
  }
}

static int cat_found(struct cat_options *given, const struct inputs *inputs) {
  struct cat cat = {0};
  if (given->format == FORMAT_AUTO) given->format = output_is_terminal() ? FORMAT_BOX : FORMAT_CSV;
  if (given->format == FORMAT_ARROW && output_is_terminal())
    return fail_usage("cat", "--format arrow is not for a terminal; send it to a file or a pipe");
  cat.options = given;
  int status = choose(&cat);
  if (status == EXIT_GOOD) {
    cat.sink = new_sink(given->format);
    status = output_finish(cat_all(&cat, inputs));
    cat.sink->class->release(cat.sink);
  }
  free(cat.columns);
  free(cat.column_texts);
  encoding_free(&cat.first);
  encoding_free(&cat.now);
  return status;
}

static int run(const struct command *self, int argc, char **argv) {
  struct cat_options given = {0};
  struct arguments arguments;
  struct inputs inputs = {0};
  int status = options_read(self, argc, argv, &given, &arguments);
  if (status >= 0) return status;
  if (arguments.n == 0)
    status = fail_usage("cat", "no FILE or DIR given; see 'ashuf cat --help'");
  else
    status = inputs_find(&inputs, &arguments, true);
  if (status == EXIT_GOOD) status = cat_found(&given, &inputs);
  inputs_free(&inputs);
  arguments_free(&arguments);
  return status;
}

const struct command command_cat = {
    "cat",
    "prints rows",
    "cat DIR|FILE... [--partitions A..B] [--columns A,B,...] [--format FORMAT] [--limit N]",
    "Prints the rows of shuffle data files and of Arrow IPC files and streams.\n"
    "\n"
    "FILE is a .data file (its .index stands beside it; without one the whole file counts as\n"
    "one partition), or an Arrow IPC file or stream; '-' is an IPC stream on standard input.\n"
    "DIR stands for all shuffle_*.data in it, in the order of the numbers in their names; there\n"
    "one without its .index is an error, since a write that was killed leaves such.\n"
    "Rows come file by file, partition by partition, in the order they were written. All must\n"
    "have the same columns. Every block is checked in full before its rows are printed.\n",
    options,
    "  ashuf cat out                                the rows, as a table\n"
    "  ashuf cat out --partition 3 --format jsonl   those of one partition, as JSON\n"
    "  ashuf cat out --partitions 10..20 --columns id,name --threads 2\n"
    "  ashuf cat out --partition 7 --maps 0..4 --split 0/3      a third of a skewed one\n"
    "  ashuf cat out --format arrow > rows.arrows   for pyarrow, DuckDB, polars\n"
    "  ashuf cat flights.arrow --limit 10           the first rows of an Arrow file\n",
    run};

/* ashuf cat: the rows of data files and Arrow IPC files, as box, csv, jsonl or Arrow. */
#include "failure.h"
#include "inputs.h"
#include "ipc_input.h"
#include "limit.h"
#include "map_input.h"
#include "map_names.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "rows.h"
#include "selection.h"
#include "text.h"

#include <stddef.h>
#include <stdlib.h>

enum format { FORMAT_AUTO, FORMAT_BOX, FORMAT_CSV, FORMAT_JSONL, FORMAT_ARROW };

static const char *const verify_ways[] = {"before", "trailing", "off", NULL}; /* ashuf_verify */
static const char *const formats[] = {"auto", "box", "csv", "jsonl", "arrow", NULL};

struct cat_options {
  struct selection_options selection;
  int verify;
  struct option_integer threads;
  struct option_integer batch_rows;
  struct option_integer limit;
  int format;
};

static const struct option_spec options[] = {
    {"partition", 0, "P|A..B", OPTION_TEXT, offsetof(struct cat_options, selection.partitions),
     NULL, 0, 0,
     "only partition P, counted from 0, or A to B - 1; also A..\n"
     "and ..B"},
    {"map", 0, "M|A..B", OPTION_TEXT, offsetof(struct cat_options, selection.maps), NULL, 0, 0,
     "only map output M, counted from 0 in the order they are\n"
     "read in, or A to B - 1"},
    {"part", 0, "K/N", OPTION_TEXT, offsetof(struct cat_options, selection.part), NULL, 0, 0,
     "only part K of N, from 0 to N - 1, of each partition,\n"
     "by its bytes; all parts together are the whole"},
    {"columns", 0, "A,B,...", OPTION_TEXT, offsetof(struct cat_options, selection.columns), NULL, 0,
     0, "only these columns, in this order; quoted as for --hash"},
    {"verify", 0, "WHEN", OPTION_CHOICE, offsetof(struct cat_options, verify), verify_ways, 0, 0,
     "when bytes are compared with the checksum file\n"
     "before    before a row of the partition is printed;\n"
     "          a large one is read twice (default)\n"
     "trailing  behind the rows of the partition\n"
     "off       not at all"},
    {"threads", 0, "N", OPTION_INTEGER, offsetof(struct cat_options, threads), NULL, 1, 256,
     "threads that decode (default 1)"},
    {"batch-rows", 0, "N", OPTION_INTEGER, offsetof(struct cat_options, batch_rows), NULL, 0,
     INT32_MAX,
     "rows that small blocks are put together to, over\n"
     "partitions and map outputs (default 8192 for --format\n"
     "arrow); 0: one batch a block"},
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

struct cat {
  const struct cat_options *options;
  struct selection selection;
  struct ashuf_read_options read; /* of map outputs */
  int64_t map;                    /* the position of the next map output */
  struct rows rows;
  uint64_t bytes_before; /* of the inputs before this one */
  uint64_t bytes;        /* of all inputs */
};

/* Map outputs that are read as one stream. */
struct group {
  const char **paths;
  size_t n;
};

/* ---- Rows --------------------------------------------------------------------------------- */

/* How far map outputs have been read; nothing where the input is another one. */
static void advance(const struct cat *cat, struct ipc_input *input) {
  struct ashuf_read_stats stats = ASHUF_READ_STATS_INIT;
  double part = -1;
  if (cat->bytes != 0 && ashuf_stream_get_read_stats(&input->stream, &stats))
    part = (double)(cat->bytes_before + stats.bytes_read) / (double)cat->bytes;
  progress_update(cat->rows.n, part);
}

/* A failure of a group names its map output by the number in its name. */
static int tell(const struct group *group, const struct ashuf_error *error) {
  for (size_t i = 0; i < group->n; i++)
    if (error->map >= 0 && map_number(group->paths[i]) == error->map)
      return fail_error(group->paths[i], error);
  return fail_error(group->paths[0], error);
}

/* Prints what is left of an input and closes it. */
static int cat_stream(struct cat *cat, struct ipc_input *input, const struct group *group) {
  struct ashuf_error error;
  int status = rows_schema(&cat->rows, input->path, input->schema);
  while (status == EXIT_GOOD && !rows_full(&cat->rows)) {
    struct ArrowArray batch;
    if (ipc_input_next(input, &batch, &error) != ASHUF_OK) {
      status = tell(group, &error);
      break;
    }
    if (batch.release == NULL) break;
    status = rows_put(&cat->rows, &batch);
    advance(cat, input);
  }
  ipc_input_close(input);
  return status;
}

static int cat_ipc(struct cat *cat, const char *path) {
  struct ipc_input input;
  struct ashuf_error error;
  const struct selection *selection = &cat->selection;
  const struct group one = {&path, 1};
  if (ipc_input_open(&input, path, &error) != ASHUF_OK) return fail_error(path, &error);
  int status = EXIT_GOOD;
  if (selection->n_columns > 0)
    status = project_open(&input.projection, selection->columns, selection->n_columns, path,
                          &input.schema);
  if (status == EXIT_GOOD) return cat_stream(cat, &input, &one);
  ipc_input_close(&input);
  return status;
}

/* ---- Map outputs -------------------------------------------------------------------------- */

static int cat_group(struct cat *cat, const struct group *group) {
  struct ipc_input input;
  struct ashuf_error error;
  if (group->n == 0 || range_empty(&cat->selection.partitions)) return EXIT_GOOD;
  for (size_t i = 0; i < group->n; i++) {
    int status = selection_check_partitions(&cat->selection, group->paths[i],
                                            cat->read.verify != ASHUF_VERIFY_OFF);
    if (status != EXIT_GOOD) return status;
  }
  ashuf_status status = ipc_input_open_shuffle(&input, group->paths, group->n, &cat->read, &error);
  if (status == ASHUF_NO_SCHEMA) return EXIT_GOOD; /* no block */
  return status == ASHUF_OK ? cat_stream(cat, &input, group) : tell(group, &error);
}

/* Whether b, behind a, can be of the same group: errors name a map output by its number alone. */
static bool goes_on(const struct input *a, const struct input *b) {
  return b->kind == INPUT_SHUFFLE && a->listed == b->listed && map_number(a->path) >= 0 &&
         map_number(a->path) < map_number(b->path);
}

/* Prints the map outputs from inputs[first] on that can be read as one; *end is behind them. */
static int cat_shuffles(struct cat *cat, const struct inputs *inputs, size_t first, size_t *end) {
  const struct input *list = inputs->list;
  struct group group = {must_allocate(inputs->n - first, sizeof(char *)), 0};
  size_t i = first;
  do {
    if (selection_has_map(&cat->selection, cat->map++)) group.paths[group.n++] = list[i].path;
    i++;
  } while (i < inputs->n && goes_on(&list[i - 1], &list[i]));
  cat->read.index_optional = !list[first].listed;
  int status = cat_group(cat, &group);
  free(group.paths);
  *end = i;
  return status;
}

/* ---- All ---------------------------------------------------------------------------------- */

/* The options as the library's. */
static int choose(struct cat *cat) {
  const struct ashuf_read_options defaults = ASHUF_READ_OPTIONS_INIT;
  const struct ashuf_decode_options decode = ASHUF_DECODE_OPTIONS_INIT;
  const struct cat_options *given = cat->options;
  int status = selection_read(&cat->selection, &given->selection);
  if (status != EXIT_GOOD) return status;
  cat->read = defaults;
  cat->read.memory = limit_memory();
  cat->read.decode = decode;
  cat->read.verify = given->verify;
  cat->read.threads = given->threads.given ? (int)given->threads.value : 1;
  cat->read.target_rows = given->batch_rows.given         ? given->batch_rows.value
                          : given->format == FORMAT_ARROW ? 8192
                                                          : 0;
  selection_apply(&cat->selection, &cat->read);
  return EXIT_GOOD;
}

/* What is said where no block was found, so that not even the schema is known. */
static int end_without_schema(const struct cat *cat, const char *path) {
  if (cat->rows.sink->class->exact)
    return fail_data(path, "no block, so no schema for an Arrow stream");
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

static int cat_each(struct cat *cat, const struct inputs *inputs) {
  int status = EXIT_GOOD;
  for (size_t i = 0; i < inputs->n && status == EXIT_GOOD;) {
    size_t end = i + 1;
    status = inputs->list[i].kind == INPUT_SHUFFLE ? cat_shuffles(cat, inputs, i, &end)
                                                   : cat_ipc(cat, inputs->list[i].path);
    for (; i < end; i++) cat->bytes_before += inputs->list[i].size;
    if (rows_full(&cat->rows) && rows_begun(&cat->rows)) break;
  }
  return status;
}

static int cat_all(struct cat *cat, const struct inputs *inputs) {
  int status = selection_check(&cat->selection, inputs);
  if (status == EXIT_GOOD) status = check_listed(inputs);
  if (status != EXIT_GOOD || inputs->n == 0) return status;
  cat->bytes = inputs->size;
  progress_start();
  status = cat_each(cat, inputs);
  progress_stop();
  if (status != EXIT_GOOD) return status;
  if (!rows_begun(&cat->rows)) return end_without_schema(cat, inputs->list[0].path);
  return rows_end(&cat->rows);
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
    rows_init(&cat.rows, new_sink(given->format), given->limit.given ? given->limit.value : -1);
    status = output_finish(cat_all(&cat, inputs));
  }
  rows_free(&cat.rows);
  selection_free(&cat.selection);
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
    "cat DIR|FILE... [--partition P|A..B] [--columns A,B,...] [--format FORMAT] [--limit N]",
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
    "  ashuf cat out --partition 10..20 --columns id,name --threads 2\n"
    "  ashuf cat out --partition 7 --map 0..4 --part 0/3   a third of a skewed one\n"
    "  ashuf cat out --format arrow > rows.arrows   for pyarrow, DuckDB, polars\n"
    "  ashuf cat flights.arrow --limit 10           the first rows of an Arrow file\n",
    run};

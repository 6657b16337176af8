/* ashuf verify: whether data files, their indexes and Arrow IPC files are sound. */
#include "compare.h"
#include "failure.h"
#include "inputs.h"
#include "ipc_input.h"
#include "map_input.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "text.h"

#include <stddef.h>
#include <string.h>

struct verify_options {
  bool compare;
  int format;
};

static const struct option_spec options[] = {
    {"compare", 0, NULL, OPTION_FLAG, offsetof(struct verify_options, compare), NULL, 0, 0,
     "compare the rows of two outputs, partition by partition,\n"
     "in whatever order, blocks and encodings they stand"},
    {"format", 0, "FORMAT", OPTION_CHOICE, offsetof(struct verify_options, format), report_formats,
     0, 0, REPORT_FORMAT_HELP},
    {NULL, 0, NULL, OPTION_FLAG, 0, NULL, 0, 0, NULL}};

static const struct report_column columns[] = {
    {"file", false},  {"state", false}, {"faults", true}, {"index", false},    {"partitions", true},
    {"blocks", true}, {"rows", true},   {"bytes", true},  {"checksum", false}, {NULL, false}};

/* What is found out about one file. */
struct finding {
  const char *path;
  json_t *row;
  json_t *faults;
  uint64_t blocks; /* sound ones */
  uint64_t rows;   /* in them */
  int status;
};

static void set_place(json_t *fault, const struct ashuf_error *error) {
  if (error->partition >= 0) set_number(fault, "partition", (uint64_t)error->partition);
  if (error->block >= 0) set_number(fault, "block", (uint64_t)error->block);
  if (error->block_offset != UINT64_MAX) set_number(fault, "block_byte", error->block_offset);
  if (error->space == ASHUF_SPACE_FILE) set_number(fault, "byte", error->offset);
  if (error->space == ASHUF_SPACE_BLOCK) {
    uint64_t start = error->block_offset == UINT64_MAX ? 0 : error->block_offset;
    set_number(fault, "byte", start + error->offset);
  }
  if (error->space == ASHUF_SPACE_STREAM) set_number(fault, "stream_byte", error->offset);
}

static void add_fault(struct finding *finding, const struct ashuf_error *error) {
  json_t *fault = json_object();
  struct text file = TEXT_INIT;
  struct text message = TEXT_INIT;
  failure_split(finding->path, error, &file, &message);
  set_text(fault, "file", text_terminated(&file));
  set_text(fault, "status", ashuf_status_name(error->status));
  set_number(fault, "site", (uint64_t)error->site);
  set_place(fault, error);
  set_text(fault, "message", text_terminated(&message));
  text_free(&message);
  text_free(&file);
  (void)json_array_append_new(finding->faults, fault);
  finding->status = worse(finding->status, fail_error(finding->path, error));
}

static void check_blocks(struct finding *finding, struct map_input *input) {
  struct ashuf_error error;
  for (;;) {
    struct map_block block;
    int found;
    if (map_input_next(input, &block, &found, &error) != ASHUF_OK) {
      add_fault(finding, &error);
      if (!map_input_goes_on(&error)) return;
      continue;
    }
    if (!found) return;
    finding->blocks++;
    finding->rows += (uint64_t)block.info.rows;
    block.batch.release(&block.batch);
    progress_update((int64_t)finding->rows,
                    (double)input->cursor.offset / (double)(map_input_bytes(input) + 1));
  }
}

/* The bytes of each partition against the checksum file, where there is one. */
static void check_sums(struct finding *finding, ashuf_map_file *file) {
  struct ashuf_error error;
  const char *algorithm = NULL;
  uint64_t compared = 0;
  if (ashuf_map_file_load_checksums(file, &algorithm, &error) != ASHUF_OK) {
    add_fault(finding, &error);
    return;
  }
  set_text(finding->row, "checksum", algorithm != NULL ? algorithm : "none");
  for (int64_t p = 0; algorithm != NULL && p < ashuf_map_file_partitions(file); p++) {
    int now = 0;
    if (ashuf_map_file_verify(file, p, &now, &error) != ASHUF_OK) add_fault(finding, &error);
    compared += now != 0;
  }
  set_number(finding->row, "partitions_compared", compared);
}

static void check_shuffle(struct finding *finding, bool listed) {
  struct map_input input;
  struct ashuf_error error;
  if (map_input_open(&input, finding->path, listed, ASHUF_VALIDATE_FULL, &error) != ASHUF_OK) {
    add_fault(finding, &error);
    if (error.status == ASHUF_BAD_INDEX)
      set_text(finding->row, "index", input.unfinished ? "none" : "bad");
    return;
  }
  check_blocks(finding, &input);
  check_sums(finding, input.file);
  set_text(finding->row, "index", ashuf_map_file_has_index(input.file) ? "yes" : "none");
  set_number(finding->row, "partitions", (uint64_t)map_input_partitions(&input));
  set_number(finding->row, "bytes", map_input_bytes(&input));
  map_input_close(&input);
}

static void check_ipc(struct finding *finding, uint64_t size) {
  struct ipc_input input;
  struct ashuf_error error;
  if (ipc_input_open(&input, finding->path, &error) != ASHUF_OK) {
    add_fault(finding, &error);
    return;
  }
  for (;;) {
    struct ArrowArray batch;
    if (ipc_input_next(&input, &batch, &error) != ASHUF_OK) {
      add_fault(finding, &error);
      break;
    }
    if (batch.release == NULL) break;
    finding->blocks++;
    finding->rows += (uint64_t)batch.length;
    batch.release(&batch);
    progress_update((int64_t)finding->rows, -1);
  }
  if (size > 0) set_number(finding->row, "bytes", size);
  ipc_input_close(&input);
}

static const char *state_of(int status) {
  return status == EXIT_GOOD ? "sound" : status == EXIT_BAD_DATA ? "unsound" : "not checked";
}

static int verify_input(struct report *report, const struct input *input) {
  struct finding finding = {.path = input->path, .row = report_row(report)};
  finding.faults = json_array();
  set_text(finding.row, "file", shown_path(input->path));
  if (input->kind == INPUT_SHUFFLE)
    check_shuffle(&finding, input->listed);
  else
    check_ipc(&finding, input->size);
  set_text(finding.row, "state", state_of(finding.status));
  set_number(finding.row, "blocks", finding.blocks);
  set_number(finding.row, "rows", finding.rows);
  set_number(finding.row, "faults", json_array_size(finding.faults));
  set_value(finding.row, "fault_list", finding.faults);
  return finding.status;
}

static int verify_all(const struct verify_options *given, const struct inputs *inputs) {
  struct report report;
  int status = EXIT_GOOD;
  report_init(&report, columns);
  progress_start();
  for (size_t i = 0; i < inputs->n; i++)
    status = worse(status, verify_input(&report, &inputs->list[i]));
  progress_stop();
  report_print(&report, report_resolve(given->format));
  report_free(&report);
  return status;
}

static int run(const struct command *self, int argc, char **argv) {
  struct verify_options given = {0};
  struct arguments arguments;
  struct inputs inputs = {0};
  int status = options_read(self, argc, argv, &given, &arguments);
  if (status >= 0) return status;
  if (arguments.n == 0) {
    status = fail_usage("verify", "no FILE or DIR given; see 'ashuf verify --help'");
  } else if (given.compare) {
    status = output_finish(compare_outputs(&arguments, given.format));
  } else {
    status = inputs_find(&inputs, &arguments, false);
    if (inputs.n > 0) status = worse(status, verify_all(&given, &inputs));
    status = output_finish(status);
  }
  inputs_free(&inputs);
  arguments_free(&arguments);
  return status;
}

const struct command command_verify = {
    "verify",
    "checks files: structure, contents, index",
    "verify DIR|FILE... [--format FORMAT], or verify --compare A B",
    "Checks shuffle data files and Arrow IPC files in full: the index, the header and the codec\n"
    "of every block, the Arrow messages in it, and every offset, null count, dictionary index\n"
    "and UTF-8 string of its values; and, where a checksum file stands beside the data file, the\n"
    "bytes of every partition.\n"
    "\n"
    "Each fault is a line on standard error with its partition, block and byte. 'byte' counts in\n"
    "the file; 'stream byte' counts in the Arrow stream of a block, behind its codec, and 'byte'\n"
    "is then where that block begins. After a fault the check goes on with the next partition;\n"
    "an Arrow IPC file ends with its first fault. One line a file says the result.\n"
    "\n"
    "--compare takes two outputs, each a FILE or a DIR of map outputs. A partition is the same "
    "when\n"
    "both have the same rows in it, of all map outputs together, in any order. A line a partition\n"
    "that differs; exit status 1 where there is one.\n"
    "\n"
    "FILE, DIR and '-' mean what they mean to 'ashuf cat'. Exit status 1: a file is unsound;\n"
    "3: a file could not be read, whatever the others are.\n",
    options,
    "  ashuf verify out\n"
    "  ashuf verify out/shuffle_0_0_0.data --format json\n"
    "  ashuf verify out > /dev/null && echo sound\n"
    "  ashuf verify --compare attempt-0 attempt-1   which partitions hold other rows\n",
    run};

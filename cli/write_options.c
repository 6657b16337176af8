#include "write_options.h"

#include "failure.h"
#include "limit.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

const struct option_spec write_option_specs[] = {
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
    {"max-body", 0, "SIZE", OPTION_SIZE, offsetof(struct write_options, max_body), NULL, 0, 0,
     "bytes of the buffers of one block, before the codec\n"
     "(default 64MiB)"},
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

/* ---- Checks ------------------------------------------------------------------------------- */

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

/* Before anything is read, which may be long before anything is spilled. */
static int check_spill_dirs(const struct option_list *dirs) {
  for (size_t i = 0; i < dirs->n; i++) {
    struct stat about;
    const char *path = dirs->values[i];
    int failure = stat(path, &about) != 0 ? errno : S_ISDIR(about.st_mode) ? 0 : ENOTDIR;
    if (failure == 0 && access(path, W_OK | X_OK) != 0) failure = errno;
    if (failure != 0) return fail_os(path, failure, "cannot be a spill directory");
  }
  return EXIT_GOOD;
}

int write_options_check(struct write_options *given, const struct arguments *inputs) {
  int status = check_inputs(inputs);
  if (status == EXIT_GOOD) status = read_file_mode(given);
  if (status != EXIT_GOOD) return status;
  if (given->output == NULL) return fail_usage("write", "-o DIR is missing");
  if (given->output[0] == '\0') return fail_usage("write", "-o: the name is empty");
  if (!given->partitions.given) return fail_usage("write", "--partitions N is missing");
  if (!ashuf_codec_available(codec_numbers[given->codec]))
    return fail_usage("write", "--codec: this build has no %s", codecs[given->codec]);
  int placed = placement_check(&given->placement, inputs);
  if (placed == EXIT_GOOD) placed = check_level(given);
  return placed == EXIT_GOOD ? check_spill_dirs(&given->spill_dirs) : placed;
}

/* ---- The library's ------------------------------------------------------------------------ */

uint64_t write_options_memory(const struct write_options *given) {
  return given->memory_limit.given ? (uint64_t)given->memory_limit.value : limit_default();
}

struct ashuf_writer_options write_options_library(const struct write_options *given) {
  const struct ashuf_encode_options defaults = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_writer_options out = ASHUF_WRITER_OPTIONS_INIT;
  out.encode = defaults;
  out.encode.codec = codec_numbers[given->codec];
  out.encode.has_level = given->level.given;
  out.encode.level = (int)given->level.value;
  out.encode.layout = given->layout;
  out.encode.max_rows = given->max_rows.value;
  out.encode.max_body = (uint64_t)given->max_body.value;
  out.encode.offsets_as_lengths = given->lengths;
  out.encode.dictionaries = given->dictionaries;
  out.sync = given->sync;
  out.file_mode = given->file_mode_bits;
  out.checksum = given->checksum;
  out.index_order = given->index_order;
  out.memory_limit = write_options_memory(given);
  out.spill_dirs = given->spill_dirs.values;
  out.n_spill_dirs = given->spill_dirs.n;
  out.threads = given->threads.given ? (int)given->threads.value : 1;
  return out;
}

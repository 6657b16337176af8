/*
 * Each row becomes its text (names and values of all columns, dictionaries as their values), the
 * text a 64-bit hash, and a partition the number of its rows and the sum of their hashes: equal for
 * equal rows in any order, in any blocks, over any map outputs.
 */
#include "compare.h"

#include "failure.h"
#include "inputs.h"
#include "map_input.h"
#include "progress.h"
#include "report.h"
#include "text.h"
#include "value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct content {
  uint64_t rows;
  uint64_t sum;
};

struct side {
  const char *name; /* the argument */
  struct content *partitions;
  int64_t n;
  int64_t rows;       /* of all */
  bool known;         /* of which the number of partitions is known */
  ashuf_schema *seen; /* the last one, and how it prints: */
  struct ArrowSchema arrow;
  struct column root;
};

static const struct report_column columns[] = {{"partition", true}, {"rows_a", true},
                                               {"rows_b", true},    {"sum_a", false},
                                               {"sum_b", false},    {NULL, false}};

static uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static uint64_t hash_text(const struct text *text) {
  uint64_t hash = text->size;
  size_t i = 0;
  for (; text->size - i >= 8; i += 8) {
    uint64_t word;
    memcpy(&word, text->data + i, sizeof word);
    hash = mix(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
  }
  uint64_t word = 0;
  if (text->size > i) memcpy(&word, text->data + i, text->size - i);
  return mix(hash ^ word);
}

static void forget_schema(struct side *side) {
  if (side->seen == NULL) return;
  column_free(&side->root);
  side->arrow.release(&side->arrow);
  ashuf_schema_free(side->seen);
  side->seen = NULL;
}

static ashuf_status see_schema(struct side *side, const ashuf_schema *schema,
                               struct ashuf_error *error) {
  if (side->seen == schema) return ASHUF_OK;
  forget_schema(side);
  ashuf_status status = ashuf_schema_export(schema, &side->arrow, error);
  if (status != ASHUF_OK) return status;
  side->seen = ashuf_schema_ref(schema);
  column_init(&side->root, &side->arrow);
  return ASHUF_OK;
}

static void add_rows(struct side *side, int64_t partition, const struct ArrowArray *batch) {
  struct content *content = &side->partitions[partition];
  struct text line = TEXT_INIT;
  for (int64_t row = 0; row < batch->length; row++) {
    line.size = 0;
    value_json_object(&line, &side->root, batch, row);
    content->rows++;
    content->sum += hash_text(&line);
  }
  side->rows += batch->length;
  progress_update(side->rows, -1);
  text_free(&line);
}

/* All outputs of a side have as many partitions. */
static int set_partitions(struct side *side, const char *path, int64_t n) {
  if (side->known && side->n == n) return EXIT_GOOD;
  if (side->known)
    return fail_data(path, "has %" PRId64 " partitions, other outputs of %s have %" PRId64, n,
                     side->name, side->n);
  side->known = true;
  side->n = n;
  side->partitions = must_allocate((size_t)n, sizeof *side->partitions);
  return EXIT_GOOD;
}

static int add_blocks(struct side *side, struct map_input *input) {
  struct ashuf_error error;
  for (;;) {
    struct map_block block;
    int found;
    ashuf_status status = map_input_next(input, &block, &found, &error);
    if (status == ASHUF_OK && !found) return EXIT_GOOD;
    if (status == ASHUF_OK) {
      status = see_schema(side, block.schema, &error);
      if (status == ASHUF_OK) add_rows(side, block.at.partition, &block.batch);
      block.batch.release(&block.batch);
    }
    if (status != ASHUF_OK) return fail_error(input->path, &error);
  }
}

static int add_output(struct side *side, const struct input *output) {
  struct map_input input;
  struct ashuf_error error;
  if (output->kind != INPUT_SHUFFLE)
    return fail_usage("verify", "--compare: %s is Arrow IPC and has no partitions",
                      shown_path(output->path));
  if (map_input_open(&input, output->path, output->listed, ASHUF_VALIDATE_FULL, &error) != ASHUF_OK)
    return fail_error(output->path, &error);
  int status = set_partitions(side, output->path, map_input_partitions(&input));
  if (status == EXIT_GOOD) status = add_blocks(side, &input);
  map_input_close(&input);
  return status;
}

static int add_side(struct side *side, const char *argument) {
  struct inputs inputs = {0};
  const char *list[] = {argument};
  const struct arguments one = {list, 1};
  side->name = argument;
  int status = inputs_find(&inputs, &one, true);
  for (size_t i = 0; i < inputs.n && status == EXIT_GOOD; i++)
    status = add_output(side, &inputs.list[i]);
  inputs_free(&inputs);
  forget_schema(side);
  return status;
}

static void set_sum(json_t *row, const char *key, uint64_t sum) {
  char text[24];
  (void)snprintf(text, sizeof text, "%016" PRIx64, sum);
  set_text(row, key, text);
}

static void add_difference(struct report *report, int64_t partition, const struct content *a,
                           const struct content *b) {
  json_t *row = report_row(report);
  set_number(row, "partition", (uint64_t)partition);
  set_number(row, "rows_a", a->rows);
  set_number(row, "rows_b", b->rows);
  set_sum(row, "sum_a", a->sum);
  set_sum(row, "sum_b", b->sum);
}

/* Whether the sides hold the same rows, wherever they are placed. */
static bool same_rows(const struct side *a, const struct side *b) {
  struct content all[2] = {{0, 0}, {0, 0}};
  for (int64_t p = 0; p < a->n; p++) {
    all[0].rows += a->partitions[p].rows;
    all[0].sum += a->partitions[p].sum;
    all[1].rows += b->partitions[p].rows;
    all[1].sum += b->partitions[p].sum;
  }
  return all[0].rows == all[1].rows && all[0].sum == all[1].sum;
}

static int tell_differences(const struct side *a, const struct side *b, int64_t n, int64_t first) {
  return fail_data(b->name,
                   "other rows than in %s in %" PRId64 " of %" PRId64
                   " partitions, the first of them %" PRId64 "%s",
                   a->name, n, a->n, first,
                   same_rows(a, b) ? "; all partitions together hold the same rows" : "");
}

static int compare_sides(const struct side *a, const struct side *b, int format) {
  struct report report;
  int64_t differ = 0;
  int64_t first = -1;
  if (a->n != b->n)
    return fail_data(b->name, "has %" PRId64 " partitions, %s has %" PRId64, b->n, a->name, a->n);
  report_init(&report, columns);
  for (int64_t p = 0; p < a->n; p++) {
    const struct content *x = &a->partitions[p];
    const struct content *y = &b->partitions[p];
    if (x->rows == y->rows && x->sum == y->sum) continue;
    if (differ++ == 0) first = p;
    add_difference(&report, p, x, y);
  }
  report_print(&report, report_resolve(format));
  report_free(&report);
  return differ == 0 ? EXIT_GOOD : tell_differences(a, b, differ, first);
}

int compare_outputs(const struct arguments *arguments, int format) {
  struct side sides[2] = {{0}, {0}};
  if (arguments->n != 2) return fail_usage("verify", "--compare takes two outputs");
  progress_start();
  int status = add_side(&sides[0], arguments->list[0]);
  if (status == EXIT_GOOD) status = add_side(&sides[1], arguments->list[1]);
  progress_stop();
  if (status == EXIT_GOOD) status = compare_sides(&sides[0], &sides[1], format);
  free(sides[0].partitions);
  free(sides[1].partitions);
  return status;
}

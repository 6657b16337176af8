#include "placement.h"

#include "bounds.h"
#include "failure.h"
#include "interrupt.h"
#include "ipc_input.h"
#include "limit.h"
#include "text.h"
#include "value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const round_robin_choices[] = {"positional", "hash", NULL};
const char *const range_rule_choices[] = {"spark", "comet", NULL};

enum { POSITIONAL = 1, BY_HASH = 2 };

/* ---- Options ------------------------------------------------------------------------------ */

/* The rows of a range without bounds are read twice. */
static int check_readable_twice(const struct arguments *inputs) {
  for (size_t i = 0; i < inputs->n; i++) {
    struct stat about;
    const char *path = inputs->list[i];
    bool stream = strcmp(path, "-") == 0 || (stat(path, &about) == 0 && !S_ISREG(about.st_mode));
    if (stream)
      return fail_usage("write", "--range without --bounds reads its inputs twice: %s is no file",
                        shown_path(path));
  }
  return EXIT_GOOD;
}

int placement_check(const struct placement_options *given, const struct arguments *inputs) {
  int kinds = (given->hash != NULL) + (given->range != NULL) + (given->round_robin != 0);
  if (kinds > 1) return fail_usage("write", "--hash, --range and --round-robin exclude each other");
  if (given->range == NULL && (given->bounds != NULL || given->show_bounds || given->seed.given))
    return fail_usage("write", "--bounds, --show-bounds and --seed belong to --range");
  if (given->range == NULL && given->range_rule != 0)
    return fail_usage("write", "--range-rule belongs to --range");
  if (given->bounds != NULL && given->seed.given)
    return fail_usage("write", "--seed: nothing is drawn where --bounds are given");
  if (given->group_rows.given && given->round_robin != POSITIONAL)
    return fail_usage("write", "--group-rows belongs to --round-robin=positional");
  if (given->max_hash_columns.given && given->round_robin != BY_HASH)
    return fail_usage("write", "--max-hash-columns belongs to --round-robin=hash");
  if (given->range != NULL && given->bounds == NULL) return check_readable_twice(inputs);
  return EXIT_GOOD;
}

/* ---- Keys of a range ---------------------------------------------------------------------- */

/* Cuts a word that is an order off the end of item; neither of a kind that was cut before. */
static bool cut_order(char *item, uint8_t *order, unsigned *kinds) {
  static const struct {
    const char *word;
    unsigned order;
    unsigned kind;
  } words[] = {{":asc", ASHUF_ORDER_ASCENDING, 1},
               {":desc", ASHUF_ORDER_DESCENDING, 1},
               {":nulls-first", ASHUF_ORDER_NULLS_FIRST, 2},
               {":nulls-last", ASHUF_ORDER_NULLS_LAST, 2}};
  size_t size = strlen(item);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i].word);
    if (size < length || strcmp(item + size - length, words[i].word) != 0) continue;
    if ((*kinds & words[i].kind) != 0) return false;
    item[size - length] = '\0';
    *order = (uint8_t)(*order | words[i].order);
    *kinds |= words[i].kind;
    return true;
  }
  return false;
}

static int add_range_key(struct placement *out, const char *name, uint8_t order,
                         const ashuf_schema *schema, const char *path) {
  if (name[0] == '\0' && ashuf_schema_find_column(schema, name) < 0)
    return fail_usage("write", "--range: a column name is empty");
  int status = keys_add(&out->keys, name, schema, path);
  if (status != EXIT_GOOD) return status;
  out->orders = must_grow(out->orders, (size_t)out->keys.n, sizeof *out->orders);
  out->orders[out->keys.n - 1] = order;
  return EXIT_GOOD;
}

/* COL[:asc|desc][:nulls-first|nulls-last], the first of *rest. */
static int take_range_key(struct placement *out, char **rest, const ashuf_schema *schema,
                          const char *path) {
  uint8_t order = 0;
  unsigned kinds = 0;
  char *behind;
  const char *name = keys_take_name(rest, &behind);
  if (name == NULL) return fail_usage("write", "--range: a quoted name is not closed");
  if (behind == NULL) {
    char *item = must_copy(name);
    while (ashuf_schema_find_column(schema, item) < 0 && cut_order(item, &order, &kinds)) continue;
    int status = add_range_key(out, item, order, schema, path);
    free(item);
    return status;
  }
  while (cut_order(behind, &order, &kinds)) continue;
  if (behind[0] != '\0')
    return fail_usage("write", "--range: '%s' behind a quoted name is no order such as :desc",
                      behind);
  return add_range_key(out, name, order, schema, path);
}

static int find_range_keys(struct placement *out, const ashuf_schema *schema, const char *path) {
  int status = EXIT_GOOD;
  const char *list = out->options->range;
  if (ashuf_schema_find_column(schema, list) >= 0) return add_range_key(out, list, 0, schema, path);
  char *items = must_copy(list);
  char *rest = items;
  while (rest != NULL && status == EXIT_GOOD) status = take_range_key(out, &rest, schema, path);
  free(items);
  return status;
}

/* ---- The partitioning --------------------------------------------------------------------- */

static struct ashuf_partitioning partitioning_of(const struct placement *placement, int64_t map) {
  const struct placement_options *given = placement->options;
  struct ashuf_partitioning how = ASHUF_PARTITIONING_INIT;
  how.partitions = placement->partitions;
  how.keys = placement->keys.columns;
  how.n_keys = placement->keys.n;
  how.orders = placement->orders;
  how.range_rule = given->range_rule;
  how.group_rows = given->group_rows.value;
  how.max_hash_columns = (int32_t)given->max_hash_columns.value;
  how.map_index = map;
  if (placement->bounds.release != NULL) how.bounds = &placement->bounds;
  if (given->round_robin == POSITIONAL) how.round_robin = ASHUF_ROUND_ROBIN_POSITIONAL;
  if (placement->partitions == 1)
    how.kind = ASHUF_PARTITION_SINGLE;
  else if (given->range != NULL)
    how.kind = ASHUF_PARTITION_RANGE;
  else if (given->round_robin != 0)
    how.kind = ASHUF_PARTITION_ROUND_ROBIN;
  else if (given->hash != NULL)
    how.kind = ASHUF_PARTITION_HASH;
  return how;
}

/* What the command line asks for cannot be, whatever the status says of arguments. */
static int tell(const char *path, const struct ashuf_error *error) {
  int exit = fail_error(path, error);
  bool asked = error->status == ASHUF_UNSUPPORTED_TYPE || error->status == ASHUF_INVALID_ARGUMENT;
  return asked ? EXIT_USAGE : exit;
}

int placement_partitioner(const struct placement *placement, const ashuf_schema *schema,
                          int64_t map, const char *path, ashuf_partitioner **out) {
  struct ashuf_error error;
  struct ashuf_partitioning how = partitioning_of(placement, map);
  ashuf_status status = ashuf_partitioner_new(schema, &how, limit_memory(), out, &error);
  if (status == ASHUF_OK) return EXIT_GOOD;
  bool of_bounds = placement->options->bounds != NULL && status != ASHUF_UNSUPPORTED_TYPE;
  return tell(of_bounds ? placement->options->bounds : path, &error);
}

/* ---- Bounds from the inputs --------------------------------------------------------------- */

static int sample_rows(ashuf_range_sampler *sampler, int32_t number, struct ipc_input *input) {
  struct ashuf_error error;
  while (!interrupt_seen()) {
    struct ArrowArray batch;
    if (ipc_input_next(input, &batch, &error) != ASHUF_OK) return fail_error(input->path, &error);
    if (batch.release == NULL) return EXIT_GOOD;
    ashuf_status status = ashuf_range_sampler_push(sampler, number, &batch, &error);
    batch.release(&batch);
    if (status != ASHUF_OK) return fail_error(input->path, &error);
  }
  return EXIT_IO;
}

static int sample_input(ashuf_range_sampler *sampler, int32_t number, const ashuf_schema *schema,
                        const struct arguments *inputs) {
  struct ipc_input input;
  struct ashuf_error error;
  const char *path = inputs->list[number];
  if (ipc_input_open(&input, path, &error) != ASHUF_OK) return fail_error(path, &error);
  int status = ashuf_schema_same_arrays(schema, input.schema)
                   ? sample_rows(sampler, number, &input)
                   : schema_tell_difference(path, input.schema, inputs->list[0], schema, 0);
  ipc_input_close(&input);
  return status;
}

static int sample_bounds(struct placement *out, const ashuf_schema *schema,
                         const struct arguments *inputs) {
  struct ashuf_error error;
  struct ashuf_partitioning how = partitioning_of(out, 0);
  ashuf_range_sampler *sampler = NULL;
  int status = EXIT_GOOD;
  if (ashuf_range_sampler_new(schema, &how, (int32_t)inputs->n, (int32_t)out->options->seed.value,
                              limit_memory(), &sampler, &error) != ASHUF_OK)
    return tell(inputs->list[0], &error);
  for (size_t i = 0; i < inputs->n && status == EXIT_GOOD; i++)
    status = sample_input(sampler, (int32_t)i, schema, inputs);
  if (status == EXIT_GOOD &&
      ashuf_range_sampler_bounds(sampler, &out->bounds, &error) != ASHUF_OK) {
    out->bounds.release = NULL;
    status = fail_error(inputs->list[0], &error);
  }
  ashuf_range_sampler_free(sampler);
  return status;
}

/* ---- Showing bounds ----------------------------------------------------------------------- */

static void show_bounds(struct placement *out, const ashuf_schema *key_schema) {
  struct ArrowSchema exported;
  struct column root;
  struct text line = TEXT_INIT;
  out->shown = json_array();
  if (out->bounds.release == NULL || ashuf_schema_export(key_schema, &exported, NULL) != ASHUF_OK)
    return;
  column_init(&root, &exported);
  for (int64_t i = 0; i < out->bounds.length; i++) {
    line.size = 0;
    value_json_object(&line, &root, &out->bounds, out->bounds.offset + i);
    json_array_append_new(out->shown,
                          json_loadb(line.data, line.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL));
    if (out->options->show_bounds)
      fprintf(stderr, "bound %" PRId64 ": %s\n", i, text_terminated(&line));
  }
  text_free(&line);
  column_free(&root);
  exported.release(&exported);
}

static int open_range(struct placement *out, const ashuf_schema *schema,
                      const struct arguments *inputs) {
  struct ashuf_error error;
  ashuf_schema *key_schema = NULL;
  int status = find_range_keys(out, schema, inputs->list[0]);
  if (status != EXIT_GOOD || out->partitions == 1) return status;
  struct ashuf_partitioning how = partitioning_of(out, 0);
  if (ashuf_range_schema(schema, &how, limit_memory(), &key_schema, &error) != ASHUF_OK)
    return tell(inputs->list[0], &error);
  status = out->options->bounds != NULL
               ? bounds_read(out->options->bounds, key_schema, &out->bounds)
               : sample_bounds(out, schema, inputs);
  if (status == EXIT_GOOD) show_bounds(out, key_schema);
  ashuf_schema_free(key_schema);
  return status;
}

int placement_open(struct placement *out, const struct placement_options *options,
                   int32_t partitions, const ashuf_schema *schema, const struct arguments *inputs) {
  out->options = options;
  out->partitions = partitions;
  if (options->hash != NULL) return keys_find(&out->keys, options->hash, schema, inputs->list[0]);
  return options->range != NULL ? open_range(out, schema, inputs) : EXIT_GOOD;
}

void placement_close(struct placement *placement) {
  keys_free(&placement->keys);
  free(placement->orders);
  json_decref(placement->shown);
  if (placement->bounds.release != NULL) placement->bounds.release(&placement->bounds);
}

#include "selection.h"

#include "failure.h"
#include "keys.h"
#include "limit.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int split_columns(struct selection *out, const char *list) {
  if (list == NULL) return EXIT_GOOD;
  out->column_texts = must_copy(list);
  for (char *rest = out->column_texts; rest != NULL;) {
    char *behind;
    const char *name = keys_take_name(&rest, &behind);
    if (name == NULL || (behind != NULL && behind[0] != '\0'))
      return fail_usage("cat",
                        "--columns: a quoted name is not closed in front of a comma or the end");
    out->columns = must_grow(out->columns, out->n_columns + 1, sizeof *out->columns);
    out->columns[out->n_columns++] = name;
  }
  return EXIT_GOOD;
}

int selection_read(struct selection *out, const struct selection_options *given) {
  memset(out, 0, sizeof *out);
  out->options = given;
  int status = range_read(&out->partitions, "cat", "partition", given->partitions);
  if (status == EXIT_GOOD) status = range_read(&out->maps, "cat", "map", given->maps);
  if (status == EXIT_GOOD) status = part_read(&out->part, "cat", "part", given->part);
  return status == EXIT_GOOD ? split_columns(out, given->columns) : status;
}

void selection_free(struct selection *selection) {
  free(selection->columns);
  free(selection->column_texts);
}

/* ---- What there is ------------------------------------------------------------------------ */

/* What of the options no Arrow file has; NULL: none was given. */
static const char *shuffle_option(const struct selection_options *given) {
  if (given->partitions != NULL) return "partition";
  if (given->maps != NULL) return "map";
  return given->part != NULL ? "part" : NULL;
}

int selection_check(const struct selection *selection, const struct inputs *inputs) {
  const char *option = shuffle_option(selection->options);
  int64_t maps = 0;
  for (size_t i = 0; i < inputs->n; i++) {
    if (inputs->list[i].kind == INPUT_SHUFFLE)
      maps++;
    else if (option != NULL)
      return fail_usage("cat", "--%s: %s is Arrow IPC and has no partitions", option,
                        shown_path(inputs->list[i].path));
  }
  const struct range *range = &selection->maps;
  if (!range->given || !range_exceeds(range, maps)) return EXIT_GOOD;
  return fail_usage("cat", "--map: there %s %" PRId64 " map output%s, so there is no %" PRId64,
                    maps == 1 ? "is" : "are", maps, maps == 1 ? "" : "s", range_last(range));
}

bool selection_has_map(const struct selection *selection, int64_t n) {
  const struct range *range = &selection->maps;
  return n >= range->first && (range->end == -1 || n < range->end);
}

static int check_file(const struct selection *selection, const char *path, ashuf_map_file *file,
                      bool compares) {
  struct ashuf_error error;
  const char *algorithm = NULL;
  const struct range *range = &selection->partitions;
  int64_t n = ashuf_map_file_partitions(file);
  if (range->given && range_exceeds(range, n))
    return fail_usage("cat", "--partition: %s has %" PRId64 " partition%s, so there is no %" PRId64,
                      path, n, n == 1 ? "" : "s", range_last(range));
  if (selection->part.n == 1 || !compares) return EXIT_GOOD;
  if (ashuf_map_file_load_checksums(file, &algorithm, &error) != ASHUF_OK)
    return fail_error(path, &error);
  if (algorithm != NULL) remark(path, "parts of partitions are not compared with their checksums");
  return EXIT_GOOD;
}

int selection_check_partitions(const struct selection *selection, const char *path, bool compares) {
  ashuf_map_file *file;
  struct ashuf_error error;
  if (!selection->partitions.given && selection->part.n == 1) return EXIT_GOOD;
  if (ashuf_map_file_open(path, NULL, 0, limit_memory(), &file, &error) != ASHUF_OK)
    return fail_error(path, &error);
  int status = check_file(selection, path, file, compares);
  ashuf_map_file_close(file);
  return status;
}

void selection_apply(const struct selection *selection, struct ashuf_read_options *out) {
  const struct range *range = &selection->partitions;
  out->decode.projection_names = selection->columns;
  out->decode.n_projection = selection->n_columns;
  out->first_partition = range->first;
  out->end_partition = range->end == -1 ? 0 : range->end;
  out->part = (int32_t)selection->part.k;
  out->parts = (int32_t)selection->part.n;
}

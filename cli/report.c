#include "report.h"

#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const report_formats[] = {"auto", "table", "tsv", "json", NULL};

enum report_format report_resolve(int format) {
  if (format != REPORT_AUTO) return (enum report_format)format;
  return output_is_terminal() ? REPORT_TABLE : REPORT_TSV;
}

void report_init(struct report *report, const struct report_column *columns) {
  report->columns = columns;
  report->n_columns = 0;
  while (columns[report->n_columns].key != NULL) report->n_columns++;
  report->rows = json_array();
}

json_t *report_row(struct report *report) {
  json_t *row = json_object();
  for (size_t i = 0; i < report->n_columns; i++)
    set_value(row, report->columns[i].key, json_null());
  (void)json_array_append_new(report->rows, row);
  return row;
}

void report_free(struct report *report) { json_decref(report->rows); }

void set_value(json_t *row, const char *key, json_t *value) {
  (void)json_object_set_new(row, key, value);
}

void set_text(json_t *row, const char *key, const char *value) {
  struct text clean = TEXT_INIT;
  text_utf8(&clean, value, strlen(value));
  set_value(row, key, json_stringn(text_terminated(&clean), clean.size));
  text_free(&clean);
}

void set_number(json_t *row, const char *key, uint64_t value) {
  set_value(row, key, json_integer((json_int_t)value));
}

void set_ratio(json_t *row, const char *key, uint64_t whole, uint64_t part) {
  if (part == 0) return;
  set_value(row, key, json_real(round((double)whole / (double)part * 100) / 100));
}

/* A schema as one line: "id int64 not null, name utf8". */
static void add_schema(struct text *out, const json_t *schema) {
  for (size_t i = 0; i < json_array_size(schema); i++) {
    const json_t *column = json_array_get(schema, i);
    const char *name = json_string_value(json_object_get(column, "name"));
    const char *type = json_string_value(json_object_get(column, "type"));
    if (i > 0) text_puts(out, ", ");
    text_shown(out, name, strlen(name));
    text_char(out, ' ');
    text_shown(out, type, strlen(type));
    if (!json_is_true(json_object_get(column, "nullable"))) text_puts(out, " not null");
  }
}

static void add_cell(struct text *out, const json_t *value) {
  if (json_is_integer(value))
    text_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
  else if (json_is_real(value))
    text_printf(out, "%.2f", json_real_value(value));
  else if (json_is_string(value))
    text_shown(out, json_string_value(value), json_string_length(value));
  else if (json_is_array(value))
    add_schema(out, value);
}

static void print_tsv(const struct report *report) {
  struct text line = TEXT_INIT;
  for (size_t i = 0; i < report->n_columns; i++)
    text_printf(&line, "%s%s", i == 0 ? "" : "\t", report->columns[i].key);
  text_char(&line, '\n');
  for (size_t r = 0; r < json_array_size(report->rows); r++) {
    const json_t *row = json_array_get(report->rows, r);
    for (size_t i = 0; i < report->n_columns; i++) {
      if (i > 0) text_char(&line, '\t');
      add_cell(&line, json_object_get(row, report->columns[i].key));
    }
    text_char(&line, '\n');
    output_text(&line);
  }
  output_text(&line);
  text_free(&line);
}

static size_t width_of(const struct report *report, size_t column, struct text *scratch) {
  size_t widest = strlen(report->columns[column].key);
  for (size_t r = 0; r < json_array_size(report->rows); r++) {
    scratch->size = 0;
    add_cell(scratch,
             json_object_get(json_array_get(report->rows, r), report->columns[column].key));
    size_t width = scratch->size == 0 ? 0 : utf8_columns(scratch->data, scratch->size);
    if (width > widest) widest = width;
  }
  return widest;
}

/* Appends a cell in its width, two spaces after all but the last. */
static void add_padded(struct text *line, const struct text *cell, size_t width, bool number,
                       bool last) {
  size_t room = width - (cell->size == 0 ? 0 : utf8_columns(cell->data, cell->size));
  for (size_t i = 0; number && i < room; i++) text_char(line, ' ');
  text_add(line, cell->data, cell->size);
  if (last) return;
  for (size_t i = 0; !number && i < room; i++) text_char(line, ' ');
  text_puts(line, "  ");
}

/* row NULL: the titles. */
static void print_line(const struct report *report, const json_t *row, const size_t *widths) {
  struct text line = TEXT_INIT;
  struct text cell = TEXT_INIT;
  for (size_t i = 0; i < report->n_columns; i++) {
    cell.size = 0;
    if (row == NULL)
      text_puts(&cell, report->columns[i].key);
    else
      add_cell(&cell, json_object_get(row, report->columns[i].key));
    add_padded(&line, &cell, widths[i], report->columns[i].number, i + 1 == report->n_columns);
  }
  text_char(&line, '\n');
  output_text(&line);
  text_free(&line);
  text_free(&cell);
}

static void print_table(const struct report *report) {
  size_t *widths = must_allocate(report->n_columns, sizeof *widths);
  struct text scratch = TEXT_INIT;
  for (size_t i = 0; i < report->n_columns; i++) widths[i] = width_of(report, i, &scratch);
  print_line(report, NULL, widths);
  for (size_t r = 0; r < json_array_size(report->rows); r++)
    print_line(report, json_array_get(report->rows, r), widths);
  text_free(&scratch);
  free(widths);
}

static void print_json(const struct report *report) {
  char *dump = json_dumps(report->rows, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  if (dump == NULL) return;
  output_puts(dump);
  output_puts("\n");
  free(dump);
}

void report_print(const struct report *report, enum report_format format) {
  if (format == REPORT_JSON)
    print_json(report);
  else if (format == REPORT_TABLE)
    print_table(report);
  else
    print_tsv(report);
}

/*
 * Tables of results: aligned on a terminal, tab-separated in a pipe, or JSON.
 *
 * In TSV the first line has the keys of the columns; a value with a tab or a line break in it has
 * that escaped. JSON is an array of objects with the same keys, numbers as numbers; a value that
 * is not known is null, in TSV an empty field.
 */
#ifndef ASHUF_CLI_REPORT_H
#define ASHUF_CLI_REPORT_H

#include "cli.h"
#include "text.h"

#include <jansson.h>

enum report_format { REPORT_AUTO, REPORT_TABLE, REPORT_TSV, REPORT_JSON };

/* "auto", "table", "tsv", "json", NULL: the choices of --format. */
extern const char *const report_formats[];
#define REPORT_FORMAT_HELP                       \
  "table  aligned columns\n"                     \
  "tsv    tab-separated values, with a header\n" \
  "json   an array of objects\n"                 \
  "auto   table on a terminal, tsv in a pipe (default)"

/* What auto means here. */
enum report_format report_resolve(int format);

struct report_column {
  const char *key;
  bool number;
};

struct report {
  const struct report_column *columns; /* ends with a NULL key */
  size_t n_columns;
  json_t *rows; /* an array of objects */
};

void report_init(struct report *report, const struct report_column *columns);
/* A new row; values are set by key. */
json_t *report_row(struct report *report);
void report_free(struct report *report);
/* Prints table or TSV; JSON prints the rows whole, keys that are no column included. */
void report_print(const struct report *report, enum report_format format);

void set_text(json_t *row, const char *key, const char *value);
void set_number(json_t *row, const char *key, uint64_t value);
/* part / whole with two digits, null where part is 0. */
void set_ratio(json_t *row, const char *key, uint64_t whole, uint64_t part);
/* Moves value. */
void set_value(json_t *row, const char *key, json_t *value);

#endif /* ASHUF_CLI_REPORT_H */

/*
 * A table for people: names, types, rows, and how many rows there are. Of more than MOST_ROWS
 * rows the first and the last HALF_ROWS are shown, of a long value its beginning, and of too many
 * columns for the terminal the first.
 *
 * The first MOST_ROWS rows are kept as they come; the last HALF_ROWS go round in a ring.
 */
#include "output.h"
#include "sink.h"
#include "text.h"
#include "value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 40
#define HALF_ROWS 20
#define WIDEST_VALUE 48 /* terminal columns */
#define BAR "\xe2\x94\x82"
#define DASH "\xe2\x94\x80"
#define ELLIPSIS "\xe2\x80\xa6"
#define DOT "\xc2\xb7"

struct box_sink {
  struct sink base;
  size_t terminal;
  size_t n_columns;
  char **names;
  char **types;
  bool *numbers;
  char **head[MOST_ROWS];
  char **ring[HALF_ROWS]; /* row r stands at r % HALF_ROWS, from row MOST_ROWS on */
  int64_t rows;
  size_t *widths;
  size_t shown; /* columns that fit */
};

/* What a table shows of a value: one line, of bounded width. */
static char *shown_value(struct text *text) {
  struct text line = TEXT_INIT;
  text_shown(&line, text->data, text->size);
  (void)text_terminated(&line);
  if (utf8_columns(line.data, line.size) > WIDEST_VALUE) {
    line.size = utf8_fit(line.data, line.size, WIDEST_VALUE - 1);
    text_puts(&line, ELLIPSIS);
  }
  (void)text_terminated(&line);
  text->size = 0;
  return line.data;
}

static int box_begin(struct sink *sink, const struct column *root, const ashuf_schema *schema) {
  struct box_sink *self = (struct box_sink *)sink;
  size_t n = (size_t)root->n_children;
  struct text name = TEXT_INIT;
  self->n_columns = n;
  self->names = must_allocate(n, sizeof *self->names);
  self->types = must_allocate(n, sizeof *self->types);
  self->numbers = must_allocate(n, sizeof *self->numbers);
  for (size_t i = 0; i < n; i++) {
    struct ashuf_buffer type = ASHUF_BUFFER_INIT;
    text_puts(&name, root->children[i].name);
    self->names[i] = shown_value(&name);
    if (ashuf_schema_format_type(schema, (int64_t)i, &type, NULL) == ASHUF_OK)
      text_add(&name, type.data, type.size);
    self->types[i] = shown_value(&name);
    self->numbers[i] = column_is_number(&root->children[i]);
    ashuf_buffer_free(&type);
  }
  text_free(&name);
  return EXIT_GOOD;
}

static void free_cells(char **cells, size_t n) {
  if (cells == NULL) return;
  for (size_t i = 0; i < n; i++) free(cells[i]);
  free(cells);
}

static char **make_cells(const struct column *root, const struct ArrowArray *batch, int64_t row) {
  char **cells = must_allocate((size_t)root->n_children, sizeof *cells);
  struct text text = TEXT_INIT;
  for (int64_t i = 0; i < root->n_children; i++) {
    const struct ArrowArray *array = batch->children[i];
    if (value_is_null(&root->children[i], array, row))
      text_puts(&text, "NULL");
    else
      value_text(&text, &root->children[i], array, row);
    cells[i] = shown_value(&text);
  }
  text_free(&text);
  return cells;
}

static int box_rows(struct sink *sink, const struct column *root, const ashuf_schema *schema,
                    const struct ArrowArray *batch, int64_t n) {
  struct box_sink *self = (struct box_sink *)sink;
  (void)schema;
  for (int64_t row = 0; row < n; row++) {
    int64_t at = self->rows + row;
    if (at >= MOST_ROWS && n - row > HALF_ROWS) continue; /* will not be among the last */
    char **cells = make_cells(root, batch, row + batch->offset);
    char ***place = at < MOST_ROWS ? &self->head[at] : &self->ring[at % HALF_ROWS];
    free_cells(*place, self->n_columns);
    *place = cells;
  }
  self->rows += n;
  return EXIT_GOOD;
}

/* The row of that number; only those that are shown may be asked for. */
static char **row_at(const struct box_sink *self, int64_t row) {
  return row < MOST_ROWS ? self->head[row] : self->ring[row % HALF_ROWS];
}

static bool is_cut(const struct box_sink *self) { return self->rows > MOST_ROWS; }

static void widen(struct box_sink *self, char **cells) {
  for (size_t i = 0; i < self->n_columns; i++) {
    size_t width = utf8_columns(cells[i], strlen(cells[i]));
    if (width > self->widths[i]) self->widths[i] = width;
  }
}

static void measure(struct box_sink *self) {
  self->widths = must_allocate(self->n_columns, sizeof *self->widths);
  widen(self, self->names);
  widen(self, self->types);
  for (int64_t row = 0; row < self->rows; row++)
    if (!is_cut(self) || row < HALF_ROWS || row >= self->rows - HALF_ROWS)
      widen(self, row_at(self, row));
  size_t used = 1;
  self->shown = 0;
  while (self->shown < self->n_columns) {
    used += self->widths[self->shown] + 3;
    if (self->terminal > 0 && used > self->terminal && self->shown > 0) break;
    self->shown++;
  }
}

static void print_rule(const struct box_sink *self, const char *left, const char *middle,
                       const char *right) {
  output_puts(left);
  for (size_t i = 0; i < self->shown; i++) {
    if (i > 0) output_puts(middle);
    for (size_t j = 0; j < self->widths[i] + 2; j++) output_puts(DASH);
  }
  output_puts(right);
  output_puts("\n");
}

static void pad(size_t n) {
  for (size_t i = 0; i < n; i++) output_write(" ", 1);
}

/* cells NULL: the line that stands for rows left out. */
static void print_cells(const struct box_sink *self, char **cells) {
  for (size_t i = 0; i < self->shown; i++) {
    const char *cell = cells == NULL ? DOT : cells[i];
    size_t room = self->widths[i] - utf8_columns(cell, strlen(cell));
    output_puts(BAR " ");
    if (self->numbers[i]) pad(room);
    output_puts(cell);
    if (!self->numbers[i]) pad(room);
    output_puts(" ");
  }
  output_puts(BAR "\n");
}

static void print_rows(const struct box_sink *self) {
  int64_t first_end = is_cut(self) ? HALF_ROWS : self->rows;
  for (int64_t row = 0; row < first_end; row++) print_cells(self, row_at(self, row));
  if (!is_cut(self)) return;
  print_cells(self, NULL);
  for (int64_t row = self->rows - HALF_ROWS; row < self->rows; row++)
    print_cells(self, row_at(self, row));
}

static void print_table(const struct box_sink *self) {
  print_rule(self, "\xe2\x94\x8c", "\xe2\x94\xac", "\xe2\x94\x90");
  print_cells(self, self->names);
  print_cells(self, self->types);
  print_rule(self, "\xe2\x94\x9c", "\xe2\x94\xbc", "\xe2\x94\xa4");
  print_rows(self);
  print_rule(self, "\xe2\x94\x94", "\xe2\x94\xb4", "\xe2\x94\x98");
}

static void print_summary(const struct box_sink *self) {
  output_printf("%" PRId64 " row%s", self->rows, self->rows == 1 ? "" : "s");
  if (is_cut(self)) output_printf(" (%d shown)", 2 * HALF_ROWS);
  output_printf(", %zu column%s", self->n_columns, self->n_columns == 1 ? "" : "s");
  if (self->shown < self->n_columns) output_printf(" (%zu shown)", self->shown);
  output_puts("\n");
}

static int box_end(struct sink *sink) {
  struct box_sink *self = (struct box_sink *)sink;
  measure(self);
  if (self->n_columns > 0) print_table(self);
  print_summary(self);
  return EXIT_GOOD;
}

static void box_release(struct sink *sink) {
  struct box_sink *self = (struct box_sink *)sink;
  for (size_t i = 0; i < MOST_ROWS; i++) free_cells(self->head[i], self->n_columns);
  for (size_t i = 0; i < HALF_ROWS; i++) free_cells(self->ring[i], self->n_columns);
  free_cells(self->names, self->n_columns);
  free_cells(self->types, self->n_columns);
  free(self->numbers);
  free(self->widths);
  free(self);
}

struct sink *sink_new_box(size_t columns) {
  static const struct sink_class class = {box_begin, box_rows, box_end, box_release, false};
  struct box_sink *self = must_allocate(1, sizeof *self);
  self->base.class = &class;
  self->terminal = columns;
  return &self->base;
}

#include "help.h"

#include "options.h"
#include "output.h"
#include "text.h"

#include <string.h>

#define HELP_COLUMN 30

static const char exit_text[] =
    "Exit status:\n"
    "  0  good\n"
    "  1  bad data: damaged, not Arrow, or of another schema\n"
    "  2  usage: the command line asks for what cannot be\n"
    "  3  input, output or memory: a file that cannot be opened, a full disk\n"
    "\n"
    "Every failure is one line on standard error: ashuf: FILE: place: what is wrong.\n";

int help_version(void) {
  output_printf("ashuf %s\n", ashuf_version());
  return output_finish(EXIT_GOOD);
}

int help_program(void) {
  output_puts(
      "usage: ashuf COMMAND [OPTION]... ARGUMENT...\n"
      "\n"
      "Reads and writes the shuffle files of Apache DataFusion Comet: Arrow rows, partitioned\n"
      "as Apache Spark does, compressed, in a data file and an index file.\n"
      "\n"
      "Commands:\n");
  for (size_t i = 0; commands[i] != NULL; i++)
    output_printf("  %-8s %s\n", commands[i]->name, commands[i]->summary);
  output_puts(
      "\n"
      "'ashuf COMMAND --help' tells all about one. Everywhere:\n"
      "  -h, --help      this text, or that of a command\n"
      "  --version       the version\n"
      "  --progress      rows and rows a second on standard error, at once, whatever that is\n"
      "  --no-progress   never; without either it is drawn after a second, on a terminal\n"
      "  --              ends the options; what follows is an argument\n"
      "\n"
      "Reports are a table on a terminal and tab-separated values in a pipe.\n"
      "\n");
  output_puts(exit_text);
  output_puts(
      "\n"
      "Environment:\n"
      "  ASHUF_PROGRESS=always   as --progress, which counts more, as does --no-progress\n");
  return output_finish(EXIT_GOOD);
}

static void print_head(const struct option_spec *spec, struct text *line) {
  line->size = 0;
  if (spec->letter != 0)
    text_printf(line, "  -%c, --%s", spec->letter, spec->name);
  else
    text_printf(line, "  --%s", spec->name);
  if (spec->argument != NULL)
    text_printf(line, "%s%s", spec->kind == OPTION_MAYBE ? "" : " ", spec->argument);
}

static void print_option(const struct option_spec *spec, struct text *line) {
  const char *help = spec->help;
  print_head(spec, line);
  if (line->size + 2 > HELP_COLUMN) {
    text_char(line, '\n');
    output_text(line);
  }
  while (*help != '\0') {
    size_t size = strcspn(help, "\n");
    while (line->size < HELP_COLUMN) text_char(line, ' ');
    text_add(line, help, size);
    text_char(line, '\n');
    output_text(line);
    help += size + (help[size] == '\n');
  }
}

int help_command(const struct command *command) {
  struct text line = TEXT_INIT;
  output_printf("usage: ashuf %s\n\n", command->usage);
  output_puts(command->description);
  output_puts("\nOptions:\n");
  for (const struct option_spec *spec = command->options; spec->name != NULL; spec++)
    print_option(spec, &line);
  static const struct option_spec common[] = {
      {"progress", 0, NULL, OPTION_FLAG, 0, NULL, 0, 0,
       "rows and rows a second on standard error, at once"},
      {"no-progress", 0, NULL, OPTION_FLAG, 0, NULL, 0, 0,
       "never; without either: after a second, on a terminal"},
      {"help", 'h', NULL, OPTION_FLAG, 0, NULL, 0, 0, "this text"},
      {"version", 0, NULL, OPTION_FLAG, 0, NULL, 0, 0, "the version"}};
  for (size_t i = 0; i < sizeof common / sizeof *common; i++) print_option(&common[i], &line);
  text_free(&line);
  output_puts("\nExamples:\n");
  output_puts(command->examples);
  output_puts("\n");
  output_puts(exit_text);
  return output_finish(EXIT_GOOD);
}

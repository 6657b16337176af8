#include "options.h"

#include "failure.h"
#include "help.h"
#include "nearest.h"
#include "progress.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS 48

struct reader {
  const struct command *command;
  char **argv;
  int argc;
  int next; /* of argv */
  char *fields;
};

static int unknown_option(const struct reader *reader, const char *given) {
  const char *words[MOST_OPTIONS + 4] = {"help", "version", "progress", "no-progress"};
  size_t n = 4;
  for (const struct option_spec *spec = reader->command->options; spec->name != NULL; spec++)
    if (n < MOST_OPTIONS) words[n++] = spec->name;
  const char *meant = given[0] == '-' ? nearest_word(given + 1, words, n) : NULL;
  if (meant != NULL)
    return fail_usage(reader->command->name, "unknown option '-%s'; did you mean '--%s'?", given,
                      meant);
  return fail_usage(reader->command->name, "unknown option '-%s'; see 'ashuf %s --help'", given,
                    reader->command->name);
}

static const struct option_spec *find_name(const struct command *command, const char *name,
                                           size_t size) {
  for (const struct option_spec *spec = command->options; spec->name != NULL; spec++)
    if (strlen(spec->name) == size && memcmp(spec->name, name, size) == 0) return spec;
  return NULL;
}

static const struct option_spec *find_letter(const struct command *command, char letter) {
  for (const struct option_spec *spec = command->options; spec->name != NULL; spec++)
    if (spec->letter == letter) return spec;
  return NULL;
}

static int store_integer(const struct reader *reader, const struct option_spec *spec,
                         const char *value) {
  struct option_integer *field = (void *)(reader->fields + spec->field);
  char *end = NULL;
  errno = 0;
  long long number = strtoll(value, &end, 10);
  bool odd = value[0] == ' ' || value[0] == '+' || end == value || *end != '\0' || errno != 0;
  if (odd || number < spec->least || number > spec->most)
    return fail_usage(reader->command->name,
                      "--%s: '%s' is not a whole number from %" PRId64 " to %" PRId64, spec->name,
                      value, spec->least, spec->most);
  field->given = true;
  field->value = number;
  return -1;
}

static int store_size(const struct reader *reader, const struct option_spec *spec,
                      const char *value) {
  static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB", "K", "M", "G", "T"};
  struct option_integer *field = (void *)(reader->fields + spec->field);
  char *end = NULL;
  errno = 0;
  long long number = strtoll(value, &end, 10);
  bool good = value[0] >= '0' && value[0] <= '9' && errno == 0;
  int shift = -1;
  for (int i = 0; i < (int)(sizeof units / sizeof *units); i++)
    if (strcmp(end, units[i]) == 0) shift = 10 * (i > 4 ? i - 4 : i);
  if (!good || shift < 0 || number < 1 || number > INT64_MAX >> shift)
    return fail_usage(reader->command->name,
                      "--%s: '%s' is not a size, as in 4096, 64KiB, 512MiB or 2GiB", spec->name,
                      value);
  field->given = true;
  field->value = (int64_t)number << shift;
  return -1;
}

static int store_list(const struct reader *reader, const struct option_spec *spec,
                      const char *value) {
  struct option_list *list = (void *)(reader->fields + spec->field);
  if (list->n == OPTION_MOST_VALUES)
    return fail_usage(reader->command->name, "--%s: more than %d of them", spec->name,
                      OPTION_MOST_VALUES);
  list->values[list->n++] = value;
  return -1;
}

static int store_choice(const struct reader *reader, const struct option_spec *spec,
                        const char *value, int first) {
  size_t n = 0;
  for (; spec->choices[n] != NULL; n++) {
    if (strcmp(spec->choices[n], value) != 0) continue;
    int choice = (int)n + first;
    memcpy(reader->fields + spec->field, &choice, sizeof choice);
    return -1;
  }
  struct text list = TEXT_INIT;
  for (size_t i = 0; i < n; i++) {
    if (i > 0) text_puts(&list, i + 1 == n ? " or " : ", ");
    text_puts(&list, spec->choices[i]);
  }
  int status = fail_usage(reader->command->name, "--%s: '%s' is not one of %s", spec->name, value,
                          text_terminated(&list));
  text_free(&list);
  return status;
}

static int store(const struct reader *reader, const struct option_spec *spec, const char *value) {
  char *field = reader->fields + spec->field;
  switch (spec->kind) {
    case OPTION_FLAG:
      *(bool *)field = true;
      return -1;
    case OPTION_TEXT:
      memcpy(field, &value, sizeof value);
      return -1;
    case OPTION_INTEGER:
      return store_integer(reader, spec, value);
    case OPTION_CHOICE:
      return store_choice(reader, spec, value, 0);
    case OPTION_MAYBE:
      return store_choice(reader, spec, value == NULL ? spec->choices[0] : value, 1);
    case OPTION_SIZE:
      return store_size(reader, spec, value);
    case OPTION_LIST:
      return store_list(reader, spec, value);
  }
  return -1;
}

/* Those that every command has; -1 where word is none of them, or there is something to go on with:
 * *known says. */
static int take_common(const struct reader *reader, const char *word, bool *known) {
  *known = true;
  if (strcmp(word, "help") == 0) return help_command(reader->command);
  if (strcmp(word, "version") == 0) return help_version();
  if (strcmp(word, "progress") == 0)
    progress_choose(PROGRESS_ALWAYS);
  else if (strcmp(word, "no-progress") == 0)
    progress_choose(PROGRESS_NEVER);
  else
    *known = false;
  return -1;
}

/* attached is the value in the same word, or NULL. */
static int take(struct reader *reader, const struct option_spec *spec, const char *attached) {
  if (spec->kind == OPTION_FLAG) {
    if (attached != NULL)
      return fail_usage(reader->command->name, "--%s takes no value", spec->name);
    return store(reader, spec, NULL);
  }
  if (attached != NULL || spec->kind == OPTION_MAYBE) return store(reader, spec, attached);
  if (reader->next >= reader->argc)
    return fail_usage(reader->command->name, "--%s needs a value: %s", spec->name, spec->argument);
  return store(reader, spec, reader->argv[reader->next++]);
}

static int take_long(struct reader *reader, const char *word) {
  const char *equals = strchr(word, '=');
  size_t size = equals == NULL ? strlen(word) : (size_t)(equals - word);
  const struct option_spec *spec = find_name(reader->command, word, size);
  if (spec != NULL) return take(reader, spec, equals == NULL ? NULL : equals + 1);
  bool known;
  int status = take_common(reader, word, &known);
  if (known) return status;
  char *name = must_print("-%.*s", (int)size, word);
  status = unknown_option(reader, name);
  free(name);
  return status;
}

static int take_short(struct reader *reader, const char *word) {
  const struct option_spec *spec = find_letter(reader->command, word[0]);
  if (spec != NULL) {
    if (spec->kind == OPTION_FLAG && word[1] != '\0') return unknown_option(reader, word);
    return take(reader, spec, word[1] == '\0' ? NULL : word + 1);
  }
  if (strcmp(word, "h") == 0) return help_command(reader->command);
  return unknown_option(reader, word);
}

int options_read(const struct command *command, int argc, char **argv, void *fields,
                 struct arguments *out) {
  struct reader reader = {command, argv, argc, 0, fields};
  bool ended = false;
  out->list = must_allocate((size_t)argc + 1, sizeof *out->list);
  out->n = 0;
  while (reader.next < argc) {
    const char *word = argv[reader.next++];
    int status = -1;
    if (ended || word[0] != '-' || word[1] == '\0')
      out->list[out->n++] = word;
    else if (strcmp(word, "--") == 0)
      ended = true;
    else if (word[1] == '-')
      status = take_long(&reader, word + 2);
    else
      status = take_short(&reader, word + 1);
    if (status >= 0) {
      arguments_free(out);
      return status;
    }
  }
  return -1;
}

void arguments_free(struct arguments *arguments) {
  free(arguments->list);
  arguments->list = NULL;
  arguments->n = 0;
}

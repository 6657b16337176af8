/*
 * ashuf: write, read and look into shuffle files. This file only finds the command.
 */
#include "cli.h"
#include "failure.h"
#include "help.h"
#include "nearest.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const struct command *const commands[] = {&command_write, &command_cat, &command_info,
                                          &command_verify, NULL};

#define N_COMMANDS (sizeof commands / sizeof commands[0] - 1)

static int unknown(const char *word) {
  const char *words[N_COMMANDS];
  for (size_t i = 0; i < N_COMMANDS; i++) words[i] = commands[i]->name;
  const char *kind = word[0] == '-' ? "option" : "command";
  const char *meant = word[0] == '-' ? NULL : nearest_word(word, words, N_COMMANDS);
  if (word[0] == '-') {
    static const char *const options[] = {"--help", "--version"};
    meant = nearest_word(word, options, 2);
  }
  if (meant != NULL)
    return fail_usage(NULL, "unknown %s '%s'; did you mean '%s'?", kind, word, meant);
  return fail_usage(NULL, "unknown %s '%s'; see 'ashuf --help'", kind, word);
}

/* A reader that goes away ends us quietly; a file size limit is an error like a full disk. */
static void set_signals(void) {
  (void)signal(SIGPIPE, SIG_DFL);
  (void)signal(SIGXFSZ, SIG_IGN);
}

/* A closed descriptor 0, 1 or 2 must not become that of a file we open: writes to it have to fail.
 */
static void hold_descriptors(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0) (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv) {
  set_signals();
  hold_descriptors();
  if (argc < 2) return fail_usage(NULL, "no command; see 'ashuf --help'");
  const char *word = argv[1];
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (strcmp(word, commands[i]->name) == 0)
      return commands[i]->run(commands[i], argc - 2, argv + 2);
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return help_program();
  if (strcmp(word, "--version") == 0) return help_version();
  return unknown(word);
}

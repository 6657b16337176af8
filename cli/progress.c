#include "progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_DRAW 1.0 /* seconds */
#define NEXT_DRAW 0.1
#define BAR_WIDTH 30

static struct {
  bool on;
  bool drawn;
  double wait; /* seconds before the first drawing */
  double start;
  double last;
} state;

static enum progress_choice chosen = PROGRESS_AUTO;

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void emit(const char *bytes, size_t size) {
  if (write(STDERR_FILENO, bytes, size) < 0) state.on = false;
}

void progress_choose(enum progress_choice choice) { chosen = choice; }

void progress_start(void) {
  const char *asked = getenv("ASHUF_PROGRESS");
  bool always = asked != NULL && strcmp(asked, "always") == 0;
  if (chosen != PROGRESS_AUTO) always = chosen == PROGRESS_ALWAYS;
  state.on = chosen != PROGRESS_NEVER && (always || isatty(STDERR_FILENO) == 1);
  state.drawn = false;
  state.wait = always ? 0 : FIRST_DRAW;
  state.start = now();
  state.last = 0;
}

static void make_bar(char *bar, double part) {
  int full = (int)(part * BAR_WIDTH);
  for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < full ? '#' : '.';
  bar[BAR_WIDTH] = '\0';
}

void progress_update(int64_t rows, double part) {
  if (!state.on) return;
  double at = now();
  if (at - state.start < state.wait || at - state.last < NEXT_DRAW) return;
  state.last = at;
  state.drawn = true;
  char bar[BAR_WIDTH + 1];
  char line[160];
  double seconds = at - state.start;
  double rate = seconds > 0 ? (double)rows / seconds : 0;
  int size;
  if (part >= 0) {
    make_bar(bar, part > 1 ? 1 : part);
    size = snprintf(line, sizeof line, "\r[%s] %3.0f%%  %" PRId64 " rows, %.0f rows/s\033[K", bar,
                    part * 100, rows, rate);
  } else {
    size = snprintf(line, sizeof line, "\r%" PRId64 " rows, %.0f rows/s\033[K", rows, rate);
  }
  if (size > 0) emit(line, (size_t)size);
}

void progress_hide(void) {
  if (!state.drawn) return;
  emit("\r\033[K", 4);
  state.drawn = false;
}

void progress_stop(void) {
  progress_hide();
  state.on = false;
}

/*
 * Timing of arms that are compared with each other.
 *
 * The arms of a group are run in turn, round by round (A B C A B C ...), so that a machine that
 * changes speed changes it for all of them; each visit lasts long enough to be timed (--visit).
 * What is reported is the median over the rounds, and ratios between medians of one group: times
 * of different groups or runs are not comparable. Every group carries the same control, work on
 * fixed bytes that no option changes; how much it moves says how much of a difference is noise.
 *
 *   bench_begin(argc, argv) -> bench_set_control
 *   -> { bench_group -> bench_arm... -> bench_sum... -> bench_run } ... -> bench_end
 *
 * Allocated blocks stay with the process and every arm is run before it is timed, so that no page
 * fault is timed; faults that happened anyway are reported. One thread.
 */
#ifndef BENCH_SUPPORT_HARNESS_H
#define BENCH_SUPPORT_HARNESS_H

#include <stdbool.h>
#include <stddef.h>

typedef void (*bench_work)(void *state);

/*
 * Options: --filter TEXT,... only groups whose names have every text; --rounds N; --visit US the
 * least microseconds an arm is run for in a round; --quick a few short rounds of small shapes;
 * --tsv one line an arm; --list the names alone; --profile ARM runs one arm of each group a
 * thousand times, for a profiler. Ends the program where they are wrong.
 * versions: a line about the libraries that the raw arms call.
 */
void bench_begin(int argc, char **argv, const char *versions);
bool bench_is_quick(void);

void bench_set_control(bench_work work, void *state);

/* false where the group is filtered out: make nothing then. */
bool bench_group(const char *name);
/* The first arm is what the others are compared with. Returns its number. */
int bench_arm(const char *name, bench_work work, void *state);
/* A figure put together from the medians of arms: a floor, as in raw decompressor + validated -
 * trusted. -1 leaves an arm out. */
int bench_sum(const char *name, int plus, int plus_too, int minus);
/* Compares with this arm instead of the first. */
void bench_base(int arm);
void bench_run(void);
/* Prints what the control did; the program's exit status. */
int bench_end(void);

/* The lines about the machine and the compiler that bench_begin prints. */
void bench_print_machine(const char *versions);

/* Ends the program with a message where ok is false. */
void bench_require(bool ok, const char *what);

#endif /* BENCH_SUPPORT_HARNESS_H */

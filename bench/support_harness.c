#include "support_harness.h"

#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARMS 32
#define MAX_ROUNDS 201
#define MAX_NAME 64
#define MAX_GROUPS 1024
#define PROFILE_ITERATIONS 1000

struct arm {
  char name[MAX_NAME];
  bench_work work; /* NULL: a sum of others */
  void *state;
  int terms[3];
  uint64_t iterations; /* of one visit */
  double samples[MAX_ROUNDS];
  double median; /* nanoseconds an iteration */
  double least;
};

static struct {
  const char *filter;
  const char *profile; /* an arm to run a thousand times and not to time */
  int rounds;
  double visit; /* nanoseconds */
  bool quick;
  bool tsv;
  bool list;
  char group[MAX_NAME];
  struct arm arms[MAX_ARMS];
  int n_arms;
  int base;
  struct arm control;
  double drifts[MAX_GROUPS];   /* of the control inside one group */
  double controls[MAX_GROUPS]; /* its median in each group */
  int n_groups;
} bench;

void bench_require(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "bench: %s\n", what);
  exit(2);
}

/* ---- The machine -------------------------------------------------------------------------- */

/* The first line of a command's output or of a file that starts with key, without both. */
static void first_line(FILE *in, const char *key, char *out, size_t size) {
  char line[512];
  snprintf(out, size, "unknown");
  while (in != NULL && fgets(line, sizeof line, in) != NULL) {
    if (strncmp(line, key, strlen(key)) != 0) continue;
    const char *value = strchr(line, ':');
    value = key[0] == '\0' || value == NULL ? line : value + 2;
    snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
    return;
  }
}

void bench_print_machine(const char *versions) {
  char cpu[128];
  char commit[128];
  FILE *in = fopen("/proc/cpuinfo", "r");
  first_line(in, "model name", cpu, sizeof cpu);
  if (in != NULL) fclose(in);
  in = popen("git describe --always --dirty 2>/dev/null", "r");
  first_line(in, "", commit, sizeof commit);
  if (in != NULL) pclose(in);
  double load[1] = {0};
  (void)getloadavg(load, 1);
  printf("# machine: %s, %ld cores, load %.1f\n", cpu, sysconf(_SC_NPROCESSORS_ONLN), load[0]);
#if defined(__clang__)
  printf("# compiler: clang %d.%d, ", __clang_major__, __clang_minor__);
#else
  printf("# compiler: gcc %d.%d, ", __GNUC__, __GNUC_MINOR__);
#endif
#ifdef __OPTIMIZE__
  printf("optimised; %s\n", versions);
#else
  printf("NOT OPTIMISED; %s\n", versions);
#endif
  printf("# commit: %s\n", commit);
}

/* ---- Options ------------------------------------------------------------------------------ */

static const char synopsis[] =
    "[--filter TEXT,...] [--rounds N] [--visit MICROSECONDS] [--quick] [--tsv] [--list] "
    "[--profile ARM]";

static const char *option_value(int argc, char **argv, int *i) {
  if (*i + 1 < argc) return argv[++*i];
  fprintf(stderr, "usage: %s %s\n", argv[0], synopsis);
  exit(2);
}

static void read_options(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") == 0) {
      bench.quick = true;
      bench.rounds = 3;
      bench.visit = 2e4;
    } else if (strcmp(argv[i], "--tsv") == 0) {
      bench.tsv = true;
    } else if (strcmp(argv[i], "--list") == 0) {
      bench.list = true;
    } else if (strcmp(argv[i], "--filter") == 0) {
      bench.filter = option_value(argc, argv, &i);
    } else if (strcmp(argv[i], "--profile") == 0) {
      bench.profile = option_value(argc, argv, &i);
    } else if (strcmp(argv[i], "--rounds") == 0) {
      bench.rounds = atoi(option_value(argc, argv, &i));
    } else if (strcmp(argv[i], "--visit") == 0) {
      bench.visit = atof(option_value(argc, argv, &i)) * 1e3;
    } else {
      printf("usage: %s %s\n", argv[0], synopsis);
      exit(strcmp(argv[i], "--help") == 0 ? 0 : 2);
    }
  }
  bench_require(bench.rounds >= 2 && bench.rounds <= MAX_ROUNDS, "--rounds: 2 to 201");
}

void bench_begin(int argc, char **argv, const char *versions) {
  bench.rounds = 21;
  bench.visit = 2.5e5;
  read_options(argc, argv);
  /* Freed blocks stay mapped: a fresh page costs more than a small block's decode. */
  (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
  (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
  if (bench.list) return;
  bench_print_machine(versions);
  printf("# %d rounds, visits of %.0f us; medians\n", bench.rounds, bench.visit / 1e3);
  if (bench.tsv) printf("group\tarm\tus\tratio\tleast_us\tcontrol_us\tcontrol_drift\tfaults\n");
}

bool bench_is_quick(void) { return bench.quick; }

/* ---- Groups and arms ---------------------------------------------------------------------- */

static bool wanted(const char *name) {
  const char *at = bench.filter;
  while (at != NULL && *at != '\0') {
    char text[MAX_NAME];
    size_t n = strcspn(at, ",");
    snprintf(text, sizeof text, "%.*s", (int)n, at);
    if (strstr(name, text) == NULL) return false;
    at += n + (at[n] == ',');
  }
  return true;
}

static void set_arm(struct arm *arm, const char *name, bench_work work, void *state) {
  memset(arm, 0, sizeof *arm);
  snprintf(arm->name, sizeof arm->name, "%s", name);
  arm->work = work;
  arm->state = state;
}

void bench_set_control(bench_work work, void *state) {
  set_arm(&bench.control, "control", work, state);
}

bool bench_group(const char *name) {
  if (!wanted(name)) return false;
  if (bench.list) {
    printf("%s\n", name);
    return false;
  }
  snprintf(bench.group, sizeof bench.group, "%s", name);
  bench.n_arms = 0;
  bench.base = 0;
  return true;
}

int bench_arm(const char *name, bench_work work, void *state) {
  bench_require(bench.n_arms < MAX_ARMS, "too many arms");
  set_arm(&bench.arms[bench.n_arms], name, work, state);
  return bench.n_arms++;
}

int bench_sum(const char *name, int plus, int plus_too, int minus) {
  int number = bench_arm(name, NULL, NULL);
  struct arm *arm = &bench.arms[number];
  arm->terms[0] = plus;
  arm->terms[1] = plus_too;
  arm->terms[2] = minus;
  return number;
}

void bench_base(int arm) { bench.base = arm; }

/* ---- Timing ------------------------------------------------------------------------------- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_visit(const struct arm *arm) {
  double start = now();
  for (uint64_t i = 0; i < arm->iterations; i++) arm->work(arm->state);
  return (now() - start) / (double)arm->iterations;
}

/* Warms up and finds how many iterations a visit takes. */
static void calibrate(struct arm *arm) {
  if (arm->work == NULL) return;
  arm->iterations = 1;
  (void)time_visit(arm);
  double each = time_visit(arm);
  while (each * (double)arm->iterations < bench.visit) {
    arm->iterations = arm->iterations * 2;
    each = time_visit(arm);
  }
}

static long minor_faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/* Where a visit holds few runs, the arm before would decide what the first finds in the caches: one
 * more goes ahead. */
static void visit(struct arm *arm, int round) {
  if (arm->work == NULL) return;
  if (arm->iterations < 16) arm->work(arm->state);
  arm->samples[round] = time_visit(arm);
}

static long time_rounds(void) {
  long faults = minor_faults();
  for (int round = 0; round < bench.rounds; round++) {
    visit(&bench.control, round);
    for (int i = 0; i < bench.n_arms; i++) visit(&bench.arms[i], round);
  }
  return minor_faults() - faults;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(const double *samples, int n) {
  double sorted[MAX_ROUNDS];
  memcpy(sorted, samples, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
  return n % 2 != 0 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static double term(int arm, bool least) {
  if (arm < 0) return 0;
  return least ? bench.arms[arm].least : bench.arms[arm].median;
}

static void summarise(struct arm *arm) {
  if (arm->work == NULL) {
    arm->median = term(arm->terms[0], 0) + term(arm->terms[1], 0) - term(arm->terms[2], 0);
    arm->least = term(arm->terms[0], 1) + term(arm->terms[1], 1) - term(arm->terms[2], 1);
    return;
  }
  arm->median = median_of(arm->samples, bench.rounds);
  arm->least = arm->samples[0];
  for (int i = 1; i < bench.rounds; i++) arm->least = fmin(arm->least, arm->samples[i]);
}

/* How far the second half of the rounds lies from the first. */
static double drift_of(const struct arm *arm) {
  int half = bench.rounds / 2;
  double first = median_of(arm->samples, half);
  double second = median_of(arm->samples + bench.rounds - half, half);
  return second / first - 1;
}

/* ---- Reporting ---------------------------------------------------------------------------- */

static void print_arm(const struct arm *arm, double drift, long faults) {
  double ratio = arm->median / bench.arms[bench.base].median;
  if (bench.tsv)
    printf("%s\t%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%ld\n", bench.group, arm->name, arm->median / 1e3,
           ratio, arm->least / 1e3, bench.control.median / 1e3, drift, faults);
  else
    printf("  %-32s %12.3f us %9.3f x %12.3f us least\n", arm->name, arm->median / 1e3, ratio,
           arm->least / 1e3);
}

static void run_profiled(void) {
  for (int i = 0; i < bench.n_arms; i++) {
    struct arm *arm = &bench.arms[i];
    if (arm->work == NULL || strcmp(arm->name, bench.profile) != 0) continue;
    arm->iterations = PROFILE_ITERATIONS;
    printf("%s, %s: %.3f us\n", bench.group, arm->name, time_visit(arm) / 1e3);
    bench.n_groups++;
  }
}

void bench_run(void) {
  if (bench.profile != NULL) {
    run_profiled();
    return;
  }
  calibrate(&bench.control);
  for (int i = 0; i < bench.n_arms; i++) calibrate(&bench.arms[i]);
  long faults = time_rounds();
  summarise(&bench.control);
  for (int i = 0; i < bench.n_arms; i++) summarise(&bench.arms[i]);
  double drift = drift_of(&bench.control);
  bench_require(bench.n_groups < MAX_GROUPS, "too many groups");
  bench.drifts[bench.n_groups] = fabs(drift);
  bench.controls[bench.n_groups++] = bench.control.median;
  if (!bench.tsv)
    printf("%s    (against: %s; control %.3f us, drift %+.1f%%; page faults %ld)\n", bench.group,
           bench.arms[bench.base].name, bench.control.median / 1e3, drift * 100, faults);
  for (int i = 0; i < bench.n_arms; i++) print_arm(&bench.arms[i], drift, faults);
  fflush(stdout);
}

int bench_end(void) {
  if (bench.list || bench.n_groups == 0) return bench.list ? 0 : 1;
  if (bench.profile != NULL) return 0;
  qsort(bench.drifts, (size_t)bench.n_groups, sizeof *bench.drifts, compare_doubles);
  qsort(bench.controls, (size_t)bench.n_groups, sizeof *bench.controls, compare_doubles);
  int last = bench.n_groups - 1;
  printf(
      "# control: %.3f to %.3f us over %d groups; drift inside one %.1f%% at the median, "
      "%.1f%% at most\n",
      bench.controls[0] / 1e3, bench.controls[last] / 1e3, bench.n_groups,
      bench.drifts[last / 2] * 100, bench.drifts[last] * 100);
  return 0;
}

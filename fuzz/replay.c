/*
 * Runs a fuzz target on files, without libFuzzer.
 *
 *   replay [--no-time] <file or folder>...
 *
 * Each input's CPU time is held against a budget of 1 ms and 50 us for every KiB that it decodes
 * to; the slack grows under sanitizers. Exit status 1: an input took longer; 77: no input.
 */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__)
#define SLACK 20
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLACK 20
#endif
#endif
#ifndef SLACK
#define SLACK 3 /* a busy machine */
#endif

static int inputs, offenders, keep_time = 1;

static uint64_t cpu_microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static uint64_t run(const uint8_t *data, size_t size) {
  uint64_t start = cpu_microseconds();
  fuzz_decoded = 0;
  LLVMFuzzerTestOneInput(data, size);
  return cpu_microseconds() - start;
}

static void check_time(const char *path, const uint8_t *data, size_t size) {
  uint64_t least = UINT64_MAX, budget = 0;
  for (int i = 0; i < 3; i++) { /* the best of three: page faults and neighbours cost time */
    uint64_t took = run(data, size);
    if (took < least) least = took;
    budget = SLACK * (1000 + 50 * ((fuzz_decoded + size + 1023) / 1024));
    if (least <= budget || !keep_time) return;
  }
  printf("%s: %llu us, %llu allowed\n", path, (unsigned long long)least,
         (unsigned long long)budget);
  offenders++;
}

static void replay_file(const char *path, size_t size) {
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(size + 1);
  if (file == NULL || data == NULL || fread(data, 1, size, file) != size) {
    perror(path);
    exit(2);
  }
  fclose(file);
  inputs++;
  check_time(path, data, size);
  free(data);
}

static void replay(const char *path) {
  struct stat about;
  if (stat(path, &about) != 0) return;
  if (!S_ISDIR(about.st_mode)) {
    replay_file(path, (size_t)about.st_size);
    return;
  }
  struct dirent **names;
  int n = scandir(path, &names, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    char inner[4096];
    snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
    if (names[i]->d_name[0] != '.') replay(inner);
    free(names[i]);
  }
  if (n >= 0) free(names);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--no-time") == 0)
      keep_time = 0;
    else
      replay(argv[i]);
  }
  printf("%d inputs, %d over their time\n", inputs, offenders);
  if (inputs == 0) return 77;
  return offenders == 0 ? 0 : 1;
}

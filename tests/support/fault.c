#include "support/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A scenario that allocates more often than this is no unit of work to sweep. */
#define MAX_ALLOCATIONS 100000

/* The allocator behind the domain. Atomic counters would be needed for scenarios with threads:
 * those have no Nth allocation to speak of. */
struct counting {
  uint64_t calls;
  uint64_t fail_at; /* from 1 */
  bool fail_from;   /* also every later one */
  uint64_t failed;
  int64_t live_bytes; /* by the sizes that release is told */
  int64_t live_blocks;
};

static void *counting_allocate(void *user_data, size_t size, size_t alignment) {
  struct counting *counting = user_data;
  counting->calls++;
  if (counting->calls == counting->fail_at ||
      (counting->fail_from && counting->calls > counting->fail_at)) {
    counting->failed++;
    return NULL;
  }
  void *pointer = NULL;
  if (posix_memalign(&pointer, alignment, size) != 0) return NULL;
  counting->live_bytes += (int64_t)size;
  counting->live_blocks++;
  return pointer;
}

static void counting_release(void *user_data, void *pointer, size_t size, size_t alignment) {
  struct counting *counting = user_data;
  (void)alignment;
  counting->live_bytes -= (int64_t)size;
  counting->live_blocks--;
  free(pointer);
}

/* What is wrong with a run that ended so, or NULL. */
static const char *judge(const struct counting *counting, ashuf_status status,
                         const struct ashuf_error *error, uint64_t now) {
  if (counting->live_blocks > 0) return "memory leaked";
  if (counting->live_blocks < 0) return "memory was released twice";
  if (counting->live_bytes != 0) return "memory was released with another size";
  if (now != 0) return "bytes are still charged";
  if (counting->failed == 0) return status == ASHUF_OK ? NULL : "failed without a failure";
  if (status == ASHUF_OK) return "a failed allocation was swallowed";
  if (status != ASHUF_OUT_OF_MEMORY) return "the status is not OUT_OF_MEMORY";
  if (error->status != status) return "the error's status is not the returned one";
  if (error->message[0] == '\0') return "the error has no message";
  return NULL;
}

/* One run; false where it is wrong. */
static bool run_once(fault_scenario scenario, void *data, struct counting *counting,
                     struct fault_report *report) {
  struct ashuf_memory_options options = ASHUF_MEMORY_OPTIONS_INIT;
  options.allocate = counting_allocate;
  options.release = counting_release;
  options.user_data = counting;
  struct ashuf_error error = {0};
  ashuf_memory *memory = NULL;
  if (ashuf_memory_new(&options, &memory, &error) != ASHUF_OK) {
    snprintf(report->text, sizeof report->text, "no memory domain: %s", error.message);
    return false;
  }
  ashuf_status status = scenario(memory, &error, data);
  struct ashuf_memory_stats stats = ASHUF_MEMORY_STATS_INIT;
  ashuf_memory_get_stats(memory, &stats);
  ashuf_memory_free(memory);
  const char *wrong = judge(counting, status, &error, stats.now);
  if (wrong == NULL) return true;
  snprintf(
      report->text, sizeof report->text,
      "allocation %llu%s failing: %s (status %s, message \"%s\", %lld blocks of %lld bytes live)",
      (unsigned long long)counting->fail_at, counting->fail_from ? " and all later" : "", wrong,
      ashuf_status_name(status), status == ASHUF_OK ? "" : error.message,
      (long long)counting->live_blocks, (long long)counting->live_bytes);
  return false;
}

bool fault_sweep_run(fault_scenario scenario, void *data, struct fault_report *report) {
  *report = (struct fault_report){0};
  for (int fail_from = 0; fail_from < 2; fail_from++) {
    for (uint64_t n = 1; n <= MAX_ALLOCATIONS; n++) {
      struct counting counting = {.fail_at = n, .fail_from = fail_from == 1};
      if (!run_once(scenario, data, &counting, report)) return false;
      report->allocations = counting.calls;
      if (counting.failed == 0) break;
      if (n < MAX_ALLOCATIONS) continue;
      snprintf(report->text, sizeof report->text, "more than %d allocations", MAX_ALLOCATIONS);
      return false;
    }
  }
  return true;
}

void fault_sweep(fault_scenario scenario, void *data) {
  struct fault_report report;
  if (!fault_sweep_run(scenario, data, &report)) fail_msg("%s", report.text);
  if (report.allocations == 0)
    fail_msg("the scenario allocates nothing from the memory it is given");
}

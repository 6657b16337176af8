/*
 * The allocation-failure sweep: runs a scenario again and again, the Nth allocation of its memory
 * domain failing, N = 1, 2, ... until a run makes fewer than N allocations. Twice: with that one
 * failure alone, and with every allocation from the Nth on failing.
 *
 * After each run: where an allocation failed, the status is OUT_OF_MEMORY and the error says the
 * same; where none failed, it is success; and always everything allocated has been released.
 *
 * The scenario makes what it needs with the memory it is given, does the work, frees all of it
 * whatever happened, and returns the first status that was not success. Allocations made outside
 * of memory (inputs, the test's own) do not fail.
 */
#ifndef TESTS_SUPPORT_FAULT_H
#define TESTS_SUPPORT_FAULT_H

#include <ashuf/base.h>
#include <stdbool.h>
#include <stdint.h>

typedef ashuf_status (*fault_scenario)(ashuf_memory *memory, struct ashuf_error *error, void *data);

struct fault_report {
  uint64_t allocations; /* that a run without failures makes */
  char text[512];       /* what is wrong, with N; "" where nothing is */
};

/* Whether the scenario stands the sweep. */
bool fault_sweep_run(fault_scenario scenario, void *data, struct fault_report *report);

/* The same as a cmocka assertion: fails the running test with the report's text. Requires that
 * the scenario allocates at all. */
void fault_sweep(fault_scenario scenario, void *data);

#endif /* TESTS_SUPPORT_FAULT_H */

/*
 * Hot loops twice: compiled for any machine of the architecture, and for its wider registers where
 * the processor has them. The source is one; the compiler vectorises each copy.
 *
 *   CPU_KERNEL(bool, scan, (const uint8_t *at, int64_t n), (at, n)) { ... }
 *
 * defines scan(at, n), which runs the copy that fits.
 */
#ifndef ASHUF_BASE_CPU_H
#define ASHUF_BASE_CPU_H

#include <stdbool.h>

/* Tests set it to run the copy for any machine. */
extern bool cpu_plain_only;

#if defined(__x86_64__) && defined(__GNUC__)
#define CPU_WIDE __attribute__((target("avx2,popcnt")))
static inline bool cpu_is_wide(void) { return !cpu_plain_only && __builtin_cpu_supports("avx2"); }
#else
#define CPU_WIDE
static inline bool cpu_is_wide(void) { return false; }
#endif

#define CPU_KERNEL(type, name, parameters, arguments)                           \
  static inline __attribute__((always_inline)) type name##_loop parameters;     \
  static CPU_WIDE type name##_wide parameters { return name##_loop arguments; } \
  static type name##_plain parameters { return name##_loop arguments; }         \
  static type name parameters {                                                 \
    return cpu_is_wide() ? name##_wide arguments : name##_plain arguments;      \
  }                                                                             \
  static inline __attribute__((always_inline)) type name##_loop parameters

#endif /* ASHUF_BASE_CPU_H */

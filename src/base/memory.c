#include "base/memory.h"

#include "base/error.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SITE_MEMORY_OPTIONS = 1, SITE_MEMORY_NEW = 2 };

struct ashuf_memory {
  struct ashuf_memory_options options;
  atomic_uint references;
  _Atomic uint64_t now;
  _Atomic uint64_t peak;
  _Atomic uint64_t allocations;
  _Atomic uint64_t total;
};

/* Larger alignments are made by hand, which is faster than aligned_alloc by as much as small
 * blocks take otherwise:
 *
 *   malloc -> [ 0 to 48 bytes ][ what malloc gave ][ ignored ][ size bytes, aligned ]
 */
static void *system_allocate(size_t size, size_t alignment) {
  if (alignment <= MEMORY_ALIGNMENT) return malloc(size);
  if (size > SIZE_MAX - alignment) return NULL;
  uint8_t *given = malloc(size + alignment);
  if (given == NULL) return NULL;
  uint8_t *aligned = given + alignment - ((uintptr_t)given & (alignment - 1));
  memcpy(aligned - MEMORY_ALIGNMENT, &given, sizeof given);
  return aligned;
}

static void system_release(void *pointer, size_t alignment) {
  if (alignment > MEMORY_ALIGNMENT)
    memcpy(&pointer, (uint8_t *)pointer - MEMORY_ALIGNMENT, sizeof pointer);
  free(pointer);
}

_Static_assert(_Alignof(max_align_t) >= MEMORY_ALIGNMENT, "malloc leaves room for a pointer");

static void raise_peak(ashuf_memory *memory, uint64_t now) {
  uint64_t peak = atomic_load_explicit(&memory->peak, memory_order_relaxed);
  while (now > peak && !atomic_compare_exchange_weak_explicit(
                           &memory->peak, &peak, now, memory_order_relaxed, memory_order_relaxed)) {
  }
}

/* Whether this thread's last refusal came from a limit or a host. What is granted after it changes
 * nothing: several may be asked for before the first is looked at. */
static _Thread_local bool limited;

/* Adds bytes where they fit; a request that does not fit is never seen by others. */
static bool reserve(ashuf_memory *memory, uint64_t bytes, uint64_t *after) {
  uint64_t limit = memory->options.limit;
  uint64_t before = atomic_load_explicit(&memory->now, memory_order_relaxed);
  do {
    if (limit != 0 && (bytes > limit || before > limit - bytes)) return false;
    *after = before + bytes;
  } while (!atomic_compare_exchange_weak_explicit(&memory->now, &before, *after,
                                                  memory_order_relaxed, memory_order_relaxed));
  return true;
}

bool memory_charge(ashuf_memory *memory, size_t bytes) {
  uint64_t after = 0;
  if (memory == NULL || bytes == 0) return true;
  if (!reserve(memory, bytes, &after)) {
    limited = true;
    return false;
  }
  const struct ashuf_memory_options *options = &memory->options;
  if (options->grow != NULL && options->grow(options->user_data, bytes) != 0) {
    atomic_fetch_sub_explicit(&memory->now, bytes, memory_order_relaxed);
    limited = true;
    return false;
  }
  raise_peak(memory, after);
  return true;
}

void memory_discharge(ashuf_memory *memory, size_t bytes) {
  if (memory == NULL || bytes == 0) return;
  atomic_fetch_sub_explicit(&memory->now, bytes, memory_order_relaxed);
  if (memory->options.shrink != NULL) memory->options.shrink(memory->options.user_data, bytes);
}

uint64_t memory_limit_of(const ashuf_memory *memory) {
  return memory != NULL ? memory->options.limit : 0;
}

bool memory_would_exceed(const ashuf_memory *memory, size_t size) {
  if (memory == NULL || memory->options.limit == 0) return false;
  uint64_t now = atomic_load_explicit(&memory->now, memory_order_relaxed);
  return size > memory->options.limit || now > memory->options.limit - size;
}

bool memory_has_host(const ashuf_memory *memory) {
  return memory != NULL && memory->options.grow != NULL;
}

bool memory_is_granted(ashuf_memory *memory, size_t size) {
  if (!memory_charge(memory, size)) return false;
  memory_discharge(memory, size);
  return true;
}

bool memory_was_limited(const ashuf_memory *memory) { return memory != NULL && limited; }

static void *allocate(ashuf_memory *memory, size_t size, size_t alignment) {
  if (size == 0) return NULL;
  if (memory == NULL) return system_allocate(size, alignment);
  if (!memory_charge(memory, size)) return NULL;
  void *pointer = memory->options.allocate != NULL
                      ? memory->options.allocate(memory->options.user_data, size, alignment)
                      : system_allocate(size, alignment);
  if (pointer == NULL) {
    memory_discharge(memory, size);
    limited = false;
    return NULL;
  }
  atomic_fetch_add_explicit(&memory->allocations, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&memory->total, size, memory_order_relaxed);
  return pointer;
}

static void release(ashuf_memory *memory, void *pointer, size_t size, size_t alignment) {
  if (pointer == NULL) return;
  if (memory == NULL) {
    system_release(pointer, alignment);
    return;
  }
  if (memory->options.release != NULL)
    memory->options.release(memory->options.user_data, pointer, size, alignment);
  else
    system_release(pointer, alignment);
  memory_discharge(memory, size);
}

void *memory_alloc(ashuf_memory *memory, size_t size) {
  return allocate(memory, size, MEMORY_ALIGNMENT);
}

void *memory_zeroed(ashuf_memory *memory, size_t size) {
  void *pointer = allocate(memory, size, MEMORY_ALIGNMENT);
  if (pointer != NULL) memset(pointer, 0, size);
  return pointer;
}

void *memory_aligned(ashuf_memory *memory, size_t size) {
  return allocate(memory, size, BODY_ALIGNMENT);
}

void memory_free(ashuf_memory *memory, void *pointer, size_t size) {
  release(memory, pointer, size, MEMORY_ALIGNMENT);
}

void memory_free_aligned(ashuf_memory *memory, void *pointer, size_t size) {
  release(memory, pointer, size, BODY_ALIGNMENT);
}

void *memory_grow(ashuf_memory *memory, void *pointer, size_t old_size, size_t new_size) {
  void *larger = memory_alloc(memory, new_size);
  if (larger == NULL) return NULL;
  if (old_size != 0) memcpy(larger, pointer, old_size < new_size ? old_size : new_size);
  memory_free(memory, pointer, old_size);
  return larger;
}

ashuf_status ashuf_memory_new(const struct ashuf_memory_options *options, ashuf_memory **out,
                              struct ashuf_error *error) {
  struct ashuf_memory_options own = ASHUF_MEMORY_OPTIONS_INIT;
  if (out == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_MEMORY_OPTIONS, "out is NULL");
  if (options != NULL)
    memcpy(&own, options, options->struct_size < sizeof own ? options->struct_size : sizeof own);
  if ((own.allocate == NULL) != (own.release == NULL) || (own.grow == NULL) != (own.shrink == NULL))
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_MEMORY_OPTIONS,
                     "memory hooks come in pairs: allocate and release, grow and shrink");
  ashuf_memory *memory = calloc(1, sizeof *memory);
  if (memory == NULL)
    return error_set(error, ASHUF_OUT_OF_MEMORY, SITE_MEMORY_NEW, "out of memory");
  memory->options = own;
  atomic_init(&memory->references, 1);
  *out = memory;
  return ASHUF_OK;
}

ashuf_memory *ashuf_memory_ref(ashuf_memory *memory) {
  if (memory != NULL) atomic_fetch_add_explicit(&memory->references, 1, memory_order_relaxed);
  return memory;
}

void ashuf_memory_free(ashuf_memory *memory) {
  if (memory == NULL) return;
  if (atomic_fetch_sub_explicit(&memory->references, 1, memory_order_acq_rel) == 1) free(memory);
}

void ashuf_memory_get_stats(const ashuf_memory *memory, struct ashuf_memory_stats *out) {
  struct ashuf_memory_stats own = ASHUF_MEMORY_STATS_INIT;
  if (out == NULL) return;
  size_t size = out->struct_size < sizeof own ? out->struct_size : sizeof own;
  own.struct_size = out->struct_size;
  if (memory != NULL) {
    own.now = atomic_load(&memory->now);
    own.peak = atomic_load(&memory->peak);
    own.allocations = atomic_load(&memory->allocations);
    own.total = atomic_load(&memory->total);
  }
  memcpy(out, &own, size);
}

/*
 * Caller structs that begin with struct_size: the library reads and writes min(the caller's
 * size, its own), so that either side may be the newer one.
 */
#ifndef ASHUF_BASE_OPTIONS_H
#define ASHUF_BASE_OPTIONS_H

#include <stddef.h>
#include <string.h>

/* own holds the defaults; given (or NULL) overlays them. Both start with size_t struct_size. */
static inline void options_read(void *own, size_t own_size, const void *given) {
  if (given == NULL) return;
  size_t size;
  memcpy(&size, given, sizeof size);
  memcpy(own, given, size < own_size ? size : own_size);
  memcpy(own, &own_size, sizeof own_size);
}

/* Copies own into the caller's struct, keeping the caller's struct_size. */
static inline void options_write(void *given, const void *own, size_t own_size) {
  if (given == NULL) return;
  size_t size;
  memcpy(&size, given, sizeof size);
  if (size <= sizeof size) return;
  size_t end = size < own_size ? size : own_size;
  memcpy((char *)given + sizeof size, (const char *)own + sizeof size, end - sizeof size);
}

#endif /* ASHUF_BASE_OPTIONS_H */

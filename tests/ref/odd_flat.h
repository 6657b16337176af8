/*
 * FlatBuffers as a graph of objects, laid out at random within the rules: parents before
 * children, aligned scalars, everything else by chance.
 *
 *   struct odd_flat flat = {.random = &random};
 *   struct odd_object *table = odd_table(&flat);
 *   odd_scalar(table, 0, 2, 4);
 *   odd_child(table, 2, other);
 *   odd_flat_finish(&flat, table, &bytes);      the objects are gone
 */
#ifndef TESTS_REF_ODD_FLAT_H
#define TESTS_REF_ODD_FLAT_H

#include "support/arrays.h"

struct odd_bytes {
  uint8_t *data;
  size_t size;
  size_t capacity;
};

void odd_put(struct odd_bytes *bytes, const void *data, size_t size);
void odd_put_zeros(struct odd_bytes *bytes, size_t size);
void odd_put_random(struct odd_bytes *bytes, struct test_random *random, size_t size);
void odd_bytes_free(struct odd_bytes *bytes);
/* One chance in n. */
bool odd_chance(struct test_random *random, int n);

struct odd_object;

struct odd_flat {
  struct test_random *random;
  struct odd_object **objects;
  size_t n_objects;
};

struct odd_object *odd_table(struct odd_flat *flat);
/* Tables only; slots below 12. */
void odd_scalar(struct odd_object *table, int slot, size_t width, int64_t value);
/* The same, and left out by chance where value is the default. */
void odd_scalar_or(struct odd_flat *flat, struct odd_object *table, int slot, size_t width,
                   int64_t value, int64_t fallback);
void odd_child(struct odd_object *table, int slot, struct odd_object *child);
/* May be one that exists already. */
struct odd_object *odd_string(struct odd_flat *flat, const void *data, size_t size);
struct odd_object *odd_vector(struct odd_flat *flat, struct odd_object *const *items, size_t n);
struct odd_object *odd_raw(struct odd_flat *flat, const void *data, size_t count, size_t element,
                           size_t alignment);
void odd_flat_finish(struct odd_flat *flat, struct odd_object *root, struct odd_bytes *out);

#endif /* TESTS_REF_ODD_FLAT_H */

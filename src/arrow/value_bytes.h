/*
 * One value of a source as bytes that are equal exactly where the values are: where it lies for
 * values of fixed width and for strings, spelled out in an arena for everything else.
 */
#ifndef ASHUF_ARROW_VALUE_BYTES_H
#define ASHUF_ARROW_VALUE_BYTES_H

#include "arrow/selection.h"

struct value_bytes {
  const uint8_t *data;
  size_t size;
};

enum { SITE_VALUE_MEMORY = 590, SITE_VALUE_RANGE = 591 };

/* BAD_ARRAY for offsets or indices that leave their data. */
ashuf_status value_bytes_get(const struct source *source, row_id id, struct arena *arena,
                             struct value_bytes *out, struct ashuf_error *error);

#endif /* ASHUF_ARROW_VALUE_BYTES_H */

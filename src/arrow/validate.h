/*
 * The scans over values that full validation makes, one kernel a rule (docs/FORMAT.md, "Body
 * layout"). Each returns -1 where all is well, or the position of the first offender. They do not
 * allocate and do not look past what their arguments bound. Written as plain loops that the
 * compiler vectorises.
 */
#ifndef ASHUF_ARROW_VALIDATE_H
#define ASHUF_ARROW_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n_offsets >= 1 entries of width 4 or 8: first >= 0, non-decreasing, last <= limit. */
int64_t validate_offsets(const void *offsets, int width, int64_t n_offsets, int64_t limit);

/*
 * The strings of valid slots are UTF-8, each on its own. offsets have passed validate_offsets.
 * validity may be NULL. One ASCII scan over all bytes settles the common case; the position is a
 * slot.
 */
int64_t validate_utf8(const void *offsets, int width, int64_t length, const uint8_t *bytes,
                      const uint8_t *validity);

/* One run of bytes is UTF-8 (no surrogates, no overlong forms, <= U+10FFFF). */
bool validate_utf8_bytes(const uint8_t *bytes, size_t size);

/* Indices of valid slots are in [0, limit). width 1, 2, 4, 8. */
int64_t validate_indices(const void *indices, int width, bool is_signed, int64_t length,
                         const uint8_t *validity, int64_t limit);

/*
 * The same while copying (validate_copy.c), from memory that nobody has looked at yet. What is
 * wrong is left to the functions above, on the copy.
 *   copy_ascii    whether all bytes are below 0x80
 *   copy_offsets  whether no entry is negative or less than the one before it
 */
bool copy_ascii(uint8_t *out, const uint8_t *in, size_t size);
bool copy_offsets(uint8_t *out, const uint8_t *in, int width, int64_t n_offsets);

/* Views (validate_views.c), and what is wrong with one. */
struct view_scan {
  const uint8_t *views; /* length of 16 bytes, at any address */
  const uint8_t *validity;
  int64_t length;
  const void *const *buffers; /* n_buffers data buffers, */
  const int64_t *sizes;       /* and the bytes of each */
  int64_t n_buffers;
  bool is_text; /* values are UTF-8 */
};
enum view_fault {
  VIEW_FAULT_SIZE,    /* negative */
  VIEW_FAULT_PADDING, /* bytes behind a value in its view are not 0 */
  VIEW_FAULT_BUFFER,  /* no such data buffer */
  VIEW_FAULT_RANGE,   /* outside the data buffer */
  VIEW_FAULT_PREFIX,  /* differs from the value's first four bytes */
  VIEW_FAULT_UTF8
};
/* Views of valid slots. */
int64_t validate_views(const struct view_scan *scan, enum view_fault *fault);

/* Offsets and sizes of all slots, nulls included as Arrow has it, stay in [0, limit). width 4, 8.
 */
int64_t validate_list_views(const void *offsets, const void *sizes, int width, int64_t length,
                            int64_t limit);

/* Every type id is one of known. */
int64_t validate_type_ids(const uint8_t *ids, int64_t length, const int8_t *known, int32_t n_known);

/* Every offset is in [0, limits[its type id]); ids have passed validate_type_ids. */
int64_t validate_dense_offsets(const uint8_t *ids, const void *offsets, int64_t length,
                               const int64_t limits[128]);

/* Run ends of width 2, 4 or 8 increase, the first one from 0. */
int64_t validate_run_ends(const void *ends, int width, int64_t n);
/* Whether the last of n run ends is length or more. */
bool run_ends_cover(const void *ends, int width, int64_t n, int64_t length);

#endif /* ASHUF_ARROW_VALIDATE_H */

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

#endif /* ASHUF_ARROW_VALIDATE_H */

/*
 * Rows of a column gathered into a whole array by the gather kernels, in pieces of random size,
 * each into exactly as much memory as it may write. Dictionaries come out decoded. Asserts that
 * the output is canonical: nothing under nulls, no bits past the end.
 */
#ifndef TESTS_SUPPORT_TAKE_H
#define TESTS_SUPPORT_TAKE_H

#include "arrow/gather.h"

/* Release the result as the C Data Interface says. */
struct ArrowArray take_rows(const struct source *source, const struct selection *selection);

#endif /* TESTS_SUPPORT_TAKE_H */

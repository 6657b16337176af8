/*
 * A row of an array of the C Data Interface as text, in the reference decoder's form, for every
 * type: what the library decoded, read back without the library.
 */
#ifndef TESTS_REF_ARRAY_TEXT_H
#define TESTS_REF_ARRAY_TEXT_H

#include <ashuf/arrow_abi.h>

/* About where texts are cut: a few bytes can stand for billions of values. */
#define ARRAY_TEXT_MOST ((long)1 << 20)

/* Malloced. */
char *array_text(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row);

#endif /* TESTS_REF_ARRAY_TEXT_H */

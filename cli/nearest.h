/* Which known word was meant. */
#ifndef ASHUF_CLI_NEAREST_H
#define ASHUF_CLI_NEAREST_H

#include <stddef.h>

/*
 * The word of words[0, n) with the smallest edit distance to given, or NULL where even that one
 * is too far off to be a slip. NULL words are skipped.
 */
const char *nearest_word(const char *given, const char *const *words, size_t n);

#endif /* ASHUF_CLI_NEAREST_H */

/*
 * The reference decoder: blocks to text, slowly, written from docs/FORMAT.md alone. It shares no
 * code and no header with the library, so that both are wrong in the same way only where the
 * format is misread twice.
 *
 *   struct ref_result result;
 *   ref_decode(block, size, &result);
 *   ... result.text[column][row] when result.outcome is REF_ROWS ...
 *   ref_result_free(&result);
 *
 * Every column becomes one text a row, children before parents: little-endian values as xHEX,
 * true, false, null, [a,b] lists, {a,b} structs, <id:value> unions; dictionaries and runs as the
 * values they stand for. All checks of the validated mode are made.
 */
#ifndef TESTS_REF_REF_H
#define TESTS_REF_REF_H

#include <stddef.h>
#include <stdint.h>

enum ref_outcome {
  REF_ROWS,
  REF_REFUSED,
  REF_TOO_LARGE /* this slow way would need too much memory: no opinion */
};

struct ref_chunk;

struct ref_result {
  enum ref_outcome outcome;
  const char *reason; /* of a refusal */
  int in_dictionary;  /* it was made while a dictionary batch was read */
  int64_t rows;
  int64_t columns;
  const char *const *const *text; /* [column][row] */
  struct ref_chunk *chunks;       /* the memory behind all of it */
};

/* Exactly one block. */
void ref_decode(const uint8_t *block, size_t size, struct ref_result *out);
void ref_result_free(struct ref_result *result);

#endif /* TESTS_REF_REF_H */

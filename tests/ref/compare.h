/* The library and the reference decoder on the same block. */
#ifndef TESTS_REF_COMPARE_H
#define TESTS_REF_COMPARE_H

#include "ref/ref.h"

#include <ashuf/ashuf.h>
#include <stdbool.h>

struct comparison {
  struct ref_result expected;
  ashuf_status status; /* of the library, with ctx */
  struct ashuf_error error;
  bool fresh_differs;   /* a new context gave another status or site */
  bool trusted_refuses; /* what the validated mode took */
  char *difference;     /* malloced text of the first row that differs; NULL: none */
};

void compare_block(ashuf_ctx *ctx, const uint8_t *block, size_t size, struct comparison *out);
void comparison_free(struct comparison *comparison);

#endif /* TESTS_REF_COMPARE_H */

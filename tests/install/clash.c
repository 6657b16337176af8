/* A program whose own functions are named like internal ones of the library: it must link with
 * the static library, and each must call its own. */
#include <ashuf/ashuf.h>
#include <stdio.h>
#include <stdlib.h>

void *memory_alloc(void);
void *memory_alloc(void) { abort(); }

int error_set(void);
int error_set(void) { abort(); }

int main(void) {
  ashuf_ctx *ctx;
  struct ashuf_error error;
  if (ashuf_ctx_new(NULL, &ctx, &error) != ASHUF_OK) return 1;
  ashuf_ctx_free(ctx);
  if (ashuf_ctx_new(NULL, NULL, &error) != ASHUF_INVALID_ARGUMENT) return 2;
  puts("no clash");
  return 0;
}

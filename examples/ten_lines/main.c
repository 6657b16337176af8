#include <ashuf/ashuf.h>
#include <stdio.h>

int main(void) {
  ashuf_ctx *ctx;
  struct ashuf_error error;
  if (ashuf_ctx_new(NULL, &ctx, &error) != ASHUF_OK) return fprintf(stderr, "%s\n", error.message);
  printf("ashuf %s\n", ashuf_version());
  ashuf_ctx_free(ctx);
}

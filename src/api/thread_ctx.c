/* One context a thread. The key's destructor runs at thread exit, which is why the shared library
 * is linked with -z nodelete. */
#include "block/context.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void destroy(void *ctx) { context_free(ctx); }
static void make_key(void) { has_key = pthread_key_create(&key, destroy) == 0; }

ashuf_ctx *ashuf_thread_ctx(void) {
  if (pthread_once(&once, make_key) != 0 || !has_key) return NULL;
  ashuf_ctx *ctx = pthread_getspecific(key);
  if (ctx != NULL) return ctx;
  if (context_new(NULL, &ctx, NULL) != ASHUF_OK) return NULL;
  if (pthread_setspecific(key, ctx) == 0) return ctx;
  context_free(ctx);
  return NULL;
}

void ashuf_thread_ctx_release(void) {
  if (pthread_once(&once, make_key) != 0 || !has_key) return;
  ashuf_ctx *ctx = pthread_getspecific(key);
  if (ctx == NULL || ctx->busy) return;
  (void)pthread_setspecific(key, NULL);
  context_free(ctx);
}

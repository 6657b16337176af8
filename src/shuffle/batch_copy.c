#include "shuffle/batch_copy.h"

#include "base/buffer.h"
#include "os/os.h"

#include <stdatomic.h>
#include <string.h>

/* More rows, and what is read no longer stays in the cache for its second buffer. */
#define MAX_ROWS_COPIED 65536
#define RADIX_BITS 11
#define RADIX (1 << RADIX_BITS)
/* A block begins here past a multiple of 64, so that its stream is at one. */
#define BLOCK_SKEW (BODY_ALIGNMENT - ASHUF_BLOCK_HEADER_SIZE)

/* [ struct copy_slab ][ block ][ block ] ... */
struct copy_slab {
  ashuf_memory *memory;        /* a reference */
  struct batch_copier *copier; /* outlives its copies */
  struct copy_slab *next;      /* of those that wait to be used again */
  atomic_uint references;
  size_t size;
  size_t used;
};

/* The first block's room. */
#define SLAB_START \
  ((sizeof(struct copy_slab) + BODY_ALIGNMENT - 1) / BODY_ALIGNMENT * BODY_ALIGNMENT)

static void slab_free(struct copy_slab *slab) {
  ashuf_memory *memory = slab->memory;
  memory_free_aligned(memory, slab, slab->size);
  ashuf_memory_free(memory);
}

/* A slab that nobody uses any more waits for the next rows: given back, it could leave a hole that
 * nothing fits into. */
static void slab_unref(struct copy_slab *slab) {
  if (slab == NULL || atomic_fetch_sub(&slab->references, 1) != 1) return;
  slab->next = slab->copier->free_slabs;
  slab->copier->free_slabs = slab;
}

static struct copy_slab *slab_new(struct batch_copier *copier) {
  ashuf_memory *memory = copier->memory;
  size_t size = copier->slab_bytes;
  struct copy_slab *slab = copier->free_slabs;
  if (slab != NULL) {
    copier->free_slabs = slab->next;
    atomic_init(&slab->references, 1);
    slab->used = sizeof *slab;
    return slab;
  }
  slab = memory_aligned(memory, size);
  if (slab == NULL) return NULL;
  slab->copier = copier;
  os_use_large_pages(slab, size);
  slab->memory = ashuf_memory_ref(memory);
  atomic_init(&slab->references, 1);
  slab->size = size;
  slab->used = sizeof *slab;
  return slab;
}

static void give_back(struct ashuf_bytes *bytes) {
  slab_unref(bytes->private_data);
  bytes->release = NULL;
}

/* size bytes of a slab, with a reference to it; false where there is no memory. */
static bool place(struct batch_copier *copier, size_t size, struct ashuf_bytes *out) {
  struct copy_slab *slab = copier->slab;
  size_t at =
      slab == NULL ? 0 : (slab->used + BODY_ALIGNMENT - 1) / BODY_ALIGNMENT * BODY_ALIGNMENT;
  if (slab == NULL || at + BLOCK_SKEW > slab->size || size > slab->size - at - BLOCK_SKEW) {
    slab = slab_new(copier);
    if (slab == NULL) return false;
    slab_unref(copier->slab);
    copier->slab = slab;
    at = SLAB_START;
  }
  atomic_fetch_add(&slab->references, 1);
  slab->used = at + BLOCK_SKEW + size;
  *out = (struct ashuf_bytes){(uint8_t *)slab + at + BLOCK_SKEW, size, give_back, slab};
  return true;
}

/* ---- Sorting ------------------------------------------------------------------------------ */

static bool reserve(struct batch_copier *copier, size_t n) {
  if (n <= copier->capacity) return true;
  size_t old = copier->capacity;
  uint64_t *rows = memory_alloc(copier->memory, 2 * n * sizeof *rows);
  int32_t *ids = memory_alloc(copier->memory, n * sizeof *ids);
  if (rows == NULL || ids == NULL) {
    memory_free(copier->memory, rows, 2 * n * sizeof *rows);
    memory_free(copier->memory, ids, n * sizeof *ids);
    return false;
  }
  memory_free(copier->memory, copier->rows, 2 * old * sizeof *rows);
  memory_free(copier->memory, copier->ids, old * sizeof *ids);
  copier->rows = rows;
  copier->ids = ids;
  copier->capacity = n;
  return true;
}

/* One pass of a stable radix sort of row numbers by some bits of their ids. */
static void sort_pass(const int32_t *ids, const uint64_t *from, uint64_t *to, size_t n, int shift) {
  uint32_t starts[RADIX + 1] = {0};
  for (size_t i = 0; i < n; i++) starts[((ids[i] >> shift) & (RADIX - 1)) + 1]++;
  for (int i = 0; i < RADIX; i++) starts[i + 1] += starts[i];
  for (size_t i = 0; i < n; i++) to[starts[(ids[from[i]] >> shift) & (RADIX - 1)]++] = from[i];
}

static const uint64_t *sort_rows(struct batch_copier *copier, const int32_t *ids, size_t n,
                                 int32_t partitions) {
  uint64_t *from = copier->rows;
  uint64_t *to = copier->rows + n;
  for (size_t i = 0; i < n; i++) from[i] = i;
  for (int shift = 0; shift < 31 && (partitions - 1) >> shift != 0; shift += RADIX_BITS) {
    sort_pass(ids, from, to, n, shift);
    uint64_t *other = from;
    from = to;
    to = other;
  }
  return from;
}

/* ---- Copying ------------------------------------------------------------------------------ */

ashuf_status batch_copier_init(struct batch_copier *copier, size_t slab_bytes, ashuf_memory *memory,
                               struct ashuf_error *error) {
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  *copier = (struct batch_copier){.memory = memory, .slab_bytes = slab_bytes};
  options.memory = memory;
  return slab_bytes == 0 ? ASHUF_OK : context_new(&options, &copier->ctx, error);
}

void batch_copier_trim(struct batch_copier *copier) {
  slab_unref(copier->slab);
  copier->slab = NULL;
  while (copier->free_slabs != NULL) {
    struct copy_slab *slab = copier->free_slabs;
    copier->free_slabs = slab->next;
    slab_free(slab);
  }
}

void batch_copier_free(struct batch_copier *copier) {
  context_free(copier->ctx);
  ashuf_buffer_free(&copier->block);
  batch_copier_trim(copier);
  memory_free(copier->memory, copier->rows, 2 * copier->capacity * sizeof *copier->rows);
  memory_free(copier->memory, copier->ids, copier->capacity * sizeof *copier->ids);
  *copier = (struct batch_copier){0};
}

static ashuf_status encode(struct batch_copier *copier, const struct source_set *set,
                           struct block_encoder *encoder, const uint64_t *rows, size_t n,
                           bool *whole, struct ashuf_error *error) {
  struct selection selection = {.n_rows = (int64_t)n, .ids = rows};
  struct ashuf_encode_options given = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_encode_options own;
  struct block_encode_stats stats = {0};
  given.codec = ASHUF_CODEC_NONE;
  given.max_rows = MAX_ROWS_COPIED;
  given.max_body = copier->slab_bytes;
  encode_options_resolve(&own, &given);
  copier->block.size = 0;
  ashuf_status status =
      block_encode_selection(encoder, set, &selection, &own, &copier->block, NULL, &stats, error);
  *whole = stats.blocks == 1 && copier->block.size <= copier->slab_bytes - SLAB_START - BLOCK_SKEW;
  return status;
}

static ashuf_status decode(struct batch_copier *copier, struct ArrowArray *out, bool *done,
                           struct ashuf_error *error) {
  struct ashuf_bytes bytes;
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  const ashuf_schema *schema;
  options.validate = ASHUF_VALIDATE_TRUSTED;
  if (!place(copier, copier->block.size, &bytes))
    return error_memory(error, SITE_COPY_MEMORY, copier->memory, copier->slab_bytes);
  memcpy((uint8_t *)(uintptr_t)bytes.data, copier->block.data, bytes.size);
  ashuf_status status =
      context_decode_block(copier->ctx, &bytes, &options, &schema, out, &info, error);
  *done = status == ASHUF_OK;
  if (status != ASHUF_OK && bytes.release != NULL) bytes.release(&bytes);
  return status;
}

ashuf_status batch_copy(struct batch_copier *copier, const struct source_set *set,
                        struct block_encoder *encoder, int32_t partitions, int32_t *ids,
                        struct ArrowArray *out, bool *done, struct ashuf_error *error) {
  size_t n = (size_t)set->lengths[0];
  bool whole = false;
  *done = false;
  if (copier->slab_bytes == 0 || n == 0 || n > MAX_ROWS_COPIED) return ASHUF_OK;
  if (!reserve(copier, n)) return error_memory(error, SITE_COPY_MEMORY, copier->memory, n * 20);
  const uint64_t *rows = sort_rows(copier, ids, n, partitions);
  ashuf_status status = encode(copier, set, encoder, rows, n, &whole, error);
  if (status != ASHUF_OK || !whole) return status;
  status = decode(copier, out, done, error);
  if (!*done) return status;
  for (size_t i = 0; i < n; i++) copier->ids[i] = ids[rows[i]];
  memcpy(ids, copier->ids, n * sizeof *ids);
  return ASHUF_OK;
}

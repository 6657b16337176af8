#include "shuffle/batch_copy.h"

#include "base/buffer.h"
#include "os/os.h"

#include <stdatomic.h>
#include <string.h>

/* More rows at a time, and what a column of them takes no longer stays in the cache. */
#define ROWS_AT_ONCE 16384
/* Fewer rows are not worth waking a thread. */
#define SHARE_ROWS 1024
#define RADIX_BITS 11
#define RADIX (1 << RADIX_BITS)
/* A block begins here past a multiple of 64, so that its stream is at one. */
#define BLOCK_SKEW (BODY_ALIGNMENT - ASHUF_BLOCK_HEADER_SIZE)

/* [ struct copy_slab ][ block ][ block ] ... */
struct copy_slab {
  ashuf_memory *memory;     /* a reference */
  struct copy_share *share; /* outlives its copies */
  struct copy_slab *next;   /* of those that wait to be used again */
  atomic_uint references;
  size_t size;
  size_t used;
};

int64_t batch_copy_piece_rows;
int64_t batch_copy_share_rows;

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
  slab->next = slab->share->free_slabs;
  slab->share->free_slabs = slab;
}

static struct copy_slab *slab_new(struct copy_share *share) {
  ashuf_memory *memory = share->memory;
  size_t size = share->slab_bytes;
  struct copy_slab *slab = share->free_slabs;
  if (slab != NULL) {
    share->free_slabs = slab->next;
    atomic_init(&slab->references, 1);
    slab->used = sizeof *slab;
    return slab;
  }
  slab = memory_aligned(memory, size);
  if (slab == NULL) return NULL;
  slab->share = share;
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

/* Bytes that are left for a block in the share's slab. */
static size_t slab_room(const struct copy_share *share) {
  const struct copy_slab *slab = share->slab;
  if (slab == NULL) return 0;
  size_t at = (slab->used + BODY_ALIGNMENT - 1) / BODY_ALIGNMENT * BODY_ALIGNMENT;
  return at > slab->size ? 0 : slab->size - at;
}

static ashuf_status next_slab(struct copy_share *share, struct ashuf_error *error) {
  struct copy_slab *slab = slab_new(share);
  if (slab == NULL) return error_memory(error, SITE_COPY_MEMORY, share->memory, share->slab_bytes);
  slab_unref(share->slab);
  share->slab = slab;
  return ASHUF_OK;
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

static uint64_t *sort_rows(struct batch_copier *copier, const int32_t *ids, size_t n,
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

static ashuf_status init_share(struct copy_share *share, size_t slab_bytes, ashuf_memory *memory,
                               struct ashuf_error *error) {
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  struct ashuf_memory_options nothing = ASHUF_MEMORY_OPTIONS_INIT;
  *share = (struct copy_share){.memory = memory, .slab_bytes = slab_bytes};
  nothing.limit = 1;
  options.memory = memory;
  ashuf_status status = ashuf_memory_new(&nothing, &share->full, error);
  return status == ASHUF_OK ? context_new(&options, &share->ctx, error) : status;
}

ashuf_status batch_copier_init(struct batch_copier *copier, size_t slab_bytes, int n_shares,
                               ashuf_memory *memory, struct ashuf_error *error) {
  *copier = (struct batch_copier){.memory = memory, .slab_bytes = slab_bytes};
  if (slab_bytes == 0) return ASHUF_OK;
  size_t size = (size_t)n_shares * sizeof *copier->shares;
  copier->shares = memory_zeroed(memory, size);
  if (copier->shares == NULL) return error_memory(error, SITE_COPY_MEMORY, memory, size);
  copier->n_shares = n_shares;
  ashuf_status status = ASHUF_OK;
  for (int i = 0; i < n_shares && status == ASHUF_OK; i++)
    status = init_share(&copier->shares[i], slab_bytes, memory, error);
  if (status != ASHUF_OK) batch_copier_free(copier);
  return status;
}

static void trim_share(struct copy_share *share) {
  slab_unref(share->slab);
  share->slab = NULL;
  while (share->free_slabs != NULL) {
    struct copy_slab *slab = share->free_slabs;
    share->free_slabs = slab->next;
    slab_free(slab);
  }
}

void batch_copier_trim(struct batch_copier *copier) {
  for (int i = 0; i < copier->n_shares; i++) trim_share(&copier->shares[i]);
}

void batch_copier_free(struct batch_copier *copier) {
  batch_copier_trim(copier);
  for (int i = 0; i < copier->n_shares; i++) {
    context_free(copier->shares[i].ctx);
    ashuf_memory_free(copier->shares[i].full);
  }
  memory_free(copier->memory, copier->shares, (size_t)copier->n_shares * sizeof *copier->shares);
  memory_free(copier->memory, copier->rows, 2 * copier->capacity * sizeof *copier->rows);
  memory_free(copier->memory, copier->ids, copier->capacity * sizeof *copier->ids);
  *copier = (struct batch_copier){0};
}

/* The batch at hand. */
struct copy_job {
  struct batch_copier *copier;
  const struct source_set *set;
  const uint64_t *rows;
  size_t n_rows;
  size_t n; /* shares */
};

static size_t share_start(const struct copy_job *job, size_t i) { return job->n_rows * i / job->n; }

/* A block of the rows behind what the slab has; MEMORY_LIMIT where that does not fit. *size 0: the
 * rows are not one block. */
static ashuf_status encode(struct copy_share *share, const struct source_set *set,
                           struct block_encoder *encoder, const struct selection *rows,
                           struct ashuf_bytes *block, struct ashuf_error *error) {
  struct ashuf_encode_options given = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_encode_options own;
  struct block_encode_stats stats = {0};
  size_t room = slab_room(share);
  uint8_t *start = (uint8_t *)share->slab + share->slab->size - room;
  struct ashuf_buffer out = {start, BLOCK_SKEW, room, share->full};
  given.codec = ASHUF_CODEC_NONE;
  given.max_rows = ROWS_AT_ONCE;
  given.max_body = share->slab_bytes;
  encode_options_resolve(&own, &given);
  if (room <= BLOCK_SKEW) return ASHUF_MEMORY_LIMIT;
  ashuf_status status = block_encode_selection(encoder, set, rows, &own, &out, NULL, &stats, error);
  *block = (struct ashuf_bytes){start + BLOCK_SKEW, stats.blocks == 1 ? out.size - BLOCK_SKEW : 0,
                                give_back, share->slab};
  return status;
}

/* The same where it fits, in a new slab if need be. */
static ashuf_status place(struct copy_share *share, const struct source_set *set,
                          struct block_encoder *encoder, const struct selection *rows,
                          struct ashuf_bytes *block, struct ashuf_error *error) {
  size_t expected = (size_t)rows->n_rows * share->row_bytes;
  size_t room = slab_room(share);
  bool fresh = room < expected + expected / 16 || room == 0;
  block->size = 0;
  if (expected > share->slab_bytes) { /* too wide, as the last time; rows may become narrower */
    share->row_bytes -= share->row_bytes / 64;
    return ASHUF_MEMORY_LIMIT;
  }
  ashuf_status status = fresh ? next_slab(share, error) : ASHUF_OK;
  if (status != ASHUF_OK) return status;
  status = encode(share, set, encoder, rows, block, error);
  if (status == ASHUF_MEMORY_LIMIT && !fresh) {
    status = next_slab(share, error);
    if (status != ASHUF_OK) return status;
    status = encode(share, set, encoder, rows, block, error);
  }
  if (status == ASHUF_MEMORY_LIMIT) share->row_bytes = share->slab_bytes / (size_t)rows->n_rows + 1;
  return status;
}

static ashuf_status decode(struct copy_share *share, struct ashuf_bytes *block,
                           struct ashuf_error *error) {
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  const ashuf_schema *schema;
  size_t size = block->size;
  options.validate = ASHUF_VALIDATE_TRUSTED;
  atomic_fetch_add(&share->slab->references, 1);
  ashuf_status status =
      context_decode_block(share->ctx, block, &options, &schema, &share->copy, &info, error);
  share->done = status == ASHUF_OK;
  if (status != ASHUF_OK && block->release != NULL) block->release(block);
  if (share->done) share->slab->used = share->slab->size - slab_room(share) + BLOCK_SKEW + size;
  return status;
}

/* The share's copy; not done where there is no memory, or it is not one block. */
static ashuf_status copy_share(void *self, struct encode_worker *worker, size_t i) {
  const struct copy_job *job = self;
  struct copy_share *share = &job->copier->shares[i];
  size_t start = share_start(job, i);
  struct selection rows = {.n_rows = (int64_t)(share_start(job, i + 1) - start),
                           .ids = job->rows + start};
  struct ashuf_bytes block;
  ashuf_status status =
      place(share, job->set, worker->encoder.encoder, &rows, &block, &worker->error);
  if (status == ASHUF_MEMORY_LIMIT || (status == ASHUF_OK && block.size == 0)) return ASHUF_OK;
  if (status == ASHUF_OK) {
    share->row_bytes = block.size / (size_t)rows.n_rows + 1;
    status = decode(share, &block, &worker->error);
  }
  return status == ASHUF_MEMORY_LIMIT ? ASHUF_OK : status;
}

static void release_copies(struct batch_copier *copier, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (copier->shares[i].done) copier->shares[i].copy.release(&copier->shares[i].copy);
}

static size_t shares_of(const struct batch_copier *copier, size_t n_rows) {
  size_t most = n_rows / (size_t)(batch_copy_share_rows != 0 ? batch_copy_share_rows : SHARE_ROWS);
  size_t n = (size_t)copier->n_shares;
  return most == 0 ? 1 : most < n ? most : n;
}

int64_t batch_copy_rows(int64_t n_rows, int64_t first) {
  int64_t most = batch_copy_piece_rows != 0 ? batch_copy_piece_rows : ROWS_AT_ONCE;
  int64_t pieces = (n_rows + most - 1) / most;
  int64_t each = (n_rows + pieces - 1) / pieces;
  return n_rows - first < each ? n_rows - first : each;
}

ashuf_status batch_copy(struct batch_copier *copier, struct encode_pool *pool,
                        const struct source_set *set, int64_t first, int64_t n_rows,
                        int32_t partitions, int32_t *ids, int *n, struct ashuf_error *error) {
  struct copy_job job = {.copier = copier, .set = set, .n_rows = (size_t)n_rows};
  *n = 0;
  if (copier->slab_bytes == 0 || n_rows == 0) return ASHUF_OK;
  if (!reserve(copier, job.n_rows))
    return error_memory(error, SITE_COPY_MEMORY, copier->memory, job.n_rows * 20);
  uint64_t *rows = sort_rows(copier, ids, job.n_rows, partitions);
  for (size_t i = 0; i < job.n_rows; i++) copier->ids[i] = ids[rows[i]];
  for (size_t i = 0; i < job.n_rows; i++) rows[i] += (uint64_t)first;
  job.rows = rows;
  job.n = shares_of(copier, job.n_rows);
  for (size_t i = 0; i < job.n; i++) copier->shares[i].done = false;
  ashuf_status status = encode_pool_do(pool, copy_share, &job, job.n, error);
  bool done = status == ASHUF_OK;
  for (size_t i = 0; i < job.n; i++) done = done && copier->shares[i].done;
  if (!done) {
    release_copies(copier, job.n);
    return status;
  }
  memcpy(ids, copier->ids, job.n_rows * sizeof *ids);
  *n = (int)job.n;
  return ASHUF_OK;
}

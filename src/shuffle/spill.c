#include "shuffle/spill.h"

#include "base/buffer.h"

#include <string.h>

/* Bytes of a directory that wait for their write. */
#define DIRECTORY_PIECE ((size_t)64 * 1024)
/* Two varints of at most 32 and 64 bits. */
#define ENTRY_MAX 16

/* ---- Files -------------------------------------------------------------------------------- */

static char *copy_text(ashuf_memory *memory, const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = memory_alloc(memory, size);
  if (copy != NULL) memcpy(copy, text, size);
  return copy;
}

ashuf_status spill_set_init(struct spill_set *set, const char *const *directories, size_t n,
                            const char *default_directory, ashuf_memory *memory,
                            struct ashuf_error *error) {
  *set = (struct spill_set){.memory = memory, .n_files = n == 0 ? 1 : n};
  set->files = memory_alloc(memory, set->n_files * sizeof *set->files);
  set->directories = memory_zeroed(memory, set->n_files * sizeof *set->directories);
  bool good = set->files != NULL && set->directories != NULL;
  for (size_t i = 0; i < set->n_files && set->files != NULL; i++)
    set->files[i] = (struct spill_file)SPILL_FILE_INIT;
  for (size_t i = 0; i < set->n_files && good; i++) {
    set->directories[i] = copy_text(memory, n == 0 ? default_directory : directories[i]);
    good = set->directories[i] != NULL;
  }
  if (good) return ASHUF_OK;
  ashuf_status status = error_memory(error, SITE_SPILLS_MEMORY, memory, set->n_files * 64);
  spill_set_free(set);
  return status;
}

void spill_set_free(struct spill_set *set) {
  for (size_t i = 0; i < set->n_files; i++) {
    if (set->files != NULL) spill_file_close(&set->files[i]);
    if (set->directories != NULL && set->directories[i] != NULL)
      memory_free(set->memory, set->directories[i], strlen(set->directories[i]) + 1);
  }
  memory_free(set->memory, set->files, set->n_files * sizeof *set->files);
  memory_free(set->memory, set->directories, set->n_files * sizeof *set->directories);
  memory_free(set->memory, set->runs, set->capacity * sizeof *set->runs);
  *set = (struct spill_set){0};
}

/* The file with the fewest bytes, open. */
static ashuf_status choose_file(struct spill_set *set, size_t *out, struct ashuf_error *error) {
  size_t least = 0;
  for (size_t i = 1; i < set->n_files; i++)
    if (set->files[i].size < set->files[least].size) least = i;
  *out = least;
  if (set->files[least].fd >= 0) return ASHUF_OK;
  return spill_file_open(&set->files[least], set->directories[least], set->memory, error);
}

static ashuf_status reserve_run(struct spill_set *set, struct ashuf_error *error) {
  if (set->n_runs < set->capacity) return ASHUF_OK;
  size_t capacity = set->capacity == 0 ? 16 : set->capacity * 2;
  struct spill_run *runs = memory_grow(set->memory, set->runs, set->capacity * sizeof *set->runs,
                                       capacity * sizeof *set->runs);
  if (runs == NULL) return error_memory(error, SITE_SPILLS_MEMORY, set->memory, capacity * 32);
  set->runs = runs;
  set->capacity = capacity;
  return ASHUF_OK;
}

/* ---- A run -------------------------------------------------------------------------------- */

static ashuf_status append(void *self, const struct ashuf_buffer *out, struct ashuf_error *error) {
  return spill_file_append(self, out->data, out->size, error);
}

/* Two blocks: little memory stays little. */
static uint64_t spill_sink_bytes(const struct spill_options *options) {
  uint64_t bytes = 2 * options->block_bytes;
  return bytes < BLOCK_SINK_BYTES ? bytes : BLOCK_SINK_BYTES;
}

static struct ashuf_encode_options encode_options(const struct spill_options *options,
                                                  int64_t n_rows, uint64_t bytes) {
  struct ashuf_encode_options given = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_encode_options own;
  given.codec = options->codec;
  given.offsets_as_lengths = ASHUF_OFFSETS_AS_LENGTHS_OFF;
  given.max_rows = (int64_t)((double)options->block_bytes * (double)n_rows / (double)(bytes + 1));
  if (given.max_rows < 16) given.max_rows = 16;
  if (given.max_rows > 32768) given.max_rows = 32768;
  given.max_body = options->block_bytes * 2;
  encode_options_resolve(&own, &given);
  return own;
}

static ashuf_status write_blocks(struct spill_file *file, const struct batch_store *store,
                                 const struct selection *rows, const struct spill_options *options,
                                 struct block_encoder *encoder, struct ashuf_buffer *scratch,
                                 struct ashuf_error *error) {
  struct block_sink sink = {append, file, (size_t)spill_sink_bytes(options)};
  struct block_encode_stats stats = {0};
  struct ashuf_encode_options encode = encode_options(options, store->n_rows, store->buffers.bytes);
  scratch->size = 0;
  ashuf_status status =
      block_encode_selection(encoder, &store->set, rows, &encode, scratch, &sink, &stats, error);
  return status == ASHUF_OK ? append(file, scratch, error) : status;
}

static size_t put_varint(uint8_t *out, uint64_t value) {
  size_t n = 0;
  for (; value >= 0x80; value >>= 7) out[n++] = (uint8_t)(value | 0x80);
  out[n++] = (uint8_t)value;
  return n;
}

static ashuf_status write_directory(struct spill_file *file, const struct batch_store *store,
                                    int32_t first, struct ashuf_buffer *scratch,
                                    struct ashuf_error *error) {
  int32_t last = -1;
  ashuf_status status = ASHUF_OK;
  scratch->size = 0;
  if (!buffer_reserve(scratch, store->memory, DIRECTORY_PIECE + ENTRY_MAX))
    return error_memory(error, SITE_SPILLS_MEMORY, store->memory, DIRECTORY_PIECE);
  for (int32_t p = first; p < store->scatter.partitions && status == ASHUF_OK; p++) {
    int64_t rows = batch_store_selection(store, p).n_rows;
    if (rows == 0) continue;
    scratch->size += put_varint(scratch->data + scratch->size, (uint64_t)(p - last));
    scratch->size += put_varint(scratch->data + scratch->size, (uint64_t)rows);
    last = p;
    if (scratch->size < DIRECTORY_PIECE) continue;
    status = append(file, scratch, error);
    scratch->size = 0;
  }
  if (status == ASHUF_OK) status = append(file, scratch, error);
  scratch->size = 0;
  return status;
}

ashuf_status spill_write(struct spill_set *set, const struct batch_store *store, int32_t first,
                         const struct spill_options *options, struct block_encoder *encoder,
                         struct ashuf_buffer *scratch, struct ashuf_error *error) {
  int64_t from = store->scatter.starts[first];
  struct selection rows = {.n_rows = store->n_rows - from, .ids = store->scatter.rows + from};
  if (rows.n_rows == 0) return ASHUF_OK;
  struct spill_run run;
  ashuf_status status = reserve_run(set, error);
  if (status == ASHUF_OK) status = choose_file(set, &run.file, error);
  if (status != ASHUF_OK) return status;
  struct spill_file *file = &set->files[run.file];
  run.blocks = file->size;
  status = write_blocks(file, store, &rows, options, encoder, scratch, error);
  run.directory = file->size;
  if (status == ASHUF_OK) status = write_directory(file, store, first, scratch, error);
  run.end = file->size;
  if (status != ASHUF_OK) return status;
  set->runs[set->n_runs++] = run;
  set->bytes += run.end - run.blocks;
  return ASHUF_OK;
}

#include "block/block_write.h"

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/options.h"
#include "block/header.h"
#include "codec/codec.h"
#include "ipc/batch_plan.h"
#include "ipc/batch_read.h"

#define DEFAULT_MAX_ROWS 8192
#define DEFAULT_MAX_BODY ((uint64_t)64 << 20)
#define DEFAULT_ZSTD_LEVEL 1
/* What the planning arena keeps between blocks: a block of 8192 rows with some 50 columns. */
#define SCRATCH_KEEP ((size_t)8 << 20)
#define CONTINUATION 0xFFFFFFFFu
#define PREFIX_SIZE 8u

struct block_encoder {
  ashuf_memory *memory; /* a reference */
  struct encoder *codec;
  struct arena arena;         /* plans and what they gathered; emptied after each block */
  struct ashuf_buffer *loans; /* of block_encoder_lend, or NULL */
  /* Bound to the schema of the last call: */
  ashuf_schema *schema; /* a reference */
  ashuf_schema *output; /* what is written: a reference; the plain schema or the schema itself */
  int dictionaries;
  bool allows_lengths;
  bool wide_values; /* decimals of 16 bytes and more, views: messages start at multiples of 16 */
};

struct block_encoder *block_encoder_new(ashuf_memory *memory) {
  struct block_encoder *encoder = memory_zeroed(memory, sizeof *encoder);
  if (encoder == NULL) return NULL;
  encoder->memory = ashuf_memory_ref(memory);
  arena_init(&encoder->arena, memory);
  encoder->codec = encoder_new(memory);
  if (encoder->codec != NULL) return encoder;
  block_encoder_free(encoder);
  return NULL;
}

void block_encoder_free(struct block_encoder *encoder) {
  if (encoder == NULL) return;
  encoder_free(encoder->codec);
  arena_free(&encoder->arena);
  ashuf_schema_free(encoder->schema);
  ashuf_schema_free(encoder->output);
  ashuf_memory *memory = encoder->memory;
  memory_free(memory, encoder, sizeof *encoder);
  ashuf_memory_free(memory);
}

void block_encoder_trim(struct block_encoder *encoder, size_t cap) {
  encoder_trim(encoder->codec, cap);
  arena_reset(&encoder->arena, cap);
}

void block_encoder_lend(struct block_encoder *encoder, struct ashuf_buffer *loans) {
  encoder->loans = loans;
}

/* ---- Options ------------------------------------------------------------------------------ */

void encode_options_resolve(struct ashuf_encode_options *own,
                            const struct ashuf_encode_options *given) {
  *own = (struct ashuf_encode_options)ASHUF_ENCODE_OPTIONS_INIT;
  if (given != NULL && given->struct_size != 0) options_read(own, sizeof *own, given);
  if (own->codec == ASHUF_CODEC_DEFAULT) own->codec = ASHUF_CODEC_LZ4;
  if (!own->has_level && own->level == 0 && own->codec == ASHUF_CODEC_ZSTD)
    own->level = DEFAULT_ZSTD_LEVEL;
  own->has_level = 1;
  if (own->max_rows == 0) own->max_rows = DEFAULT_MAX_ROWS;
  if (own->max_body == 0) own->max_body = DEFAULT_MAX_BODY;
}

static bool level_in_range(const struct ashuf_encode_options *own) {
  if (own->codec == ASHUF_CODEC_ZSTD) return own->level >= -131072 && own->level <= 22;
  if (own->codec == ASHUF_CODEC_LZ4) return own->level >= 0 && own->level <= 12;
  return own->level == 0;
}

/* The enums of encode options have two values each. */
static bool is_one_of_two(int option) { return option == 0 || option == 1; }

ashuf_status encode_options_check(const struct ashuf_encode_options *own,
                                  struct ashuf_error *error) {
  const char *name = ashuf_codec_name(own->codec);
  if (name == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_ENCODE_OPTIONS, "unknown codec %d",
                     own->codec);
  if (!ashuf_codec_available(own->codec))
    return error_set(error, ASHUF_UNSUPPORTED, SITE_ENCODE_OPTIONS,
                     "codec %s is not part of this build", name);
  if (!level_in_range(own))
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_ENCODE_OPTIONS, "codec %s has no level %d",
                     name, own->level);
  if (own->max_rows < 1 || !is_one_of_two(own->layout) || !is_one_of_two(own->dictionaries) ||
      !is_one_of_two(own->offsets_as_lengths))
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_ENCODE_OPTIONS,
                     "max_rows, layout, dictionaries or offsets_as_lengths is out of range");
  return ASHUF_OK;
}

/* ---- The schema written ------------------------------------------------------------------- */

static bool has_wide_values(const struct field *field) {
  if (batch_is_wide(field)) return true;
  if (field->dictionary != NULL && has_wide_values(field->dictionary)) return true;
  for (int32_t i = 0; i < field->n_children; i++)
    if (has_wide_values(&field->children[i])) return true;
  return false;
}

static ashuf_status bind(struct block_encoder *encoder, const ashuf_schema *schema,
                         const struct ashuf_encode_options *options, struct ashuf_error *error) {
  if (encoder->schema == schema && encoder->dictionaries == options->dictionaries) return ASHUF_OK;
  ashuf_schema *output = options->dictionaries == ASHUF_DICTIONARIES_PLAIN
                             ? schema_plain(schema)
                             : ashuf_schema_ref(schema);
  if (output == NULL) return error_memory(error, SITE_ENCODE_MEMORY, encoder->memory, 1);
  ashuf_schema *held = ashuf_schema_ref(schema);
  ashuf_schema_free(encoder->schema);
  ashuf_schema_free(encoder->output);
  encoder->output = output;
  encoder->schema = held;
  encoder->dictionaries = options->dictionaries;
  encoder->allows_lengths = batch_has_lengths(output);
  encoder->wide_values = false;
  for (int32_t i = 0; i < output->n_columns; i++)
    encoder->wide_values = encoder->wide_values || has_wide_values(&output->columns[i]);
  return ASHUF_OK;
}

/* Offsets go out as lengths where both the option and the schema allow it; the arrow-rs layout
 * does it where Comet does. */
static bool uses_lengths(const struct block_encoder *encoder,
                         const struct ashuf_encode_options *options) {
  if (!encoder->allows_lengths || options->offsets_as_lengths == ASHUF_OFFSETS_AS_LENGTHS_OFF)
    return false;
  return options->codec == ASHUF_CODEC_ZSTD ||
         (options->codec == ASHUF_CODEC_LZ4 && options->layout == ASHUF_LAYOUT_COMPACT);
}

static struct batch_layout batch_layout_of(const struct block_encoder *encoder,
                                           const struct ashuf_encode_options *options) {
  bool arrow_rs = options->layout == ASHUF_LAYOUT_ARROW_RS;
  return (struct batch_layout){
      .padding = arrow_rs ? 64 : 8,
      .message_alignment = arrow_rs               ? 64
                           : encoder->wide_values ? 16
                                                  : 8,
      .validity_always = arrow_rs,
      .offsets_as_lengths = uses_lengths(encoder, options),
      .keep_dictionaries = options->dictionaries == ASHUF_DICTIONARIES_KEEP,
      .whole_dictionaries = arrow_rs,
      .offset_limit = block_offset_limit};
}

int64_t block_offset_limit = INT32_MAX;

/* ---- One block ---------------------------------------------------------------------------- */

struct block_job {
  struct block_encoder *encoder;
  const struct source_set *set;
  const struct ashuf_encode_options *options;
  struct batch_layout layout;
  bool more_follows; /* a block that the next rows could still join is not written */
  struct ashuf_buffer *out;
  struct ashuf_error *error;
};

/* Prefix, flatbuffer, padding. */
static void write_message(const struct block_job *job, const uint8_t *metadata, size_t size) {
  struct encoder *codec = job->encoder->codec;
  size_t padded = round_up(PREFIX_SIZE + size, job->layout.message_alignment) - PREFIX_SIZE;
  uint8_t prefix[PREFIX_SIZE];
  store_u32(prefix, CONTINUATION);
  store_u32(prefix + 4, (uint32_t)padded);
  encoder_write(codec, prefix, sizeof prefix);
  encoder_write(codec, metadata, size);
  encoder_zeros(codec, padded - size);
}

static ashuf_status write_batch(const struct block_job *job, const struct batch_plan *plan,
                                bool is_dictionary) {
  struct batch_metadata batch;
  batch_plan_metadata(plan, is_dictionary, &batch);
  size_t size = batch_metadata_size(&batch);
  uint8_t *metadata = arena_alloc(&job->encoder->arena, size, 8);
  if (metadata == NULL)
    return error_memory(job->error, SITE_ENCODE_MEMORY, job->encoder->memory, size);
  batch_metadata_write(&batch, metadata);
  write_message(job, metadata, size);
  batch_plan_emit(plan, job->encoder->codec);
  return ASHUF_OK;
}

static ashuf_status write_stream(const struct block_job *job, const struct batch_plans *plans) {
  const struct schema_message *schema = NULL;
  ashuf_status status = schema_message_get(job->encoder->output, &schema, job->error);
  if (status != ASHUF_OK) return status;
  write_message(job, schema->bytes, schema->size);
  for (const struct batch_plan *plan = plans->dictionaries; plan != NULL && status == ASHUF_OK;
       plan = plan->next)
    status = write_batch(job, plan, true);
  if (status == ASHUF_OK) status = write_batch(job, &plans->batch, false);
  uint8_t end[PREFIX_SIZE];
  store_u32(end, CONTINUATION);
  store_u32(end + 4, 0);
  encoder_write(job->encoder->codec, end, sizeof end);
  return status;
}

/* Blocks above this get room for what their bytes can become at once: growth by doubling would
 * hold up to three times a large block. */
#define LARGE_BODY ((uint64_t)2 << 20)

static bool reserve_block(const struct block_job *job, const struct batch_plans *plans) {
  uint64_t body = plans->body_length;
  uint64_t bound = body + body / 128 + ((uint64_t)64 << 10);
  if (body < LARGE_BODY || job->encoder->loans != NULL)
    return buffer_reserve(job->out, job->encoder->memory, ASHUF_BLOCK_HEADER_SIZE);
  return buffer_reserve_exact(job->out, job->encoder->memory, (size_t)bound);
}

/* Appends one block; out may have grown by garbage on failure. */
static ashuf_status write_block(const struct block_job *job, const struct batch_plans *plans,
                                struct block_encode_stats *stats) {
  struct block_encoder *encoder = job->encoder;
  size_t start = job->out->size;
  if (!reserve_block(job, plans))
    return error_memory(job->error, SITE_ENCODE_MEMORY, encoder->memory, ASHUF_BLOCK_HEADER_SIZE);
  job->out->size += ASHUF_BLOCK_HEADER_SIZE;
  ashuf_status status = encoder_open(encoder->codec, job->options->codec, job->options->has_level,
                                     job->options->level, job->out, encoder->memory, job->error);
  if (status != ASHUF_OK) return status;
  if (encoder->loans != NULL) encoder_lend_to(encoder->codec, encoder->loans);
  status = write_stream(job, plans);
  uint64_t raw = encoder_position(encoder->codec);
  ashuf_status closed = encoder_close(encoder->codec, status == ASHUF_OK ? job->error : NULL);
  if (status == ASHUF_OK) status = closed;
  if (status != ASHUF_OK) return status;
  uint64_t length = encoder->loans != NULL ? ASHUF_BLOCK_HEADER_SIZE + raw /* codec NONE */
                                           : job->out->size - start;
  if (length - BLOCK_LENGTH_SIZE > BLOCK_MAX_LENGTH)
    return error_set(job->error, ASHUF_SIZE_LIMIT, SITE_ENCODE_SIZE,
                     "%lld rows make a block of %llu bytes, more than a block may have",
                     (long long)plans->batch.length, (unsigned long long)length);
  block_header_write(job->out->data + start, length, (uint64_t)encoder->output->n_columns,
                     job->options->codec, job->layout.offsets_as_lengths);
  stats->blocks++;
  stats->rows += plans->batch.length;
  stats->raw_bytes += raw;
  stats->bytes += length;
  return ASHUF_OK;
}

/* ---- Cutting ------------------------------------------------------------------------------ */

/* Where the next block starts in the selection. */
struct cut {
  const struct selection *selection;
  struct selection_cursor cursor;
  int64_t taken;
};

/* The next n rows as a selection of their own; ranges that are split are copied to the arena. */
static ashuf_status slice(const struct block_job *job, const struct cut *cut, int64_t n,
                          struct selection *out) {
  const struct selection *all = cut->selection;
  *out = (struct selection){.n_rows = n};
  if (all->ids != NULL) {
    out->ids = all->ids + cut->taken;
    return ASHUF_OK;
  }
  int64_t left = n + cut->cursor.within;
  size_t first = (size_t)cut->cursor.item;
  size_t count = 0;
  for (; left > 0; count++) left -= all->ranges[first + count].length;
  struct row_range *ranges = arena_array(&job->encoder->arena, count, sizeof *ranges);
  if (ranges == NULL)
    return error_memory(job->error, SITE_ENCODE_MEMORY, job->encoder->memory, count);
  if (count != 0) {
    memcpy(ranges, all->ranges + first, count * sizeof *ranges);
    ranges[count - 1].length += left;
    ranges[0].first += (row_id)cut->cursor.within;
    ranges[0].length -= cut->cursor.within;
  }
  out->ranges = ranges;
  out->n_ranges = count;
  return ASHUF_OK;
}

static void advance(struct cut *cut, int64_t n) {
  cut->taken += n;
  if (cut->selection->ids != NULL) return;
  cut->cursor.within += n;
  while ((size_t)cut->cursor.item < cut->selection->n_ranges &&
         cut->cursor.within >= cut->selection->ranges[cut->cursor.item].length)
    cut->cursor.within -= cut->selection->ranges[cut->cursor.item++].length;
}

/* Plans the next n rows; *fits says whether they may be one block. */
static ashuf_status plan_rows(const struct block_job *job, const struct cut *cut, int64_t n,
                              struct batch_plans *plans, bool *fits) {
  struct selection *rows = arena_alloc(&job->encoder->arena, sizeof *rows, 8);
  if (rows == NULL) return error_memory(job->error, SITE_ENCODE_MEMORY, job->encoder->memory, 1);
  ashuf_status status = slice(job, cut, n, rows);
  if (status == ASHUF_OK)
    status = batch_plan_make(job->set, rows, &job->layout, &job->encoder->arena, plans, job->error);
  *fits = status == ASHUF_OK && !plans->too_large && plans->body_length <= job->options->max_body;
  return status;
}

/*
 * Plans as many of the next most rows as fit into one block. The size of a block grows with its
 * rows, so the largest number that fits is found by halving; that is rare, and depends on nothing
 * but the rows.
 */
static ashuf_status plan_block(const struct block_job *job, const struct cut *cut, int64_t most,
                               struct batch_plans *plans) {
  bool fits = false;
  ashuf_status status = plan_rows(job, cut, most, plans, &fits);
  int64_t good = 0;
  int64_t bad = most;
  int64_t planned = most;
  while (status == ASHUF_OK && !fits && bad - good > 1) {
    arena_reset(&job->encoder->arena, SCRATCH_KEEP);
    planned = good + (bad - good) / 2;
    status = plan_rows(job, cut, planned, plans, &fits);
    if (fits) good = planned;
    if (!fits) bad = planned;
    fits = fits && bad - good == 1;
  }
  int64_t chosen = good == 0 ? 1 : good;
  if (status != ASHUF_OK || (fits && planned == most) || planned == chosen) return status;
  arena_reset(&job->encoder->arena, SCRATCH_KEEP);
  return plan_rows(job, cut, chosen, plans, &fits);
}

/* *complete is false where the rows left are no whole block yet; nothing is written then. */
static ashuf_status next_block(const struct block_job *job, struct cut *cut, bool *complete,
                               struct block_encode_stats *stats) {
  int64_t left = cut->selection->n_rows - cut->taken;
  int64_t most = left < job->options->max_rows ? left : job->options->max_rows;
  struct batch_plans plans;
  ashuf_status status = plan_block(job, cut, most, &plans);
  if (status != ASHUF_OK) {
    arena_reset(&job->encoder->arena, SCRATCH_KEEP);
    return status;
  }
  *complete = !job->more_follows || plans.batch.length < left || most == job->options->max_rows;
  if (plans.too_large)
    status = error_set(job->error, ASHUF_SIZE_LIMIT, SITE_ENCODE_SIZE,
                       "one row holds more than a 32-bit offset can say");
  if (status == ASHUF_OK && *complete) status = write_block(job, &plans, stats);
  if (status == ASHUF_OK && *complete) advance(cut, plans.batch.length);
  arena_reset(&job->encoder->arena, SCRATCH_KEEP);
  return status;
}

static bool takes_blocks(const struct block_sink *sink) {
  return sink != NULL && sink->write != NULL;
}

/* Nobody takes blocks away, and out holds what it may. */
static bool is_full(const struct block_job *job, const struct block_sink *sink) {
  return sink != NULL && sink->write == NULL && job->out->size >= sink->most;
}

static ashuf_status flush(const struct block_job *job, const struct block_sink *sink) {
  if (!takes_blocks(sink) || job->out->size < sink->most) return ASHUF_OK;
  ashuf_status status = sink->write(sink->self, job->out, job->error);
  if (status == ASHUF_OK) job->out->size = 0;
  return status;
}

static ashuf_status encode(struct block_encoder *encoder, const struct source_set *set,
                           struct block_job *job, const struct block_sink *sink, struct cut *cut,
                           struct block_encode_stats *stats) {
  ashuf_status status = bind(encoder, set->schema, job->options, job->error);
  if (status != ASHUF_OK) return status;
  job->encoder = encoder;
  job->set = set;
  job->layout = batch_layout_of(encoder, job->options);
  size_t start = job->out->size;
  bool complete = true;
  while (cut->taken < cut->selection->n_rows && status == ASHUF_OK && complete &&
         !is_full(job, sink)) {
    status = next_block(job, cut, &complete, stats);
    if (status == ASHUF_OK) status = flush(job, sink);
  }
  if (status != ASHUF_OK && !takes_blocks(sink)) job->out->size = start;
  return status;
}

ashuf_status block_encode_selection(struct block_encoder *encoder, const struct source_set *set,
                                    const struct selection *selection,
                                    const struct ashuf_encode_options *options,
                                    struct ashuf_buffer *out, const struct block_sink *sink,
                                    struct block_encode_stats *stats, struct ashuf_error *error) {
  struct block_job job = {.options = options, .out = out, .error = error};
  struct cut cut = {.selection = selection};
  return encode(encoder, set, &job, sink, &cut, stats);
}

ashuf_status block_encode_full(struct block_encoder *encoder, const struct source_set *set,
                               const struct selection *selection,
                               const struct ashuf_encode_options *options, struct ashuf_buffer *out,
                               const struct block_sink *sink, struct block_encode_stats *stats,
                               int64_t *taken, struct ashuf_error *error) {
  struct block_job job = {.options = options, .out = out, .error = error, .more_follows = true};
  struct cut cut = {.selection = selection};
  ashuf_status status = encode(encoder, set, &job, sink, &cut, stats);
  *taken = cut.taken;
  return status;
}

#include "shuffle/part_encoder.h"

#include "base/buffer.h"

#include <inttypes.h>

/* Rows of a run on average, from which on ranges are faster than ids. */
#define LONG_RUN 8
/* The staged block begins here, so that its stream is at a multiple of 64 and can be borrowed. */
#define STAGE_SKEW (BODY_ALIGNMENT - ASHUF_BLOCK_HEADER_SIZE)
/* Bytes beside the rows of a staged block, and what its last piece may take too much. */
#define STAGE_SLACK ((size_t)128 << 10)
/* What a staged block may take: rows are as wide as those before them, about. */
#define STAGE_BODY ((size_t)16 << 20)

ashuf_status part_encoder_init(struct part_encoder *encoder, ashuf_memory *memory,
                               struct ashuf_error *error) {
  *encoder = (struct part_encoder){.memory = memory};
  encoder->encoder = block_encoder_new(memory);
  if (encoder->encoder != NULL) return ASHUF_OK;
  return error_memory(error, SITE_PART_MEMORY, memory, 1);
}

void part_encoder_free(struct part_encoder *encoder) {
  block_encoder_free(encoder->encoder);
  memory_free(encoder->memory, encoder->ranges, encoder->capacity * sizeof *encoder->ranges);
  context_free(encoder->ctx);
  ashuf_buffer_free(&encoder->block);
  if (encoder->set.schema != NULL) source_set_free(&encoder->set);
  *encoder = (struct part_encoder){0};
}

ashuf_status part_error(int32_t partition, ashuf_status status, struct ashuf_error *error) {
  error_prefix(error, "partition %" PRId32 ": ", partition);
  if (error != NULL) error->partition = partition;
  return status;
}

/* ---- Ranges ------------------------------------------------------------------------------- */

static size_t count_runs(const row_id *ids, int64_t n) {
  size_t runs = n != 0;
  for (int64_t i = 1; i < n; i++) runs += ids[i] != ids[i - 1] + 1;
  return runs;
}

static ashuf_status reserve_ranges(struct part_encoder *encoder, size_t n,
                                   struct ashuf_error *error) {
  if (n <= encoder->capacity) return ASHUF_OK;
  size_t capacity = n < 256 ? 256 : n + n / 2;
  size_t size = capacity * sizeof *encoder->ranges;
  struct row_range *ranges = memory_alloc(encoder->memory, size);
  if (ranges == NULL) return error_memory(error, SITE_PART_MEMORY, encoder->memory, size);
  memory_free(encoder->memory, encoder->ranges, encoder->capacity * sizeof *ranges);
  encoder->ranges = ranges;
  encoder->capacity = capacity;
  return ASHUF_OK;
}

static void fill_ranges(struct row_range *ranges, const row_id *ids, int64_t n) {
  size_t at = 0;
  int64_t start = 0;
  for (int64_t i = 1; i <= n; i++) {
    if (i < n && ids[i] == ids[i - 1] + 1) continue;
    ranges[at++] = (struct row_range){ids[start], i - start};
    start = i;
  }
}

/* Slices in the layout of arrow-rs keep their dictionaries, which scattered rows do not. */
static bool may_use_ranges(const struct ashuf_encode_options *options) {
  return options->layout == ASHUF_LAYOUT_COMPACT;
}

/* The same rows as ranges where that pays, and there is room for them. */
static ashuf_status best_selection(struct part_encoder *encoder, const struct part_job *job,
                                   const struct selection *rows, struct selection *out,
                                   struct ashuf_error *error) {
  *out = *rows;
  if (rows->ids == NULL || rows->n_rows < LONG_RUN || !may_use_ranges(job->options))
    return ASHUF_OK;
  size_t runs = count_runs(rows->ids, rows->n_rows);
  if (runs > (size_t)rows->n_rows / LONG_RUN) return ASHUF_OK;
  ashuf_status status = reserve_ranges(encoder, runs, error);
  if (status == ASHUF_MEMORY_LIMIT) return ASHUF_OK;
  if (status != ASHUF_OK) return status;
  fill_ranges(encoder->ranges, rows->ids, rows->n_rows);
  *out = (struct selection){.n_rows = rows->n_rows, .ranges = encoder->ranges, .n_ranges = runs};
  return ASHUF_OK;
}

ashuf_status part_encode_rows(struct part_encoder *encoder, const struct part_job *job,
                              const struct selection *rows, bool more_follows, int64_t *taken,
                              struct ashuf_error *error) {
  struct selection best;
  ashuf_status status = best_selection(encoder, job, rows, &best, error);
  if (status != ASHUF_OK) return status;
  if (more_follows)
    return block_encode_full(encoder->encoder, job->set, &best, job->options, job->out, job->sink,
                             job->stats, taken, error);
  int64_t before = job->stats->rows;
  status = block_encode_selection(encoder->encoder, job->set, &best, job->options, job->out,
                                  job->sink, job->stats, error);
  *taken = job->stats->rows - before;
  return status;
}

/* ---- Staging ------------------------------------------------------------------------------ */

/* One block of all the rows, codec NONE, or of the first ones where it would be too large. */
static ashuf_status encode_stage(struct part_encoder *encoder, const struct part_job *job,
                                 const row_id *ids, int64_t n_rows, bool *whole,
                                 struct ashuf_error *error) {
  struct selection all = {.n_rows = n_rows, .ids = ids};
  struct ashuf_encode_options given = ASHUF_ENCODE_OPTIONS_INIT;
  struct ashuf_encode_options own;
  struct block_encode_stats stats = {0};
  given.codec = ASHUF_CODEC_NONE;
  given.max_rows = n_rows;
  given.max_body = STAGE_BODY;
  encode_options_resolve(&own, &given);
  encoder->block.size = 0;
  const struct block_sink bound = {.most = STAGE_SKEW + 1};
  size_t expected = (size_t)n_rows * (encoder->row_bytes + encoder->row_bytes / 8) + STAGE_SLACK;
  if (expected > STAGE_BODY + STAGE_SLACK) expected = STAGE_BODY + STAGE_SLACK;
  if (!buffer_reserve_exact(&encoder->block, encoder->memory, expected))
    return error_memory(error, SITE_PART_MEMORY, encoder->memory, expected);
  encoder->block.size = STAGE_SKEW;
  ashuf_status status = block_encode_selection(encoder->encoder, job->set, &all, &own,
                                               &encoder->block, &bound, &stats, error);
  *whole = stats.rows == n_rows;
  encoder->row_bytes = encoder->block.size / (size_t)n_rows;
  return status;
}

static ashuf_status prepare_stage(struct part_encoder *encoder, const ashuf_schema *schema,
                                  struct ashuf_error *error) {
  struct ashuf_ctx_options options = ASHUF_CTX_OPTIONS_INIT;
  options.memory = encoder->memory;
  ashuf_status status = ASHUF_OK;
  if (encoder->ctx == NULL) status = context_new(&options, &encoder->ctx, error);
  if (status != ASHUF_OK) return status;
  if (encoder->set.schema != NULL) {
    source_set_clear(&encoder->set);
    return ASHUF_OK;
  }
  status = source_set_init(&encoder->set, schema, encoder->memory, error);
  if (status != ASHUF_OK) encoder->set = (struct source_set){0};
  return status;
}

static void keep_block(struct ashuf_bytes *bytes) { bytes->release = NULL; }

static ashuf_status decode_stage(struct part_encoder *encoder, struct ArrowArray *out,
                                 struct ashuf_error *error) {
  struct ashuf_block_info info = ASHUF_BLOCK_INFO_INIT;
  struct ashuf_decode_options options = ASHUF_DECODE_OPTIONS_INIT;
  const ashuf_schema *schema;
  struct ashuf_bytes bytes = {encoder->block.data + STAGE_SKEW, encoder->block.size - STAGE_SKEW,
                              keep_block, NULL};
  options.validate = ASHUF_VALIDATE_TRUSTED;
  ashuf_status status =
      context_decode_block(encoder->ctx, &bytes, &options, &schema, out, &info, error);
  if (status != ASHUF_OK) return status;
  status = source_set_push(&encoder->set, out, error);
  if (status != ASHUF_OK) out->release(out);
  return status;
}

/* The rows as the one batch of encoder->set, which *out keeps. Not done where there is no room, or
 * where something is wrong with the rows, which is told when their partition is encoded. */
static ashuf_status stage(struct part_encoder *encoder, const struct part_job *job,
                          const row_id *ids, int64_t n_rows, struct ArrowArray *out, bool *done,
                          struct ashuf_error *error) {
  bool whole = false;
  ashuf_status status = prepare_stage(encoder, job->set->schema, error);
  if (status == ASHUF_OK) status = encode_stage(encoder, job, ids, n_rows, &whole, error);
  if (status == ASHUF_OK && whole) {
    status = decode_stage(encoder, out, error);
    *done = status == ASHUF_OK;
  }
  return status == ASHUF_OUT_OF_MEMORY ? status : ASHUF_OK;
}

/* Whether the rows lie so far apart that bringing them together first is worth a copy. */
static bool should_stage(const struct part_job *job, const row_id *ids, int64_t n_rows, size_t n) {
  return n > 1 && may_use_ranges(job->options) &&
         count_runs(ids, n_rows) > (size_t)n_rows / LONG_RUN;
}

/* Part by part, from the staged batch, whose row numbers count from the first part's start, or by
 * ids. */
static ashuf_status encode_parts(struct part_encoder *encoder, const struct part_job *job,
                                 const row_id *ids, bool staged, struct round_part *parts, size_t n,
                                 struct ashuf_error *error) {
  for (size_t i = 0; i < n; i++) {
    struct round_part *part = &parts[i];
    struct row_range range = {part->first - parts[0].first, part->n_rows};
    struct selection rows = {.n_rows = part->n_rows};
    size_t start = job->out->size;
    part->taken = 0;
    part->size = 0;
    if (staged) {
      rows.ranges = &range;
      rows.n_ranges = 1;
    } else {
      rows.ids = ids + part->first;
    }
    ashuf_status status = part_encode_rows(encoder, job, &rows, false, &part->taken, error);
    if (status != ASHUF_OK) return part_error(part->partition, status, error);
    part->size = job->out->size - start;
  }
  return ASHUF_OK;
}

ashuf_status part_encode_whole(struct part_encoder *encoder, const struct part_job *job,
                               const row_id *ids, struct round_part *parts, size_t n,
                               struct ashuf_error *error) {
  if (n == 0) return ASHUF_OK;
  const row_id *first = ids + parts[0].first;
  int64_t n_rows = (int64_t)(parts[n - 1].first - parts[0].first) + parts[n - 1].n_rows;
  struct ArrowArray batch;
  bool done = false;
  ashuf_status status = ASHUF_OK;
  if (should_stage(job, first, n_rows, n))
    status = stage(encoder, job, first, n_rows, &batch, &done, error);
  if (status != ASHUF_OK) return status;
  if (!done) return encode_parts(encoder, job, ids, false, parts, n, error);
  struct part_job staged = *job;
  staged.set = &encoder->set;
  status = encode_parts(encoder, &staged, ids, true, parts, n, error);
  batch.release(&batch);
  return status;
}

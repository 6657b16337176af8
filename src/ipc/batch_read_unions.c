#include "arrow/validate.h"
#include "ipc/batch_read_int.h"

/* Unions and runs have no validity: nulls are those of their children. */
static ashuf_status refuse_nulls(struct batch_walk *walk, const struct ipc_node *node) {
  if (node->null_count <= 0) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_BATCH, SITE_OWN_NULLS, walk->metadata_offset,
                    "nulls of a union or of run ends themselves: nulls, rows", node->null_count,
                    node->length);
}

/* ---- Unions ------------------------------------------------------------------------------- */

/* Up to V4 a validity bitmap stands in front: without nulls it is ignored, whatever it holds. */
static ashuf_status skip_validity(struct batch_walk *walk, bool is_there) {
  struct span span;
  return is_there ? batch_next_buffer(walk, &span) : ASHUF_OK;
}

static ashuf_status check_type_ids(struct batch_walk *walk, const struct field *field,
                                   const struct ArrowArray *out, const struct span *ids) {
  if (!walk->options->validate) return ASHUF_OK;
  int64_t bad = validate_type_ids(ids->data, out->length, field->type_ids, field->n_children);
  if (bad < 0) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_VALUES, SITE_TYPE_IDS, ids->offset + (uint64_t)bad,
                    "a type id that the union does not have: row, type id", bad,
                    (int8_t)ids->data[bad]);
}

static ashuf_status check_dense(struct batch_walk *walk, const struct field *field,
                                const struct ArrowArray *out, const struct span *offsets) {
  int64_t limits[128] = {0}; /* by type id, none of which occurs twice */
  if (!walk->options->validate) return ASHUF_OK;
  for (int32_t i = 0; i < field->n_children; i++)
    limits[field->type_ids[i]] = out->children[i]->length;
  int64_t bad = validate_dense_offsets(out->buffers[0], out->buffers[1], out->length, limits);
  if (bad < 0) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_VALUES, SITE_DENSE_OFFSETS, offsets->offset + (uint64_t)bad * 4,
                    "an offset that leaves its child: row", bad, 0);
}

ashuf_status batch_read_union(struct batch_walk *walk, const struct field *field,
                              const struct ipc_node *node, struct ArrowArray *out) {
  bool dense = field->type == TYPE_DENSE_UNION;
  struct span ids;
  struct span offsets = {NULL, 0, 0};
  ashuf_status status = refuse_nulls(walk, node);
  if (status == ASHUF_OK) status = skip_validity(walk, walk->version < METADATA_V5);
  if (status == ASHUF_OK) status = batch_next_values(walk, NULL, out->length, 1, &ids);
  if (status == ASHUF_OK && dense)
    status = batch_next_values(walk, field, out->length, 4, &offsets);
  if (status != ASHUF_OK) return status;
  out->buffers[0] = ids.data;
  if (dense) out->buffers[1] = offsets.data;
  status = check_type_ids(walk, field, out, &ids);
  if (status == ASHUF_OK) status = batch_read_children(walk, field, out);
  if (status != ASHUF_OK) return status;
  return dense ? check_dense(walk, field, out, &offsets)
               : batch_check_children(walk, out, out->length);
}

/* ---- Run ends ----------------------------------------------------------------------------- */

static ashuf_status check_ends(struct batch_walk *walk, const struct field *field,
                               const struct ArrowArray *out) {
  const struct ArrowArray *ends = out->children[0];
  if (ends->null_count != 0)
    return batch_fail(walk, ASHUF_BAD_VALUES, SITE_RUN_ENDS, walk->metadata_offset,
                      "null run ends: how many", ends->null_count, 0);
  if (out->children[1]->length < ends->length)
    return batch_fail(walk, ASHUF_BAD_BATCH, SITE_CHILD_LENGTH, walk->metadata_offset,
                      "fewer values than run ends: values, run ends", out->children[1]->length,
                      ends->length);
  int width = field->children[0].byte_width;
  int64_t bad = -1;
  if (!run_ends_cover(ends->buffers[1], width, ends->length, out->length))
    bad = ends->length;
  else if (walk->options->validate)
    bad = validate_run_ends(ends->buffers[1], width, ends->length);
  if (bad < 0) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_VALUES, SITE_RUN_ENDS, walk->metadata_offset,
                    "run ends do not increase, or do not reach the length: run, length", bad,
                    out->length);
}

/* Adds up the buffers of fields in a V4 message, but for data buffers of views; returns how many of
 * the fields are run ends. */
static uint64_t count_runs(const struct field *fields, int32_t n_fields, uint64_t *buffers) {
  uint64_t runs = 0;
  for (int32_t i = 0; i < n_fields; i++) {
    const struct type_info *info = type_info(fields[i].type);
    bool is_union = info->layout == LAYOUT_SPARSE || info->layout == LAYOUT_DENSE;
    *buffers += (uint64_t)info->buffers + (is_union ? 1 : 0);
    runs += info->layout == LAYOUT_RUN_ENDS ? 1 : 0;
    runs += count_runs(fields[i].children, fields[i].n_children, buffers);
  }
  return runs;
}

/* Run ends came after V4. A writer of both may give them the validity buffer that everything but
 * Null had then (pyarrow does) or none: the number of buffers tells. Were it wrong, the lists would
 * not come out even. */
bool batch_has_run_validity(const struct batch_header *header, int version,
                            const struct field *fields, int32_t n_fields) {
  if (version >= METADATA_V5) return false;
  uint64_t buffers = 0;
  uint64_t runs = count_runs(fields, n_fields, &buffers);
  for (uint32_t i = 0; i < header->n_variadic; i++)
    buffers += load_u64(header->variadic + (size_t)i * sizeof(int64_t));
  return runs != 0 && header->n_buffers == buffers + runs;
}

ashuf_status batch_read_runs(struct batch_walk *walk, const struct field *field,
                             const struct ipc_node *node, struct ArrowArray *out) {
  ashuf_status status = refuse_nulls(walk, node);
  if (status == ASHUF_OK) status = skip_validity(walk, walk->runs_have_validity);
  if (status == ASHUF_OK) status = batch_read_children(walk, field, out);
  return status == ASHUF_OK ? check_ends(walk, field, out) : status;
}

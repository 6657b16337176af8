#include "ipc/batch_lengths.h"

#include "base/bytes.h"
#include "ipc/batch_read.h"
#include "ipc/length_planes.h"

ashuf_status batch_undo_lengths(struct lengths_place *place, int width, int64_t n,
                                struct ashuf_buffer *scratch, ashuf_memory *memory,
                                struct ashuf_error *error) {
  uint64_t bytes = (uint64_t)n * (uint64_t)width;
  uint64_t at = (uint64_t)(place->data - place->body->data);
  if (place->size != bytes)
    return error_at(error, ASHUF_BAD_BATCH, SITE_LENGTHS_SIZE, place->offset,
                    "lengths take %llu bytes where %llu belong", (unsigned long long)place->size,
                    (unsigned long long)bytes);
  scratch->size = 0;
  if (!buffer_append(scratch, memory, place->data, (size_t)bytes))
    return error_memory(error, SITE_BATCH_MEMORY, memory, (size_t)bytes);
  uint8_t *out = body_writable(place->body) + at;
  if (((uintptr_t)out & (uintptr_t)(width - 1)) != 0)
    return error_at(error, ASHUF_BAD_BATCH, SITE_LENGTHS_SIZE, place->offset,
                    "offsets buffer is not aligned to its width");
  if (planes_to_offsets(scratch->data, width, n, out)) return ASHUF_OK;
  return error_at(error, ASHUF_BAD_VALUES, SITE_LENGTHS_VALUES, place->offset,
                  "a length is negative or their sum is too large");
}

/* Whether the field or one below it has a layout whose offsets cannot be stored as lengths. */
static bool excludes_lengths(const struct field *field) {
  switch (type_info(field->type)->layout) {
    case LAYOUT_VIEWS:
    case LAYOUT_LIST_VIEW:
    case LAYOUT_SPARSE:
    case LAYOUT_DENSE:
    case LAYOUT_RUN_ENDS:
      return true;
    default:
      break;
  }
  if (field->dictionary != NULL) return true;
  for (int32_t i = 0; i < field->n_children; i++)
    if (excludes_lengths(&field->children[i])) return true;
  return false;
}

static bool has_offsets32(const struct field *field) {
  int layout = type_info(field->type)->layout;
  if ((layout == LAYOUT_BYTES || layout == LAYOUT_LIST) && field->byte_width == 4) return true;
  for (int32_t i = 0; i < field->n_children; i++)
    if (has_offsets32(&field->children[i])) return true;
  return false;
}

ashuf_status batch_check_lengths(const ashuf_schema *schema, struct ashuf_error *error) {
  for (int32_t i = 0; i < schema->n_columns; i++) {
    if (!excludes_lengths(&schema->columns[i])) continue;
    char name[80];
    return error_set(error, ASHUF_UNSUPPORTED, SITE_LENGTHS_LAYOUT,
                     "column %s: the block stores offsets as lengths, which its layout excludes",
                     field_label(&schema->columns[i], name, sizeof name));
  }
  return ASHUF_OK;
}

bool batch_has_lengths(const ashuf_schema *schema) {
  bool any = false;
  for (int32_t i = 0; i < schema->n_columns; i++) {
    if (excludes_lengths(&schema->columns[i])) return false;
    any = any || has_offsets32(&schema->columns[i]);
  }
  return any;
}

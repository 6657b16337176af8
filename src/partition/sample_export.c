#include "partition/sample.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "ipc/batch_holder.h"

/* A column on its way out of the encoded keys. */
struct export {
  struct batch_holder *holder;
  const struct field *field;
  const struct row_key *key;
  const uint8_t **at; /* where each row's next value starts */
  int32_t n;
  struct ArrowArray *array;
  ashuf_memory *memory;
  struct ashuf_error *error;
};

static void *extra(const struct export *to, size_t size, ashuf_status *status) {
  void *made = batch_holder_extra(to->holder, size);
  if (made == NULL)
    *status = error_memory(to->error, SITE_SAMPLE_MEMORY, to->memory, size);
  else
    memset(made, 0, size);
  return made;
}

static void mark(const struct export *to, uint8_t *validity, int32_t row, bool valid) {
  if (valid)
    bit_set(validity, row);
  else
    to->array->null_count++;
}

static ashuf_status export_fixed(const struct export *to, uint8_t *validity) {
  ashuf_status status = ASHUF_OK;
  bool bits = to->field->type == TYPE_BOOL;
  size_t width = (size_t)to->field->byte_width;
  uint8_t *values = extra(to, bits ? bits_size(to->n) : (size_t)to->n * width, &status);
  for (int32_t i = 0; status == ASHUF_OK && i < to->n; i++) {
    uint8_t bit = 0;
    size_t size;
    uint8_t *place = bits ? &bit : values + (size_t)i * width;
    mark(to, validity, i, row_decode(to->field, to->key, &to->at[i], place, &size));
    if (bit != 0) bit_set(values, i);
  }
  to->array->buffers[1] = values;
  return status;
}

/* Fills the offsets and returns the bytes of all strings. */
static uint64_t measure(const struct export *to, uint8_t *offsets) {
  size_t width = (size_t)to->field->byte_width;
  uint64_t total = 0;
  for (int32_t i = 0; i < to->n; i++) {
    const uint8_t *at = to->at[i];
    size_t size;
    row_decode(to->field, to->key, &at, NULL, &size);
    total += size;
    memcpy(offsets + ((size_t)i + 1) * width, &total, width);
  }
  return total;
}

static ashuf_status export_strings(const struct export *to, uint8_t *validity) {
  ashuf_status status = ASHUF_OK;
  size_t width = (size_t)to->field->byte_width;
  uint8_t *offsets = extra(to, ((size_t)to->n + 1) * width, &status);
  if (status != ASHUF_OK) return status;
  uint64_t total = measure(to, offsets);
  if (width == 4 && total > INT32_MAX)
    return error_set(to->error, ASHUF_SIZE_LIMIT, SITE_SAMPLE_SIZE,
                     "bounds of more than 2 GiB of strings");
  uint8_t *bytes = extra(to, total, &status);
  uint64_t end = 0;
  for (int32_t i = 0; status == ASHUF_OK && i < to->n; i++) {
    size_t size;
    mark(to, validity, i, row_decode(to->field, to->key, &to->at[i], bytes + end, &size));
    end += size;
  }
  to->array->buffers[1] = offsets;
  to->array->buffers[2] = bytes;
  return status;
}

static ashuf_status export_column(struct export *to) {
  ashuf_status status = ASHUF_OK;
  uint8_t *validity = extra(to, bits_size(to->n), &status);
  if (status != ASHUF_OK) return status;
  bool strings = type_info(to->field->type)->layout == LAYOUT_BYTES;
  to->array = batch_holder_array(to->holder);
  to->array->length = to->n;
  to->array->n_buffers = strings ? 3 : 2;
  to->array->buffers = batch_holder_pointers(to->holder, to->array->n_buffers);
  status = strings ? export_strings(to, validity) : export_fixed(to, validity);
  to->array->buffers[0] = to->array->null_count != 0 ? validity : NULL;
  return status;
}

static ashuf_status export_columns(struct export *to, const ashuf_schema *key_schema,
                                   const struct row_key *keys, struct ArrowArray *root) {
  ashuf_status status = ASHUF_OK;
  *root = (struct ArrowArray){.length = to->n, .n_buffers = 1};
  root->buffers = batch_holder_pointers(to->holder, 1);
  root->buffers[0] = NULL;
  root->n_children = key_schema->n_columns;
  root->children = batch_holder_children(to->holder, root->n_children);
  for (int32_t i = 0; status == ASHUF_OK && i < key_schema->n_columns; i++) {
    to->field = &key_schema->columns[i];
    to->key = &keys[i];
    status = export_column(to);
    root->children[i] = to->array;
  }
  return status;
}

ashuf_status sample_export(const ashuf_schema *key_schema, const struct row_key *keys,
                           const struct candidate *chosen, int32_t n, ashuf_memory *memory,
                           struct ArrowArray *out, struct ashuf_error *error) {
  struct ArrowArray root;
  size_t size = ((size_t)n + 1) * sizeof(uint8_t *);
  struct export to = {.n = n, .memory = memory, .error = error};
  to.at = memory_alloc(memory, size);
  to.holder = batch_holder_new(key_schema, memory);
  ashuf_status status = ASHUF_OK;
  if (to.at == NULL || to.holder == NULL)
    status = error_memory(error, SITE_SAMPLE_MEMORY, memory, size);
  for (int32_t i = 0; status == ASHUF_OK && i < n; i++) to.at[i] = chosen[i].key.data;
  if (status == ASHUF_OK) status = export_columns(&to, key_schema, keys, &root);
  memory_free(memory, to.at, size);
  if (status != ASHUF_OK) {
    batch_holder_abandon(to.holder);
    return status;
  }
  batch_holder_finish(to.holder, &root);
  *out = root;
  return ASHUF_OK;
}

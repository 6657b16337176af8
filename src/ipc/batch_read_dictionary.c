/* Dictionary values and the indices into them. */
#include "arrow/validate.h"
#include "ipc/batch_read_int.h"
#include "ipc/dictionary_merge.h"

static ashuf_status read_dictionary_values(struct batch_walk *walk, struct dictionary_entry *entry,
                                           const struct field *field, struct ArrowArray *out);

/* An array of no values. Dictionaries that came for fields inside it are read all the same: nothing
 * in a stream goes unchecked for want of rows that show it. */
static ashuf_status make_empty(struct batch_walk *walk, const struct field *field,
                               struct ArrowArray *out) {
  ashuf_status status = ASHUF_OK;
  out->n_buffers = batch_array_buffers(field);
  out->buffers = batch_holder_pointers(walk->holder, out->n_buffers);
  for (int64_t i = 0; i < out->n_buffers; i++)
    out->buffers[i] = i == 0 ? NULL : &walk->holder->zero;
  out->n_children = field->n_children;
  out->children = batch_holder_children(walk->holder, field->n_children);
  for (int32_t i = 0; i < field->n_children && status == ASHUF_OK; i++) {
    out->children[i] = batch_holder_array(walk->holder);
    status = make_empty(walk, &field->children[i], out->children[i]);
  }
  if (status != ASHUF_OK || field->dictionary == NULL) return status;
  out->dictionary = batch_holder_array(walk->holder);
  struct dictionary_entry *entry = dictionary_table_find(walk->dictionaries, field->dictionary_id);
  return entry == NULL ? make_empty(walk, field->dictionary, out->dictionary)
                       : read_dictionary_values(walk, entry, field->dictionary, out->dictionary);
}

static bool contains_dictionary(const struct field *field) {
  if (field->dictionary != NULL) return true;
  for (int32_t i = 0; i < field->n_children; i++)
    if (contains_dictionary(&field->children[i])) return true;
  return false;
}

/* Values are validated once, however many fields and batches use them; but indices inside them
 * are judged by dictionaries that the next batch may replace. */
static bool is_validated(const struct batch_walk *walk, const struct dictionary_entry *entry,
                         const struct field *field) {
  if (entry->validated == NULL) return false;
  if (entry->validated != field && !field_equal(entry->validated, field)) return false;
  return entry->read_in == walk->dictionaries->n_batches || !contains_dictionary(field);
}

static ashuf_status read_dictionary_values(struct batch_walk *walk, struct dictionary_entry *entry,
                                           const struct field *field, struct ArrowArray *out) {
  ashuf_status status = dictionary_merge(walk->dictionaries, entry, field, walk->error);
  if (status != ASHUF_OK) return status;
  struct batch_read_options options = *walk->options;
  options.offsets_as_lengths = false;
  options.validate = options.validate && !is_validated(walk, entry, field);
  struct batch_walk inner = *walk;
  inner.header = &entry->header;
  inner.body = entry->body;
  inner.options = &options;
  inner.metadata_offset = entry->offset;
  inner.version = entry->version;
  inner.runs_have_validity = batch_has_run_validity(&entry->header, entry->version, field, 1);
  inner.node = inner.buffer = inner.variadic = 0;
  if (entry->read_in != walk->dictionaries->n_batches) batch_holder_keep(walk->holder, entry->body);
  entry->read_in = walk->dictionaries->n_batches;
  status = batch_read_field(&inner, field, out);
  if (status == ASHUF_OK) status = batch_check_used_up(&inner);
  if (status == ASHUF_OK && options.validate) entry->validated = field;
  if (status != ASHUF_OK || out->length == entry->header.length) return status;
  return batch_fail(&inner, ASHUF_BAD_BATCH, SITE_DICTIONARY_LENGTH, entry->offset,
                    "the dictionary batch and its column differ in length", entry->header.length,
                    out->length);
}

ashuf_status batch_read_dictionary(struct batch_walk *walk, const struct field *field,
                                   struct ArrowArray *out) {
  out->dictionary = batch_holder_array(walk->holder);
  struct dictionary_entry *entry = dictionary_table_find(walk->dictionaries, field->dictionary_id);
  if (entry == NULL) {
    if (out->null_count != out->length)
      return batch_fail(walk, ASHUF_BAD_SEQUENCE, SITE_DICTIONARY_MISSING, walk->metadata_offset,
                        "no dictionary came for the id", field->dictionary_id, 0);
    return make_empty(walk, field->dictionary, out->dictionary);
  }
  ashuf_status status = read_dictionary_values(walk, entry, field->dictionary, out->dictionary);
  if (status != ASHUF_OK || !walk->options->validate) return status;
  int64_t limit = out->dictionary->length;
  int64_t bad =
      validate_indices(out->buffers[1], field->byte_width, type_is_signed_index(field->type),
                       out->length, out->buffers[0], limit);
  if (bad < 0) return ASHUF_OK;
  return batch_fail(walk, ASHUF_BAD_VALUES, SITE_INDICES, walk->metadata_offset,
                    "dictionary index out of range: row, dictionary size", bad, limit);
}

#include "ref/ref_int.h"

#include <stdio.h>
#include <stdlib.h>

/* One column of a batch as text, by type. */

struct text {
  struct ref *ref;
  char *data;
  size_t size;
  size_t capacity;
};

static void put(struct text *text, const char *bytes, size_t size) {
  if (text->capacity - text->size < size + 1) {
    size_t capacity = text->capacity * 2 + size + 16;
    char *data = ref_alloc(text->ref, capacity, 1);
    if (text->size != 0) memcpy(data, text->data, text->size);
    text->data = data;
    text->capacity = capacity;
  }
  memcpy(text->data + text->size, bytes, size);
  text->size += size;
}

static void put_text(struct text *text, const char *string) { put(text, string, strlen(string)); }

static const char *hex(struct ref *ref, struct span bytes) {
  char *out = ref_alloc(ref, 2 * bytes.size + 2, 1);
  out[0] = 'x';
  for (size_t i = 0; i < bytes.size; i++) snprintf(out + 1 + 2 * i, 3, "%02x", bytes.data[i]);
  return out;
}

/* children's rows [first, end) of one column between brackets. */
static const char *items(struct ref *ref, const struct ref_column *child, int64_t first,
                         int64_t end) {
  struct text text = {.ref = ref};
  put_text(&text, "[");
  for (int64_t i = first; i < end; i++) {
    if (i != first) put_text(&text, ",");
    put_text(&text, child->text[i]);
  }
  put_text(&text, "]");
  return text.data;
}

static struct ref_column column_of(struct ref *ref, int64_t n) {
  return (struct ref_column){n, ref_alloc(ref, (size_t)n, sizeof(char *))};
}

/* ---- Validity ---------------------------------------------------------------------------- */

struct validity {
  struct span bits;
  bool has_nulls;
};

static bool is_valid(const struct validity *validity, int64_t i) {
  return !validity->has_nulls || (validity->bits.data[i / 8] >> (i % 8) & 1) != 0;
}

static struct validity read_validity(struct ref_batch *batch, int64_t n, int64_t null_count) {
  struct validity validity = {.bits = ref_next_buffer(batch)};
  if (null_count == 0 || (null_count == -1 && validity.bits.size == 0)) return validity;
  if (validity.bits.size < (uint64_t)n / 8 + (n % 8 != 0))
    ref_refuse(batch->ref, "validity too short");
  validity.has_nulls = true;
  int64_t zeros = 0;
  for (int64_t i = 0; i < n; i++) zeros += !is_valid(&validity, i);
  if (null_count != -1 && zeros != null_count) ref_refuse(batch->ref, "wrong null count");
  return validity;
}

/* ---- Values ------------------------------------------------------------------------------ */

static struct span sized_buffer(struct ref_batch *batch, int64_t n, int64_t width) {
  struct span buffer = ref_next_buffer(batch);
  if (width != 0 && buffer.size / (uint64_t)width < (uint64_t)n)
    ref_refuse(batch->ref, "values too short");
  return buffer;
}

static void read_bools(struct ref_batch *batch, const struct validity *validity,
                       struct ref_column *out) {
  struct span bits = ref_next_buffer(batch);
  if (bits.size < (uint64_t)out->n / 8 + (out->n % 8 != 0))
    ref_refuse(batch->ref, "bits too short");
  for (int64_t i = 0; i < out->n; i++)
    if (is_valid(validity, i))
      out->text[i] = (bits.data[i / 8] >> (i % 8) & 1) != 0 ? "true" : "false";
}

static void read_fixed(struct ref_batch *batch, int64_t width, const struct validity *validity,
                       struct ref_column *out) {
  struct span values = sized_buffer(batch, out->n, width);
  for (int64_t i = 0; i < out->n; i++)
    if (is_valid(validity, i)) {
      struct span value = {values.data + i * width, (size_t)width};
      out->text[i] = hex(batch->ref, value);
    }
}

static void read_bytes(struct ref_batch *batch, const struct ref_field *field,
                       const struct validity *validity, struct ref_column *out) {
  const int64_t *offsets = ref_next_offsets(batch, out->n, (size_t)field->width);
  struct span data = ref_next_buffer(batch);
  bool is_text = field->type == REF_UTF8 || field->type == REF_LARGE_UTF8;
  if ((uint64_t)offsets[out->n] > data.size) ref_refuse(batch->ref, "offset past the data");
  for (int64_t i = 0; i < out->n; i++) {
    struct span value = {data.data + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
    if (!is_valid(validity, i)) continue;
    if (is_text && !ref_utf8(value)) ref_refuse(batch->ref, "not UTF-8");
    out->text[i] = hex(batch->ref, value);
  }
}

static struct span read_view(struct ref_batch *batch, const uint8_t *view, const struct span *data,
                             int64_t n_data) {
  int64_t size = ref_load_signed(view, 4);
  if (size < 0) ref_refuse(batch->ref, "view of negative length");
  if (size <= 12) {
    for (int64_t i = size; i < 12; i++)
      if (view[4 + i] != 0) ref_refuse(batch->ref, "bytes behind a short view");
    return (struct span){view + 4, (size_t)size};
  }
  int64_t buffer = ref_load_signed(view + 8, 4);
  if (buffer < 0 || buffer >= n_data) ref_refuse(batch->ref, "view of no buffer");
  int64_t offset = ref_load_signed(view + 12, 4);
  if (offset < 0) ref_refuse(batch->ref, "view at a negative offset");
  struct span value =
      ref_cut(batch->ref, data[buffer], (uint64_t)offset, (uint64_t)size, "view past its buffer");
  if (memcmp(value.data, view + 4, 4) != 0) ref_refuse(batch->ref, "prefix of a view");
  return value;
}

static void read_views(struct ref_batch *batch, const struct ref_field *field,
                       const struct validity *validity, struct ref_column *out) {
  struct ref *ref = batch->ref;
  struct span views = sized_buffer(batch, out->n, 16);
  if (batch->variadic.size < 8) ref_refuse(ref, "too few variadic counts");
  int64_t n_data = ref_load_signed(batch->variadic.data, 8);
  batch->variadic = ref_cut(ref, batch->variadic, 8, batch->variadic.size - 8, "");
  if (n_data < 0 || (uint64_t)n_data > batch->buffers.size / 16) ref_refuse(ref, "variadic count");
  struct span *data = ref_alloc(ref, (size_t)n_data, sizeof *data);
  for (int64_t i = 0; i < n_data; i++) data[i] = ref_next_buffer(batch);
  for (int64_t i = 0; i < out->n; i++) {
    if (!is_valid(validity, i)) continue;
    struct span value = read_view(batch, views.data + 16 * i, data, n_data);
    if (field->type == REF_UTF8_VIEW && !ref_utf8(value)) ref_refuse(ref, "not UTF-8");
    out->text[i] = hex(ref, value);
  }
}

/* ---- Nested ------------------------------------------------------------------------------ */

static void read_list(struct ref_batch *batch, const struct ref_field *field,
                      const struct validity *validity, struct ref_column *out) {
  const int64_t *offsets = ref_next_offsets(batch, out->n, (size_t)field->width);
  struct ref_column child = ref_read_column(batch, field->children, false);
  if (offsets[out->n] > child.n) ref_refuse(batch->ref, "offset past the child");
  for (int64_t i = 0; i < out->n; i++)
    if (is_valid(validity, i)) out->text[i] = items(batch->ref, &child, offsets[i], offsets[i + 1]);
}

static void read_list_view(struct ref_batch *batch, const struct ref_field *field,
                           const struct validity *validity, struct ref_column *out) {
  size_t width = (size_t)field->width;
  struct span offsets = sized_buffer(batch, out->n, field->width);
  struct span sizes = sized_buffer(batch, out->n, field->width);
  struct ref_column child = ref_read_column(batch, field->children, false);
  for (int64_t i = 0; i < out->n; i++) {
    int64_t first = ref_load_signed(offsets.data + (size_t)i * width, width);
    int64_t size = ref_load_signed(sizes.data + (size_t)i * width, width);
    if (first < 0 || size < 0 || first > child.n || size > child.n - first)
      ref_refuse(batch->ref, "list view past the child");
    if (is_valid(validity, i)) out->text[i] = items(batch->ref, &child, first, first + size);
  }
}

static void read_fixed_list(struct ref_batch *batch, const struct ref_field *field,
                            const struct validity *validity, struct ref_column *out) {
  struct ref_column child = ref_read_column(batch, field->children, false);
  int64_t size = field->list_size;
  if (size != 0 && child.n / size < out->n) ref_refuse(batch->ref, "child too short");
  for (int64_t i = 0; i < out->n; i++)
    if (is_valid(validity, i)) out->text[i] = items(batch->ref, &child, i * size, (i + 1) * size);
}

static struct ref_column *read_children(struct ref_batch *batch, const struct ref_field *field) {
  struct ref_column *children = ref_alloc(batch->ref, field->n_children, sizeof *children);
  for (size_t i = 0; i < field->n_children; i++)
    children[i] = ref_read_column(batch, &field->children[i], false);
  return children;
}

static void read_struct(struct ref_batch *batch, const struct ref_field *field,
                        const struct validity *validity, struct ref_column *out) {
  struct ref_column *children = read_children(batch, field);
  for (size_t k = 0; k < field->n_children; k++)
    if (children[k].n < out->n) ref_refuse(batch->ref, "member too short");
  for (int64_t i = 0; i < out->n; i++) {
    if (!is_valid(validity, i)) continue;
    struct text text = {.ref = batch->ref};
    put_text(&text, "{");
    for (size_t k = 0; k < field->n_children; k++) {
      if (k != 0) put_text(&text, ",");
      put_text(&text, children[k].text[i]);
    }
    put_text(&text, "}");
    out->text[i] = text.data;
  }
}

static size_t member_of(struct ref *ref, const struct ref_field *field, int64_t id) {
  for (size_t k = 0; k < field->n_children; k++)
    if (field->type_ids[k] == id) return k;
  ref_refuse(ref, "unknown type id");
}

static void read_union(struct ref_batch *batch, const struct ref_field *field,
                       struct ref_column *out) {
  struct ref *ref = batch->ref;
  struct span ids = sized_buffer(batch, out->n, 1);
  struct span offsets = {0};
  if (field->dense) offsets = sized_buffer(batch, out->n, 4);
  struct ref_column *children = read_children(batch, field);
  for (size_t k = 0; k < field->n_children; k++)
    if (!field->dense && children[k].n < out->n) ref_refuse(ref, "member too short");
  for (int64_t i = 0; i < out->n; i++) {
    size_t k = member_of(ref, field, (int8_t)ids.data[i]);
    int64_t at = field->dense ? ref_load_signed(offsets.data + 4 * i, 4) : i;
    if (at < 0 || at >= children[k].n) ref_refuse(ref, "union offset past the member");
    struct text text = {.ref = ref};
    char start[16];
    snprintf(start, sizeof start, "<%d:", (int)field->type_ids[k]);
    put_text(&text, start);
    put_text(&text, children[k].text[at]);
    put_text(&text, ">");
    out->text[i] = text.data;
  }
}

/* Run ends are read as text like any column and turned back into numbers: slow, and the only way
 * through one reader of integers. */
static int64_t run_end(struct ref *ref, const char *text, int64_t width) {
  uint8_t bytes[8] = {0};
  if (text[0] != 'x') ref_refuse(ref, "a run end is null");
  for (int64_t i = 0; i < width; i++) {
    char digits[3] = {text[1 + 2 * i], text[2 + 2 * i], 0};
    bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
  }
  return ref_load_signed(bytes, (size_t)width);
}

static void read_runs(struct ref_batch *batch, const struct ref_field *field,
                      struct ref_column *out) {
  struct ref *ref = batch->ref;
  struct ref_column *children = read_children(batch, field);
  int64_t row = 0, before = 0;
  if (children[1].n < children[0].n) ref_refuse(ref, "fewer values than runs");
  for (int64_t run = 0; run < children[0].n; run++) {
    int64_t end = run_end(ref, children[0].text[run], field->children[0].width);
    if (end <= before) ref_refuse(ref, "run ends do not rise");
    for (; row < end && row < out->n; row++) out->text[row] = children[1].text[run];
    before = end;
  }
  if (before < out->n) ref_refuse(ref, "runs end too early");
}

/* ---- Dictionaries ------------------------------------------------------------------------ */

static void read_indices(struct ref_batch *batch, const struct ref_field *field,
                         const struct validity *validity, struct ref_column *out) {
  size_t width = (size_t)field->index_width;
  struct span indices = sized_buffer(batch, out->n, field->index_width);
  struct ref_dictionary *one = batch->dictionaries;
  while (one != NULL && one->id != field->dictionary) one = one->next;
  for (int64_t i = 0; i < out->n; i++) {
    if (!is_valid(validity, i)) continue;
    const uint8_t *at = indices.data + (size_t)i * width;
    uint64_t index =
        field->index_signed ? (uint64_t)ref_load_signed(at, width) : ref_load(at, width);
    if (one == NULL) ref_refuse(batch->ref, "no such dictionary");
    if (index >= (uint64_t)one->values.n) ref_refuse(batch->ref, "index past the dictionary");
    out->text[i] = one->values.text[index];
  }
}

static void read_values(struct ref_batch *batch, const struct ref_field *field,
                        const struct validity *validity, struct ref_column *out) {
  switch (field->type) {
    case REF_BOOL:
      read_bools(batch, validity, out);
      return;
    case REF_BINARY:
    case REF_UTF8:
    case REF_LARGE_BINARY:
    case REF_LARGE_UTF8:
      read_bytes(batch, field, validity, out);
      return;
    case REF_BINARY_VIEW:
    case REF_UTF8_VIEW:
      read_views(batch, field, validity, out);
      return;
    case REF_LIST:
    case REF_LARGE_LIST:
    case REF_MAP:
      read_list(batch, field, validity, out);
      return;
    case REF_LIST_VIEW:
    case REF_LARGE_LIST_VIEW:
      read_list_view(batch, field, validity, out);
      return;
    case REF_FIXED_LIST:
      read_fixed_list(batch, field, validity, out);
      return;
    case REF_STRUCT:
      read_struct(batch, field, validity, out);
      return;
    default:
      read_fixed(batch, field->width, validity, out);
  }
}

struct ref_column ref_read_column(struct ref_batch *batch, const struct ref_field *field,
                                  bool as_values) {
  int64_t null_count;
  struct ref_column out = column_of(batch->ref, ref_next_node(batch, &null_count));
  for (int64_t i = 0; i < out.n; i++) out.text[i] = "null";
  bool is_indices = field->has_dictionary && !as_values;
  if (!is_indices && field->type == REF_NULL) {
    if (null_count != out.n) ref_refuse(batch->ref, "null count of nulls");
  } else if (!is_indices && (field->type == REF_UNION || field->type == REF_RUN_ENDS)) {
    if (null_count != 0) ref_refuse(batch->ref, "null count of a type without nulls");
    if (field->type == REF_RUN_ENDS) {
      read_runs(batch, field, &out);
    } else {
      if (batch->is_v4) ref_next_buffer(batch);
      read_union(batch, field, &out);
    }
  } else {
    struct validity validity = read_validity(batch, out.n, null_count);
    if (is_indices)
      read_indices(batch, field, &validity, &out);
    else
      read_values(batch, field, &validity, &out);
  }
  return out;
}

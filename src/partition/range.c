#include "partition/range.h"

#include "arrow/values.h"
#include "base/buffer.h"

/* ---- Bounds ------------------------------------------------------------------------------- */

/* Bounds on their way into a range. */
struct intake {
  struct range *range;
  const struct source_set *set; /* of the bounds */
  const struct row_key *keys;   /* of the key schema */
  int32_t n_keys;
  struct row_encoding encoding;
  struct ashuf_buffer last; /* the encoding of the last bound */
  bool any;
  struct ashuf_buffer bytes; /* of the strings kept */
};

static size_t range_size(int32_t n_keys) {
  return sizeof(struct range) + (size_t)n_keys * sizeof(struct row_key);
}

void range_free(struct range *range) {
  if (range == NULL) return;
  size_t n = (size_t)range->capacity;
  memory_free(range->memory, range->words, n * sizeof *range->words);
  memory_free(range->memory, range->wides, n * sizeof *range->wides);
  memory_free(range->memory, range->strings, n * sizeof *range->strings);
  memory_free(range->memory, range->bytes, range->bytes_size);
  memory_free(range->memory, range, range_size(range->n_keys));
}

static bool allocate(struct range *range, int32_t capacity) {
  size_t n = (size_t)capacity;
  range->capacity = capacity;
  if (n == 0) return true;
  if (range->form == ROW_FORM_WORD) {
    range->words = memory_alloc(range->memory, n * sizeof *range->words);
    return range->words != NULL;
  }
  range->wides = memory_alloc(range->memory, n * sizeof *range->wides);
  if (range->form == ROW_FORM_WIDE) return range->wides != NULL;
  range->strings = memory_alloc(range->memory, n * sizeof *range->strings);
  return range->wides != NULL && range->strings != NULL;
}

/* Whether the bound at i of the encoded block is a new one; INVALID_ARGUMENT for one that lies
 * before its neighbour, row counting from 0. */
static ashuf_status check_order(struct intake *in, int64_t i, int64_t row, bool *is_new,
                                struct ashuf_error *error) {
  struct row_bytes own = in->encoding.rows[i];
  int order =
      in->any ? row_bytes_compare((struct row_bytes){in->last.data, in->last.size}, own) : -1;
  if (order > 0)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_RANGE_ORDER,
                     "bound %lld lies before bound %lld in the order of the keys", (long long)row,
                     (long long)row - 1);
  *is_new = order < 0;
  if (order == 0) return ASHUF_OK;
  in->any = true;
  in->last.size = 0;
  if (buffer_append(&in->last, in->range->memory, own.data, own.size)) return ASHUF_OK;
  return error_memory(error, SITE_RANGE_MEMORY, in->range->memory, own.size);
}

/* The values of a block of bounds, in the form that is searched. */
struct values {
  uint64_t words[ROW_BLOCK];
  row_wide wides[ROW_BLOCK];
  struct row_bytes strings[ROW_BLOCK];
  uint8_t valid[ROW_BLOCK];
};

static ashuf_status take_values(const struct intake *in, int64_t first, int64_t n,
                                struct values *out, struct ashuf_error *error) {
  const struct source *column = &in->set->columns[0];
  switch (in->range->form) {
    case ROW_FORM_WORD:
      return row_words(column, 0, first, n, out->words, out->valid, error);
    case ROW_FORM_WIDE:
      return row_wides(column, 0, first, n, out->wides, out->valid, error);
    case ROW_FORM_BYTES:
      return row_strings(column, 0, first, n, out->strings, out->valid, error);
    default:
      memcpy(out->strings, in->encoding.rows, (size_t)n * sizeof *out->strings);
      memset(out->valid, 1, (size_t)n);
      return ASHUF_OK;
  }
}

static ashuf_status keep(struct intake *in, const struct values *values, int64_t i,
                         struct ashuf_error *error) {
  struct range *range = in->range;
  if (range->n + range->n_null == range->capacity)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_RANGE_COUNT,
                     "more than %d different bounds: at most one fewer than partitions",
                     range->capacity);
  if (!values->valid[i]) {
    range->n_null++;
    return ASHUF_OK;
  }
  int32_t at = range->n++;
  if (range->form == ROW_FORM_WORD) {
    range->words[at] = values->words[i];
  } else if (range->form == ROW_FORM_WIDE) {
    range->wides[at] = values->wides[i];
  } else {
    struct row_bytes string = values->strings[i];
    range->wides[at] = row_prefix(string.data, string.size);
    range->strings[at] = (struct row_bytes){NULL, string.size};
    if (!buffer_append(&in->bytes, range->memory, string.data, string.size))
      return error_memory(error, SITE_RANGE_MEMORY, range->memory, string.size);
  }
  return ASHUF_OK;
}

static ashuf_status take_block(struct intake *in, int64_t first, int64_t n,
                               struct ashuf_error *error) {
  struct values values = {.words = {0}};
  ashuf_status status = row_encode(in->set->columns, in->keys, in->n_keys, 0, first, n,
                                   in->range->memory, &in->encoding, error);
  if (status == ASHUF_OK) status = take_values(in, first, n, &values, error);
  for (int64_t i = 0; status == ASHUF_OK && i < n; i++) {
    bool is_new = false;
    status = check_order(in, i, first + i, &is_new, error);
    if (status == ASHUF_OK && is_new) status = keep(in, &values, i, error);
  }
  return status;
}

/* The strings kept as bytes of the range's own. */
static ashuf_status settle_strings(struct intake *in, struct ashuf_error *error) {
  struct range *range = in->range;
  if (in->bytes.size != 0) {
    range->bytes = memory_alloc(range->memory, in->bytes.size);
    if (range->bytes == NULL)
      return error_memory(error, SITE_RANGE_MEMORY, range->memory, in->bytes.size);
    range->bytes_size = in->bytes.size;
    memcpy(range->bytes, in->bytes.data, in->bytes.size);
  }
  static const uint8_t nothing[1];
  const uint8_t *at = range->bytes != NULL ? range->bytes : nothing;
  for (int32_t i = 0; range->strings != NULL && i < range->n; i++) {
    range->strings[i].data = at;
    at += range->strings[i].size;
  }
  return ASHUF_OK;
}

#define SWAP(type, a, b) \
  do {                   \
    type swapped = (a);  \
    (a) = (b);           \
    (b) = swapped;       \
  } while (0)

/* Descending bounds of a single key as ascending ones. */
static void turn(struct range *range) {
  for (int32_t i = 0, j = range->n - 1; i < j; i++, j--) {
    if (range->words != NULL) SWAP(uint64_t, range->words[i], range->words[j]);
    if (range->wides != NULL) SWAP(row_wide, range->wides[i], range->wides[j]);
    if (range->strings != NULL) SWAP(struct row_bytes, range->strings[i], range->strings[j]);
  }
}

static ashuf_status take_all(struct intake *in, struct ashuf_error *error) {
  int64_t rows = in->set->lengths[0];
  ashuf_status status = ASHUF_OK;
  for (int64_t first = 0; status == ASHUF_OK && first < rows; first += ROW_BLOCK)
    status = take_block(in, first, rows - first < ROW_BLOCK ? rows - first : ROW_BLOCK, error);
  if (status == ASHUF_OK) status = settle_strings(in, error);
  if (status == ASHUF_OK && in->range->turned) turn(in->range);
  row_encoding_free(&in->encoding);
  ashuf_buffer_free(&in->last);
  ashuf_buffer_free(&in->bytes);
  return status;
}

static ashuf_status take_bounds(struct range *range, const ashuf_schema *key_schema,
                                const struct ashuf_partitioning *own, struct row_key *keys,
                                struct ashuf_error *error) {
  struct source_set set;
  ashuf_status status = source_set_init(&set, key_schema, range->memory, error);
  if (status != ASHUF_OK) return status;
  for (int32_t i = 0; i < own->n_keys; i++) keys[i] = range_key(own, i, true);
  status = source_set_push(&set, own->bounds, error);
  if (status != ASHUF_OK) error_prefix(error, "bounds: ");
  int64_t most = own->partitions - 1;
  if (status == ASHUF_OK && set.lengths[0] < most) most = set.lengths[0];
  if (status == ASHUF_OK && !allocate(range, (int32_t)most))
    status = error_memory(error, SITE_RANGE_MEMORY, range->memory, (size_t)most * sizeof(row_wide));
  if (status == ASHUF_OK) {
    struct intake in = {.range = range, .set = &set, .keys = keys, .n_keys = own->n_keys};
    status = take_all(&in, error);
  }
  source_set_free(&set);
  return status;
}

ashuf_status range_new(const ashuf_schema *key_schema, const struct ashuf_partitioning *own,
                       ashuf_memory *memory, struct range **out, struct ashuf_error *error) {
  size_t size = range_size(own->n_keys);
  struct range *range = memory_zeroed(memory, size);
  if (range == NULL) return error_memory(error, SITE_RANGE_MEMORY, memory, size);
  range->memory = memory;
  range->n_keys = own->n_keys;
  range->right = own->range_rule == ASHUF_RANGE_COMET;
  range->form = own->n_keys == 1 ? row_form_of(&key_schema->columns[0]) : ROW_FORM_LONG;
  if (range->form != ROW_FORM_LONG) {
    struct row_key key = range_key(own, 0, true);
    range->turned = key.descending;
    range->nulls_last = key.nulls_last;
  }
  ashuf_status status = ASHUF_OK;
  /* The keys' place holds those of the bounds first. */
  if (own->bounds != NULL) status = take_bounds(range, key_schema, own, range->keys, error);
  if (status != ASHUF_OK) {
    range_free(range);
    return status;
  }
  for (int32_t i = 0; i < own->n_keys; i++) range->keys[i] = range_key(own, i, false);
  *out = range;
  return ASHUF_OK;
}

/* ---- Search ------------------------------------------------------------------------------- */

/*
 * How many of n ascending bounds are less than key (or equal to it, with or_equal). The number of
 * steps depends on n alone and a step has no branch (nor may the compiler make one: hence the
 * mask), so that the processor can search for several rows at once.
 */
#define DEFINE_COUNT(name, type)                                                              \
  static ALWAYS_INLINE int64_t name##_step(type bound, type key, int64_t by, bool or_equal) { \
    return by & -(int64_t)(or_equal ? bound <= key : bound < key);                            \
  }                                                                                           \
  static ALWAYS_INLINE int32_t name(const type *bounds, int32_t n, type key, bool or_equal) { \
    int64_t at = 0;                                                                           \
    int64_t left = n;                                                                         \
    for (; left > 1; left -= left / 2)                                                        \
      at += name##_step(bounds[at + left / 2 - 1], key, left / 2, or_equal);                  \
    if (left == 1) at += name##_step(bounds[at], key, 1, or_equal);                           \
    return (int32_t)at;                                                                       \
  }

DEFINE_COUNT(count_words, uint64_t)
DEFINE_COUNT(count_wides, row_wide)

/* The same for strings, first by their prefixes. */
static int32_t count_strings(const struct range *range, struct row_bytes key, bool or_equal) {
  row_wide prefix = row_prefix(key.data, key.size);
  int32_t low = count_wides(range->wides, range->n, prefix, false);
  if (low == range->n || range->wides[low] != prefix) return low;
  int32_t high = count_wides(range->wides, range->n, prefix, true);
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    int order = row_bytes_compare(range->strings[middle], key);
    if (order < 0 || (or_equal && order == 0))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static ALWAYS_INLINE void place_words(const struct range *range, const uint64_t *words, int64_t n,
                                      bool or_equal, int32_t *ids) {
  const uint64_t *bounds = range->words;
  int32_t n_bounds = range->n;
  for (int64_t i = 0; i < n; i++) ids[i] = count_words(bounds, n_bounds, words[i], or_equal);
}

/* Counts of a single key as partitions, and the nulls'. */
static void finish_single(const struct range *range, const uint8_t *valid, int64_t n,
                          int32_t *ids) {
  int32_t before = range->nulls_last ? 0 : range->n_null;
  int32_t of_null = (range->nulls_last ? range->n : 0) + (range->right ? range->n_null : 0);
  for (int64_t i = 0; i < n; i++) {
    int32_t id = (range->turned ? range->n - ids[i] : ids[i]) + before;
    ids[i] = valid[i] ? id : of_null;
  }
}

/* Descending, what does not lie before a key in the order asked for lies before it here. */
static bool counts_equal(const struct range *range) { return range->right != range->turned; }

static ashuf_status place_word_block(const struct range *range, const struct source *column,
                                     size_t batch, int64_t first, int64_t n, int32_t *ids,
                                     struct ashuf_error *error) {
  uint64_t words[ROW_BLOCK];
  uint8_t valid[ROW_BLOCK];
  ashuf_status status = row_words(column, batch, first, n, words, valid, error);
  if (status != ASHUF_OK) return status;
  if (counts_equal(range))
    place_words(range, words, n, true, ids);
  else
    place_words(range, words, n, false, ids);
  finish_single(range, valid, n, ids);
  return ASHUF_OK;
}

static ashuf_status place_wide_block(const struct range *range, const struct source *column,
                                     size_t batch, int64_t first, int64_t n, int32_t *ids,
                                     struct ashuf_error *error) {
  row_wide wides[ROW_BLOCK];
  uint8_t valid[ROW_BLOCK];
  ashuf_status status = row_wides(column, batch, first, n, wides, valid, error);
  if (status != ASHUF_OK) return status;
  bool or_equal = counts_equal(range);
  for (int64_t i = 0; i < n; i++) ids[i] = count_wides(range->wides, range->n, wides[i], or_equal);
  finish_single(range, valid, n, ids);
  return ASHUF_OK;
}

static ashuf_status place_string_block(const struct range *range, const struct source *column,
                                       size_t batch, int64_t first, int64_t n, int32_t *ids,
                                       struct ashuf_error *error) {
  struct row_bytes strings[ROW_BLOCK];
  uint8_t valid[ROW_BLOCK];
  ashuf_status status = row_strings(column, batch, first, n, strings, valid, error);
  if (status != ASHUF_OK) return status;
  bool or_equal = counts_equal(range);
  for (int64_t i = 0; i < n; i++) ids[i] = count_strings(range, strings[i], or_equal);
  finish_single(range, valid, n, ids);
  return ASHUF_OK;
}

static ashuf_status place_block(const struct range *range, const struct source_set *set,
                                size_t batch, int64_t first, int64_t n,
                                struct row_encoding *encoding, int32_t *ids,
                                struct ashuf_error *error) {
  const struct source *column = &set->columns[range->keys[0].column];
  switch (range->form) {
    case ROW_FORM_WORD:
      return place_word_block(range, column, batch, first, n, ids, error);
    case ROW_FORM_WIDE:
      return place_wide_block(range, column, batch, first, n, ids, error);
    case ROW_FORM_BYTES:
      return place_string_block(range, column, batch, first, n, ids, error);
    default:
      break;
  }
  ashuf_status status = row_encode(set->columns, range->keys, range->n_keys, batch, first, n,
                                   range->memory, encoding, error);
  for (int64_t i = 0; status == ASHUF_OK && i < n; i++)
    ids[i] = count_strings(range, encoding->rows[i], range->right);
  return status;
}

ashuf_status range_ids(const struct range *range, const struct source_set *set, size_t batch,
                       int32_t *ids, struct ashuf_error *error) {
  struct row_encoding encoding;
  encoding.bytes = (struct ashuf_buffer)ASHUF_BUFFER_INIT;
  int64_t rows = set->lengths[batch];
  ashuf_status status = ASHUF_OK;
  for (int64_t first = 0; status == ASHUF_OK && first < rows; first += ROW_BLOCK) {
    int64_t n = rows - first < ROW_BLOCK ? rows - first : ROW_BLOCK;
    status = place_block(range, set, batch, first, n, &encoding, ids + first, error);
  }
  row_encoding_free(&encoding);
  return status;
}

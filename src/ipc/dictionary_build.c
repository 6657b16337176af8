#include "ipc/dictionary_build.h"

#include "arrow/gather.h"
#include "arrow/values.h"
#include "base/bits.h"
#include "ipc/batch_plan.h"

/* What an entry of a source's dictionary can be beside the index of a distinct value. */
#define UNSEEN UINT32_MAX
#define NULL_ENTRY (UINT32_MAX - 1)

/* A run gets a map where the dictionary has at most this many entries a row: clearing it then costs
 * a cache line a row at the most. */
#define MAP_ENTRIES_PER_ROW 16
#define WORD_ROWS 64

/* A distinct value: where it first stood, and its bytes. */
struct distinct {
  row_id id;
  struct value_bytes bytes;
  uint64_t hash;
};

struct id_slot {
  row_id id;
  uint32_t entry; /* UNSEEN: free */
};

struct dictionary_builder {
  const struct source *source;
  const struct source *values;
  struct arena *arena;
  int64_t n_rows;
  uint8_t *out;      /* the indices */
  uint8_t *validity; /* bits that null entries clear, or NULL where no entry is null */
  uint64_t largest;  /* index that the field's type holds */
  bool too_many;
  ashuf_status status;
  struct ashuf_error *error;
  /* Values seen before, by content: open addressing, at most half full. */
  struct distinct *distinct;
  uint64_t n_distinct;
  uint64_t capacity;
  uint32_t *by_content;
  uint64_t content_mask;
  /* Entries seen before, by id, over all rows: made for the first run without a map. */
  struct id_slot *by_id;
  uint64_t id_mask;
  /* Entries of the dictionary behind the current run: map[entry]. */
  uint32_t *map;
  uint64_t map_capacity;
  const struct array_view *mapped; /* the dictionary that map is of, or NULL */
};

/* Rows that lie one behind the other in the output and come from one batch. */
struct dictionary_run {
  size_t batch;
  const uint8_t *in; /* their indices */
  int64_t first;     /* row of the output */
  int64_t n;
  uint64_t mapped; /* entries of the map, 0 without one */
};

static void fail_memory(struct dictionary_builder *builder, size_t size) {
  builder->status = error_memory(builder->error, SITE_PLAN_MEMORY, builder->arena->memory, size);
}

static bool going(const struct dictionary_builder *builder) {
  return builder->status == ASHUF_OK && !builder->too_many;
}

/* ---- Distinct values ---------------------------------------------------------------------- */

static void link_content(struct dictionary_builder *builder, uint32_t index) {
  uint64_t slot = builder->distinct[index].hash & builder->content_mask;
  while (builder->by_content[slot] != UNSEEN) slot = (slot + 1) & builder->content_mask;
  builder->by_content[slot] = index;
}

/* Room for capacity distinct values; those that are there move. */
static bool hold_distinct(struct dictionary_builder *builder, uint64_t capacity) {
  uint64_t slots = 16;
  while (slots < capacity * 2) slots *= 2;
  struct distinct *distinct = arena_array(builder->arena, capacity, sizeof *distinct);
  uint32_t *by_content = arena_array(builder->arena, slots, sizeof *by_content);
  if (distinct == NULL || by_content == NULL) {
    fail_memory(builder, capacity * sizeof *distinct);
    return false;
  }
  if (builder->n_distinct != 0)
    memcpy(distinct, builder->distinct, builder->n_distinct * sizeof *distinct);
  memset(by_content, 0xff, slots * sizeof *by_content);
  builder->distinct = distinct;
  builder->capacity = capacity;
  builder->by_content = by_content;
  builder->content_mask = slots - 1;
  for (uint32_t i = 0; i < builder->n_distinct; i++) link_content(builder, i);
  return true;
}

/* A dictionary of one batch never needs more than it has; several may. */
static bool room_for_one(struct dictionary_builder *builder, size_t batch) {
  if (builder->n_distinct < builder->capacity) return true;
  uint64_t more = builder->capacity != 0 ? builder->capacity * 2
                                         : (uint64_t)builder->source->views[batch].limit;
  return hold_distinct(builder,
                       more < (uint64_t)builder->n_rows ? more : (uint64_t)builder->n_rows);
}

static bool same_value(const struct distinct *a, const struct distinct *b) {
  return a->hash == b->hash && a->bytes.size == b->bytes.size &&
         (a->bytes.size == 0 || memcmp(a->bytes.data, b->bytes.data, a->bytes.size) == 0);
}

/* The index of a value by its content, a new one where it was not seen before. */
static uint32_t find_content(struct dictionary_builder *builder, row_id id) {
  struct distinct value = {.id = id};
  builder->status =
      value_bytes_get(builder->values, id, builder->arena, &value.bytes, builder->error);
  if (builder->status != ASHUF_OK || !room_for_one(builder, row_batch(id))) return 0;
  value.hash = value_bytes_hash(&value.bytes);
  uint64_t slot = value.hash & builder->content_mask;
  while (builder->by_content[slot] != UNSEEN) {
    uint32_t index = builder->by_content[slot];
    if (same_value(&builder->distinct[index], &value)) return index;
    slot = (slot + 1) & builder->content_mask;
  }
  builder->too_many = builder->n_distinct > builder->largest;
  if (builder->too_many) return 0;
  uint32_t index = (uint32_t)builder->n_distinct++;
  builder->distinct[index] = value;
  builder->by_content[slot] = index;
  return index;
}

/* ---- Entries of the sources' dictionaries ------------------------------------------------- */

static uint32_t find_value(struct dictionary_builder *builder, row_id id) {
  const struct array_view *view = &builder->values->views[row_batch(id)];
  if (builder->values->field->type == TYPE_NULL || !view_is_valid(view, row_number(id)))
    return NULL_ENTRY;
  return find_content(builder, id);
}

static bool make_id_table(struct dictionary_builder *builder) {
  uint64_t slots = 16;
  while (slots < (uint64_t)builder->n_rows * 2) slots *= 2;
  builder->by_id = arena_array(builder->arena, slots, sizeof *builder->by_id);
  if (builder->by_id == NULL) fail_memory(builder, slots * sizeof *builder->by_id);
  if (builder->by_id == NULL) return false;
  memset(builder->by_id, 0xff, slots * sizeof *builder->by_id);
  builder->id_mask = slots - 1;
  return true;
}

static uint32_t find_id(struct dictionary_builder *builder, row_id id) {
  if (builder->by_id == NULL && !make_id_table(builder)) return 0;
  uint64_t at = value_bytes_mix(id) & builder->id_mask;
  while (builder->by_id[at].entry != UNSEEN && builder->by_id[at].id != id)
    at = (at + 1) & builder->id_mask;
  struct id_slot *slot = &builder->by_id[at];
  if (slot->entry == UNSEEN) *slot = (struct id_slot){id, find_value(builder, id)};
  return slot->entry;
}

static void refuse_index(struct dictionary_builder *builder) {
  char label[96];
  builder->status = error_set(builder->error, ASHUF_BAD_ARRAY, SITE_PLAN_INDEX,
                              "field \"%s\": an index outside the dictionary",
                              field_label(builder->source->field, label, sizeof label));
}

/* What the map does not know yet, or cannot: 0 for a null, whose bit is cleared, and after a
 * failure. */
static uint32_t find_entry(struct dictionary_builder *builder, const struct dictionary_run *run,
                           int64_t row, uint64_t entry) {
  if (!going(builder)) return 0;
  uint32_t found = run->mapped > entry ? builder->map[entry] : UNSEEN;
  if (entry >= (uint64_t)builder->source->views[run->batch].limit)
    refuse_index(builder);
  else if (run->mapped == 0)
    found = find_id(builder, row_id_of(run->batch, (int64_t)entry));
  else if (found == UNSEEN)
    builder->map[entry] = found = find_value(builder, row_id_of(run->batch, (int64_t)entry));
  if (found < NULL_ENTRY) return found;
  if (builder->validity != NULL) builder->validity[row >> 3] &= (uint8_t) ~(1u << (row & 7));
  return 0;
}

/* ---- Runs --------------------------------------------------------------------------------- */

/* Whether two batches share a dictionary of plain values, down to the memory it lies in. */
static bool same_dictionary(const struct source *values, const struct array_view *a,
                            const struct array_view *b) {
  enum arrow_layout layout = type_info(values->field->type)->layout;
  bool plain = layout == LAYOUT_FIXED || layout == LAYOUT_BYTES || layout == LAYOUT_BITS;
  return plain && values->dictionary == NULL && a->data[0] == b->data[0] &&
         a->data[1] == b->data[1] && a->validity == b->validity && a->offset == b->offset &&
         a->length == b->length && a->limit == b->limit;
}

/* The map for a run, where it is worth one. */
static void choose_map(struct dictionary_builder *builder, struct dictionary_run *run) {
  const struct array_view *view = &builder->values->views[run->batch];
  uint64_t entries = (uint64_t)builder->source->views[run->batch].limit;
  bool kept = builder->mapped != NULL &&
              (view == builder->mapped || same_dictionary(builder->values, view, builder->mapped));
  run->mapped = kept ? entries : 0;
  if (kept || entries / MAP_ENTRIES_PER_ROW > (uint64_t)run->n) return;
  if (entries > builder->map_capacity) {
    builder->map = arena_array(builder->arena, entries, sizeof *builder->map);
    builder->map_capacity = builder->map != NULL ? entries : 0;
  }
  if (entries > builder->map_capacity) {
    fail_memory(builder, entries * sizeof *builder->map);
    return;
  }
  if (entries != 0) memset(builder->map, 0xff, entries * sizeof *builder->map);
  builder->mapped = view;
  run->mapped = entries;
}

/* Not less than any dictionary's size where a signed index is negative. */
static ALWAYS_INLINE uint64_t load_entry(const uint8_t *in, bool is_signed, int width) {
  uint64_t entry = load_unsigned(in, width);
  return is_signed && entry >> (8 * width - 1) != 0 ? UINT64_MAX : entry;
}

static ALWAYS_INLINE void store_index(uint8_t *out, uint32_t index, int width) {
  uint64_t wide = index;
  memcpy(out, &wide, (size_t)width);
}

/* Four rows at once, or nothing where the map does not know one of them. */
#define TOGETHER 4
static ALWAYS_INLINE bool map_together(const uint8_t *in, const uint32_t *map, uint64_t limit,
                                       int width, uint8_t *out) {
  uint32_t found[TOGETHER];
  unsigned unknown = 0;
  for (int i = 0; i < TOGETHER; i++) unknown |= load_unsigned(in + i * width, width) >= limit;
  if (unknown != 0) return false;
  for (int i = 0; i < TOGETHER; i++) found[i] = map[load_unsigned(in + i * width, width)];
  for (int i = 0; i < TOGETHER; i++) unknown |= found[i] >= NULL_ENTRY;
  if (unknown != 0) return false;
  for (int i = 0; i < TOGETHER; i++) store_index(out + i * width, found[i], width);
  return true;
}

/* Rows until one whose entry the map does not know, or near it; how many those are. limit: entries
 * of the map whose number is not negative in the index type. */
static ALWAYS_INLINE int64_t map_known(const uint8_t *in, int64_t n, const uint32_t *map,
                                       uint64_t limit, int width, uint8_t *out) {
  int64_t i = 0;
  while (n - i >= TOGETHER && map_together(in + i * width, map, limit, width, out + i * width))
    i += TOGETHER;
  return i;
}

static ALWAYS_INLINE void map_row(struct dictionary_builder *builder,
                                  const struct dictionary_run *run, int64_t i, bool is_signed,
                                  int width) {
  uint64_t entry = load_entry(run->in + i * width, is_signed, width);
  uint32_t index = entry < run->mapped ? builder->map[entry] : UNSEEN;
  if (index >= NULL_ENTRY) index = find_entry(builder, run, run->first + i, entry);
  store_index(builder->out + (run->first + i) * width, index, width);
}

static ALWAYS_INLINE void map_valid_rows(struct dictionary_builder *builder,
                                         const struct dictionary_run *run, bool is_signed,
                                         int width) {
  uint8_t *out = builder->out + run->first * width;
  uint64_t positive = is_signed ? (uint64_t)1 << (8 * width - 1) : UINT64_MAX;
  uint64_t limit = run->mapped < positive ? run->mapped : positive;
  for (int64_t i = 0; i < run->n && going(builder);) {
    i += map_known(run->in + i * width, run->n - i, builder->map, limit, width, out + i * width);
    for (int k = 0; k < TOGETHER && i < run->n; k++) map_row(builder, run, i++, is_signed, width);
  }
}

/* A word of rows at a time, so that those without nulls take no look at a bit. */
static ALWAYS_INLINE void map_some_rows(struct dictionary_builder *builder,
                                        const struct dictionary_run *run, const uint8_t *validity,
                                        bool is_signed, int width) {
  uint8_t *out = builder->out + run->first * width;
  for (int64_t i = 0; i < run->n && going(builder); i += WORD_ROWS) {
    int64_t n = run->n - i < WORD_ROWS ? run->n - i : WORD_ROWS;
    uint64_t valid = load_bits(validity, run->first + i, n);
    for (uint64_t rest = valid; rest != 0; rest &= rest - 1)
      map_row(builder, run, i + __builtin_ctzll(rest), is_signed, width);
    for (uint64_t rest = ~valid & ones(n); rest != 0; rest &= rest - 1)
      memset(out + (i + __builtin_ctzll(rest)) * width, 0, (size_t)width);
  }
}

static ALWAYS_INLINE void map_rows(struct dictionary_builder *builder,
                                   const struct dictionary_run *run, const uint8_t *validity,
                                   bool is_signed, int width) {
  if (validity == NULL)
    map_valid_rows(builder, run, is_signed, width);
  else
    map_some_rows(builder, run, validity, is_signed, width);
}

/* One loop for each width and sign of index. */
static void map_run(struct dictionary_builder *builder, struct dictionary_run *run,
                    const uint8_t *validity) {
  choose_map(builder, run);
  switch (builder->source->field->type) {
    case TYPE_INT8:
      map_rows(builder, run, validity, true, 1);
      break;
    case TYPE_UINT8:
      map_rows(builder, run, validity, false, 1);
      break;
    case TYPE_INT16:
      map_rows(builder, run, validity, true, 2);
      break;
    case TYPE_UINT16:
      map_rows(builder, run, validity, false, 2);
      break;
    case TYPE_INT32:
      map_rows(builder, run, validity, true, 4);
      break;
    case TYPE_UINT32:
      map_rows(builder, run, validity, false, 4);
      break;
    default:
      map_rows(builder, run, validity, false, 8);
  }
}

/* Ranges are read where they lie. Rows that are not there are null: they are below
 * an empty dictionary of nulls. */
static void map_range(struct dictionary_builder *builder, const struct row_range *range,
                      int64_t first, const uint8_t *validity) {
  int width = builder->source->field->byte_width;
  struct dictionary_run run = {
      .batch = row_batch(range->first), .first = first, .n = range->length};
  const struct array_view *view = &builder->source->views[run.batch];
  int64_t row = row_number(range->first);
  run.in = view->data[0] + (view->offset + row) * width;
  if (range_inside((uint64_t)row, (uint64_t)run.n, (uint64_t)view->length))
    map_run(builder, &run, validity);
  else
    memset(builder->out + first * width, 0, (size_t)(run.n * width));
}

static void map_ranges(struct dictionary_builder *builder, const struct selection *rows,
                       const uint8_t *validity) {
  int64_t first = 0;
  for (size_t i = 0; i < rows->n_ranges && going(builder); i++) {
    if (rows->ranges[i].length != 0) map_range(builder, &rows->ranges[i], first, validity);
    first += rows->ranges[i].length;
  }
}

/* Rows by id are gathered first and then read from where they go. */
static void map_ids(struct dictionary_builder *builder, const struct selection *rows,
                    const uint8_t *validity) {
  struct selection_cursor cursor = {0};
  gather_fixed(builder->source, rows, &cursor, rows->n_rows, validity, 0, builder->out);
  int width = builder->source->field->byte_width;
  for (int64_t i = 0; i < rows->n_rows && going(builder);) {
    struct dictionary_run run = {
        .batch = row_batch(rows->ids[i]), .in = builder->out + i * width, .first = i};
    while (i < rows->n_rows && row_batch(rows->ids[i]) == run.batch) i++;
    run.n = i - run.first;
    map_run(builder, &run, validity);
  }
}

/* ---- The whole ---------------------------------------------------------------------------- */

static uint64_t largest_index(const struct field *field) {
  unsigned bits = (unsigned)field->byte_width * 8 - (type_is_signed_index(field->type) ? 1 : 0);
  return bits >= 32 ? NULL_ENTRY - 1 : ((uint64_t)1 << bits) - 1;
}

/* Bits to clear, where an entry of a dictionary may be null. */
static bool copy_validity(struct dictionary_builder *builder, const uint8_t *validity) {
  if (builder->values->n_with_nulls == 0 && builder->values->field->type != TYPE_NULL) return true;
  size_t size = bits_size(builder->n_rows);
  builder->validity = arena_array(builder->arena, size, 1);
  if (builder->validity == NULL) return false;
  if (validity != NULL)
    memcpy(builder->validity, validity, size);
  else
    bits_fill(builder->validity, builder->n_rows);
  return true;
}

static bool select_distinct(struct dictionary_builder *builder, struct selection *values) {
  row_id *ids = arena_array(builder->arena, builder->n_distinct, sizeof *ids);
  if (ids == NULL) return false;
  for (uint32_t i = 0; i < builder->n_distinct; i++) ids[i] = builder->distinct[i].id;
  *values = (struct selection){.n_rows = (int64_t)builder->n_distinct, .ids = ids};
  return true;
}

ashuf_status dictionary_build(const struct source *source, const struct selection *rows,
                              struct arena *arena, struct built_dictionary *built,
                              struct ashuf_error *error) {
  struct dictionary_builder builder = {.source = source,
                                       .values = source->dictionary,
                                       .arena = arena,
                                       .n_rows = rows->n_rows,
                                       .largest = largest_index(source->field),
                                       .error = error};
  size_t size = (size_t)rows->n_rows * (size_t)source->field->byte_width;
  builder.out = arena_array(arena, (size_t)rows->n_rows, (size_t)source->field->byte_width);
  if (builder.out == NULL || !copy_validity(&builder, built->validity))
    return error_memory(error, SITE_PLAN_MEMORY, arena->memory, size);
  if (rows->ids != NULL)
    map_ids(&builder, rows, built->validity);
  else
    map_ranges(&builder, rows, built->validity);
  built->fits = !builder.too_many;
  if (builder.status != ASHUF_OK || !built->fits) return builder.status;
  if (builder.validity != NULL) {
    built->nulls = rows->n_rows - bits_count(builder.validity, 0, rows->n_rows);
    built->validity = built->nulls != 0 ? builder.validity : NULL;
  }
  built->indices = builder.out;
  if (select_distinct(&builder, &built->values)) return ASHUF_OK;
  return error_memory(error, SITE_PLAN_MEMORY, arena->memory, builder.n_distinct * sizeof(row_id));
}

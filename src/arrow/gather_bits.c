/* Bitmaps: validity and the values of booleans. */
#include "arrow/gather.h"

#include "arrow/gather_int.h"
#include "base/bits.h"

#include <string.h>

/* Bits appended word by word. */
struct bit_sink {
  uint8_t *out;
  uint64_t word;
  int64_t fill; /* bits in word, < 64 */
};

static inline void sink_put(struct bit_sink *sink, uint64_t bits, int64_t n) {
  sink->word |= bits << sink->fill;
  int64_t room = 64 - sink->fill;
  if (n < room) {
    sink->fill += n;
    return;
  }
  store_u64(sink->out, sink->word);
  sink->out += 8;
  sink->word = room == 64 ? 0 : bits >> room;
  sink->fill = n - room;
}

static void sink_finish(struct bit_sink *sink) {
  memcpy(sink->out, &sink->word, bits_size(sink->fill));
}

/* Whole words of bits that start at a word of the output; returns how many bits. */
static int64_t sink_words(struct bit_sink *sink, const uint8_t *bits, int64_t position, int64_t n) {
  const uint8_t *in = bits + (position >> 3);
  unsigned shift = (unsigned)(position & 7);
  int64_t whole = n & ~(int64_t)(CHUNK_ROWS - 1);
  if (shift == 0) memcpy(sink->out, in, (size_t)(whole >> 3));
  for (int64_t i = 0; shift != 0 && i < whole; i += CHUNK_ROWS) {
    const uint8_t *word = in + (i >> 3); /* nine bytes, as the last bit lies in the ninth */
    store_u64(sink->out + (i >> 3), load_u64(word) >> shift | (uint64_t)word[8] << (64 - shift));
  }
  sink->out += whole >> 3;
  return whole;
}

/* bits NULL: n times what missing holds. */
static void sink_copy(struct bit_sink *sink, const uint8_t *bits, int64_t position, int64_t n,
                      uint64_t missing) {
  int64_t i = bits != NULL && sink->fill == 0 ? sink_words(sink, bits, position, n) : 0;
  for (; i < n; i += CHUNK_ROWS) {
    int64_t count = min_rows(CHUNK_ROWS, n - i);
    sink_put(sink, bits != NULL ? load_bits(bits, position + i, count) : missing & ones(count),
             count);
  }
}

/* Eight bytes of 0 or 1 as eight bits: the product moves byte k's bit to bit 56 + k. */
static inline uint64_t pack_flags(const uint8_t *flags) {
  return load_u64(flags) * 0x0102040810204080u >> 56;
}

static uint64_t pack_chunk(const uint8_t *flags) {
  uint64_t word = 0;
  for (int k = 0; k < 8; k++) word |= pack_flags(flags + 8 * k) << (8 * k);
  return word;
}

static ALWAYS_INLINE const uint8_t *bitmap_of(const struct array_view *view, bool validity) {
  return validity ? view->validity : view->data[0];
}

/* One byte a row and then packed: bit by bit costs six times as much. */
static ALWAYS_INLINE uint64_t chunk_of_ids(const struct source *source, const row_id *ids,
                                           int64_t n, bool validity) {
  uint8_t flags[CHUNK_ROWS] = {0};
  for (int64_t i = 0; i < n;) {
    size_t batch = row_batch(ids[i]);
    const struct array_view *view = &source->views[batch];
    const uint8_t *bits = bitmap_of(view, validity);
    if (bits == NULL) {
      do flags[i++] = 1;
      while (i < n && row_batch(ids[i]) == batch);
      continue;
    }
    do {
      int64_t slot = view->offset + row_number(ids[i]);
      flags[i++] = (bits[slot >> 3] >> (slot & 7)) & 1;
    } while (i < n && row_batch(ids[i]) == batch);
  }
  return pack_chunk(flags);
}

static ALWAYS_INLINE void bits_of_ids(const struct source *source,
                                      const struct selection *selection, bool validity,
                                      uint8_t *out) {
  struct bit_sink sink = {.out = out};
  for (int64_t i = 0; i < selection->n_rows; i += CHUNK_ROWS) {
    int64_t n = min_rows(CHUNK_ROWS, selection->n_rows - i);
    sink_put(&sink, chunk_of_ids(source, selection->ids + i, n, validity), n);
  }
  sink_finish(&sink);
}

static void bits_of_ranges(const struct source *source, const struct selection *selection,
                           bool validity, uint8_t *out) {
  struct bit_sink sink = {.out = out};
  for (size_t i = 0; i < selection->n_ranges; i++) {
    const struct row_range *range = &selection->ranges[i];
    if (range->length == 0) continue;
    const struct array_view *view = &source->views[row_batch(range->first)];
    int64_t first = row_number(range->first);
    bool there = range_in_view(view, first, range->length);
    sink_copy(&sink, there ? bitmap_of(view, validity) : NULL, view->offset + first, range->length,
              validity ? UINT64_MAX : 0);
  }
  sink_finish(&sink);
}

int64_t gather_validity(const struct source *source, const struct selection *selection,
                        uint8_t *out) {
  if (source->n_with_nulls == 0) {
    bits_fill(out, selection->n_rows);
    return 0;
  }
  if (selection->ids != NULL)
    bits_of_ids(source, selection, true, out);
  else
    bits_of_ranges(source, selection, true, out);
  return selection->n_rows - bits_count(out, 0, selection->n_rows);
}

static bool ids_have_no_nulls(const struct source *source, const struct selection *selection) {
  size_t batch = SIZE_MAX;
  for (int64_t i = 0; i < selection->n_rows; i++) {
    if (row_batch(selection->ids[i]) == batch) continue;
    batch = row_batch(selection->ids[i]);
    if (source->views[batch].validity != NULL) return false;
  }
  return true;
}

bool gather_has_no_nulls(const struct source *source, const struct selection *selection) {
  if (source->n_with_nulls == 0 || selection->n_rows == 0) return true;
  if (selection->ids != NULL) return ids_have_no_nulls(source, selection);
  for (size_t i = 0; i < selection->n_ranges; i++) {
    const struct row_range *range = &selection->ranges[i];
    if (range->length != 0 && source->views[row_batch(range->first)].validity != NULL) return false;
  }
  return true;
}

void gather_bits(const struct source *source, const struct selection *selection,
                 const uint8_t *validity, uint8_t *out) {
  if (selection->ids != NULL)
    bits_of_ids(source, selection, false, out);
  else
    bits_of_ranges(source, selection, false, out);
  if (validity == NULL) return;
  size_t size = bits_size(selection->n_rows);
  for (size_t i = 0; i < size; i++) out[i] &= validity[i];
}

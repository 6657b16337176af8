#include "ref/odd_int.h"

#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1, DICTIONARY = 2, BATCH = 3 };

#define MAX_COLUMNS 6

struct maker {
  struct test_random random;
  struct odd_bytes stream;
  bool is_v4;
  bool lengths;
  bool compressed;
  bool legacy; /* at least some of the prefixes */
  bool mixed;
  bool no_replacement;
};

/* The metadata padded to some size, behind some prefix. */
static void put_metadata(struct maker *maker, struct odd_bytes *metadata) {
  struct test_random *random = &maker->random;
  bool legacy = maker->legacy && !(maker->mixed && odd_chance(random, 2));
  size_t prefix = legacy ? 4 : 8;
  if (odd_chance(random, 16)) {
    odd_put_zeros(metadata, (size_t)random_below(random, 8));
  } else {
    size_t to = odd_chance(random, 2) ? 64 : 8;
    while ((prefix + metadata->size) % to != 0) odd_put_zeros(metadata, 1);
    odd_put_zeros(metadata, odd_chance(random, 4) ? 8 * (size_t)random_below(random, 6) : 0);
  }
  uint32_t size = (uint32_t)metadata->size;
  if (!legacy) odd_put(&maker->stream, "\xff\xff\xff\xff", 4);
  odd_put(&maker->stream, &size, 4);
  odd_put(&maker->stream, metadata->data, metadata->size);
}

static void put_message(struct maker *maker, struct odd_flat *flat, int type,
                        struct odd_object *header, struct odd_bytes *body) {
  struct odd_bytes metadata = {0};
  struct odd_object *message = odd_table(flat);
  if (type != SCHEMA && odd_chance(&maker->random, 8))
    odd_put_random(body, &maker->random, 8 * (size_t)random_below(&maker->random, 4));
  odd_scalar(message, 0, 2, maker->is_v4 ? 3 : 4);
  odd_scalar(message, 1, 1, type);
  odd_child(message, 2, header);
  odd_scalar_or(flat, message, 3, 8, (int64_t)body->size, 0);
  if (odd_chance(&maker->random, 8)) odd_child(message, 4, odd_vector(flat, NULL, 0));
  if (odd_chance(&maker->random, 8)) odd_scalar(message, 7, 4, -7);
  odd_flat_finish(flat, message, &metadata);
  put_metadata(maker, &metadata);
  odd_put(&maker->stream, body->data, body->size);
  odd_bytes_free(&metadata);
  odd_bytes_free(body);
}

static struct odd_batch *new_batch(struct maker *maker) {
  struct odd_batch *batch = calloc(1, sizeof *batch);
  if (batch == NULL) abort();
  batch->random = &maker->random;
  batch->is_v4 = maker->is_v4;
  batch->lengths = maker->lengths;
  batch->compression = -1;
  if (maker->compressed && odd_chance(&maker->random, 2))
    batch->compression = (int)random_below(&maker->random, 2);
  return batch;
}

/* ---- Dictionaries ------------------------------------------------------------------------ */

static void put_dictionary(struct maker *maker, const struct odd_type *type, int64_t n,
                           bool is_delta) {
  struct odd_flat flat = {.random = &maker->random};
  struct odd_bytes body = {0};
  struct odd_batch *batch = new_batch(maker);
  odd_column(batch, type, n, true);
  struct odd_object *table = odd_table(&flat);
  odd_scalar_or(&flat, table, 0, 8, type->id, 0);
  odd_child(table, 1, odd_batch_finish(batch, &flat, n, &body));
  odd_scalar_or(&flat, table, 2, 1, is_delta, 0);
  put_message(maker, &flat, DICTIONARY, table, &body);
  free(batch);
}

/* Inner dictionaries first; each whole, replaced, or in pieces. */
static void put_dictionaries(struct maker *maker, struct odd_type *type) {
  struct test_random *random = &maker->random;
  for (int i = 0; i < type->n_children; i++) put_dictionaries(maker, type->children[i]);
  if (!type->has_dictionary || type->sent) return;
  type->sent = true;
  if (type->n_values == 0 && odd_chance(random, 2)) return;
  if (!maker->no_replacement && odd_chance(random, 5))
    put_dictionary(maker, type, random_below(random, 9), false);
  int64_t left = type->n_values;
  int64_t first = odd_chance(random, 3) ? random_below(random, left + 1) : left;
  put_dictionary(maker, type, first, false);
  for (left -= first; left > 0;) {
    int64_t more = 1 + random_below(random, left);
    put_dictionary(maker, type, more, true);
    left -= more;
  }
}

/* ---- The stream -------------------------------------------------------------------------- */

static void put_end(struct maker *maker) {
  static const uint8_t marker[12] = {255, 255, 255, 255};
  switch (random_below(&maker->random, 4)) {
    case 0:
      return;
    case 1:
      odd_put(&maker->stream, marker + 4, 4);
      return;
    case 2:
      odd_put(&maker->stream, marker + 4, 8);
      return;
    default:
      odd_put(&maker->stream, marker, 8);
  }
}

static void put_schema(struct maker *maker, struct odd_type *const *columns, int n) {
  struct odd_flat flat = {.random = &maker->random};
  struct odd_bytes body = {0};
  put_message(maker, &flat, SCHEMA, odd_schema(&flat, columns, n), &body);
}

static void put_batch(struct maker *maker, struct odd_type *const *columns, int n, int64_t rows) {
  struct odd_flat flat = {.random = &maker->random};
  struct odd_bytes body = {0};
  struct odd_batch *batch = new_batch(maker);
  for (int i = 0; i < n; i++) odd_column(batch, columns[i], rows, false);
  struct odd_object *table = odd_batch_finish(batch, &flat, rows, &body);
  put_message(maker, &flat, BATCH, table, &body);
  free(batch);
}

static void put_block(struct maker *maker, int codec, uint64_t columns, struct odd_bytes *out) {
  static const char tags[4][5] = {"NONE", "LZ4_", "ZSTD", "SNAP"};
  uint8_t tag[4];
  memcpy(tag, tags[codec], 4);
  if (maker->lengths) tag[0] |= 0x80;
  odd_put_zeros(out, 8);
  odd_put(out, &columns, 8);
  odd_put(out, tag, 4);
  odd_compress(&maker->random, codec, &maker->stream, out);
  uint64_t length = out->size - 8;
  memcpy(out->data, &length, 8);
}

void odd_block_make(const struct odd_options *options, struct odd_block *out) {
  struct maker maker = {.random = {options->seed}, .no_replacement = options->no_replacement};
  struct test_random *random = &maker.random;
  struct odd_type *columns[MAX_COLUMNS];
  struct odd_bytes block = {0};
  int n = odd_chance(random, 20) ? 0 : 1 + (int)random_below(random, MAX_COLUMNS - 1);
  int64_t rows = odd_chance(random, 12) ? 0 : random_below(random, options->large ? 3000 : 40);
  bool mapped = true;
  for (int i = 0; i < n; i++) {
    columns[i] = odd_type_random(random, options->large ? 1 : 3, options->late_types);
    mapped = mapped && odd_type_mapped(columns[i]);
  }
  maker.is_v4 = odd_chance(random, 4);
  maker.legacy = odd_chance(random, 4);
  maker.mixed = odd_chance(random, 2);
  maker.lengths = mapped && odd_chance(random, 3);
  maker.compressed = !maker.lengths && odd_chance(random, 6);
  put_schema(&maker, columns, n);
  for (int i = 0; i < n; i++) put_dictionaries(&maker, columns[i]);
  put_batch(&maker, columns, n, rows);
  put_end(&maker);
  int codec = options->plain_codec ? 0 : (int)random_below(random, 4);
  put_block(&maker, codec, (uint64_t)n, &block);
  for (int i = 0; i < n; i++) odd_type_free(columns[i]);
  odd_bytes_free(&maker.stream);
  *out = (struct odd_block){block.data, block.size};
}

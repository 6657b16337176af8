#include "ref/ref_int.h"

#define MAX_TABLES 1000000
#define MAX_DEPTH 64

static void visit(struct flat *flat, uint64_t at, uint64_t size) {
  ref_cut(flat->ref, flat->bytes, at, size, "metadata outside its buffer");
  flat->apparent += size;
  if (flat->apparent > (uint64_t)1 << 31) ref_refuse(flat->ref, "metadata too large in sum");
}

static uint64_t scalar_at(struct flat *flat, uint64_t at, size_t width) {
  if (at % width != 0) ref_refuse(flat->ref, "metadata not aligned");
  visit(flat, at, width);
  return ref_load(flat->bytes.data + at, width);
}

static struct flat_table table_at(struct flat *flat, uint64_t at, int depth) {
  if (depth > MAX_DEPTH || ++flat->tables > MAX_TABLES) ref_refuse(flat->ref, "too many tables");
  int32_t back = (int32_t)scalar_at(flat, at, 4);
  int64_t vtable = (int64_t)at - back;
  if (vtable < 0) ref_refuse(flat->ref, "vtable before the metadata");
  struct flat_table table = {.at = at, .vtable = (size_t)vtable, .depth = depth};
  table.vtable_size = scalar_at(flat, table.vtable, 2);
  if (table.vtable_size < 4 || table.vtable_size % 2 != 0) ref_refuse(flat->ref, "vtable size");
  visit(flat, table.vtable, table.vtable_size);
  table.inline_size = scalar_at(flat, table.vtable + 2, 2);
  if (table.inline_size < 4) ref_refuse(flat->ref, "table size");
  visit(flat, at, table.inline_size);
  return table;
}

/* Where the slot's field is; 0: absent. */
static size_t field_at(struct flat *flat, struct flat_table table, int slot, size_t width) {
  size_t entry = 4 + 2 * (size_t)slot;
  if (entry + 2 > table.vtable_size) return 0;
  size_t offset = ref_load(flat->bytes.data + table.vtable + entry, 2);
  if (offset == 0) return 0;
  if (offset < 4 || offset > table.inline_size || width > table.inline_size - offset)
    ref_refuse(flat->ref, "field outside its table");
  return table.at + offset;
}

int64_t flat_scalar(struct flat *flat, struct flat_table table, int slot, size_t width,
                    int64_t fallback) {
  size_t at = field_at(flat, table, slot, width);
  if (at == 0) return fallback;
  scalar_at(flat, at, width);
  return ref_load_signed(flat->bytes.data + at, width);
}

bool flat_has(struct flat *flat, struct flat_table table, int slot) {
  return field_at(flat, table, slot, 1) != 0;
}

/* Always forward. */
static uint64_t follow(struct flat *flat, uint64_t at) {
  uint64_t offset = scalar_at(flat, at, 4);
  if (offset == 0) ref_refuse(flat->ref, "an offset to itself");
  return at + offset;
}

/* What the offset in a slot points to; 0: absent. */
static uint64_t target(struct flat *flat, struct flat_table table, int slot) {
  size_t at = field_at(flat, table, slot, 4);
  return at == 0 ? 0 : follow(flat, at);
}

struct flat_table flat_root(struct flat *flat) {
  return table_at(flat, follow(flat, 0), 1);
}

struct flat_table flat_child(struct flat *flat, struct flat_table table, int slot) {
  uint64_t at = target(flat, table, slot);
  if (at == 0) ref_refuse(flat->ref, "a table is missing");
  return table_at(flat, at, table.depth + 1);
}

static struct flat_vector vector_at(struct flat *flat, uint64_t at, size_t element,
                                    size_t alignment) {
  struct flat_vector vector = {.at = at + 4, .count = scalar_at(flat, at, 4)};
  if (vector.at % alignment != 0) ref_refuse(flat->ref, "vector not aligned");
  visit(flat, vector.at, (uint64_t)vector.count * element);
  return vector;
}

struct flat_vector flat_vector(struct flat *flat, struct flat_table table, int slot, size_t element,
                               size_t alignment) {
  uint64_t at = target(flat, table, slot);
  return at == 0 ? (struct flat_vector){0} : vector_at(flat, at, element, alignment);
}

struct flat_table flat_element(struct flat *flat, struct flat_table parent,
                               struct flat_vector vector, size_t i) {
  size_t at = vector.at + 4 * i;
  return table_at(flat, follow(flat, at), parent.depth + 1);
}

bool ref_utf8(struct span text) {
  for (size_t i = 0; i < text.size;) {
    uint8_t lead = text.data[i++];
    if (lead < 0x80) continue;
    size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || text.size - i < more) return false;
    uint32_t point = lead & (0x3Fu >> more);
    for (size_t k = 0; k < more; k++) {
      if (text.data[i] >> 6 != 2) return false;
      point = point << 6 | (text.data[i++] & 0x3F);
    }
    if (point < (more == 3   ? 0x10000u
                 : more == 2 ? 0x800u
                             : 0x80u) ||
        point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
      return false;
  }
  return true;
}

struct span flat_string(struct flat *flat, struct flat_table table, int slot) {
  uint64_t at = target(flat, table, slot);
  if (at == 0) return (struct span){0};
  struct flat_vector vector = vector_at(flat, at, 1, 1);
  visit(flat, vector.at + vector.count, 1);
  struct span text = {flat->bytes.data + vector.at, vector.count};
  if (text.data[text.size] != 0) ref_refuse(flat->ref, "string without NUL");
  if (!ref_utf8(text)) ref_refuse(flat->ref, "string is not UTF-8");
  return text;
}

void flat_check_metadata(struct flat *flat, struct flat_table table, int slot) {
  struct flat_vector pairs = flat_vector(flat, table, slot, 4, 4);
  for (size_t i = 0; i < pairs.count; i++) {
    struct flat_table pair = flat_element(flat, table, pairs, i);
    flat_string(flat, pair, 0);
    flat_string(flat, pair, 1);
  }
}

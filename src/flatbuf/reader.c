#include "flatbuf/reader.h"

bool flatbuf_fail(struct flatbuf *reader, int site, size_t at, const char *what) {
  (void)error_at(reader->error, ASHUF_BAD_METADATA, site, reader->offset + at, "metadata: %s",
                 what);
  return false;
}

void flatbuf_init(struct flatbuf *reader, const uint8_t *data, size_t size, uint64_t offset,
                  struct ashuf_error *error) {
  reader->data = data;
  reader->size = size;
  reader->offset = offset;
  reader->bytes_left = (uint64_t)size * 4 + 256;
  reader->tables_left = size / 4;
  reader->error = error;
}

static inline bool charge(struct flatbuf *reader, size_t at, uint64_t bytes) {
  if (bytes > reader->bytes_left)
    return flatbuf_fail(reader, SITE_FLATBUF_BYTE_BUDGET, at, "objects are shared too often");
  reader->bytes_left -= bytes;
  return true;
}

/* Where the offset at a checked position leads: at least 4 bytes are there. */
static inline bool follow(struct flatbuf *reader, size_t at, size_t *target) {
  size_t distance = load_u32(reader->data + at);
  *target = at + distance;
  if (distance < 4 || !range_inside(*target, 4, reader->size) || (*target & 3) != 0)
    return flatbuf_fail(reader, SITE_FLATBUF_OFFSET, at, "offset out of range");
  return true;
}

/* The table at a position that follow gave. */
static inline bool open_table(struct flatbuf *reader, size_t at, struct flatbuf_table *out) {
  if (reader->tables_left == 0)
    return flatbuf_fail(reader, SITE_FLATBUF_TABLE_BUDGET, at, "too many tables");
  reader->tables_left--;
  int64_t vtable = (int64_t)at - load_i32(reader->data + at);
  if (vtable < 0 || !range_inside((uint64_t)vtable, 4, reader->size) || (vtable & 1) != 0)
    return flatbuf_fail(reader, SITE_FLATBUF_VTABLE, at, "vtable outside the metadata");
  const uint8_t *bytes = reader->data + vtable;
  uint16_t vtable_size = load_u16(bytes);
  uint16_t inline_size = load_u16(bytes + 2);
  if (vtable_size < 4 || (vtable_size & 1) != 0 ||
      !range_inside((uint64_t)vtable, vtable_size, reader->size))
    return flatbuf_fail(reader, SITE_FLATBUF_VTABLE, (size_t)vtable, "bad vtable length");
  if (inline_size < 4 || !range_inside(at, inline_size, reader->size))
    return flatbuf_fail(reader, SITE_FLATBUF_TABLE, at, "table outside the metadata");
  out->at = at;
  out->slots = bytes + 4;
  out->n_slots = (uint16_t)((vtable_size - 4) / 2);
  out->inline_size = inline_size;
  return charge(reader, at, (uint64_t)vtable_size + inline_size);
}

bool flatbuf_root(struct flatbuf *reader, struct flatbuf_table *out) {
  size_t at;
  if (reader->size < 8 || reader->size > INT32_MAX)
    return flatbuf_fail(reader, SITE_FLATBUF_SIZE, 0, "no room for a message");
  return follow(reader, 0, &at) && open_table(reader, at, out);
}

bool flatbuf_table(struct flatbuf *reader, const struct flatbuf_table *table, unsigned slot,
                   struct flatbuf_table *out) {
  size_t at;
  if (!flatbuf_slot(reader, table, slot, 4, &at)) return false;
  if (at == 0) {
    memset(out, 0, sizeof *out);
    return true;
  }
  return follow(reader, at, &at) && open_table(reader, at, out);
}

bool flatbuf_vector(struct flatbuf *reader, const struct flatbuf_table *table, unsigned slot,
                    size_t element_size, size_t alignment, struct flatbuf_vector *out) {
  size_t at;
  if (!flatbuf_slot(reader, table, slot, 4, &at)) return false;
  memset(out, 0, sizeof *out);
  if (at == 0) return true;
  if (!follow(reader, at, &at)) return false;
  uint32_t count = load_u32(reader->data + at);
  uint64_t bytes = (uint64_t)count * element_size; /* at most 2^32 * 16 */
  size_t first = at + 4;
  if (!range_inside(first, bytes, reader->size))
    return flatbuf_fail(reader, SITE_FLATBUF_VECTOR, at, "vector outside the metadata");
  if ((first & (alignment - 1)) != 0)
    return flatbuf_fail(reader, SITE_FLATBUF_VECTOR, at, "vector elements are not aligned");
  out->data = reader->data + first;
  out->at = first;
  out->count = count;
  return charge(reader, at, bytes + 4);
}

bool flatbuf_vector_table(struct flatbuf *reader, const struct flatbuf_vector *vector, uint32_t i,
                          struct flatbuf_table *out) {
  size_t at;
  return follow(reader, vector->at + 4 * (size_t)i, &at) && open_table(reader, at, out);
}

bool flatbuf_text(struct flatbuf *reader, const struct flatbuf_table *table, unsigned slot,
                  struct flatbuf_text *out) {
  size_t at;
  if (!flatbuf_slot(reader, table, slot, 4, &at)) return false;
  memset(out, 0, sizeof *out);
  if (at == 0) return true;
  if (!follow(reader, at, &at)) return false;
  size_t length = load_u32(reader->data + at);
  size_t first = at + 4;
  if (!range_inside(first, length, reader->size))
    return flatbuf_fail(reader, SITE_FLATBUF_TEXT, at, "string outside the metadata");
  if (!range_inside(first + length, 1, reader->size) || reader->data[first + length] != 0)
    return flatbuf_fail(reader, SITE_FLATBUF_NUL, at, "string without a NUL at its end");
  if (!charge(reader, at, length + 5)) return false;
  if (!flatbuf_is_utf8(reader->data + first, length))
    return flatbuf_fail(reader, SITE_FLATBUF_UTF8, first, "string is not UTF-8");
  out->data = (const char *)(reader->data + first);
  out->size = length;
  return true;
}

bool flatbuf_union(struct flatbuf *reader, const struct flatbuf_table *table, unsigned type_slot,
                   uint8_t last_type, uint8_t *type, struct flatbuf_table *out) {
  size_t type_at;
  size_t value_at;
  if (!flatbuf_slot(reader, table, type_slot, 1, &type_at) ||
      !flatbuf_slot(reader, table, type_slot + 1, 4, &value_at))
    return false;
  if ((type_at == 0) != (value_at == 0))
    return flatbuf_fail(reader, SITE_FLATBUF_UNION, table->at, "half a union");
  *type = type_at == 0 ? 0 : reader->data[type_at];
  memset(out, 0, sizeof *out);
  if (*type == 0 || *type > last_type) return true;
  return follow(reader, value_at, &value_at) && open_table(reader, value_at, out);
}

/* Bytes of the sequence that bytes[0] >= 0x80 starts, 0 where it is none. */
static size_t utf8_sequence(const uint8_t *bytes, size_t left) {
  uint8_t lead = bytes[0];
  size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead < 0xc2 || lead > 0xf4 || length > left) return 0;
  for (size_t i = 1; i < length; i++)
    if ((bytes[i] & 0xc0) != 0x80) return 0;
  uint8_t second = bytes[1];
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
    return 0;
  return length;
}

bool flatbuf_is_utf8(const uint8_t *bytes, size_t size) {
  size_t i = 0;
  while (i < size) {
    if (size - i >= 8 && (load_u64(bytes + i) & 0x8080808080808080u) == 0) {
      i += 8;
    } else if (bytes[i] < 0x80) {
      i++;
    } else {
      size_t length = utf8_sequence(bytes + i, size - i);
      if (length == 0) return false;
      i += length;
    }
  }
  return true;
}

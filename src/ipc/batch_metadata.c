#include "ipc/metadata.h"

#include "ipc/metadata_int.h"

/*
 * The metadata of a record or dictionary batch, written straight to its place.
 *
 * The Rust builder grows from the end, so that addresses here count from the end: an object's
 * address is the distance from its first byte to the end. From low positions to high:
 *
 *   root offset | pad | Message vtable | Message | [DictionaryBatch vtable | DictionaryBatch] |
 *   RecordBatch vtable | RecordBatch | [variadic counts | pad] | nodes | pad | buffers
 *
 * Tables hold their fields with the first one written at the highest position. Scalars equal to
 * their default (0) are left out. No two of these vtables can be equal, so none is shared: those
 * of RecordBatch have 10 bytes and no slot 0 at 10, or 14; Message 10 with slot 0 at 10, or 12;
 * DictionaryBatch 8. test_metadata_write.c compares with the builder.
 */
struct layout {
  size_t buffers; /* vectors: the address of the count */
  size_t nodes;
  size_t variadic; /* 0: none */
  size_t batch;    /* tables: the address of the offset to the vtable */
  size_t batch_tail;
  size_t batch_length; /* fields: their address, 0 where left out */
  size_t batch_nodes;
  size_t batch_buffers;
  size_t batch_variadic;
  size_t dictionary; /* 0: none */
  size_t dictionary_tail;
  size_t dictionary_id;
  size_t dictionary_data;
  size_t message;
  size_t message_tail;
  size_t message_version;
  size_t message_type;
  size_t message_body;
  size_t message_header;
  size_t total;
};

#define BATCH_VTABLE 10
#define BATCH_VTABLE_VARIADIC 14
#define DICTIONARY_VTABLE 8
#define MESSAGE_VTABLE 10
#define MESSAGE_VTABLE_BODY 12

/* The address of size more bytes, aligned to alignment. */
static size_t put(size_t *used, size_t size, size_t alignment) {
  *used = (*used + size + alignment - 1) & ~(alignment - 1);
  return *used;
}

/* The address of a vector of n elements of size bytes that are aligned to 8. */
static size_t put_vector(size_t *used, size_t n, size_t size) {
  (void)put(used, n * size, 8);
  return *used += 4;
}

static void lay_batch(const struct batch_metadata *batch, struct layout *layout, size_t *used) {
  layout->batch_tail = *used;
  layout->batch_length = batch->length == 0 ? 0 : put(used, 8, 8);
  layout->batch_nodes = put(used, 4, 4);
  layout->batch_buffers = put(used, 4, 4);
  layout->batch_variadic = batch->n_variadic == 0 ? 0 : put(used, 4, 4);
  layout->batch = put(used, 4, 4);
  *used += batch->n_variadic == 0 ? BATCH_VTABLE : BATCH_VTABLE_VARIADIC;
}

static void lay_dictionary(const struct batch_metadata *batch, struct layout *layout,
                           size_t *used) {
  layout->dictionary_tail = *used;
  layout->dictionary_id = batch->dictionary_id == 0 ? 0 : put(used, 8, 8);
  layout->dictionary_data = put(used, 4, 4);
  layout->dictionary = put(used, 4, 4);
  *used += DICTIONARY_VTABLE;
}

static void lay_message(const struct batch_metadata *batch, struct layout *layout, size_t *used) {
  layout->message_tail = *used;
  layout->message_version = put(used, 2, 2);
  layout->message_type = put(used, 1, 1);
  layout->message_body = batch->body_length == 0 ? 0 : put(used, 8, 8);
  layout->message_header = put(used, 4, 4);
  layout->message = put(used, 4, 4);
  *used += batch->body_length == 0 ? MESSAGE_VTABLE : MESSAGE_VTABLE_BODY;
}

static void lay_out(const struct batch_metadata *batch, struct layout *layout) {
  size_t used = 0;
  memset(layout, 0, sizeof *layout);
  layout->buffers = put_vector(&used, batch->n_buffers, sizeof(struct ipc_buffer));
  layout->nodes = put_vector(&used, batch->n_nodes, sizeof(struct ipc_node));
  if (batch->n_variadic != 0)
    layout->variadic = put_vector(&used, batch->n_variadic, sizeof(int64_t));
  lay_batch(batch, layout, &used);
  if (batch->is_dictionary) lay_dictionary(batch, layout, &used);
  lay_message(batch, layout, &used);
  layout->total = put(&used, 4, 8); /* the root offset; 8: of the vectors above */
}

/* ---- Writing ----------------------------------------------------------------------------- */

struct writer {
  uint8_t *end; /* addresses count back from here */
};

static void write_vector(const struct writer *writer, size_t address, const void *elements,
                         uint32_t n, size_t size) {
  uint8_t *at = writer->end - address;
  store_u32(at, n);
  if (n != 0) memcpy(at + 4, elements, n * size);
}

static void write_i64(const struct writer *writer, size_t address, int64_t value) {
  if (address != 0) store_u64(writer->end - address, (uint64_t)value);
}

static void write_offset(const struct writer *writer, size_t address, size_t target) {
  if (address != 0) store_u32(writer->end - address, (uint32_t)(address - target));
}

/* The vtable in front of a table: its size, that of the table, then the given fields. */
static void write_vtable(const struct writer *writer, size_t table, size_t tail, size_t size,
                         const size_t *fields) {
  uint8_t *at = writer->end - table;
  store_u32(at, (uint32_t)size);
  at -= size;
  store_u16(at, (uint16_t)size);
  store_u16(at + 2, (uint16_t)(table - tail));
  for (size_t i = 0; i < (size - 4) / 2; i++)
    store_u16(at + 4 + 2 * i, (uint16_t)(fields[i] == 0 ? 0 : table - fields[i]));
}

static void write_batch(const struct writer *writer, const struct batch_metadata *batch,
                        const struct layout *layout) {
  const size_t fields[] = {layout->batch_length, layout->batch_nodes, layout->batch_buffers, 0,
                           layout->batch_variadic};
  write_vector(writer, layout->buffers, batch->buffers, batch->n_buffers,
               sizeof(struct ipc_buffer));
  write_vector(writer, layout->nodes, batch->nodes, batch->n_nodes, sizeof(struct ipc_node));
  if (layout->variadic != 0)
    write_vector(writer, layout->variadic, batch->variadic, batch->n_variadic, sizeof(int64_t));
  write_i64(writer, layout->batch_length, batch->length);
  write_offset(writer, layout->batch_nodes, layout->nodes);
  write_offset(writer, layout->batch_buffers, layout->buffers);
  write_offset(writer, layout->batch_variadic, layout->variadic);
  write_vtable(writer, layout->batch, layout->batch_tail,
               layout->variadic == 0 ? BATCH_VTABLE : BATCH_VTABLE_VARIADIC, fields);
}

static void write_dictionary(const struct writer *writer, const struct batch_metadata *batch,
                             const struct layout *layout) {
  const size_t fields[] = {layout->dictionary_id, layout->dictionary_data};
  write_i64(writer, layout->dictionary_id, batch->dictionary_id);
  write_offset(writer, layout->dictionary_data, layout->batch);
  write_vtable(writer, layout->dictionary, layout->dictionary_tail, DICTIONARY_VTABLE, fields);
}

static void write_message(const struct writer *writer, const struct batch_metadata *batch,
                          const struct layout *layout) {
  const size_t fields[] = {layout->message_version, layout->message_type, layout->message_header,
                           layout->message_body};
  store_u16(writer->end - layout->message_version, METADATA_V5);
  *(writer->end - layout->message_type) = batch->is_dictionary ? MESSAGE_DICTIONARY : MESSAGE_BATCH;
  write_i64(writer, layout->message_body, batch->body_length);
  write_offset(writer, layout->message_header,
               batch->is_dictionary ? layout->dictionary : layout->batch);
  write_vtable(writer, layout->message, layout->message_tail,
               layout->message_body == 0 ? MESSAGE_VTABLE : MESSAGE_VTABLE_BODY, fields);
}

size_t batch_metadata_size(const struct batch_metadata *batch) {
  struct layout layout;
  lay_out(batch, &layout);
  return layout.total;
}

void batch_metadata_write(const struct batch_metadata *batch, uint8_t *out) {
  struct layout layout;
  lay_out(batch, &layout);
  struct writer writer = {out + layout.total};
  /* Zeros for the padding of the tables, and of the vectors: 4 bytes behind nodes and counts. */
  memset(out, 0, layout.total - layout.batch_tail);
  memset(writer.end - layout.buffers - 4, 0, 4);
  if (layout.variadic != 0) memset(writer.end - layout.nodes - 4, 0, 4);
  write_batch(&writer, batch, &layout);
  if (batch->is_dictionary) write_dictionary(&writer, batch, &layout);
  write_message(&writer, batch, &layout);
  write_offset(&writer, layout.total, layout.message);
}

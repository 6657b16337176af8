#include "ref/ref_int.h"

#include <stdlib.h>

#define MOST_MEMORY ((size_t)192 << 20)

struct ref_chunk {
  struct ref_chunk *next;
};

_Noreturn void ref_refuse(struct ref *ref, const char *reason) {
  ref->result->outcome = REF_REFUSED;
  ref->result->reason = reason;
  longjmp(ref->out, 1);
}

static _Noreturn void too_large(struct ref *ref) {
  ref->result->outcome = REF_TOO_LARGE;
  ref->result->reason = "too large";
  longjmp(ref->out, 1);
}

void *ref_alloc(struct ref *ref, size_t n, size_t size) {
  if (size != 0 && n > MOST_MEMORY / size) too_large(ref);
  size_t all = sizeof(struct ref_chunk) + n * size + 16;
  if (all > MOST_MEMORY - ref->used) too_large(ref);
  ref->used += all;
  struct ref_chunk *chunk = calloc(1, all);
  if (chunk == NULL) abort();
  chunk->next = ref->result->chunks;
  ref->result->chunks = chunk;
  return (uint8_t *)chunk + 16;
}

struct span ref_cut(struct ref *ref, struct span from, uint64_t offset, uint64_t size,
                    const char *reason) {
  if (size > from.size || offset > from.size - size) ref_refuse(ref, reason);
  return (struct span){from.data + offset, (size_t)size};
}

/* ---- Messages ---------------------------------------------------------------------------- */

enum { SCHEMA = 1, DICTIONARY = 2, BATCH = 3 };

struct message {
  struct flat flat;
  struct flat_table table;
  int type; /* 0: an end marker, or the end of the data */
  bool is_v4;
  struct span body;
};

struct decoding {
  struct ref *ref;
  struct span rest; /* of the stream */
  struct ref_schema schema;
  struct ref_dictionary *dictionaries;
  bool lengths;
};

static uint32_t next_word(struct decoding *decoding) {
  struct span word = ref_cut(decoding->ref, decoding->rest, 0, 4, "cut prefix");
  decoding->rest.data += 4;
  decoding->rest.size -= 4;
  return (uint32_t)ref_load(word.data, 4);
}

/* The metadata size; 0 at an end marker, of which all words are taken, or at the end. */
static uint32_t next_size(struct decoding *decoding) {
  if (decoding->rest.size == 0) return 0;
  uint32_t word = next_word(decoding);
  bool is_legacy = word != UINT32_MAX;
  if (!is_legacy) word = next_word(decoding);
  if (word > INT32_MAX) ref_refuse(decoding->ref, "negative metadata size");
  if (is_legacy && word == 0 && decoding->rest.size == 4 && ref_load(decoding->rest.data, 4) == 0)
    next_word(decoding);
  return word;
}

static struct span next_bytes(struct decoding *decoding, uint64_t size, const char *reason) {
  struct span bytes = ref_cut(decoding->ref, decoding->rest, 0, size, reason);
  decoding->rest.data += bytes.size;
  decoding->rest.size -= bytes.size;
  return bytes;
}

static struct message next_message(struct decoding *decoding) {
  struct message message = {.flat.ref = decoding->ref};
  uint32_t size = next_size(decoding);
  if (size == 0) return message;
  message.flat.bytes = next_bytes(decoding, size, "cut metadata");
  struct flat *flat = &message.flat;
  message.table = flat_root(flat);
  int64_t version = flat_scalar(flat, message.table, 0, 2, 0);
  if (version != 3 && version != 4) ref_refuse(decoding->ref, "metadata version");
  message.is_v4 = version == 3;
  message.type = (uint8_t)flat_scalar(flat, message.table, 1, 1, 0);
  if (message.type < SCHEMA || message.type > BATCH) ref_refuse(decoding->ref, "message type");
  int64_t body = flat_scalar(flat, message.table, 3, 8, 0);
  flat_check_metadata(flat, message.table, 4);
  if (body < 0) ref_refuse(decoding->ref, "negative body length");
  message.body = next_bytes(decoding, (uint64_t)body, "cut body");
  return message;
}

/* ---- Batches ----------------------------------------------------------------------------- */

static struct span vector_span(struct flat *flat, struct flat_table table, int slot, size_t size) {
  struct flat_vector vector = flat_vector(flat, table, slot, size, size == 8 ? 8 : 1);
  return (struct span){flat->bytes.data + vector.at, vector.count * size};
}

static struct ref_batch open_batch(struct decoding *decoding, struct message *message,
                                   struct flat_table table, int64_t *length) {
  struct flat *flat = &message->flat;
  struct ref_batch batch = {.ref = decoding->ref,
                            .body = message->body,
                            .compression = -1,
                            .is_v4 = message->is_v4,
                            .dictionaries = decoding->dictionaries,
                            .lengths = decoding->lengths};
  *length = flat_scalar(flat, table, 0, 8, 0);
  if (*length < 0) ref_refuse(decoding->ref, "negative batch length");
  batch.nodes = vector_span(flat, table, 1, 16);
  batch.buffers = vector_span(flat, table, 2, 16);
  batch.variadic = vector_span(flat, table, 4, 8);
  if (flat_has(flat, table, 3)) {
    struct flat_table compression = flat_child(flat, table, 3);
    batch.compression = (int)flat_scalar(flat, compression, 0, 1, 0);
    if (flat_scalar(flat, compression, 1, 1, 0) != 0 || batch.compression < 0 ||
        batch.compression > 1)
      ref_refuse(decoding->ref, "body compression");
    if (decoding->lengths) ref_refuse(decoding->ref, "lengths with body compression");
  }
  return batch;
}

static void close_batch(const struct ref_batch *batch) {
  if (batch->nodes.size != 0 || batch->buffers.size != 0 || batch->variadic.size != 0)
    ref_refuse(batch->ref, "too many nodes, buffers or variadic counts");
}

static void append_values(struct ref *ref, struct ref_column *to, const struct ref_column *more) {
  struct ref_column all = {to->n + more->n, NULL};
  all.text = ref_alloc(ref, (size_t)all.n, sizeof *all.text);
  if (to->n != 0) memcpy(all.text, to->text, (size_t)to->n * sizeof *all.text);
  if (more->n != 0) memcpy(all.text + to->n, more->text, (size_t)more->n * sizeof *all.text);
  *to = all;
}

static void read_dictionary(struct decoding *decoding, struct message *message) {
  struct ref *ref = decoding->ref;
  struct flat_table table = flat_child(&message->flat, message->table, 2);
  int64_t id = flat_scalar(&message->flat, table, 0, 8, 0);
  bool is_delta = flat_scalar(&message->flat, table, 2, 1, 0) != 0;
  const struct ref_field *field =
      ref_find_dictionary(decoding->schema.columns, decoding->schema.n_columns, id);
  if (field == NULL) ref_refuse(ref, "dictionary of no field");
  int64_t length;
  struct flat_table data = flat_child(&message->flat, table, 1);
  ref->result->in_dictionary = 1;
  struct ref_batch batch = open_batch(decoding, message, data, &length);
  struct ref_column values = ref_read_column(&batch, field, true);
  close_batch(&batch);
  ref->result->in_dictionary = 0;
  if (values.n != length) ref_refuse(ref, "length of a dictionary");
  struct ref_dictionary *one = decoding->dictionaries;
  while (one != NULL && one->id != id) one = one->next;
  if (one == NULL) {
    if (is_delta) ref_refuse(ref, "delta of nothing");
    one = ref_alloc(ref, 1, sizeof *one);
    one->id = id;
    one->next = decoding->dictionaries;
    decoding->dictionaries = one;
  }
  if (!is_delta) one->values = (struct ref_column){0, NULL};
  append_values(ref, &one->values, &values);
}

static void read_batch(struct decoding *decoding, struct message *message) {
  struct ref_result *result = decoding->ref->result;
  size_t n = decoding->schema.n_columns;
  const char *const **text = ref_alloc(decoding->ref, n, sizeof *text);
  struct flat_table table = flat_child(&message->flat, message->table, 2);
  struct ref_batch batch = open_batch(decoding, message, table, &result->rows);
  for (size_t i = 0; i < n; i++) {
    struct ref_column column = ref_read_column(&batch, &decoding->schema.columns[i], false);
    if (column.n != result->rows) ref_refuse(decoding->ref, "length of a column");
    text[i] = column.text;
  }
  close_batch(&batch);
  result->columns = (int64_t)n;
  result->text = text;
}

static void read_stream(struct decoding *decoding, uint64_t columns) {
  struct message message = next_message(decoding);
  if (message.type != SCHEMA) ref_refuse(decoding->ref, "no schema first");
  if (message.body.size != 0) ref_refuse(decoding->ref, "schema with a body");
  ref_read_schema(&message.flat, message.table, &decoding->schema);
  if (decoding->schema.n_columns != columns) ref_refuse(decoding->ref, "field count");
  if (decoding->lengths && ref_has_unmapped(decoding->schema.columns, decoding->schema.n_columns))
    ref_refuse(decoding->ref, "lengths of an unmapped layout");
  for (;;) {
    message = next_message(decoding);
    if (message.type != DICTIONARY) break;
    read_dictionary(decoding, &message);
  }
  if (message.type != BATCH) ref_refuse(decoding->ref, "no batch");
  read_batch(decoding, &message);
  if (next_message(decoding).type != 0) ref_refuse(decoding->ref, "message after the batch");
  if (decoding->rest.size != 0) ref_refuse(decoding->ref, "bytes after the end");
}

static void read_block(struct ref *ref, struct span block) {
  ref_cut(ref, block, 0, 20, "no header");
  uint64_t length = ref_load(block.data, 8);
  if (length < 12 || length > (uint64_t)INT32_MAX + 8 || length != block.size - 8)
    ref_refuse(ref, "block length");
  char tag[4];
  memcpy(tag, block.data + 16, 4);
  struct decoding decoding = {.ref = ref, .lengths = (tag[0] & 0x80) != 0};
  tag[0] = (char)(tag[0] & 0x7F);
  decoding.rest = ref_decompress(ref, tag, (struct span){block.data + 20, block.size - 20});
  read_stream(&decoding, ref_load(block.data + 8, 8));
}

void ref_decode(const uint8_t *block, size_t size, struct ref_result *out) {
  memset(out, 0, sizeof *out);
  struct ref ref = {.result = out};
  if (setjmp(ref.out) == 0) {
    read_block(&ref, (struct span){block, size});
    out->outcome = REF_ROWS;
  }
}

void ref_result_free(struct ref_result *result) {
  while (result->chunks != NULL) {
    struct ref_chunk *next = result->chunks->next;
    free(result->chunks);
    result->chunks = next;
  }
}

/*
 * Message metadata: FlatBuffers in, FlatBuffers out.
 *
 * Reading verifies as it reads (src/flatbuf) and hands out pointers into the metadata, which must
 * outlive them. Writing reproduces the bytes of the Rust builder as arrow-rs drives it.
 * docs/FORMAT.md, "Metadata".
 */
#ifndef ASHUF_IPC_METADATA_H
#define ASHUF_IPC_METADATA_H

#include "arrow/schema.h"

enum message_type {
  MESSAGE_SCHEMA = 1,
  MESSAGE_DICTIONARY = 2,
  MESSAGE_BATCH = 3,
  MESSAGE_TENSOR = 4,
  MESSAGE_SPARSE_TENSOR = 5
};

enum { METADATA_V4 = 3, METADATA_V5 = 4 };

/* FieldNode and Buffer of Message.fbs, as they stand in the metadata (maybe unaligned there). */
struct ipc_node {
  int64_t length;
  int64_t null_count;
};
struct ipc_buffer {
  int64_t offset;
  int64_t length;
};

enum body_compression { BODY_PLAIN = -1, BODY_LZ4 = 0, BODY_ZSTD = 1 };

/* The RecordBatch table of a batch or dictionary message. */
struct batch_header {
  int64_t length;
  const uint8_t *nodes;    /* n_nodes struct ipc_node, unaligned: load with memcpy */
  const uint8_t *buffers;  /* n_buffers struct ipc_buffer */
  const uint8_t *variadic; /* n_variadic int64_t */
  uint32_t n_nodes;
  uint32_t n_buffers;
  uint32_t n_variadic;
  int compression;       /* enum body_compression */
  int64_t dictionary_id; /* dictionary messages */
  bool is_delta;
};

struct message {
  enum message_type type;
  int version;         /* METADATA_V4 or METADATA_V5 */
  int64_t body_length; /* >= 0 */
  uint64_t offset;     /* of the metadata, in the stream */
  const uint8_t *metadata;
  size_t metadata_size;
  struct batch_header batch; /* dictionary and batch messages */
};

/*
 * Verifies one message: the root, and everything below it except the Schema table, which
 * schema_read reads. offset: of the first metadata byte in the stream, for errors.
 * Errors: BAD_METADATA; body_length < 0 is BAD_FRAMING.
 */
ashuf_status message_read(const uint8_t *metadata, size_t size, uint64_t offset,
                          struct message *out, struct ashuf_error *error);

/*
 * The schema of a schema message that message_read took. Errors: BAD_METADATA, BAD_SCHEMA,
 * UNSUPPORTED_TYPE, BIG_ENDIAN.
 */
ashuf_status schema_read(const struct message *message, ashuf_memory *memory, ashuf_schema **out,
                         struct ashuf_error *error);

/* ---- Writing ----------------------------------------------------------------------------- */

/* The schema's message, encoded on the first call by any thread and kept by the schema. */
ashuf_status schema_message_get(const ashuf_schema *schema, const struct schema_message **out,
                                struct ashuf_error *error);

/* What a record batch or dictionary batch message says. */
struct batch_metadata {
  bool is_dictionary;
  int64_t dictionary_id;
  int64_t length;
  int64_t body_length;
  const struct ipc_node *nodes;
  const struct ipc_buffer *buffers;
  const int64_t *variadic;
  uint32_t n_nodes;
  uint32_t n_buffers;
  uint32_t n_variadic;
};

/* Bytes of the flatbuffer, and the flatbuffer itself into out (that many bytes, every one
 * written). No allocation: the layout is fixed once the counts are. */
size_t batch_metadata_size(const struct batch_metadata *batch);
void batch_metadata_write(const struct batch_metadata *batch, uint8_t *out);

#endif /* ASHUF_IPC_METADATA_H */

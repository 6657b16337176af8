#include "ipc/metadata.h"

#include "ipc/metadata_int.h"

bool metadata_pair(struct flatbuf *reader, const struct flatbuf_vector *pairs, uint32_t i,
                   struct flatbuf_text *key, struct flatbuf_text *value) {
  struct flatbuf_table pair;
  return flatbuf_vector_table(reader, pairs, i, &pair) &&
         flatbuf_text(reader, &pair, PAIR_KEY, key) &&
         flatbuf_text(reader, &pair, PAIR_VALUE, value);
}

/* Message.custom_metadata has no use, but is verified as everything is. */
static bool check_message_pairs(struct flatbuf *reader, const struct flatbuf_table *message) {
  struct flatbuf_vector pairs;
  if (!flatbuf_vector(reader, message, MESSAGE_METADATA, 4, 4, &pairs)) return false;
  for (uint32_t i = 0; i < pairs.count; i++) {
    struct flatbuf_text key;
    struct flatbuf_text value;
    if (!metadata_pair(reader, &pairs, i, &key, &value)) return false;
  }
  return true;
}

static bool read_compression(struct flatbuf *reader, const struct flatbuf_table *batch, int *out) {
  struct flatbuf_table compression;
  uint8_t codec;
  uint8_t method;
  *out = BODY_PLAIN;
  if (!flatbuf_table(reader, batch, BATCH_COMPRESSION, &compression)) return false;
  if (compression.at == 0) return true;
  if (!flatbuf_u8(reader, &compression, COMPRESSION_CODEC, 0, &codec) ||
      !flatbuf_u8(reader, &compression, COMPRESSION_METHOD, 0, &method))
    return false;
  if (codec > BODY_ZSTD || method != 0)
    return flatbuf_fail(reader, SITE_IPC_COMPRESSION, compression.at, "unknown body compression");
  *out = codec;
  return true;
}

static bool read_batch(struct flatbuf *reader, const struct flatbuf_table *batch,
                       struct batch_header *out) {
  struct flatbuf_vector nodes;
  struct flatbuf_vector buffers;
  struct flatbuf_vector variadic;
  if (!flatbuf_i64(reader, batch, BATCH_LENGTH, 0, &out->length) ||
      !flatbuf_vector(reader, batch, BATCH_NODES, sizeof(struct ipc_node), 1, &nodes) ||
      !flatbuf_vector(reader, batch, BATCH_BUFFERS, sizeof(struct ipc_buffer), 1, &buffers) ||
      !read_compression(reader, batch, &out->compression) ||
      !flatbuf_vector(reader, batch, BATCH_VARIADIC, 8, 8, &variadic))
    return false;
  out->nodes = nodes.data;
  out->buffers = buffers.data;
  out->variadic = variadic.data;
  out->n_nodes = nodes.count;
  out->n_buffers = buffers.count;
  out->n_variadic = variadic.count;
  return true;
}

static bool read_dictionary(struct flatbuf *reader, const struct flatbuf_table *dictionary,
                            struct batch_header *out) {
  struct flatbuf_table batch;
  if (!flatbuf_i64(reader, dictionary, DICTIONARY_ID, 0, &out->dictionary_id) ||
      !flatbuf_table(reader, dictionary, DICTIONARY_DATA, &batch) ||
      !flatbuf_bool(reader, dictionary, DICTIONARY_IS_DELTA, &out->is_delta))
    return false;
  if (batch.at == 0)
    return flatbuf_fail(reader, SITE_IPC_DICTIONARY_DATA, dictionary->at,
                        "a dictionary batch without data");
  return read_batch(reader, &batch, out);
}

static bool read_header(struct flatbuf *reader, const struct flatbuf_table *root,
                        struct message *out) {
  struct flatbuf_table header;
  uint8_t type;
  if (!flatbuf_union(reader, root, MESSAGE_HEADER_TYPE, MESSAGE_SPARSE_TENSOR, &type, &header))
    return false;
  if (header.at == 0)
    return flatbuf_fail(reader, SITE_IPC_HEADER, root->at,
                        type == 0 ? "a message without header" : "a message of unknown type");
  out->type = (enum message_type)type;
  if (type == MESSAGE_BATCH) return read_batch(reader, &header, &out->batch);
  if (type == MESSAGE_DICTIONARY) return read_dictionary(reader, &header, &out->batch);
  return true;
}

ashuf_status message_read(const uint8_t *metadata, size_t size, uint64_t offset,
                          struct message *out, struct ashuf_error *error) {
  struct flatbuf reader;
  struct flatbuf_table root;
  struct message own;
  int16_t version;
  memset(&own, 0, sizeof own);
  flatbuf_init(&reader, metadata, size, offset, error);
  if (!flatbuf_root(&reader, &root) || !flatbuf_i16(&reader, &root, MESSAGE_VERSION, 0, &version) ||
      !flatbuf_i64(&reader, &root, MESSAGE_BODY_LENGTH, 0, &own.body_length))
    return ASHUF_BAD_METADATA;
  if (version != METADATA_V4 && version != METADATA_V5)
    return error_at(error, ASHUF_BAD_METADATA, SITE_IPC_VERSION, offset + root.at,
                    "metadata: version V%d is neither V4 nor V5", version + 1);
  if (!read_header(&reader, &root, &own) || !check_message_pairs(&reader, &root))
    return ASHUF_BAD_METADATA;
  if (own.body_length < 0)
    return error_at(error, ASHUF_BAD_FRAMING, SITE_IPC_BODY_LENGTH, offset + root.at,
                    "negative body length %lld", (long long)own.body_length);
  own.version = version;
  own.offset = offset;
  own.metadata = metadata;
  own.metadata_size = size;
  *out = own;
  return ASHUF_OK;
}

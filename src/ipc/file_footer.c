#include "ipc/file_footer.h"

#include "base/bytes.h"
#include "ipc/metadata_int.h"

enum footer_slot {
  FOOTER_VERSION,
  FOOTER_SCHEMA,
  FOOTER_DICTIONARIES,
  FOOTER_BATCHES,
  FOOTER_METADATA
};

#define BLOCK_SIZE 24u
/* Behind the footer: its size and the magic. */
#define TAIL_SIZE (4u + FILE_MAGIC_SIZE)

void file_footer_free(struct file_footer *footer) {
  ashuf_schema_free(footer->schema);
  memory_free(footer->memory, footer->blocks,
              (footer->n_dictionaries + footer->n_batches) * sizeof *footer->blocks);
  memset(footer, 0, sizeof *footer);
}

/* The place of the footer in the file. */
static ashuf_status find_footer(const struct input *input, uint64_t *start, size_t *size,
                                struct ashuf_error *error) {
  uint64_t file_size = input->file.size;
  if (file_size < FILE_START_SIZE + TAIL_SIZE)
    return error_at(error, ASHUF_TRUNCATED, SITE_FOOTER_SHORT, file_size,
                    "an Arrow file of %llu bytes has no room for its footer",
                    (unsigned long long)file_size);
  uint64_t end = file_size - TAIL_SIZE;
  uint8_t tail[TAIL_SIZE];
  ashuf_status status = file_read_at(&input->file, end, tail, sizeof tail, error);
  if (status != ASHUF_OK) return status;
  if (memcmp(tail + 4, FILE_MAGIC, FILE_MAGIC_SIZE) != 0)
    return error_at(error, ASHUF_TRUNCATED, SITE_FOOTER_MAGIC, end + 4,
                    "the Arrow file does not end in " FILE_MAGIC ": its end is missing");
  int32_t length = load_i32(tail);
  if (length <= 0 || (uint64_t)length > end - FILE_START_SIZE)
    return error_at(error, ASHUF_BAD_FRAMING, SITE_FOOTER_SIZE, end,
                    "footer of %d bytes in an Arrow file of %llu", length,
                    (unsigned long long)file_size);
  *start = end - (uint64_t)length;
  *size = (size_t)length;
  return ASHUF_OK;
}

struct footer_reader {
  struct flatbuf flatbuf;
  struct flatbuf_table root;
  struct file_footer *footer;
  uint64_t start; /* of the footer, in the file */
  struct ashuf_error *error;
};

static ashuf_status read_block(const struct footer_reader *reader, const uint8_t *bytes,
                               struct file_block *out) {
  int64_t offset = load_i64(bytes);
  int32_t metadata = load_i32(bytes + 8);
  int64_t body = load_i64(bytes + 16);
  uint64_t size = 0;
  if (offset < (int64_t)FILE_START_SIZE || metadata <= 0 || body < 0 ||
      !add_u64((uint64_t)metadata, (uint64_t)body, &size) ||
      !range_inside((uint64_t)offset, size, reader->start))
    return error_at(reader->error, ASHUF_BAD_FRAMING, SITE_FOOTER_BLOCK, reader->start,
                    "the footer names a message of %d and %lld bytes at %lld, outside the file",
                    metadata, (long long)body, (long long)offset);
  *out = (struct file_block){(uint64_t)offset, (uint64_t)metadata, (uint64_t)body};
  return ASHUF_OK;
}

static ashuf_status read_blocks(struct footer_reader *reader, const struct flatbuf_vector *vector,
                                struct file_block *out) {
  for (uint32_t i = 0; i < vector->count; i++) {
    ashuf_status status = read_block(reader, vector->data + (size_t)i * BLOCK_SIZE, &out[i]);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

static ashuf_status read_lists(struct footer_reader *reader) {
  struct flatbuf_vector dictionaries;
  struct flatbuf_vector batches;
  struct file_footer *footer = reader->footer;
  if (!flatbuf_vector(&reader->flatbuf, &reader->root, FOOTER_DICTIONARIES, BLOCK_SIZE, 1,
                      &dictionaries) ||
      !flatbuf_vector(&reader->flatbuf, &reader->root, FOOTER_BATCHES, BLOCK_SIZE, 1, &batches))
    return ASHUF_BAD_METADATA;
  size_t n = (size_t)dictionaries.count + batches.count;
  if (n == 0) return ASHUF_OK;
  footer->blocks = memory_alloc(footer->memory, n * sizeof *footer->blocks);
  if (footer->blocks == NULL)
    return error_memory(reader->error, SITE_FOOTER_MEMORY, footer->memory,
                        n * sizeof *footer->blocks);
  footer->n_dictionaries = dictionaries.count;
  footer->n_batches = batches.count;
  ashuf_status status = read_blocks(reader, &dictionaries, footer->blocks);
  if (status != ASHUF_OK) return status;
  return read_blocks(reader, &batches, footer->blocks + footer->n_dictionaries);
}

static ashuf_status read_root(struct footer_reader *reader) {
  struct flatbuf_table schema;
  int16_t version;
  if (!flatbuf_root(&reader->flatbuf, &reader->root) ||
      !flatbuf_i16(&reader->flatbuf, &reader->root, FOOTER_VERSION, 0, &version) ||
      !flatbuf_table(&reader->flatbuf, &reader->root, FOOTER_SCHEMA, &schema))
    return ASHUF_BAD_METADATA;
  if (version != METADATA_V4 && version != METADATA_V5)
    return error_at(reader->error, ASHUF_BAD_METADATA, SITE_FOOTER_VERSION, reader->start,
                    "footer: version number %d is neither V4 nor V5", version);
  if (schema.at == 0)
    return error_at(reader->error, ASHUF_BAD_METADATA, SITE_FOOTER_NO_SCHEMA, reader->start,
                    "a footer without schema");
  ashuf_status status = schema_read_table(&reader->flatbuf, &schema, reader->footer->memory,
                                          &reader->footer->schema, reader->error);
  return status == ASHUF_OK ? read_lists(reader) : status;
}

ashuf_status file_footer_read(struct input *input, ashuf_memory *memory, struct file_footer *out,
                              struct ashuf_error *error) {
  uint64_t start = 0;
  size_t size = 0;
  ashuf_status status = find_footer(input, &start, &size, error);
  if (status != ASHUF_OK) return status;
  uint8_t *bytes = memory_alloc(memory, size);
  if (bytes == NULL) return error_memory(error, SITE_FOOTER_MEMORY, memory, size);
  struct file_footer footer = {.memory = memory};
  struct footer_reader reader = {.footer = &footer, .start = start, .error = error};
  status = file_read_at(&input->file, start, bytes, size, error);
  if (status == ASHUF_OK) {
    flatbuf_init(&reader.flatbuf, bytes, size, start, error);
    status = read_root(&reader);
  }
  memory_free(memory, bytes, size);
  if (status == ASHUF_OK)
    *out = footer;
  else
    file_footer_free(&footer);
  return status;
}

/*
 * Shared by the readers and writers of message metadata: slot numbers of Message.fbs and
 * Schema.fbs, the numbers in their unions and enums, and the sites of the checks.
 */
#ifndef ASHUF_IPC_METADATA_INT_H
#define ASHUF_IPC_METADATA_INT_H

#include "flatbuf/builder.h"
#include "flatbuf/reader.h"
#include "ipc/metadata.h"

/* metadata_int.h has 740-799 of the range of ipc. */
enum metadata_site {
  SITE_IPC_VERSION = 740,
  SITE_IPC_HEADER = 741,
  SITE_IPC_BODY_LENGTH = 742,
  SITE_IPC_COMPRESSION = 743,
  SITE_IPC_DICTIONARY_DATA = 744,
  SITE_IPC_MEMORY = 750,
  SITE_IPC_BIG_ENDIAN = 751,
  SITE_IPC_ENDIANNESS = 752,
  SITE_IPC_NO_FIELDS = 753,
  SITE_IPC_TOO_MANY_FIELDS = 754,
  SITE_IPC_TOO_MANY_PAIRS = 755,
  SITE_IPC_DEPTH = 756,
  SITE_IPC_NO_TYPE = 757,
  SITE_IPC_UNKNOWN_TYPE = 758,
  SITE_IPC_INT_WIDTH = 759,
  SITE_IPC_FLOAT = 760,
  SITE_IPC_DECIMAL_WIDTH = 761,
  SITE_IPC_DATE_UNIT = 762,
  SITE_IPC_TIME = 763,
  SITE_IPC_UNIT = 764,
  SITE_IPC_INTERVAL = 765,
  SITE_IPC_UNION_MODE = 766,
  SITE_IPC_UNION_IDS = 767,
  SITE_IPC_NO_INDEX_TYPE = 768,
  SITE_IPC_DICTIONARY_KIND = 769,
  SITE_IPC_WRITE_MEMORY = 780
};

enum message_slot {
  MESSAGE_VERSION,
  MESSAGE_HEADER_TYPE,
  MESSAGE_HEADER,
  MESSAGE_BODY_LENGTH,
  MESSAGE_METADATA
};
enum batch_slot { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VARIADIC };
enum dictionary_batch_slot { DICTIONARY_ID, DICTIONARY_DATA, DICTIONARY_IS_DELTA };
enum compression_slot { COMPRESSION_CODEC, COMPRESSION_METHOD };
enum schema_slot { SCHEMA_ENDIANNESS, SCHEMA_FIELDS, SCHEMA_METADATA, SCHEMA_FEATURES };
enum field_slot {
  FIELD_NAME,
  FIELD_NULLABLE,
  FIELD_TYPE_TYPE,
  FIELD_TYPE,
  FIELD_DICTIONARY,
  FIELD_CHILDREN,
  FIELD_METADATA
};
enum encoding_slot { ENCODING_ID, ENCODING_INDEX_TYPE, ENCODING_IS_ORDERED, ENCODING_KIND };
enum pair_slot { PAIR_KEY, PAIR_VALUE };

enum int_slot { INT_WIDTH, INT_SIGNED };
enum decimal_slot { DECIMAL_PRECISION, DECIMAL_SCALE, DECIMAL_WIDTH };
enum time_slot { TIME_UNIT, TIME_WIDTH };
enum timestamp_slot { TIMESTAMP_UNIT, TIMESTAMP_TIMEZONE };
enum union_slot { UNION_MODE, UNION_IDS };
/* The tables with one slot: FloatingPoint, Date, Interval, Duration, FixedSizeBinary,
 * FixedSizeList, Map. */
enum { ONLY_SLOT };

/* Defaults that are not 0. */
enum { DEFAULT_UNIT = UNIT_MILLI, DEFAULT_DATE_UNIT = 1, DEFAULT_TIME_WIDTH = 32 };
enum { DEFAULT_DECIMAL_WIDTH = 128 };

/* The Type union of Schema.fbs. */
enum ipc_type {
  IPC_NULL = 1,
  IPC_INT,
  IPC_FLOATING_POINT,
  IPC_BINARY,
  IPC_UTF8,
  IPC_BOOL,
  IPC_DECIMAL,
  IPC_DATE,
  IPC_TIME,
  IPC_TIMESTAMP,
  IPC_INTERVAL,
  IPC_LIST,
  IPC_STRUCT,
  IPC_UNION,
  IPC_FIXED_SIZE_BINARY,
  IPC_FIXED_SIZE_LIST,
  IPC_MAP,
  IPC_DURATION,
  IPC_LARGE_BINARY,
  IPC_LARGE_UTF8,
  IPC_LARGE_LIST,
  IPC_RUN_END_ENCODED,
  IPC_BINARY_VIEW,
  IPC_UTF8_VIEW,
  IPC_LIST_VIEW,
  IPC_LARGE_LIST_VIEW
};

/* Pair i of a custom_metadata vector; an absent text has NULL data. */
bool metadata_pair(struct flatbuf *reader, const struct flatbuf_vector *pairs, uint32_t i,
                   struct flatbuf_text *key, struct flatbuf_text *value);

/* schema_read without schema_seal: the tree as the message has it, of any type. */
ashuf_status schema_read_unsealed(const struct message *message, ashuf_memory *memory,
                                  ashuf_schema **out, struct ashuf_error *error);

/* schema_read of a Schema table at any place of a FlatBuffer: that of a file's footer. */
ashuf_status schema_read_table(struct flatbuf *flatbuf, const struct flatbuf_table *table,
                               ashuf_memory *memory, ashuf_schema **out, struct ashuf_error *error);

/*
 * Bounds on what is allocated, set so that no writer meets them even if it shares strings: a
 * Field table, the vector entry that leads to it and its type table take 24 bytes and more of the
 * metadata, a KeyValue table and its vector entry 16. So a schema of n bytes has at most n / 16
 * fields and n / 16 pairs; both are counted before their arrays are allocated. Texts are bounded
 * by the bytes that the reader lets be visited (flatbuf/reader.h).
 */
struct schema_reader {
  struct flatbuf flatbuf;
  ashuf_schema *schema;
  struct ashuf_error *error;
  size_t fields_left;
  size_t pairs_left;
  bool named; /* the error names a field already, the innermost one */
};

/* BAD_SCHEMA at a position of the metadata: "what (value)". */
ashuf_status schema_read_bad(struct schema_reader *reader, int site, size_t at, const char *what,
                             int64_t value);
ashuf_status schema_read_memory(struct schema_reader *reader, size_t size);

/*
 * A member of the Type union (ipc_type 1 to IPC_LARGE_LIST_VIEW) into type and parameters of
 * field, whose children are counted but not read yet.
 */
ashuf_status schema_read_type(struct schema_reader *reader, uint8_t ipc_type,
                              const struct flatbuf_table *table, struct field *field);

#endif /* ASHUF_IPC_METADATA_INT_H */

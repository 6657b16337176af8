/*
 * Contexts, schemas, and one block at a time.
 *
 * A block is a 20-byte header (length, field count, codec tag) and one Arrow IPC stream wrapped
 * by a codec: schema, dictionaries, exactly one record batch, end marker. docs/FORMAT.md has
 * the bytes.
 */
#ifndef ASHUF_BLOCK_H
#define ASHUF_BLOCK_H

#include <ashuf/arrow_abi.h>
#include <ashuf/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASHUF_BLOCK_HEADER_SIZE 20

enum ashuf_codec {
  ASHUF_CODEC_DEFAULT = 0, /* LZ4 */
  ASHUF_CODEC_NONE = 1,
  ASHUF_CODEC_LZ4 = 2,
  ASHUF_CODEC_ZSTD = 3,
  ASHUF_CODEC_SNAPPY = 4
};

/* "none", "lz4", "zstd", "snappy"; NULL for anything else. Any thread. */
ASHUF_API const char *ashuf_codec_name(int codec);
/* 1 where this build has the codec. Any thread. */
ASHUF_API int ashuf_codec_available(int codec);

enum ashuf_validate {
  ASHUF_VALIDATE_FULL = 0,   /* every offset, index, null count and UTF-8 string is checked */
  ASHUF_VALIDATE_TRUSTED = 1 /* framing, metadata and buffer bounds only, not the values */
};

enum ashuf_layout {
  ASHUF_LAYOUT_COMPACT = 0, /* 8-byte padding, no validity buffer where nothing is null */
  ASHUF_LAYOUT_ARROW_RS = 1 /* 64-byte padding, validity always: the bytes arrow-rs writes for
                               arrays with zeros under nulls and behind bitmaps */
};

/* ---- Context ---------------------------------------------------------------------------- */

/*
 * What is worth keeping between blocks: codec contexts, the schema cache, scratch memory,
 * counters. One thread at a time; results never point into a context.
 */
typedef struct ashuf_ctx ashuf_ctx;

struct ashuf_ctx_options {
  size_t struct_size;
  ashuf_memory *memory;           /* a reference is taken */
  uint32_t schema_cache_entries;  /* default 4; UINT32_MAX: no cache */
  uint64_t schema_cache_max_size; /* schema messages above this bypass the cache; default 64 KiB */
  uint64_t scratch_cap;           /* kept between calls by each codec's context; default 8 MiB */
};
#define ASHUF_CTX_OPTIONS_INIT \
  { sizeof(struct ashuf_ctx_options), 0, 0, 0, 0 }

struct ashuf_ctx_stats {
  size_t struct_size;
  uint64_t blocks_decoded;
  uint64_t rows_decoded;
  uint64_t bytes_decoded;   /* of blocks, headers included */
  uint64_t messages_parsed; /* metadata messages verified and read */
  uint64_t schema_hits;
  uint64_t schema_misses;
  uint64_t schema_evictions;
  uint64_t schema_bypasses;
  uint64_t blocks_encoded;
  uint64_t rows_encoded;
  uint64_t bytes_encoded;
};
#define ASHUF_CTX_STATS_INIT \
  { sizeof(struct ashuf_ctx_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

ASHUF_API ashuf_status ashuf_ctx_new(const struct ashuf_ctx_options *options, ashuf_ctx **out,
                                     struct ashuf_error *error);
ASHUF_API void ashuf_ctx_free(ashuf_ctx *ctx);
ASHUF_API void ashuf_ctx_get_stats(const ashuf_ctx *ctx, struct ashuf_ctx_stats *out);
/*
 * The calling thread's own context, made with the defaults on its first call and freed when the
 * thread exits, or by ashuf_thread_ctx_release: for callers without a place to keep a handle. NULL
 * where there is no memory. A context that is being used further up the stack (a release callback
 * that decodes, say) refuses the inner call with INVALID_STATE, this one like any other.
 */
ASHUF_API ashuf_ctx *ashuf_thread_ctx(void);
ASHUF_API void ashuf_thread_ctx_release(void);
/* Empties the schema cache, drops scratch and codec contexts, clears the counters. */
ASHUF_API void ashuf_ctx_reset(ashuf_ctx *ctx);

/* ---- Schema ----------------------------------------------------------------------------- */

/* An immutable, counted schema with its encoded message. Shared by threads. */
typedef struct ashuf_schema ashuf_schema;

/*
 * A schema from a "+s" ArrowSchema whose children are the columns. The ArrowSchema is borrowed
 * and copied. Errors: UNSUPPORTED_TYPE or BAD_SCHEMA, the message names the column.
 */
ASHUF_API ashuf_status ashuf_schema_import(const struct ArrowSchema *schema, ashuf_memory *memory,
                                           ashuf_schema **out, struct ashuf_error *error);
/* The schema as a "+s" ArrowSchema that owns everything it points to. */
ASHUF_API ashuf_status ashuf_schema_export(const ashuf_schema *schema, struct ArrowSchema *out,
                                           struct ashuf_error *error);
ASHUF_API ashuf_schema *ashuf_schema_ref(const ashuf_schema *schema);
ASHUF_API void ashuf_schema_free(ashuf_schema *schema);
ASHUF_API int64_t ashuf_schema_n_columns(const ashuf_schema *schema);
/* The name of a column, or NULL where there is no such column. Lives as long as the schema. */
ASHUF_API const char *ashuf_schema_column_name(const ashuf_schema *schema, int64_t column);
/* The first column of that name, or -1. */
ASHUF_API int64_t ashuf_schema_find_column(const ashuf_schema *schema, const char *name);
/* Appends a column's type as text, as in "decimal128(12, 2)" or "list<item: utf8>". */
ASHUF_API ashuf_status ashuf_schema_format_type(const ashuf_schema *schema, int64_t column,
                                                struct ashuf_buffer *out,
                                                struct ashuf_error *error);
/* 1 where both have the same columns: names, types, nullability; metadata is not compared. */
ASHUF_API int ashuf_schema_equal(const ashuf_schema *a, const ashuf_schema *b);
/* The same, but time zones may differ: they are labels of values that are counted from the same
 * instant, so batches of one schema can be pushed to a writer of the other. */
ASHUF_API int ashuf_schema_same_arrays(const ashuf_schema *a, const ashuf_schema *b);

/* ---- Decode ----------------------------------------------------------------------------- */

/* What a block's header says. */
struct ashuf_block_info {
  size_t struct_size;
  uint64_t size;    /* bytes of the whole block, header included: where the next one starts */
  uint64_t columns; /* field count */
  int codec;        /* enum ashuf_codec */
  int offsets_as_lengths;
  /* Filled by decoding, 0 after a peek: */
  int64_t rows;
  uint64_t stream_size; /* bytes of the IPC stream, codec undone */
  uint64_t body_size;   /* bytes of the record batch body */
};
#define ASHUF_BLOCK_INFO_INIT \
  { sizeof(struct ashuf_block_info), 0, 0, 0, 0, 0, 0, 0 }

struct ashuf_decode_options {
  size_t struct_size;
  int validate;                 /* enum ashuf_validate; default FULL */
  uint64_t max_decoded_bytes;   /* of one IPC stream; default 2 GiB */
  const ashuf_schema *expected; /* a different schema is SCHEMA_MISMATCH, naming the column */
  /*
   * The columns wanted, in the order they are wanted in: n_projection numbers, or as many names
   * (then projection is NULL; of equal names the first counts); 0: all columns. Batch and schema
   * that come out have these alone. What a message says of the others is bounded, their values are
   * neither made nor validated. expected is about the whole block. A column that is not there, or
   * asked for twice: INVALID_ARGUMENT.
   */
  const int32_t *projection;
  const char *const *projection_names;
  size_t n_projection;
};
#define ASHUF_DECODE_OPTIONS_INIT \
  { sizeof(struct ashuf_decode_options), 0, 0, 0, 0, 0, 0 }

/*
 * The header alone: data[0, size) starts at a block, size >= ASHUF_BLOCK_HEADER_SIZE. Does not
 * look past the header. Errors: TRUNCATED, BAD_HEADER, UNKNOWN_CODEC.
 */
ASHUF_API ashuf_status ashuf_block_peek(const void *data, size_t size, struct ashuf_block_info *out,
                                        struct ashuf_error *error);

/*
 * Decodes exactly one block. batch is a struct array, one child a column, every child's offset
 * 0; release it as the C Data Interface says; children may be moved out. schema is held by the
 * context: valid until the context is freed or reset or its cache evicts it, so take a
 * reference (ashuf_schema_ref) to keep it; the same pointer means the same schema. options and
 * info may be NULL.
 */
ASHUF_API ashuf_status ashuf_block_decode(ashuf_ctx *ctx, struct ashuf_bytes *block,
                                          const struct ashuf_decode_options *options,
                                          const ashuf_schema **schema, struct ArrowArray *batch,
                                          struct ashuf_block_info *info, struct ashuf_error *error);

/*
 * The same for a payload without its first 16 bytes: data starts at the codec tag, columns is
 * the field count that came beside it. Error offsets count from where the block's header would
 * have begun.
 */
ASHUF_API ashuf_status ashuf_payload_decode(ashuf_ctx *ctx, struct ashuf_bytes *payload,
                                            uint64_t columns,
                                            const struct ashuf_decode_options *options,
                                            const ashuf_schema **schema, struct ArrowArray *batch,
                                            struct ashuf_block_info *info,
                                            struct ashuf_error *error);

/*
 * Bytes that a batch from this library keeps alive: its bodies and structs, whatever child of it
 * is asked about. 0 for an array of another producer, or a released one. Any thread.
 */
ASHUF_API uint64_t ashuf_batch_retained_bytes(const struct ArrowArray *batch);

/* ---- Encode ----------------------------------------------------------------------------- */

#define ASHUF_LEVEL_DEFAULT 0

enum ashuf_offsets_as_lengths {
  ASHUF_OFFSETS_AS_LENGTHS_AUTO = 0, /* LZ4 and ZSTD in the compact layout, where allowed */
  ASHUF_OFFSETS_AS_LENGTHS_OFF = 1
};

enum ashuf_dictionaries {
  ASHUF_DICTIONARIES_KEEP = 0, /* dictionary columns stay so; each block has just its values */
  ASHUF_DICTIONARIES_PLAIN = 1 /* they are written as their values */
};

struct ashuf_encode_options {
  size_t struct_size;
  int codec;              /* enum ashuf_codec; default LZ4 */
  int has_level;          /* 1: level holds the level, 0 being a real one */
  int level;              /* ZSTD: -131072 to 22, default 1; LZ4: 0 to 12, default 0 */
  int layout;             /* enum ashuf_layout; default COMPACT */
  int64_t max_rows;       /* of one block; default 8192 */
  uint64_t max_body;      /* bytes of one block's body, rows permitting; default 64 MiB */
  int offsets_as_lengths; /* enum ashuf_offsets_as_lengths */
  int dictionaries;       /* enum ashuf_dictionaries */
};
#define ASHUF_ENCODE_OPTIONS_INIT \
  { sizeof(struct ashuf_encode_options), 0, 0, 0, 0, 0, 0, 0, 0 }

/*
 * Appends batch as whole blocks to out, or leaves out as it was. batch is a struct array of the
 * schema's columns and is borrowed; offset may be > 0. No rows: no bytes.
 * Offsets, indices and nulls are checked; that strings are UTF-8 is not: what is no UTF-8 is
 * written as it is, and a reader that validates refuses it. Errors: BAD_ARRAY (names the column),
 * SIZE_LIMIT for a row that no block can hold.
 */
ASHUF_API ashuf_status ashuf_block_encode(ashuf_ctx *ctx, const ashuf_schema *schema,
                                          const struct ArrowArray *batch,
                                          const struct ashuf_encode_options *options,
                                          struct ashuf_buffer *out, struct ashuf_error *error);

/*
 * The same for chosen rows: n row numbers of batch, each in [0, length), in the order they are
 * to be written; a row may occur more than once.
 */
ASHUF_API ashuf_status ashuf_block_encode_rows(ashuf_ctx *ctx, const ashuf_schema *schema,
                                               const struct ArrowArray *batch, const int64_t *rows,
                                               int64_t n_rows,
                                               const struct ashuf_encode_options *options,
                                               struct ashuf_buffer *out, struct ashuf_error *error);

/* ---- Encode without copying -------------------------------------------------------------- */

/* A piece of memory; a struct iovec of POSIX has the same members in the same order. */
struct ashuf_segment {
  const void *data;
  size_t size; /* bytes, never 0 */
};

/*
 * Blocks as pieces of memory, in order: list[0, n) joined are the blocks. Some pieces lie in the
 * batches that were encoded, the others in memory of this struct. Starts as ASHUF_SEGMENTS_INIT;
 * one thread at a time.
 */
struct ashuf_segments {
  const struct ashuf_segment *list; /* valid until the next call with this struct */
  size_t n;
  uint64_t bytes;                         /* of all pieces */
  struct ashuf_buffer own, loans, pieces; /* the library's: do not touch */
};
#define ASHUF_SEGMENTS_INIT \
  { 0, 0, 0, ASHUF_BUFFER_INIT, ASHUF_BUFFER_INIT, ASHUF_BUFFER_INIT }

/* Forgets the pieces and keeps the memory for the next blocks. */
ASHUF_API void ashuf_segments_clear(struct ashuf_segments *segments);
ASHUF_API void ashuf_segments_free(struct ashuf_segments *segments);

/*
 * As ashuf_block_encode with codec NONE, whose bytes the appended pieces are, but values that can
 * go out as they stand in batch are not copied: runs of fixed-width values, strings and data
 * behind views, of columns without nulls. batch must live, unchanged, for as long as the pieces are
 * used. Metadata, validity, offsets, booleans, dictionary indices and columns with nulls are
 * copied. options may be NULL; a codec other than NONE is INVALID_ARGUMENT, no codec is NONE here.
 * On failure out has the pieces it had (list may have moved). Any number of pieces: writev takes
 * IOV_MAX at once.
 */
ASHUF_API ashuf_status ashuf_block_encode_iov(ashuf_ctx *ctx, const ashuf_schema *schema,
                                              const struct ArrowArray *batch,
                                              const struct ashuf_encode_options *options,
                                              struct ashuf_segments *out,
                                              struct ashuf_error *error);

#ifdef __cplusplus
}
#endif

#endif /* ASHUF_BLOCK_H */

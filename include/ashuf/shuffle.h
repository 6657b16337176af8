/*
 * Map outputs: a data file that holds the blocks of all partitions in order, and an index file
 * of partitions + 1 offsets into it.
 */
#ifndef ASHUF_SHUFFLE_H
#define ASHUF_SHUFFLE_H

#include <ashuf/partition.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Write one map output ---------------------------------------------------------------- */

typedef struct ashuf_writer ashuf_writer;

struct ashuf_writer_options {
  size_t struct_size;
  ashuf_memory *memory;
  struct ashuf_encode_options encode; /* struct_size 0: the defaults */
  int sync;                           /* 1: fsync files and directory before they are named */
  unsigned file_mode;                 /* permission bits of the files; default 0644 */
  /* Called from push and finish with the rows pushed and, in finish, written so far; a non-zero
   * return cancels the call. */
  int (*progress)(void *user_data, int64_t rows_pushed, int64_t rows_written);
  void *progress_data;
};
#define ASHUF_WRITER_OPTIONS_INIT \
  {sizeof(struct ashuf_writer_options), 0, {0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 0, 0, 0}

/* What a finished writer wrote. The arrays belong to the writer and live until it is closed. */
struct ashuf_map_output {
  size_t struct_size;
  int32_t partitions;
  const uint64_t *offsets; /* partitions + 1 offsets into the data file */
  const int64_t *rows;     /* rows of each partition */
  int64_t total_rows;
  uint64_t total_blocks;
  uint64_t raw_bytes; /* bytes of the IPC streams before the codec */
};
#define ASHUF_MAP_OUTPUT_INIT {sizeof(struct ashuf_map_output), 0, 0, 0, 0, 0, 0}

/*
 * A writer of one data file and, unless index_path is NULL, one index file (big-endian, as
 * Spark commits it). Both appear under their names only in finish, the data file first; before
 * that they stand beside them under temporary names. Takes a reference to the partitioner.
 */
ASHUF_API ashuf_status ashuf_writer_open_files(ashuf_partitioner *partitioner,
                                               const struct ashuf_writer_options *options,
                                               const char *data_path, const char *index_path,
                                               ashuf_writer **out, struct ashuf_error *error);
/*
 * Adds a batch, which is moved. Rows keep their order inside each partition. After a failure
 * that is not about the batch itself (BAD_ARRAY, SCHEMA_MISMATCH, INVALID_ARGUMENT) the writer
 * refuses more work and its files are gone.
 */
ASHUF_API ashuf_status ashuf_writer_push(ashuf_writer *writer, struct ArrowArray *batch,
                                         struct ashuf_error *error);
/* Writes everything, names the files, fills out (which may be NULL). Once. */
ASHUF_API ashuf_status ashuf_writer_finish(ashuf_writer *writer, struct ashuf_map_output *out,
                                           struct ashuf_error *error);
/* Frees the writer. Before a successful finish: removes everything it made. */
ASHUF_API void ashuf_writer_close(ashuf_writer *writer);

/* ---- Look into one map output ------------------------------------------------------------- */

/* One data file and its index, open for reading. */
typedef struct ashuf_map_file ashuf_map_file;

/*
 * Opens a map output. index_path NULL: the data path with ".data" replaced by ".index"; where
 * that file does not exist and require_index is 0, the whole data file counts as one partition.
 * The index may be of either byte order; it must agree with the data file. A missing data file
 * is an empty one where the index says that all partitions are empty.
 * Errors: IO, BAD_INDEX.
 */
ASHUF_API ashuf_status ashuf_map_file_open(const char *data_path, const char *index_path,
                                           int require_index, ashuf_memory *memory,
                                           ashuf_map_file **out, struct ashuf_error *error);
ASHUF_API void ashuf_map_file_close(ashuf_map_file *file);
ASHUF_API int64_t ashuf_map_file_partitions(const ashuf_map_file *file);
/* partitions + 1 offsets; they live until the file is closed. */
ASHUF_API const uint64_t *ashuf_map_file_offsets(const ashuf_map_file *file);
ASHUF_API int ashuf_map_file_has_index(const ashuf_map_file *file);

/* Where in a map file the next block is looked for. */
struct ashuf_block_cursor {
  int64_t partition;     /* the partition of the next block */
  int64_t end_partition; /* stop here */
  int64_t block;         /* its position in the partition */
  uint64_t offset;       /* its file offset */
};

/* Sets a cursor to the partitions [first, end); end -1: to the last. */
ASHUF_API ashuf_status ashuf_map_file_seek(const ashuf_map_file *file, int64_t first, int64_t end,
                                           struct ashuf_block_cursor *out,
                                           struct ashuf_error *error);
/*
 * Reads and decodes the block at the cursor and moves the cursor behind it. at (may be NULL)
 * receives where the block stood. *found is 0 at the end, and nothing else is written then. An
 * error names partition, block and byte; the cursor is then moved to the start of the next
 * partition, so that a caller may go on.
 */
ASHUF_API ashuf_status ashuf_map_file_next(const ashuf_map_file *file, ashuf_ctx *ctx,
                                           struct ashuf_block_cursor *cursor,
                                           const struct ashuf_decode_options *options, int *found,
                                           struct ashuf_block_cursor *at,
                                           const ashuf_schema **schema, struct ArrowArray *batch,
                                           struct ashuf_block_info *info,
                                           struct ashuf_error *error);

/* ---- Read partitions back ----------------------------------------------------------------- */

struct ashuf_read_options {
  size_t struct_size;
  ashuf_memory *memory;
  struct ashuf_decode_options decode; /* struct_size 0: the defaults */
  int64_t first_partition;
  int64_t end_partition; /* exclusive; 0: to the last */
};
#define ASHUF_READ_OPTIONS_INIT {sizeof(struct ashuf_read_options), 0, {0, 0, 0, 0}, 0, 0}

/*
 * A stream over the blocks of map outputs, in the order of the paths, then partition, then
 * block; one batch a block. paths name data files; the index stands beside each. Every file's
 * index is checked before this returns. The stream has one schema, the expected one or else
 * that of the first block; a block that differs is SCHEMA_MISMATCH. No block and no expected
 * schema: NO_SCHEMA. The stream owns everything it needs; use it from one thread at a time.
 */
ASHUF_API ashuf_status ashuf_read_files(const char *const *paths, size_t n_paths,
                                        const struct ashuf_read_options *options,
                                        struct ArrowArrayStream *out, struct ashuf_error *error);

/*
 * The whole error behind the last failure of a stream made by this library; 0 where the stream
 * is not one of ours or nothing failed. The text lives until the next call on the stream.
 */
ASHUF_API int ashuf_stream_get_error(struct ArrowArrayStream *stream, struct ashuf_error *out);

#ifdef __cplusplus
}
#endif

#endif /* ASHUF_SHUFFLE_H */

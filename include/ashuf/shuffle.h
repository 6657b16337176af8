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

/* What is written beside the data: one checksum a partition, over its bytes as stored. */
enum ashuf_checksum {
  ASHUF_CHECKSUM_NONE = 0,
  ASHUF_CHECKSUM_ADLER32 = 1, /* Spark's default */
  ASHUF_CHECKSUM_CRC32 = 2,
  ASHUF_CHECKSUM_CRC32C = 3
};

enum ashuf_index_order {
  ASHUF_INDEX_BIG_ENDIAN = 0,   /* as Spark commits it */
  ASHUF_INDEX_LITTLE_ENDIAN = 1 /* as Comet's native writer leaves it */
};

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
  int checksum;    /* enum ashuf_checksum */
  int index_order; /* enum ashuf_index_order */
  /*
   * Bytes that batches and what belongs to them may take before their rows are moved to a spill
   * file; 0: only what the memory domain refuses makes the writer spill. The bytes of the output
   * do not depend on it. What is needed to encode (a few blocks and codec contexts a thread)
   * comes on top, up to some 16 MiB; with blocks that are larger, by encode.max_rows and
   * encode.max_body or for one wide row, as much as they take: where blocks end does not depend on
   * the limit either, so lower those two to be held to a small one. A domain that has no room for a
   * block ends the writing with MEMORY_LIMIT.
   */
  uint64_t memory_limit;
  /* Directories for spill files, one file each, taken in turn by bytes; copied. None: that of
   * the data file, for a sink TMPDIR or /tmp. The files have no name wherever the system allows. */
  const char *const *spill_dirs;
  size_t n_spill_dirs;
  int spill_codec; /* enum ashuf_codec of spilled rows; default NONE */
  int threads;     /* that copy and encode, the calling one included; default 1. Same bytes for any
                    * number. Those beside it work while push and finish wait for them, only */
};
#define ASHUF_WRITER_OPTIONS_INIT                                                                 \
  {                                                                                               \
    sizeof(struct ashuf_writer_options), 0, ASHUF_ENCODE_OPTIONS_INIT, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
        0, 0                                                                                      \
  }

/* What a finished writer wrote. The arrays belong to the writer and live until it is closed. */
struct ashuf_map_output {
  size_t struct_size;
  int32_t partitions;
  const uint64_t *offsets; /* partitions + 1 offsets into the data file */
  const int64_t *rows;     /* rows of each partition */
  int64_t total_rows;
  uint64_t total_blocks;
  uint64_t raw_bytes;        /* bytes of the IPC streams before the codec */
  const uint32_t *checksums; /* of each partition's bytes; NULL where none were asked for */
  uint64_t spills;           /* times that rows were moved to a spill file */
  uint64_t memory_spilled;   /* bytes that those rows took in memory */
  uint64_t disk_spilled;     /* bytes written to spill files */
  uint64_t schema_encodes;   /* schema messages built: 0 where the schema had its own already */
  /* Nanoseconds of the calling thread: */
  uint64_t partition_ns; /* placing rows, copying and sorting them by partition */
  uint64_t spill_ns;     /* writing spill files */
  uint64_t read_ns;      /* reading them back */
  uint64_t encode_ns;    /* gathering and encoding */
  uint64_t write_ns;     /* in the files, or in the sink's callbacks */
};
#define ASHUF_MAP_OUTPUT_INIT \
  { sizeof(struct ashuf_map_output), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/*
 * A writer of one data file and, unless index_path is NULL, one index file. With a checksum there
 * is a third file: data_path with ".data" replaced by ".checksum.ADLER32" (CRC32, CRC32C), one
 * big-endian 64-bit number a partition. All appear under their names only in finish: data, then
 * checksums, then index; before that they stand beside them under temporary names. They replace
 * what stands there, and checksum files beside data_path that an earlier output left go with it.
 * Takes a reference to the partitioner.
 */
ASHUF_API ashuf_status ashuf_writer_open_files(ashuf_partitioner *partitioner,
                                               const struct ashuf_writer_options *options,
                                               const char *data_path, const char *index_path,
                                               ashuf_writer **out, struct ashuf_error *error);

/*
 * Where the blocks of a map output go, as a table of callbacks: for a service that stores them
 * elsewhere. All are called from push, finish and close, on the thread that called those.
 *
 *   for each partition that has rows, in order:  partition_begin, bytes ..., partition_end
 *   then finish, once; or abort, once, in its place: at a failure or by an early close
 *
 * bytes come in pieces that have nothing to do with blocks; those of one partition, put together,
 * are what a data file would have between two offsets. Each but abort returns 0 or an errno, which
 * ends the writing with IO and that errno. Any may be NULL: then nothing is called.
 */
struct ashuf_sink {
  size_t struct_size;
  void *user_data;
  int (*partition_begin)(void *user_data, int32_t partition);
  int (*bytes)(void *user_data, const void *bytes, size_t size);
  /* size: all bytes of the partition; checksum: 0 where none was asked for. */
  int (*partition_end)(void *user_data, int32_t partition, uint64_t size, uint32_t checksum);
  int (*finish)(void *user_data, const struct ashuf_map_output *output);
  void (*abort)(void *user_data);
};
#define ASHUF_SINK_INIT \
  { sizeof(struct ashuf_sink), 0, 0, 0, 0, 0, 0 }

/* The same writer with a sink, which is copied. sync, file_mode and index_order say nothing here.
 */
ASHUF_API ashuf_status ashuf_writer_open_sink(ashuf_partitioner *partitioner,
                                              const struct ashuf_writer_options *options,
                                              const struct ashuf_sink *sink, ashuf_writer **out,
                                              struct ashuf_error *error);

/*
 * Adds a batch, which is moved. Rows keep their order inside each partition. After a failure
 * that is not about the batch itself (BAD_ARRAY, SCHEMA_MISMATCH, INVALID_ARGUMENT) the writer
 * refuses more work and its files are gone. Bad values (offsets, indices) of a batch of many rows
 * may be found when some of it is taken already, or only in finish: that is such a failure too.
 */
ASHUF_API ashuf_status ashuf_writer_push(ashuf_writer *writer, struct ArrowArray *batch,
                                         struct ashuf_error *error);
/* Writes everything, names the files, fills out (which may be NULL). Once. */
ASHUF_API ashuf_status ashuf_writer_finish(ashuf_writer *writer, struct ashuf_map_output *out,
                                           struct ashuf_error *error);
/* Frees the writer. Before a successful finish: removes everything it made. */
ASHUF_API void ashuf_writer_close(ashuf_writer *writer);

/*
 * These two may be called from any thread, from the callbacks of a memory domain and from a sink,
 * at any time between open and close; they never wait. The writer's own thread does what was asked
 * at the next step of push or finish.
 *
 * request_spill: the rows in memory go to a spill file. Nothing buffered: nothing happens.
 * cancel: push and finish fail with CANCELLED.
 */
ASHUF_API void ashuf_writer_request_spill(ashuf_writer *writer);
ASHUF_API void ashuf_writer_cancel(ashuf_writer *writer);

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

/*
 * Looks for the checksum file beside the data file, <stem>.checksum.ADLER32, CRC32C or CRC32.
 * algorithm (may be NULL) receives "ADLER32" and so on, or NULL where there is none. Not while
 * other threads use the file. Errors: IO, CHECKSUM_MISMATCH for a file that cannot belong to the
 * output.
 */
ASHUF_API ashuf_status ashuf_map_file_load_checksums(ashuf_map_file *file, const char **algorithm,
                                                     struct ashuf_error *error);
/*
 * Reads a partition and compares its bytes with their checksum, once those are loaded.
 * *compared is 0 where there is nothing to compare: no checksum file, an empty partition, or an
 * entry that says that none was computed. Error: CHECKSUM_MISMATCH, naming the partition.
 */
ASHUF_API ashuf_status ashuf_map_file_verify(const ashuf_map_file *file, int64_t partition,
                                             int *compared, struct ashuf_error *error);

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

enum ashuf_verify {
  /* Where a checksum file stands beside the data file, the bytes of each partition are read and
   * compared with it before one of its rows is given out. */
  ASHUF_VERIFY_BEFORE = 0,
  /* In one pass: compared as the blocks are read, the error comes behind the partition's rows. */
  ASHUF_VERIFY_TRAILING = 1,
  ASHUF_VERIFY_OFF = 2
};

struct ashuf_read_options {
  size_t struct_size;
  ashuf_memory *memory;
  struct ashuf_decode_options decode; /* struct_size 0: the defaults */
  int64_t first_partition;
  int64_t end_partition; /* exclusive; 0: to the last */
  int64_t first_map;     /* positions in the list of paths */
  int64_t end_map;       /* exclusive; 0: to the last */
  /*
   * Small blocks are put together into batches of up to so many rows, and so many decoded bytes
   * (default 16 MiB); a block that is larger comes alone. 0: one batch a block. Batches may then
   * hold rows of several partitions and map outputs.
   */
  int64_t target_rows;
  uint64_t target_bytes;
  /*
   * One of parts pieces of about the same bytes of every partition, cut between blocks: part 0 to
   * parts - 1 have all rows, each once. parts 0 or 1: the whole. Checksums are not compared then.
   */
  int32_t part;
  int32_t parts;
  int verify; /* enum ashuf_verify */
  /* Threads that decode, the calling one included; default 1. Blocks are decoded ahead, batches
   * come in the same order and are the same for any number. */
  int threads;
  uint64_t ahead_bytes; /* decoded bytes that wait for the consumer; default 64 MiB */
  int index_optional;   /* 1: a data file without index counts as one partition */
};
#define ASHUF_READ_OPTIONS_INIT                                                                    \
  {                                                                                                \
    sizeof(struct ashuf_read_options), 0, ASHUF_DECODE_OPTIONS_INIT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
        0, 0                                                                                       \
  }

/*
 * A stream over the blocks of map outputs, in the order of the paths, then partition, then
 * block. paths name data files; index and checksum file stand beside each. Every index is
 * checked before this returns.
 *
 * The stream has one schema: the expected one, or else that of the first block with dictionaries
 * replaced by their values; the projection is taken from it. Blocks that encode a column in another
 * way are brought to it, and time zones are labels that the schema says; a real difference is
 * SCHEMA_MISMATCH, naming the column. More distinct values in a block than an expected dictionary's
 * index type can say: SIZE_LIMIT, naming the column. No block and no expected schema: NO_SCHEMA.
 * The stream owns everything it needs; use it from one thread at a time.
 */
ASHUF_API ashuf_status ashuf_read_files(const char *const *paths, size_t n_paths,
                                        const struct ashuf_read_options *options,
                                        struct ArrowArrayStream *out, struct ashuf_error *error);

/* What a stream of ashuf_read_files has done so far; blocks read ahead count. */
struct ashuf_read_stats {
  size_t struct_size;
  uint64_t blocks;
  uint64_t rows; /* of the batches given out */
  uint64_t batches;
  uint64_t bytes_read;            /* from data files */
  uint64_t read_calls;            /* of the system, for those */
  uint64_t partitions_verified;   /* whose checksum was compared, and fits */
  uint64_t partitions_unverified; /* that have bytes, but no checksum to compare with, or a part of
                                     which was read, or with verify OFF */
};
#define ASHUF_READ_STATS_INIT \
  { sizeof(struct ashuf_read_stats), 0, 0, 0, 0, 0, 0, 0 }

/* 0 where the stream is not one of ashuf_read_files; out is left alone then. */
ASHUF_API int ashuf_stream_get_read_stats(struct ArrowArrayStream *stream,
                                          struct ashuf_read_stats *out);

/*
 * The whole error behind the last failure of a stream made by this library; 0 where the stream
 * is not one of ours or nothing failed. The text lives until the next call on the stream.
 */
ASHUF_API int ashuf_stream_get_error(struct ArrowArrayStream *stream, struct ashuf_error *out);

#ifdef __cplusplus
}
#endif

#endif /* ASHUF_SHUFFLE_H */

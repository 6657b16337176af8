/*
 * Status codes, errors, memory and byte containers: what every other part of the API uses.
 *
 * Grammar of the whole API
 *   - ashuf_<noun>_<verb>. What can fail returns ashuf_status (0 is success) and takes a
 *     struct ashuf_error * last, which may be NULL.
 *   - A typedef is an opaque handle; a struct tag is a struct of the caller's.
 *   - const means borrowed for the call. A non-const struct ArrowArray * or struct ashuf_bytes *
 *     input is moved: on success its release is NULL, on failure it is as it was.
 *   - Outputs are written on success only. *_free and *_close take NULL.
 *   - A struct that may grow begins with struct_size and has an ASHUF_..._INIT macro; a NULL
 *     options pointer means the defaults, and 0 in an option means its default.
 *   - Sizes in memory are size_t, in files and limits uint64_t, row counts int64_t.
 *   - One handle, one thread at a time, unless a comment says more.
 */
#ifndef ASHUF_BASE_H
#define ASHUF_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ASHUF_API __attribute__((visibility("default")))
#else
#define ASHUF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ASHUF_VERSION_MAJOR 0
#define ASHUF_VERSION_MINOR 1
#define ASHUF_VERSION_PATCH 0
#define ASHUF_VERSION_STRING "0.1.0"

/* The version of the library that is linked, "major.minor.patch"; static storage. Any thread. */
ASHUF_API const char *ashuf_version(void);

/* ---- Status ---------------------------------------------------------------------------- */

/*
 * Every status: name, pinned number, text. The numbers never change meaning; new ones are added
 * at the end. "Bad data" statuses (20 to 49) speak of bytes or arrays that were handed in.
 */
#define ASHUF_STATUS_LIST(X)                           \
  X(OK, 0, "success")                                  \
  X(INVALID_ARGUMENT, 1, "invalid argument")           \
  X(OUT_OF_MEMORY, 2, "out of memory")                 \
  X(MEMORY_LIMIT, 3, "memory limit reached")           \
  X(IO, 4, "input or output failed")                   \
  X(UNSUPPORTED, 5, "not supported")                   \
  X(INVALID_STATE, 6, "the handle cannot do this now") \
  X(CANCELLED, 7, "cancelled")                         \
  X(SIZE_LIMIT, 8, "larger than a limit allows")       \
  X(NO_SCHEMA, 9, "no block and no expected schema")   \
  X(TRUNCATED, 20, "ends too early")                   \
  X(TRAILING_DATA, 21, "bytes after the end")          \
  X(BAD_HEADER, 22, "bad block header")                \
  X(UNKNOWN_CODEC, 23, "unknown codec tag")            \
  X(BAD_COMPRESSION, 24, "damaged compressed data")    \
  X(BAD_FRAMING, 25, "bad message framing")            \
  X(BAD_METADATA, 26, "bad message metadata")          \
  X(BAD_SEQUENCE, 27, "message out of order")          \
  X(BAD_SCHEMA, 28, "bad schema")                      \
  X(BAD_BATCH, 29, "bad record batch layout")          \
  X(BAD_VALUES, 30, "bad values")                      \
  X(BIG_ENDIAN, 31, "big-endian data")                 \
  X(UNSUPPORTED_TYPE, 32, "unsupported type")          \
  X(SCHEMA_MISMATCH, 33, "schema mismatch")            \
  X(BAD_INDEX, 34, "bad index file")                   \
  X(BAD_ARRAY, 35, "bad input array")                  \
  X(NOT_ARROW, 36, "not Arrow IPC data")               \
  X(CHECKSUM_MISMATCH, 37, "checksum mismatch")

#define ASHUF_STATUS_ENUM(name, number, text) ASHUF_##name = (number),
enum { ASHUF_STATUS_LIST(ASHUF_STATUS_ENUM) ASHUF_STATUS_END_ };
#undef ASHUF_STATUS_ENUM

typedef int ashuf_status;

/* The name of a status ("BAD_HEADER") and its text; never NULL; static storage. Any thread. */
ASHUF_API const char *ashuf_status_name(ashuf_status status);
ASHUF_API const char *ashuf_status_text(ashuf_status status);

/* ---- Errors ---------------------------------------------------------------------------- */

/* What an error's offset counts in. */
enum ashuf_space {
  ASHUF_SPACE_NONE = 0,  /* no offset */
  ASHUF_SPACE_FILE = 1,  /* bytes of a file */
  ASHUF_SPACE_BLOCK = 2, /* bytes of a block, its header included */
  ASHUF_SPACE_STREAM = 3 /* bytes of the Arrow IPC stream inside a block, codec undone */
};

/*
 * What went wrong and where. The caller owns it; a failing call overwrites all of it, a
 * succeeding call leaves it alone. partition, map and block are -1 where they do not apply;
 * block_offset is the file offset of the block concerned, UINT64_MAX where unknown.
 */
struct ashuf_error {
  ashuf_status status;
  int os_errno;          /* errno of the failed system call, or 0 */
  int site;              /* stable number of the check that failed */
  int space;             /* enum ashuf_space */
  uint64_t offset;       /* valid when space is not NONE */
  uint64_t block_offset; /* file offset of the block */
  int64_t map;           /* map id, from the file name */
  int64_t partition;
  int64_t block; /* position in its partition, from 0 */
  char message[256];
};

/* ---- Memory ---------------------------------------------------------------------------- */

/*
 * A counted memory domain. Contexts, schemas, writers, readers and decoded batches keep a
 * reference, so several can share one limit and a batch may outlive its context. Wherever the
 * API takes an ashuf_memory *, NULL means the process's malloc without a limit or counters.
 * Thread-safe.
 */
typedef struct ashuf_memory ashuf_memory;

struct ashuf_memory_options {
  size_t struct_size;
  uint64_t limit; /* bytes in use at any time; 0: no limit */
  /* Allocator hooks; NULL: the system's. allocate gets a size > 0 and a power-of-two alignment,
   * and returns NULL when it has none; release gets the same size and alignment. */
  void *(*allocate)(void *user_data, size_t size, size_t alignment);
  void (*release)(void *user_data, void *pointer, size_t size, size_t alignment);
  /* A host's memory manager: grow asks for bytes before they are used, and refuses by returning
   * non-zero; shrink gives them back. Either both or neither. Both are called on any thread that
   * works for the domain. A writer that is refused moves its rows to a spill file, and goes on as
   * long as it is granted its smallest working set: a block being encoded, the codec's memory and a
   * block of each run; below that it fails with MEMORY_LIMIT. grow may call
   * ashuf_writer_request_spill for any writer, and wait for what another one gives back. */
  int (*grow)(void *user_data, uint64_t bytes);
  void (*shrink)(void *user_data, uint64_t bytes);
  void *user_data;
};
#define ASHUF_MEMORY_OPTIONS_INIT \
  { sizeof(struct ashuf_memory_options), 0, 0, 0, 0, 0, 0 }

struct ashuf_memory_stats {
  size_t struct_size;
  uint64_t now;         /* bytes in use */
  uint64_t peak;        /* largest value of now */
  uint64_t allocations; /* calls of the allocator so far */
  uint64_t total;       /* bytes allocated so far */
};
#define ASHUF_MEMORY_STATS_INIT \
  { sizeof(struct ashuf_memory_stats), 0, 0, 0, 0 }

ASHUF_API ashuf_status ashuf_memory_new(const struct ashuf_memory_options *options,
                                        ashuf_memory **out, struct ashuf_error *error);
/* One more reference; returns its argument. */
ASHUF_API ashuf_memory *ashuf_memory_ref(ashuf_memory *memory);
/* Drops one reference; the domain goes with the last one, handed-out batches included. */
ASHUF_API void ashuf_memory_free(ashuf_memory *memory);
ASHUF_API void ashuf_memory_get_stats(const ashuf_memory *memory, struct ashuf_memory_stats *out);

/* ---- Bytes in, bytes out ---------------------------------------------------------------- */

/*
 * Bytes handed to the library. release NULL: borrowed for the call. release set: given away on
 * success; the library calls release(bytes) once it no longer needs them, on any thread.
 */
struct ashuf_bytes {
  const uint8_t *data;
  size_t size;
  void (*release)(struct ashuf_bytes *bytes);
  void *private_data;
};

/*
 * Bytes handed out: a buffer that grows and is reused. Calls append at size; setting size to 0
 * keeps the capacity. Release with ashuf_buffer_free.
 */
struct ashuf_buffer {
  uint8_t *data;
  size_t size;
  size_t capacity;
  ashuf_memory *memory; /* set by the first call that grows it */
};
#define ASHUF_BUFFER_INIT \
  { 0, 0, 0, 0 }

ASHUF_API void ashuf_buffer_free(struct ashuf_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif /* ASHUF_BASE_H */

/*
 * The checksum file of a map output: one big-endian 64-bit number a partition, the checksum of its
 * bytes as they are stored; the algorithm is in the name, "<stem>.checksum.ADLER32" (CRC32,
 * CRC32C). Spark's writers leave partitions without rows at -2^63: those are not compared, and
 * neither is an empty partition.
 */
#ifndef ASHUF_SHUFFLE_CHECKSUM_FILE_H
#define ASHUF_SHUFFLE_CHECKSUM_FILE_H

#include "base/error.h"
#include "codec/checksum.h"

enum {
  SITE_CHECKSUM_MEMORY = 1050,
  SITE_CHECKSUM_SIZE = 1051,
  SITE_CHECKSUM_VALUE = 1052,
  SITE_CHECKSUM_DIFFERS = 1053
};

#define CHECKSUM_NOT_COMPUTED ((uint64_t)1 << 63)

struct checksum_file {
  int kind;         /* enum checksum_kind; NONE: there is no file */
  uint64_t *values; /* partitions of them */
  size_t size;      /* bytes of values */
};

/* The file beside a data file, of the first algorithm that has one. None is no error. Errors: IO,
 * CHECKSUM_MISMATCH where the file cannot belong to the output. */
ashuf_status checksum_file_load(const char *data_path, int64_t partitions, ashuf_memory *memory,
                                struct checksum_file *out, struct ashuf_error *error);
/* "<data_path without .data>.checksum.<ALGO>", NUL-terminated; *size: of the allocation. NULL: out
 * of memory. */
char *checksum_file_path(const char *data_path, int kind, ashuf_memory *memory, size_t *size);
void checksum_file_free(struct checksum_file *file, ashuf_memory *memory);

/* Whether there is something to compare a partition of size bytes with. */
static inline bool checksum_file_has(const struct checksum_file *file, int64_t partition,
                                     uint64_t size) {
  return file->kind != CHECKSUM_NONE && size != 0 &&
         file->values[partition] != CHECKSUM_NOT_COMPUTED;
}

/* CHECKSUM_MISMATCH where the partition's bytes, from offset on in the data file, have another. */
ashuf_status checksum_file_compare(const struct checksum_file *file, int64_t partition,
                                   uint64_t offset, uint32_t value, struct ashuf_error *error);

#endif /* ASHUF_SHUFFLE_CHECKSUM_FILE_H */

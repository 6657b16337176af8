/*
 * The footer of an Arrow IPC file: its schema and where its messages lie.
 *
 *   "ARROW1" 0 0 | schema message | dictionaries, record batches | end mark
 *                | footer (a FlatBuffer) | i32 its size | "ARROW1"
 *
 * File.fbs: Footer {0 version i16; 1 schema Schema; 2 dictionaries [Block]; 3 recordBatches
 * [Block]; 4 custom_metadata}; Block {offset i64; metaDataLength i32; 4 bytes pad; bodyLength
 * i64}, with the prefix of the message counted as metadata.
 */
#ifndef ASHUF_IPC_FILE_FOOTER_H
#define ASHUF_IPC_FILE_FOOTER_H

#include "ipc/input.h"
#include "ipc/metadata.h"

#define FILE_MAGIC "ARROW1"
#define FILE_MAGIC_SIZE 6u
/* The magic at the start is padded to this. */
#define FILE_START_SIZE 8u

struct file_block {
  uint64_t offset; /* of the prefix, in the file */
  uint64_t metadata_size;
  uint64_t body_size;
};

struct file_footer {
  ashuf_memory *memory;      /* not a reference */
  ashuf_schema *schema;      /* a reference */
  struct file_block *blocks; /* n_dictionaries, then n_batches */
  size_t n_dictionaries;
  size_t n_batches;
};

enum {
  SITE_FOOTER_SHORT = 670,
  SITE_FOOTER_MAGIC = 671,
  SITE_FOOTER_SIZE = 672,
  SITE_FOOTER_MEMORY = 673,
  SITE_FOOTER_VERSION = 674,
  SITE_FOOTER_NO_SCHEMA = 675,
  SITE_FOOTER_BLOCK = 676
};

/*
 * Reads the footer of a sized input; every block lies in front of it. Errors: TRUNCATED where the
 * end is missing, BAD_FRAMING, BAD_METADATA and those of schemas; offsets count in the file.
 */
ashuf_status file_footer_read(struct input *input, ashuf_memory *memory, struct file_footer *out,
                              struct ashuf_error *error);
/* Takes a zeroed one. */
void file_footer_free(struct file_footer *footer);

#endif /* ASHUF_IPC_FILE_FOOTER_H */

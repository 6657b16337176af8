/*
 * Where the bytes of a map output go: local files, or a caller's table of callbacks.
 *
 *   output_files_open | output_sink_open
 *     -> begin, bytes ..., end of each partition that has rows, in order -> finish
 *     -> output_close, always last: aborts what was not finished
 *
 * Local files are temporaries until finish names data, checksums and index as one step
 * (os/file.h).
 */
#ifndef ASHUF_SHUFFLE_OUTPUT_H
#define ASHUF_SHUFFLE_OUTPUT_H

#include "base/error.h"
#include "codec/checksum.h"
#include "os/file.h"

#include <ashuf/shuffle.h>

enum {
  SITE_OUTPUT_MEMORY = 1100,
  SITE_OUTPUT_PATHS = 1101,
  SITE_OUTPUT_MODE = 1102,
  SITE_OUTPUT_OPTION = 1103,
  SITE_OUTPUT_SINK = 1104
};

struct output_files {
  ashuf_memory *memory; /* not a reference */
  struct file_writer data;
  struct file_writer checksums;
  struct file_writer index;
  struct file_writer stale[CHECKSUM_CRC32C]; /* checksum files of an earlier output, which go */
  size_t n_stale;
  bool has_index;
  bool has_checksums;
  int index_order;
  bool sync;
};

struct output {
  bool open; /* neither finished nor closed */
  bool to_sink;
  struct ashuf_sink sink;
  struct output_files files;
};

/* options is resolved; paths are the caller's for the call. */
ashuf_status output_files_open(struct output *output, const struct ashuf_writer_options *options,
                               const char *data_path, const char *index_path,
                               struct ashuf_error *error);
void output_sink_open(struct output *output, const struct ashuf_sink *sink);

ashuf_status output_begin(struct output *output, int32_t partition, struct ashuf_error *error);
ashuf_status output_bytes(struct output *output, const void *bytes, size_t size,
                          struct ashuf_error *error);
ashuf_status output_end(struct output *output, int32_t partition, uint64_t size, uint32_t checksum,
                        struct ashuf_error *error);
ashuf_status output_complete(struct output *output, const struct ashuf_map_output *written,
                             struct ashuf_error *error);
/* Takes one that is zeroed, and one twice. */
void output_close(struct output *output);

#endif /* ASHUF_SHUFFLE_OUTPUT_H */

/*
 * The blocks of many map outputs as one ArrowArrayStream: what stands behind ashuf_read_files.
 *
 *   read_source -> read_queue -> unify -> blocks gathered to the targets -> batch_concat -> batch
 *
 * Every file is opened once to check it, then again in its turn, so that only one is open at a
 * time. The first block is read at once: it gives the schema where none is expected. One block is
 * looked ahead for, to know whether it still belongs; what goes wrong with it is told after the
 * batch that it does not belong to.
 */
#ifndef ASHUF_SHUFFLE_READER_H
#define ASHUF_SHUFFLE_READER_H

#include "base/error.h"

#include <ashuf/shuffle.h>

enum { SITE_READER_MEMORY = 1040, SITE_READER_NO_SCHEMA = 1041 };

/* options is complete: struct sizes set, decode included. */
ashuf_status reader_open(const char *const *paths, size_t n_paths,
                         const struct ashuf_read_options *options, struct ArrowArrayStream *out,
                         struct ashuf_error *error);

/* 0 where the stream is not one of these. */
int reader_get_stats(struct ArrowArrayStream *stream, struct ashuf_read_stats *out);

#endif /* ASHUF_SHUFFLE_READER_H */

/*
 * Arrow IPC files and streams as an ArrowArrayStream.
 *
 * The first bytes say what an input is:
 *
 *   "ARROW1" 0 0                      a file; read through its footer, or, where it comes through
 *                                     a pipe, as the stream it holds up to its end mark
 *   FF FF FF FF                       a stream
 *   a length, then a plausible root   a stream of before Arrow 0.15
 *   anything else                     NOT_ARROW
 *
 * A stream ends at its end mark, whatever follows, or where the data ends between two messages.
 * Every error begins with the name of the input; offsets count in the file. Where a fault lies in
 * a body that was compressed, the offset is that of the message.
 */
#ifndef ASHUF_IPC_STREAM_READER_H
#define ASHUF_IPC_STREAM_READER_H

#include "base/error.h"

#include <ashuf/ipc.h>

enum {
  SITE_READER_OPEN = 680,
  SITE_READER_EMPTY = 681,
  SITE_READER_FORM = 682,
  SITE_READER_FIRST = 683,
  SITE_READER_SCHEMA_BODY = 684,
  SITE_READER_SECOND_SCHEMA = 685,
  SITE_READER_TYPE = 686,
  SITE_READER_BODY_LIMIT = 687,
  SITE_READER_DICTIONARY_ID = 688,
  SITE_READER_DICTIONARY_TWICE = 689,
  SITE_READER_BLOCK = 690
};

/* The schema is read before this returns. options are complete: no field means "default". */
ashuf_status stream_reader_open(const char *path, const struct ashuf_ipc_read_options *options,
                                struct ArrowArrayStream *out, struct ashuf_error *error);

#endif /* ASHUF_IPC_STREAM_READER_H */

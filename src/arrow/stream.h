/*
 * What every ArrowArrayStream of this library has in common: the error behind its last failure.
 *
 * The private_data of a stream begins with a struct stream_state, and its get_last_error is
 * stream_last_error: that is how ashuf_stream_get_error knows a stream of ours. A callback that
 * fails fills state.error and returns stream_errno(&state.error); from then on it does so at once
 * (stream_has_failed), so that a failure is never followed by a clean end.
 */
#ifndef ASHUF_ARROW_STREAM_H
#define ASHUF_ARROW_STREAM_H

#include "base/error.h"

#include <ashuf/shuffle.h>

struct stream_state {
  struct ashuf_error error; /* status OK: nothing failed */
};

/* The errno a C stream returns for an error; never 0. */
int stream_errno(const struct ashuf_error *error);

static inline bool stream_has_failed(const struct stream_state *state) {
  return state->error.status != ASHUF_OK;
}

/* get_last_error of our streams: the message, or NULL where nothing failed. */
const char *stream_last_error(struct ArrowArrayStream *stream);

#endif /* ASHUF_ARROW_STREAM_H */

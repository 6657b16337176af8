#include "arrow/stream.h"

#include <errno.h>

int stream_errno(const struct ashuf_error *error) {
  switch (error->status) {
    case ASHUF_IO:
      return error->os_errno != 0 ? error->os_errno : EIO;
    case ASHUF_OUT_OF_MEMORY:
    case ASHUF_MEMORY_LIMIT:
      return ENOMEM;
    case ASHUF_UNSUPPORTED:
    case ASHUF_UNSUPPORTED_TYPE:
      return ENOTSUP;
    case ASHUF_CANCELLED:
      return ECANCELED;
    default:
      return EINVAL;
  }
}

const char *stream_last_error(struct ArrowArrayStream *stream) {
  const struct stream_state *state = stream->private_data;
  return stream_has_failed(state) ? state->error.message : NULL;
}

int ashuf_stream_get_error(struct ArrowArrayStream *stream, struct ashuf_error *out) {
  if (stream == NULL || out == NULL || stream->release == NULL) return 0;
  if (stream->get_last_error != stream_last_error) return 0;
  const struct stream_state *state = stream->private_data;
  if (!stream_has_failed(state)) return 0;
  *out = state->error;
  return 1;
}

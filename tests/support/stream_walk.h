/* Walks the messages of an Arrow IPC stream that a test read from a file, trusting its framing. */
#ifndef TESTS_SUPPORT_STREAM_WALK_H
#define TESTS_SUPPORT_STREAM_WALK_H

#include "ipc/metadata.h"

struct stream_walk {
  const uint8_t *data;
  size_t size;
  size_t at;
};

/* The next message's metadata; false at the end, or where the framing is broken. */
bool stream_walk_next(struct stream_walk *walk, const uint8_t **metadata, size_t *size);
/* Moves over the body of the message handed out last. */
void stream_walk_skip(struct stream_walk *walk, int64_t body_length);

/* The bytes of a file, from malloc; NULL where it cannot be read. */
uint8_t *stream_walk_file(const char *path, size_t *size);

#endif /* TESTS_SUPPORT_STREAM_WALK_H */

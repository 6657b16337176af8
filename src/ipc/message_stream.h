/*
 * The framing of an IPC stream: continuation word, metadata length, metadata, body; the ways a
 * stream can end (docs/FORMAT.md, "Messages").
 *
 * Bytes come from a byte_source: a codec's decoder inside a block, a file or a pipe elsewhere.
 * Metadata is handed out where it lies if the source can lend it, else from scratch that the next
 * message overwrites.
 *
 * Legal order: message_stream_open -> message_stream_next -> (its body: ipc/body.h) -> next ...
 * -> message_stream_tail after the end where nothing may follow.
 */
#ifndef ASHUF_IPC_MESSAGE_STREAM_H
#define ASHUF_IPC_MESSAGE_STREAM_H

#include "base/buffer.h"
#include "base/error.h"

struct byte_source {
  void *self;
  /* Up to size bytes; *got < size only at the end of the data. */
  ashuf_status (*read)(void *self, void *out, size_t size, size_t *got, struct ashuf_error *error);
  /* The next size bytes where they lie, moving past them, or NULL. May be NULL. */
  const uint8_t *(*borrow)(void *self, size_t size);
  /* No more bytes than this can come; UINT64_MAX where nobody knows. */
  uint64_t (*bound)(const void *self);
  /* No more bytes than this may come by a limit of the caller's; NULL: there is none. */
  uint64_t (*allowed)(const void *self);
  /* As read, for least of the size bytes or more; out has room for capacity bytes, which may be
   * overwritten. May be NULL. */
  ashuf_status (*read_part)(void *self, void *out, size_t least, size_t size, size_t capacity,
                            size_t *got, struct ashuf_error *error);
};

struct message_stream {
  const struct byte_source *source;
  ashuf_memory *memory;
  struct ashuf_buffer scratch; /* metadata that could not be lent */
  uint64_t position;           /* bytes of the stream taken so far */
  bool legacy_end;             /* the end mark was a bare zero word */
};

struct message_bytes {
  const uint8_t *data; /* metadata: flatbuffer and padding */
  size_t size;
  uint64_t offset; /* of data, in the stream */
};

enum stream_event {
  STREAM_MESSAGE,
  STREAM_END_MARK,   /* an explicit end */
  STREAM_END_OF_DATA /* the data stopped at a message boundary */
};

enum {
  SITE_PREFIX_TRUNCATED = 600,
  SITE_LENGTH_TRUNCATED = 601,
  SITE_LENGTH_NEGATIVE = 602,
  SITE_METADATA_TRUNCATED = 603,
  SITE_METADATA_MEMORY = 604,
  SITE_TRAILING = 605,
  SITE_BODY_TRUNCATED = 606,
  SITE_BODY_MEMORY = 607,
  SITE_MESSAGE_LIMIT = 608
};

/* Keeps scratch of an earlier use: zero-initialise the struct once. */
void message_stream_open(struct message_stream *stream, const struct byte_source *source,
                         ashuf_memory *memory);
ashuf_status message_stream_next(struct message_stream *stream, struct message_bytes *out,
                                 enum stream_event *event, struct ashuf_error *error);
/* Exactly size bytes of a body into out; TRUNCATED where fewer come. */
ashuf_status message_stream_read(struct message_stream *stream, void *out, size_t size,
                                 struct ashuf_error *error);
/* The same for the next bytes of a body of which size are still missing: least of them or more,
 * *got. There is room for capacity bytes at out: what is behind *got may be overwritten. */
ashuf_status message_stream_read_part(struct message_stream *stream, void *out, size_t least,
                                      size_t size, size_t capacity, size_t *got,
                                      struct ashuf_error *error);
/* The next size bytes where they lie, or NULL. */
const uint8_t *message_stream_borrow(struct message_stream *stream, size_t size);
/* SIZE_LIMIT where size more bytes may not come, TRUNCATED where they cannot. */
ashuf_status message_stream_expect(const struct message_stream *stream, uint64_t size,
                                   struct ashuf_error *error);
/* After STREAM_END_MARK: nothing may follow (a second zero word belongs to the old Java mark). */
ashuf_status message_stream_tail(struct message_stream *stream, struct ashuf_error *error);
void message_stream_free(struct message_stream *stream);
/* Drops scratch that has grown past cap. */
void message_stream_trim(struct message_stream *stream, size_t cap);

#endif /* ASHUF_IPC_MESSAGE_STREAM_H */

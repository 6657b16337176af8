/*
 * Arrow's own body compression, read only: every buffer of a message is compressed on its own
 * behind its 64-bit plain size (docs/FORMAT.md, "Body compression").
 */
#ifndef ASHUF_IPC_BODY_COMPRESSION_H
#define ASHUF_IPC_BODY_COMPRESSION_H

#include "ipc/body.h"
#include "ipc/metadata.h"

struct decoder;

struct body_unpacker {
  ashuf_memory *memory;      /* not a reference */
  struct decoder *frames;    /* made on first use */
  struct ashuf_buffer lists; /* the buffer list of the plain body */
  uint64_t max_size;         /* of a plain body; 0: no limit */
};

enum {
  SITE_UNPACK_MEMORY = 650,
  SITE_UNPACK_RANGE = 651,
  SITE_UNPACK_PREFIX = 652,
  SITE_UNPACK_SIZE = 653,
  SITE_UNPACK_LIMIT = 654
};

/*
 * Where the message is compressed: replaces *body by a plain one and the message's buffer list by
 * that of the plain body, which lives in the unpacker until its next call. Does nothing else.
 * On failure *body is as it was.
 */
ashuf_status body_unpack(struct body_unpacker *unpacker, struct message *message,
                         struct body **body, struct ashuf_error *error);
void body_unpacker_free(struct body_unpacker *unpacker);

#endif /* ASHUF_IPC_BODY_COMPRESSION_H */

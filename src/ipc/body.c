#include "ipc/body.h"

#include "base/bytes.h"

#define GROWTH_START ((size_t)4 << 20)

static struct body *place(ashuf_memory *memory, uint8_t *data, size_t at, size_t size) {
  struct body *body = (struct body *)(void *)(data + at);
  memset(body, 0, sizeof *body);
  body->data = data;
  body->writable = data;
  body->size = size;
  body->memory = ashuf_memory_ref(memory);
  body->allocation = at + sizeof *body;
  atomic_init(&body->references, 1);
  return body;
}

/* Memory for a body of size bytes and the struct, which goes to *at. */
static uint8_t *room_for(ashuf_memory *memory, size_t size, size_t *at) {
  if (size > SIZE_MAX / 2) return NULL;
  *at = round_up(size, MEMORY_ALIGNMENT);
  return memory_aligned(memory, *at + sizeof(struct body));
}

struct body *body_new(ashuf_memory *memory, size_t size) {
  size_t at = 0;
  uint8_t *data = room_for(memory, size, &at);
  return data == NULL ? NULL : place(memory, data, at, size);
}

/* The source may use the struct's place too, for what it decodes past the body: the end mark. */
static ashuf_status read_known(struct message_stream *stream, ashuf_memory *memory, size_t size,
                               struct body **out, struct ashuf_error *error) {
  size_t at = 0;
  uint8_t *data = room_for(memory, size, &at);
  if (data == NULL) return error_memory(error, SITE_BODY_MEMORY, memory, size);
  size_t capacity = at + sizeof(struct body);
  ashuf_status status = message_stream_read_over(stream, data, size, capacity, error);
  if (status == ASHUF_OK)
    *out = place(memory, data, at, size);
  else
    memory_free_aligned(memory, data, capacity);
  return status;
}

/* For a source of unknown length: what came is copied into a body of twice the size. */
static ashuf_status read_growing(struct message_stream *stream, ashuf_memory *memory, size_t size,
                                 struct body **out, struct ashuf_error *error) {
  size_t have = 0;
  size_t step = size < GROWTH_START ? size : GROWTH_START;
  struct body *body = body_new(memory, step);
  while (body != NULL) {
    ashuf_status status =
        message_stream_read(stream, body->writable + have, body->size - have, error);
    if (status != ASHUF_OK) {
      body_free(body);
      return status;
    }
    have = body->size;
    if (have == size) {
      *out = body;
      return ASHUF_OK;
    }
    struct body *larger = body_new(memory, size - have < have ? size : have * 2);
    if (larger != NULL) memcpy(larger->writable, body->data, have);
    body_free(body);
    body = larger;
  }
  return error_memory(error, SITE_BODY_MEMORY, memory, size);
}

ashuf_status body_read(struct message_stream *stream, ashuf_memory *memory, uint64_t size,
                       struct body **out, struct ashuf_error *error) {
  uint64_t offset = stream->position;
  ashuf_status status = message_stream_expect(stream, size, error);
  if (status != ASHUF_OK) return status;
  struct body *body = NULL;
  bool endless = stream->source->bound(stream->source->self) == UINT64_MAX;
  status = endless ? read_growing(stream, memory, (size_t)size, &body, error)
                   : read_known(stream, memory, (size_t)size, &body, error);
  if (status != ASHUF_OK) return status;
  body->offset = offset;
  *out = body;
  return ASHUF_OK;
}

/* A body that lies in a block of the caller's. The first of a block owns it, the others hold a
 * reference to the first. */
struct lent_body {
  struct body body;
  struct body *first;       /* NULL: this one */
  struct ashuf_bytes block; /* of the first; release NULL until adopted */
};

static const struct lent_body *lent_of(const struct body *body) {
  return (const struct lent_body *)(const void *)body;
}

struct body *body_lend(ashuf_memory *memory, const uint8_t *data, size_t size, uint64_t offset,
                       struct body *first) {
  struct lent_body *lent = memory_zeroed(memory, sizeof *lent);
  if (lent == NULL) return NULL;
  lent->body.data = data;
  lent->body.size = size;
  lent->body.offset = offset;
  lent->body.lent = true;
  lent->body.memory = ashuf_memory_ref(memory);
  lent->body.allocation = sizeof *lent;
  atomic_init(&lent->body.references, 1);
  if (first != NULL) lent->first = body_ref(first);
  return &lent->body;
}

void body_adopt(struct body *first, struct ashuf_bytes *block) {
  ((struct lent_body *)(void *)first)->block = *block;
  block->release = NULL;
}

struct body *body_ref(struct body *body) {
  atomic_fetch_add_explicit(&body->references, 1, memory_order_relaxed);
  return body;
}

const struct body *body_owner(const struct body *body) {
  if (!body->lent) return NULL;
  return lent_of(body)->first != NULL ? lent_of(body)->first : body;
}

uint64_t body_block_size(const struct body *owner) { return lent_of(owner)->block.size; }

static void free_lent(struct lent_body *lent) {
  struct ashuf_bytes block = lent->block;
  body_free(lent->first);
  memory_free(lent->body.memory, lent, sizeof *lent);
  if (block.release != NULL) block.release(&block);
}

void body_free(struct body *body) {
  if (body == NULL || atomic_fetch_sub_explicit(&body->references, 1, memory_order_acq_rel) != 1)
    return;
  ashuf_memory *memory = body->memory;
  if (body->lent)
    free_lent((struct lent_body *)(void *)body);
  else
    memory_free_aligned(memory, body->writable, body->allocation);
  ashuf_memory_free(memory);
}

#include "ipc/body.h"

#include "base/bytes.h"

#define GROWTH_START ((size_t)4 << 20)
/* What is read at once at the least: enough to be worth a call, and half of the L1 cache. */
#define READ_STEP ((size_t)16 << 10)
/* Room behind a body for what the source decodes past it: the end mark. */
#define TAIL ((size_t)8)

_Static_assert(sizeof(struct body) <= BODY_ALIGNMENT, "the bytes follow the struct");

static size_t own_allocation(size_t size) { return BODY_ALIGNMENT + round_up(size, 8) + TAIL; }

struct body *body_new(ashuf_memory *memory, size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  struct body *body = memory_aligned(memory, own_allocation(size));
  if (body == NULL) return NULL;
  memset(body, 0, sizeof *body);
  body->data = (const uint8_t *)body + BODY_ALIGNMENT;
  body->size = size;
  body->arrived = size;
  body->memory = ashuf_memory_ref(memory);
  atomic_init(&body->references, 1);
  return body;
}

uint8_t *body_writable(struct body *body) {
  return body->lent ? NULL : (uint8_t *)body + BODY_ALIGNMENT;
}

ashuf_status body_begin(struct message_stream *stream, ashuf_memory *memory, uint64_t size,
                        struct body **out, struct ashuf_error *error) {
  ashuf_status status = message_stream_expect(stream, size, error);
  if (status != ASHUF_OK) return status;
  struct body *body = body_new(memory, (size_t)size);
  if (body == NULL) return error_memory(error, SITE_BODY_MEMORY, memory, (size_t)size);
  body->offset = stream->position;
  body->arrived = 0;
  body->stream = stream;
  body->source = message_stream_borrow(stream, (size_t)size);
  *out = body;
  return ASHUF_OK;
}

ashuf_status body_read_on(struct body *body, size_t end, struct ashuf_error *error) {
  size_t size = body->size - body->arrived;
  size_t least = end - body->arrived < READ_STEP ? READ_STEP : end - body->arrived;
  if (least > size) least = size;
  uint8_t *out = body_writable(body) + body->arrived;
  if (body->source != NULL) {
    memcpy(out, body->source + body->arrived, least);
    body->arrived += least;
    return ASHUF_OK;
  }
  size_t capacity = own_allocation(body->size) - BODY_ALIGNMENT - body->arrived;
  size_t got = 0;
  ashuf_status status =
      message_stream_read_part(body->stream, out, least, size, capacity, &got, error);
  if (status == ASHUF_OK) body->arrived += got;
  return status;
}

const uint8_t *body_take(struct body *body, size_t start, size_t end) {
  if (body->source == NULL || start < body->arrived) return NULL;
  memcpy(body_writable(body) + body->arrived, body->source + body->arrived, start - body->arrived);
  body->arrived = end;
  return body->source + start;
}

/* For a source of unknown length: what came is copied into a body of twice the size. */
static ashuf_status read_growing(struct message_stream *stream, ashuf_memory *memory, size_t size,
                                 struct body **out, struct ashuf_error *error) {
  size_t have = 0;
  size_t step = size < GROWTH_START ? size : GROWTH_START;
  struct body *body = body_new(memory, step);
  while (body != NULL) {
    ashuf_status status =
        message_stream_read(stream, body_writable(body) + have, body->size - have, error);
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
    if (larger != NULL) memcpy(body_writable(larger), body->data, have);
    body_free(body);
    body = larger;
  }
  return error_memory(error, SITE_BODY_MEMORY, memory, size);
}

ashuf_status body_read(struct message_stream *stream, ashuf_memory *memory, uint64_t size,
                       struct body **out, struct ashuf_error *error) {
  uint64_t offset = stream->position;
  struct body *body = NULL;
  if (stream->source->bound(stream->source->self) == UINT64_MAX) {
    ashuf_status status = read_growing(stream, memory, (size_t)size, &body, error);
    if (status != ASHUF_OK) return status;
    body->offset = offset;
  } else {
    ashuf_status status = body_begin(stream, memory, size, &body, error);
    if (status == ASHUF_OK) status = body_arrive(body, (size_t)size, error);
    if (status != ASHUF_OK) {
      body_free(body);
      return status;
    }
  }
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
  lent->body.arrived = size;
  lent->body.offset = offset;
  lent->body.lent = true;
  lent->body.memory = ashuf_memory_ref(memory);
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

size_t body_allocation(const struct body *body) {
  return body->lent ? sizeof(struct lent_body) : own_allocation(body->size);
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
    memory_free_aligned(memory, body, own_allocation(body->size));
  ashuf_memory_free(memory);
}

#include "ipc/batch_holder.h"

#include "base/bytes.h"

struct holder_extra {
  struct holder_extra *next;
  size_t size; /* of the whole allocation */
};

#define EXTRA_HEADER BODY_ALIGNMENT
_Static_assert(sizeof(struct holder_extra) <= EXTRA_HEADER, "the data starts behind the header");

static void **end_of(const struct batch_holder *holder) {
  return (void **)(void *)((char *)(uintptr_t)holder + holder->allocation);
}

struct batch_holder *batch_holder_new(const ashuf_schema *schema, ashuf_memory *memory) {
  size_t arrays = (size_t)schema->n_arrays;
  size_t bodies = 1 + (size_t)schema->n_dictionaries;
  size_t pointers = 1 + (size_t)schema->n_pointers + arrays; /* buffers, children */
  size_t size = sizeof(struct batch_holder) + arrays * sizeof(struct ArrowArray) +
                (bodies + pointers) * sizeof(void *);
  struct batch_holder *holder = memory_alloc(memory, size);
  if (holder == NULL) return NULL;
  memset(holder, 0, sizeof *holder);
  atomic_init(&holder->references, 0);
  holder->memory = ashuf_memory_ref(memory);
  holder->allocation = size;
  holder->n_arrays = 1;
  holder->n_slots = (uint32_t)bodies;
  return holder;
}

static struct body **body_at(const struct batch_holder *holder, uint32_t i) {
  return (struct body **)(end_of(holder) - 1 - i);
}

void batch_holder_keep(struct batch_holder *holder, struct body *body) {
  *body_at(holder, holder->n_bodies++) = body_ref(body);
}

static void array_release(struct ArrowArray *array);

struct ArrowArray *batch_holder_array(struct batch_holder *holder) {
  struct ArrowArray *array = (struct ArrowArray *)(void *)(holder + 1) + (holder->n_arrays++ - 1);
  memset(array, 0, sizeof *array);
  array->release = array_release;
  array->private_data = holder;
  return array;
}

static void **take_slots(struct batch_holder *holder, int64_t n) {
  holder->n_slots += (uint32_t)n;
  return end_of(holder) - holder->n_slots;
}

const void **batch_holder_pointers(struct batch_holder *holder, int64_t n) {
  return (const void **)take_slots(holder, n);
}

struct ArrowArray **batch_holder_children(struct batch_holder *holder, int64_t n) {
  return (struct ArrowArray **)take_slots(holder, n);
}

void *batch_holder_extra(struct batch_holder *holder, size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  struct holder_extra *extra = memory_aligned(holder->memory, EXTRA_HEADER + size);
  if (extra == NULL) return NULL;
  extra->next = holder->extras;
  extra->size = EXTRA_HEADER + size;
  holder->extras = extra;
  return (char *)extra + EXTRA_HEADER;
}

void batch_holder_abandon(struct batch_holder *holder) {
  if (holder == NULL) return;
  while (holder->extras != NULL) {
    struct holder_extra *next = holder->extras->next;
    memory_free_aligned(holder->memory, holder->extras, holder->extras->size);
    holder->extras = next;
  }
  for (uint32_t i = 0; i < holder->n_bodies; i++) body_free(*body_at(holder, i));
  ashuf_memory *memory = holder->memory;
  memory_free(memory, holder, holder->allocation);
  ashuf_memory_free(memory);
}

/* Marks the array and what still hangs below it as released; returns how many of ours those
 * were. An array that somebody else put in place of a moved child is released as its own. */
static unsigned mark_released(struct ArrowArray *array) {
  unsigned count = 1;
  struct ArrowArray *below = array->dictionary;
  for (int64_t i = -1; i < array->n_children; i++) {
    if (i >= 0) below = array->children[i];
    if (below == NULL || below->release == NULL) continue;
    if (below->release == array_release && below->private_data == array->private_data)
      count += mark_released(below);
    else
      below->release(below);
  }
  array->release = NULL;
  return count;
}

static void array_release(struct ArrowArray *array) {
  struct batch_holder *holder = array->private_data;
  unsigned count = mark_released(array);
  if (atomic_fetch_sub_explicit(&holder->references, count, memory_order_acq_rel) == count)
    batch_holder_abandon(holder);
}

void batch_holder_finish(struct batch_holder *holder, struct ArrowArray *root) {
  root->release = array_release;
  root->private_data = holder;
  atomic_store_explicit(&holder->references, holder->n_arrays, memory_order_release);
}

uint64_t batch_holder_retained(const struct ArrowArray *array) {
  if (array == NULL || array->release != array_release) return 0;
  const struct batch_holder *holder = array->private_data;
  uint64_t bytes = holder->allocation;
  const struct body *counted = NULL; /* all lent bodies of a batch lie in one block */
  for (uint32_t i = 0; i < holder->n_bodies; i++) {
    const struct body *owner = body_owner(*body_at(holder, i));
    bytes += body_allocation(*body_at(holder, i));
    if (owner != NULL && owner != counted) bytes += body_block_size(owner);
    if (owner != NULL) counted = owner;
  }
  for (const struct holder_extra *extra = holder->extras; extra != NULL; extra = extra->next)
    bytes += extra->size;
  return bytes;
}

bool batch_holder_is_of(const struct ArrowArray *array, const ashuf_memory *memory) {
  if (array->release != array_release) return false;
  const struct batch_holder *holder = array->private_data;
  return holder->memory == memory;
}

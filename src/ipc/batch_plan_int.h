/* What the files that plan a batch share. */
#ifndef ASHUF_IPC_BATCH_PLAN_INT_H
#define ASHUF_IPC_BATCH_PLAN_INT_H

#include "arrow/gather.h"
#include "ipc/batch_plan.h"

/* One record batch being planned. */
struct planner {
  const struct batch_layout *layout;
  struct arena *arena;
  struct batch_plans *plans;
  struct batch_plan *plan;  /* the batch or the dictionary that fields are added to */
  struct batch_plan **last; /* where the next dictionary is linked in */
  bool one_batch;           /* the rows are ranges of one batch, ... */
  size_t batch;             /* ... this one */
  struct ashuf_error *error;
};

/* Which rows of which source, and what is known of their nulls. */
struct planned {
  const struct source *source;
  const struct selection *selection;
  const uint8_t *validity; /* NULL: no nulls */
  int64_t nulls;
  bool masked; /* what lies under nulls is not written: children are null there too */
};

ashuf_status planner_no_memory(struct planner *planner, size_t size);
/* count elements of size from the arena; NULL: out of memory. */
void *planner_take(struct planner *planner, uint64_t count, size_t size);

void planner_add_node(struct planner *planner, int64_t length, int64_t nulls);
/* Gives the buffer its place in the body. field: the type of its values, NULL for anything else. */
void planner_add_buffer(struct planner *planner, const struct field *field, uint64_t size,
                        const struct plan_piece *piece);
void planner_add_memory(struct planner *planner, const void *memory, uint64_t size);
/* The bitmap, or what stands for none. */
ashuf_status planner_add_validity(struct planner *planner, const struct planned *planned);
/* Whether offsets up to total fit; where not, the plan is marked and may not be used. */
bool planner_offsets_fit(struct planner *planner, const struct field *field, uint64_t total);

/* A field and all below it. mask: bits of the rows, 0 for a row that has to be null; or NULL. */
ashuf_status planner_add_field(struct planner *planner, const struct source *source,
                               const struct selection *selection, const uint8_t *mask);

/*
 * The view of which the selected rows are all, where the layout writes such arrays as they are
 * (whole_dictionaries); else NULL.
 */
const struct array_view *planner_whole(const struct planner *planner, const struct source *source,
                                       const struct selection *selection);
/* All rows of the children of such an array. */
ashuf_status planner_add_children(struct planner *planner, const struct source *source);

/* The layouts of batch_plan_views.c and batch_plan_unions.c; the node has been added, and the
 * validity where there is one. */
ashuf_status plan_views(struct planner *planner, const struct planned *planned);
ashuf_status plan_list_views(struct planner *planner, const struct planned *planned);
ashuf_status plan_union(struct planner *planner, const struct planned *planned);
ashuf_status plan_runs(struct planner *planner, const struct planned *planned);

#endif /* ASHUF_IPC_BATCH_PLAN_INT_H */

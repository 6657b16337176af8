#include "shuffle/unify.h"

#include "ipc/batch_concat.h"
#include "ipc/batch_dress.h"

#include <string.h>

enum { SITE_UNIFY_MEMORY = 1070 };

void unify_init(struct unifier *unifier, const ashuf_schema *wanted, ashuf_memory *memory) {
  memset(unifier, 0, sizeof *unifier);
  unifier->memory = memory;
  unifier->wanted = ashuf_schema_ref(wanted);
}

void unify_free(struct unifier *unifier) {
  for (int i = 0; i < UNIFY_KNOWN; i++) ashuf_schema_free(unifier->known[i].found);
  ashuf_schema_free(unifier->wanted);
}

/* Schemas come from caches: the same one comes again and again. */
static ashuf_status is_alike(struct unifier *unifier, const ashuf_schema *found, bool *alike,
                             struct ashuf_error *error) {
  for (int i = 0; i < UNIFY_KNOWN; i++)
    if (unifier->known[i].found == found) {
      *alike = unifier->known[i].alike;
      return ASHUF_OK;
    }
  ashuf_status status = schema_reconcile(unifier->wanted, found, alike, error);
  if (status != ASHUF_OK) return status;
  struct unify_known *entry = &unifier->known[unifier->next++ % UNIFY_KNOWN];
  ashuf_schema_free(entry->found);
  *entry = (struct unify_known){ashuf_schema_ref(found), *alike};
  return ASHUF_OK;
}

/* Through plain values, where the encodings differ at all. */
static ashuf_status convert(struct unifier *unifier, const ashuf_schema *found,
                            const struct ArrowArray *batch, struct ArrowArray *out,
                            struct ashuf_error *error) {
  const ashuf_schema *wanted = unifier->wanted;
  if (wanted->n_dictionaries == 0)
    return batch_concat(found, batch, 1, wanted, unifier->memory, out, error);
  if (found->n_dictionaries == 0) return batch_dress(wanted, batch, unifier->memory, out, error);
  ashuf_schema *between = schema_plain(found);
  if (between == NULL)
    return error_memory(error, SITE_UNIFY_MEMORY, unifier->memory, sizeof *between);
  struct ArrowArray plain;
  ashuf_status status = batch_concat(found, batch, 1, between, unifier->memory, &plain, error);
  ashuf_schema_free(between);
  if (status != ASHUF_OK) return status;
  status = batch_dress(wanted, &plain, unifier->memory, out, error);
  plain.release(&plain);
  return status;
}

ashuf_status unify_batch(struct unifier *unifier, const ashuf_schema *found,
                         struct ArrowArray *batch, struct ashuf_error *error) {
  bool alike = true;
  struct ArrowArray converted;
  ashuf_status status = is_alike(unifier, found, &alike, error);
  if (status != ASHUF_OK || alike) return status;
  status = convert(unifier, found, batch, &converted, error);
  if (status != ASHUF_OK) return status;
  batch->release(batch);
  *batch = converted;
  return ASHUF_OK;
}

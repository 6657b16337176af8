/*
 * ArrowSchema trees written by hand, as another producer would hand them in. All nodes of a test
 * live until schema_nodes_free. Nodes are counted as released by their release callback.
 */
#ifndef TESTS_SUPPORT_SCHEMA_NODES_H
#define TESTS_SUPPORT_SCHEMA_NODES_H

#include <ashuf/arrow_abi.h>
#include <stddef.h>

/* format and name are not copied. Nullable. */
struct ArrowSchema *schema_node(const char *format, const char *name);
/* The same with other flags. */
struct ArrowSchema *schema_node_flags(const char *format, const char *name, int64_t flags);
/* Appends a child; returns the parent. */
struct ArrowSchema *schema_node_add(struct ArrowSchema *parent, struct ArrowSchema *child);
/* Dictionary-encodes indices; returns them. */
struct ArrowSchema *schema_node_encode(struct ArrowSchema *indices, struct ArrowSchema *values);
/* "+s" named "" with one child. */
struct ArrowSchema *schema_node_batch(struct ArrowSchema *column);
void schema_nodes_free(void);

#endif /* TESTS_SUPPORT_SCHEMA_NODES_H */

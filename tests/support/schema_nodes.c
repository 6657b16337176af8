#include "support/schema_nodes.h"

#include <stdlib.h>
#include <string.h>

struct node {
  struct ArrowSchema schema; /* first: the address of the node */
  struct node *next;
};

static struct node *nodes;

static void release(struct ArrowSchema *schema) { schema->release = NULL; }

struct ArrowSchema *schema_node_flags(const char *format, const char *name, int64_t flags) {
  struct node *node = calloc(1, sizeof *node);
  if (node == NULL) abort();
  node->next = nodes;
  nodes = node;
  node->schema.format = format;
  node->schema.name = name;
  node->schema.flags = flags;
  node->schema.release = release;
  return &node->schema;
}

struct ArrowSchema *schema_node(const char *format, const char *name) {
  return schema_node_flags(format, name, ARROW_FLAG_NULLABLE);
}

struct ArrowSchema *schema_node_add(struct ArrowSchema *parent, struct ArrowSchema *child) {
  size_t n = (size_t)parent->n_children + 1;
  struct ArrowSchema **children = realloc(parent->children, n * sizeof *children);
  if (children == NULL) abort();
  children[n - 1] = child;
  parent->children = children;
  parent->n_children = (int64_t)n;
  return parent;
}

struct ArrowSchema *schema_node_encode(struct ArrowSchema *indices, struct ArrowSchema *values) {
  indices->dictionary = values;
  return indices;
}

struct ArrowSchema *schema_node_batch(struct ArrowSchema *column) {
  return schema_node_add(schema_node_flags("+s", "", 0), column);
}

void schema_nodes_free(void) {
  while (nodes != NULL) {
    struct node *node = nodes;
    nodes = node->next;
    free(node->schema.children);
    free(node);
  }
}

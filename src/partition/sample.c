#include "partition/sample.h"

/* ---- Order -------------------------------------------------------------------------------- */

static int key_compare(const struct candidate *a, const struct candidate *b) {
  if (a->prefix != b->prefix) return a->prefix < b->prefix ? -1 : 1;
  return row_bytes_compare(a->key, b->key);
}

/* Of equal keys the lighter comes first, so that the order of the candidates does not matter. */
static bool is_before(const struct candidate *a, const struct candidate *b) {
  int order = key_compare(a, b);
  return order != 0 ? order < 0 : a->weight < b->weight;
}

static void sift_down(struct candidate *heap, size_t n, size_t at) {
  struct candidate moved = heap[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= n) break;
    if (child + 1 < n && is_before(&heap[child], &heap[child + 1])) child++;
    if (!is_before(&moved, &heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

/* Heapsort: in place, and nobody's keys make it slow. */
static void sort(struct candidate *candidates, size_t n) {
  for (size_t i = n / 2; i-- > 0;) sift_down(candidates, n, i);
  for (size_t end = n; end > 1; end--) {
    struct candidate largest = candidates[0];
    candidates[0] = candidates[end - 1];
    candidates[end - 1] = largest;
    sift_down(candidates, end - 1, 0);
  }
}

/* ---- Bounds ------------------------------------------------------------------------------- */

int32_t sample_choose(struct candidate *candidates, size_t n, int32_t partitions) {
  sort(candidates, n);
  int32_t parts = n < (size_t)partitions ? (int32_t)n : partitions;
  double total = 0;
  for (size_t i = 0; i < n; i++) total += (double)candidates[i].weight;
  double step = total / parts;
  double target = step;
  double sum = 0;
  int32_t chosen = 0;
  for (size_t i = 0; i < n && chosen < parts - 1; i++) {
    sum += (double)candidates[i].weight;
    if (sum < target) continue;
    if (chosen != 0 && key_compare(&candidates[chosen - 1], &candidates[i]) == 0) continue;
    candidates[chosen++] = candidates[i];
    target += step;
  }
  return chosen;
}

/*
 * Offsets stored as lengths (docs/FORMAT.md, "Offsets stored as lengths"): an offsets buffer of
 * n entries becomes its first entry and the n - 1 differences, spread over as many byte planes as
 * an entry has bytes, lowest byte first. Same place, same size, easier to compress.
 */
#ifndef ASHUF_IPC_LENGTH_PLANES_H
#define ASHUF_IPC_LENGTH_PLANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* width 4 or 8; n entries of it in each direction; the two ranges do not overlap. */
void planes_from_offsets(const void *offsets, int width, int64_t n, uint8_t *planes);

/* false where a length is negative or the sum leaves the width's range; out is then garbage. */
bool planes_to_offsets(const uint8_t *planes, int width, int64_t n, void *out);

#endif /* ASHUF_IPC_LENGTH_PLANES_H */

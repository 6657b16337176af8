#include "ipc/length_planes.h"

#include "base/bytes.h"

/*
 * Both directions run in pieces that stay in the L1 cache: the byte shuffle is a plain loop that
 * the compiler vectorises, the running sum is the only serial part.
 */
#define PIECE 512

static void split32(const uint32_t *restrict lengths, size_t n, size_t stride,
                    uint8_t *restrict planes) {
  for (size_t i = 0; i < n; i++) planes[i] = (uint8_t)lengths[i];
  for (size_t i = 0; i < n; i++) planes[stride + i] = (uint8_t)(lengths[i] >> 8);
  for (size_t i = 0; i < n; i++) planes[2 * stride + i] = (uint8_t)(lengths[i] >> 16);
  for (size_t i = 0; i < n; i++) planes[3 * stride + i] = (uint8_t)(lengths[i] >> 24);
}

static void from_offsets32(const uint32_t *restrict offsets, size_t n, uint8_t *restrict planes) {
  uint32_t lengths[PIECE];
  for (size_t done = 0; done < n; done += PIECE) {
    size_t piece = n - done < PIECE ? n - done : PIECE;
    const uint32_t *in = offsets + done;
    lengths[0] = done == 0 ? in[0] : in[0] - in[-1];
    for (size_t i = 1; i < piece; i++) lengths[i] = in[i] - in[i - 1];
    split32(lengths, piece, n, planes + done);
  }
}

static void from_offsets64(const uint64_t *offsets, size_t n, uint8_t *planes) {
  uint64_t previous = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t length = offsets[i] - previous;
    previous = offsets[i];
    for (size_t k = 0; k < 8; k++) planes[k * n + i] = (uint8_t)(length >> (8 * k));
  }
}

void planes_from_offsets(const void *offsets, int width, int64_t n, uint8_t *planes) {
  if (width == 4)
    from_offsets32(offsets, (size_t)n, planes);
  else
    from_offsets64(offsets, (size_t)n, planes);
}

static void join32(const uint8_t *restrict planes, size_t stride, size_t n,
                   uint32_t *restrict out) {
  const uint8_t *p1 = planes + stride;
  const uint8_t *p2 = planes + 2 * stride;
  const uint8_t *p3 = planes + 3 * stride;
  for (size_t i = 0; i < n; i++)
    out[i] = (uint32_t)planes[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16 |
             (uint32_t)p3[i] << 24;
}

static bool to_offsets32(const uint8_t *planes, size_t n, uint32_t *out) {
  uint64_t sum = 0;
  uint32_t signs = 0;
  for (size_t done = 0; done < n; done += PIECE) {
    size_t piece = n - done < PIECE ? n - done : PIECE;
    uint32_t *offsets = out + done;
    join32(planes + done, n, piece, offsets);
    for (size_t i = 0; i < piece; i++) {
      signs |= offsets[i];
      sum += offsets[i];
      offsets[i] = (uint32_t)sum;
    }
    if ((signs >> 31) != 0 || sum > INT32_MAX) return false;
  }
  return true;
}

static bool to_offsets64(const uint8_t *planes, size_t n, uint64_t *out) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t length = 0;
    for (size_t k = 0; k < 8; k++) length |= (uint64_t)planes[k * n + i] << (8 * k);
    if (length > INT64_MAX || !add_u64(sum, length, &sum) || sum > INT64_MAX) return false;
    out[i] = sum;
  }
  return true;
}

bool planes_to_offsets(const uint8_t *planes, int width, int64_t n, void *out) {
  return width == 4 ? to_offsets32(planes, (size_t)n, out) : to_offsets64(planes, (size_t)n, out);
}

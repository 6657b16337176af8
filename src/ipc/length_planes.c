#include "ipc/length_planes.h"

#include "base/bytes.h"
#include "base/cpu.h"
#include "base/running_sum.h"

/*
 * Both directions run in pieces that stay in the L1 cache. Most lengths fit into a byte: a piece of
 * such lengths needs plane 0 alone, the others are zero.
 */
#define PIECE 512

/* ---- Offsets to planes -------------------------------------------------------------------- */

/* The differences of a piece; returns all their bits. previous: the offset before it, or 0. */
CPU_KERNEL(uint32_t, take_lengths, (const uint32_t *in, size_t n, uint32_t previous, uint32_t *out),
           (in, n, previous, out)) {
  uint32_t bits = out[0] = in[0] - previous;
  for (size_t i = 1; i < n; i++) {
    out[i] = in[i] - in[i - 1];
    bits |= out[i];
  }
  return bits;
}

CPU_KERNEL(void, split_plane, (const uint32_t *lengths, size_t n, unsigned shift, uint8_t *plane),
           (lengths, n, shift, plane)) {
  for (size_t i = 0; i < n; i++) plane[i] = (uint8_t)(lengths[i] >> shift);
}

static void from_offsets32(const uint32_t *offsets, size_t n, uint8_t *planes) {
  uint32_t lengths[PIECE];
  for (size_t done = 0; done < n; done += PIECE) {
    size_t piece = n - done < PIECE ? n - done : PIECE;
    uint32_t previous = done == 0 ? 0 : offsets[done - 1];
    uint32_t bits = take_lengths(offsets + done, piece, previous, lengths);
    split_plane(lengths, piece, 0, planes + done);
    for (unsigned k = 1; k < 4; k++) {
      uint8_t *plane = planes + k * n + done;
      if (bits >> (8 * k) == 0)
        memset(plane, 0, piece);
      else
        split_plane(lengths, piece, 8 * k, plane);
    }
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

/* ---- Planes to offsets -------------------------------------------------------------------- */

/* Whether a piece of the three upper planes is zero. */
CPU_KERNEL(bool, fits_bytes, (const uint8_t *planes, size_t stride, size_t n),
           (planes, stride, n)) {
  uint8_t bits = 0;
  for (size_t i = 0; i < n; i++)
    bits |= (uint8_t)(planes[stride + i] | planes[2 * stride + i] | planes[3 * stride + i]);
  return bits == 0;
}

CPU_KERNEL(void, join_planes, (const uint8_t *planes, size_t stride, size_t n, uint32_t *out),
           (planes, stride, n, out)) {
  const uint8_t *p1 = planes + stride;
  const uint8_t *p2 = planes + 2 * stride;
  const uint8_t *p3 = planes + 3 * stride;
  for (size_t i = 0; i < n; i++)
    out[i] =
        (uint32_t)planes[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16 | (uint32_t)p3[i] << 24;
}

/* Lengths below 256, each in a word. */
CPU_KERNEL(void, widen_bytes, (const uint8_t *lengths, size_t n, uint32_t *out),
           (lengths, n, out)) {
  for (size_t i = 0; i < n; i++) out[i] = lengths[i];
}

/* The bits of all lengths of a piece. */
CPU_KERNEL(uint32_t, all_bits, (const uint32_t *lengths, size_t n), (lengths, n)) {
  uint32_t bits = 0;
  for (size_t i = 0; i < n; i++) bits |= lengths[i];
  return bits;
}

/* Offsets in place of lengths; UINT64_MAX where a length is negative. Below 2^22 a piece of them
 * cannot leave 32 bits. */
static uint64_t sum_lengths(uint32_t *lengths, size_t n, uint32_t bits, uint64_t sum) {
  if (bits < (1u << 22)) {
    uint32_t from = (uint32_t)sum;
    return sum + (uint32_t)(running_sum(lengths, n, from, lengths) - from);
  }
  for (size_t i = 0; i < n; i++) {
    sum += lengths[i];
    lengths[i] = (uint32_t)sum;
  }
  return bits >> 31 != 0 ? UINT64_MAX : sum;
}

static bool to_offsets32(const uint8_t *planes, size_t n, uint32_t *out) {
  uint64_t sum = 0;
  for (size_t done = 0; done < n; done += PIECE) {
    size_t piece = n - done < PIECE ? n - done : PIECE;
    uint32_t bits = 0xff;
    if (fits_bytes(planes + done, n, piece)) {
      widen_bytes(planes + done, piece, out + done);
    } else {
      join_planes(planes + done, n, piece, out + done);
      bits = all_bits(out + done, piece);
    }
    sum = sum_lengths(out + done, piece, bits, sum);
    if (sum > INT32_MAX) return false;
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

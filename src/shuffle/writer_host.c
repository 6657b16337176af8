#include "shuffle/writer.h"

/* What lies in memory at a time while runs are merged, as shares of the limit. */
#define BLOCK_SHARE 256
#define ROUND_SHARE 8
#define BLOCK_BYTES_MIN ((uint64_t)16 << 10)
#define BLOCK_BYTES_MAX ((uint64_t)512 << 10)
#define ROUND_BYTES_MIN ((uint64_t)256 << 10)
#define ROUND_BYTES_MAX ((uint64_t)32 << 20)
#define GROUP_SHARE 4 /* of a round */
#define GROUP_BYTES_MAX ((uint64_t)4 << 20)
#define SINK_SHARE 4 /* of a round */
/* What spilling takes: blocks (one, and the buffer of two to four while it grows), and the codec.
 */
#define RESERVE_BLOCKS 8
#define RESERVE_CODEC ((uint64_t)256 << 10)
/* What the codec of the output takes, about. */
#define CODEC_BYTES ((uint64_t)1 << 20)

static uint64_t between(uint64_t value, uint64_t least, uint64_t most) {
  return value < least ? least : value > most ? most : value;
}

void writer_set_sizes(ashuf_writer *writer, uint64_t memory) {
  writer->block_bytes = between(memory / BLOCK_SHARE, BLOCK_BYTES_MIN, BLOCK_BYTES_MAX);
  writer->round_bytes = between(memory / ROUND_SHARE, ROUND_BYTES_MIN, ROUND_BYTES_MAX);
  if (writer_round_bytes != 0) writer->round_bytes = writer_round_bytes;
  writer->group_bytes = between(writer->round_bytes / GROUP_SHARE, 1, GROUP_BYTES_MAX);
}

size_t writer_sink_bytes(const ashuf_writer *writer) {
  uint64_t bytes = writer->round_bytes / SINK_SHARE;
  return bytes < BLOCK_SINK_BYTES ? (size_t)bytes : BLOCK_SINK_BYTES;
}

static uint64_t reserve_of(uint64_t block_bytes) {
  return RESERVE_CODEC + RESERVE_BLOCKS * block_bytes;
}

/* A small reserve has room for small blocks. */
void writer_learn_limit(ashuf_writer *writer, uint64_t held) {
  if (!memory_has_host(writer->memory)) return;
  if (held < writer->least_held) {
    writer->least_held = held;
    writer_set_sizes(writer, writer->limit == 0 || held < writer->limit ? held : writer->limit);
  }
  while (writer->reserve < reserve_of(writer->block_bytes) && writer->block_bytes > BLOCK_BYTES_MIN)
    writer->block_bytes = between(writer->block_bytes / 2, BLOCK_BYTES_MIN, BLOCK_BYTES_MAX);
}

void writer_take_reserve(ashuf_writer *writer) {
  if (writer->reserve != 0 || !memory_has_host(writer->memory)) return;
  for (uint64_t block = writer->block_bytes; block >= BLOCK_BYTES_MIN; block /= 2)
    if (memory_charge(writer->memory, (size_t)reserve_of(block))) {
      writer->reserve = reserve_of(block);
      return;
    }
}

void writer_drop_reserve(ashuf_writer *writer) {
  memory_discharge(writer->memory, (size_t)writer->reserve);
  writer->reserve = 0;
}

bool writer_is_refused(ashuf_writer *writer, uint64_t extra) {
  if (!memory_has_host(writer->memory)) return false;
  uint64_t threads = (uint64_t)writer->options.threads;
  uint64_t round = threads == 1 ? 0 : writer->round_bytes; /* encoded, before it is written */
  uint64_t sink = 4 * writer_sink_bytes(writer);           /* while its buffer grows */
  uint64_t bytes = writer_work_bytes(writer) + threads * CODEC_BYTES + round + sink + extra;
  return !memory_is_granted(writer->memory, (size_t)bytes);
}

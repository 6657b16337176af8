/*
 * Writes the committed corpus: small odd blocks and what is inside them, a few for each target.
 *
 *   make_corpus <folder>      makes <folder>/<target>/<number>
 */
#include "ref/odd_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_BLOCK 1500

static const char *folder;

static void save(const char *target, int number, const void *data, size_t size) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, target);
  mkdir(folder, 0777);
  mkdir(path, 0777);
  snprintf(path, sizeof path, "%s/%s/odd_%03d", folder, target, number);
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
    perror(path);
    exit(1);
  }
}

static struct odd_block small_block(uint64_t *seed, bool plain) {
  for (;;) {
    struct odd_options options = {
        .seed = ++*seed, .late_types = *seed % 3 == 0, .plain_codec = plain};
    struct odd_block block;
    odd_block_make(&options, &block);
    if (block.size <= MOST_BLOCK) return block;
    free(block.data);
  }
}

/* The metadata of the first message of a stream. */
static void save_metadata(int number, const uint8_t *stream) {
  uint32_t size;
  memcpy(&size, stream, 4);
  size_t prefix = size == UINT32_MAX ? 8 : 4;
  memcpy(&size, stream + prefix - 4, 4);
  save("fuzz_metadata", number, stream + prefix, size);
}

static void save_codec(int number, const uint8_t *data, size_t size, uint64_t seed) {
  struct test_random random = {seed};
  struct odd_bytes stream = {.data = (uint8_t *)data, .size = size}, out = {0};
  uint8_t head[3] = {(uint8_t)(number % 4 + 4 * (number % 64)), (uint8_t)size,
                     (uint8_t)(size >> 8)};
  odd_put(&out, head, 3);
  odd_compress(&random, number % 4, &stream, &out);
  save("fuzz_codec", number, out.data, out.size);
  odd_bytes_free(&out);
}

static void save_index(int number) {
  uint64_t index[9] = {0}, at = 0;
  int n = number % 8;
  for (int i = 1; i <= n + 1; i++) {
    uint64_t value = number % 2 == 0 ? at : __builtin_bswap64(at);
    index[i] = value;
    if (i <= n) at += (uint64_t)(i * number * 37);
  }
  index[0] = at;
  save("fuzz_index", number, index, 8 * ((size_t)n + 2 > 9 ? 9 : (size_t)n + 2));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  uint64_t seed = 0;
  for (int i = 0; i < 40; i++) {
    struct odd_block block = small_block(&seed, i % 2 == 0);
    save("fuzz_block_decode", i, block.data, block.size);
    save("fuzz_round_trip", i, block.data, block.size);
    free(block.data);
    block = small_block(&seed, true);
    if (i < 20) save("fuzz_ipc_file", i, block.data + 20, block.size - 20);
    if (i < 20) save_metadata(i, block.data + 20);
    if (i < 24) save_codec(i, block.data + 20, block.size - 20, seed);
    if (i < 12) save_index(i);
    free(block.data);
  }
  return 0;
}

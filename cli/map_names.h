/*
 * The names of the files of map outputs, as Spark gives them:
 *   shuffle_<shuffle>_<map>_0.data, .index and, with checksums, .checksum.<ALGORITHM>
 */
#ifndef ASHUF_CLI_MAP_NAMES_H
#define ASHUF_CLI_MAP_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* The outputs of one run. */
struct map_names {
  int32_t shuffle;
  int64_t first; /* the map number of the first; the others count up from it */
  size_t n;
  int checksum; /* enum ashuf_checksum */
};

/* Positions are those of enum ashuf_checksum; the first is that of no file. */
#define MAP_CHECKSUMS 4

#define MAP_NAME_SIZE 96

/* ".checksum.ADLER32" and so on; NULL for ASHUF_CHECKSUM_NONE. */
const char *map_checksum_ending(int checksum);
/* The name of one file of output i, i < n, behind a few characters before it; returns out. */
const char *map_name(char out[MAP_NAME_SIZE], const char *before, const struct map_names *names,
                     size_t i, const char *ending);

/* The map number in a path whose name is of that kind; -1 for another. */
int64_t map_number(const char *path);

#endif /* ASHUF_CLI_MAP_NAMES_H */

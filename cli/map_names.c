#include "map_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *map_checksum_ending(int checksum) {
  static const char *const endings[MAP_CHECKSUMS] = {NULL, ".checksum.ADLER32", ".checksum.CRC32",
                                                     ".checksum.CRC32C"};
  return endings[checksum];
}

const char *map_name(char out[MAP_NAME_SIZE], const char *before, const struct map_names *names,
                     size_t i, const char *ending) {
  (void)snprintf(out, MAP_NAME_SIZE, "%sshuffle_%" PRId32 "_%" PRId64 "_0%s", before,
                 names->shuffle, names->first + (int64_t)i, ending);
  return out;
}

int64_t map_number(const char *path) {
  const char *slash = strrchr(path, '/');
  int64_t map = -1;
  int used = 0;
  (void)sscanf(slash != NULL ? slash + 1 : path, "shuffle_%*d_%18" SCNd64 "_%*d.%n", &map, &used);
  return used == 0 || map < 0 ? -1 : map;
}

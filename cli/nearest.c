#include "nearest.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define LONGEST 64 /* longer words are not compared */

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

static unsigned cost_of(char a, char b) {
  if (a == b) return 0;
  return strncasecmp(&a, &b, 1) == 0 ? 1 : 2;
}

/* Levenshtein's distance, a letter in the wrong case counting half; in halves. */
static unsigned distance(const char *a, const char *b) {
  unsigned row[LONGEST + 1];
  size_t width = strlen(b);
  for (size_t j = 0; j <= width; j++) row[j] = (unsigned)j * 2;
  for (size_t i = 0; a[i] != '\0'; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)(i + 1) * 2;
    for (size_t j = 0; j < width; j++) {
      unsigned changed = diagonal + cost_of(a[i], b[j]);
      diagonal = row[j + 1];
      row[j + 1] = smaller(changed, smaller(row[j], diagonal) + 2);
    }
  }
  return row[width];
}

const char *nearest_word(const char *given, const char *const *words, size_t n) {
  const char *best = NULL;
  size_t length = strlen(given);
  if (length > LONGEST) return NULL;
  unsigned least = UINT32_MAX;
  for (size_t i = 0; i < n; i++) {
    if (words[i] == NULL || strlen(words[i]) > LONGEST) continue;
    unsigned far = distance(given, words[i]);
    if (far < least) {
      least = far;
      best = words[i];
    }
  }
  unsigned allowed = length < 4 ? 2 : (unsigned)length; /* half of the letters */
  return least <= allowed ? best : NULL;
}

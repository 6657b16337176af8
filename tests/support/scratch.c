#include "support/scratch.h"

#include "support/os_faults.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[512];

static void require(int good, const char *what) {
  if (good) return;
  perror(what);
  exit(99);
}

const char *scratch_begin(void) {
  const char *base = getenv("TMPDIR");
  int used = snprintf(directory, sizeof directory, "%s/ashuf-test-XXXXXX",
                      base != NULL && *base != '\0' ? base : "/tmp");
  require(used > 0 && (size_t)used < sizeof directory, "TMPDIR");
  require(mkdtemp(directory) != NULL, "mkdtemp");
  return directory;
}

const char *scratch_path(const char *name) {
  static char paths[8][768];
  static unsigned next;
  char *path = paths[next++ % 8];
  (void)snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

void scratch_write(const char *name, const void *bytes, size_t size) {
  FILE *file = fopen(scratch_path(name), "wb");
  require(file != NULL, name);
  require(size == 0 || fwrite(bytes, 1, size, file) == size, name);
  require(fclose(file) == 0, name);
}

uint8_t *scratch_read(const char *name, size_t *size) {
  FILE *file = fopen(scratch_path(name), "rb");
  if (file == NULL) return NULL;
  struct stat info;
  require(fstat(fileno(file), &info) == 0, name);
  *size = (size_t)info.st_size;
  uint8_t *bytes = malloc(*size + 1);
  require(bytes != NULL, name);
  require(fread(bytes, 1, *size, file) == *size, name);
  bytes[*size] = 0;
  (void)fclose(file);
  return bytes;
}

static int each_entry(int remove_them) {
  int n = 0;
  DIR *list = opendir(directory);
  require(list != NULL, directory);
  for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    n++;
    if (remove_them) require(remove(scratch_path(entry->d_name)) == 0, entry->d_name);
  }
  (void)closedir(list);
  return n;
}

int scratch_count(void) { return each_entry(0); }
void scratch_clear(void) { (void)each_entry(1); }

void scratch_end(void) {
  scratch_clear();
  require(rmdir(directory) == 0, directory);
}

int scratch_setup(void **state) {
  (void)state;
  (void)scratch_begin();
  return 0;
}

int scratch_teardown(void **state) {
  (void)state;
  os_faults_stop();
  scratch_end();
  return 0;
}

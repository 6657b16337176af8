/* The options of 'ashuf write': their table, their checks, and the library's options they are. */
#ifndef ASHUF_CLI_WRITE_OPTIONS_H
#define ASHUF_CLI_WRITE_OPTIONS_H

#include "placement.h"

struct write_options {
  const char *output;
  struct option_integer partitions;
  struct placement_options placement;
  int codec; /* its position among the choices */
  struct option_integer level;
  struct option_integer max_rows;
  struct option_integer max_body;
  int layout;
  int lengths;
  int dictionaries;
  bool sync;
  int format;
  int index_order;
  int checksum;
  struct option_integer shuffle_id;
  struct option_integer map_id;
  const char *file_mode;
  unsigned file_mode_bits; /* what it says; 0: the default */
  struct option_integer memory_limit;
  struct option_list spill_dirs;
  struct option_integer threads;
  int stats;
};

extern const struct option_spec write_option_specs[];

/* Whether they go together, and with the inputs. Returns an exit status. */
int write_options_check(struct write_options *given, const struct arguments *inputs);
/* Bytes of rows in memory beyond which they go to spill files. */
uint64_t write_options_memory(const struct write_options *given);
/* memory and progress are left to the caller. */
struct ashuf_writer_options write_options_library(const struct write_options *given);

#endif /* ASHUF_CLI_WRITE_OPTIONS_H */

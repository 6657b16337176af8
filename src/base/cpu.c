#include "base/cpu.h"

bool cpu_plain_only = false;

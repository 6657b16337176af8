#include <ashuf/base.h>

const char *ashuf_version(void) { return ASHUF_VERSION_STRING; }

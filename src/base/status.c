#include <ashuf/base.h>

const char *ashuf_status_name(ashuf_status status) {
  switch (status) {
#define NAME(name, number, text) \
  case ASHUF_##name:             \
    return #name;
    ASHUF_STATUS_LIST(NAME)
#undef NAME
    default:
      return "UNKNOWN";
  }
}

const char *ashuf_status_text(ashuf_status status) {
  switch (status) {
#define TEXT(name, number, text) \
  case ASHUF_##name:             \
    return text;
    ASHUF_STATUS_LIST(TEXT)
#undef TEXT
    default:
      return "unknown status";
  }
}

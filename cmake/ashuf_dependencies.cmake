# The libraries that ashuf stands on, found by header and library file: distributions name their
# pkg-config files differently, and some ship none. Also installed, for consumers of the static
# library.
#
#   ashuf_dependency(<name> [REQUIRED])    makes the target ashuf::<name>

set(ashuf_lz4_header lz4frame.h)
set(ashuf_lz4_library lz4)
set(ashuf_lz4_package liblz4-dev)
set(ashuf_zstd_header zstd.h)
set(ashuf_zstd_library zstd)
set(ashuf_zstd_package libzstd-dev)
set(ashuf_snappy_header snappy-c.h)
set(ashuf_snappy_library snappy)
set(ashuf_snappy_package libsnappy-dev)
set(ashuf_isal_header isa-l/crc.h)
set(ashuf_isal_library isal)
set(ashuf_isal_package libisal-dev)
set(ashuf_jansson_header jansson.h)
set(ashuf_jansson_library jansson)
set(ashuf_jansson_package libjansson-dev)
set(ashuf_cmocka_header cmocka.h)
set(ashuf_cmocka_library cmocka)
set(ashuf_cmocka_package libcmocka-dev)

function(ashuf_dependency name)
  if(TARGET ashuf::${name})
    return()
  endif()
  string(TOUPPER ${name} upper)
  if(ASHUF_CROSS_HEADERS)
    set(include_dir ${ASHUF_CROSS_HEADERS})
    set(library "")
  else()
    find_path(ASHUF_${upper}_INCLUDE_DIR ${ashuf_${name}_header})
    find_library(ASHUF_${upper}_LIBRARY ${ashuf_${name}_library})
    mark_as_advanced(ASHUF_${upper}_INCLUDE_DIR ASHUF_${upper}_LIBRARY)
    set(include_dir ${ASHUF_${upper}_INCLUDE_DIR})
    set(library ${ASHUF_${upper}_LIBRARY})
    if(NOT include_dir OR NOT library)
      if("REQUIRED" IN_LIST ARGN)
        message(FATAL_ERROR "ashuf needs ${ashuf_${name}_header} and lib${ashuf_${name}_library} "
                            "(Debian and Ubuntu: ${ashuf_${name}_package}; `sudo make deps` installs all).")
      endif()
      return()
    endif()
  endif()
  add_library(ashuf::${name} INTERFACE IMPORTED GLOBAL)
  set_target_properties(ashuf::${name} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${include_dir}"
    INTERFACE_LINK_LIBRARIES "${library}")
endfunction()

# Headers, both libraries, the program, the pkg-config file and the CMake package.

install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ashuf)
install(TARGETS ashuf EXPORT ashuf_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ashuf_static EXPORT ashuf_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET ashuf_cli)
  install(TARGETS ashuf_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Two export files: who links the shared library needs none of the codec libraries' headers.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ashuf)
install(EXPORT ashuf_shared NAMESPACE ashuf:: DESTINATION ${package_dir})
install(EXPORT ashuf_static NAMESPACE ashuf:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ashufConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/ashufConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ashufConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ashufConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ashufConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/ashuf_dependencies.cmake
        DESTINATION ${package_dir})

# The prefix is found from the .pc file's own place, so that a moved tree still works.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/ashuf.pc.in ${CMAKE_CURRENT_BINARY_DIR}/ashuf.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ashuf.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What `make install` lays down: libraries, headers, the command, its manual page and completions, and the
# files by which pkg-config and CMake find the library.
include(CMakePackageConfigHelpers)
set(PB_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Pebble)

# Two export sets: the shared library stands alone, the static one brings libcrypto.
install(TARGETS pebble_shared EXPORT PebbleTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS pebble_static EXPORT PebbleStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT PebbleTargets NAMESPACE Pebble:: DESTINATION ${PB_CMAKE_DIR})
install(EXPORT PebbleStaticTargets NAMESPACE Pebble:: DESTINATION ${PB_CMAKE_DIR})
configure_package_config_file(cmake/PebbleConfig.cmake.in cmake/PebbleConfig.cmake INSTALL_DESTINATION ${PB_CMAKE_DIR})
write_basic_package_version_file(cmake/PebbleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/PebbleConfig.cmake ${CMAKE_BINARY_DIR}/cmake/PebbleConfigVersion.cmake
        DESTINATION ${PB_CMAKE_DIR})

# Written while installing, so that `cmake --install --prefix` may choose the place.
foreach(dir LIBDIR INCLUDEDIR)
  set(PB_${dir} ${CMAKE_INSTALL_${dir}})
  if(NOT IS_ABSOLUTE "${PB_${dir}}")
    set(PB_${dir} "\${prefix}/${PB_${dir}}")
  endif()
endforeach()
set(AT @)
configure_file(cmake/pebble.pc.in cmake/pebble.pc.in @ONLY)
install(CODE "set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
configure_file(\"${CMAKE_BINARY_DIR}/cmake/pebble.pc.in\" \"${CMAKE_BINARY_DIR}/cmake/pebble.pc\" @ONLY)")
install(FILES ${CMAKE_BINARY_DIR}/cmake/pebble.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY include/pebble DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")

# The command writes its own manual page and completions, so that they cannot fall behind it.
if(TARGET pebble)
  install(TARGETS pebble RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(NOT CMAKE_CROSSCOMPILING)
    foreach(form man bash zsh fish)
      set(page ${CMAKE_BINARY_DIR}/share/pebble.${form})
      add_custom_command(OUTPUT ${page} COMMAND pebble help --as ${form} > ${page} DEPENDS pebble VERBATIM)
      list(APPEND pages ${page})
    endforeach()
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share)
    add_custom_target(pebble_pages ALL DEPENDS ${pages})
    set(share ${CMAKE_INSTALL_DATADIR})
    install(FILES ${CMAKE_BINARY_DIR}/share/pebble.man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME pebble.1)
    install(FILES ${CMAKE_BINARY_DIR}/share/pebble.bash DESTINATION ${share}/bash-completion/completions RENAME pebble)
    install(FILES ${CMAKE_BINARY_DIR}/share/pebble.zsh DESTINATION ${share}/zsh/site-functions RENAME _pebble)
    install(FILES ${CMAKE_BINARY_DIR}/share/pebble.fish DESTINATION ${share}/fish/vendor_completions.d)
  endif()
endif()

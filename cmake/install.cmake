# The layout of the installed package. Every path in it is relative to where the file lies, so a moved prefix works.

install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(FILES bindings/cpp/petal.hpp bindings/cpp/petal_view.hpp DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY bindings/cpp/petal DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(FILES "${petal_lib_dir}/libpetal.a" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# Windows looks for a library where the programs are.
if(WIN32)
  set(petal_shared_dir "${CMAKE_INSTALL_BINDIR}")
else()
  set(petal_shared_dir "${CMAKE_INSTALL_LIBDIR}")
endif()
install(FILES "${petal_lib_dir}/${petal_shared}" DESTINATION "${petal_shared_dir}")
foreach(name IN LISTS petal_links)
  install(FILES "${petal_lib_dir}/${name}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endforeach()
if(PETAL_BUILD_CLI)
  install(PROGRAMS "${petal_raw_dir}/petal${CMAKE_EXECUTABLE_SUFFIX}" DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(DIRECTORY "${petal_cli_documents}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" FILES_MATCHING PATTERN "*.1")
  install(FILES "${petal_cli_documents}/petal.bash"
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions" RENAME petal)
  install(FILES "${petal_cli_documents}/_petal" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions")
  install(FILES "${petal_cli_documents}/petal.fish"
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d")
endif()
# In a separate folder, so that no program takes them unless its library path says so.
if(PETAL_LIBBLOOM)
  foreach(major 1 2)
    install(PROGRAMS "${petal_raw_dir}/libbloom${major}.so" DESTINATION "${CMAKE_INSTALL_LIBDIR}/petal"
      RENAME "libbloom.so.${major}" COMPONENT libbloom)
  endforeach()
endif()
install(FILES LICENSE-MIT LICENSE-APACHE LICENSES-THIRD-PARTY DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/petal")

set(petal_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/petal")
configure_package_config_file(cmake/petalConfig.cmake.in petalConfig.cmake
  INSTALL_DESTINATION "${petal_config_dir}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR petal_shared_dir
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# As the soname: compatible within one major version.
write_basic_package_version_file(petalConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/petalConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/petalConfigVersion.cmake"
  DESTINATION "${petal_config_dir}")

set(petal_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(petal_pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH petal_pc_prefix "/${petal_pc_dir}" "/")
  string(REGEX REPLACE "/$" "" petal_pc_prefix "\${pcfiledir}/${petal_pc_prefix}")
endif()
foreach(name INCLUDEDIR LIBDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${name}}")
    set(petal_pc_${name} "${CMAKE_INSTALL_${name}}")
  else()
    set(petal_pc_${name} "\${prefix}/${CMAKE_INSTALL_${name}}")
  endif()
endforeach()
list(TRANSFORM PETAL_SYSTEM_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE petal_pc_libraries)
list(JOIN petal_pc_libraries " " petal_pc_libraries)
set(petal_pc_files cmake/petal.pc cmake/petal-static.pc)
if(PETAL_LEVELDB)
  list(APPEND petal_pc_files integrations/leveldb/petal-leveldb.pc)
  install(FILES integrations/leveldb/petal_leveldb.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(TARGETS petal_leveldb LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
foreach(file IN LISTS petal_pc_files)
  get_filename_component(name "${file}" NAME_WLE)
  configure_file(${file}.in ${name}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION "${petal_pc_dir}")
endforeach()

# Last, when everything is in its place.
if(WIN32 OR APPLE)
  return()
endif()
install(CODE "set(petal_libdir \"${CMAKE_INSTALL_LIBDIR}\")\nset(petal_soname \"${petal_soname}\")")
install(SCRIPT cmake/ldconfig.cmake)

# The Python package as it can be used from the build tree: build/<preset>/python holds links to python/'s packages, the
# compiled extension, and a link to the libraries where the wheel has them. The package finds all by its own folder.

set(package_folder "${CMAKE_BINARY_DIR}/python")
file(GLOB packages CONFIGURE_DEPENDS LIST_DIRECTORIES true "${CMAKE_SOURCE_DIR}/python/*")
file(GLOB modules CONFIGURE_DEPENDS LIST_DIRECTORIES true "${CMAKE_SOURCE_DIR}/python/torchtrt/*")

file(GLOB old_links LIST_DIRECTORIES true "${package_folder}/*" "${package_folder}/torchtrt/*")
foreach(link IN LISTS old_links)
  if(IS_SYMLINK "${link}")
    file(REMOVE "${link}")
  endif()
endforeach()
file(MAKE_DIRECTORY "${package_folder}/torchtrt")
foreach(package IN LISTS packages)
  cmake_path(GET package FILENAME name)
  if(IS_DIRECTORY "${package}" AND NOT name MATCHES "^(torchtrt|bindings|runtime_wheel|__pycache__)$")
    file(CREATE_LINK "${package}" "${package_folder}/${name}" SYMBOLIC)
  endif()
endforeach()
foreach(module IN LISTS modules)
  cmake_path(GET module FILENAME name)
  if(NOT name STREQUAL "__pycache__")
    file(CREATE_LINK "${module}" "${package_folder}/torchtrt/${name}" SYMBOLIC)
  endif()
endforeach()
file(CREATE_LINK "${CMAKE_BINARY_DIR}/lib" "${package_folder}/torchtrt/lib" SYMBOLIC)

file(GLOB_RECURSE binding_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/python/bindings/*.cpp")
torchtrt_present(binding_links torchtrt torchtrt_runtime torchtrt_network torchtrt_engine)
# libtorch without Python, as TORCHTRT_LIBTORCH may name it, has no library to bind to.
if(binding_sources AND TARGET torchtrt AND EXISTS "${TORCHTRT_TORCH_LIB}/libtorch_python.so")
  # The interpreter of the environment, not the newest on the machine.
  set(Python3_EXECUTABLE "${TORCHTRT_VENV}/bin/python")
  find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)
  add_library(_torchtrt MODULE ${binding_sources})
  torchtrt_side(_torchtrt TRUE)
  target_include_directories(_torchtrt SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
  target_link_libraries(_torchtrt PRIVATE ${binding_links} "${TORCHTRT_TORCH_LIB}/libtorch_python.so")
  set_target_properties(_torchtrt PROPERTIES
                        PREFIX "" SUFFIX ".${Python3_SOABI}.so" DEFINE_SYMBOL ""
                        LIBRARY_OUTPUT_DIRECTORY "${package_folder}/torchtrt"
                        INSTALL_RPATH "$ORIGIN/lib" BUILD_WITH_INSTALL_RPATH ON)
  # Older releases share their classes with modules alone that name one version of the compiler's ABI: that of libtorch's.
  file(STRINGS "${TORCHTRT_TORCH_LIB}/libtorch_python.so" internals REGEX "__pybind11_internals_v[0-9]+_gcc_libstdcpp_cxxabi")
  if(internals MATCHES "_libstdcpp(_cxxabi[0-9]+)")
    target_compile_definitions(_torchtrt PRIVATE PYBIND11_BUILD_ABI="${CMAKE_MATCH_1}")
  endif()
endif()

# Libraries of others. libtorch and oneDNN are taken by path, from the virtual environment or from TORCHTRT_LIBTORCH:
# find_package(Torch) of the PyPI build demands a CUDA toolkit. Two interface targets keep the sides apart, since
# libtorch's include folder carries headers of a newer oneDNN and its own pybind11:
#   torchtrt_engine_side   oneDNN 3.2, Highway, FlatBuffers, OpenMP; never libtorch's include folder
#   torchtrt_torch_side    libtorch; never oneDNN's include folder

find_package(Threads REQUIRED)
find_library(HWY_LIBRARY hwy REQUIRED)
find_program(FLATC flatc REQUIRED)

if(TORCHTRT_LIBTORCH)
  file(REAL_PATH "${TORCHTRT_LIBTORCH}" torch_folder BASE_DIRECTORY "${CMAKE_SOURCE_DIR}")
else()
  file(GLOB torch_folder LIST_DIRECTORIES true "${TORCHTRT_VENV}/lib/python3*/site-packages/torch")
endif()
set(TORCHTRT_TORCH_LIB "${torch_folder}/lib")

# Sets <result> to the name that the loader asks for.
function(torchtrt_soname library result)
  execute_process(COMMAND ${CMAKE_READELF} -d "${library}" OUTPUT_VARIABLE dynamic_section COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "SONAME[^[]*\\[([^]]*)\\]" found "${dynamic_section}")
  set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

add_library(torchtrt_common INTERFACE)
target_include_directories(torchtrt_common INTERFACE
                           "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/generated")
target_link_libraries(torchtrt_common INTERFACE Threads::Threads)

# Linking is apart from compiling, since the tests of the TorchScript side link the engine's object files but must be
# compiled exactly as the precompiled header was.
add_library(torchtrt_engine_libraries INTERFACE)
target_link_libraries(torchtrt_engine_libraries INTERFACE ${HWY_LIBRARY})
add_library(torchtrt_engine_side INTERFACE)
target_link_libraries(torchtrt_engine_side INTERFACE torchtrt_common torchtrt_engine_libraries)
if(TORCHTRT_OPENMP)
  # By flag instead of find_package(OpenMP): docs/decisions/0001-openmp.md says which libgomp the loader then takes.
  target_compile_options(torchtrt_engine_side INTERFACE -fopenmp)
  target_link_options(torchtrt_engine_libraries INTERFACE -fopenmp)
else()
  target_compile_definitions(torchtrt_engine_side INTERFACE TORCHTRT_NO_OPENMP)
endif()
if(TORCHTRT_ONEDNN)
  set(onednn_root "${TORCHTRT_VENV}")
  if(TORCHTRT_ONEDNN_ROOT)
    set(onednn_root "${TORCHTRT_ONEDNN_ROOT}")
  endif()
  set(TORCHTRT_ONEDNN_LIB "${onednn_root}/lib")
  file(STRINGS "${onednn_root}/include/oneapi/dnnl/dnnl_version.h" onednn_version REGEX "VERSION_(MAJOR 3|MINOR 2)$")
  list(LENGTH onednn_version onednn_version_matches)
  if(NOT onednn_version_matches EQUAL 2)
    message(FATAL_ERROR "oneDNN in ${onednn_root} is not version 3.2; rebuild the environment from requirements.txt")
  endif()
  target_include_directories(torchtrt_engine_side SYSTEM INTERFACE "${onednn_root}/include")
  target_link_libraries(torchtrt_engine_libraries INTERFACE "${TORCHTRT_ONEDNN_LIB}/libdnnl.so")
  # It stands beside our libraries, as it does after an installation, so that both trees have the same run paths.
  torchtrt_soname("${TORCHTRT_ONEDNN_LIB}/libdnnl.so" onednn_soname)
  file(MAKE_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  file(CREATE_LINK "${TORCHTRT_ONEDNN_LIB}/${onednn_soname}" "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${onednn_soname}" SYMBOLIC)
else()
  target_compile_definitions(torchtrt_engine_side INTERFACE TORCHTRT_NO_ONEDNN)
endif()

if(TORCHTRT_TORCH)
  if(NOT EXISTS "${TORCHTRT_TORCH_LIB}/libtorch_cpu.so")
    message(FATAL_ERROR "no libtorch in ${TORCHTRT_TORCH_LIB}; run ./dev build, which installs one in TORCHTRT_VENV, or "
                        "set TORCHTRT_LIBTORCH to a folder with include/ and lib/libtorch_cpu.so")
  endif()
  # Releases before 2.10 have the numbers in the other header.
  foreach(header IN ITEMS torch/csrc/api/include/torch/version.h torch/headeronly/version.h)
    if(EXISTS "${torch_folder}/include/${header}")
      file(STRINGS "${torch_folder}/include/${header}" numbers REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
      if(numbers)
        string(REGEX REPLACE "#define TORCH_VERSION_[A-Z]+ " "" numbers "${numbers}")
        string(REPLACE ";" "." torch_version "${numbers}")
      endif()
    endif()
  endforeach()
  if(NOT torch_version)
    message(FATAL_ERROR "no version of torch in the headers of ${torch_folder}/include")
  endif()
  # Python compares it with the torch that it finds.
  file(CONFIGURE OUTPUT "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/versions" CONTENT "${PROJECT_VERSION} ${torch_version}\n")

  add_library(torchtrt_torch_side INTERFACE)
  target_include_directories(torchtrt_torch_side SYSTEM INTERFACE
                             "${torch_folder}/include" "${torch_folder}/include/torch/csrc/api/include")
  target_link_libraries(torchtrt_torch_side INTERFACE
                        torchtrt_common "${TORCHTRT_TORCH_LIB}/libtorch_cpu.so" "${TORCHTRT_TORCH_LIB}/libc10.so")
  # libtorch_cpu needs CUDA libraries that lie in folders of their own and are found through its own run path.
  target_link_options(torchtrt_torch_side INTERFACE -Wl,--allow-shlib-undefined)
  # Macros of libtorch's headers put the names of their files into messages. No library shall say where it was built. Of several that fit,
  # the compiler takes the last. ccache knows the option, and finds the entries of other folders all the same.
  target_compile_options(torchtrt_torch_side INTERFACE -fpch-preprocess
                         "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=." "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build"
                         "-ffile-prefix-map=${torch_folder}=torch")

  # The one precompiled header (600 MB), which every target of this side reuses. -fpch-preprocess above is for ccache.
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/torch_pch.cpp" CONTENT "namespace torchtrt {}\n")
  add_library(torch_pch OBJECT "${CMAKE_BINARY_DIR}/generated/torch_pch.cpp")
  target_link_libraries(torch_pch PRIVATE torchtrt_torch_side)
  target_precompile_headers(torch_pch PRIVATE <torch/script.h> <algorithm> <functional> <map> <memory> <optional> <set>
                            <sstream> <string> <unordered_map> <unordered_set> <utility> <vector>)
endif()

# Run paths of what is never installed. Libraries and programs that are get those of an installation at once (Folders):
# CMake would end a run path that it is to change later in an empty element, which is the current directory.
set(CMAKE_BUILD_RPATH "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
if(TORCHTRT_TORCH)
  list(APPEND CMAKE_BUILD_RPATH "${TORCHTRT_TORCH_LIB}")
endif()

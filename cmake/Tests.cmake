# tests/unit/<folder>/**_test.cpp becomes one program test_<folder>, linked to the object files of the folder and of
# all below it, so that hidden symbols are in reach. Tests of the TorchScript side link every folder; those of runtime
# what a deployment links, which a sanitizer builds in minutes.

enable_testing()
find_package(GTest REQUIRED)

file(GLOB support_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/unit/support/*.cpp")
if(support_sources)
  # An archive: each test takes what it uses, and so needs none of the folders that the rest builds on.
  add_library(test_support STATIC ${support_sources})
  target_include_directories(test_support PRIVATE "${CMAKE_SOURCE_DIR}/tests/unit")
  torchtrt_side(test_support FALSE)
  target_link_libraries(test_support PRIVATE GTest::gmock)
endif()

# Folders whose results depend on the instruction set: their tests run a second time with it capped.
set(vector_folders cpu engine optimization builder quantization)
# Folders whose tests run engines: a second time on an asynchronous device (tests/unit/support/deferred_device.h).
set(device_folders engine builder quantization)

# torchtrt_test(<folder> [<tests>]): tests/unit/<tests> (<folder> when not given) for the code of src/<folder>.
function(torchtrt_test folder)
  set(tests ${folder})
  if(ARGC GREATER 1)
    set(tests ${ARGV1})
  endif()
  get_property(is_torch GLOBAL PROPERTY torchtrt_is_torch_${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/unit/${tests}/*.cpp")
  if(NOT sources OR (is_torch AND NOT TORCHTRT_TORCH))
    return()
  endif()
  if(is_torch AND NOT folder STREQUAL runtime)
    get_property(linked GLOBAL PROPERTY torchtrt_folders)
  else()
    get_property(linked GLOBAL PROPERTY torchtrt_closure_${folder})
  endif()
  torchtrt_present(linked ${linked})
  set(test test_${tests})
  add_executable(${test} ${sources})
  foreach(object_library IN LISTS linked)
    target_sources(${test} PRIVATE $<TARGET_OBJECTS:${object_library}>)
  endforeach()
  if(TARGET test_support)
    target_link_libraries(${test} PRIVATE test_support)
  endif()
  torchtrt_side(${test} ${is_torch})
  target_include_directories(${test} PRIVATE "${CMAKE_SOURCE_DIR}/tests/unit")
  target_link_libraries(${test} PRIVATE torchtrt_engine_libraries GTest::gmock_main)
  if(TARGET plan_schema)
    add_dependencies(${test} plan_schema)
  endif()
  add_test(NAME ${test} COMMAND ${test} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  if(folder IN_LIST vector_folders)
    set_property(TEST ${test} PROPERTY LABELS vector)
  endif()
  if(folder IN_LIST device_folders)
    add_test(NAME ${test}_deferred WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
             COMMAND ${CMAKE_COMMAND} -E env TORCHTRT_TEST_DEVICE=deferred $<TARGET_FILE:${test}>)
  endif()
endfunction()

get_property(folders GLOBAL PROPERTY torchtrt_folders)
foreach(folder IN LISTS folders)
  torchtrt_test(${folder})
endforeach()
torchtrt_test(cpu cpu_fast)
# The GPU's kernels take the cases of the CPU's references.
if(TARGET test_cuda)
  set(shared_cases antialias convolution counted cumulative grid_sample matmul movement normalization pointwise
                   pooling plugin_shapes quantized recurrent reduce regions resize scatter search softmax topk)
  list(TRANSFORM shared_cases PREPEND "${CMAKE_SOURCE_DIR}/tests/unit/cpu/")
  list(TRANSFORM shared_cases APPEND "_test.cpp")
  target_sources(test_cuda PRIVATE ${shared_cases} "${CMAKE_SOURCE_DIR}/tests/unit/cpu/harness.cpp")
  target_sources(test_cuda PRIVATE $<TARGET_OBJECTS:cpu> $<TARGET_OBJECTS:plan> $<TARGET_OBJECTS:engine>)
  # NVIDIA's compiler of device code needs no GPU. It comes with libtorch for CUDA.
  cmake_path(SET nvrtc_folder NORMALIZE "${torch_folder}/../nvidia/cu13/lib")
  set_property(SOURCE "${CMAKE_SOURCE_DIR}/tests/unit/cuda/main_test.cpp" "${CMAKE_SOURCE_DIR}/tests/unit/cuda/registers_test.cpp"
               APPEND PROPERTY COMPILE_DEFINITIONS TORCHTRT_NVRTC_FOLDER="${nvrtc_folder}")

  # Whole engines on a GPU: calls, and random networks against the interpreter.
  get_property(engine_side GLOBAL PROPERTY torchtrt_closure_builder)
  torchtrt_present(engine_side ${engine_side})
  set(networks builder/random engine/calls/enqueue engine/calls/threads engine/calls/counted engine/calls/empty_inputs)
  list(TRANSFORM networks PREPEND "${CMAKE_SOURCE_DIR}/tests/unit/")
  list(TRANSFORM networks APPEND "_test.cpp")
  file(GLOB emulation CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/unit/cuda/emulat*.cpp" "${CMAKE_SOURCE_DIR}/tests/unit/cuda/fake_*.cpp")
  file(GLOB own CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/unit/cuda_networks/*.cpp")
  add_executable(test_cuda_networks ${networks} ${emulation} ${own})
  foreach(object_library IN LISTS engine_side ITEMS cuda)
    target_sources(test_cuda_networks PRIVATE $<TARGET_OBJECTS:${object_library}>)
  endforeach()
  torchtrt_side(test_cuda_networks FALSE)
  target_include_directories(test_cuda_networks PRIVATE "${CMAKE_SOURCE_DIR}/tests/unit" "${CMAKE_SOURCE_DIR}/tests/unit/builder")
  target_link_libraries(test_cuda_networks PRIVATE test_support torchtrt_engine_libraries GTest::gmock_main)
  add_dependencies(test_cuda_networks plan_schema)
  add_test(NAME test_cuda_networks COMMAND test_cuda_networks WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
endif()

# The specification's C++ samples as programs, and its converter as the library that torchtrtc --custom-converters opens:
# tests/python/test_documents.py runs them. A converter with a plugin of its own: tests/python/test_plugins.py.
foreach(document IN ITEMS document_000 document_002)
  torchtrt_program(${document} TORCH SOURCES tests/documents/${document}.cpp
                   LINKS torchtrt torchtrt_runtime torchtrt_network torchtrt_engine)
endforeach()
if(TARGET torchtrt)
  add_library(flatten_converter MODULE tests/documents/flatten_converter/flatten_converter.cpp)
  torchtrt_side(flatten_converter TRUE)
  target_link_libraries(flatten_converter PRIVATE torchtrt torchtrt_network torchtrt_engine)
  target_compile_options(flatten_converter PRIVATE -Wno-unused-variable)  # as printed, it names what it does not use
  add_library(plugin_converter MODULE tests/plugin_converter/plugin_converter.cpp)
  torchtrt_side(plugin_converter TRUE)
  target_link_libraries(plugin_converter PRIVATE torchtrt torchtrt_network torchtrt_engine)
endif()
# A user's program of C++17, which includes every public header: tests/python/test_reference_names.py runs it. The
# precompiled header is of C++20.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}/include" "${CMAKE_SOURCE_DIR}/include/*.h")
list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"\n")
list(JOIN headers "" headers)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/names/all_public_headers.h" CONTENT "#pragma once\n${headers}")
torchtrt_program(reference_names TORCH SOURCES tests/names/reference_names.cpp
                 LINKS torchtrt torchtrt_runtime torchtrt_network torchtrt_engine)
if(TARGET reference_names)
  target_include_directories(reference_names PRIVATE "${CMAKE_BINARY_DIR}/generated/names")
  set_target_properties(reference_names PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON DISABLE_PRECOMPILE_HEADERS ON UNITY_BUILD OFF)
endif()
torchtrt_present(documents document_000 document_002 reference_names flatten_converter plugin_converter)
if(documents)
  add_dependencies(product ${documents})
endif()

# tests/fuzz/<name>.cpp becomes the program <name>, linked to all object files of the engine side.
get_property(engine_side GLOBAL PROPERTY torchtrt_closure_builder)
torchtrt_present(engine_side ${engine_side})
file(GLOB fuzzers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/fuzz/*.cpp")
foreach(fuzzer IN LISTS fuzzers)
  cmake_path(GET fuzzer STEM name)
  add_executable(${name} ${fuzzer})
  foreach(object_library IN LISTS engine_side)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${object_library}>)
  endforeach()
  if(TARGET test_support)
    target_link_libraries(${name} PRIVATE test_support)
  endif()
  torchtrt_side(${name} FALSE)
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests/unit")
  target_link_libraries(${name} PRIVATE torchtrt_engine_libraries GTest::gmock)
  add_dependencies(${name} plan_schema)
endforeach()

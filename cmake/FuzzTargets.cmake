# tests/fuzz/targets/<name>.cpp defines torchtrt::fuzz::<name>. With TORCHTRT_LIBFUZZER each becomes the program
# fuzz_<name>; else all go into test_fuzz, which runs them over tests/fuzz/corpus and tests/fuzz/regressions.

set(fuzz_folder "${CMAKE_SOURCE_DIR}/tests/fuzz")
get_property(engine_side GLOBAL PROPERTY torchtrt_closure_quantization)
torchtrt_present(engine_side ${engine_side})

function(torchtrt_fuzz_program name)
  add_executable(${name} ${ARGN})
  torchtrt_side(${name} FALSE)
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests/unit" "${CMAKE_SOURCE_DIR}/tests")
  add_dependencies(${name} plan_schema)
endfunction()

# torchtrt_fuzz_target(<name> [SOURCES <file>...] [FOLDERS <folder>...] [LINKS <library>...]): a program with these files
# compiled for it, and of the folders what it uses. With few files it is soon built, and libFuzzer has few counters to
# look at after each run.
function(torchtrt_fuzz_target name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FOLDERS;LINKS")
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_SOURCE_DIR}/")
  torchtrt_fuzz_program(fuzz_${name} "${fuzz_folder}/targets/${name}.cpp" "${fuzz_folder}/libfuzzer/entry.cpp" ${arg_SOURCES})
  target_compile_definitions(fuzz_${name} PRIVATE TORCHTRT_FUZZ_TARGET=${name})
  list(TRANSFORM arg_FOLDERS PREPEND "fuzz_archive_")
  # Archives that need each other's objects.
  target_link_libraries(fuzz_${name} PRIVATE -Wl,--start-group ${arg_LINKS} ${arg_FOLDERS} -Wl,--end-group
                        torchtrt_engine_libraries)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endfunction()

if(TORCHTRT_LIBFUZZER)
  foreach(folder IN LISTS engine_side)
    add_library(fuzz_archive_${folder} STATIC $<TARGET_OBJECTS:${folder}>)
    set_target_properties(fuzz_archive_${folder} PROPERTIES LINKER_LANGUAGE CXX)
  endforeach()
  torchtrt_fuzz_target(base64 SOURCES src/runtime/base64.cpp)
  torchtrt_fuzz_target(calibration SOURCES src/quantization/cache.cpp FOLDERS base)
  torchtrt_fuzz_target(dims FOLDERS base)
  torchtrt_fuzz_target(pickle SOURCES src/runtime/pickle.cpp FOLDERS base)
  torchtrt_fuzz_target(plan SOURCES tests/unit/support/plan_bytes.cpp tests/unit/support/plan_changes.cpp FOLDERS base plan)
  torchtrt_fuzz_target(timings SOURCES src/builder/timing_cache.cpp FOLDERS base)
  torchtrt_fuzz_target(engine FOLDERS ${engine_side} LINKS test_support)
  torchtrt_fuzz_target(network FOLDERS ${engine_side} LINKS test_support)
else()
  file(GLOB fuzz_sources CONFIGURE_DEPENDS "${fuzz_folder}/targets/*.cpp" "${fuzz_folder}/replay/*.cpp")
  # Those parts of runtime that do without libtorch.
  torchtrt_fuzz_program(test_fuzz ${fuzz_sources} src/runtime/base64.cpp src/runtime/pickle.cpp)
  foreach(object_library IN LISTS engine_side)
    target_sources(test_fuzz PRIVATE $<TARGET_OBJECTS:${object_library}>)
  endforeach()
  target_link_libraries(test_fuzz PRIVATE test_support torchtrt_engine_libraries GTest::gmock_main)
  add_test(NAME test_fuzz COMMAND test_fuzz WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
endif()

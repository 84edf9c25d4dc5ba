# The targets of src/ and tools/. A folder or program without sources yet is left out, so any subset of the tree configures.

# Marks a target as belonging to the engine side or, with TORCH, to the side that sees libtorch.
function(torchtrt_side target is_torch)
  if(is_torch)
    target_link_libraries(${target} PRIVATE torchtrt_torch_side)
    target_precompile_headers(${target} REUSE_FROM torch_pch)
  else()
    target_link_libraries(${target} PRIVATE torchtrt_engine_side)
  endif()
endfunction()

# torchtrt_folder(<name> [TORCH] [DEPENDS <folder>...]): an object library of src/<name>/**.cpp.
function(torchtrt_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "DEPENDS")
  set(closure ${name})
  foreach(folder IN LISTS arg_DEPENDS)
    get_property(below GLOBAL PROPERTY torchtrt_closure_${folder})
    list(APPEND closure ${below})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set_property(GLOBAL PROPERTY torchtrt_closure_${name} ${closure})
  set_property(GLOBAL PROPERTY torchtrt_is_torch_${name} ${arg_TORCH})
  set_property(GLOBAL APPEND PROPERTY torchtrt_folders ${name})

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.cpp")
  if(NOT sources OR (arg_TORCH AND NOT TORCHTRT_TORCH))
    return()
  endif()
  add_library(${name} OBJECT ${sources})
  torchtrt_side(${name} ${arg_TORCH})
  if(TARGET plan_schema)
    add_dependencies(${name} plan_schema)
  endif()
endfunction()

# Sets <result> to those of the given folders that have a target.
function(torchtrt_present result)
  set(present)
  foreach(folder IN LISTS ARGN)
    if(TARGET ${folder})
      list(APPEND present ${folder})
    endif()
  endforeach()
  set(${result} ${present} PARENT_SCOPE)
endfunction()

# torchtrt_library(<name> [TORCH] FOLDERS <folder>... [LINKS <library>...]): lib<name>.so of these folders' object files.
function(torchtrt_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "FOLDERS;LINKS")
  torchtrt_present(folders ${arg_FOLDERS})
  if(NOT folders)
    return()
  endif()
  set(objects)
  foreach(folder IN LISTS folders)
    list(APPEND objects $<TARGET_OBJECTS:${folder}>)
  endforeach()
  add_library(${name} SHARED ${objects})
  add_library(torchtrt::${name} ALIAS ${name})
  torchtrt_present(links ${arg_LINKS})
  target_link_libraries(${name} PRIVATE ${links} torchtrt_engine_libraries)
  if(arg_TORCH)
    target_link_libraries(${name} PRIVATE torchtrt_torch_side)
  endif()
  target_link_options(${name} PRIVATE -Wl,--no-undefined)
  target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  set_target_properties(${name} PROPERTIES
                        LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
endfunction()

# torchtrt_program(<name> [TORCH] SOURCES <folder> LINKS <library>...): a program of <folder>/*.cpp.
function(torchtrt_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "SOURCES" "LINKS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${arg_SOURCES}/*.cpp")
  torchtrt_present(links ${arg_LINKS})
  if(NOT sources OR NOT links OR (arg_TORCH AND NOT TORCHTRT_TORCH))
    return()
  endif()
  add_executable(${name} ${sources})
  torchtrt_side(${name} ${arg_TORCH})
  target_link_libraries(${name} PRIVATE ${links})
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
endfunction()

# The plan's serialised form: C++ accessors generated from its schema.
set(plan_schema "${CMAKE_SOURCE_DIR}/src/plan/plan.fbs")
if(EXISTS "${plan_schema}")
  set(plan_generated "${CMAKE_BINARY_DIR}/generated/plan/plan_generated.h")
  add_custom_command(OUTPUT "${plan_generated}"
                     COMMAND ${FLATC} --cpp --cpp-std c++17 --scoped-enums -o "${CMAKE_BINARY_DIR}/generated/plan" "${plan_schema}"
                     DEPENDS "${plan_schema}" VERBATIM)
  add_custom_target(plan_schema DEPENDS "${plan_generated}")
else()
  # A glob that matches nothing yet makes the build configure again as soon as the schema is there.
  file(GLOB schema_to_come CONFIGURE_DEPENDS "${plan_schema}")
endif()

# The targets of src/ and tools/. A folder or program without sources yet is left out, so any subset of the tree
# configures.

# Marks a target as belonging to the engine side or, with TORCH, to the side that sees libtorch.
function(torchtrt_side target is_torch)
  if(is_torch)
    target_link_libraries(${target} PRIVATE torchtrt_torch_side)
    target_precompile_headers(${target} REUSE_FROM torch_pch)
    # Whatever a file that includes libtorch holds, the compiler spends five seconds on templates which the precompiled
    # header left to be instantiated; four files together do so once.
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  else()
    target_link_libraries(${target} PRIVATE torchtrt_engine_side)
  endif()
endfunction()

# torchtrt_folder(<name> [TORCH] [DEPENDS <folder>...] [PUBLIC <header>...]): an object library of src/<name>/**.cpp.
function(torchtrt_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "DEPENDS;PUBLIC")
  set(closure ${name})
  foreach(folder IN LISTS arg_DEPENDS)
    get_property(below GLOBAL PROPERTY torchtrt_closure_${folder})
    list(APPEND closure ${below})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set_property(GLOBAL PROPERTY torchtrt_closure_${name} ${closure})
  set_property(GLOBAL PROPERTY torchtrt_is_torch_${name} ${arg_TORCH})
  set_property(GLOBAL APPEND PROPERTY torchtrt_folders ${name})
  if(NOT arg_TORCH)
    set_property(GLOBAL APPEND PROPERTY torchtrt_engine_headers ${arg_PUBLIC})
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.cpp")
  if(NOT sources OR (arg_TORCH AND NOT TORCHTRT_TORCH))
    return()
  endif()
  if(name STREQUAL cuda)
    list(APPEND sources "${device_code}")
  elseif(name STREQUAL compiler)
    list(APPEND sources "${page_code}")
    set_source_files_properties("${page_code}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
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

# torchtrt_library(<name> [TORCH] FOLDERS <folder>... [LINKS <library>...]): lib<name>.so of these folders' object
# files.
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
  string(REPLACE "torchtrt_" "" export_name ${name})
  add_library(torchtrt::${export_name} ALIAS ${name})
  torchtrt_present(links ${arg_LINKS})
  # Public headers use what lower libraries define, so whoever links this one links those.
  target_link_libraries(${name} PUBLIC ${links} PRIVATE torchtrt_engine_libraries)
  target_link_options(${name} PRIVATE LINKER:--no-undefined)
  target_include_directories(${name} INTERFACE
                             $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(${name} INTERFACE cxx_std_17)
  set_target_properties(${name} PROPERTIES
                        LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                        EXPORT_NAME ${export_name} INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
  if(arg_TORCH)
    # Programs may use the library through libtorch's registries alone, without a symbol of it: it must stay linked.
    target_link_libraries(${name} PRIVATE torchtrt_torch_side INTERFACE $<INSTALL_INTERFACE:torchtrt::libtorch>)
    target_link_options(${name} INTERFACE $<INSTALL_INTERFACE:-Wl,--no-as-needed>)
  endif()
endfunction()

# torchtrt_program(<name> [TORCH] SOURCES <folder or file> LINKS <library>...): a program of <folder>/**.cpp or of one
# file.
function(torchtrt_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "SOURCES" "LINKS")
  cmake_path(ABSOLUTE_PATH arg_SOURCES BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE sources)
  if(NOT sources MATCHES "\\.cpp$")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${sources}/*.cpp")
  endif()
  torchtrt_present(links ${arg_LINKS})
  if(NOT sources OR NOT links OR (arg_TORCH AND NOT TORCHTRT_TORCH))
    return()
  endif()
  add_executable(${name} ${sources})
  torchtrt_side(${name} ${arg_TORCH})
  target_link_libraries(${name} PRIVATE ${links})
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_WITH_INSTALL_RPATH ON)
  if(arg_TORCH)
    target_link_options(${name} PRIVATE -Wl,--no-as-needed)
    set_property(TARGET ${name} APPEND PROPERTY INSTALL_RPATH "${TORCHTRT_TORCH_LIB}")
  endif()
endfunction()

# One source per public header that includes nothing else, so that compiling shows whether the header stands alone.
# Headers that need libtorch are those whose folder is on that side; the others are compiled where libtorch cannot be
# seen.
function(torchtrt_public_headers)
  get_property(engine_headers GLOBAL PROPERTY torchtrt_engine_headers)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}/include" "${CMAKE_SOURCE_DIR}/include/*.h")
  foreach(header IN LISTS headers)
    cmake_path(GET header STEM stem)
    set(side torch)
    if(header MATCHES "^torchtrt/[a-z_]+\\.h$" AND stem IN_LIST engine_headers)
      set(side engine)
    endif()
    string(REPLACE "/" "_" source "${header}")
    set(source "${CMAKE_BINARY_DIR}/generated/public_headers/${source}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${header}\"\n")
    list(APPEND ${side}_sources "${source}")
  endforeach()
  add_custom_target(public_headers)
  foreach(side IN ITEMS engine torch)
    if(${side}_sources AND TARGET torchtrt_${side}_side)
      string(COMPARE EQUAL ${side} torch is_torch)
      add_library(public_headers_${side} OBJECT EXCLUDE_FROM_ALL ${${side}_sources})
      torchtrt_side(public_headers_${side} ${is_torch})
      set_target_properties(public_headers_${side} PROPERTIES UNITY_BUILD OFF)  # each alone
      add_dependencies(public_headers public_headers_${side})
      if(NOT is_torch)
        # Programs of C++17 may include them too; those that need libtorch are in reference_names (Tests).
        add_library(public_headers_cxx17 OBJECT EXCLUDE_FROM_ALL ${${side}_sources})
        torchtrt_side(public_headers_cxx17 FALSE)
        set_target_properties(public_headers_cxx17 PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
        add_dependencies(public_headers public_headers_cxx17)
      endif()
    endif()
  endforeach()
endfunction()

# The plan's serialised form: C++ accessors generated from its schema.
set(plan_schema "${CMAKE_SOURCE_DIR}/src/plan/plan.fbs")
if(EXISTS "${plan_schema}")
  set(plan_generated "${CMAKE_BINARY_DIR}/generated/plan/plan_generated.h")
  add_custom_command(OUTPUT "${plan_generated}"
                     COMMAND ${FLATC} --cpp --cpp-std c++17 --scoped-enums
                             -o "${CMAKE_BINARY_DIR}/generated/plan" "${plan_schema}"
                     DEPENDS "${plan_schema}" VERBATIM)
  add_custom_target(plan_schema DEPENDS "${plan_generated}")
else()
  # A glob that matches nothing yet makes the build configure again as soon as the schema is there.
  file(GLOB schema_to_come CONFIGURE_DEPENDS "${plan_schema}")
endif()

# One set of flags for every file: the precompiled header is only used by files compiled exactly as it was.
# No -m or -march flag anywhere: vector code chooses its instruction set at run time.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# libtorch is built with NDEBUG, and classes of its headers are laid out in another way without.
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g -DNDEBUG")

# -fPIC by hand: CMake would give executables -fPIE, and with it they could not use the precompiled header.
# Contraction is off so that an instruction set with fused multiply-add computes the same numbers as one without.
# Warnings end our own builds (./dev asks for it); another compiler's new warnings must not end a user's, nor the fuzzers'.
option(TORCHTRT_WERROR "Warnings are errors" OFF)
set(is_gcc $<CXX_COMPILER_ID:GNU>)
add_compile_options(-fPIC -Wall -Wextra $<$<AND:$<BOOL:${TORCHTRT_WERROR}>,${is_gcc}>:-Werror> -ffp-contract=off
                    -fno-math-errno)
add_link_options(-Wl,--as-needed)

if(TORCHTRT_SANITIZE)
  # Line numbers are all that a report needs; following variables through vector code takes minutes a file. GCC 12 takes
  # std::regex for uninitialized when it is instrumented. libtorch hides the type information that checks of virtual
  # calls would ask for.
  add_compile_options(-fsanitize=${TORCHTRT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1
                      -fno-sanitize=vptr $<${is_gcc}:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${TORCHTRT_SANITIZE})
endif()
if(TORCHTRT_LIBFUZZER)
  # Two of Highway's targets, the plainest and AVX2: each takes as long to compile as all other code of its file. The
  # sources set HWY_DISABLED_TARGETS.
  add_compile_definitions("HWY_BROKEN_TARGETS=(HWY_AVX3|HWY_AVX3_DL)")
  # With all of its checks, clang 14 compiles one file for a quarter of an hour unless it leaves the code as it is.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/cpu/gemm/packed_gemm.cpp PROPERTIES COMPILE_OPTIONS -O0)
  # GCC defines this by itself. With it, each constant and each piece of a workspace has memory of its own.
  add_compile_definitions(__SANITIZE_ADDRESS__)
endif()

# ccache is told here, not by the caller's environment, so that every way to build shares one cache. The base folder
# makes a fresh clone at another path find the same entries; ccache asks for the sloppiness where precompiled headers
# are used.
find_program(CCACHE ccache)
set(TORCHTRT_CCACHE_DIR "$ENV{CCACHE_DIR}" CACHE PATH "Folder of the compiler cache, empty for ccache's own choice")
if(CCACHE)
  set(ccache_settings
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_MAXSIZE=10G)
  if(TORCHTRT_CCACHE_DIR)
    list(APPEND ccache_settings CCACHE_DIR=${TORCHTRT_CCACHE_DIR})
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER env ${ccache_settings} ${CCACHE})
endif()

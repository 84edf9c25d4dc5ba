# cmake --install and find_package(torchtrt): headers, the libraries with oneDNN and Highway beside them (libtorch
# stays the user's), the tools, and a CMake package with torchtrt::engine, ::network, ::runtime and ::torchtrt.

include(CMakePackageConfigHelpers)
set(package_dir lib/cmake/torchtrt)

torchtrt_present(libraries torchtrt_engine torchtrt_cuda torchtrt_network torchtrt_runtime torchtrt torchtrt_vision)
torchtrt_present(programs torchtrtc torchtrt-opt)
if(libraries)
  install(TARGETS ${libraries} EXPORT torchtrtTargets LIBRARY DESTINATION lib)
  install(EXPORT torchtrtTargets NAMESPACE torchtrt:: DESTINATION ${package_dir})
endif()
if(programs)
  install(TARGETS ${programs} RUNTIME DESTINATION bin)
endif()
# torchtrtc prints its manual page and what completes its words in shells.
function(torchtrt_printed arguments file)
  install(CODE "
    get_filename_component(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    message(STATUS \"Installing: \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${file}\")
    execute_process(COMMAND \"$<TARGET_FILE:torchtrtc>\" ${arguments} COMMAND_ERROR_IS_FATAL ANY
                    OUTPUT_FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${file}\")")
endfunction()
if(TARGET torchtrtc)
  torchtrt_printed("man" share/man/man1/torchtrtc.1)
  torchtrt_printed("completion bash" share/bash-completion/completions/torchtrtc)
  torchtrt_printed("completion zsh" share/zsh/site-functions/_torchtrtc)
  torchtrt_printed("completion fish" share/fish/vendor_completions.d/torchtrtc.fish)
endif()
install(DIRECTORY include/ DESTINATION include)
install(FILES LICENSE NOTICE THIRD_PARTY.md DESTINATION share/doc/torchtrt)

# Copied under the name that the loader asks for: the wheel's three files of oneDNN are copies, not links.
function(torchtrt_bundle library)
  torchtrt_soname("${library}" name)
  file(REAL_PATH "${library}" file)
  install(FILES "${file}" DESTINATION lib RENAME ${name})
endfunction()
torchtrt_bundle("${HWY_LIBRARY}")
if(TORCHTRT_ONEDNN)
  torchtrt_bundle("${TORCHTRT_ONEDNN_LIB}/libdnnl.so")
endif()

configure_package_config_file(cmake/torchtrtConfig.cmake.in "${CMAKE_BINARY_DIR}/torchtrtConfig.cmake"
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/torchtrtConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/torchtrtConfig.cmake" "${CMAKE_BINARY_DIR}/torchtrtConfigVersion.cmake"
        DESTINATION ${package_dir})

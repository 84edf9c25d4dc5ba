# Device code for GPUs: src/cuda/**/*.cuh become strings of the library, which a run-time compiler reads. A table of names
# and texts is generated when a file changes.
file(GLOB_RECURSE device_files CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}/src/cuda" "${CMAKE_SOURCE_DIR}/src/cuda/*.cuh")
set(device_code "${CMAKE_BINARY_DIR}/generated/cuda/embedded.cpp")
set(device_text "// Made by cmake/DeviceCode.cmake.\nnamespace torchtrt::cuda {\nstruct EmbeddedFile {\n  const char* name;\n  const char* text;\n};\n")
string(APPEND device_text "extern const EmbeddedFile kEmbeddedFiles[];\nconst EmbeddedFile kEmbeddedFiles[] = {\n")
foreach(name IN LISTS device_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/cuda/${name}")
  file(READ "${CMAKE_SOURCE_DIR}/src/cuda/${name}" text)
  string(APPEND device_text "    {\"${name}\", R\"DEVICE(${text})DEVICE\"},\n")
endforeach()
string(APPEND device_text "    {nullptr, nullptr},\n};\n}  // namespace torchtrt::cuda\n")
file(CONFIGURE OUTPUT "${device_code}" CONTENT "${device_text}" @ONLY)

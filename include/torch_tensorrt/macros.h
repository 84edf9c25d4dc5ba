// The reference system's macros: visibility, version and text. The version is torchtrt's.
#pragma once

#include "torchtrt/export.h"
#include "torchtrt/version.h"

#ifndef TORCHTRT_HIDDEN
#define TORCHTRT_HIDDEN __attribute__((__visibility__("hidden")))
#endif

#define STR(x) #x
#define XSTR(x) STR(x)

#define TORCH_TENSORRT_MAJOR_VERSION TORCHTRT_VERSION_MAJOR
#define TORCH_TENSORRT_MINOR_VERSION TORCHTRT_VERSION_MINOR
#define TORCH_TENSORRT_PATCH_VERSION TORCHTRT_VERSION_PATCH
#define TORCH_TENSORRT_VERSION TORCHTRT_VERSION_STRING

namespace torchtrt {}
namespace torch_tensorrt = torchtrt;

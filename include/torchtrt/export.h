// Marks what a shared library of torchtrt lets others see; everything else is hidden.
// Classes that are thrown or cast across libraries need it too, for their type information.
#pragma once

#define TORCHTRT_API __attribute__((visibility("default")))

// The headers are written in C++20. Programs of C++17 may include them too, with these words for what that lacks.
#if __cplusplus >= 202002L
#define TORCHTRT_SPAN std::span
#define TORCHTRT_DEFAULTED = default
#define TORCHTRT_USING_ENUM(name) using enum name
#else
#include "torchtrt/cxx17.h"
#endif

// Text as JSON wants it. Here because the runtime and the compiler both write it.
#pragma once

#include <string>

#include "torchtrt/export.h"

namespace torchtrt {

TORCHTRT_API std::string quoted(const std::string& text);

}  // namespace torchtrt

// The comment behind a layer that says where it comes from.
#pragma once

#include <string>

#include "torchtrt/types.h"

namespace torchtrt::network {

// "file:line:column (scope)" as toString(Location) writes it; other comments are no location.
Location parseLocation(std::string text);

}  // namespace torchtrt::network

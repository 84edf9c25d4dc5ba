// Facts about this process and its machine that a bug report needs. No secrets: environment variables are on a list,
// and neither the host nor the user is named.
#pragma once

#include <string>
#include <vector>

#include "torchtrt/export.h"

namespace torchtrt::runtime::recording {

struct Fact {
  std::string group;  // "versions", "machine", "threads", "variables"
  std::string name, value;
};

TORCHTRT_API std::vector<Fact> facts();
// An object for each group, with its facts as texts. Facts of a group stand together.
TORCHTRT_API std::string toJson(const std::vector<Fact>& facts);

}  // namespace torchtrt::runtime::recording

// An attribute that is missing or holds another type than its reader wants. A bug in torchtrt where the attributes are
// ours; the fields of a plugin are its user's, so that whoever makes plugins says it in other words.
#pragma once

#include <string>

#include "torchtrt/error.h"

namespace torchtrt {

class AttributeFault : public InternalError {
 public:
  explicit AttributeFault(const std::string& problem) : InternalError(problem) {}
};

}  // namespace torchtrt

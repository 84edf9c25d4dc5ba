// Devices whose kernels are compiled offer this beside their contract: machine code that was compiled before, and
// machine code for a device that is elsewhere.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "torchtrt/export.h"

namespace torchtrt::device {

// The machine code of one program, for the architecture of its device (Properties::isa).
struct MachineCode {
  std::string key;  // a hash of the text and of the compiler's options
  std::shared_ptr<const std::string> code;
};

// Looks for machine code before it compiles.
class TORCHTRT_API CodeFinder {
 public:
  virtual ~CodeFinder() = default;
  // Kernels that are prepared while the result lives find their code among this, too.
  virtual std::shared_ptr<const void> offer(std::vector<MachineCode> codes) const = 0;
};

// Stands for a device that is elsewhere: kernels are prepared for it, and none runs.
class TORCHTRT_API CodeMaker {
 public:
  virtual ~CodeMaker() = default;
  // Compiles what the kernels that were prepared will ask for, in the order of the keys. Throws EngineError where there
  // is no compiler.
  virtual std::vector<MachineCode> make() const = 0;
};

}  // namespace torchtrt::device

// A saved module: checked, then loaded, with its engines. Nothing of it is called.
#include <exception>
#include <sstream>
#include <string>

#include <torch/script.h>

#include "fuzz/targets/target.h"
#include "fuzz/torch_targets/module_changes.h"
#include "torchtrt/load.h"

namespace torchtrt::fuzz {
namespace {

bool run(std::string_view input) {
  std::istringstream file{std::string(input)};
  try {
    load(file);
    return true;
  } catch (const std::exception&) {  // ours, and several of libtorch's
    return false;
  }
}

}  // namespace

const Target saved_module = {"saved_module", run, changedModule, mendModule};

}  // namespace torchtrt::fuzz

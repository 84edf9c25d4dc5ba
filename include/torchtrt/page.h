// The page of a compiled module: one HTML file that needs no network. It shows where each operator runs and why, the
// graph down to the steps of engines, times, memory, precision, and differences from PyTorch.
#pragma once

#include <string>

#include <torch/script.h>

#include "torchtrt/compile.h"
#include "torchtrt/export.h"
#include "torchtrt/profile.h"
#include "torchtrt/verify.h"

namespace torchtrt {

// The page names the option that brings a part that is null.
struct TORCHTRT_API PageOptions {
  std::string title;               // empty: the name that the report has for the module
  const Report* report = nullptr;  // of compile() in this process; null: the module's record, which has no times
  const Profile* profile = nullptr;
  const Verification* verification = nullptr;
};

// Returns the page as HTML in UTF-8. A module without engines has one, too, which says so.
TORCHTRT_API std::string page(const torch::jit::Module& module, const PageOptions& options = {});

}  // namespace torchtrt

// The parts of Report::summary(), for lines of their own. Also lets a caller of compile() tell them in its own form.
#pragma once

#include <string>
#include <vector>

#include "torchtrt/compile.h"
#include "torchtrt/export.h"

namespace torchtrt::compiler {

struct SummaryParts {
  std::string module;         // "__torch__.Net.forward"
  std::string share_of_time;  // "engines take over 91% of PyTorch's time"; empty where that was not measured
  std::string engines;        // "1 engine, 1 segment in PyTorch, 66% of 3 nodes in engines"
  // "2x aten::lgamma has no converter": the most frequent reasons, and last "3 more reasons" where some are left out.
  std::vector<std::string> in_pytorch;
  std::string precision;  // "int8", or "int4 weights"
  std::string quantized;  // "5 of 6 layers, engines off by 0.0123 at most"; empty if nothing was to be quantized
};

// False for numbers and collections that are copied to where they are needed: such nodes work nowhere.
bool works(const Report::Node& node);

TORCHTRT_API SummaryParts summaryOf(const Report& report);

// As long as one lives, compiles of this thread leave the line of their summary to the caller.
class TORCHTRT_API OwnSummary {
 public:
  OwnSummary();
  ~OwnSummary();
  OwnSummary(const OwnSummary&) = delete;
  OwnSummary& operator=(const OwnSummary&) = delete;

  static bool isAsked();

 private:
  bool outer_;
};

}  // namespace torchtrt::compiler

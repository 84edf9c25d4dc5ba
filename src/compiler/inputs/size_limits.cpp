#include "compiler/inputs/size_limits.h"

#include <algorithm>
#include <set>

#include "base/logging.h"
#include "compiler/inputs/size_guesses.h"
#include "plan/rules.h"

namespace torchtrt::compiler {

namespace {

// Why the plan's steps do not fit where one symbol has this size and the others their optimum; empty: they do.
std::string problemAt(const plan::Plan& plan, size_t symbol, int64_t size) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    values.push_back(i == symbol ? size : plan.symbols[i].opt);
  }
  std::vector<int64_t> registers;
  try {
    plan::runProgram(plan, values, registers);
    plan::checkShapes(plan, registers, ErrorCode::kShapeArithmetic);
    return "";
  } catch (const EngineError& error) {
    const std::string where = toString(error.location());
    return error.message() + (where.empty() ? "" : " (" + where + ")");
  }
}

std::set<int64_t> sizesBesideOptimum(const Symbol& symbol) {
  std::set<int64_t> sizes = {symbol.min, symbol.max, std::max(symbol.min, symbol.opt - 1),
                             std::min(symbol.max, symbol.opt + 1)};
  sizes.erase(symbol.opt);
  return sizes;
}

}  // namespace

std::vector<OnlySize> onlySizes(const plan::Plan& plan, const InputLeaves& leaves) {
  std::vector<OnlySize> found;
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    const Symbol& symbol = plan.symbols[i];
    const bool is_input = std::any_of(leaves.symbols.begin(), leaves.symbols.end(),
                                      [&](const Symbol& each) { return each.name == symbol.name; });
    std::string reason;
    const std::set<int64_t> sizes = is_input ? sizesBesideOptimum(symbol) : std::set<int64_t>();
    const bool fits_alone = !sizes.empty() && std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) {
      const std::string problem = problemAt(plan, i, size);
      reason = problem.empty() ? reason : "with " + std::to_string(size) + ", " + problem;
      return !problem.empty();
    });
    if (fits_alone) {
      found.push_back({symbol.name, symbol.opt, reason});
    }
  }
  return found;
}

void tellOfOnlySizes(const std::vector<OnlySize>& sizes, const InputLeaves& leaves, const std::string& what) {
  std::set<std::string> told;
  for (const OnlySize& only : sizes) {
    if (told.insert(only.symbol).second) {
      TORCHTRT_LOG(kWARNING, what << ": of the range of " << placesText(leaves, only.symbol) << ", only " << only.size
                                  << " is known to fit: " << only.reason
                                  << "; a trace writes down sizes that its example had: script the module, or take "
                                     "sizes from the tensors' shape");
    }
  }
}

}  // namespace torchtrt::compiler

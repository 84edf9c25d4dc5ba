// The one-line text form of a Problem: what logs print and what torchtrt-bench reads back. Constant data is not part of
// it.
//
//   convolution float32 [?8,3,224,224]x[64,3,7,7]!xnull -> [?8,64,112,112]@0231 {groups=1, stride=[2, 2]}
//
// A dtype holds for the operands after it until the next one. "?8" is a dynamic dimension with 8 as the size to tune
// for, "!" marks a constant, "null" an absent operand, "@" a memory order other than row-major (outermost axis first,
// in base 36). Attributes are in name order: true, 3, 0.5, "text", float32, [1, 2], doubles [0.5, 2.0] or [.] when
// empty, dims (4, s0+1). "batch_invariant" behind them stands for Problem::batch_invariant.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/kernel.h"

namespace torchtrt::kernels {

// Owns what its Problem points to; it may be moved, not copied.
struct ParsedProblem {
  std::string family;
  std::unique_ptr<Attributes> attributes;
  std::vector<bool> constant;  // per input: marked as a constant; the caller sets Operand::constant to data of its own
  Problem problem;
};

// The inverse of Problem::toString(). Throws EngineError(kInvalidOption) that says where the text cannot be understood.
TORCHTRT_API ParsedProblem parseProblem(std::string_view text);

// Dense descriptors of the shapes to tune for, and the attributes of type dims, which must be numbers.
TORCHTRT_API ShapeSet tunedShapes(const Problem& problem);

}  // namespace torchtrt::kernels

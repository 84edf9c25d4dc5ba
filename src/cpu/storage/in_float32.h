// Runs a float32 implementation on operands of float16 and bfloat16: they are widened before and the results rounded
// once after, as a reference does it. So every fast kernel serves all three.
#pragma once

#include <memory>
#include <vector>

#include "kernels/backend.h"

namespace torchtrt::kernels {

// A problem with float32 in place of float16 and bfloat16, for as many implementations as have to be asked.
class InFloat32 final : public OtherForm {
 public:
  using Constants = std::vector<std::shared_ptr<void>>;  // by input; null where none was widened

  // True if an operand is float16 or bfloat16.
  static bool applies(const Problem& problem);

  // Widens the constants. Throws EngineError when there is no memory for them.
  explicit InFloat32(const Problem& problem);

  // A kernel for the problem as it was; afterwards this is used up. Or the refusal.
  CreateResult create(const Implementation& implementation) override;

 private:
  void foldScale();

  Problem wide_;
  Constants constants_;
  std::vector<size_t> sizes_;  // in bytes
  bool is_possible_ = true;
};

}  // namespace torchtrt::kernels

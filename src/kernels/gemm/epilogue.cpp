#include <limits>
#include <string>

#include "kernels/gemm/packed_gemm.h"

namespace torchtrt::kernels::gemm {

Epilogue makeEpilogue(const std::string& activation, double alpha, double beta) {
  Epilogue epilogue;
  if (activation == "relu") {
    epilogue.kind = Epilogue::Kind::kClamp;
    epilogue.high = std::numeric_limits<float>::infinity();
  } else if (activation == "clip") {
    epilogue.kind = Epilogue::Kind::kClamp;
    epilogue.low = static_cast<float>(alpha);
    epilogue.high = static_cast<float>(beta);
  } else if (activation == "hard_swish") {
    epilogue.kind = Epilogue::Kind::kHardSwish;
  } else if (!activation.empty()) {
    epilogue.kind = Epilogue::Kind::kRows;
    epilogue.rows = activationRows(activation, alpha, beta);
  }
  return epilogue;
}

}  // namespace torchtrt::kernels::gemm

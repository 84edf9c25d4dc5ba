#include <limits>
#include <string>

#include "cpu/gemm/packed_gemm.h"

namespace torchtrt::kernels::gemm {

template <typename T>
EpilogueOf<T> makeEpilogue(const std::string& activation, double alpha, double beta) {
  using Kind = typename EpilogueOf<T>::Kind;
  EpilogueOf<T> epilogue;
  if (activation == "relu") {
    epilogue.kind = Kind::kClamp;
    epilogue.high = std::numeric_limits<T>::infinity();
  } else if (activation == "clip") {
    epilogue.kind = Kind::kClamp;
    epilogue.low = static_cast<T>(alpha);
    epilogue.high = static_cast<T>(beta);
  } else if (activation == "hard_swish") {
    epilogue.kind = Kind::kHardSwish;
  } else if (!activation.empty()) {
    epilogue.kind = Kind::kRows;
    epilogue.rows = activationRows<T>(activation, alpha, beta);
  }
  return epilogue;
}

template EpilogueOf<float> makeEpilogue<float>(const std::string& activation, double alpha, double beta);
template EpilogueOf<double> makeEpilogue<double>(const std::string& activation, double alpha, double beta);

}  // namespace torchtrt::kernels::gemm

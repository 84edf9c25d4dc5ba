#include "optimization/constant_vector.h"

namespace torchtrt::optimization {

std::optional<network::Weights> asVector(const network::Tensor* constant, const Dims& dims, int rank) {
  const network::Weights* weights = constant ? constant->constant() : nullptr;
  if (!weights || rank > dims.rank() || static_cast<int>(weights->dims.size()) < rank) {
    return std::nullopt;
  }
  const size_t leading = weights->dims.size() - static_cast<size_t>(rank);
  if (weights->dims.size() > static_cast<size_t>(dims.rank())) {
    return std::nullopt;
  }
  for (size_t i = 0; i < weights->dims.size(); ++i) {
    const bool fits = i < leading ? weights->dims[i] == 1
                                  : dims[dims.rank() - rank + static_cast<int>(i - leading)] == Dim(weights->dims[i]);
    if (!fits) {
      return std::nullopt;
    }
  }
  network::Weights vector = *weights;
  vector.dims.erase(vector.dims.begin(), vector.dims.begin() + static_cast<std::ptrdiff_t>(leading));
  return vector;
}

}  // namespace torchtrt::optimization

#include "cpu/fourier/plan.h"

#include <utility>

namespace torchtrt::kernels::fourier {

template <typename T>
Plan<T>::Plan(int64_t length) : length(length) {
  const std::vector<int64_t> radixes = radixesOf(length);
  if (length > 1 && radixes.empty()) {
    Chirp<T> made(length);
    chirp_transform = std::make_unique<Plan>(made.padded);
    chirp = std::move(made.chirp);
    chirp_spectrum = std::move(made.spectrum);
    return;
  }
  int64_t rest = length, stride = 1;
  for (const int64_t radix : radixes) {
    Stage stage{radix, rest / radix, stride, factors.size(), roots.size()};
    for (int64_t p = 0; p < stage.count; ++p) {
      for (int64_t k = 1; k < radix; ++k) {
        addRoot(p * k, rest, factors);
      }
    }
    for (int64_t k = 0; radix % 2 != 0 && k < radix; ++k) {
      addRoot(k, radix, roots);
    }
    stages.push_back(stage);
    rest = stage.count;
    stride *= radix;
  }
}
template struct Plan<float>;
template struct Plan<double>;

}  // namespace torchtrt::kernels::fourier

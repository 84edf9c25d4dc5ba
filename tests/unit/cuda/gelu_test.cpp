// gelu of 16 bits, which device code computes without erf(): every value there is, against float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/against_reference.h"

namespace torchtrt::kernels::testing {
namespace {

TEST(ShortGelu, EveryValueIsWithinAboutHalfAUnit) {
  constexpr int64_t kCount = 65536;
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    Tensor all = makeTensor(dtype, {kCount}, Values(kCount, 0));
    std::vector<uint16_t> bits;
    for (int64_t i = 0; i < kCount; ++i) {
      bits.push_back(static_cast<uint16_t>(i));
    }
    std::memcpy(all.bytes.data(), bits.data(), all.bytes.size());
    const Values in = all.values();
    const Values out =
        run({"activation", makeAttributes({{"op", std::string("gelu_erf")}}), {all}, {{dtype, {kCount}}}})[0].values();
    const int digits = dtype == DType::kFloat16 ? 10 : 7, lowest = dtype == DType::kFloat16 ? -24 : -133;
    for (size_t i = 0; i < in.size(); ++i) {
      const double exact = in[i] * (0.5 * std::erfc(-in[i] / std::sqrt(2)));
      if (std::isnan(exact)) {  // of minus infinity, too, as in PyTorch
        ASSERT_TRUE(std::isnan(out[i])) << in[i];
      } else if (std::isinf(exact)) {
        ASSERT_EQ(out[i], exact);
      } else {
        const double unit = std::ldexp(1, exact == 0 ? lowest : std::max(std::ilogb(exact) - digits, lowest));
        ASSERT_LE(std::fabs(out[i] - exact), 0.51 * unit) << in[i];
      }
    }
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing

// oneDNN's code for convolutions goes when nobody runs it: neither loading again nor other shapes leave any behind.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "cpu/onednn/onednn.h"
#include "cpu_fast/convolution_problem.h"
#include "kernels/problem_text.h"

#if !defined(TORCHTRT_NO_ONEDNN) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

namespace torchtrt::kernels {
namespace {

constexpr int kTimes = 300;
constexpr double kFewMegabytes = 3;  // for all of them; before, a primitive with relu left 0.05 behind
constexpr int64_t kChannels = 64;

double residentMegabytes() {
  malloc_trim(0);
  size_t all = 0;
  size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGE_SIZE)) / 1e6;
}

// A layer over channels-last images, by oneDNN.
class Layer {
 public:
  explicit Layer(const std::string& problem)
      : parsed_(parseProblem(problem)), weights_(kChannels * kChannels * 9, 0.5F) {
    parsed_.problem.inputs[1].constant = weights_.data();
  }

  std::unique_ptr<Kernel> create() const {
    Chosen chosen = createKernel(parsed_.problem, "onednn");
    EXPECT_STREQ(chosen.implementation, "onednn");
    return std::move(chosen.kernel);
  }

  ShapeSet shapes(int64_t height, int64_t width) const {
    ShapeSet set = tunedShapes(parsed_.problem);
    for (std::vector<TensorDesc>* side : {&set.inputs, &set.outputs}) {
      TensorDesc& image = side->front();
      image.dims = {1, kChannels, height, width};
      image.strides = denseStrides(image.dims, {0, 2, 3, 1});
    }
    return set;
  }

 private:
  ParsedProblem parsed_;
  std::vector<float> weights_;
};

std::string convolution(const std::string& activation, bool dynamic) {
  return toText({.input = {1, kChannels, 16, 16},
                 .kernel = {kChannels, kChannels, 3, 3},
                 .pre_padding = {1, 1},
                 .post_padding = {1, 1},
                 .bias = false,
                 .dynamic = dynamic,
                 .activation = activation});
}

std::string convolutionOfBytes(int output_zero_point) {
  return "quantized_convolution uint8 [1,64,16,16]@0231xint8 [64,64,3,3]!xfloat32 [64]!xnull -> uint8 "
         "[1,64,16,16]@0231 {dilation=[1, 1], groups=1, stride=[1, 1], pre_padding=[1, 1], post_padding=[1, 1], "
         "to=uint8, zero_point=3, low=0, high=255, "
         "output_scale=512.0, output_zero_point=" +
         std::to_string(output_zero_point) + "}";
}

void expectNothingIsLeftByLoading(const Layer& layer) {
  const auto load = [&] { layer.create()->prepare(layer.shapes(16, 16)); };
  load();
  const double before = residentMegabytes();
  for (int i = 0; i < kTimes; ++i) {
    load();
  }
  EXPECT_LT(residentMegabytes() - before, kFewMegabytes);
}

const char* const kActivations[] = {"", "activation=\"relu\", ", "activation=\"silu\", ",
                                    "activation=\"leaky_relu\", activation_alpha=0.1, "};

TEST(CodeOfConvolutions, IsNotLeftByLoadingAgain) {
  for (const char* activation : kActivations) {
    SCOPED_TRACE(activation);
    expectNothingIsLeftByLoading(Layer(convolution(activation, false)));
  }
}

TEST(CodeOfConvolutions, OfBytesIsNotLeftByLoadingAgain) {
  if (const auto refusal = onednn::refuseInt8()) {
    GTEST_SKIP() << refusal->reason;
  }
  for (const int zero_point : {0, 96, 97}) {
    SCOPED_TRACE(zero_point);
    expectNothingIsLeftByLoading(Layer(convolutionOfBytes(zero_point)));
  }
}

TEST(CodeOfConvolutions, IsNotLeftByShapesOfManySizes) {
  for (const char* activation : kActivations) {
    const Layer layer(convolution(activation, true));
    const std::unique_ptr<Kernel> kernel = layer.create();
    kernel->prepare(layer.shapes(16, 16));
    const double before = residentMegabytes();
    for (int i = 0; i < 2 * kTimes; ++i) {
      kernel->prepare(layer.shapes(5 + i % 20, 5 + i / 20));
    }
    EXPECT_LT(residentMegabytes() - before, kFewMegabytes) << activation;
  }
}

}  // namespace
}  // namespace torchtrt::kernels

#endif

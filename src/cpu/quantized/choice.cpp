// The order of the lists: tiles and oneDNN where the CPU multiplies bytes exactly, winograd for 3x3 convolutions, and
// integer_gemm for the rest.
#include "cpu/quantized/choice.h"

#include <functional>
#include <numeric>
#include <variant>
#include <vector>

#include "cpu/convolution/gemm/tile_rows.h"
#include "cpu/convolution/geometry.h"
#include "cpu/quantized/products/product.h"

namespace torchtrt::kernels::quantized {
namespace {

using convolution::Geometry;

double product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), 1.0, std::multiplies<>());
}

}  // namespace

// By measurement (a core of a Xeon with AMX), oneDNN's time over that of tiles: 1.0 to 2.7 in convolutions of ResNet-50
// and U-Net but these. Filters larger than a pixel take 0.5 where windows are put together one by one, and 0.85 for
// large images in float32.
std::optional<Refusal> leaveTiles(const Problem& problem) {
  constexpr double kManyPixels = 4096;
  const std::variant<Geometry, Refusal> described = convolution::describeQuantized(problem);
  const auto* const g = std::get_if<Geometry>(&described);
  if (g == nullptr || g->taps() == 1) {
    return std::nullopt;
  }
  const std::vector<int64_t>& size = problem.outputs[0].opt_dims;
  const double pixels = product({size.begin() + 2, size.end()});
  const bool is_large = pixels >= kManyPixels && problem.outputs[0].dtype == DType::kFloat32;
  const bool has_lines = convolution::depthOf(*g, 1) == convolution::TileDepth::kLines;
  if (is_large || (!has_lines && !convolution::havePlanes(*g, 1))) {
    return Refusal{"slower", "is slower than onednn for large images or few channels"};
  }
  return std::nullopt;
}

// Below, the cost of oneDNN's call outweighs what it saves, as for bfloat16.
std::optional<Refusal> leaveOneDnn(const Problem& problem) {
  constexpr double kFewFlops = 400'000;
  if (problem.inputs[kKernel].constant == nullptr) {
    return std::nullopt;
  }
  const double products = product(problem.inputs[kKernel].dims);
  const auto channels = static_cast<double>(problem.inputs[kScale].dims[0]);
  // Rows of a matrix may be of any sample; images come one at a time (kernels/each_sample.h).
  const bool ignores_rows = problem.batch_invariant && problem.family == "quantized_matrix_multiply";
  const double results = ignores_rows ? channels : product(problem.outputs[0].opt_dims);
  if (2 * results * products / channels < kFewFlops) {
    return Refusal{"slower", "is slower than others for so little arithmetic"};
  }
  return std::nullopt;
}

// Winograd is no faster than the plain sum with fewer tiles, of 2x2 outputs.
std::optional<Refusal> leaveWinograd(const Problem& problem) {
  constexpr int64_t kFewTiles = 4;
  const std::variant<Geometry, Refusal> described = convolution::describeQuantized(problem);
  const auto* const g = std::get_if<Geometry>(&described);
  if (g == nullptr || g->spatial_rank != 2) {
    return std::nullopt;
  }
  const std::vector<int64_t>& size = problem.outputs[0].opt_dims;
  if (size[0] * ceilDiv(size[2], 2) * ceilDiv(size[3], 2) < kFewTiles) {
    return Refusal{"slower", "is slower than others for so few outputs"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::kernels::quantized

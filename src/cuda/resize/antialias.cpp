#include <algorithm>
#include <numeric>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/steps.h"
#include "cuda/launch/types.h"
#include "cuda/resize/resize.h"
#include "kernels/resize/axes.h"
#include "kernels/resize/filter.h"

namespace torchtrt::cuda {

namespace {

using kernels::ResizeAxis;
using kernels::TensorDesc;

// FilterAxis of antialias.cuh.
struct FilterArgument {
  int64_t in, out, most;
  double step, support, inverse;
  int copies, shift;
};

template <typename T>
FilterArgument argumentOf(const ResizeAxis& axis) {
  const kernels::FilterRule<T> rule = kernels::filterRule<T>(axis);
  return {axis.in,      axis.out,     rule.most,        static_cast<double>(rule.step),
          rule.support, rule.inverse, int{rule.copies}, 0};
}

FilterArgument argumentOf(const ResizeAxis& axis, DType dtype) {
  if (dtype == DType::kFloat32) {
    return argumentOf<float>(axis);
  }
  FilterArgument argument = argumentOf<double>(axis);
  if (dtype == DType::kUInt8) {
    argument.shift = kernels::wholeFilter(kernels::antialiasFilter<double>(axis)).shift;
  }
  return argument;
}

// The order of the dims in a tensor's memory, outermost first.
std::vector<uint8_t> orderOf(const Ints& strides) {
  std::vector<uint8_t> order(strides.size());
  std::iota(order.begin(), order.end(), uint8_t{0});
  std::stable_sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) { return strides[a] > strides[b]; });
  return order;
}

Ints inOrder(const Ints& values, const std::vector<uint8_t>& order) {
  Ints result;
  for (const uint8_t axis : order) {
    result.push_back(values[axis]);
  }
  return result;
}

class Resizing {
 public:
  Resizing(Launches& launches, const kernels::ResizeConfig& config, DType dtype)
      : launches_(launches), config_(config), dtype_(dtype) {}

  // Resizes a tensor to one whose `axis` alone has another size; threads follow the order of the latter in memory.
  void add(size_t axis, const Ints& in_dims, const Strided& in, const Ints& out_dims, const Strided& out) {
    const ResizeAxis rule = {config_.mode, config_.align_corners, config_.scales.at(axis - 2),
                             true,         in_dims[axis],         out_dims[axis]};
    const FilterArgument filter = argumentOf(rule, dtype_);
    const bool is_byte = dtype_ == DType::kUInt8;
    const char* const number = dtype_ == DType::kFloat32 ? "float" : "double";
    const size_t number_size = dtype_ == DType::kFloat32 ? sizeof(float) : sizeof(double);
    const auto weights = static_cast<size_t>(filter.out * filter.most);
    const int64_t spans_at = launches_.reserve(static_cast<size_t>(filter.out) * 2 * sizeof(int64_t));
    const int64_t parts_at = launches_.reserve(weights * number_size);
    const int64_t weights_at = is_byte ? launches_.reserve(weights * sizeof(int32_t)) : parts_at;
    const std::vector<uint8_t> order = orderOf(out.strides);
    Source source;
    source.define("STORED", storedType(dtype_)).define("C", computedType(dtype_)).define("P", number);
    source.define("W", is_byte ? "int" : number).define("CUBIC", int64_t{config_.mode == kernels::ResizeMode::kCubic});
    source.define("IS_BYTE", int64_t{is_byte}).define("RANK", static_cast<int64_t>(order.size()));
    source.define("AXIS", std::find(order.begin(), order.end(), axis) - order.begin());
    source.include("text/storage.cuh").include("text/rounded.cuh").include("resize/antialias.cuh");
    Arguments of_filter, of_sums;
    of_filter.value(filter).scratch(spans_at).scratch(parts_at).scratch(weights_at);
    launches_.add(source, "antialias_filter", geometryFor(filter.out), std::move(of_filter));
    Ints standing = in.strides;
    standing[axis] = 0;
    of_sums.value(countOf(out_dims)).value(filter.most).value(filter.shift).scratch(spans_at).scratch(weights_at);
    addWalk(of_sums, inOrder(out_dims, order), inOrder(standing, order));
    in.place.addTo(of_sums.value(in.strides[axis]));
    addStrides(of_sums, inOrder(out.strides, order));
    out.place.addTo(of_sums);
    launches_.add(source, "antialias_sums", geometryFor(countOf(out_dims)), std::move(of_sums));
  }

 private:
  Launches& launches_;
  const kernels::ResizeConfig& config_;
  DType dtype_;
};

std::unique_ptr<kernels::Prepared> prepareAntialiasedResize(const Layer& layer, const kernels::ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  const TensorDesc& in = shapes.inputs.at(0);
  const TensorDesc& out = shapes.outputs.at(0);
  const kernels::ResizeConfig config = kernels::readResizeConfig(layer.attributes);
  auto launches = std::make_unique<Launches>(layer.device);
  if (countOf(out.dims) == 0) {
    return launches;
  }
  // Bytes are rounded along the width first, as on the CPU. Others go along the height first.
  const size_t first = in.dtype == DType::kUInt8 ? 3 : 2, second = 5 - first;
  Ints between = in.dims;
  between[first] = out.dims[first];
  const Strided middle = {Place::reserve(*launches, countOf(between), in.dtype),
                          kernels::denseStrides(between, orderOf(out.strides))};
  Resizing resizing(*launches, config, in.dtype);
  resizing.add(first, in.dims, {Place::input(layer, 0), in.strides}, between, middle);
  resizing.add(second, between, middle, out.dims, {Place::output(), out.strides});
  return launches;
}

}  // namespace

kernels::CreateResult createAntialiasedResize(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", "AntialiasedResize")) {
    return *refusal;
  }
  return launched(problem, prepareAntialiasedResize);
}

}  // namespace torchtrt::cuda

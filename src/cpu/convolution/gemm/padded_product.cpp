#include "cpu/convolution/gemm/padded_product.h"

#include <algorithm>
#include <utility>

#include "base/align.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

constexpr int64_t kMostBytes = int64_t{256} * 1024;  // of the copy: it is read from the second-level cache
constexpr int64_t kMostRows = 4096;                  // output pixels: each has an entry in a table
constexpr int64_t kGrain = 16384;                    // elements worth a thread

template <typename T>
class PaddedProduct final : public Prepared {
 public:
  PaddedProduct(const Geometry& geometry, const Image& input, const Image& copy, int64_t unit, int64_t planes,
                std::unique_ptr<Prepared> product)
      : geometry_(geometry), input_(input), copy_(copy), unit_(unit), planes_(planes), product_(std::move(product)) {}

  void run(const RunArgs& args) const override {
    T* to = static_cast<T*>(args.scratch);
    const int64_t line = copy_.size[2] * unit_;
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, line));
    const int64_t lines = copy_.batch * planes_ * copy_.size[0] * copy_.size[1];
    parallelFor(args.threads, 0, lines, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        copyLine(static_cast<const T*>(args.inputs[0]), i, to + i * line);
      }
    });
    const void* inputs[] = {to, args.inputs[1], geometry_.has_bias ? args.inputs[2] : nullptr,
                            geometry_.has_residual ? args.inputs[3] : nullptr};
    RunArgs inner = args;
    inner.inputs = inputs;
    inner.scratch = static_cast<std::byte*>(args.scratch) + copyBytes();
    product_->run(inner);
  }
  size_t scratchBytes() const override {
    return copyBytes() + product_->scratchBytes();
  }
  size_t heldBytes() const override {
    return product_->heldBytes();
  }

 private:
  size_t copyBytes() const {
    const auto count = static_cast<size_t>(copy_.batch * planes_ * copy_.pixels() * unit_);
    return alignUp(count * sizeof(T));
  }

  void copyLine(const T* input, int64_t index, T* to) const {
    const int64_t y = index % copy_.size[1] - geometry_.pre_padding[1];
    const int64_t z = index / copy_.size[1] % copy_.size[0] - geometry_.pre_padding[0];
    const int64_t plane = index / (copy_.size[1] * copy_.size[0]);
    T* const end = to + copy_.size[2] * unit_;
    if (y < 0 || y >= input_.size[1] || z < 0 || z >= input_.size[0]) {
      std::fill(to, end, T(0));
      return;
    }
    const T* from = input + plane / planes_ * input_.batch_stride + plane % planes_ * input_.channel_stride +
                    z * input_.stride[0] + y * input_.stride[1];
    T* const first = to + geometry_.pre_padding[2] * unit_;
    std::fill(to, first, T(0));
    std::fill(std::copy_n(from, input_.size[2] * unit_, first), end, T(0));
  }

  Geometry geometry_;
  Image input_;
  Image copy_;
  int64_t unit_;    // elements from pixel to pixel of a line
  int64_t planes_;  // of an image: its channels where they are apart
  std::unique_ptr<Prepared> product_;
};

}  // namespace

template <typename T>
std::unique_ptr<Prepared> preparePadded(const PackedConvolutionOf<T>& packed, const ShapeSet& shapes,
                                        const PrepareProduct<T>& prepare, PaddedSize size) {
  const Geometry& g = packed.geometry;
  const Spatial none = {0, 0, 0};
  const auto is_negative = [](int64_t padding) { return padding < 0; };
  if ((g.pre_padding == none && g.post_padding == none) || g.groups != 1 ||
      std::any_of(g.pre_padding.begin(), g.pre_padding.end(), is_negative) ||
      std::any_of(g.post_padding.begin(), g.post_padding.end(), is_negative)) {
    return nullptr;
  }
  const bool apart = packed.reading == Reading::kPlanes;
  const int64_t unit = apart ? 1 : g.channels;
  ShapeSet padded = shapes;
  TensorDesc& desc = padded.inputs[0];
  std::vector<uint8_t> order = {0};
  for (size_t axis = 2; axis < desc.dims.size(); ++axis) {
    const size_t i = axis + 3 - desc.dims.size();
    desc.dims[axis] += g.pre_padding[i] + g.post_padding[i];
    order.push_back(static_cast<uint8_t>(axis));
  }
  order.insert(apart ? order.begin() + 1 : order.end(), 1);
  desc.strides = denseStrides(desc.dims, order);
  const Image input = imageOf(shapes.inputs[0]);
  const Image copy = imageOf(desc);
  const Image output = imageOf(shapes.outputs[0]);
  const int64_t bytes = copy.batch * copy.pixels() * g.channels * static_cast<int64_t>(sizeof(T));
  const bool is_small = bytes <= kMostBytes && output.batch * output.pixels() <= kMostRows;
  // The stride of a line of one pixel says nothing.
  const bool has_dense_lines = input.size[2] <= 1 || input.stride[2] == unit;
  if (!has_dense_lines || (size == PaddedSize::kSmall && !is_small)) {
    return nullptr;
  }
  auto inner = std::make_shared<PackedConvolutionOf<T>>(packed);  // the weights are shared
  inner->geometry.pre_padding = inner->geometry.post_padding = none;
  std::unique_ptr<Prepared> product = prepare(std::move(inner), padded);
  return product == nullptr
             ? nullptr
             : std::make_unique<PaddedProduct<T>>(g, input, copy, unit, apart ? g.channels : 1, std::move(product));
}

template std::unique_ptr<Prepared> preparePadded(const PackedConvolutionOf<float>&, const ShapeSet&,
                                                 const PrepareProduct<float>&, PaddedSize);
template std::unique_ptr<Prepared> preparePadded(const PackedConvolutionOf<double>&, const ShapeSet&,
                                                 const PrepareProduct<double>&, PaddedSize);

}  // namespace torchtrt::kernels::convolution

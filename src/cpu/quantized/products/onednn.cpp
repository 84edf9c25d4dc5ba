// Quantized convolution and matrix multiplication by oneDNN, where the CPU multiplies bytes exactly. Sums
// and ties are the reference's. A residual and an even zero point are rounded in another order. A step may be off by
// one there if a result lies near to the middle of two.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include "cpu/convolution/geometry.h"
#include "cpu/convolution/onednn/onednn_shapes.h"
#include "cpu/matmul/config.h"
#include "cpu/onednn/onednn.h"
#include "cpu/quantized/fast.h"
#include "cpu/quantized/products/onednn_fusion.h"
#include "cpu/quantized/requantization.h"
#include "cpu/threads/parallel.h"
#include "kernels/real_time.h"

namespace torchtrt::kernels::quantized {

#ifdef TORCHTRT_NO_ONEDNN

CreateResult createConvolutionOneDnn(const Problem&) {
  return Refusal{"not-built", "is not part of this build"};
}
CreateResult createMatmulOneDnn(const Problem&) {
  return Refusal{"not-built", "is not part of this build"};
}

#else

namespace {

using dnnl::memory;

// Descriptors of the operands of one set of shapes.
struct Operands {
  memory::desc source;
  memory::desc weights;
  memory::desc bias;
  memory::desc target;
  memory::desc residual;
};

struct ConvolutionKind {
  static constexpr const char* kName = "quantized_convolution";
  using Primitive = dnnl::convolution_forward;
  convolution::Geometry geometry;

  Operands operands(const Product& product, const std::vector<TensorDesc>& inputs, const TensorDesc& output) const {
    Operands result;
    result.source = onednn::describe(inputs[kInput].dims, inputs[kInput].strides, inputs[kInput].dtype);
    result.bias = onednn::describe({geometry.outputs}, {1}, DType::kFloat32);
    result.target = onednn::describe(output.dims, output.strides, output.dtype);
    if (product.definition.has_residual) {
      result.residual = onednn::describe(output.dims, inputs[kResidual].strides, inputs[kResidual].dtype);
    }
    return result;
  }
  Primitive::primitive_desc describe(const Operands& o, bool has_bias, const dnnl::primitive_attr& attributes) const {
    const convolution::Geometry& g = geometry;
    const int rank = g.spatial_rank;
    const auto strides = convolution::lastDims(g.stride, rank);
    const auto dilations = convolution::lastDims(g.dilation, rank, 1);
    const auto before = convolution::lastDims(g.pre_padding, rank);
    const auto after = convolution::lastDims(g.post_padding, rank);
    constexpr auto kUse = dnnl::prop_kind::forward_inference;
    constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
    if (has_bias) {
      return {onednn::engine(), kUse,    kAlgorithm, o.source, o.weights, o.bias,
              o.target,         strides, dilations,  before,   after,     attributes};
    }
    return {onednn::engine(), kUse,      kAlgorithm, o.source, o.weights, o.target,
            strides,          dilations, before,     after,    attributes};
  }

  // Implementations of oneDNN 3.2 for AMX that read and write behind their memory, or give other numbers: those of
  // three spatial dims, and one that makes up for a zero point in the padding of height, if there is none on the left.
  bool isWrong(const Primitive::primitive_desc& desc, const Product& product) const {
    const convolution::Geometry& g = geometry;
    const std::string_view name = desc.impl_info_str();
    const bool pads_height_alone = g.pre_padding[1] + g.post_padding[1] > 0 && g.pre_padding[2] == 0;
    return name.find("amx") != std::string_view::npos &&
           (g.spatial_rank == 3 || (product.zero_point != 0 && pads_height_alone && name == "jit:avx512_core_amx"));
  }
};

// Rows of all batches are one matrix.
struct MatmulKind {
  static constexpr const char* kName = "quantized_matrix_multiply";
  using Primitive = dnnl::matmul;
  int64_t depth = 0;
  int64_t columns = 0;

  Operands operands(const Product& product, const std::vector<TensorDesc>& inputs, const TensorDesc& output) const {
    const int64_t rows = std::accumulate(output.dims.begin(), output.dims.end() - 1, int64_t{1}, std::multiplies<>());
    Operands result;
    result.source = onednn::describe({rows, depth}, {depth, 1}, inputs[kInput].dtype);
    result.bias = onednn::describe({1, columns}, {columns, 1}, DType::kFloat32);
    result.target = onednn::describe({rows, columns}, {columns, 1}, output.dtype);
    if (product.definition.has_residual) {
      result.residual = onednn::describe({rows, columns}, {columns, 1}, inputs[kResidual].dtype);
    }
    return result;
  }
  Primitive::primitive_desc describe(const Operands& o, bool has_bias, const dnnl::primitive_attr& attributes) const {
    if (has_bias) {
      return {onednn::engine(), o.source, o.weights, o.bias, o.target, attributes};
    }
    return {onednn::engine(), o.source, o.weights, o.target, attributes};
  }
  static bool isWrong(const Primitive::primitive_desc& /*desc*/, const Product& /*product*/) {
    return false;
  }
};

template <typename Kind>
struct Packed {
  Kind kind;
  Product product;
  bool many_images = false;
  memory::desc plain;  // weights as they were given
  int threads = 1;     // that the layout of the packed ones was chosen for
};

// A primitive, and what it fuses.
template <typename Kind>
struct Described {
  typename Kind::Primitive::primitive_desc desc;
  Fusion fusion;
};

// True for implementations that sum pairs of products in int16 where the CPU could do better. oneDNN comes to them for
// weights that are packed already.
bool saturates(const dnnl::primitive_desc_base& desc) {
  const std::string_view name = desc.impl_info_str();
  const auto names = [&](const char* word) { return name.find(word) != std::string_view::npos; };
  return !names("vnni") && !names("amx") && !names("gemm") && !onednn::isPlainLoop(desc);
}

// Prefers forms that leave no code behind, as convolution::describeKind() does.
template <typename Kind>
Described<Kind> describeKind(const Packed<Kind>& packed, const Operands& operands) {
  const Product& product = packed.product;
  // Some implementations take packed weights of their layout, and ask for more numbers behind them than there are.
  const auto isWrong = [&](const typename Kind::Primitive::primitive_desc& desc) {
    return packed.kind.isWrong(desc, product) || saturates(desc) ||
           (operands.weights.get_format_kind() != memory::format_kind::any && desc.weights_desc() != operands.weights);
  };
  const auto describe = [&](const dnnl::primitive_attr& attributes) {
    auto desc = packed.kind.describe(operands, product.definition.has_bias, attributes);
    while (isWrong(desc)) {
      if (!desc.next_impl()) {
        throw dnnl::error(dnnl_unimplemented, "no implementation computes this right");
      }
    }
    return desc;
  };
  Fusion fusion = fuse(product, operands.residual, operands.target.get_ndims(), false);
  auto desc = describe(fusion.attributes);
  if (!onednn::keepsCode(desc) || (!packed.many_images && !fusion.has_functions)) {
    return {desc, fusion};
  }
  if (!packed.many_images) {
    const Fusion sloped = fuse(product, operands.residual, operands.target.get_ndims(), true);
    if (!sloped.has_functions) {
      return {describe(sloped.attributes), sloped};
    }
  }
  auto other = describe(fusion.attributes);
  while ((onednn::keepsCode(other) || isWrong(other)) && other.next_impl()) {
  }
  const bool is_usable = !onednn::keepsCode(other) && !isWrong(other) && !onednn::isPlainLoop(other);
  return {is_usable ? other : desc, fusion};
}

// Nothing if only the plain loop computes it, or nothing at all.
template <typename Kind>
std::optional<Described<Kind>> describeFast(const Packed<Kind>& packed, const Operands& operands, int threads) {
  const ThreadScope scope(threads);
  try {
    Described<Kind> described = describeKind(packed, operands);
    if (!onednn::isPlainLoop(described.desc)) {
      return described;
    }
  } catch (const dnnl::error&) {
  }
  return std::nullopt;
}

template <typename Kind>
class OneDnnProduct final : public Prepared {
 public:
  OneDnnProduct(std::shared_ptr<const Packed<Kind>> packed, const ShapeSet& shapes) : packed_(std::move(packed)) {
    const Product& product = packed_->product;
    const TensorDesc& output = shapes.outputs[0];
    outputs_ = std::accumulate(output.dims.begin(), output.dims.end(), int64_t{1}, std::multiplies<>());
    if (outputs_ == 0) {
      return;
    }
    const ThreadScope scope(shapes.threads);
    Operands operands = packed_->kind.operands(product, shapes.inputs, output);
    Described<Kind> described = choose(operands, shapes.threads);
    const auto& desc = described.desc;
    fusion_ = std::move(described.fusion);
    scratch_bytes_ = desc.scratchpad_desc().get_size();
    const auto per_channel = onednn::describe({shapes.inputs[kScale].dims[0]}, {1}, DType::kFloat32);
    const auto number = [](DType dtype) { return onednn::describe({1}, {1}, dtype); };
    onednn::Call::Arguments arguments = {{DNNL_ARG_SRC, desc.src_desc()},
                                         {DNNL_ARG_WEIGHTS, desc.weights_desc()},
                                         {DNNL_ARG_DST, desc.dst_desc()},
                                         {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()},
                                         {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, per_channel}};
    if (product.definition.has_bias) {
      arguments.emplace_back(DNNL_ARG_BIAS, operands.bias);
    }
    if (product.definition.has_residual) {
      arguments.emplace_back(fusion_.residual_argument, operands.residual);
    }
    for (const auto& [argument, value] : fusion_.rounding) {
      arguments.emplace_back(argument, describeNumber(operands.target.get_ndims()));
    }
    if (hasScale()) {
      arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, number(DType::kFloat32));
    }
    if (product.zero_point != 0) {
      arguments.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, number(DType::kInt32));
    }
    if (fusion_.zero_point != 0) {
      arguments.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, number(DType::kInt32));
    }
    if (fusion_.slope_argument != 0) {
      arguments.emplace_back(fusion_.slope_argument, number(DType::kFloat32));
    }
    call_ = std::make_unique<onednn::Call>(typename Kind::Primitive(desc), arguments, shapes.threads);
  }

  size_t scratchBytes() const override {
    return scratch_bytes_;
  }
  size_t heldBytes() const override {
    const bool has_own_weights = weights_.data != packed_->product.weights.data;
    return call_ == nullptr ? 0 : onednn::kCodeBytes + (has_own_weights ? weights_.desc.get_size() : 0);
  }

  void run(const RunArgs& args) const override {
    if (call_ == nullptr) {
      return;
    }
    const Product& product = packed_->product;
    std::array<const void*, 12> addresses = {args.inputs[kInput], weights_.data.get(), args.outputs[0], args.scratch,
                                             args.inputs[kScale]};
    size_t count = 5;
    const auto add = [&](bool used, const void* address) {
      if (used) {
        addresses[count++] = address;
      }
    };
    add(product.definition.has_bias, product.definition.has_bias ? args.inputs[kBias] : nullptr);
    add(product.definition.has_residual, product.definition.has_residual ? args.inputs[kResidual] : nullptr);
    for (const auto& [argument, value] : fusion_.rounding) {
      add(true, &value);
    }
    add(hasScale(), &product.output_scale);
    add(product.zero_point != 0, &product.zero_point);
    add(fusion_.zero_point != 0, &fusion_.zero_point);
    add(fusion_.slope_argument != 0, &fusion_.slope);
    try {
      call_->run({addresses.data(), count});
    } catch (const dnnl::error& error) {
      onednn::rethrow(error, Kind::kName);
    }
    if (fusion_.rest) {
      onednn::applyRows(fusion_.rest, DType::kFloat32, args.outputs[0], outputs_, args.threads);
    }
  }

 private:
  // Another number of threads, or another shape, may want other weights than the packed ones.
  Described<Kind> choose(Operands& operands, int threads) {
    weights_ = packed_->product.weights;
    operands.weights = weights_.desc;
    for (const int count : {threads, packed_->threads}) {
      if (auto described = describeFast(*packed_, operands, count)) {
        return *described;
      }
    }
    operands.weights = onednn::describeAny(weights_.desc.get_dims(), DType::kInt8);
    if (auto described = describeFast(*packed_, operands, threads)) {
      const auto plain = onednn::packConstant(weights_.data.get(), weights_.desc, packed_->plain, threads);
      weights_ = onednn::packConstant(plain.data.get(), plain.desc, described->desc.weights_desc(), threads);
      return *described;
    }
    operands.weights = weights_.desc;
    return describeKind(*packed_, operands);
  }

  bool hasScale() const {
    return packed_->product.definition.makesSteps() && fusion_.rounding.empty();
  }

  std::shared_ptr<const Packed<Kind>> packed_;
  std::unique_ptr<onednn::Call> call_;  // null when there is nothing to compute
  onednn::PackedConstant weights_;      // the packed ones of the layer, or others
  Fusion fusion_;
  size_t scratch_bytes_ = 0;
  int64_t outputs_ = 0;
};

template <typename Kind>
class OneDnnKernel final : public Kernel, public MayAllocate {
 public:
  explicit OneDnnKernel(std::shared_ptr<const Packed<Kind>> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    try {
      return std::make_unique<OneDnnProduct<Kind>>(packed_, shapes);
    } catch (const dnnl::error& error) {
      onednn::rethrow(error, Kind::kName);
    }
  }
  bool needsConstant(int input) const override {
    return input != kKernel;
  }
  size_t packedBytes() const override {
    return packed_->product.weights.desc.get_size();
  }
  bool mayAllocate() const override {
    return true;
  }

 private:
  std::shared_ptr<const Packed<Kind>> packed_;
};

TensorDesc tuned(const Operand& operand) {
  return operand.present ? TensorDesc{operand.dtype, operand.opt_dims, denseStrides(operand.opt_dims, operand.order)}
                         : TensorDesc{};
}

// weights: where they lie before they are packed.
template <typename Kind>
CreateResult create(const Problem& problem, Kind kind, int channel_mask, const memory::desc& weights) {
  auto packed = std::make_shared<Packed<Kind>>(Packed<Kind>{std::move(kind), {}, false, weights, problem.threads});
  const std::vector<int64_t>& dims = problem.inputs[kInput].dims;
  packed->many_images = dims.size() > 2 && std::find(dims.begin() + 2, dims.end(), -1) != dims.end();
  Product& product = packed->product;
  const Attributes& attributes = *problem.attributes;
  product.definition = requantizationOf(problem);
  product.zero_point = static_cast<int32_t>(attributes.getInt("zero_point", 0));
  product.channel_mask = channel_mask;
  if (product.definition.makesSteps()) {
    product.output_scale = static_cast<float>(attributes.getDouble("output_scale"));
  }
  try {
    const ThreadScope scope(problem.threads);
    std::vector<TensorDesc> inputs;
    std::transform(problem.inputs.begin(), problem.inputs.end(), std::back_inserter(inputs), tuned);
    Operands operands = packed->kind.operands(product, inputs, tuned(problem.outputs[0]));
    operands.weights = onednn::describeAny(weights.get_dims(), DType::kInt8);
    const Described<Kind> described = describeKind(*packed, operands);
    const auto& desc = described.desc;
    if (described.fusion.rest && product.definition.makesSteps()) {
      return Refusal{"activation", "has no " + product.definition.activation.op + " for sums that are not steps yet"};
    }
    if (onednn::isPlainLoop(desc)) {
      return Refusal{"unsupported", "has no more than its plain loop for this"};
    }
    product.weights =
        onednn::packConstant(problem.inputs[kKernel].constant, weights, desc.weights_desc(), problem.threads);
  } catch (const dnnl::error& error) {
    return Refusal{"unsupported", std::string("oneDNN refuses: ") + error.what()};
  }
  return std::make_unique<OneDnnKernel<Kind>>(std::move(packed));
}

}  // namespace

CreateResult createConvolutionOneDnn(const Problem& problem) {
  if (std::optional<Refusal> refusal = onednn::refuseInt8()) {
    return *refusal;
  }
  std::variant<convolution::Geometry, Refusal> described = convolution::describeQuantized(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const convolution::Geometry& g = std::get<convolution::Geometry>(described);
  for (const Operand& operand : {problem.inputs[kInput], problem.outputs[0]}) {
    if (!convolution::isChannelsLast(operand)) {
      return Refusal{"memory-order", "reads and writes channels-last only"};
    }
  }
  if (g.has_residual && !convolution::isChannelsLast(problem.inputs[kResidual])) {
    return Refusal{"memory-order", "reads a channels-last residual only"};
  }
  const auto negative = [](int64_t value) { return value < 0; };
  if (std::any_of(g.pre_padding.begin(), g.pre_padding.end(), negative) ||
      std::any_of(g.post_padding.begin(), g.post_padding.end(), negative)) {
    return Refusal{"padding", "takes no negative padding"};
  }
  const convolution::WeightShape shape = convolution::weightShape(g, false);
  return create(problem, ConvolutionKind{g}, g.groups > 1 ? 3 : 1,
                onednn::describe(shape.dims, shape.strides, DType::kInt8));
}

CreateResult createMatmulOneDnn(const Problem& problem) {
  if (std::optional<Refusal> refusal = onednn::refuseInt8()) {
    return *refusal;
  }
  if (std::optional<Refusal> refusal = matmul::refuseOtherOrders(problem)) {
    return *refusal;
  }
  const Operand& b = problem.inputs[kKernel];
  if (b.constant == nullptr) {
    return Refusal{"dynamic-weights", "packs b when it is loaded and needs it constant"};
  }
  if (b.dims[0] == 0 || b.dims[1] == 0) {
    return Refusal{"empty", "has nothing to pack"};
  }
  return create(problem, MatmulKind{b.dims[0], b.dims[1]}, 1 << 1,
                onednn::describe(b.dims, {b.dims[1], 1}, DType::kInt8));
}

#endif  // TORCHTRT_NO_ONEDNN

}  // namespace torchtrt::kernels::quantized

// Convolution and deconvolution by oneDNN in any dense memory order that it reads well: for float32, and convolution
// for the 16-bit dtypes that the machine multiplies. Kernels are packed once, for the shape to tune for; other shapes
// run on the same packed kernel.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cpu/convolution/convolution.h"
#include "cpu/convolution/fast.h"
#include "cpu/convolution/geometry.h"
#include "cpu/convolution/onednn/onednn_desc.h"
#include "cpu/convolution/onednn/onednn_shapes.h"
#include "cpu/onednn/onednn.h"
#include "cpu/threads/helpers.h"
#include "cpu/threads/parallel.h"
#include "kernels/real_time.h"
#include "kernels/restores.h"
#include "kernels/scale.h"

namespace torchtrt::kernels::convolution {

#ifdef TORCHTRT_NO_ONEDNN

CreateResult createOneDnn(const Problem&) {
  return Refusal{"not-built", "is not part of this build"};
}
CreateResult createOneDnnBFloat16(const Problem&) {
  return Refusal{"not-built", "is not part of this build"};
}
CreateResult createDeconvolutionOneDnn(const Problem&) {
  return Refusal{"not-built", "is not part of this build"};
}

#else

namespace {

using dnnl::memory;

template <typename Kind>
struct PackedOneDnn {
  Geometry geometry;
  bool many_images = false;
  onednn::PackedWeights weights;
};

// One set of shapes: what the primitive for any number of threads is made of.
template <typename Kind>
struct OneDnnShape {
  OneDnnShape(const PackedOneDnn<Kind>& packed, const ShapeSet& shapes)
      : many_images(packed.many_images),
        source(onednn::describe(shapes.inputs[0].dims, shapes.inputs[0].strides, packed.geometry.dtype)),
        target(onednn::describe(shapes.outputs[0].dims, shapes.outputs[0].strides, packed.geometry.dtype)) {
    if (packed.geometry.has_residual) {
      residual = onednn::describe(shapes.outputs[0].dims, shapes.inputs[3].strides, packed.geometry.dtype);
    }
  }

  Described<Kind> with(const Geometry& g, const memory::desc& weights) const {
    return describeKind<Kind>(g, source, weights, target, g.has_residual ? &residual : nullptr, many_images);
  }
  std::unique_ptr<onednn::FusedCall> callOf(const Geometry& g, const Described<Kind>& described, int threads) const {
    const auto& desc = described.desc;
    const memory::desc bias = g.addsBias() ? desc.bias_desc() : memory::desc();
    return std::make_unique<onednn::FusedCall>(typename Kind::Primitive(desc), desc, g.addsBias() ? &bias : nullptr,
                                               g.has_residual ? &residual : nullptr, described.fusion, threads);
  }

  bool many_images;
  memory::desc source, target, residual;
};

template <typename Kind>
class OneDnn final : public Prepared {
 public:
  OneDnn(std::shared_ptr<const PackedOneDnn<Kind>> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)), threads_(shapes.threads) {
    const Geometry& g = packed_->geometry;
    outputs_ = 1;
    for (const int64_t size : shapes.outputs[0].dims) {
      outputs_ *= size;
    }
    if (outputs_ == 0) {
      return;
    }
    const ThreadScope scope(threads_);
    shape_.emplace(*packed_, shapes);
    weights_ = packed_->weights.tuned();
    Described<Kind> described = shape_->with(g, weights_->desc);
    if (onednn::isPlainLoop(described.desc)) {
      described = shape_->with(g, onednn::describeAny(weights_->desc.get_dims(), g.dtype));
      bool made = false;
      weights_ = packed_->weights.in(described.desc.weights_desc(), threads_, made);
      held_bytes_ = made ? weights_->desc.get_size() : 0;
    }
    scratch_bytes_ = described.desc.scratchpad_desc().get_size();
    implementation_ = described.desc.impl_info_str();
    fusion_ = described.fusion;
    call_ = shape_->callOf(g, described, threads_);
  }

  size_t scratchBytes() const override {
    return scratch_bytes_;
  }
  size_t heldBytes() const override {
    return held_bytes_ + (call_ == nullptr ? 0 : onednn::kCodeBytes);
  }

  void run(const RunArgs& args) const override {
    if (call_ == nullptr) {
      return;
    }
    const Geometry& g = packed_->geometry;
    try {
      callNow().run({args.inputs[0], weights_->data.get(), args.outputs[0], args.scratch,
                     g.has_bias ? args.inputs[2] : nullptr, g.has_residual ? args.inputs[3] : nullptr,
                     g.has_scale ? args.inputs[kScale] : nullptr});
    } catch (const dnnl::error& error) {
      onednn::rethrow(error, Kind::kName);
    }
    if (fusion_.rest) {
      onednn::applyRows(fusion_.rest, g.dtype, args.outputs[0], outputs_, args.threads);
    }
  }

 private:
  // oneDNN's loops always wait for as many threads as the primitive was made for. While helpers are left out
  // (helpers.h), one that was made for the caller alone runs instead, if it computes the same bits: of a convolution in
  // float32 without groups, for which tests hold them equal.
  const onednn::FusedCall& callNow() const {
    const Geometry& g = packed_->geometry;
    if (threads_ == 1 || Kind::kTransposed || g.dtype != DType::kFloat32 || g.groups != 1 ||
        helpersOfThisThread().threadsOf(threads_) != 1) {
      return *call_;
    }
    std::call_once(asked_for_alone_, [&] { alone_ = makeAlone(); });
    return alone_ == nullptr ? *call_ : *alone_;
  }

  // Sums of one output are added in the same order for any number of threads, but by oneDNN's gemm, and for groups.
  std::unique_ptr<onednn::FusedCall> makeAlone() const {
    try {
      const ThreadScope scope(1);
      const Described<Kind> described = shape_->with(packed_->geometry, weights_->desc);
      const auto& desc = described.desc;
      const bool is_same = desc.impl_info_str() == implementation_ && desc.weights_desc() == weights_->desc &&
                           desc.scratchpad_desc().get_size() <= scratch_bytes_ &&
                           described.fusion.slope_argument == fusion_.slope_argument;
      const bool is_by_gemm = implementation_.find("gemm") != std::string::npos;
      return is_same && !is_by_gemm ? shape_->callOf(packed_->geometry, described, 1) : nullptr;
    } catch (const std::exception&) {
      return nullptr;  // the other one is there
    }
  }

  std::shared_ptr<const PackedOneDnn<Kind>> packed_;
  int threads_;
  std::optional<OneDnnShape<Kind>> shape_;  // as are weights and call, absent when there is nothing to compute
  onednn::PackedWeights::Shared weights_;
  onednn::Fusion fusion_;
  std::string implementation_;  // oneDNN's name for it
  std::unique_ptr<onednn::FusedCall> call_;
  mutable std::once_flag asked_for_alone_;
  mutable std::unique_ptr<onednn::FusedCall> alone_;
  size_t scratch_bytes_ = 0;
  size_t held_bytes_ = 0;
  int64_t outputs_ = 0;
};

template <typename Kind>
class OneDnnKernel final : public Kernel, public MayAllocate, public RestoresConstants {
 public:
  explicit OneDnnKernel(std::shared_ptr<const PackedOneDnn<Kind>> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    try {
      return std::make_unique<OneDnn<Kind>>(packed_, shapes);
    } catch (const dnnl::error& error) {
      onednn::rethrow(error, Kind::kName);
    }
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    return packed_->weights.tuned()->desc.get_size();
  }
  bool restores(int input) const override {
    return input == 1 && packed_->weights.restores();
  }
  void restore(int, void* to, int threads) const override {
    packed_->weights.restore(to, threads, Kind::kName);
  }
  bool mayAllocate() const override {
    return true;
  }

 private:
  std::shared_ptr<const PackedOneDnn<Kind>> packed_;
};

template <typename Kind>
CreateResult create(const Problem& problem, Geometry geometry) {
  if (std::optional<Refusal> refusal = refuseLayout(problem, geometry)) {
    return *refusal;
  }
  auto packed = std::make_shared<PackedOneDnn<Kind>>();
  packed->geometry = std::move(geometry);
  const Geometry& g = packed->geometry;
  try {
    const ThreadScope scope(problem.threads);
    const Operand& input = problem.inputs[0];
    const Operand& output = problem.outputs[0];
    const memory::desc source = onednn::describe(input.opt_dims, denseStrides(input.opt_dims, input.order), g.dtype);
    const memory::desc target = onednn::describe(output.opt_dims, denseStrides(output.opt_dims, output.order), g.dtype);
    packed->many_images = hasManyImages(problem);
    const WeightShape shape = weightShape(g, Kind::kTransposed);
    const Described<Kind> described = describeKind<Kind>(g, source, onednn::describeAny(shape.dims, g.dtype), target,
                                                         g.has_residual ? &target : nullptr, packed->many_images);
    packed->weights.pack(problem.inputs[1].constant, onednn::describe(shape.dims, shape.strides, g.dtype),
                         described.desc.weights_desc(), problem.threads);
  } catch (const dnnl::error& error) {
    return Refusal{"unsupported", std::string("oneDNN refuses: ") + error.what()};
  }
  packed->geometry.weights = nullptr;  // the original may be released
  return std::make_unique<OneDnnKernel<Kind>>(std::move(packed));
}

}  // namespace

CreateResult createOneDnn(const Problem& problem) {
  std::variant<Geometry, Refusal> described = describe(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  return create<Forward>(problem, std::get<Geometry>(std::move(described)));
}

CreateResult createOneDnnBFloat16(const Problem& problem) {
  if (std::optional<Refusal> refusal = onednn::refuseBFloat16()) {
    return *refusal;
  }
  std::variant<Geometry, Refusal> described = describe(problem, DType::kBFloat16);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  return create<Forward>(problem, std::get<Geometry>(std::move(described)));
}

CreateResult createDeconvolutionOneDnn(const Problem& problem) {
  std::variant<Geometry, Refusal> described = describeTransposed(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  if (windowsOverlap(std::get<Geometry>(described)) && isChannelsLast(problem.inputs[0])) {
    return Refusal{"wrong", "has kernels that leave products out where channels are many"};
  }
  return create<Transposed>(problem, std::get<Geometry>(std::move(described)));
}

#endif  // TORCHTRT_NO_ONEDNN

}  // namespace torchtrt::kernels::convolution

// Convolution and deconvolution of float32 by oneDNN with kernels that are no constants: each call brings its kernel to
// the layout that oneDNN likes best, in scratch memory. Grouped channels of row-major images, which oneDNN reads best
// in blocks, are brought there and back as well; and channels-last images of deconvolutions that no other kernel takes,
// constant or not.
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

#include "base/align.h"
#include "cpu/convolution/convolution.h"
#include "cpu/convolution/fast.h"
#include "cpu/convolution/geometry.h"
#include "cpu/convolution/onednn/onednn_desc.h"
#include "cpu/convolution/onednn/onednn_shapes.h"
#include "cpu/onednn/onednn.h"
#include "cpu/threads/parallel.h"
#include "kernels/real_time.h"

namespace torchtrt::kernels::convolution {

#ifdef TORCHTRT_NO_ONEDNN

CreateResult createOneDnnComputed(const Problem&) {
  return Refusal{"not-built", "is not part of this build"};
}
CreateResult createDeconvolutionOneDnnComputed(const Problem&) {
  return Refusal{"not-built", "is not part of this build"};
}

#else

namespace {

using dnnl::memory;

int64_t elementsOf(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// True if the source and the target are brought to oneDNN's own layouts, too.
bool likesBlocks(const Geometry& g, bool row_major) {
  return g.groups > 1 && row_major && !g.has_residual;
}

// Descriptors of one set of shapes as given, and the primitive that oneDNN has for them.
template <typename Kind>
struct Plan {
  memory::desc source, weights, target, residual;
  onednn::Fusion fusion;
  typename Kind::Primitive::primitive_desc desc;

  Plan(const Geometry& g, const std::vector<TensorDesc>& inputs, const TensorDesc& output, bool row_major,
       bool many_images) {
    source = onednn::describe(inputs[0].dims, inputs[0].strides);
    target = onednn::describe(output.dims, output.strides);
    const WeightShape shape = weightShape(g, Kind::kTransposed);
    weights = onednn::describe(shape.dims, shape.strides);
    if (g.has_residual) {
      residual = onednn::describe(output.dims, inputs[3].strides);
    }
    const auto choose = [&](const memory::desc& from, const memory::desc& to) {
      Described<Kind> described = describeKind<Kind>(g, from, onednn::describeAny(shape.dims), to,
                                                     g.has_residual ? &residual : nullptr, many_images);
      desc = std::move(described.desc);
      fusion = std::move(described.fusion);
    };
    if (!likesBlocks(g, row_major)) {
      choose(source, target);
      if (isUsable(g) || g.has_residual) {
        return;
      }
    }
    choose(onednn::describeAny(inputs[0].dims), onednn::describeAny(output.dims));
    if (isWrong<Kind>(g, desc)) {
      choose(onednn::describe(inputs[0].dims, denseStrides(inputs[0].dims)),
             onednn::describe(output.dims, denseStrides(output.dims)));
    }
  }

  bool isUsable(const Geometry& g) const {
    return !onednn::isPlainLoop(desc) && !isWrong<Kind>(g, desc);
  }
};

template <typename Kind>
struct Computed {
  Geometry geometry;  // sizes of the kernel come with the shapes
  bool row_major = false;
  bool many_images = false;
  std::unique_ptr<Kernel> reference;  // for kernels without elements, and what oneDNN has a plain loop alone for
};

template <typename Kind>
class OneDnnComputed final : public Prepared {
 public:
  OneDnnComputed(std::shared_ptr<const Computed<Kind>> computed, const ShapeSet& shapes)
      : computed_(std::move(computed)), outputs_(elementsOf(shapes.outputs[0].dims)) {
    if (outputs_ == 0) {
      return;
    }
    Geometry g = computed_->geometry;
    setKernel(g, shapes.inputs[1].dims, Kind::kTransposed);
    if (elementsOf(shapes.inputs[1].dims) == 0) {
      reference_ = computed_->reference->prepare(shapes);
      return;
    }
    const ThreadScope scope(shapes.threads);
    const Plan<Kind> plan(g, shapes.inputs, shapes.outputs[0], computed_->row_major, computed_->many_images);
    if (!plan.isUsable(g)) {
      reference_ = computed_->reference->prepare(shapes);
      return;
    }
    take(plan.desc.scratchpad_desc().get_size());
    source_ = move(plan.source, plan.desc.src_desc(), plan.desc.src_desc(), shapes.threads);
    weights_ = move(plan.weights, plan.desc.weights_desc(), plan.desc.weights_desc(), shapes.threads);
    target_ = move(plan.desc.dst_desc(), plan.target, plan.desc.dst_desc(), shapes.threads);
    const memory::desc bias = g.has_bias ? plan.desc.bias_desc() : memory::desc();
    call_ = std::make_unique<onednn::FusedCall>(typename Kind::Primitive(plan.desc), plan.desc,
                                                g.has_bias ? &bias : nullptr, g.has_residual ? &plan.residual : nullptr,
                                                plan.fusion, shapes.threads);
  }

  size_t scratchBytes() const override {
    return reference_ != nullptr ? reference_->scratchBytes() : scratch_bytes_;
  }
  size_t heldBytes() const override {
    if (call_ == nullptr) {
      return 0;
    }
    size_t bytes = onednn::kCodeBytes;
    for (const Moved* moved : {&source_, &weights_, &target_}) {
      bytes += moved->reorder == nullptr ? 0 : kReorderBytes;
    }
    return bytes;
  }

  void run(const RunArgs& args) const override {
    if (reference_ != nullptr) {
      reference_->run(args);
    }
    if (call_ == nullptr) {
      return;
    }
    try {
      runCall(args);
    } catch (const dnnl::error& error) {
      onednn::rethrow(error, Kind::kName);
    }
    if (const ActivationRows& rest = call_->fusion().rest) {
      onednn::applyRows(rest, DType::kFloat32, args.outputs[0], outputs_, args.threads);
    }
  }

 private:
  static constexpr size_t kReorderBytes = 16 * 1024;  // its code, and what is around it

  // An operand that the primitive wants elsewhere.
  struct Moved {
    std::unique_ptr<onednn::Reorder> reorder;  // null: it lies as it should
    size_t offset = 0;                         // in the scratch memory
    size_t own_offset = 0;                     // of the reorder's own scratch memory
  };

  size_t take(size_t bytes) {
    const size_t offset = scratch_bytes_;
    scratch_bytes_ += alignUp(bytes);
    return offset;
  }

  // there: the layout in scratch memory.
  Moved move(const memory::desc& from, const memory::desc& to, const memory::desc& there, int threads) {
    Moved moved;
    if (from != to) {
      moved.reorder = std::make_unique<onednn::Reorder>(from, to, threads);
      moved.offset = take(there.get_size());
      moved.own_offset = take(moved.reorder->scratchBytes());
    }
    return moved;
  }

  static const void* brought(const Moved& moved, const void* operand, std::byte* scratch) {
    if (moved.reorder == nullptr) {
      return operand;
    }
    moved.reorder->run(operand, scratch + moved.offset, scratch + moved.own_offset);
    return scratch + moved.offset;
  }

  void runCall(const RunArgs& args) const {
    const Geometry& g = computed_->geometry;
    auto* scratch = static_cast<std::byte*>(args.scratch);
    const bool moves_target = target_.reorder != nullptr;
    void* const target = moves_target ? scratch + target_.offset : args.outputs[0];
    call_->run({brought(source_, args.inputs[0], scratch), brought(weights_, args.inputs[1], scratch), target, scratch,
                g.has_bias ? args.inputs[2] : nullptr, g.has_residual ? args.inputs[3] : nullptr});
    if (moves_target) {
      target_.reorder->run(target, args.outputs[0], scratch + target_.own_offset);
    }
  }

  std::shared_ptr<const Computed<Kind>> computed_;
  std::unique_ptr<onednn::FusedCall> call_;  // null when there is nothing to compute, or the reference computes it
  std::unique_ptr<Prepared> reference_;
  Moved source_, weights_, target_;
  size_t scratch_bytes_ = 0;
  int64_t outputs_ = 0;
};

template <typename Kind>
class OneDnnComputedKernel final : public Kernel, public MayAllocate {
 public:
  explicit OneDnnComputedKernel(std::shared_ptr<const Computed<Kind>> computed) : computed_(std::move(computed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    try {
      return std::make_unique<OneDnnComputed<Kind>>(computed_, shapes);
    } catch (const dnnl::error& error) {
      onednn::rethrow(error, Kind::kName);
    }
  }
  bool mayAllocate() const override {
    return true;
  }

 private:
  std::shared_ptr<const Computed<Kind>> computed_;
};

TensorDesc tuned(const Operand& operand) {
  return {operand.dtype, operand.opt_dims, denseStrides(operand.opt_dims, operand.order)};
}

template <typename Kind>
CreateResult create(const Problem& problem, std::variant<Geometry, Refusal> described, CreateResult reference) {
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  Geometry g = std::get<Geometry>(std::move(described));
  if (problem.inputs[1].constant != nullptr && !Kind::kTransposed) {
    return Refusal{"constant-weights", "is made for kernels that each call brings"};
  }
  if (std::optional<Refusal> refusal = refuseLayout(problem, g)) {
    return *refusal;
  }
  auto computed = std::make_shared<Computed<Kind>>();
  computed->geometry = g;
  computed->row_major = isRowMajor(problem.inputs[0]);
  computed->many_images = hasManyImages(problem);
  computed->reference = std::move(std::get<std::unique_ptr<Kernel>>(reference));
  setKernel(g, problem.inputs[1].opt_dims, Kind::kTransposed);
  std::vector<TensorDesc> inputs;
  for (const Operand& operand : problem.inputs) {
    inputs.push_back(operand.present ? tuned(operand) : TensorDesc{});
  }
  try {
    const ThreadScope scope(problem.threads);
    const Plan<Kind> plan(g, inputs, tuned(problem.outputs[0]), computed->row_major, computed->many_images);
    if (!plan.isUsable(g)) {
      return Refusal{"unsupported", "has a plain loop alone for this, or a wrong kernel"};
    }
  } catch (const dnnl::error& error) {
    return Refusal{"unsupported", std::string("oneDNN refuses: ") + error.what()};
  }
  return std::make_unique<OneDnnComputedKernel<Kind>>(std::move(computed));
}

}  // namespace

CreateResult createOneDnnComputed(const Problem& problem) {
  return create<Forward>(problem, describe(problem, DType::kFloat32, Weights::kAny),
                         createConvolutionReference(problem));
}

CreateResult createDeconvolutionOneDnnComputed(const Problem& problem) {
  return create<Transposed>(problem, describeTransposed(problem, Weights::kAny), createDeconvolutionReference(problem));
}

#endif  // TORCHTRT_NO_ONEDNN

}  // namespace torchtrt::kernels::convolution
